/* roce-traffic: bidirectional (GPUDirect) RDMA traffic between hosts. docs/roce-traffic.1 */
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/program/program.h"
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

/* What every subcommand has at hand. */
struct context {
    const struct call *call;
    struct traffic_options options;
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
    if (!flows || traffic_flows(c->call->document, flows, &count, &e) != 0)
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
    return drive_flows(c, c->call->arguments[0], c->options.port);
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

static int run(const struct call *call, int (*work)(struct context *c))
{
    struct context c = {.call = call, .options = *(const struct traffic_options *)call->options};
    struct error e;
    traffic_local_defaults(&c.options.flow.local);
    if (stop_open(&c.stop, c.options.while_stdin > 0, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    traffic_output_open(&c.output, stdout, c.options.output, c.stop.fd);
    int result = work(&c);
    traffic_output_close(&c.output);
    stop_close(&c.stop);
    return result;
}

static int run_serve(const struct call *call)
{
    return run(call, serve);
}

static int run_drive(const struct call *call)
{
    return run(call, drive);
}

static int run_loop(const struct call *call)
{
    return run(call, loop);
}

static int run_routes(const struct call *call)
{
    return run(call, routes);
}

static const struct command command_serve = {
    .name = "serve",
    .about = "Wait for drivers and be the other end of their flows.",
    .options = &traffic_serve_table,
    .run = run_serve,
};
static const struct command command_drive = {
    .name = "drive",
    .arguments = "HOST",
    .about = "Run flows against roce-traffic serve on HOST.",
    .options = &traffic_drive_table,
    .least = 1,
    .most = 1,
    .run = run_drive,
};
static const struct command command_loop = {
    .name = "loop",
    .about = "Run flows with both ends in this process, over this host's RDMA device.",
    .options = &traffic_drive_table,
    .run = run_loop,
};
static const struct command command_routes = {
    .name = "routes",
    .about = "Try every route to GPU memory on this host and print the results.",
    .options = &traffic_serve_table,
    .run = run_routes,
};

int main(int argc, char **argv)
{
    static const struct command *const commands[] = {&command_serve, &command_drive, &command_loop,
                                                     &command_routes, NULL};
    static const struct program program = {
        .name = "roce-traffic",
        .about = "Send RDMA traffic between hosts, from host or GPU memory, and measure it.",
        .commands = commands,
    };
    return program_main(&program, argc, argv);
}
