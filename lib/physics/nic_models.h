/*
 * What is known of real NICs: one table, a row a property of a simulated host, a column a model. A simulated
 * host whose nic.model is a model's name has the model's values wherever its lab says nothing
 * (lib/formats/lab_expand.c). docs/nic-models.md is made from the table.
 */
#ifndef LIB_PHYSICS_NIC_MODELS_H
#define LIB_PHYSICS_NIC_MODELS_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* MODEL(ENUM, name, what it is, Gb/s of its line; 0: any) */
#define NIC_MODELS(MODEL)                                                                                 \
    MODEL(IDEAL, "ideal", "An ideal NIC: the defaults of all values", 0)                                  \
    MODEL(CONNECTX_4_LX, "connectx-4-lx", "ConnectX-4 Lx, 25 Gb/s, PCIe 3 x8", 25)                        \
    MODEL(CONNECTX_5, "connectx-5", "ConnectX-5 Ex, 100 Gb/s, PCIe 4 x16, firmware 16.31 and 16.32", 100) \
    MODEL(CONNECTX_6, "connectx-6", "ConnectX-6 VPI, 100 Gb/s, PCIe 4 x16, firmware 20.43", 100)          \
    MODEL(CONNECTX_7, "connectx-7", "ConnectX-7, 400 Gb/s, PCIe 5 x16, firmware 28.43", 400)

enum nic_model {
#define NIC_MODEL_ENUM(ENUM, name, title, line) NIC_MODEL_##ENUM,
    NIC_MODELS(NIC_MODEL_ENUM)
#undef NIC_MODEL_ENUM
        NIC_MODEL_COUNT
};

/* A value as a document has it, as JSON text; NULL: the model says nothing of this property. The source says
 * "fitted: ..." or "assumed: ..." where the value was not read or measured itself. */
struct nic_model_value {
    const char *value, *source;
};

struct nic_property {
    const char *path; /* in the document of a simulated host: "nic.messages" */
    struct nic_model_value of[NIC_MODEL_COUNT];
};
extern const struct nic_property nic_properties[]; /* ended by a row without path */

extern const char *const nic_model_names[];  /* by enum nic_model, ended by NULL */
extern const char *const nic_model_titles[]; /* the same */
extern const int64_t nic_model_lines_bps[];  /* the same; 0: any */

/* Where values come from, in words. */
#define NIC_MODEL_VALUES "what the lab does not state comes from the table of NIC models (docs/nic-models.md)"

#define NIC_MODEL_TITLE \
    "unknown: the model is a title, and the values are those that the lab states, or defaults"

/* The model of this name; -1: the name is not in the table (NULL neither), it is a title. */
int nic_model_named(const char *name);
/* Does a name that is not in the table look like one that is ("connectx5")? *meant is then the model of its
 * generation, or NULL where the table has none ("connectx-8"). A title that says more than a model's name
 * ("ConnectX-4 Lx 25 GbE") is no slip. */
bool nic_model_is_slip(const char *name, const char **meant);
/* The document of a host that has the model's values alone: a new reference. */
json_t *nic_model_document(int model);
/* Add the sources of the values that a host has from the model, because `host`, what its lab says of it,
 * does not have them: "hosts.*.nic.messages (connectx-5)": "fitted: ...; 16.7M/s in the table of NIC models".
 */
void nic_model_add_sources(json_t *sources, int model, const json_t *host);
/* docs/nic-models.md, and the table as JSON (a new reference): model -> path -> {"value", "source"}. */
void nic_models_manual(struct text *out);
json_t *nic_models_json(void);

#endif
