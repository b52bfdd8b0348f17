/* The check of the names of NIC models: a slip in one makes it a title, and the host an ideal one. */
#include "harness/doctor/check.h"
#include "lib/physics/host.h"
#include "lib/physics/nic_models.h"
#include <string.h>

static void list_models(struct text *out)
{
    for (int i = 0; nic_model_names[i]; i++)
        text_add(out, "%s%s", i ? ", " : "", nic_model_names[i]);
}

/* Once for each name: the hosts of a lab often have the same. */
static void examine_nic_model(const struct doctor_subject *x)
{
    json_t *said = json_object();
    const struct physics_host *host;
    for (size_t i = 0; (host = lab_sim_host_at(x->lab, i)); i++) {
        const char *meant = nic_model_meant(host->nic.model);
        struct text models = {0};
        if (!meant || json_object_get(said, host->nic.model))
            continue;
        json_object_set_new(said, host->nic.model, json_true());
        list_models(&models);
        doctor_add(
            x->entries, host->name, "nic-model", "warning", NULL,
            "hosts.%s.nic.model: \"%s\" is not in the table of NIC models (%s): it is a title, and the "
            "values of %s are not used; write \"%s\" to have them",
            host->name, host->nic.model, text_string(&models), meant, meant);
        text_free(&models);
    }
    json_decref(said);
}

const struct doctor_check doctor_nic_model = {.name = "nic-model",
                                              .scope = DOCTOR_CELL,
                                              .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                              .examine = examine_nic_model};
