/* A cell of a plan: what is run once, or in a number of repetitions. plan.h makes it. */
#ifndef HARNESS_CELL_H
#define HARNESS_CELL_H

#include "harness/expression/expr.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"

/* One combination of the sweep's values, parsed and checked. */
struct cell {
    json_t *choice;           /* path -> value */
    json_t *scenario_json;    /* expanded, defaults written out, without the sweep */
    json_t *written_json;     /* the same before its names were bound to the lab; NULL: no other */
    json_t *ranges_json;      /* the same as it is written, with its ranges; NULL: no other items */
    json_t *lab_json;         /* as the lab's file is, defaults written out; NULL: there is no lab */
    struct scenario scenario; /* in a lab of real hosts with the flows of its patterns */
    struct lab lab;
    struct expr **checks;    /* of scenario.expect, in order */
    struct expr **published; /* of scenario.published */
    const char *folder_of; /* the scenario's file, as it is opened from here: its paths begin at its folder */
    bool borrows_lab, borrows_expressions; /* they are the plan's first cell's */
    bool kept;                             /* by the plan */
    json_t
        *changed;  /* path -> values here, which --set has made others than the documents have; NULL: none */
    json_t *known; /* what was found out about it and is asked for again; its user names the key */
};

#endif
