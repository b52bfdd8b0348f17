#include "harness/import/goal.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum token_kind { TOKEN_END, TOKEN_LINE, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    struct word word;
};

struct parser {
    struct goal *goal;
    struct reader *in;
    struct token token; /* the next one */
    json_t *labels;     /* of this rank: its operations */
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
static int take_attributes(struct parser *p, struct goal_operation *op, struct error *e)
{
    while (p->token.kind == TOKEN_NAME) {
        int64_t value = 0;
        bool tag = is(p, "tag"), cpu = is(p, "cpu"), nic = is(p, "nic");
        if ((tag && op->type == GOAL_CALC) || (nic && op->type == GOAL_CALC) || (!tag && !cpu && !nic))
            return expected(p,
                            op->type == GOAL_CALC ? "\"cpu\" or the end of the line"
                                                  : "\"tag\", \"cpu\", \"nic\" or the end of the line",
                            e);
        unsigned line = p->token.word.line;
        next(p);
        if (tag && is(p, "-"))
            return take_any(p, "tag", e);
        if (take_number(p,
                        tag   ? "the tag"
                        : cpu ? "the CPU"
                              : "the NIC",
                        0, tag ? UINT32_MAX : GOAL_MOST_CPUS - 1, &value, e) != 0)
            return -1;
        if (nic && value)
            return reader_error(p->in, line, e, "nic %" PRId64 ": a simulated host has one NIC, number 0",
                                value);
        if (tag)
            op->tag = (uint32_t)value;
        if (cpu)
            op->cpu = (uint32_t)value;
    }
    return 0;
}

static int take_message(struct parser *p, struct goal_operation *op, struct error *e)
{
    int64_t peer = 0;
    bool sends = op->type == GOAL_SEND;
    if (take_number(p, "the size in bytes", 1, FLOW_MAX_SIZE_BYTES, &op->size, e) != 0 ||
        take_word(p, "b", e) != 0 || take_word(p, sends ? "to" : "from", e) != 0)
        return -1;
    if (!sends && is(p, "-"))
        return take_any(p, "rank", e);
    unsigned line = p->token.word.line;
    if (take_number(p, "the other rank", 0, p->goal->ranks - 1, &peer, e) != 0)
        return -1;
    if (peer == op->rank)
        return reader_error(p->in, line, e, "rank %u sends to itself", op->rank);
    op->peer = (uint32_t)peer;
    return 0;
}

static int take_operation(struct parser *p, uint32_t rank, struct error *e)
{
    struct goal *goal = p->goal;
    struct goal_operation op = {.rank = rank,
                                .line = p->token.word.line,
                                .type = is(p, "send")   ? GOAL_SEND
                                        : is(p, "recv") ? GOAL_RECV
                                                        : GOAL_CALC};
    if (op.type == GOAL_CALC && !is(p, "calc"))
        return expected(p, "send, recv or calc", e);
    next(p);
    if ((op.type == GOAL_CALC ? take_number(p, "the time in ns", 0, GOAL_MOST_CALC_NS, &op.size, e)
                              : take_message(p, &op, e)) != 0 ||
        take_attributes(p, &op, e) != 0 || take_line_end(p, e) != 0)
        return -1;
    size_t n = goal->operation_count;
    if (n == GOAL_MOST_OPERATIONS)
        return reader_error(p->in, op.line, e, "more than %d operations", GOAL_MOST_OPERATIONS);
    if (!(n & (n - 1))) {
        struct goal_operation *grown = realloc(goal->operations, (n ? 2 * n : 1) * sizeof *grown);
        if (!grown)
            return error_set(e, "out of memory");
        goal->operations = grown;
    }
    goal->operations[goal->operation_count++] = op;
    return 0;
}

/* ---- labels */

static int find_label(const struct parser *p, uint32_t *operation, struct error *e)
{
    const struct word *word = &p->token.word;
    if (p->token.kind != TOKEN_NAME)
        return expected(p, "a label", e);
    const json_t *found = json_object_getn(p->labels, word->at, word->length);
    if (!found)
        return reader_error(p->in, word->line, e, "there is no operation \"%.*s\" above",
                            (int)(word->length < 60 ? word->length : 60), word->at);
    *operation = (uint32_t)json_integer_value(found);
    return 0;
}

static int take_dependency(struct parser *p, uint32_t operation, struct error *e)
{
    struct goal *goal = p->goal;
    struct goal_dependency d = {.operation = operation, .on_start = is(p, "irequires")};
    next(p);
    if (find_label(p, &d.before, e) != 0)
        return -1;
    unsigned line = p->token.word.line;
    next(p);
    size_t n = goal->dependency_count;
    if (n == 4 * GOAL_MOST_OPERATIONS)
        return reader_error(p->in, line, e, "more than %d dependencies", 4 * GOAL_MOST_OPERATIONS);
    if (!(n & (n - 1))) {
        struct goal_dependency *grown = realloc(goal->dependencies, (n ? 2 * n : 1) * sizeof *grown);
        if (!grown)
            return error_set(e, "out of memory");
        goal->dependencies = grown;
    }
    goal->dependencies[goal->dependency_count++] = d;
    return take_line_end(p, e);
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
    if (json_object_getn(p->labels, label.word.at, label.word.length))
        return reader_error(p->in, label.word.line, e, "a second operation \"%.*s\" of rank %u",
                            (int)(label.word.length < 60 ? label.word.length : 60), label.word.at, rank);
    if (json_object_setn_new(p->labels, label.word.at, label.word.length,
                             json_integer((json_int_t)p->goal->operation_count)) != 0)
        return error_set(e, "out of memory");
    return take_operation(p, rank, e);
}

/* ---- ranks */

static int take_statement(struct parser *p, uint32_t rank, struct error *e)
{
    if (p->token.kind != TOKEN_NAME)
        return expected(p, "an operation, a label or \"}\"", e);
    if (is(p, "send") || is(p, "recv") || is(p, "calc"))
        return take_operation(p, rank, e);
    return take_labelled(p, rank, e);
}

static int take_rank(struct parser *p, struct error *e)
{
    int64_t rank = 0;
    unsigned line = p->token.word.line;
    if (take_word(p, "rank", e) != 0 || take_number(p, "the rank", 0, p->goal->ranks - 1, &rank, e) != 0)
        return -1;
    skip_lines(p);
    if (take_word(p, "{", e) != 0)
        return -1;
    if (p->has_rank[rank])
        return reader_error(p->in, line, e, "a second rank %" PRId64, rank);
    p->has_rank[rank] = true;
    json_object_clear(p->labels);
    for (skip_lines(p); !is(p, "}"); skip_lines(p))
        if (take_statement(p, (uint32_t)rank, e) != 0)
            return -1;
    next(p);
    skip_lines(p);
    return 0;
}

static int take_ranks(struct parser *p, struct error *e)
{
    next(p);
    skip_lines(p);
    if (take_word(p, "num_ranks", e) != 0 ||
        take_number(p, "the number of ranks", 2, IMPORT_MOST_NODES, &p->goal->ranks, e) != 0)
        return -1;
    p->has_rank = calloc((size_t)p->goal->ranks, sizeof *p->has_rank);
    if (!p->has_rank)
        return error_set(e, "out of memory");
    for (skip_lines(p); p->token.kind != TOKEN_END;)
        if (take_rank(p, e) != 0)
            return -1;
    for (int64_t i = 0; i < p->goal->ranks; i++)
        if (!p->has_rank[i])
            return reader_error(p->in, p->in->line, e, "the file ends without rank %" PRId64 " of %" PRId64,
                                i, p->goal->ranks);
    return 0;
}

int goal_parse(struct goal *goal, struct error *e)
{
    struct parser p = {.goal = goal, .in = goal->in, .labels = json_object()};
    int result = p.labels ? take_ranks(&p, e) : error_set(e, "out of memory");
    json_decref(p.labels);
    free(p.has_rank);
    return result;
}

void goal_free(struct goal *goal)
{
    free(goal->operations);
    free(goal->dependencies);
    goal->operations = NULL;
    goal->dependencies = NULL;
}

/* ---- sends and recvs */

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* By sender, receiver, tag and place in the file. */
static int by_message(const void *a, const void *b)
{
    const struct goal_operation *x = *(const struct goal_operation *const *)a,
                                *y = *(const struct goal_operation *const *)b;
    bool x_sends = x->type == GOAL_SEND, y_sends = y->type == GOAL_SEND;
    int order = compare(x_sends ? x->rank : x->peer, y_sends ? y->rank : y->peer);
    order = order ? order : compare(x_sends ? x->peer : x->rank, y_sends ? y->peer : y->rank);
    order = order ? order : compare(x->tag, y->tag);
    return order ? order : (x > y) - (x < y);
}

static struct goal_operation **sorted(struct goal *goal, enum goal_type type, size_t *count, struct error *e)
{
    struct goal_operation **list = calloc(goal->operation_count + 1, sizeof *list);
    *count = 0;
    if (!list) {
        error_set(e, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < goal->operation_count; i++)
        if (goal->operations[i].type == type)
            list[(*count)++] = &goal->operations[i];
    qsort(list, *count, sizeof *list, by_message);
    return list;
}

static int unmatched(const struct goal *goal, const struct goal_operation *op, struct error *e)
{
    bool sends = op->type == GOAL_SEND;
    return reader_error(goal->in, op->line, e, "no %s of rank %u %s rank %u with tag %u matches this %s",
                        sends ? "recv" : "send", op->peer, sends ? "from" : "to", op->rank, op->tag,
                        sends ? "send" : "recv");
}

static bool one_message(const struct goal_operation *send, const struct goal_operation *recv)
{
    return send->rank == recv->peer && send->peer == recv->rank && send->tag == recv->tag;
}

static int match_all(const struct goal *goal, struct goal_operation **sends, size_t send_count,
                     struct goal_operation **recvs, size_t recv_count, struct error *e)
{
    for (size_t i = 0; i < send_count || i < recv_count; i++) {
        if (i == send_count)
            return unmatched(goal, recvs[i], e);
        if (i == recv_count)
            return unmatched(goal, sends[i], e);
        if (!one_message(sends[i], recvs[i])) {
            /* the one that comes first in the order has no other */
            struct goal_operation *both[2] = {sends[i], recvs[i]};
            return unmatched(goal, by_message(&both[0], &both[1]) < 0 ? sends[i] : recvs[i], e);
        }
        if (sends[i]->size != recvs[i]->size)
            return reader_error(goal->in, recvs[i]->line, e,
                                "the recv has %" PRId64 " bytes, and its send on line %u has %" PRId64,
                                recvs[i]->size, sends[i]->line, sends[i]->size);
        recvs[i]->flow = sends[i]->flow;
    }
    return 0;
}

int goal_match(struct goal *goal, size_t *flows, struct error *e)
{
    size_t send_count = 0, recv_count = 0;
    *flows = 0;
    for (size_t i = 0; i < goal->operation_count; i++)
        if (goal->operations[i].type == GOAL_SEND)
            goal->operations[i].flow = (uint32_t)(*flows)++;
    struct goal_operation **sends = sorted(goal, GOAL_SEND, &send_count, e);
    struct goal_operation **recvs = sends ? sorted(goal, GOAL_RECV, &recv_count, e) : NULL;
    int result = recvs ? match_all(goal, sends, send_count, recvs, recv_count, e) : -1;
    free(sends);
    free(recvs);
    return result;
}
