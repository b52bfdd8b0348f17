/* Memory that stands for a GPU's on a virtual ConnectX: what the lab says of it becomes a line that the model
 * acts on, and is taken back. */
#include "tests/unit/harness/plan_of.h"

#include "harness/labs/hosts/virtual.h"
#include "lib/formats/flow.h"
#include "virtual-connectx/model/device.h"
#include "virtual-connectx/model/pace/pace.h"

#define SCENARIO(memory)                                                                              \
    "{\"schema\":1,\"name\":\"t\",\"roles\":[\"a\",\"b\",\"c\"],\"phases\":{\"measure\":\"5ms\"},"    \
    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"memory\":\"" memory "\"}],\"expect\":[" \
    "{\"name\":\"data moves\",\"check\":\"sum(flows.*.bytes) > 0\"}]}"
#define HOST(name, end, gpu)                                                             \
    "\"" name "\":{\"domain\":\"" name "\",\"profile\":\"p\",\"nic\":{\"netdev\":\"d\"," \
    "\"address\":\"10.0.0." end "/24\"}" gpu "}"
#define SLOW                                                                                              \
    ",\"gpu\":{\"write\":\"8Mb/s\",\"stalls_per_s\":4,\"stall_mean\":\"100ms\",\"stall_window\":\"50ms\"" \
    "}"
#define LAB(a, b, c)                                                                              \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"libvirt\",\"hosts\":{" HOST("a", "1", a) "," HOST( \
        "b", "2", b) "," HOST("c", "3", c) "},\"links\":[]}"

static bool wanted(const struct cell *cell, const char *role)
{
    return virtual_gpu_wanted(&cell->scenario, role, lab_real_host(&cell->lab, role));
}

/* Only at the ends of flows in GPU memory, and only where the lab has numbers. */
static void memory_is_slow_where_it_is_used(void **state)
{
    struct plan plan;
    (void)state;
    plan_of(SCENARIO("gpu"), LAB(",\"gpu\":{}", SLOW, SLOW), &plan);
    assert_false(wanted(&plan.first, "a"));
    assert_true(wanted(&plan.first, "b"));
    assert_false(wanted(&plan.first, "c"));
    plan_free(&plan);
    plan_of(SCENARIO("host"), LAB(SLOW, SLOW, SLOW), &plan);
    assert_false(wanted(&plan.first, "b"));
    plan_free(&plan);
}

static uint64_t now(struct vcx_front *front)
{
    (void)front;
    return 0;
}

/* How long the model says that a write into such memory takes. */
static uint64_t takes_ns(struct vcx_device *device, uint64_t address, uint32_t bytes)
{
    device->write_ns = 0;
    vcx_pace_write(device, 1, address, bytes);
    return device->write_ns;
}

static void request(struct vcx_device *device, const char *line)
{
    struct vcx_sentence error;
    if (!vcx_pace_request(device, line, &error))
        fail_msg("%s: %s", line, error.text);
}

static void the_model_takes_the_labs_numbers(void **state)
{
    static const struct vcx_front_ops ops = {.now_ns = now};
    struct vcx_device *device = calloc(1, sizeof *device);
    struct lab_gpu gpu = {.write_bps = 8000000, .stalls_per_s = 0};
    struct text line = {0};
    (void)state;
    assert_non_null(device);
    device->ops = &ops;
    assert_int_equal(vcx_room_pace.start(device), 0);
    virtual_gpu_line(&gpu, &line);
    request(device, text_string(&line));
    assert_int_equal(takes_ns(device, FLOW_VIRTUAL_GPU_ADDRESS, 1000), 1000000);
    assert_int_equal(takes_ns(device, FLOW_VIRTUAL_GPU_ADDRESS - 1, 1000), 0);
    assert_int_equal(takes_ns(device, FLOW_VIRTUAL_GPU_ADDRESS + FLOW_VIRTUAL_GPU_BYTES, 1000), 0);
    /* the line that takes it back names the same memory */
    text_clear(&line);
    gpu.write_bps = FIELD_UNSET;
    virtual_gpu_line(&gpu, &line);
    request(device, text_string(&line));
    assert_int_equal(takes_ns(device, FLOW_VIRTUAL_GPU_ADDRESS, 1000), 0);
    /* the largest numbers that a lab may have fit into a line */
    text_clear(&line);
    gpu = (struct lab_gpu){.write_bps = 8000000000000,
                           .stalls_per_s = 1000000,
                           .stall_mean_ns = 100000000000,
                           .stall_window_ns = 100000000000};
    virtual_gpu_line(&gpu, &line);
    request(device, text_string(&line));
    vcx_room_pace.stop(device);
    text_free(&line);
    free(device);
}

static void what_says_nothing_is_refused(void **state)
{
    (void)state;
    refuse_lab(LAB("", ",\"gpu\":{\"pci\":\"0000:06:00.0\",\"write\":\"1Gb/s\"}", ""), "pci names a card");
    refuse_lab(LAB("", ",\"gpu\":{\"stalls_per_s\":4,\"stall_mean\":\"1ms\"}", ""),
               "stall_mean and stall_window");
    refuse_lab(LAB("", ",\"gpu\":{\"stalls_per_s\":1.5}", ""), "stalls_per_s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_slow_where_it_is_used),
        cmocka_unit_test(the_model_takes_the_labs_numbers),
        cmocka_unit_test(what_says_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
