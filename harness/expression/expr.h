/*
 * Expressions of expectations and published figures: a statistic over counters of roles or over values of
 * flows, arithmetic, and with checks one comparison. docs/scenario.md has the grammar.
 *
 *     delta(b.tx_prio0_pause) > 0
 *     rate(a.rx_prio0_pause_duration) < 10%
 *     sum(flows.*.goodput_bps) >= 40Gb/s
 *     sum(flows.*.goodput_bps) / other(sum(flows.*.goodput_bps)) > 0.85
 */
#ifndef HARNESS_EXPR_H
#define HARNESS_EXPR_H

#include "lib/error.h"
#include "lib/formats/scenario.h"
#include <jansson.h>
#include <stdbool.h>

struct expr;
struct counter;

/* Compile; error messages name the column (from 1). `check`: the text must be a comparison, else a value. The
 * caller frees. */
struct expr *expr_compile(const char *text, bool check, struct error *e);
void expr_free(struct expr *expr);

/* Tell roles from counters where a name has several dots, "a.rail3.COUNTER": the role is the longest that the
 * scenario, or the result, has. Before anything else that is asked of an expression. */
void expr_name_roles(struct expr *expr, const struct scenario *scenario);
void expr_name_roles_of(struct expr *expr, const json_t *result);

/* Are the roles, flows, values and counters known, and are the units compatible? */
int expr_validate(const struct expr *expr, const struct scenario *scenario, struct error *e);

/* Could a run of the scenario decide it: are its counters sampled, and can its flows have the values? */
int expr_decidable(const struct expr *expr, const struct scenario *scenario, struct error *e);
/* Is a valid value in this unit, so that a figure in it may be compared with the value? */
int expr_check_unit(const struct expr *value, const struct scenario *scenario, const char *unit,
                    struct error *e);

/* Does it read another cell of the sweep, with other(...)? */
bool expr_reads_other(const struct expr *expr);

/* Does its value, or the left side of a check, count what a longer time has more of: a sum, and no rate, no
 * quotient of two sums? */
bool expr_grows_with_time(const struct expr *expr);

/* Call `each` for every counter (not flow value) that the expression reads; role and counter are globs, key
 * is the member of the counter in a result. */
typedef void expr_counter(void *context, const char *role, const char *counter, const char *key);
void expr_each_counter(const struct expr *expr, expr_counter *each, void *context);

/* Of what a glob matches in different units: the glob, two counters and their units. */
#define EXPR_UNLIKE \
    "%.24s.%.40s has different units: %.44s is in %.10s, %.44s in %.10s; write a glob of one of them"
/* Do two counters have them? Does a statistic that reads `key` take one's value? */
bool expr_units_unlike(const struct counter *a, const struct counter *b);
bool expr_key_takes(const char *key, const struct counter *c);

/* The first gauge of which the expression reads a statistic over samples, as text: "max(s0.queue_bytes)";
 * false: there is none. */
bool expr_reads_samples(const struct expr *expr, char *text, size_t size);

enum expr_outcome { EXPR_TRUE, EXPR_FALSE, EXPR_UNKNOWN };
struct expr_result {
    double left, right; /* NAN if unavailable; `left` is the result of a value */
    const char *sign;   /* of a check: "<" */
    const char *unit;   /* of both: "", "ns", "bytes", "b/s", "/s" */
    char reason[256];   /* EXPR_UNKNOWN: what is missing */
    char note[400];     /* what the numbers do not say of themselves; "" */
    char few[160];      /* the part of it that is a warning: a quantile that nothing supports; "" */
};
/* Of a check whose sides have these values so far: will what is counted from now on leave its outcome as it
 * is? An increase and a largest value can only become larger. */
bool expr_is_settled(const struct expr *check, const struct expr_result *so_far);
/* Evaluate over a result document (docs/result.md), and over that of another cell for other(...); NULL: there
 * is none. A value is EXPR_TRUE if it is available. */
enum expr_outcome expr_evaluate(const struct expr *expr, const json_t *result, const json_t *other,
                                struct expr_result *out);
/* Would a check hold if nothing that it reads was counted: all counters 0, values of flows 1? It then asks
 * for no such event. */
bool expr_holds_uncounted(const struct expr *check);
/* Does it hold wherever nothing happens, all that it reads being 0, and says nothing of what was moved?
 * "Nothing is lost" does: of a run in which nothing moved it is true of itself. */
bool expr_holds_of_silence(const struct expr *check);
/* Do the bounds of what it reads decide it, whatever happens: counters and what flows have are never below 0,
 * and a rate of a time of one role of the scenario (NULL: roles are not known) never above 1? */
enum expr_foregone { EXPR_OPEN, EXPR_ALWAYS, EXPR_NEVER };
enum expr_foregone expr_foregone(const struct expr *check, const struct scenario *scenario);
/* The sign of a check: "<". */
const char *expr_sign(const struct expr *check);
/* Does the comparison of a check hold between two numbers? */
bool expr_compare(const struct expr *check, double left, double right);

#endif
