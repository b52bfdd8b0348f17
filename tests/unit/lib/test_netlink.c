/* lib/netlink: correct and invalid datagrams, and the running kernel. */
#include "tests/unit/unit.h"

#include "lib/kernel/netlink.h"
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

static char buffer[8192] __attribute__((aligned(8)));

/* Begin a message of sequence 7 at a place of the buffer. */
static struct nlmsghdr *begin(size_t at, uint16_t type, uint16_t flags)
{
    struct nlmsghdr *m = mnl_nlmsg_put_header(buffer + at);
    m->nlmsg_type = type;
    m->nlmsg_flags = flags;
    m->nlmsg_seq = 7;
    return m;
}

static int count_message(const struct nlmsghdr *message, void *data)
{
    (void)message;
    ++*(int *)data;
    return MNL_CB_OK;
}

static struct netlink_answer expect(uint16_t flags, int *count)
{
    return (struct netlink_answer){.sequence = 7, .flags = flags, .each = count_message, .data = count};
}

static void one_answer_ends_a_plain_request(void **state)
{
    (void)state;
    int count = 0;
    struct netlink_answer a = expect(NLM_F_REQUEST, &count);
    struct nlmsghdr *m = begin(0, RTM_NEWLINK, 0);
    assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_END);
    assert_int_equal(count, 1);
    a = expect(NLM_F_REQUEST | NLM_F_ACK, &count);
    assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_MORE);
    a = expect(NLM_F_REQUEST | NLM_F_DUMP, &count);
    assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_MORE);
    assert_int_equal(count, 3);
}

/* The mark may be at an entry or at the end of a dump. */
static void an_interrupted_dump_is_known(void **state)
{
    (void)state;
    for (int marked = 0; marked < 3; marked++) {
        int count = 0;
        struct netlink_answer a = expect(NLM_F_REQUEST | NLM_F_DUMP, &count);
        begin(0, RTM_NEWLINK, marked == 0 ? NLM_F_MULTI | NLM_F_DUMP_INTR : NLM_F_MULTI);
        struct nlmsghdr *done =
            begin(16, NLMSG_DONE, marked == 1 ? NLM_F_MULTI | NLM_F_DUMP_INTR : NLM_F_MULTI);
        assert_int_equal(netlink_deliver(&a, buffer, 16 + done->nlmsg_len), NETLINK_END);
        assert_int_equal(count, 1);
        assert_int_equal(a.interrupted, marked < 2);
    }
}

static void answers_of_another_request_are_passed_over(void **state)
{
    (void)state;
    int count = 0;
    struct netlink_answer a = expect(NLM_F_REQUEST, &count);
    begin(0, RTM_NEWLINK, 0)->nlmsg_seq = 6;
    struct nlmsghdr *second = begin(16, RTM_NEWLINK, 0);
    assert_int_equal(netlink_deliver(&a, buffer, 16), NETLINK_MORE);
    assert_int_equal(count, 0);
    assert_int_equal(netlink_deliver(&a, buffer, 16 + second->nlmsg_len), NETLINK_END);
    assert_int_equal(count, 1);
}

/* A refusal with text, as with NETLINK_CAP_ACK, and with the whole request in between, as without. */
static void refusals_carry_the_kernels_text(void **state)
{
    (void)state;
    for (int capped = 0; capped < 2; capped++) {
        int count = 0;
        struct netlink_answer a = expect(NLM_F_REQUEST | NLM_F_ACK, &count);
        struct nlmsghdr *m = begin(0, NLMSG_ERROR, (uint16_t)(NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0)));
        struct nlmsgerr *error = mnl_nlmsg_put_extra_header(m, sizeof *error);
        error->error = -ENOENT;
        error->msg.nlmsg_len = sizeof(struct nlmsghdr) + 20;
        if (!capped)
            mnl_nlmsg_put_extra_header(m, 20);
        mnl_attr_put_strz(m, NLMSGERR_ATTR_MSG, "Specified qdisc kind is unknown.\n");
        assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_REFUSED);
        assert_int_equal(a.number, ENOENT);
        assert_string_equal(a.text, "Specified qdisc kind is unknown.?");
    }
}

static void an_acknowledgement_is_an_error_of_zero(void **state)
{
    (void)state;
    int count = 0;
    struct netlink_answer a = expect(NLM_F_REQUEST | NLM_F_ACK, &count);
    struct nlmsghdr *m = begin(0, NLMSG_ERROR, 0);
    mnl_nlmsg_put_extra_header(m, sizeof(struct nlmsgerr));
    assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_END);
    /* a truncated message is not an acknowledgement */
    m->nlmsg_len = 18;
    assert_int_equal(netlink_deliver(&a, buffer, 18), NETLINK_REFUSED);
    assert_int_equal(a.number, EBADMSG);
}

static void a_dump_may_end_with_an_error(void **state)
{
    (void)state;
    int count = 0, number = -EMSGSIZE;
    struct netlink_answer a = expect(NLM_F_REQUEST | NLM_F_DUMP, &count);
    struct nlmsghdr *m = begin(0, NLMSG_DONE, NLM_F_MULTI);
    assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_END);
    memcpy(mnl_nlmsg_put_extra_header(m, sizeof number), &number, sizeof number);
    assert_int_equal(netlink_deliver(&a, buffer, m->nlmsg_len), NETLINK_REFUSED);
    assert_int_equal(a.number, EMSGSIZE);
}

