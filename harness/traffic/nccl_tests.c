/*
 * nccl-tests as a tool of collectives: all_reduce_perf and its siblings. On one host it is a process with all
 * GPUs; on several, mpirun of Open MPI starts a process for each GPU from the first host. The figures are
 * those of the table that rank 0 prints (nccl_tests.h); NCCL's messages (nccl_debug.h) say which path was
 * taken. docs/traffic-tools.md.
 */
#include "harness/traffic/collective_tool.h"
#include "harness/traffic/nccl_tests.h"
#include "harness/traffic/printed.h"

#include "lib/document/json_text.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME         "nccl-tests"
#define PROGRAM_SIZE 512
#define FOLDER_MOST  380
#define HELP_MOST    "16384" /* bytes of its help; it has about 3000 */
#define LAUNCH_S     "40"    /* to start a process on each host before the run */

static const char *const programs[] = {
    [COLLECTIVE_ALL_REDUCE] = "all_reduce_perf",
    [COLLECTIVE_ALL_GATHER] = "all_gather_perf",
    [COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter_perf",
    [COLLECTIVE_ALL_TO_ALL] = "alltoall_perf",
    [COLLECTIVE_BROADCAST] = "broadcast_perf",
    [COLLECTIVE_REDUCE] = "reduce_perf",
    [COLLECTIVE_GATHER] = "gather_perf",
    [COLLECTIVE_SCATTER] = "scatter_perf",
    [COLLECTIVE_SEND_RECV] = "sendrecv_perf",
};

static const char *folder_of(const struct collective_job *job)
{
    return job->lab->nccl_tests ? job->lab->nccl_tests->folder : NULL;
}

static const char *library_path_of(const struct collective_job *job)
{
    return job->lab->nccl_tests ? job->lab->nccl_tests->library_path : NULL;
}

static const char *suffix_of(const struct collective_job *job)
{
    return job->lab->nccl_tests && job->lab->nccl_tests->suffix ? job->lab->nccl_tests->suffix : "";
}

static void path_of(const struct collective_job *job, char path[PROGRAM_SIZE])
{
    const char *folder = folder_of(job);
    snprintf(path, PROGRAM_SIZE, "%s%s%s%s", folder ? folder : "", folder ? "/" : "",
             programs[job->collective->op], suffix_of(job));
}

/* ---- before a host is reached */

/* A process finds the others by the addresses of the experiment's network. */
static int nccl_tests_check(const struct collective_job *job, struct error *e)
{
    const char *folder = folder_of(job);
    if (folder && strlen(folder) > FOLDER_MOST)
        return error_set(e, "lab %s: nccl_tests.folder has more than %d bytes", job->lab->name, FOLDER_MOST);
    for (size_t i = 0; job->mpirun && i < job->host_count; i++) {
        const char *address = job->hosts[i].lab->nic.address;
        if (!address || strchr(address, ':'))
            return error_set(
                e,
                "collective %s: mpirun reaches hosts by IPv4 addresses, and host %s of lab %s has none "
                "in nic.address",
                job->collective->name, job->hosts[i].lab->name, job->lab->name);
    }
    return 0;
}

/* ---- commands */

static void add_mpirun(const struct collective_job *job, struct words *w)
{
    const struct lab_nccl_tests *tests = job->lab->nccl_tests;
    words_add_all(w, (const char *const[]){"mpirun", "--allow-run-as-root", NULL});
    for (size_t i = 0; tests && i < tests->mpirun.count; i++)
        words_add(w, "%s", ((char *const *)tests->mpirun.items)[i]);
}

/* `count` processes on a host; its command follows. Hosts are separated by ":". */
static void add_host(const struct collective_job *job, size_t host, int64_t count, struct words *w)
{
    const char *address = job->hosts[host].lab->nic.address;
    if (host)
        words_add(w, ":");
    words_add(w, "-H");
    words_add(w, "%.*s:%" PRId64, (int)strcspn(address, "/"), address, count);
    words_add(w, "-np");
    words_add(w, "%" PRId64, count);
}

static void add_options(const struct collective_job *job, struct words *w)
{
    const struct scenario_collective *c = job->collective;
    words_add(w, "--minbytes=%" PRId64, c->min_bytes);
    words_add(w, "--maxbytes=%" PRId64, c->max_bytes);
    words_add(w, "--stepfactor=%" PRId64, c->factor);
    words_add(w, "--iters=%" PRId64, c->iterations);
    words_add(w, "--warmup_iters=%" PRId64, c->warmup_iterations);
    words_add(w, "--ngpus=%" PRId64, job->mpirun ? 1 : c->gpus);
    words_add(w, "--check=%d", c->validate == 1);
    words_add(w, "--datatype=%s", c->datatype);
    words_add(w, "--op=%s", c->reduction);
    words_add(w, "--root=%" PRId64, c->root);
}

/* What the processes of a host get beside the scenario's variables: the lab's GPU, numbered as NVML does, if
 * they use one; and NCCL's messages about paths, on standard error, where they do not break the table. */
static json_t *nccl_tests_environment(const struct collective_job *job, size_t host)
{
    const struct lab_gpu *gpu = job->hosts[host].lab->gpu;
    json_t *env = collective_env(job, host);
    if (gpu && job->collective->gpus == 1 && !json_object_get(env, "CUDA_VISIBLE_DEVICES")) {
        json_object_set_new(env, "CUDA_DEVICE_ORDER", json_text("PCI_BUS_ID"));
        json_object_set_new(env, "CUDA_VISIBLE_DEVICES", json_textf("%" PRId64, gpu->index));
    }
    if (!json_object_get(env, "NCCL_DEBUG")) {
        json_object_set_new(env, "NCCL_DEBUG", json_text("INFO"));
        if (!json_object_get(env, "NCCL_DEBUG_SUBSYS"))
            json_object_set_new(env, "NCCL_DEBUG_SUBSYS", json_text("INIT,ENV"));
    }
    json_object_set_new(env, "NCCL_DEBUG_FILE", json_text("/dev/stderr"));
    if (library_path_of(job))
        json_object_set_new(env, "LD_LIBRARY_PATH", json_text(library_path_of(job)));
    return env;
}

static void add_program(const struct collective_job *job, size_t host, struct words *w)
{
    char path[PROGRAM_SIZE];
    const char *name;
    json_t *value, *env = nccl_tests_environment(job, host);
    words_add(w, "env");
    json_object_foreach(env, name, value)
    {
        words_add(w, "%s=%s", name, json_string_value(value));
    }
    json_decref(env);
    path_of(job, path);
    words_add(w, "%s", path);
    add_options(job, w);
}

/*
 * The process becomes the program's or mpirun's, which a watcher may end (remote_stream.c). It waits in short
 * steps: a sleep that is left behind ends soon. NCCL opens /dev/stderr, which the socket that sshd gives a
 * command does not allow: messages go through a FIFO.
 */
static const char start_script[] =
    "start=$1; shift; "
    "while left=$((start - $(date +%s%N))); [ $left -gt 0 ]; do "
    "[ $left -lt 500000000 ] || left=500000000; sleep 0.$(printf %09d $left); done; "
    "d=$(mktemp -d) && mkfifo \"$d/messages\" || { echo \"cannot make a FIFO for messages\" >&2; exit 3; }; "
    "exec 3<>\"$d/messages\" 4>&2 2>\"$d/messages\"; "
    "{ exec <\"$d/messages\" 3<&- 2>/dev/null; rm -r \"$d\"; exec cat >&4 4>&-; } & "
    "exec 3<&- 4>&-; echo \"" COLLECTIVE_RAN "$*\"; exec \"$@\"";

static int nccl_tests_command(const struct collective_job *job, struct words *w, struct error *e)
{
    words_add_all(w, (const char *const[]){"sh", "-c", start_script, NAME, NULL});
    words_add(w, "%" PRId64, job->start_ns);
    if (job->mpirun)
        add_mpirun(job, w);
    for (size_t i = 0; i < job->host_count; i++) {
        if (job->mpirun)
            add_host(job, i, job->collective->gpus, w);
        add_program(job, i, w);
    }
    return words_whole(w, e);
}

/* ---- is it on the hosts? */

/* Answers are lines; the help, which has many, is the last but for what mpirun says. Words: program, library
 * path or -, whether MPI is needed, then on the first host a command of mpirun. */
static const char ask_script[] =
    "program=$1 library=$2 mpi=$3; shift 3; "
    "path=$(command -v \"$program\") || { echo missing; exit 0; }; echo found; "
    "[ $mpi = 0 ] || { grep -q MPI_Init \"$path\" && echo mpi || echo no mpi; }; "
    "if [ $# != 0 ]; then "
    "said=$(mpirun --version 2>&1 </dev/null); echo \"mpirun: $said\" | head -n 1; "
    "said=$(timeout -k 5 " LAUNCH_S " \"$@\" 2>&1 </dev/null); echo \"launch: $?\"; "
    "echo \"$said\" | tail -n 20; echo end of launch; fi; "
    "[ \"$library\" = - ] || export LD_LIBRARY_PATH=\"$library\"; "
    "\"$path\" --help 2>&1 </dev/null | head -c " HELP_MOST "; :";

static int nccl_tests_ask(const struct collective_job *job, size_t host, struct words *w, struct error *e)
{
    char path[PROGRAM_SIZE];
    const char *library = library_path_of(job);
    path_of(job, path);
    words_add_all(w, (const char *const[]){"sh", "-c", ask_script, "sh", path, library ? library : "-",
                                           job->mpirun ? "1" : "0", NULL});
    if (job->mpirun && host == 0) {
        add_mpirun(job, w);
        for (size_t i = 0; i < job->host_count; i++) {
            add_host(job, i, 1, w);
            words_add(w, "true");
        }
    }
    return words_whole(w, e);
}

/* The rest of the line that begins so, or NULL. */
static const char *answered(const char *answer, const char *begin)
{
    size_t length = strlen(begin);
    for (const char *line = answer; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, begin, length) == 0)
            return line + length;
    return NULL;
}

