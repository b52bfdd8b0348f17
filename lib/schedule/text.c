/*
 * GOAL's text, as LogGOPSim's txt2bin reads it (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re of December 2023;
 * ATLAHS, spcl/atlahs, has the same):
 *
 *   num_ranks N
 *   rank R {
 *     [LABEL:] send BYTES b to RANK [tag T] [cpu C] [nic N]
 *     [LABEL:] recv BYTES b from RANK [tag T] [cpu C] [nic N]
 *     [LABEL:] calc NS [cpu C]
 *     LABEL requires LABEL      the first begins after the second has ended
 *     LABEL irequires LABEL     the first begins after the second has begun
 *   }
 *
 * An operation or dependency ends with its line; // and C comments are skipped.
 */
#include "lib/schedule/parts.h"
#include "lib/document/reader.h"
#include "lib/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token_kind { TOKEN_END, TOKEN_LINE, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    struct word word;
};

/* The labels of a rank, in a table of a power of two of places, with open addressing. */
struct label {
    const char *at; /* in the text; NULL: none is here */
    uint32_t length, operation;
};

struct labels {
    struct label *places;
    size_t count, room;
};

struct parser {
    struct schedule *schedule;
    struct reader *in;
    struct token token; /* the next one */
    struct labels labels;
    bool *has_rank;
};

/* ---- tokens */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct reader *in, size_t ahead)
{
    return in->at + ahead < in->length ? in->text[in->at + ahead] : '\0';
}

static void skip_comment(struct reader *in)
{
    bool line = peek(in, 1) == '/';
    in->at += 2;
    while (in->at < in->length) {
        char c = in->text[in->at];
        if (line && c == '\n')
            return;
        if (!line && c == '*' && peek(in, 1) == '/') {
            in->at += 2;
            return;
        }
        in->line += c == '\n';
        in->at++;
    }
}

static void skip_blanks(struct reader *in)
{
    for (;;) {
        char c = peek(in, 0);
        if (in->at < in->length && (c == ' ' || c == '\t' || c == '\r'))
            in->at++;
        else if (c == '/' && (peek(in, 1) == '/' || peek(in, 1) == '*'))
            skip_comment(in);
        else
            return;
    }
}

static void next(struct parser *p)
{
    struct reader *in = p->in;
    skip_blanks(in);
    p->token = (struct token){TOKEN_END, {in->text + in->at, 0, in->line}};
    if (in->at >= in->length)
        return;
    size_t begin = in->at++;
    char c = in->text[begin];
    p->token.kind = c == '\n'      ? TOKEN_LINE
                    : is_digit(c)  ? TOKEN_NUMBER
                    : is_letter(c) ? TOKEN_NAME
                                   : TOKEN_SIGN;
    in->line += c == '\n';
    while (p->token.kind == TOKEN_NUMBER && is_digit(peek(in, 0)))
        in->at++;
    while (p->token.kind == TOKEN_NAME && (is_letter(peek(in, 0)) || is_digit(peek(in, 0))))
        in->at++;
    p->token.word.length = in->at - begin;
}

static int expected(const struct parser *p, const char *what, struct error *e)
{
    const struct word *found = &p->token.word;
    if (p->token.kind == TOKEN_END)
        return reader_error(p->in, found->line, e, "the file ends here: expected %s", what);
    if (p->token.kind == TOKEN_LINE)
        return reader_error(p->in, found->line, e, "the line ends here: expected %s", what);
    return reader_error(p->in, found->line, e, "found \"%.*s\": expected %s",
                        (int)(found->length < 60 ? found->length : 60), found->at, what);
}

static bool is(const struct parser *p, const char *text)
{
    return word_is(&p->token.word, text);
}

static int take_word(struct parser *p, const char *text, struct error *e)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\"", text);
    if (!is(p, text))
        return expected(p, quoted, e);
    next(p);
    return 0;
}

static int take_number(struct parser *p, const char *what, int64_t min, int64_t max, int64_t *value,
                       struct error *e)
{
    if (p->token.kind != TOKEN_NUMBER)
        return expected(p, what, e);
    if (word_integer(p->in, &p->token.word, what, min, max, value, e) != 0)
        return -1;
    next(p);
    return 0;
}

static int take_line_end(struct parser *p, struct error *e)
{
    if (p->token.kind != TOKEN_LINE && p->token.kind != TOKEN_END)
        return expected(p, "the end of the line", e);
    next(p);
    return 0;
}

static void skip_lines(struct parser *p)
{
    while (p->token.kind == TOKEN_LINE)
        next(p);
}

/* ---- operations */

static int take_any(const struct parser *p, const char *what, struct error *e)
{
    return reader_error(p->in, p->token.word.line, e,
                        "-1: a recv from any %s: which send it takes depends on the run; expected a number",
                        what);
}

