#include "traffic/memory/memory.h"

#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/text.h"
#include "traffic/memory/nvidia_hook.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct memory_system memory_system_default = {.root = "", .libcuda = "libcuda.so.1"};

const struct memory_back_end *const memory_back_ends[] = {
    &memory_host,       &memory_rm_dmabuf,   &memory_cuda_dmabuf,    &memory_cuda_peermem,
    &memory_rm_peermem, &memory_cuda_nv503c, &memory_virtual_dmabuf, NULL,
};

/* ---- kernel messages during an operation: lines of NVIDIA's and the RDMA drivers in /dev/kmsg, if it is
 * readable */

#define RECORD_MAX 8192 /* one read of /dev/kmsg gives one record, at most this long */

/* A record is "priority,sequence,time_us,flags;text\n...": Documentation/ABI/testing/dev-kmsg. */
static const char *record_text(char *record)
{
    char *semicolon = strchr(record, ';');
    record[strcspn(record, "\n")] = '\0';
    return semicolon ? semicolon + 1 : record;
}

static bool names_driver(const char *text)
{
    static const char *const words[] = {"NVRM",       "nvidia",  "peermem", "mlx5",
                                        "infiniband", "ib_core", "rdma",    NULL};
    for (size_t i = 0; words[i]; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

/* -1: /dev/kmsg cannot be read. */
static int kernel_log_open(void)
{
    int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        lseek(fd, 0, SEEK_END);
    return fd;
}

/* What was logged since kernel_log_open; "" for -1. */
static void kernel_log_read(int fd, char *text, size_t size)
{
    char record[RECORD_MAX + 1];
    size_t used = 0;
    ssize_t n;
    *text = '\0';
    while (fd >= 0 && (n = read(fd, record, RECORD_MAX)) > 0) {
        record[n] = '\0';
        const char *line = record_text(record);
        if (names_driver(line) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " | " : "", line);
    }
}

/* ---- back ends */

/* One back end from allocation to registration. */
static int open_with(struct memory *memory, const struct memory_back_end *back_end,
                     const struct memory_request *request, struct error *e)
{
    memory->back_end = back_end;
    memory->bytes = request->bytes;
    memory->state = NULL;
    memory->mr = NULL;
    if (back_end->allocate(memory, request, e) != 0)
        return -1;
    if (!request->pd || back_end->enrol(memory, request->pd, request->access, e) == 0)
        return 0;
    back_end->release(memory);
    return -1;
}

static void note_failure(struct memory *memory, const char *route, const struct error *why, int log,
                         struct text *all)
{
    char kernel[400];
    json_t *entry = json_make("{s:s,s:s}", "route", route, "error", why->text);
    kernel_log_read(log, kernel, sizeof kernel);
    if (*kernel)
        json_object_set_new(entry, "kernel", json_text(kernel));
    json_array_append_new(memory->tried, entry);
    text_add(all, "%s%s: %s%s%s%s", all->length ? "; " : "", route, why->text, *kernel ? " [kernel: " : "",
             kernel, *kernel ? "]" : "");
}

/* Try one back end; on failure record the reason. */
static int try_back_end(struct memory *memory, const struct memory_back_end *back_end,
                        const struct memory_request *request, struct text *failures)
{
    struct error why = {{0}};
    int log = back_end->gpu ? kernel_log_open() : -1;
    int result = open_with(memory, back_end, request, &why);
    if (result != 0)
        note_failure(memory, back_end->name, &why, log, failures);
    if (result != 0 && request->kind == MEMORY_GPU)
        log_info("memory route %s does not work here: %s", back_end->name, why.text);
    if (log >= 0)
        close(log);
    return result;
}

int memory_open(struct memory *memory, const struct memory_request *request, struct error *e)
{
    struct text failures = {0};
    int result = -1;
    *memory = (struct memory){.tried = json_array(),
                              .numa_node = request->kind == MEMORY_HOST ? request->numa_node : -1,
                              .relaxed_ordering = request->access & IBV_ACCESS_RELAXED_ORDERING,
                              .system = request->system ? request->system : &memory_system_default};
    bool watch = request->kind !=
                 MEMORY_HOST; /* CUDA creates its client only once, in the first route that uses CUDA */
    if (watch)
        hook_arm();
    for (size_t i = 0; result != 0 && memory_back_ends[i]; i++)
        if (memory_back_ends[i]->kind == request->kind ||
            (request->kind == MEMORY_GPU && memory_back_ends[i]->gpu))
            result = try_back_end(memory, memory_back_ends[i], request, &failures);
    if (watch)
        hook_disarm();
    if (result != 0) {
        error_set(e, "%s%s", request->kind == MEMORY_GPU ? "no route to GPU memory works. " : "memory ",
                  text_string(&failures));
        json_decref(memory->tried);
        *memory = (struct memory){0};
    }
    text_free(&failures);
    return result;
}

void memory_close(struct memory *memory)
{
    if (memory->mr)
        ibv_dereg_mr(memory->mr);
    memory->mr = NULL;
    if (memory->back_end)
        memory->back_end->release(memory);
    json_decref(memory->tried);
    *memory = (struct memory){0};
}

json_t *memory_json(const struct memory *memory)
{
    json_t *json = json_make("{s:s,s:s}", "kind", memory->back_end->gpu ? "gpu" : "host", "route",
                             memory->back_end->name);
    if (memory->numa_node >= 0)
        json_object_set_new(json, "numa_node", json_integer(memory->numa_node));
    if (memory->relaxed_ordering)
        json_object_set_new(json, "relaxed_ordering", json_true());
    if (json_array_size(memory->tried))
        json_object_set(json, "tried", memory->tried);
    return json;
}

void *memory_pointer(const struct memory *memory)
{
    return memory->back_end->gpu ? NULL : (void *)(uintptr_t)memory->address;
}
