#include "lib/output/utf8.h"

static size_t length_of(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t utf8_character(const char *bytes, size_t length, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)bytes;
    size_t count = length ? length_of(*b) : 0;
    if (!count || count > length)
        return 0;
    uint32_t number = count == 1 ? *b : *b & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        number = number << 6 | (b[i] & 0x3f);
    }
    if (number < least[count] || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff))
        return 0;
    *character = number;
    return count;
}

size_t utf8_cut(const char *bytes, size_t length, size_t room)
{
    uint32_t character;
    if (length <= room)
        return length;
    for (size_t back = 0; back < 4 && back < room; back++) {
        size_t at = room - back, count = utf8_character(bytes + at, length - at, &character);
        if (count)
            return at; /* a character begins here: what is before it is whole */
    }
    return room; /* not UTF-8: no character is cut */
}
