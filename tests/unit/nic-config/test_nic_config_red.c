/* RED's parameters against those that tc itself sends to the kernel. */
#include "nic-config/device/qdisc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct settings_red published = {.limit_bytes = 2000000,
                                              .min_bytes = 50000,
                                              .max_bytes = 200000,
                                              .avpkt_bytes = 1500,
                                              .burst = FIELD_UNSET,
                                              .bandwidth_bps = 25000000000,
                                              .probability = 0.5,
                                              .ecn = 1,
                                              .shape_bps = FIELD_UNSET};

/* remote-lab.net, March/April 2026 series: burst 66, Wlog 6, Plog 19. */
static void published_set_up(void **state)
{
    struct red_parameters p;
    struct error e;
    (void)state;
    assert_int_equal(red_burst(&published), 66);
    assert_int_equal(red_compute(&published, &p, &e), 0);
    assert_int_equal(p.qopt.Wlog, 6);
    assert_int_equal(p.qopt.Plog, 19);
    assert_int_equal(p.qopt.flags, TC_RED_ECN);
    assert_int_equal(p.derived.max_p, 0x80000000u);
    /* a packet takes 7.5 ticks: the table is not empty as with older tc */
    assert_int_equal(p.derived.stab[0], 0);
    assert_true(p.derived.stab[254] > 0);
    assert_int_equal(p.derived.stab[255], 31);
}

static const char *value_of(const char *arguments, const char *name)
{
    const char *at = strstr(arguments, name);
    return at ? at + strlen(name) : NULL;
}

static int64_t number_of(const char *arguments, const char *name, int64_t otherwise)
{
    const char *at = value_of(arguments, name);
    char *end;
    if (!at)
        return otherwise;
    int64_t number = strtoll(at, &end, 10);
    if (strncmp(end, "mbit", 4) == 0)
        return number * 1000000;
    if (strncmp(end, "gbit", 4) == 0)
        return number * 1000000000;
    return strncmp(end, "mb", 2) == 0 ? number << 20 : number;
}

static void from_hex(const char *line, void *to, size_t size)
{
    uint8_t *bytes = to;
    assert_true(strlen(line) >= 2 * size);
    for (size_t i = 0; i < size; i++) {
        char two[3] = {line[2 * i], line[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
}

static void one_case(const char *arguments, char lines[3][1024])
{
    struct settings_red red = {.limit_bytes = number_of(arguments, "limit ", 0),
                               .min_bytes = number_of(arguments, "min ", 0),
                               .max_bytes = number_of(arguments, "max ", 0),
                               .avpkt_bytes = number_of(arguments, "avpkt ", 0),
                               .burst = number_of(arguments, "burst ", FIELD_UNSET),
                               .bandwidth_bps = number_of(arguments, "bandwidth ", 0),
                               .probability = strtod(value_of(arguments, "probability "), NULL),
                               .ecn = !!strstr(arguments, "ecn")};
    struct red_parameters ours = {0}, theirs = {0};
    struct error e;
    from_hex(lines[0], &theirs.qopt, sizeof theirs.qopt);
    from_hex(lines[1], theirs.derived.stab, sizeof theirs.derived.stab);
    from_hex(lines[2], &theirs.derived.max_p, sizeof theirs.derived.max_p);
    assert_int_equal(red_compute(&red, &ours, &e), 0);
    /* tc sends flags in an attribute of their own; the historic place serves every kernel */
    assert_int_equal(ours.qopt.flags, red.ecn ? TC_RED_ECN : 0);
    ours.qopt.flags = 0;
    assert_memory_equal(&ours.qopt, &theirs.qopt, sizeof ours.qopt);
    assert_memory_equal(ours.derived.stab, theirs.derived.stab, sizeof ours.derived.stab);
    assert_int_equal(ours.derived.max_p, theirs.derived.max_p);
}

static void equal_to_tc(void **state)
{
    FILE *file = fopen("tests/data/nic-config/tc-red.txt", "r");
    char arguments[1024], lines[3][1024];
    int cases = 0;
    (void)state;
    assert_non_null(file);
    assert_non_null(fgets(arguments, sizeof arguments, file)); /* the comment */
    while (fgets(arguments, sizeof arguments, file)) {
        for (int i = 0; i < 3; i++)
            assert_non_null(fgets(lines[i], sizeof lines[i], file));
        one_case(arguments, lines);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 4);
}

static void refusals(void **state)
{
    struct settings_red red = published;
    struct red_parameters p;
    struct error e;
    (void)state;
    red.burst = 10;
    assert_int_equal(red_compute(&red, &p, &e), -1);
    assert_non_null(strstr(e.text, "burst of at least 34 packets"));
    red = published;
    red.probability = 1e-12;
    assert_int_equal(red_compute(&red, &p, &e), -1);
    assert_non_null(strstr(e.text, "too small"));
    red = published;
    red.bandwidth_bps = 1;
    red.avpkt_bytes = 65535;
    red.burst = 60000;
    assert_int_equal(red_compute(&red, &p, &e), -1);
}

static void sameness(void **state)
{
    struct settings_red a = published, b = published;
    (void)state;
    assert_true(red_same(&a, &b));
    b.avpkt_bytes = 1000; /* the kernel cannot tell: only what follows from it counts */
    assert_true(red_same(&a, &b));
    b.probability = 0.25;
    assert_false(red_same(&a, &b));
    assert_false(red_same(&a, NULL));
    assert_true(red_same(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_set_up), cmocka_unit_test(equal_to_tc),
                                       cmocka_unit_test(refusals), cmocka_unit_test(sameness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
