/*
 * The parts of the GPU routes that need no GPU: driver versions, families, the order of routes and the
 * sentences, with /proc and /dev trees of the test and a stand-in for libcuda. tests/e2e/traffic/gpu.sh tests
 * real drivers.
 */
#include "tests/unit/unit.h"

/* their static functions too */
#include "traffic/memory/memory_cuda.c"
#include "traffic/memory/nvidia_hook.c"

#include "lib/files.h"
#include "lib/process.h"
#include "traffic/connection/explain.h"
#include <fcntl.h>
#include <sys/stat.h>

/* ---- a simulated host for the test */

struct host {
    char folder[64], root[80], libcuda[96];
    struct memory_system system;
};

static void write_file(const struct host *h, const char *name, const char *text)
{
    char path[300], *slash;
    struct error e = {{0}};
    snprintf(path, sizeof path, "%s/%s", h->root, name);
    slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(files_make_folders(path, &e), 0);
    *slash = '/';
    assert_int_equal(files_write_atomic(path, text, strlen(text), &e), 0);
}

static int make_host(void **state)
{
    struct host *h = calloc(1, sizeof *h);
    strcpy(h->folder, "/tmp/traffic-memory-XXXXXX");
    assert_non_null(mkdtemp(h->folder));
    snprintf(h->root, sizeof h->root, "%s/root", h->folder);
    snprintf(h->libcuda, sizeof h->libcuda, "%s/missing.so", h->folder);
    assert_int_equal(mkdir(h->root, 0700), 0);
    h->system = (struct memory_system){h->root, h->libcuda};
    *state = h;
    unsetenv("FAKE_CUDA_INIT");
    unsetenv("FAKE_CUDA_DMABUF");
    unsetenv("FAKE_CUDA_EXPORT");
    return 0;
}

static int remove_host(void **state)
{
    struct host *h = *state;
    files_remove_tree(h->folder, NULL);
    free(h);
    return 0;
}

static void set_driver(const struct host *h, const char *version)
{
    char text[200];
    snprintf(text, sizeof text,
             "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (root@host)\nGCC "
             "version:  gcc 12\n",
             version);
    write_file(h, "proc/driver/nvidia/version", text);
}

/* Skips the test if there is no compiler. */
static void build_libcuda(struct host *h)
{
    const char *const argv[] = {"cc",
                                "-shared",
                                "-fPIC",
                                "-w",
                                "-D_GNU_SOURCE",
                                "-o",
                                h->libcuda,
                                "tests/unit/traffic/traffic_fake_libcuda.c",
                                NULL};
    struct error e = {{0}};
    snprintf(h->libcuda, sizeof h->libcuda, "%s/libfake.so", h->folder);
    if (process_run(argv, NULL, NULL, NULL, 60000000000, &e) != 0)
        skip();
}

static int open_kind(const struct host *h, int kind, struct memory *memory, struct error *e)
{
    struct memory_request request = {.kind = kind, .bytes = 100000, .numa_node = -1, .system = &h->system};
    return memory_open(memory, &request, e);
}

/* ---- versions */

static void known_branches_have_a_family(void **state)
{
    static const struct {
        const char *version, *family;
        uint32_t memory_bytes, va_space_bytes, export_bytes;
    } cases[] = {
        {"535.288.01", "535", 120, 48, 2600},        {"545.23.06", "545 to 565", 128, 48, 2600},
        {"550.163.01", "545 to 565", 128, 48, 2600}, {"565.77", "545 to 565", 128, 48, 2600},
        {"570.133.20", "570 to 575", 128, 48, 2608}, {"575.64.05", "570 to 575", 128, 48, 2608},
        {"580.65.06", "580 to 595", 128, 56, 2608},  {"595.45.04", "580 to 595", 128, 56, 2608},
    };
    struct error e = {{0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rm_family *family = rm_family_of(cases[i].version, &e);
        assert_non_null(family);
        assert_string_equal(family->name, cases[i].family);
        assert_int_equal(family->memory_params_bytes, cases[i].memory_bytes);
        assert_int_equal(family->va_space_params_bytes, cases[i].va_space_bytes);
        assert_int_equal(family->export_bytes, cases[i].export_bytes);
    }
}

static void unknown_branches_are_refused_by_name(void **state)
{
    static const char *const versions[] = {"470.256.02", "525.147.05", "530.41.03", "585.1",
                                           "600.10",     "5350.1",     "0",         ""};
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct error e = {{0}};
        assert_null(rm_family_of(versions[i], &e));
        assert_non_null(strstr(e.text, versions[i]));
        assert_non_null(strstr(e.text, "structures are unknown"));
    }
}

