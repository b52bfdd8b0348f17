/* What rose while machines were loaded: errors of GPUs' memory and of PCI Express, and time that heat took.
 */
#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/* One that was corrected, or sent again, is told; of one that was not the part is bad. */
static const struct {
    const char *counter, *says; /* NULL: it is told */
} errors[] = {
    {"gpu*_ecc_uncorrected", "has errors of its memory that ECC could not correct"},
    {"pcie_aer_fatal", "has fatal errors of PCI Express"},
    {"pcie_aer_nonfatal", "has errors of PCI Express that were not corrected"},
    {"gpu*_ecc_corrected", NULL},
    {"gpu*_thermal_slowdown", NULL},
    {"gpu*_pcie_replays", NULL},
    {"pcie_aer_correctable", NULL},
};

/* The GPU whose counter it is, or else the NIC. */
static char *part_of(const struct node *n, const char *counter)
{
    unsigned gpu = 0;
    return sscanf(counter, "gpu%u_", &gpu) == 1 ? xasprintf("%s GPU %u", n->machine, gpu)
                                                : xasprintf("%s", n->name);
}

static void accuse_part(struct work *w, const json_t *run, const struct node *n, const char *counter,
                        const char *says, double count)
{
    char *part = part_of(n, counter);
    json_t *finding = blame_of(w, part);
    if (!finding) {
        finding = blame(w, "hardware-errors", part, true, seen_text(run, "stage"), "%s %s", part, says);
        blame_figure(finding, count, 0, "", "one that is not corrected is one too many");
        json_object_set_new(finding, "host", json_text(n->machine));
    }
    blame_add(finding, "it counted %s: %.0f in %s", counter, count, seen_text(run, "folder"));
    free(part);
}

/* `told`: {"PART counted COUNTER": sum}. */
static void take_counter(struct work *w, const json_t *run, const struct node *n, const char *counter,
                         double count, json_t *told)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (fnmatch(errors[i].counter, counter, 0) != 0)
            continue;
        if (errors[i].says) {
            accuse_part(w, run, n, counter, errors[i].says, count);
            continue;
        }
        char *part = part_of(n, counter), *key = xasprintf("%s counted %s", part, counter);
        double sum = count;
        seen_add(&sum, seen_number(told, key));
        json_put(told, key, json_real(sum));
        free(part);
        free(key);
    }
}

void judge_hardware(struct work *w)
{
    const json_t *run;
    json_t *told = json_object(), *counters, *value;
    const char *name, *counter;
    size_t i;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        json_object_foreach(json_object_get(run, "totals"), name, counters)
        {
            const struct node *n = seen_node(w, name);
            json_object_foreach(n ? counters : NULL, counter, value)
            {
                if (json_number_value(value) > 0)
                    take_counter(w, run, n, counter, json_number_value(value), told);
            }
        }
    }
    json_object_foreach(told, counter, value)
    {
        blame_note(w, "%s: %.0f in all stages", counter, json_number_value(value));
    }
    json_decref(told);
}
