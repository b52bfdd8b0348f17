#include "lib/network/networks.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bits of an address's network; 0: it is not one, else its family and prefix length as one number. */
static size_t network_of(const char *address, unsigned char bits[16])
{
    char text[INET6_ADDRSTRLEN];
    unsigned char all[16] = {0};
    size_t length = address ? strcspn(address, "/") : 0;
    if (length == 0 || length >= sizeof text || !address[length])
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)length, address);
    size_t most = inet_pton(AF_INET, text, all) == 1 ? 32 : inet_pton(AF_INET6, text, all) == 1 ? 128 : 0;
    size_t prefix = (size_t)strtoul(address + length + 1, NULL, 10);
    if (prefix == 0 || prefix > most)
        return 0;
    memset(bits, 0, 16);
    for (size_t i = 0; i < prefix; i++)
        bits[i / 8] |= all[i / 8] & (unsigned char)(0x80 >> i % 8);
    return most * 1000 + prefix;
}

bool networks_same(const char *one, const char *other)
{
    unsigned char a[16], b[16];
    size_t network = network_of(one, a);
    return network && network == network_of(other, b) && memcmp(a, b, sizeof a) == 0;
}
