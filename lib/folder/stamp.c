#include "lib/folder/stamp.h"

#include <string.h>

bool stamp_begins(const char *text)
{
    return strspn(text, "0123456789") == 8 && text[8] == 'T' && strspn(text + 9, "0123456789") == 6 &&
           text[15] == 'Z';
}

bool stamp_is_name(const char *name)
{
    if (!stamp_begins(name))
        return false;
    const char *rest = name + STAMP_LENGTH;
    return !*rest || (*rest == '-' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")]);
}
