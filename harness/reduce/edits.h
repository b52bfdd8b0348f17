/* What can be taken away from a scenario and its lab, {"scenario", "lab"}: an edit is a list of places, a
 * place a list of keys and of numbers in lists. */
#ifndef HARNESS_EDITS_H
#define HARNESS_EDITS_H

#include "lib/document/table.h"
#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>

enum edit_stage {
    EDIT_SETTINGS, /* keys of settings and of a simulated lab, which are then at their defaults */
    EDIT_TRAFFIC,  /* flows, patterns, faults; the senders and receivers of a pattern */
    EDIT_HOSTS,    /* roles; hosts and switches that a simulated lab lists, with their links */
    EDIT_KEYS,     /* keys of what EDIT_TRAFFIC leaves, and of samples; phases by default are long */
    EDIT_ANY,      /* all keys but names and the numbers of a topology */
    EDIT_LAST      /* these, too */
};

/* The edits of a stage, without those that `keep` (char *: paths, globs) is about. A new reference. */
json_t *edits_of(const json_t *documents, enum edit_stage stage, const struct list_of *keep);
/* The documents without the edits that are not kept (NULL: none is). A new reference. */
json_t *edits_without(const json_t *documents, const json_t *edits, const bool *kept);
/* "settings.mtu", "lab.defaults.link.rate", "flows.a.depth" of the first place of an edit. The caller frees.
 */
char *edit_path(const json_t *documents, const json_t *edit);
json_t *edit_value(const json_t *documents, const json_t *edit);
/* Does `keep` name the path, something in it, or what it is in? */
bool edit_is_kept(const char *path, const struct list_of *keep);
/* The rate of links of the lab: what it is made of. With the default it is another lab, and that an
 * expectation passes there explains nothing. */
bool edit_is_links_rate(const char *path);

/* Does each of `keep` name something in the documents? */
int edits_check_keep(const json_t *documents, const struct list_of *keep, struct error *e);

/* Every text and key of a scenario with the words that `names` (name -> name) has replaced. A new reference.
 */
json_t *edits_renamed(const json_t *value, const json_t *names);

#endif
