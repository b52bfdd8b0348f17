/* roce-traffic: bidirectional (GPUDirect) RDMA traffic between hosts. docs/roce-traffic.1 */
#include "lib/clock.h"
#include "lib/log.h"
#include "traffic/command.h"
#include "traffic/connection/control.h"
#include "traffic/drive.h"
#include "traffic/memory/routes.h"
#include "traffic/serve.h"
#include "traffic/stop.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_LAB = 3 };

/* What every subcommand has at hand. */
struct context {
    struct traffic_options options;
    const char **arguments;
    size_t argument_count;
    struct stop stop;
    struct output output;
};

static void report_end(struct output *output, const char *reason)
{
    output_line(output, json_pack("{s:s,s:I,s:s}", "type", "end", "time_ns", (json_int_t)clock_realtime_ns(),
                                  "reason", reason));
}

/* ---- serve */

static void report_ready(struct output *output, const char *address, int64_t port)
{
    char text[120];
    snprintf(text, sizeof text, "listening on %s port %" PRId64, address ? address : "all addresses", port);
    json_t *line = output_event("ready", text);
    json_object_set_new(line, "port", json_integer(port));
    output_line(output, line);
}

static int serve(struct context *c)
{
    struct error e;
    int64_t port = c->options.port;
    int listener = control_listen(c->options.listen, &port, &e);
    if (listener < 0) {
        log_error("%s", e.text);
        return EXIT_LAB;
    }
    struct server server = {.local = &c->options.flow.local,
                            .output = &c->output,
                            .listener = listener,
                            .stop_fd = c->stop.fd,
                            .once = c->options.once > 0};
    report_ready(&c->output, c->options.listen, port);
    int result = serve_run(&server, &e);
    if (result != 0)
        log_error("%s", e.text);
    report_end(&c->output, result != 0 ? "error" : stop_told(&c->stop) ? "signal" : "count");
    close(listener);
    return result == 0 ? 0 : EXIT_LAB;
}

/* ---- drive */

static int drive_flows(struct context *c, const char *host, int64_t port)
{
    struct drive_plan *flows = calloc(TRAFFIC_MAX_FLOWS, sizeof *flows);
    struct error e;
    size_t count = 0;
    int result = EXIT_USAGE;
    if (!flows || traffic_flows(&c->options, flows, &count, &e) != 0)
        log_error("%s", flows ? e.text : "out of memory");
    else
        result = (int)drive_run(flows, count, host, port, &c->output, c->stop.fd);
    while (count)
        drive_plan_free(&flows[--count]);
    free(flows);
    return result;
}

static int drive(struct context *c)
{
    if (c->argument_count != 1) {
        log_error("drive needs one HOST, the one where roce-traffic serve runs; %zu were given",
                  c->argument_count);
        return EXIT_USAGE;
    }
    return drive_flows(c, c->arguments[0], c->options.port);
}

/* ---- loop: both sides in one process */

static void *serve_thread(void *argument)
{
    struct error e;
    if (serve_run(argument, &e) != 0)
        log_error("%s", e.text);
    return NULL;
}

static int loop(struct context *c)
{
    struct error e;
    int64_t port = 0;
    struct stop_pipe {
        int fds[2];
    } end;
    struct output quiet;
    pthread_t thread;
    int listener = control_listen("127.0.0.1", &port, &e);
    FILE *nowhere = fopen("/dev/null", "w");
    if (listener < 0 || !nowhere || pipe(end.fds) != 0) {
        log_error("%s", listener < 0 ? e.text : "no more descriptors");
        return EXIT_LAB;
    }
    traffic_output_open(&quiet, nowhere, OUTPUT_JSON, c->stop.fd);
    struct server server = {
        .local = &c->options.flow.local, .output = &quiet, .listener = listener, .stop_fd = end.fds[0]};
    int result = EXIT_LAB;
    if (pthread_create(&thread, NULL, serve_thread, &server) == 0) {
        result = drive_flows(c, "127.0.0.1", port);
        close(end.fds[1]); /* the server's pipe ends: it is told to stop */
        pthread_join(thread, NULL);
        close(end.fds[0]);
    }
    traffic_output_close(&quiet);
    fclose(nowhere);
    close(listener);
    return result;
}

static int routes(struct context *c)
{
    return routes_run(&c->options.flow.local, &c->output);
}

/* ---- the table */

static const struct subcommand {
    const char *name, *synopsis, *about;
    bool driving; /* takes the flow options */
    int (*run)(struct context *);
} subcommands[] = {
    {"serve", "", "Wait for drivers and be the other end of their flows.", false, serve},
    {"drive", "HOST", "Run flows against roce-traffic serve on HOST.", true, drive},
    {"loop", "", "Run flows with both ends in this process, over this host's RDMA device.", true, loop},
    {"routes", "", "Try every route to GPU memory on this host and say what came of it.", false, routes},
    {0},
};

static void print_help(FILE *out)
{
    fprintf(out, "usage: roce-traffic SUBCOMMAND [OPTION]... [HOST]\n\nRDMA traffic between hosts, from host "
                 "or GPU memory.\n\n");
    for (const struct subcommand *s = subcommands; s->name; s++)
        fprintf(out, "  %-8s%s\n", s->name, s->about);
    fprintf(out, "\nroce-traffic SUBCOMMAND --help lists its options; roce-traffic --version the version.\n");
}

static int run_subcommand(const struct subcommand *s, int argc, char **argv)
{
    struct context c;
    struct error e;
    if (traffic_options_parse(argc, argv, s->driving, &c.options, &c.arguments, &c.argument_count, &e) != 0) {
        log_error("%s: %s", s->name, e.text);
        return EXIT_USAGE;
    }
    int result = EXIT_LAB;
    if (c.options.help) {
        traffic_options_help(s->name, s->synopsis, s->about, s->driving);
        result = 0;
    } else if (!s->driving && c.argument_count) {
        log_error("%s takes no argument: \"%s\"", s->name, c.arguments[0]);
        result = EXIT_USAGE;
    } else if (stop_open(&c.stop, c.options.while_stdin > 0, &e) != 0) {
        log_error("%s", e.text);
    } else {
        traffic_output_open(&c.output, stdout, c.options.output, c.stop.fd);
        result = s->run(&c);
        traffic_output_close(&c.output);
        stop_close(&c.stop);
    }
    traffic_options_free(s->driving, &c.options, c.arguments);
    return result;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"serve", "drive", "loop", "routes", NULL};
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("roce-traffic %s\n", HARNESS_VERSION);
        return 0;
    }
    for (const struct subcommand *s = subcommands; s->name; s++)
        if (strcmp(s->name, argv[1]) == 0)
            return run_subcommand(s, argc - 1, argv + 1);
    const char *near = options_nearest(argv[1], names);
    log_error("unknown subcommand \"%s\"%s%s%s: serve, drive, loop and routes are known", argv[1],
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return EXIT_USAGE;
}
