/* The trace of a result from elsewhere. The input is files, each a byte that chooses its name and then its
 * text, with \1 between them. Whatever is in them, a trace that is made is whole packets, in which as many
 * slices begin as end. */
#include "reports/trace/trace.c"
#include "tests/fuzz/scratch.h"
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {"result.json", "pauses.jsonl", "samples.jsonl", "flows.jsonl",
                                    "settings.json"};
#define FILES (sizeof files / sizeof *files)

static void write_input(const char *name, const uint8_t *text, size_t length)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
}

static void lay_out(const uint8_t *data, size_t size)
{
    char path[300];
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", scratch_folder(), files[i]);
        unlink(path);
    }
    while (size > 1) {
        const uint8_t *end = memchr(data + 1, 1, size - 1);
        size_t length = end ? (size_t)(end - data) : size;
        write_input(files[*data % FILES], data + 1, length - 1);
        size -= end ? length + 1 : length;
        data = end ? end + 1 : data;
    }
}

/* ---- what was made */

static void must(bool holds)
{
    if (!holds)
        abort();
}

static uint64_t take_varint(const unsigned char **at, const unsigned char *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        must(*at < end && shift < 64);
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

/* The next field: its number, and its value or its bytes. */
static unsigned take_field(const unsigned char **at, const unsigned char *end, uint64_t *value,
                           const unsigned char **bytes)
{
    uint64_t tag = take_varint(at, end);
    *bytes = *at;
    *value = (tag & 7) == 1 ? 8 : take_varint(at, end);
    must((tag & 7) <= 2);
    if ((tag & 7) == 2)
        *bytes = *at;
    if ((tag & 7) == 0)
        return (unsigned)(tag >> 3);
    must(*value <= (uint64_t)(end - *bytes));
    *at = *bytes + *value;
    return (unsigned)(tag >> 3);
}

/* 1 for a slice that begins, -1 for one that ends. */
static int slices_of(const unsigned char *packet, const unsigned char *end)
{
    const unsigned char *bytes, *inner;
    uint64_t value, type;
    int slices = 0;
    while (packet < end) {
        if (take_field(&packet, end, &value, &bytes) != 11)
            continue;
        for (const unsigned char *at = bytes, *last = bytes + value; at < last;)
            if (take_field(&at, last, &type, &inner) == 9)
                slices += type == 1 ? 1 : type == 2 ? -1 : 0;
    }
    return slices;
}

static void check_trace(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    const unsigned char *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0), *packet;
    must(size > 0 && bytes != MAP_FAILED);
    const unsigned char *at = bytes, *end = bytes + size;
    uint64_t length;
    int64_t slices = 0;
    while (at < end) {
        must(take_field(&at, end, &length, &packet) == 1);
        slices += slices_of(packet, packet + length);
    }
    must(slices == 0);
    munmap((void *)(uintptr_t)bytes, (size_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_made made = {0};
    struct run run;
    struct error e;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    lay_out(data, size);
    if (run_load(&run, scratch_folder(), NULL, &e) == 0 && write_trace(&run, fd, &made, &e) == 0)
        check_trace(fd);
    trace_made_free(&made);
    run_free(&run);
    close(fd);
    return 0;
}
