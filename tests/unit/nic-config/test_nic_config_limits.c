/* Tables of the kernel that are longer than nic-config keeps. */
#include "nic-config/device/dcb.h"
#include "tests/unit/unit.h"
#include <linux/rtnetlink.h>

/* An answer of RTM_GETDCB with this number of entries in the application table. */
static void parse(size_t entries, struct dcb *dcb)
{
    static char bytes[32768] __attribute__((aligned(8)));
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    mnl_nlmsg_put_extra_header(m, sizeof(struct dcbmsg));
    struct nlattr *ieee = mnl_attr_nest_start(m, DCB_ATTR_IEEE);
    struct nlattr *table = mnl_attr_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
    for (size_t i = 0; i < entries; i++) {
        const struct dcb_app app = {.selector = IEEE_8021QAZ_APP_SEL_DSCP,
                                    .priority = (uint8_t)(i % 8),
                                    .protocol = (uint16_t)(i / 8)};
        mnl_attr_put(m, DCB_ATTR_IEEE_APP, sizeof app, &app);
    }
    mnl_attr_nest_end(m, table);
    mnl_attr_nest_end(m, ieee);
    dcb_parse(m, dcb);
}

static void entries_that_do_not_fit_are_told(void **state)
{
    struct dcb dcb;
    (void)state;
    for (size_t entries = DCB_MAX_APPS - 1; entries <= DCB_MAX_APPS + 1; entries++) {
        parse(entries, &dcb);
        assert_int_equal(dcb.app_count, entries < DCB_MAX_APPS ? entries : DCB_MAX_APPS);
        assert_int_equal(dcb.more_apps, entries > DCB_MAX_APPS);
    }
    parse(512, &dcb); /* each DSCP with each priority */
    assert_true(dcb.more_apps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_that_do_not_fit_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