/* tag, cpu and nic, in this order in txt2bin; any order here. */
static int take_attributes(struct parser *p, struct schedule_operation *op, struct error *e)
{
    bool calc = op->type == SCHEDULE_CALC;
    while (p->token.kind == TOKEN_NAME) {
        int64_t value = 0;
        bool tag = is(p, "tag") && !calc, cpu = is(p, "cpu"), nic = is(p, "nic") && !calc;
        if (!tag && !cpu && !nic)
            return expected(p,
                            calc ? "\"cpu\" or the end of the line"
                                 : "\"tag\", \"cpu\", \"nic\" or the end of the line",
                            e);
        next(p);
        if (tag && is(p, "-"))
            return take_any(p, "tag", e);
        if (take_number(p,
                        tag   ? "the tag"
                        : cpu ? "the CPU"
                              : "the NIC",
                        0, tag ? UINT32_MAX : SCHEDULE_MOST_PLACES - 1, &value, e) != 0)
            return -1;
        if (tag)
            op->tag = (uint32_t)value;
        else
            *(cpu ? &op->cpu : &op->nic) = (uint8_t)value;
    }
    return 0;
}

static int take_message(struct parser *p, struct schedule_operation *op, struct error *e)
{
    int64_t peer = 0;
    bool sends = op->type == SCHEDULE_SEND;
    if (take_number(p, "the size in bytes", 0, SCHEDULE_MOST_BYTES, &op->size, e) != 0 ||
        take_word(p, "b", e) != 0 || take_word(p, sends ? "to" : "from", e) != 0)
        return -1;
    if (!sends && is(p, "-"))
        return take_any(p, "rank", e);
    if (take_number(p, "the other rank", 0, p->schedule->rank_count - 1, &peer, e) != 0)
        return -1;
    op->peer = (uint32_t)peer;
    return 0;
}

static int64_t take_operation(struct parser *p, uint32_t rank, struct error *e)
{
    struct schedule_operation op = {.line = p->token.word.line,
                                    .type = is(p, "send")   ? SCHEDULE_SEND
                                            : is(p, "recv") ? SCHEDULE_RECV
                                                            : SCHEDULE_CALC};
    if (op.type == SCHEDULE_CALC && !is(p, "calc"))
        return expected(p, "send, recv or calc", e);
    next(p);
    if ((op.type == SCHEDULE_CALC ? take_number(p, "the time in ns", 0, SCHEDULE_MOST_CALC_NS, &op.size, e)
                                  : take_message(p, &op, e)) != 0 ||
        take_attributes(p, &op, e) != 0 || take_line_end(p, e) != 0)
        return -1;
    return schedule_add(p->schedule, rank, &op, e);
}

/* ---- labels */

/* Its place, or the free one where it would be. */
static struct label *place_of(const struct labels *labels, const struct word *word)
{
    uint64_t hash = text_hash(word->at, word->length);
    for (size_t at = (size_t)(hash ^ hash >> 32);; at++) {
        struct label *label = &labels->places[at & (labels->room - 1)];
        if (!label->at || (label->length == word->length && memcmp(label->at, word->at, word->length) == 0))
            return label;
    }
}

static int labels_add(struct labels *labels, const struct word *word, uint32_t operation, struct error *e)
{
    if (2 * labels->count >= labels->room) {
        struct labels grown = {.count = labels->count, .room = labels->room ? 2 * labels->room : 256};
        grown.places = calloc(grown.room, sizeof *grown.places);
        if (!grown.places)
            return error_set(e, "out of memory");
        for (size_t i = 0; i < labels->room; i++) {
            const struct label *old = &labels->places[i];
            if (old->at)
                *place_of(&grown, &(struct word){old->at, old->length, 0}) = *old;
        }
        free(labels->places);
        *labels = grown;
    }
    *place_of(labels, word) = (struct label){word->at, (uint32_t)word->length, operation};
    labels->count++;
    return 0;
}

static const struct label *labels_find(const struct labels *labels, const struct word *word)
{
    const struct label *label = labels->room ? place_of(labels, word) : NULL;
    return label && label->at ? label : NULL;
}

static void labels_clear(struct labels *labels)
{
    if (labels->room)
        memset(labels->places, 0, labels->room * sizeof *labels->places);
    labels->count = 0;
}

static int find_label(const struct parser *p, uint32_t *operation, struct error *e)
{
    const struct word *word = &p->token.word;
    if (p->token.kind != TOKEN_NAME)
        return expected(p, "a label", e);
    const struct label *found = labels_find(&p->labels, word);
    if (!found)
        return reader_error(p->in, word->line, e, "there is no operation \"%.*s\" above", word_shown(word),
                            word->at);
    *operation = found->operation;
    return 0;
}

static int take_dependency(struct parser *p, uint32_t operation, struct error *e)
{
    uint32_t before = 0;
    bool on_start = is(p, "irequires");
    next(p);
    if (find_label(p, &before, e) != 0)
        return -1;
    next(p);
    return schedule_add_wait(p->schedule, operation, before, on_start, e) != 0 ? -1 : take_line_end(p, e);
}