static void the_version_is_found_in_both_modules_texts(void **state)
{
    char version[32];
    struct error e = {{0}};
    (void)state;
    assert_int_equal(
        rm_parse_version(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n",
            version, sizeof version, &e),
        0);
    assert_string_equal(version, "535.129.03");
    assert_int_equal(
        rm_parse_version(
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release Build\nGCC", version,
            sizeof version, &e),
        0);
    assert_string_equal(version, "595.45.04");
    assert_int_equal(rm_parse_version("NVRM version: NVIDIA\n 535.1.2", version, sizeof version, &e), -1);
    assert_int_equal(rm_parse_version("1535.1 53.5.1 535.", version, sizeof version, &e), -1);
    assert_int_equal(
        rm_parse_version("535.111111111111111111111111111111111111111", version, sizeof version, &e), -1);
}

/* ---- routes */

static const char *tried(const struct memory *memory, size_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(memory->tried, i), key));
    return text ? text : "";
}

static void without_a_driver_every_route_says_why(void **state)
{
    struct host *h = *state;
    struct memory memory;
    struct error e = {{0}};
    assert_int_equal(open_kind(h, MEMORY_GPU, &memory, &e), -1);
    const char *at = e.text;
    static const char *const parts[] = {"no route to GPU memory works",
                                        "rm-dmabuf: no NVIDIA driver is loaded",
                                        "cuda-dmabuf: no CUDA driver",
                                        "cuda-peermem: no CUDA driver",
                                        "rm-peermem: no NVIDIA driver is loaded",
                                        "cuda-nv503c: no NVIDIA driver is loaded",
                                        "virtual-dmabuf: "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) { /* in the order of the document */
        const char *found = strstr(at, parts[i]);
        if (!found)
            fail_msg("\"%s\" is missing or out of order in: %s", parts[i], e.text);
        else
            at = found;
    }
}

static void what_stands_for_a_gpu_is_only_where_the_nic_is_virtual(void **state)
{
    struct host *h = *state;
    struct memory memory;
    struct error e = {{0}};
    assert_int_equal(open_kind(h, MEMORY_VIRTUAL_DMABUF, &memory, &e), -1);
    assert_non_null(
        strstr(e.text, "/dev/dma_heap/virtual-gpu: it stands for a GPU's memory where the NIC is virtual"));
    write_file(h, "dev/dma_heap/virtual-gpu", "");
    assert_int_equal(open_kind(h, MEMORY_VIRTUAL_DMABUF, &memory, &e), -1);
    assert_non_null(strstr(e.text, "allocating 102400 bytes: Inappropriate ioctl"));
}

static void an_unknown_driver_is_refused_before_any_ioctl(void **state)
{
    struct host *h = *state;
    struct memory memory;
    struct error e = {{0}};
    set_driver(h, "610.10.01");
    assert_int_equal(open_kind(h, MEMORY_RM_DMABUF, &memory, &e), -1);
    assert_non_null(strstr(e.text, "610.10.01"));
    assert_int_equal(open_kind(h, MEMORY_CUDA_NV503C, &memory, &e), -1);
    assert_non_null(strstr(e.text, "610.10.01"));
}

