/* Datagrams of answers, as netlink_call takes them apart. */
#include "lib/kernel/netlink.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Look at every attribute in every way. */
static int each(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[16], *inner[16];
    uint64_t number, *sum = data;
    char bytes[12];
    netlink_parse(message, 4, table, 16);
    for (int i = 0; i < 16; i++) {
        if (netlink_number(table[i], &number))
            *sum += number;
        if (netlink_string(table[i]))
            *sum += strlen(netlink_string(table[i]));
        if (netlink_struct(table[i], bytes, sizeof bytes))
            *sum += (unsigned char)bytes[11];
        netlink_parse_nested(table[i], inner, 16);
    }
    return *sum % 7 == 0 ? MNL_CB_ERROR : MNL_CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    if (size < 2)
        return 0;
    struct netlink_answer answer = {
        .sequence = 1, .flags = (uint16_t)(data[0] << 8 | data[1]), .each = each, .data = &sum};
    /* Aligned as a socket's buffer is, and no longer than the input. */
    void *copy = malloc(size - 2 + 1);
    if (!copy)
        return 0;
    memcpy(copy, data + 2, size - 2);
    (void)netlink_deliver(&answer, copy, size - 2);
    free(copy);
    return strlen(answer.text) >= sizeof answer.text;
}
