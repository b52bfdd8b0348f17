#include "traffic/memory/routes.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "traffic/connection/device.h"
#include "traffic/memory/memory.h"
#include "traffic/memory/nvidia_rm.h"
#include "traffic/engine/pattern.h"
#include <stdlib.h>
#include <string.h>

#define TRY_BYTES  (4 << 20)
#define TRY_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* Write a pattern into the GPU's memory and read it back; a flipped bit must be found. */
static int try_pattern(struct memory *memory, struct error *e)
{
    struct plan plan = {.queue_pairs = 1, .slots = 1, .max_message_bytes = TRY_BYTES};
    struct pattern_result clean = {0}, spoilt = {0};
    if (pattern_write(memory, 0, &plan, 1, TRY_BYTES, e) != 0 ||
        pattern_check(memory, 0, &plan, 1, 0, 0, 1, TRY_BYTES, &clean, e) != 0 ||
        pattern_flip(memory, TRY_BYTES - 5, e) != 0 ||
        pattern_check(memory, 0, &plan, 1, 0, 0, 1, TRY_BYTES, &spoilt, e) != 0)
        return -1;
    if (clean.wrong_bytes != 0)
        return error_set(e, "%lld bytes read back differ from what was written",
                         (long long)clean.wrong_bytes);
    if (spoilt.wrong_bytes != 1 || spoilt.first_offset != TRY_BYTES - 5)
        return error_set(e, "a flipped byte was not found at its position");
    return 0;
}

/* {"route","allocated","pattern","registered","error"}: which steps succeeded. */
static json_t *try_route(const struct memory_back_end *back_end, const struct local_options *local,
                         struct ibv_pd *pd, bool *works)
{
    struct memory_request request = {
        .kind = back_end->kind, .bytes = TRY_BYTES, .access = TRY_ACCESS, .gpu = local->gpu, .numa_node = -1};
    struct memory memory;
    struct error e = {{0}};
    bool allocated = memory_open(&memory, &request, &e) == 0, pattern = false, registered = false;
    if (allocated) {
        pattern = try_pattern(&memory, &e) == 0;
        memory_close(&memory);
    }
    request.pd = pd;
    if (allocated && pd && memory_open(&memory, &request, &e) == 0) {
        registered = true;
        memory_close(&memory);
    }
    *works |= allocated && pattern;
    json_t *line = output_event("route", allocated && pattern ? "works" : e.text);
    json_object_set_new(line, "route", json_text(back_end->name));
    json_object_set_new(line, "allocated", json_boolean(allocated));
    json_object_set_new(line, "pattern", json_boolean(pattern));
    json_object_set_new(line, "registered", pd ? json_boolean(registered) : json_null());
    if (*e.text)
        json_object_set_new(line, "error", json_text(e.text));
    return line;
}

static void report_driver(struct output *output)
{
    struct error e = {{0}};
    const struct rm_family *family;
    char version[32], text[100];
    int result = rm_identify("", version, sizeof version, &family, &e);
    if (result == 0)
        snprintf(text, sizeof text, "NVIDIA driver %s, structures of %s", version, family->name);
    output_line(output, output_event("driver", result == 0 ? text : e.text));
}

int routes_run(const struct local_options *local, struct output *output)
{
    struct device device;
    struct ibv_pd *pd = NULL;
    struct error e = {{0}};
    bool works = false;
    if (!files_exist("/dev/nvidiactl")) {
        output_line(output, output_event("driver", "this host has no NVIDIA GPU: /dev/nvidiactl is missing"));
        return 4;
    }
    report_driver(output);
    bool nic = rdma_device_open(&device, local, CONNECTION_TCP, NULL, &e) == 0;
    if (nic)
        pd = ibv_alloc_pd(device.context);
    output_line(output, output_event("nic", nic ? device.name : e.text));
    for (size_t i = 0; memory_back_ends[i]; i++)
        if (memory_back_ends[i]->gpu)
            output_line(output, try_route(memory_back_ends[i], local, pd, &works));
    if (pd)
        ibv_dealloc_pd(pd);
    if (nic)
        rdma_device_close(&device);
    return works ? 0 : 3;
}