static void a_known_driver_without_its_nodes_is_named(void **state)
{
    struct host *h = *state;
    struct memory memory;
    struct error e = {{0}};
    set_driver(h, "570.133.20");
    assert_int_equal(open_kind(h, MEMORY_RM_DMABUF, &memory, &e), -1);
    assert_non_null(strstr(e.text, "/dev/nvidiactl"));
    assert_non_null(strstr(e.text, "nvidia-modprobe"));
    write_file(h, "dev/nvidiactl", "no device\n");
    assert_int_equal(open_kind(h, MEMORY_RM_DMABUF, &memory, &e), -1);
    assert_non_null(strstr(e.text, "creating a client"));
    assert_non_null(strstr(e.text, "ioctl")); /* Inappropriate ioctl for device: errno's text is kept */
}

static void a_gpu_is_found_by_its_address(void **state)
{
    struct host *h = *state;
    struct error e = {{0}};
    struct memory memory;
    struct memory_request request = {
        .kind = MEMORY_RM_DMABUF, .bytes = 1, .gpu = "0000:06:00.0", .numa_node = -1, .system = &h->system};
    set_driver(h, "570.133.20");
    assert_int_equal(memory_open(&memory, &request, &e), -1);
    assert_non_null(strstr(e.text, "not the number or PCI address of a GPU"));
    write_file(h, "proc/driver/nvidia/gpus/0000:06:00.0/information", "Model: x\nDevice Minor: \t 3\n");
    assert_int_equal(memory_open(&memory, &request, &e), -1);
    assert_non_null(strstr(e.text, "/dev/nvidiactl")); /* the search was successful */
}

