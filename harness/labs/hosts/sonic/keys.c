#include "harness/labs/hosts/sonic/keys.h"

#include <stdio.h>
#include <string.h>

const char *sonic_key_entry(const char *name, char *table, size_t size)
{
    const char *bar = strchr(name, '|');
    snprintf(table, size, "%.*s", (int)(bar ? bar - name : 0), name);
    return bar ? bar + 1 : NULL;
}

const char *sonic_key_ports(const char *key, size_t *length)
{
    const char *bar = strrchr(key, '|'), *ports = key;
    if (!bar)
        return NULL;
    for (const char *c = key; c < bar; c++)
        ports = *c == '|' ? c + 1 : ports;
    *length = (size_t)(bar - ports);
    return ports;
}

bool sonic_key_lists(const char *list, size_t length, const char *port)
{
    size_t wanted = strlen(port);
    for (const char *at = list, *end = list + length; at < end;) {
        size_t word = strcspn(at, ",|");
        if (word == wanted && memcmp(at, port, word) == 0)
            return true;
        at += word + 1;
    }
    return false;
}