static int judge_launch(struct collective_job *job, const char *host, const char *answer, struct error *e)
{
    static const char open_mpi[] = " mpirun (Open MPI) ";
    const char *version = answered(answer, "mpirun:"), *status = answered(answer, "launch: ");
    const char *said = status ? status + strcspn(status, "\n") : "";
    const char *end = strstr(said, "\nend of launch\n");
    struct text tail = {0};
    if (!version || strncmp(version, open_mpi, strlen(open_mpi)) != 0)
        return error_set(e, "host %s has no mpirun of Open MPI, which collective %s needs: it says \"%.*s\"",
                         host, job->collective->name, version ? (int)strcspn(version, "\n") : 0,
                         version ? version : "");
    snprintf(job->mpirun_version, sizeof job->mpirun_version, "Open MPI %.*s",
             (int)strcspn(version + strlen(open_mpi), "\n"), version + strlen(open_mpi));
    if (status && end && strncmp(status, "0\n", 2) == 0)
        return 0;
    printed_tail(said, end ? (size_t)(end - said) : strlen(said), &tail);
    error_set(e,
              "host %s: mpirun could not start a process on each host of collective %s within " LAUNCH_S
              " s; it needs ssh without a password from this host to the others: %.500s",
              host, job->collective->name, tail.length ? text_string(&tail) : "it said nothing");
    text_free(&tail);
    return -1;
}

