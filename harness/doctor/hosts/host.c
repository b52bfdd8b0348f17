#include "harness/doctor/hosts/host.h"

#include "harness/labs/hosts/parallel.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

static const char *role_of_host(const struct doctor_subject *x, const struct lab_host *host)
{
    const char *role = NULL;
    for (size_t i = 0; x->plan && (role = scenario_role(&x->plan->first.scenario, i)); i++)
        if (lab_real_host(x->lab, role) == host)
            break;
    return role;
}

static void examine_host(const struct doctor_subject *x, const struct host_way *way)
{
    const struct lab_host *host = way->host;
    struct doctor_host h = {.role = role_of_host(x, host)};
    unsigned found = h.role ? DOCTOR_NEEDS_ROLE : 0;
    struct doctor_subject of_host = *x;
    struct error e;
    h.known_as = x->plan ? h.role : host->name;
    of_host.host = &h;
    of_host.found = &found;
    int opened = remote_host_open_locked(&h.remote, way, &e);
    if (opened == -1) {
        struct text fix = {0};
        if (host->ssh)
            doctor_begin_ssh(&fix, host->ssh, host->port, host->identity, host->known_hosts, "true");
        else
            text_add(&fix, "virt-provision status --lab %s", x->lab_path);
        doctor_add(x->entries, host->name, "connection", "failure", text_string(&fix), "%s", e.text);
        doctor_add_evidence(x->entries, "what ssh and libvirt answered");
        text_free(&fix);
        return;
    }
    doctor_add(x->entries, host->name, "connection", "ok", NULL, "ssh answers");
    doctor_add_evidence(x->entries, "a command that ran there");
    if (opened == REMOTE_HOST_IN_USE) {
        doctor_add(x->entries, host->name, "lock", "failure",
                   "wait for the program that has the lock, or stop it, and look again", "%s", e.text);
        doctor_add_evidence(x->entries, "the lock's file, on the host or on this machine");
        return;
    }
    doctor_walk(DOCTOR_HOST, DOCTOR_EXAMINES, &of_host);
    json_decref(h.nics);
    remote_host_close(&h.remote);
}

bool doctor_find_nic(struct doctor_host *h)
{
    if (!h->looked_for_nic)
        h->has_nic = remote_find_nic(&h->remote, &h->no_nic) == 0;
    h->looked_for_nic = true;
    return h->has_nic;
}

/* ---- all, side by side */

/* What is found on a host, in its own lists: threads share none. */
struct part {
    struct doctor_subject x;
    struct doctor_seen seen;
};

static int visit_host(void *context, size_t i, const struct host_way *way, struct text *printed,
                      struct error *e)
{
    struct part *parts = context;
    (void)printed;
    (void)e;
    examine_host(&parts[i].x, way);
    return 0;
}

int doctor_walk_hosts(const struct doctor_subject *x, struct error *e)
{
    size_t count = x->lab->hosts.count, failures;
    const struct cell *cell;
    for (size_t i = 0; (cell = doctor_cell_at(x->plan, i)); i++)
        plan_release(x->plan,
                     cell); /* a plan that has made its cells is not changed by threads that ask for one */
    struct part *parts = xcalloc(count + 1, sizeof *parts);
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct part){.x = *x, .seen = doctor_seen_open()};
        parts[i].x.seen = &parts[i].seen;
        parts[i].x.entries = json_array();
    }
    int result = lab_hosts_run(x->lab, "doctor", visit_host, parts, &failures, e);
    for (size_t i = 0; i < count; i++) {
        json_array_extend(x->entries, parts[i].x.entries);
        doctor_seen_add(x->seen, &parts[i].seen);
        doctor_seen_close(&parts[i].seen);
        json_decref(parts[i].x.entries);
    }
    free(parts);
    return result;
}
