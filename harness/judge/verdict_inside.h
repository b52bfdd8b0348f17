/* What the files of this folder share. Internal to verdict.h and over.h. */
#ifndef HARNESS_VERDICT_INSIDE_H
#define HARNESS_VERDICT_INSIDE_H

#include "harness/judge/verdict.h"
#include "lib/text.h"

/* A number; null if it is not available. */
json_t *verdict_number(double value);
/* A number for people: integers without a fraction, no exponent, large rates in Gb/s, large sizes in GiB. */
void verdict_add_number(struct text *out, double value, const char *unit);
/* Not decided, for a reason, which is taken over. */
void verdict_skip(json_t *entry, json_t *reason);
/* "flows.*.memory is gpu, and flows.*.message is 64KiB", behind a beginning. */
json_t *verdict_condition_words(const char *beginning, const json_t *when);
/* "lab x lacks gpu" */
json_t *verdict_lacking_words(const json_t *result, const char *lacking);
/* Why figures of the lab are not compared with published ones, or NULL: figures that hardware gave are no measure for a model's. */
json_t *verdict_incomparable(const json_t *result);
/* A published figure as it is listed, without what was measured; and with that. */
json_t *verdict_published(const struct scenario_published *published);
void verdict_measured(json_t *entry, double published, double measured);

#endif