static int judge_options(const struct collective_job *job, const char *host, const char *answer,
                         struct error *e)
{
    struct words options = {0};
    struct text tail = {0};
    char path[PROGRAM_SIZE];
    int result;
    path_of(job, path);
    add_options(job, &options);
    result = words_whole(&options, e);
    if (result == 0 && !strstr(answer, "USAGE: ")) {
        printed_tail(answer, strlen(answer), &tail);
        result = error_set(e, "host %s: %s --help says \"%.500s\": expected its options (collective %s)",
                           host, path, text_string(&tail), job->collective->name);
    }
    for (size_t i = 0; result == 0 && i < options.count; i++)
        if (!printed_help_knows(answer, options.items[i]))
            result = error_set(
                e, "host %s: %s has no option %.*s, which collective %s needs: a newer one is needed", host,
                path, (int)strcspn(options.items[i], "="), options.items[i], job->collective->name);
    words_free(&options);
    text_free(&tail);
    return result;
}

static int nccl_tests_judge(struct collective_job *job, size_t host, const char *answer, bool *missing,
                            struct error *e)
{
    const char *name = job->hosts[host].lab->name;
    char path[PROGRAM_SIZE];
    path_of(job, path);
    *missing = strncmp(answer, "found\n", 6) != 0;
    if (*missing)
        return error_set(e, "host %s has no %s of " NAME " (collective %s)%s", name, path,
                         job->collective->name,
                         folder_of(job) ? "" : " in its PATH, and the lab names no nccl_tests.folder");
    if (job->mpirun && strncmp(answer + 6, "mpi\n", 4) != 0)
        return error_set(e, "host %s: %s was built without MPI, which collective %s needs: make MPI=1", name,
                         path, job->collective->name);
    if (job->mpirun && host == 0 && judge_launch(job, name, answer, e) != 0)
        return -1;
    return judge_options(job, name, answer, e);
}

/* ---- what it prints */

