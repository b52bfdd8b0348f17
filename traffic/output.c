#include "traffic/output.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/formats/lines.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "traffic/job.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void traffic_output_open(struct output *output, FILE *file, int kind, int stop_fd)
{
    *output = (struct output){.file = file,
                              .stop_fd = stop_fd,
                              .table = kind == OUTPUT_TABLE || (kind == OUTPUT_AUTO && isatty(fileno(file)))};
    pthread_mutex_init(&output->lock, NULL);
}

void traffic_output_close(struct output *output)
{
    fflush(output->file);
    pthread_mutex_destroy(&output->lock);
}

json_t *output_event(const char *what, const char *text)
{
    return json_make("{s:s,s:I,s:s,s:s,s:s}", "type", "event", "time_ns", (json_int_t)clock_realtime_ns(),
                     "source", "roce-traffic", "what", what, "text", text);
}

json_t *output_error(const char *flow, const char *status, const char *text)
{
    return json_make("{s:s,s:s,s:I,s:s,s:s}", "type", "error", "flow", flow, "time_ns",
                     (json_int_t)clock_realtime_ns(), "status", status, "text", text);
}

/* ---- the table */

#define MIB_PER_S (8.0 * 1024 * 1024)

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text ? text : "";
}

static double number_of(const json_t *line, const char *key)
{
    return json_number_value(json_object_get(line, key));
}

static void print_title(struct output *output)
{
    if (!output->titled)
        print_to(output->file, "%-16s %10s %9s %13s %12s %12s %10s %10s %10s\n", "flow", "bytes", "seconds",
                 "messages", "Gb/s", "MiB/s", "Mmsg/s", "p50 us", "p99 us");
    output->titled = true;
}

static void print_figures(struct output *output, const json_t *line, bool summary)
{
    const json_t *latency = json_object_get(line, "latency_ns");
    double seconds = number_of(line, "duration_ns") / (double)NS_PER_S,
           messages = number_of(line, "messages");
    double bps = number_of(line, "goodput_bps");
    print_title(output);
    print_to(output->file, "%-16.16s %10.0f %9.3f %13.0f %12.3f %12.2f %10.4f", text_of(line, "flow"),
             number_of(line, "message_bytes"), seconds, messages, bps / 1e9, bps / MIB_PER_S,
             seconds > 0 ? messages / seconds / 1e6 : 0);
    if (latency)
        print_to(output->file, " %10.2f %10.2f", number_of(latency, "p50") / 1e3,
                 number_of(latency, "p99") / 1e3);
    print_to(output->file, "%s\n",
             !summary                                          ? ""
             : json_is_true(json_object_get(line, "complete")) ? "  total"
                                                               : "  total, incomplete");
}

static void print_row(struct output *output, const json_t *line)
{
    const char *type = text_of(line, "type");
    const json_t *memory = json_object_get(line, "memory");
    if (strcmp(type, "header") == 0)
        print_to(output->file,
                 "# %s: %s, %s port %.0f, GID %s -> %s, MTU %.0f, %s memory (%s) -> %s, %.0f queue pairs\n",
                 text_of(line, "flow"), text_of(line, "operation"), text_of(line, "device"),
                 number_of(line, "device_port"), text_of(line, "gid"), text_of(line, "peer_gid"),
                 number_of(line, "mtu_bytes"), text_of(memory, "kind"), text_of(memory, "route"),
                 text_of(line, "peer_memory_route"), number_of(line, "queue_pairs"));
    else if (strcmp(type, "interval") == 0 || strcmp(type, "summary") == 0)
        print_figures(output, line, type[0] == 's');
    else if (strcmp(type, "error") == 0)
        print_to(output->file, "# %s: %s: %s\n", text_of(line, "flow"), text_of(line, "status"),
                 text_of(line, "text"));
    else
        print_to(output->file, "# %s\n", text_of(line, "text"));
}

/* The reader of the output has closed it: end as after a request to stop. */
static void reader_gone(const struct output *output)
{
    uint64_t one = 1;
    ssize_t n = write(output->stop_fd, &one, sizeof one);
    (void)n;
}

void output_line(struct output *output, json_t *line)
{
    pthread_mutex_lock(&output->lock);
    int result = 0;
    errno = line ? 0 : ENOMEM;
    if (line && output->table)
        print_row(output, line);
    else
        result = line ? lines_write_object(output->file, line) : -1;
    if (result != 0 && errno == ENOMEM)
        log_error("out of memory for a line of output: it is left out");
    else if (result != 0 || fflush(output->file) != 0)
        reader_gone(output);
    pthread_mutex_unlock(&output->lock);
    json_decref(line);
}
