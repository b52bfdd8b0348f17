#include "harness/doctor/hosts/host.h"

#include "harness/labs/hosts/parallel.h"
#include "lib/xalloc.h"
#include "lib/words.h"
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

static struct doctor_host host_of(const struct doctor_subject *x, const struct lab_host *host)
{
    struct doctor_host h = {.role = role_of_host(x, host)};
    h.known_as = x->plan ? h.role : host->name;
    return h;
}

static void report_unreached(const struct doctor_subject *x, const struct host_way *way,
                             const struct error *e)
{
    const struct lab_host *host = way->host;
    struct text fix = {0};
    if (host->ssh)
        doctor_begin_ssh(&fix, host->ssh, host->port, host->identity, host->known_hosts, "true");
    else {
        text_add(&fix, "virt-provision status --lab ");
        shell_quote(&fix, x->lab_path);
    }
    doctor_add(x->entries, way->name, "connection", "failure", text_string(&fix), "%s", e->text);
    doctor_add_evidence(x->entries, "what ssh and libvirt answered");
    text_free(&fix);
}

/* What is found on a host, in its own lists: threads share none. */
struct part {
    struct doctor_subject x;
    struct doctor_seen seen;
};

/* The machine's NICs one after the other: its programs are good for all, or for none. */
static void examine_nodes(struct part parts[], struct doctor_host nodes[], size_t count)
{
    unsigned of_machine = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned found =
            of_machine | (i == 0 ? DOCTOR_NEEDS_FIRST : 0) | (nodes[i].role ? DOCTOR_NEEDS_ROLE : 0);
        struct doctor_subject of_host = parts[i].x;
        of_host.host = &nodes[i];
        of_host.found = &found;
        doctor_walk(DOCTOR_HOST, DOCTOR_EXAMINES, &of_host);
        of_machine |= found & DOCTOR_NEEDS_PROGRAMS;
    }
}

/* parts[0]: the first of the machine's hosts; the others follow it in the lab. */
static void examine_machine(struct part parts[], size_t count, const struct host_way *way)
{
    const struct doctor_subject *x = &parts[0].x;
    struct doctor_host *nodes = xcalloc(count, sizeof *nodes);
    const struct lab_host *hosts = way->host;
    struct error e;
    for (size_t i = 0; i < count; i++) {
        nodes[i] = host_of(x, &hosts[i]);
        nodes[i].machine = way->name;
        nodes[i].nodes = nodes;
        nodes[i].node_count = count;
    }
    int opened = remote_host_open_locked(&nodes[0].remote, way, &e);
    if (opened == -1) {
        report_unreached(x, way, &e);
    } else {
        doctor_add(x->entries, way->name, "connection", "ok", NULL, "ssh answers");
        doctor_add_evidence(x->entries, "a command that ran there");
    }
    if (opened == REMOTE_HOST_IN_USE) {
        doctor_add(x->entries, way->name, "lock", "failure",
                   "wait for the program that has the lock, or stop it, and look again", "%s", e.text);
        doctor_add_evidence(x->entries, "the lock's file, on the host or on this machine");
    }
    for (size_t i = 1; opened >= 0 && i < count; i++)
        remote_host_join(&nodes[i].remote, &hosts[i], &nodes[0].remote);
    if (opened >= 0)
        examine_nodes(parts, nodes, count);
    for (size_t i = count; i-- > 0;) {
        json_decref(nodes[i].nics);
        json_decref(nodes[i].facts);
        if (opened >= 0)
            remote_host_close(&nodes[i].remote);
    }
    free(nodes);
}

bool doctor_find_nic(struct doctor_host *h)
{
    if (!h->looked_for_nic)
        h->has_nic = remote_find_nic(&h->remote, &h->no_nic) == 0;
    h->looked_for_nic = true;
    return h->has_nic;
}

/* ---- all, side by side */

static int visit_host(void *context, size_t i, const struct host_way *way, struct text *printed,
                      struct error *e)
{
    struct part *parts = context;
    (void)printed;
    (void)e;
    size_t count = 1;
    while (lab_host_at(way->lab, i + count) && lab_same_machine(way->lab, i, i + count))
        count++;
    examine_machine(&parts[i], count, way);
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