static void routes_are_tried_in_order_until_one_works(void **state)
{
    struct host *h = *state;
    struct memory memory;
    struct error e = {{0}};
    build_libcuda(h);
    setenv("FAKE_CUDA_DMABUF", "1", 1);
    if (open_kind(h, MEMORY_GPU, &memory, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(memory.back_end->name, "cuda-dmabuf");
    assert_int_equal(json_array_size(memory.tried), 1);
    assert_string_equal(tried(&memory, 0, "route"), "rm-dmabuf");
    json_t *json = memory_json(&memory);
    assert_string_equal(json_string_value(json_object_get(json, "kind")), "gpu");
    assert_string_equal(json_string_value(json_object_get(json, "route")), "cuda-dmabuf");
    json_decref(json);
    assert_null(memory_pointer(&memory)); /* no CPU pointer to a GPU's memory */
    memory_close(&memory);
    setenv("FAKE_CUDA_DMABUF", "0", 1);
    assert_int_equal(open_kind(h, MEMORY_GPU, &memory, &e), 0);
    assert_string_equal(memory.back_end->name, "cuda-peermem");
    assert_int_equal(json_array_size(memory.tried), 2);
    assert_non_null(strstr(tried(&memory, 1, "error"), "does not export dma-bufs"));
    memory_close(&memory);
}

static void a_failed_export_leaves_cuda_s_own_words(void **state)
{
    struct host *h = *state;
    struct memory memory;
    struct error e = {{0}};
    build_libcuda(h);
    setenv("FAKE_CUDA_DMABUF", "1", 1);
    setenv("FAKE_CUDA_EXPORT", "801", 1);
    assert_int_equal(open_kind(h, MEMORY_CUDA_DMABUF, &memory, &e), -1);
    assert_non_null(strstr(e.text, "cuMemGetHandleForAddressRange: CUDA_ERROR_NOT_SUPPORTED (801"));
    setenv("FAKE_CUDA_INIT", "100", 1);
    assert_int_equal(open_kind(h, MEMORY_CUDA_PEERMEM, &memory, &e), -1);
    assert_non_null(strstr(e.text, "starting CUDA: CUDA_ERROR_NO_DEVICE (100"));
}

static void host_memory_is_never_taken_instead(void **state)
{
    struct memory memory;
    struct error e = {{0}};
    struct host *h = *state;
    for (int kind = MEMORY_GPU; kind <= MEMORY_VIRTUAL_DMABUF; kind++)
        assert_int_equal(open_kind(h, kind, &memory, &e), -1);
}

/* ---- the hook and the handles that it records */

static void the_hook_passes_everything_on(void **state)
{
    int ends[2], waiting = 0;
    struct hook_object objects[4];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    hook_arm();
    assert_int_equal(ioctl(ends[0], FIONREAD, &waiting), 0);
    hook_disarm();
    assert_int_equal(waiting, 3);
    assert_int_equal(ioctl(-1, FIONREAD, &waiting), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(hook_objects(objects, 4), 0);
    close(ends[0]);
    close(ends[1]);
}

/* Report a successful allocation to the hook. */
static void see(uint32_t client, uint32_t parent, uint32_t object, uint32_t class, uint32_t status)
{
    struct rm_alloc_rights a = {
        .root = client, .parent = parent, .object = object, .class = class, .status = status};
    record_allocation(9, _IOWR(RM_IOCTL_TYPE, RM_ESCAPE_ALLOC, struct rm_alloc_rights), &a);
}

static void handles_belong_to_the_memory_s_client_and_device(void **state)
{
    struct hook_object objects[HOOK_MAX_OBJECTS] = {{0}};
    struct nv503c n = {.bytes = 0};
    struct error e = {{0}};
    (void)state;
    hook.count = 0;
    assert_int_equal(find_handles(&n, objects, 0, 0, &e), -1);
    assert_non_null(strstr(e.text, "-rdynamic"));
    see(1, 1, 10, RM_CLASS_DEVICE, 0);
    see(1, 10, 11, RM_CLASS_SUBDEVICE, 0);
    see(1, 10, 12, RM_CLASS_VASPACE, 0);
    see(1, 10, 15, RM_CLASS_VASPACE, 0); /* CUDA's second, not the one that it registers */
    see(1, 1, 20, RM_CLASS_DEVICE, 0);   /* another GPU of the same client */
    see(1, 20, 21, RM_CLASS_SUBDEVICE, 0);
    see(1, 20, 22, RM_CLASS_VASPACE, 0);
    see(2, 10, 31, RM_CLASS_SUBDEVICE, 0);  /* another client with the same device handle */
    see(1, 10, 13, RM_CLASS_VASPACE, 0x56); /* refused: not recorded */
    see(1, 10, 14, 0x9070, 0);              /* another class: not recorded */
    size_t before = hook_objects(objects, HOOK_MAX_OBJECTS);
    assert_int_equal(before, 8);
    assert_int_equal(find_handles(&n, objects, before, before, &e), -1);
    assert_non_null(strstr(e.text, "cuMemCreate created no object"));
    see(1, 10, 40, RM_CLASS_LOCAL_MEMORY, 0);
    size_t count = hook_objects(objects, HOOK_MAX_OBJECTS);
    assert_int_equal(find_handles(&n, objects, before, count, &e), 0);
    assert_int_equal(n.memory.object, 40);
    assert_int_equal(n.subdevice.object, 11);
    assert_int_equal(n.va_space.object, 12);
    assert_int_equal(n.memory.fd, 9);
    assert_int_equal(n.p2p.object, 0);           /* GeForce: must be created */
    see(2, 31, 50, RM_CLASS_THIRD_PARTY_P2P, 0); /* another client's */
    see(1, 11, 51, RM_CLASS_THIRD_PARTY_P2P, 0);
    see(1, 10, 41, RM_CLASS_LOCAL_MEMORY, 0);
    count = hook_objects(objects, HOOK_MAX_OBJECTS);
    assert_int_equal(find_handles(&n, objects, before, count, &e), 0);
    assert_int_equal(n.p2p.object, 51); /* a data-centre GPU: CUDA's */
    assert_false(n.p2p.own);
    for (uint32_t i = 0; i < 2 * HOOK_MAX_OBJECTS; i++) /* the oldest are dropped */
        see(1, 10, 1000 + i, RM_CLASS_LOCAL_MEMORY, 0);
    count = hook_objects(objects, HOOK_MAX_OBJECTS);
    assert_int_equal(count, HOOK_MAX_OBJECTS);
    assert_int_equal(objects[count - 1].object, 1000 + 2 * HOOK_MAX_OBJECTS - 1);
    hook.count = 0;
}

/* ---- sentences */

static const char *registration(struct host *h, const struct memory_back_end *back_end, int number,
                                struct error *e)
{
    struct memory memory = {.back_end = back_end, .system = &h->system, .bytes = 1 << 20};
    explain_registration(e, number, &memory, "ibv_reg_mr");
    return e->text;
}

static void registration_failures_name_the_likely_cause(void **state)
{
    struct host *h = *state;
    struct error e;
    assert_non_null(strstr(registration(h, &memory_cuda_peermem, EFAULT, &e), "modprobe nvidia-peermem"));
    assert_non_null(strstr(e.text, "errno 14"));
    write_file(h, "sys/module/nvidia_peermem/refcnt", "0\n");
    assert_non_null(strstr(registration(h, &memory_cuda_peermem, EFAULT, &e), "third-party P2P object"));
    assert_non_null(strstr(registration(h, &memory_cuda_nv503c, ENOMEM, &e), "BAR1"));
    assert_non_null(strstr(registration(h, &memory_cuda_nv503c, EINVAL, &e), "BAR1"));
    write_file(h, "sys/module/nv_peer_mem/refcnt", "0\n");
    assert_non_null(strstr(registration(h, &memory_cuda_peermem, EINVAL, &e), "deprecated nv_peer_mem"));
    assert_non_null(
        strstr(registration(h, &memory_rm_dmabuf, EOPNOTSUPP, &e), "CONFIG_INFINIBAND_ON_DEMAND_PAGING"));
    assert_non_null(strstr(registration(h, &memory_cuda_dmabuf, ENOMEM, &e), "BAR1"));
    assert_non_null(strstr(registration(h, &memory_host, EINVAL, &e), "access rights"));
}

static void status_codes_are_named(void **state)
{
    (void)state;
    assert_string_equal(rm_status_name(0x56), "NV_ERR_NOT_SUPPORTED");
    assert_string_equal(rm_status_name(0x1B), "NV_ERR_INSUFFICIENT_PERMISSIONS");
    assert_string_equal(rm_status_name(0x7777), "an unlisted status");
}

#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, make_host, remove_host)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_branches_have_a_family),
        cmocka_unit_test(unknown_branches_are_refused_by_name),
        cmocka_unit_test(the_version_is_found_in_both_modules_texts),
        WITH_HOST(without_a_driver_every_route_says_why),
        WITH_HOST(what_stands_for_a_gpu_is_only_where_the_nic_is_virtual),
        WITH_HOST(an_unknown_driver_is_refused_before_any_ioctl),
        WITH_HOST(a_known_driver_without_its_nodes_is_named),
        WITH_HOST(a_gpu_is_found_by_its_address),
        WITH_HOST(routes_are_tried_in_order_until_one_works),
        WITH_HOST(a_failed_export_leaves_cuda_s_own_words),
        WITH_HOST(host_memory_is_never_taken_instead),
        cmocka_unit_test(the_hook_passes_everything_on),
        cmocka_unit_test(handles_belong_to_the_memory_s_client_and_device),
        WITH_HOST(registration_failures_name_the_likely_cause),
        cmocka_unit_test(status_codes_are_named),
    };
    return cmocka_run_group_tests_name("traffic_memory", tests, NULL, NULL);
}
