/* Answers of RTM_GETQDISC. */
#include "collectors/sources/source_qdisc.c"
#include "tests/fuzz/netlink_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(RTM_NEWQDISC, data, size);
    if (!m)
        return 0;
    /* First as it is opened, then as it is read; the interface is the one of the first message. */
    struct qdiscs *s = calloc(1, sizeof *s);
    int64_t *values = calloc(MAX_QDISCS * ALL_FIELDS, sizeof *values);
    struct column_set columns = {0};
    if (s && values && size >= sizeof(struct tcmsg)) {
        s->ifindex = (unsigned int)((struct tcmsg *)mnl_nlmsg_get_payload(m))->tcm_ifindex;
        (void)each_qdisc(m, &(struct reading){.s = s});
        (void)add_columns(s, &columns, NULL);
        (void)each_qdisc(m, &(struct reading){.s = s, .values = values});
    }
    column_set_free(&columns);
    free(values);
    free(s);
    free(m);
    return 0;
}