#define MOST_ROWS  1000
#define MOST_RANKS 4096
#define HALF       4 /* words of a half of a row */
#define ROW_WORDS  13
#define EXPECTED_ROW                                                                                      \
    "a row of its table: size, count, type, redop, root, and twice time, algbw, busbw, #wrong, of sizes " \
    "that grow"

/* What was read so far. */
struct reading {
    struct nccl_tests_output *out;
    bool header, bounds, average;
    bool cpu_times; /* of the process, not of the collective */
};

static bool begins(const struct printed_line *line, const char *text)
{
    size_t length = strlen(text);
    return line->length >= length && memcmp(line->at, text, length) == 0;
}

/* ---- above the table */

static bool copy_word(const char *from, size_t length, char *to, size_t size)
{
    if (!length || length >= size)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

/* "# nccl-tests version 2.17.9 nccl-headers=22803 nccl-library=22803"; from 2.20 on the commit, "(b4d5bee)",
 * is behind the version. What is not understood stays unknown: no figure hangs on it. */
static void read_version_words(const struct printed_words *words, struct nccl_tests_output *out)
{
    static const char headers[] = "nccl-headers=", library[] = "nccl-library=";
    size_t count = words->count <= PRINTED_WORDS ? words->count : PRINTED_WORDS;
    if (strspn(words->items[3], "0123456789.") == strlen(words->items[3]))
        snprintf(out->version, sizeof out->version, "%s", words->items[3]);
    for (size_t i = 4; i < count; i++) {
        const char *word = words->items[i];
        if (strncmp(word, headers, strlen(headers)) == 0)
            (void)printed_count(word + strlen(headers), &out->nccl_built_with);
        else if (strncmp(word, library, strlen(library)) == 0)
            (void)printed_count(word + strlen(library), &out->nccl_version);
    }
}

/* The text between two words of a line; `end` NULL: to its end. */
static bool copy_between(const struct printed_line *line, const char *begin, const char *end, char *to,
                         size_t size)
{
    const char *at = memmem(line->at, line->length, begin, strlen(begin));
    if (!at)
        return false;
    at += strlen(begin);
    size_t left = (size_t)(line->at + line->length - at);
    while (left && *at == ' ') {
        at++;
        left--;
    }
    const char *stop = end ? memmem(at, left, end, strlen(end)) : at + left;
    return stop && copy_word(at, (size_t)(stop - at), to, size);
}

/* "#  Rank  0 Group  0 Pid  12345 on      hostA device  0 [0000:41:00] NVIDIA H100 80GB HBM3"; 2.13 has no
 * group, and [0x41]. */
static bool read_rank(const struct printed_line *line, struct nccl_tests_rank *rank)
{
    struct printed_words words;
    char number[PRINTED_WORD];
    struct printed_line begin = {line->at, line->length < 40 ? line->length : 40};
    printed_split(&begin, &words);
    return words.count > 3 && words.count <= PRINTED_WORDS && printed_count(words.items[2], &rank->rank) &&
           copy_between(line, " on ", " device ", rank->host, sizeof rank->host) &&
           copy_between(line, " device ", " [", number, sizeof number) &&
           printed_count(number, &rank->device) &&
           copy_between(line, "] ", NULL, rank->gpu, sizeof rank->gpu);
}

static int refuse_second_table(struct error *e)
{
    return error_set(e,
                     "it printed more than one table: each process ran by itself, as where the program was "
                     "built without MPI (make MPI=1)");
}

static int read_rank_line(struct reading *r, const struct printed_line *line, struct error *e)
{
    struct nccl_tests_output *out = r->out;
    struct nccl_tests_rank rank;
    if (line->length >= 3 && memcmp(line->at + line->length - 3, "...", 3) == 0) {
        out->ranks_cut = true; /* a process has no room for more, which may be in the middle of a line */
        return 0;
    }
    if (out->rank_count && begins(line, "#  Rank  0 "))
        return refuse_second_table(e);
    if (!read_rank(line, &rank) || rank.rank < (int64_t)out->rank_count ||
        (rank.rank > (int64_t)out->rank_count && !out->ranks_cut) || out->rank_count == MOST_RANKS)
        return printed_refuse(line, "the next rank, with its host, device and GPU, of at most 4096", e);
    out->ranks = xreallocarray(out->ranks, out->rank_count + 1, sizeof *out->ranks);
    out->ranks[out->rank_count++] = rank;
    return 0;
}

/* ---- the table */

static const char *const header[] = {
    "#",      "size",         "count", "type",  "redop",  "root", "time|cputime", "algbw", "busbw",
    "#wrong", "time|cputime", "algbw", "busbw", "#wrong", NULL};

static int read_header(struct reading *r, const struct printed_line *line, const struct printed_words *words,
                       struct error *e)
{
    if (!printed_words_are(words, header))
        return printed_refuse(line, "the columns that nccl-tests 2.13 and later print", e);
    if (r->header)
        return refuse_second_table(e);
    r->header = true;
    r->cpu_times = memmem(line->at, line->length, "cputime", strlen("cputime"));
    return 0;
}

static bool read_half(const char words[HALF][PRINTED_WORD], struct nccl_tests_figures *figures)
{
    double wrong;
    bool checked = strcmp(words[3], "N/A") != 0;
    if (!printed_number(words[0], &figures->time_us) || !printed_number(words[1], &figures->algbw_GBps) ||
        !printed_number(words[2], &figures->busbw_GBps) ||
        (checked && (!printed_number(words[3], &wrong) || wrong > 1e15)))
        return false;
    figures->wrong = checked ? (int64_t)wrong : -1;
    return true;
}

static bool read_root(const char *word, int64_t *root)
{
    *root = -1;
    return strcmp(word, "-1") == 0 || printed_count(word, root);
}

static bool read_row(const struct printed_words *words, struct nccl_tests_row *row)
{
    return words->count == ROW_WORDS && printed_count(words->items[0], &row->bytes) &&
           printed_count(words->items[1], &row->count) &&
           copy_word(words->items[2], strlen(words->items[2]), row->type, sizeof row->type) &&
           copy_word(words->items[3], strlen(words->items[3]), row->reduction, sizeof row->reduction) &&
           read_root(words->items[4], &row->root) && read_half(words->items + 5, &row->out_of_place) &&
           read_half(words->items + 5 + HALF, &row->in_place);
}

/* ---- do the figures of a row belong together? */

#define ROUNDING_GBPS 0.0051 /* two decimals */
#define LONG_US       1e6    /* from there on times may be printed with two digits */

/* Bytes of an element; 0: not known here. */
static int64_t type_bytes(const char *type)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {{"int8", 1},  {"uint8", 1},    {"char", 1},  {"f8e4m3", 1}, {"f8e5m2", 1},
                 {"half", 2},  {"bfloat16", 2}, {"float", 4}, {"int32", 4},  {"uint32", 4},
                 {"int64", 8}, {"uint64", 8},   {"double", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].bytes;
    return 0;
}

/* The count is of all elements, or of those that each rank has (max(sendBytes, expectedBytes) of the
 * program).
 */
static bool counts_fit(const struct nccl_tests_row *row, int64_t ranks)
{
    int64_t element = type_bytes(row->type);
    if (!element || row->bytes == 0)
        return true;
    if (row->count <= 0 || row->bytes % element != 0 || row->bytes / element % row->count != 0)
        return false;
    int64_t times = row->bytes / element / row->count;
    return times == 1 || (ranks ? times == ranks : times > 1);
}

/* algbw is the size by the time (getBw of each test). */
static bool time_fits(int64_t bytes, const struct nccl_tests_figures *f)
{
    double expected = f->time_us > 0 ? (double)bytes / f->time_us / 1e3 : 0;
    return bytes == 0 ||
           (f->time_us > 0 && fabs(f->algbw_GBps - expected) <=
                                  ROUNDING_GBPS + (f->time_us < LONG_US ? 0.01 : 0.05) * expected);
}

static bool busbw_is(const struct nccl_tests_figures *f, double factor)
{
    return fabs(f->busbw_GBps - factor * f->algbw_GBps) <=
           ROUNDING_GBPS * (1 + factor) + 0.005 * f->busbw_GBps;
}

/* busbw is algbw times what the operation makes of the number of ranks (PERFORMANCE.md); 0: not known. */
static bool busbw_fits(const struct nccl_tests_figures *f, int64_t ranks)
{
    double n = (double)ranks;
    if (!ranks)
        return f->busbw_GBps + ROUNDING_GBPS >= 0.495 * f->algbw_GBps - ROUNDING_GBPS &&
               f->busbw_GBps <= 2.01 * f->algbw_GBps + 3 * ROUNDING_GBPS;
    return busbw_is(f, 1) || busbw_is(f, (n - 1) / n) || busbw_is(f, 2 * (n - 1) / n);
}

static int check_figures(const struct nccl_tests_output *out, bool cpu_times, struct error *e)
{
    int64_t wrong = 0, ranks = out->ranks_cut ? 0 : (int64_t)out->rank_count;
    if (!out->rank_count && !out->ranks_cut)
        return error_set(e, "its output names no ranks");
    for (size_t i = 0; i < out->row_count; i++) {
        const struct nccl_tests_row *row = &out->rows[i];
        const struct nccl_tests_figures *halves[] = {&row->out_of_place, &row->in_place};
        if (!counts_fit(row, ranks))
            return error_set(e, "its table has %" PRId64 " elements of %s for %" PRId64 " bytes", row->count,
                             row->type, row->bytes);
        for (int k = 0; k < 2; k++) {
            if (!cpu_times && !time_fits(row->bytes, halves[k]))
                return error_set(e, "its table has %" PRId64 " bytes in %g us, which is not algbw %g GB/s",
                                 row->bytes, halves[k]->time_us, halves[k]->algbw_GBps);
            if (!busbw_fits(halves[k], ranks))
                return error_set(
                    e,
                    "its table has busbw %g GB/s beside algbw %g GB/s, which no operation of %zu "
                    "ranks makes of it",
                    halves[k]->busbw_GBps, halves[k]->algbw_GBps, out->rank_count);
            wrong += halves[k]->wrong > 0;
        }
    }
    if (wrong && !out->out_of_bounds)
        return error_set(e, "its table has wrong elements, and ends with \"Out of bounds values : 0 OK\"");
    return 0;
}

static int read_row_line(struct reading *r, const struct printed_line *line,
                         const struct printed_words *words, struct error *e)
{
    struct nccl_tests_output *out = r->out;
    struct nccl_tests_row row = {0};
    if (!read_row(words, &row) || out->row_count == MOST_ROWS ||
        (out->row_count && row.bytes < out->rows[out->row_count - 1].bytes))
        return printed_refuse(line, EXPECTED_ROW, e);
    out->rows = xreallocarray(out->rows, out->row_count + 1, sizeof *out->rows);
    out->rows[out->row_count++] = row;
    return 0;
}

/* ---- below it */

static int read_bounds(struct reading *r, const struct printed_line *line, const struct printed_words *words,
                       struct error *e)
{
    int64_t *count = &r->out->out_of_bounds;
    if (r->bounds || words->count != 8 || !printed_count(words->items[6], count) ||
        strcmp(words->items[7], *count ? "FAILED" : "OK") != 0)
        return printed_refuse(line, "the number of results that are out of bounds, OK or FAILED", e);
    r->bounds = true;
    return 0;
}

static int read_average(struct reading *r, const struct printed_line *line, const struct printed_words *words,
                        struct error *e)
{
    const struct nccl_tests_output *out = r->out;
    double sum = 0, *average = &r->out->average_busbw_GBps;
    if (r->average || words->count < 6 || words->count > 7 || !printed_number(words->items[5], average) ||
        !out->row_count)
        return printed_refuse(line, "the average bus bandwidth of its rows", e);
    for (size_t i = 0; i < out->row_count; i++)
        sum += out->rows[i].out_of_place.busbw_GBps + out->rows[i].in_place.busbw_GBps;
    double mean = sum / (2 * (double)out->row_count);
    if (!(fabs(*average - mean) <=
          0.0051 + 1e-3 * mean)) /* rows have at least three digits, or two decimals */
        return printed_refuse(line, "the average of the rows above it", e);
    r->average = true;
    return 0;
}

static int read_comment(struct reading *r, const struct printed_line *line, struct error *e)
{
    struct printed_words words = {0}; /* a comment may have few */
    printed_split(line, &words);
    if (words.count >= 4 && strcmp(words.items[1], "nccl-tests") == 0 &&
        strcmp(words.items[2], "version") == 0)
        read_version_words(&words, r->out);
    if (begins(line, "#  Rank "))
        return read_rank_line(r, line, e);
    if (strcmp(words.items[1], "Reducing") == 0 && words.count > 4)
        return printed_count(words.items[4], &r->out->reduced_max_bytes)
                   ? 0
                   : printed_refuse(line, "the largest size that memory has room for", e);
    if (strcmp(words.items[1], "size") == 0)
        return read_header(r, line, &words, e);
    if (begins(line, "# Out of bounds values"))
        return read_bounds(r, line, &words, e);
    if (begins(line, "# Avg bus bandwidth"))
        return read_average(r, line, &words, e);
    return 0;
}

/* A row begins with blanks and a digit. Beside rows there may be messages of NCCL, of the program and of
 * mpirun. */
static bool is_row(const struct printed_line *line)
{
    size_t i = 0;
    while (i < line->length && line->at[i] == ' ')
        i++;
    return i < line->length && line->at[i] >= '0' && line->at[i] <= '9';
}

static int read_line(struct reading *r, const struct printed_line *line, struct error *e)
{
    struct printed_words words;
    if (line->length && line->at[0] == '#')
        return read_comment(r, line, e);
    if (!r->header || r->bounds || !is_row(line))
        return 0;
    printed_split(line, &words);
    return read_row_line(r, line, &words, e);
}

int nccl_tests_read(const char *printed, size_t length, struct nccl_tests_output *out, struct error *e)
{
    const char *at = printed, *end = printed + length;
    struct reading r = {.out = out};
    struct printed_line line;
    *out = (struct nccl_tests_output){0};
    while (printed_next(&at, end, &line))
        if (read_line(&r, &line, e) != 0)
            return -1;
    if (!r.header)
        return error_set(e, "its output has no table of results");
    if (!r.bounds || !r.average)
        return error_set(e, "its output ends before the end of its table");
    return check_figures(out, r.cpu_times, e);
}

void nccl_tests_output_free(struct nccl_tests_output *out)
{
    free(out->rows);
    free(out->ranks);
    *out = (struct nccl_tests_output){0};
}

/* Up to 2.8 a version has 1000 * major, from 2.9 on 10000 * major: NCCL_VERSION in nccl.h. */
void nccl_version_text(int64_t code, char *text, size_t size)
{
    int64_t major = code >= 10000 ? code / 10000 : code / 1000;
    int64_t rest = code >= 10000 ? code % 10000 : code % 1000;
    snprintf(text, size, "%lld.%lld.%lld", (long long)major, (long long)(rest / 100),
             (long long)(rest % 100));
}

/* ---- its results */

static double busbw_factor(enum collective_op op, double ranks)
{
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (ranks - 1) / ranks;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_SEND_RECV:
        return 1;
    default:
        return (ranks - 1) / ranks;
    }
}

