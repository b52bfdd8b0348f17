/* Answers of ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_STATS_GET and ETHTOOL_MSG_STRSET_GET. */
#include "collectors/sources/source_standard.c"
#include "tests/fuzz/netlink_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nlmsghdr *m = netlink_input(NLMSG_MIN_TYPE, data, size);
    if (!m)
        return 0;
    struct standard *s = calloc(1, sizeof *s);
    struct strings strings = {0};
    int64_t values[MAX_STATISTICS];
    if (s) {
        struct reading first = {.s = s}, second = {.s = s, .values = values};
        (void)each_pause(m, &first);
        (void)each_stats(m, &first);
        (void)each_strings(m, &strings);
        for (size_t i = 0; i < s->count; i++) {
            char name[64];
            if (s->keys[i].group == 0 || s->keys[i].group == GROUP_PAUSE)
                name_of(&s->keys[i], first.upper[i], &strings, name, sizeof name);
        }
        (void)each_pause(m, &second);
        (void)each_stats(m, &second);
    }
    free(s);
    free(m);
    return 0;
}
