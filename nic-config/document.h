/* The document of nic-config: settings by interface, as JSON and as struct settings. */
#ifndef NIC_CONFIG_DOCUMENT_H
#define NIC_CONFIG_DOCUMENT_H

#include "nic-config/knobs/knob.h"
#include "lib/error.h"
#include "lib/formats/settings.h"
#include <jansson.h>

/* Load and check a document ("-": standard input); returns its interfaces: name -> settings in canonical form
 * (quantities in their shortest form, RED with its defaults). A new reference. */
json_t *document_load(const char *path, struct error *e);
/* The same from a parsed value; `where` names it in sentences. */
json_t *document_interfaces(const json_t *document, const char *where, struct error *e);

/* Fill a struct from settings; null (RED or ETS removed) is treated like an absent key. Free with
 * table_free. */
int document_settings(const json_t *json, struct settings *settings, struct error *e);
/* The part of the settings that belongs to a knob. A new reference. */
json_t *document_slice(const json_t *settings, const struct knob *knob);
/* Whether two such parts are equal for the knob: every key of `now` has the same value in `target`. */
int document_same(const struct knob *knob, const json_t *now, const json_t *target, bool *same,
                  struct error *e);
/* `wanted` laid over `before`: maps are merged, lists, single values and RED replaced. A new reference. */
json_t *document_merge(const json_t *before, const json_t *wanted);

#endif