/* The program takes float and sum for a name that it does not know. */
static int check_row(const struct scenario_collective *c, const struct nccl_tests_row *row, size_t ranks,
                     struct error *e)
{
    double factor = busbw_factor((enum collective_op)c->op, (double)ranks);
    if (!busbw_is(&row->out_of_place, factor) || !busbw_is(&row->in_place, factor))
        return error_set(e, "its table has busbw %g GB/s beside algbw %g GB/s: expected %g times as much",
                         row->out_of_place.busbw_GBps, row->out_of_place.algbw_GBps, factor);
    if (strcmp(row->type, c->datatype) != 0)
        return error_set(e, "its table is of datatype %s: expected %s", row->type, c->datatype);
    if (strcmp(row->reduction, "none") != 0 && strcmp(row->reduction, c->reduction) != 0)
        return error_set(e, "its table is of reduction %s: expected %s", row->reduction, c->reduction);
    return 0;
}

static int check_output(const struct collective_job *job, const struct nccl_tests_output *out,
                        struct error *e)
{
    size_t ranks = job->host_count * (size_t)job->collective->gpus;
    size_t sizes = (size_t)collective_sizes(job->collective);
    if (!out->ranks_cut && out->rank_count != ranks)
        return error_set(e, "its output names %zu ranks: expected %zu", out->rank_count, ranks);
    if (out->row_count > sizes || (!out->reduced_max_bytes && out->row_count != sizes))
        return error_set(e, "its table has %zu rows: expected %zu, one for each size", out->row_count, sizes);
    for (size_t i = 0; i < out->row_count; i++)
        if (check_row(job->collective, &out->rows[i], ranks, e) != 0)
            return -1;
    return 0;
}

