/* roce-traffic: bidirectional (GPUDirect) RDMA traffic between hosts. docs/roce-traffic.1 */
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include "traffic/job.h"
#include "traffic/connection/control.h"
#include "traffic/drive.h"
#include "traffic/memory/routes.h"
#include "traffic/serve.h"
#include "traffic/stop.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shared by all subcommands. */
struct context {
    struct stop stop;
    struct output output;
};

static int context_open(struct context *c, const struct process_options *options, bool await_start,
                        struct error *e)
{
    const struct stop_input input = {.ends = options->while_stdin > 0, .starts = await_start};
    if (stop_open(&c->stop, input, e) != 0)
        return -1;
    traffic_output_open(&c->output, stdout, options->output, c->stop.fd);
    return 0;
}

static void context_close(struct context *c)
{
    traffic_output_close(&c->output);
    stop_close(&c->stop);
}

static int read_secret(struct secret *secret, const char *path, struct error *e)
{
    *secret = (struct secret){{0}};
    return path ? secret_read(secret, path, e) : 0;
}

static void report_end(struct output *output, const char *reason)
{
    output_line(output, json_make("{s:s,s:I,s:s}", "type", "end", "time_ns", (json_int_t)clock_realtime_ns(),
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

static const char *listen_address(const struct serve_options *options, const struct secret *secret)
{
    return options->listen || secret_given(secret) ? options->listen : LISTENER_LOOPBACK;
}

static void say_without_secret(const struct serve_options *options)
{
    if (options->listen)
        log_warning("no secret was given (--secret-file): whoever can connect to %s may take memory and RDMA "
                    "resources of this host",
                    options->listen);
    else
        log_info("no secret was given (--secret-file): only programs of this host can connect; --listen "
                 "ADDRESS lets others");
}

static int64_t half_of_memory(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? pages / 2 * page_bytes : INT64_MAX;
}

static int serve(struct context *c, const struct serve_options *options, const struct secret *secret)
{
    struct error e;
    struct listener listener;
    int64_t port = options->process.port;
    const char *address = listen_address(options, secret);
    if (listener_open(&listener, address, &port, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    if (!secret_given(secret))
        say_without_secret(options);
    struct server server = {.local = &options->local,
                            .output = &c->output,
                            .listener = &listener,
                            .secret = *secret,
                            .max_memory_bytes = options->max_memory_bytes != FIELD_UNSET
                                                    ? options->max_memory_bytes
                                                    : half_of_memory(),
                            .stop_fd = c->stop.fd,
                            .once = options->once > 0};
    report_ready(&c->output, address, port);
    int result = serve_run(&server, &e);
    if (result != 0)
        log_error("%s", e.text);
    report_end(&c->output, result != 0 ? "error" : stop_told(&c->stop) ? "signal" : "count");
    listener_close(&listener);
    return result == 0 ? 0 : EXIT_LAB;
}

static int routes(struct context *c, const struct serve_options *options, const struct secret *secret)
{
    (void)secret;
    return routes_run(&options->local, &c->output);
}

static int run_serving(const struct call *call,
                       int (*work)(struct context *c, const struct serve_options *options,
                                   const struct secret *secret))
{
    const struct serve_options *options = call->options;
    struct context c;
    struct secret secret;
    struct error e;
    if (read_secret(&secret, options->process.secret_file, &e) != 0)
        return program_fail(EXIT_USAGE, &e);
    if (context_open(&c, &options->process, false, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    int result = work(&c, options, &secret);
    context_close(&c);
    return result;
}

static int run_serve(const struct call *call)
{
    return run_serving(call, serve);
}

static int run_routes(const struct call *call)
{
    return run_serving(call, routes);
}

/* ---- drive */

/* A job that is ready to run, with its flows. */
struct work {
    struct job job;
    struct secret secret;
    struct drive_plan *flows;
    size_t count;
};

static void work_free(struct work *w)
{
    while (w->count)
        drive_plan_free(&w->flows[--w->count]);
    free(w->flows);
    table_free(&job_table, &w->job);
}

/* On standard input the secret comes before the job; a job may name the file too. */
static int take_secret(struct work *w, const char *said, struct error *e)
{
    const char *path = said ? said : w->job.process.secret_file;
    return secret_given(&w->secret) ? 0 : read_secret(&w->secret, path, e);
}

static int work_make(struct work *w, const struct call *call, struct error *e)
{
    *w = (struct work){0};
    const char *said =
        json_string_value(json_object_get(json_object_get(call->document, "process"), "secret_file"));
    if (take_secret(w, said, e) != 0)
        return -1;
    json_t *document = job_document(call->document, e);
    int result = document ? table_parse(&job_table, document, &w->job, e) : -1;
    if (result == 0 && take_secret(w, NULL, e) != 0) {
        table_free(&job_table, &w->job);
        result = -1;
    }
    if (result == 0) {
        w->flows = calloc(FLOW_MAX_TOGETHER, sizeof *w->flows);
        result = w->flows ? job_plans(document, w->flows, &w->count, e) : error_set(e, "out of memory");
        if (result != 0)
            work_free(w);
    }
    json_decref(document);
    return result;
}

static int drive(struct context *c, const struct work *w, const char *host)
{
    const struct drive_server server = {.host = host, .port = w->job.process.port, .secret = w->secret};
    return (int)drive_run(w->flows, w->count, &server, &c->output, &c->stop);
}

/* ---- loop: both sides in one process */

static void *serve_thread(void *argument)
{
    struct error e;
    if (serve_run(argument, &e) != 0)
        log_error("%s", e.text);
    return NULL;
}

static int loop(struct context *c, const struct work *w, const char *host)
{
    struct error e;
    struct drive_server here = {.host = host};
    struct stop_pipe {
        int fds[2];
    } end;
    struct output quiet;
    struct listener listener;
    pthread_t thread;
    if (secret_make(&here.secret, &e) != 0 || listener_open(&listener, host, &here.port, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere || pipe(end.fds) != 0) {
        log_error("no more descriptors");
        return EXIT_LAB;
    }
    traffic_output_open(&quiet, nowhere, OUTPUT_JSON, c->stop.fd);
    struct server server = {.local = &w->job.common.local,
                            .output = &quiet,
                            .listener = &listener,
                            .secret = here.secret,
                            .max_memory_bytes = INT64_MAX,
                            .stop_fd = end.fds[0]};
    int result = EXIT_LAB;
    if (pthread_create(&thread, NULL, serve_thread, &server) == 0) {
        result = (int)drive_run(w->flows, w->count, &here, &c->output, &c->stop);
        close(end.fds[1]); /* the end of the server's pipe tells it to stop */
        pthread_join(thread, NULL);
        close(end.fds[0]);
    }
    traffic_output_close(&quiet);
    fclose(nowhere);
    listener_close(&listener);
    return result;
}

/* ---- common to drive and loop */

static int run_driving(const struct call *call, const char *host,
                       int (*run)(struct context *c, const struct work *w, const char *host))
{
    struct context c;
    struct work w;
    struct error e;
    if (work_make(&w, call, &e) != 0)
        return program_fail(EXIT_USAGE, &e);
    int result = EXIT_USAGE;
    host = host ? host : w.job.host;
    if (!host)
        log_error("drive needs HOST, the host where roce-traffic serve runs, as an argument or as \"host\" "
                  "in the job");
    else if (context_open(&c, &w.job.process, w.job.await_start > 0, &e) != 0)
        result = program_fail(EXIT_LAB, &e);
    else {
        result = run(&c, &w, host);
        context_close(&c);
    }
    work_free(&w);
    return result;
}

static int run_drive(const struct call *call)
{
    return run_driving(call, call->arguments[0], drive);
}

static int run_loop(const struct call *call)
{
    return run_driving(call, LISTENER_LOOPBACK, loop);
}

/* ---- the commands */

static const struct command command_serve = {
    .name = "serve",
    .about = "Wait for clients (drive) and run the other end of their flows.",
    .options = &serve_table,
    .run = run_serve,
};
static const struct command command_drive = {
    .name = "drive",
    .arguments = "[HOST]",
    .about = "Run flows with roce-traffic serve on HOST.",
    .options = &job_table,
    .most = 1,
    .run = run_drive,
};
static const struct command command_loop = {
    .name = "loop",
    .about = "Run flows with both ends in this process, over this host's RDMA device.",
    .options = &loop_table,
    .run = run_loop,
};
static const struct command command_routes = {
    .name = "routes",
    .about = "Try every route to GPU memory on this host and print the results.",
    .options = &routes_table,
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