static int refuse(const struct nlmsghdr *message, void *data)
{
    (void)message;
    ++*(int *)data;
    return MNL_CB_ERROR;
}

static void after_an_error_of_the_callback_the_rest_is_dropped(void **state)
{
    (void)state;
    int count = 0;
    struct netlink_answer a = expect(NLM_F_REQUEST | NLM_F_DUMP, &count);
    a.each = refuse;
    begin(0, RTM_NEWLINK, NLM_F_MULTI);
    begin(16, RTM_NEWLINK, NLM_F_MULTI);
    begin(32, NLMSG_DONE, NLM_F_MULTI);
    assert_int_equal(netlink_deliver(&a, buffer, 48), NETLINK_END);
    assert_int_equal(count, 1);
    assert_true(a.abandoned);
}

/* The bit is of dumps only: of other requests it has another meaning. */
/* libmnl treats lengths above 2 GiB as negative, and loops for ever. */
static void lengths_are_not_believed(void **state)
{
    (void)state;
    int count = 0;
    static const uint32_t lengths[] = {0, 15, 0x7fffffff, 0x80000010, 0xffffffff};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct netlink_answer a = expect(NLM_F_REQUEST, &count);
        begin(0, RTM_NEWLINK, 0)->nlmsg_len = lengths[i];
        assert_int_equal(netlink_deliver(&a, buffer, 64), NETLINK_MORE);
    }
    assert_int_equal(count, 0);
}

static void attributes_are_checked(void **state)
{
    (void)state;
    struct nlmsghdr *m = begin(0, RTM_NEWLINK, 0);
    const struct nlattr *table[6];
    uint64_t number;
    uint32_t word;
    char bytes[8];
    mnl_attr_put_u8(m, 1, 200);
    mnl_attr_put_u64(m, 2, UINT64_MAX);
    mnl_attr_put(m, 3, 4, "text"); /* not terminated */
    mnl_attr_put_strz(m, 4, "text");
    mnl_attr_put_u32(m, 9, 1); /* not requested */
    netlink_parse(m, 0, table, 6);
    assert_true(netlink_number(table[1], &number) && number == 200);
    assert_true(netlink_number(table[2], &number) && number == UINT64_MAX);
    assert_false(netlink_u32(table[2], &word));
    assert_null(netlink_string(table[3]));
    assert_string_equal(netlink_string(table[4]), "text");
    assert_null(table[5]);
    assert_false(netlink_number(table[5], &number));
    assert_false(netlink_struct(table[4], bytes, sizeof bytes));
    assert_true(netlink_struct(table[2], bytes, 4));
    /* a header that is longer than the message */
    netlink_parse(m, 4096, table, 6);
    assert_null(table[1]);
}

static void the_running_kernel_answers(void **state)
{
    (void)state;
    struct error e;
    uint16_t id;
    int count = 0;
    struct netlink *n = netlink_open(NETLINK_GENERIC, &e);
    assert_non_null(n);
    assert_int_equal(netlink_family(n, "nlctrl", &id, &e), 0);
    assert_int_equal(id, GENL_ID_CTRL);
    assert_int_equal(netlink_family(n, "nosuchfamily", &id, &e), -1);
    assert_int_equal(netlink_errno(n), ENOENT);
    assert_non_null(strstr(e.text, "nosuchfamily"));
    netlink_close(n);

    union netlink_request r;
    n = netlink_open(NETLINK_ROUTE, &e);
    assert_non_null(n);
    struct nlmsghdr *m = netlink_prepare(&r, RTM_GETLINK, NLM_F_DUMP);
    mnl_nlmsg_put_extra_header(m, sizeof(struct ifinfomsg));
    assert_int_equal(netlink_call(n, m, count_message, &count, &e), 0);
    assert_true(count >= 1);
    int before = count;
    assert_int_equal(netlink_call(n, m, count_message, &count, &e), 0); /* the same request again */
    assert_int_equal(count, 2 * before);
    assert_int_equal(netlink_call(n, m, refuse, &count, &e), -1);
    assert_int_equal(netlink_call(n, m, count_message, &count, &e), 0); /* nothing is left over */
    netlink_close(n);
    netlink_close(NULL);
    assert_null(netlink_open(-1, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_answer_ends_a_plain_request),
        cmocka_unit_test(an_interrupted_dump_is_known),
        cmocka_unit_test(answers_of_another_request_are_passed_over),
        cmocka_unit_test(refusals_carry_the_kernels_text),
        cmocka_unit_test(an_acknowledgement_is_an_error_of_zero),
        cmocka_unit_test(a_dump_may_end_with_an_error),
        cmocka_unit_test(after_an_error_of_the_callback_the_rest_is_dropped),
        cmocka_unit_test(lengths_are_not_believed),
        cmocka_unit_test(attributes_are_checked),
        cmocka_unit_test(the_running_kernel_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