static json_t *figures_json(const struct nccl_tests_figures *f)
{
    json_t *wrong = f->wrong < 0 ? json_null() : json_integer((json_int_t)f->wrong);
    return json_make("{s:f,s:f,s:f,s:o}", "time_ns", f->time_us * 1e3, "algbw_GBps", f->algbw_GBps,
                     "busbw_GBps", f->busbw_GBps, "wrong", wrong);
}

static json_t *sizes_json(const struct nccl_tests_output *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < out->row_count; i++) {
        const struct nccl_tests_row *row = &out->rows[i];
        json_array_append_new(
            list, json_make("{s:I,s:I,s:s,s:s,s:I,s:o,s:o}", "bytes", (json_int_t)row->bytes, "count",
                            (json_int_t)row->count, "datatype", row->type, "reduction", row->reduction,
                            "root", (json_int_t)row->root, "out_of_place", figures_json(&row->out_of_place),
                            "in_place", figures_json(&row->in_place)));
    }
    return list;
}

static json_t *devices_json(const struct nccl_tests_output *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < out->rank_count; i++)
        json_array_append_new(list, json_make("{s:I,s:s,s:I,s:s}", "rank", (json_int_t)out->ranks[i].rank,
                                              "host", out->ranks[i].host, "device",
                                              (json_int_t)out->ranks[i].device, "gpu", out->ranks[i].gpu));
    return list;
}

