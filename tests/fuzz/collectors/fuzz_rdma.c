/* Answers of RDMA_NLDEV_CMD_STAT_GET and RDMA_NLDEV_CMD_STAT_GET_STATUS. */
#include "collectors/sources/source_rdma.c"
#include "tests/fuzz/netlink_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(NLMSG_MIN_TYPE, data, size);
    if (!m)
        return 0;
    struct rdma s = {0};
    struct optional optional = {0};
    struct column_set columns = {0};
    struct reading first = {.s = &s, .columns = &columns};
    (void)each_answer(m, &first);
    s.names = calloc(columns.count + 1, sizeof *s.names);
    s.count = s.names ? columns.count : 0;
    for (size_t i = 0; i < s.count; i++)
        s.names[i] = columns.items[i].name;
    int64_t *values = calloc(columns.count + 1, sizeof *values);
    if (values)
        (void)each_answer(m, &(struct reading){.s = &s, .values = values});
    (void)each_status(m, &optional);
    free(values);
    free(s.names);
    column_set_free(&columns);
    free(m);
    return 0;
}
