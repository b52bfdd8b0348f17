/* virt-provision status */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/rebuild/record.h"
#include "guest-setup/rebuild/steps.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "remote/reach.h"
#include "lib/clock.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ASK_NS (20 * NS_PER_S)

static json_t *step_status(const struct record *r, const struct profile_step *step)
{
    double seconds;
    const char *found = record_step_found(r, step, &seconds);
    if (!found)
        return json_make("{s:s, s:b}", "name", step->name, "done", 0);
    return json_make("{s:s, s:b, s:f, s:s}", "name", step->name, "done", 1, "seconds", seconds, "found",
                     found);
}

/* Run the checks of the steps on a running guest: "holds", and the current output of the checks. */
static int check_steps(struct context *c, const struct lab_host *host, const struct profile *profile,
                       json_t *steps, struct error *e)
{
    FILE *nowhere = fopen("/dev/null", "we");
    struct guest guest = {.context = c, .host = host, .profile = profile, .log = nowhere};
    int holds = nowhere ? 0 : error_set_errno(e, errno, "opening /dev/null");
    if (nowhere)
        guest.ssh = virt_host_open(c->virt, &c->lab, host, ASK_NS, NULL, e);
    for (size_t i = 0; guest.ssh && holds >= 0 && i < profile->step_count; i++) {
        char found[400] = "";
        json_t *step = json_array_get(steps, i);
        holds = guest_check_step(&guest, &profile->steps[i], found, e);
        json_object_set_new(step, "holds", json_boolean(holds == 0));
        json_object_set_new(step, "found", json_text(found));
    }
    if (nowhere && !guest.ssh)
        holds = -1;
    ssh_close(guest.ssh);
    if (nowhere)
        fclose(nowhere);
    return holds < 0 ? -1 : 0;
}

static json_t *host_status(struct context *c, const struct lab_host *host, struct error *e)
{
    enum virt_state state;
    struct profile profile;
    struct record record;
    struct ssh_target target = {0};
    if (virt_domain_state(c->virt, host->domain, &state, e) != 0 ||
        profile_load(host->profile, host->bundle, &profile, e) != 0)
        return NULL;
    if (record_open(&c->lab, host, &record, e) != 0) {
        profile_free(&profile);
        return NULL;
    }
    bool reachable = state == VIRT_RUNNING && virt_domain_target(c->virt, &c->lab, host, &target, NULL) == 0;
    json_t *steps = json_array();
    for (size_t i = 0; i < profile.step_count; i++)
        json_array_append_new(steps, step_status(&record, &profile.steps[i]));
    int asked = c->options.check && reachable ? check_steps(c, host, &profile, steps, e) : 0;
    json_t *status = json_make(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:o}", "host", lab_guest_name(host), "domain",
        host->domain, "state", virt_state_names[state], "address", reachable ? target.host : "", "profile",
        host->profile, "image", record_string(&record, "image"), "type", record_string(&record, "type"),
        "complete", record_complete(&record), "finished", record_string(&record, "finished"), "steps", steps);
    ssh_target_free(&target);
    record_free(&record);
    profile_free(&profile);
    if (asked != 0) {
        json_decref(status);
        return NULL;
    }
    if (!status)
        error_set(e, "the status of host %s cannot be written as JSON", lab_guest_name(host));
    return status;
}

static const char *status_word(const json_t *status, const char *key)
{
    const char *text = json_string_value(json_object_get(status, key));
    return text && *text ? text : "-";
}

static const char *step_word(const json_t *step)
{
    if (json_is_false(json_object_get(step, "holds")))
        return "DRIFTED";
    return json_is_true(json_object_get(step, "done")) ? "done" : "to do";
}

/* Steps that were done and whose check fails now. */
static bool has_drifted(const json_t *status)
{
    size_t i;
    const json_t *step;
    json_array_foreach(json_object_get(status, "steps"), i,
                       step) if (json_is_true(json_object_get(step, "done")) &&
                                 json_is_false(json_object_get(step, "holds"))) return true;
    return false;
}

static void print_status(const json_t *status)
{
    size_t i;
    const json_t *step;
    bool complete = json_is_true(json_object_get(status, "complete"));
    print_out("%s  domain %s  %s  address %s\n", status_word(status, "host"), status_word(status, "domain"),
              status_word(status, "state"), status_word(status, "address"));
    print_out("    profile %s, image %s, %s%s%s\n", status_word(status, "profile"),
              status_word(status, "image"), complete ? "complete at " : "not complete",
              complete ? status_word(status, "finished") : "",
              strcmp(status_word(status, "type"), "qemu") == 0 ? ", emulated" : "");
    json_array_foreach(json_object_get(status, "steps"), i, step)
        print_out("    %-24s %s  %s\n", status_word(step, "name"), step_word(step),
                  json_object_get(step, "found") ? status_word(step, "found") : "");
}

static int print_all(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (context_load(c, words, count, e) != 0 || context_connect(c, e) != 0)
        return -1;
    json_t *all = json_array();
    bool drifted = false;
    int result = 0;
    for (size_t i = 0; result == 0 && i < c->host_count; i++) {
        json_t *status = host_status(c, c->hosts[i], e);
        result = status ? json_array_append_new(all, status) : -1;
        drifted = drifted || has_drifted(status);
        if (status && !c->options.json)
            print_status(status);
    }
    if (result == 0 && c->options.json) {
        json_t *document = json_make("{s:i, s:s, s:O}", "schema", 1, "lab", c->lab.name, "hosts", all);
        json_print(stdout, document, 17);
        json_decref(document);
    }
    json_decref(all);
    return result == 0 && drifted ? 1 : result;
}

static const struct field fields[] = {
    LAB_OPTION,
    {.name = "check",
     .kind = FIELD_BOOL,
     OPTIONS_AT(check),
     .help = "Run the checks of the steps on running guests. The exit status is 1 when the check of a step "
             "that was "
             "done fails now."},
    {.name = "json", .kind = FIELD_BOOL, OPTIONS_AT(json), .help = "Print one JSON document."},
    QUIET_OPTION,
    {0},
};
static const struct table options = OPTIONS_TABLE(fields);

static int run_status(const struct call *call)
{
    return in_context(call, print_all);
}

const struct command command_status = {
    .name = "status",
    .arguments = "[HOST...]",
    .about = "Show domains, steps and versions.",
    .options = &options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_status,
};