/* The extremes of all sizes, both halves. */
struct extremes {
    double busbw, algbw, time_us;
    int64_t wrong; /* sum; -1: nothing was checked */
};

static struct extremes extremes_of(const struct nccl_tests_output *out)
{
    struct extremes x = {.time_us = INFINITY, .wrong = -1};
    for (size_t i = 0; i < 2 * out->row_count; i++) {
        const struct nccl_tests_figures *f =
            i % 2 ? &out->rows[i / 2].in_place : &out->rows[i / 2].out_of_place;
        x.busbw = fmax(x.busbw, f->busbw_GBps);
        x.algbw = fmax(x.algbw, f->algbw_GBps);
        x.time_us = fmin(x.time_us, f->time_us);
        if (f->wrong >= 0)
            x.wrong = (x.wrong < 0 ? 0 : x.wrong) + f->wrong;
    }
    return x;
}

static json_t *versions_json(const struct nccl_tests_output *out, const struct nccl_debug *debug)
{
    char text[64];
    json_t *result = json_object();
    if (*out->version)
        json_object_set_new(result, "version", json_text(out->version));
    if (out->nccl_built_with) {
        nccl_version_text(out->nccl_built_with, text, sizeof text);
        json_object_set_new(result, "nccl_built_with", json_text(text));
    }
    if (out->nccl_version)
        nccl_version_text(out->nccl_version, text, sizeof text);
    if (*debug->version || out->nccl_version)
        json_object_set_new(result, "nccl_version", json_text(*debug->version ? debug->version : text));
    return result;
}

