#include "lib/formats/addresses.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

int address_parse(const char *text, uint8_t bytes[16], int *prefix)
{
    char host[INET6_ADDRSTRLEN] = "", rest;
    const char *slash = strchr(text, '/');
    int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    if (!slash || strspn(slash + 1, "0123456789") != strlen(slash + 1) || strlen(slash) > 4)
        return 0; /* scanf would also take signs and line breaks */
    if (sscanf(text, "%45[0-9a-fA-F.:]/%d%c", host, prefix, &rest) != 2 || *prefix < 0 ||
        *prefix > (family == AF_INET ? 32 : 128) || inet_pton(family, host, bytes) != 1)
        return 0;
    return family;
}

bool address_is_ip(const char *text)
{
    uint8_t bytes[16];
    int prefix;
    if (strchr(text, '/'))
        return address_parse(text, bytes, &prefix) != 0;
    return inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, bytes) == 1;
}

bool address_is_mac(const char *text)
{
    size_t i = 0;
    for (; text[i]; i++)
        if (i >= 17 || (i % 3 == 2 ? text[i] != ':' : !strchr("0123456789abcdefABCDEF", text[i])))
            return false;
    return i == 17;
}
