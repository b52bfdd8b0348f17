/* What a scenario asks for and no run could ever decide or do: an expectation that is always skipped is a
 * slip, not an expectation. */
#ifndef HARNESS_DECIDABLE_H
#define HARNESS_DECIDABLE_H

#include "harness/plan/plan.h"

/* An expectation, or a published figure, of a cell. */
struct judgement {
    const char *list; /* "expect" or "published", */
    const char *name;
    size_t index;    /* its index there, */
    const char *key; /* and the key of its expression */
    const char *text;
    const struct expr *expr;
    const json_t *when, *against;
    const struct list_of *needs;
};

/* Judgement i: first the expectations, then the published figures. Returns false after the last. */
bool plan_judgement(const struct cell *cell, size_t i, struct judgement *out);

/* Does any judgement compare a cell with another one ("against")? */
bool plan_compares(const struct plan *plan);

/* Does all that has a start begin before the end? The error names the first that does not, and so does
 * nothing. */
int plan_check_starts(const struct scenario *scenario, struct error *e);

/* Is there, for each judgement, a cell in which its "when" holds and which can decide it? Judgements whose
 * "when" holds in no cell are not asked about. */
struct decisions {
    struct decision {
        bool asked, decided;
        struct error why_not; /* in the first cell that was asked */
    } * items;                /* by judgement */
    size_t count;
};
void decisions_open(struct decisions *d, const struct cell *first);
/* Is judgement i to be asked about in this cell: its "when" holds here, and no cell before could decide
 * it? */
bool decisions_lack(const struct decisions *d, const struct cell *cell, size_t i, struct judgement *out);
/* The answer; `why_not` unless it can be decided. */
void decisions_note(struct decisions *d, size_t i, bool decided, const struct error *why_not);
/* Of a plan that the request has changed, only judgements that it gives itself count. The error message
 * begins with the judgement's place in the scenario. */
int decisions_end(const struct decisions *d, const struct plan *plan, struct error *e);
void decisions_close(struct decisions *d);

/* Does each "when" hold in a cell, has each "against" another cell, does what has a start begin before the
 * end, and could each expression be decided by what the scenario sends and samples? Call decidable_note with
 * each cell, then decidable_end. */
struct decidable {
    const struct plan *plan;
    bool late;
    struct error why_late; /* in the first cell that is */
    bool twice;            /* two judgements of one name are of the same runs */
    struct error why_twice;
    struct condition {
        int holds;             /* 1: in a cell; -1: it cannot be read */
        struct error why;      /* then */
        bool compared;         /* a cell in which it holds has another one, as "against" says */
    } * conditions;            /* by judgement */
    struct cell_places places; /* if anything is compared */
    struct decisions decisions;
};
void decidable_open(struct decidable *d, const struct plan *plan);
void decidable_note(struct decidable *d, const struct cell *cell);
/* The error message begins with the place in the scenario. */
int decidable_end(const struct decidable *d, struct error *e);
void decidable_close(struct decidable *d);

/* The same for a plan that the request has changed: nothing begins after the end, unless the request only
 * made the phases shorter; judgements that it gives itself are asked as above; conditions of the others,
 * which may be left without a match, name keys that a scenario has. */
int decidable_end_changed(const struct decidable *d, struct error *e);
/* The one or the other, as the plan is as written or not. */
int decidable_end_planned(const struct decidable *d, struct error *e);
/* The same with all cells of the plan, as a run asks before it begins. */
int decidable_planned(const struct plan *plan, struct error *e);
/* The same as decidable_end of the whole document as it is written, with the lab that it names, whatever was
 * changed in the plan. */
int decidable_as_written(const struct plan *plan, struct error *e);

#endif