static json_t *result_json(const struct collective_job *job, const struct nccl_tests_output *out,
                           const struct nccl_debug *debug)
{
    const struct extremes x = extremes_of(out);
    json_t *result =
        json_make("{s:I,s:f,s:f,s:f,s:f,s:I,s:s?,s:o,s:o,s:o,s:o}", "ranks",
                  (json_int_t)(job->host_count * (size_t)job->collective->gpus), "avg_busbw_GBps",
                  out->average_busbw_GBps, "max_busbw_GBps", x.busbw, "max_algbw_GBps", x.algbw,
                  "min_time_ns", x.time_us * 1e3, "out_of_bounds", (json_int_t)out->out_of_bounds, "path",
                  nccl_debug_path(debug), "channels", nccl_debug_channels(debug), "sizes", sizes_json(out),
                  "devices", devices_json(out), "tool_used", versions_json(out, debug));
    if (x.wrong >= 0)
        json_object_set_new(result, "wrong", json_integer((json_int_t)x.wrong));
    if (out->reduced_max_bytes)
        json_object_set_new(result, "reduced_max_bytes", json_integer((json_int_t)out->reduced_max_bytes));
    return result;
}

static json_t *nccl_tests_result(const struct collective_job *job, const char *printed, size_t length,
                                 const struct nccl_debug *debug, bool *failed, struct error *e)
{
    struct nccl_tests_output out;
    json_t *result = NULL;
    if (nccl_tests_read(printed, length, &out, e) == 0 && check_output(job, &out, e) == 0 &&
        !(result = result_json(job, &out, debug)))
        error_set(e, "out of memory for the results of collective %s", job->collective->name);
    *failed = result && out.out_of_bounds > 0;
    nccl_tests_output_free(&out);
    return result;
}

const struct collective_tool collective_tool_nccl_tests = {
    .name = NAME,
    .install = "build https://github.com/NVIDIA/nccl-tests with make, for several hosts with make MPI=1, in "
               "a folder "
               "that the lab names as nccl_tests.folder",
    .cannot = "no lines while it runs, no latencies of single iterations",
    .check = nccl_tests_check,
    .ask = nccl_tests_ask,
    .judge = nccl_tests_judge,
    .command = nccl_tests_command,
    .environment = nccl_tests_environment,
    .read = nccl_tests_result,
};
