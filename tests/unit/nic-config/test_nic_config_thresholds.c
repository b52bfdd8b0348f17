/* The mlx5 driver's thresholds against published read-outs. */
#include "lib/roce/thresholds.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct thresholds_port published = {.cable_m = 1,
                                                 .speed_Mbps = 25000,
                                                 .mtu = 4200,
                                                 .max_mtu = THRESHOLDS_MLX5_MAX_MTU,
                                                 .cell_bytes = THRESHOLDS_MLX5_CELL};

static void published_set_up(void **state)
{
    struct thresholds t;
    struct error e;
    (void)state;
    assert_int_equal(thresholds_mlx5(&published, 114944, &t, &e), 0);
    assert_int_equal(t.xoff_bytes, 91392);
    assert_int_equal(t.xon_bytes, 81408);
    assert_int_equal(t.headroom_bytes, 23544);
}

static void default_cable(void **state)
{
    struct thresholds_port port = published;
    struct thresholds t;
    struct error e;
    (void)state;
    port.cable_m = 7;
    assert_int_equal(thresholds_mlx5(&port, 114944, &t, &e), 0);
    assert_int_equal(t.xoff_bytes, 90880);
}

static void faster_links_need_more(void **state)
{
    struct thresholds_port port = published;
    struct thresholds t;
    struct error e;
    (void)state;
    port.speed_Mbps = 100000;
    assert_int_equal(thresholds_mlx5(&port, 114944, &t, &e), 0);
    assert_int_equal(t.headroom_bytes, (301 + 2) * 100 + 272 * 42);
    port.speed_Mbps = -1; /* sysfs says -1 when the link is down */
    assert_int_equal(thresholds_mlx5(&port, 114944, &t, &e), 0);
    assert_int_equal(t.xoff_bytes, 91392);
}

static void least_size(void **state)
{
    struct thresholds t;
    struct error e;
    (void)state;
    /* 23544 + 9978 + 128 */
    assert_int_equal(thresholds_mlx5(&published, 33650, &t, &e), 0);
    assert_int_equal(t.xon_bytes, 128);
    assert_int_equal(thresholds_mlx5(&published, 33649, &t, &e), -1);
    assert_non_null(strstr(e.text, "33649 bytes are too small"));
    assert_non_null(strstr(e.text, "at least 33664"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_set_up), cmocka_unit_test(default_cable),
                                       cmocka_unit_test(faster_links_need_more),
                                       cmocka_unit_test(least_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
