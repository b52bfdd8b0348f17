#include "harness/traffic/nccl_tests_table.h"

#include "harness/traffic/printed.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
};

static bool begins(const struct printed_line *line, const char *text)
{
    size_t length = strlen(text);
    return line->length >= length && memcmp(line->at, text, length) == 0;
}

/* ---- above the table */

static bool copy(const char *from, size_t length, char *to, size_t size)
{
    if (!length || length >= size)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

/* "# nccl-tests version 2.17.9 nccl-headers=22803 nccl-library=22803" */
static bool read_version(const struct printed_words *words, struct nccl_tests_output *out)
{
    static const char headers[] = "nccl-headers=", library[] = "nccl-library=";
    if (words->count < 6 || words->count > PRINTED_WORDS ||
        strspn(words->items[3], "0123456789.") != strlen(words->items[3]) ||
        strncmp(words->items[4], headers, strlen(headers)) != 0 ||
        strncmp(words->items[5], library, strlen(library)) != 0)
        return false;
    snprintf(out->version, sizeof out->version, "%s", words->items[3]);
    return printed_count(words->items[4] + strlen(headers), &out->headers) &&
           printed_count(words->items[5] + strlen(library), &out->library);
}

/* The text between two words of a line; `end` NULL: to its end. */
static bool between(const struct printed_line *line, const char *begin, const char *end, char *to,
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
    return stop && copy(at, (size_t)(stop - at), to, size);
}

/* "#  Rank  0 Group  0 Pid  12345 on      hostA device  0 [0000:41:00] NVIDIA H100 80GB HBM3"; 2.13 has no group, and [0x41]. */
static bool read_rank(const struct printed_line *line, struct nccl_tests_rank *rank)
{
    struct printed_words words;
    char number[PRINTED_WORD];
    struct printed_line begin = {line->at, line->length < 40 ? line->length : 40};
    printed_split(&begin, &words);
    return words.count > 3 && words.count <= PRINTED_WORDS && printed_count(words.items[2], &rank->rank) &&
           between(line, " on ", " device ", rank->host, sizeof rank->host) &&
           between(line, " device ", " [", number, sizeof number) && printed_count(number, &rank->device) &&
           between(line, "] ", NULL, rank->gpu, sizeof rank->gpu);
}

static int twice(struct error *e)
{
    return error_set(e,
                     "it printed more than one table: each process ran by itself, as where the program was "
                     "built without MPI (make MPI=1)");
}

static int take_rank(struct reading *r, const struct printed_line *line, struct error *e)
{
    struct nccl_tests_output *out = r->out;
    struct nccl_tests_rank rank;
    if (line->length >= 3 && memcmp(line->at + line->length - 3, "...", 3) == 0) {
        out->ranks_cut = true; /* a process has no room for more, which may be in the middle of a line */
        return 0;
    }
    if (out->rank_count && begins(line, "#  Rank  0 "))
        return twice(e);
    if (!read_rank(line, &rank) || rank.rank < (int64_t)out->rank_count ||
        (rank.rank > (int64_t)out->rank_count && !out->ranks_cut) || out->rank_count == MOST_RANKS)
        return printed_refuse(line, "the next rank, with its host, device and GPU, of at most 4096", e);
    struct nccl_tests_rank *grown = realloc(out->ranks, (out->rank_count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory for %zu ranks", out->rank_count);
    out->ranks = grown;
    grown[out->rank_count++] = rank;
    return 0;
}

/* ---- the table */

static const char *const header[] = {
    "#",      "size",         "count", "type",  "redop",  "root", "time|cputime", "algbw", "busbw",
    "#wrong", "time|cputime", "algbw", "busbw", "#wrong", NULL};

static int take_header(struct reading *r, const struct printed_line *line, const struct printed_words *words,
                       struct error *e)
{
    if (!printed_words_are(words, header))
        return printed_refuse(line, "the columns that nccl-tests 2.13 and later print", e);
    if (r->header)
        return twice(e);
    r->header = true;
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
           copy(words->items[2], strlen(words->items[2]), row->type, sizeof row->type) &&
           copy(words->items[3], strlen(words->items[3]), row->reduction, sizeof row->reduction) &&
           read_root(words->items[4], &row->root) && read_half(words->items + 5, &row->out_of_place) &&
           read_half(words->items + 5 + HALF, &row->in_place);
}

static int take_row(struct reading *r, const struct printed_line *line, const struct printed_words *words,
                    struct error *e)
{
    struct nccl_tests_output *out = r->out;
    struct nccl_tests_row row = {0};
    if (!read_row(words, &row) || out->row_count == MOST_ROWS ||
        (out->row_count && row.bytes < out->rows[out->row_count - 1].bytes))
        return printed_refuse(line, EXPECTED_ROW, e);
    struct nccl_tests_row *grown = realloc(out->rows, (out->row_count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory for %zu rows", out->row_count);
    out->rows = grown;
    grown[out->row_count++] = row;
    return 0;
}

/* ---- below it */

static int take_bounds(struct reading *r, const struct printed_line *line, const struct printed_words *words,
                       struct error *e)
{
    int64_t *count = &r->out->out_of_bounds;
    if (r->bounds || words->count != 8 || !printed_count(words->items[6], count) ||
        strcmp(words->items[7], *count ? "FAILED" : "OK") != 0)
        return printed_refuse(line, "the number of results that are out of bounds, OK or FAILED", e);
    r->bounds = true;
    return 0;
}

static int take_average(struct reading *r, const struct printed_line *line, const struct printed_words *words,
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

static int take_comment(struct reading *r, const struct printed_line *line, struct error *e)
{
    struct printed_words words = {0}; /* a comment may have few */
    printed_split(line, &words);
    if (words.count >= 4 && strcmp(words.items[1], "nccl-tests") == 0 &&
        strcmp(words.items[2], "version") == 0)
        return read_version(&words, r->out) ? 0
                                            : printed_refuse(line, "the versions of nccl-tests and NCCL", e);
    if (begins(line, "#  Rank "))
        return take_rank(r, line, e);
    if (strcmp(words.items[1], "Reducing") == 0 && words.count > 4)
        return printed_count(words.items[4], &r->out->reduced_max_bytes)
                   ? 0
                   : printed_refuse(line, "the largest size that memory has room for", e);
    if (strcmp(words.items[1], "size") == 0)
        return take_header(r, line, &words, e);
    if (begins(line, "# Out of bounds values"))
        return take_bounds(r, line, &words, e);
    if (begins(line, "# Avg bus bandwidth"))
        return take_average(r, line, &words, e);
    return 0;
}

/* A row begins with blanks and a digit. Beside rows there may be messages of NCCL, of the program and of mpirun. */
static bool is_row(const struct printed_line *line)
{
    size_t i = 0;
    while (i < line->length && line->at[i] == ' ')
        i++;
    return i < line->length && line->at[i] >= '0' && line->at[i] <= '9';
}

static int take_line(struct reading *r, const struct printed_line *line, struct error *e)
{
    struct printed_words words;
    if (line->length && line->at[0] == '#')
        return take_comment(r, line, e);
    if (!r->header || r->bounds || !is_row(line))
        return 0;
    printed_split(line, &words);
    return take_row(r, line, &words, e);
}

int nccl_tests_read(const char *printed, size_t length, struct nccl_tests_output *out, struct error *e)
{
    const char *at = printed, *end = printed + length;
    struct reading r = {.out = out};
    struct printed_line line;
    *out = (struct nccl_tests_output){0};
    while (printed_next(&at, end, &line))
        if (take_line(&r, &line, e) != 0)
            return -1;
    if (!r.header)
        return error_set(e, "its output has no table of results");
    if (!r.bounds || !r.average)
        return error_set(e, "its output ends before the end of its table");
    return 0;
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