/* "LABEL: operation" or "LABEL requires LABEL" */
static int take_labelled(struct parser *p, uint32_t rank, struct error *e)
{
    const struct token label = p->token;
    uint32_t operation = 0;
    struct parser before = *p;
    next(p);
    if (is(p, "requires") || is(p, "irequires"))
        return find_label(&before, &operation, e) != 0 ? -1 : take_dependency(p, operation, e);
    if (!is(p, ":"))
        return expected(p, "\":\", \"requires\" or \"irequires\"", e);
    next(p);
    if (labels_find(&p->labels, &label.word))
        return reader_error(p->in, label.word.line, e, "a second operation \"%.*s\" of rank %u",
                            word_shown(&label.word), label.word.at, rank);
    int64_t added = take_operation(p, rank, e);
    return added < 0 ? -1 : labels_add(&p->labels, &label.word, (uint32_t)added, e);
}

/* ---- ranks */

static int take_statement(struct parser *p, uint32_t rank, struct error *e)
{
    if (p->token.kind != TOKEN_NAME)
        return expected(p, "an operation, a label or \"}\"", e);
    if (is(p, "send") || is(p, "recv") || is(p, "calc"))
        return take_operation(p, rank, e) < 0 ? -1 : 0;
    return take_labelled(p, rank, e);
}

static int take_rank(struct parser *p, struct error *e)
{
    int64_t rank = 0;
    unsigned line = p->token.word.line;
    if (take_word(p, "rank", e) != 0 ||
        take_number(p, "the rank", 0, p->schedule->rank_count - 1, &rank, e) != 0)
        return -1;
    skip_lines(p);
    if (take_word(p, "{", e) != 0)
        return -1;
    if (p->has_rank[rank])
        return reader_error(p->in, line, e, "a second rank %" PRId64, rank);
    p->has_rank[rank] = true;
    labels_clear(&p->labels);
    for (skip_lines(p); !is(p, "}"); skip_lines(p))
        if (take_statement(p, (uint32_t)rank, e) != 0)
            return -1;
    next(p);
    skip_lines(p);
    return 0;
}

static int take_ranks(struct parser *p, struct error *e)
{
    int64_t ranks = 0;
    next(p);
    skip_lines(p);
    if (take_word(p, "num_ranks", e) != 0 ||
        take_number(p, "the number of ranks", 2, SCHEDULE_MOST_RANKS, &ranks, e) != 0 ||
        schedule_begin(p->schedule, p->in->path, ranks, e) != 0)
        return -1;
    p->has_rank = calloc((size_t)ranks + 1, sizeof *p->has_rank);
    if (!p->has_rank)
        return error_set(e, "out of memory");
    for (skip_lines(p); p->token.kind != TOKEN_END;)
        if (take_rank(p, e) != 0)
            return -1;
    for (int64_t i = 0; i < ranks; i++)
        if (!p->has_rank[i])
            return reader_error(p->in, p->in->line, e, "the file ends without rank %" PRId64 " of %" PRId64,
                                i, ranks);
    return 0;
}

int schedule_parse_text(struct schedule *s, const char *name, char *content, size_t length, struct error *e)
{
    struct reader in;
    if (reader_take(&in, name, content, length, e) != 0)
        return -1;
    struct parser p = {.schedule = s, .in = &in};
    int result = take_ranks(&p, e);
    free(p.labels.places);
    free(p.has_rank);
    reader_close(&in);
    return result;
}

/* ---- writing */

static void write_operation(FILE *to, const struct schedule *s, uint32_t i, uint32_t number)
{
    const struct schedule_operation *op = &s->operations[i];
    fprintf(to, "l%u: ", number);
    if (op->type == SCHEDULE_CALC)
        fprintf(to, "calc %" PRId64, op->size);
    else
        fprintf(to, "%s %" PRId64 "b %s %u tag %u", op->type == SCHEDULE_SEND ? "send" : "recv", op->size,
                op->type == SCHEDULE_SEND ? "to" : "from", op->peer, op->tag);
    if (op->cpu)
        fprintf(to, " cpu %u", op->cpu);
    if (op->nic && op->type != SCHEDULE_CALC)
        fprintf(to, " nic %u", op->nic);
    fprintf(to, "\n");
}

static void write_rank(FILE *to, const struct schedule *s, uint32_t rank)
{
    uint32_t first = s->first[rank], end = s->first[rank + 1];
    fprintf(to, "\nrank %u {\n", rank);
    for (uint32_t i = first; i < end; i++)
        write_operation(to, s, i, i - first);
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = s->first_after[i]; k < s->first_after[i + 1]; k++)
            fprintf(to, "l%u %s l%u\n", (s->after[k] >> 1) - first,
                    s->after[k] & 1 ? "irequires" : "requires", i - first);
    fprintf(to, "}\n");
}

void schedule_print(const struct schedule *s, FILE *to)
{
    fprintf(to, "num_ranks %u\n", s->rank_count);
    for (uint32_t r = 0; r < s->rank_count; r++)
        write_rank(to, s, r);
}

int schedule_write(const struct schedule *s, const char *path, struct error *e)
{
    FILE *to = fopen(path, "w");
    if (!to)
        return error_set_errno(e, errno, "cannot write %s", path);
    schedule_print(s, to);
    bool failed = ferror(to);
    if (fclose(to) != 0 || failed)
        return error_set_errno(e, errno, "cannot write %s", path);
    return 0;
}
