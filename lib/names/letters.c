#include "lib/names/letters.h"

#include <sys/random.h>

void letters_random(char *out, size_t count)
{
    unsigned char bytes[LETTERS_MOST] = {0};
    ssize_t got = getrandom(bytes, count, 0);
    (void)got;
    for (size_t i = 0; i < count; i++)
        out[i] = (char)('a' + bytes[i] % 26);
    out[count] = '\0';
}
