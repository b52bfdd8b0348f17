/* A scenario's settings on a real host: applied by nic-config on the host, as a transaction with a
 * journal. */
#include "harness/labs/hosts/settings/vlan.h"
#include "harness/doctor/check.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include "lib/roce/congestion_values.h"
#include "lib/text.h"
#include "lib/document/json_file.h"
#include "lib/words.h"
#include <stdlib.h>
#include <string.h>

#define BRIDGE "br-cp" /* the software congestion point's */

/* ---- finding the NIC */

/* "10.0.0.1/24" without its prefix length. */
static void bare_address(const char *address, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.*s", (int)strcspn(address, "/"), address);
}

static bool carries(const json_t *interface, const struct lab_nic *nic)
{
    const char *mac = json_string_value(json_object_get(interface, "address"));
    char wanted[128] = "";
    size_t i;
    json_t *info;
    if (nic->mac && mac && strcasecmp(mac, nic->mac) == 0)
        return true;
    if (nic->address)
        bare_address(nic->address, wanted, sizeof wanted);
    json_array_foreach(json_object_get(interface, "addr_info"), i, info)
    {
        const char *local = json_string_value(json_object_get(info, "local"));
        if (*wanted && local && strcmp(local, wanted) == 0)
            return true;
    }
    return false;
}

/* The network device of a PCI device, also behind virtio. The PCI address is the one inside the guest,
 * which differs from the lab machine's. */
static const char name_of_pci[] =
    "for d in /sys/bus/pci/devices/\"$1\"/net/* /sys/bus/pci/devices/\"$1\"/virtio*/net/*; do "
    "[ ! -e \"$d\" ] || { echo \"${d##*/}\"; exit; }; done";

static char *netdev_of_pci(struct remote_host *h, const char *pci, struct error *e)
{
    const char *const argv[] = {"sh", "-c", name_of_pci, "sh", pci, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    char *found = NULL;
    if (result == 0 && out.length > 1)
        found = strndup(out.data, strcspn(out.data, "\n"));
    else if (result == 0)
        error_set(e, "host %s: PCI device %s has no network device: is its driver loaded?", h->lab->name,
                  pci);
    text_free(&out);
    return found;
}

/* By MAC or IP address. */
static char *netdev_of_addresses(struct remote_host *h, const struct lab_nic *nic, struct error *e)
{
    static const char *const argv[] = {"ip", "-json", "address", "show", NULL};
    struct text out = {0};
    size_t i;
    json_t *interface;
    char *found = NULL;
    if (ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e) != 0) {
        text_free(&out);
        return NULL;
    }
    json_t *list = json_file_parse(text_string(&out), out.length, "ip", DOCUMENT_ANSWER, NULL);
    json_array_foreach(list, i, interface)
    {
        const char *name = json_string_value(json_object_get(interface, "ifname"));
        if (!found && name && carries(interface, nic))
            found = strdup(name);
    }
    if (!found)
        error_set(e,
                  "host %s: no network device has %s %s: give the NIC's netdev, mac or address in the lab "
                  "file",
                  h->lab->name, nic->mac ? "MAC" : "address", nic->mac ? nic->mac : nic->address);
    json_decref(list);
    text_free(&out);
    return found;
}

/* A guest's PCI address is that of the machine. */
static int check_nic(const struct lab_host *host, const struct lab_nic *nic, struct error *e)
{
    if (nic->netdev || nic->mac || nic->address || (nic->pci && !host->domain))
        return 0;
    return error_set(
        e,
        "host %s: the lab file does not identify the network device: give the NIC's netdev, mac%s "
        "or address",
        host->name, host->domain ? "" : ", pci");
}

/* By name, else by PCI, MAC or IP address. The caller frees. */
static char *find_netdev(struct remote_host *h, const struct lab_nic *nic, struct error *e)
{
    if (check_nic(h->lab, nic, e) != 0)
        return NULL;
    if (nic->netdev)
        return strdup(nic->netdev);
    if (nic->pci && !h->lab->domain)
        return netdev_of_pci(h, nic->pci, e);
    return nic->mac || nic->address ? netdev_of_addresses(h, nic, e) : NULL;
}

static int find_extra_nics(struct remote_host *h, struct error *e)
{
    const struct lab_nic *extra = h->lab->extra_nics.items;
    for (size_t i = 0; i < h->lab->extra_nics.count && i < REMOTE_EXTRA_NICS; i++) {
        free(h->extra[i]);
        h->extra[i] = find_netdev(h, &extra[i], e);
        if (!h->extra[i])
            return -1;
    }
    return 0;
}

/* "eth0, eth1" */
static void add_names(const json_t *list, struct text *out)
{
    size_t i;
    const json_t *name;
    json_array_foreach(list, i, name)
        text_add(out, "%s%s", i ? ", " : "", json_string_value(name) ? json_string_value(name) : "?");
}

#define OF_PORTS "PFC, buffers, DCQCN and pause counters"

/* Are settings and counters of the flows' port those of this interface, by nic-config's facts of it? Not of a
 * bond and its ports (RoCE LAG), of interfaces upon the NIC's own, and of InfiniBand. */
static int remote_port_check(const struct lab_host *host, const char *netdev, const json_t *facts,
                             struct error *e)
{
    static const char *const upon[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bridge", NULL};
    const char *kind = json_string_value(json_object_get(facts, "kind")),
               *bond = json_string_value(json_object_get(facts, "bond")),
               *layer = json_string_value(json_object_get(facts, "link_layer"));
    struct text lower = {0};
    size_t i = 0;
    int result = 0;
    add_names(json_object_get(facts, "lower"), &lower);
    while (kind && upon[i] && strcmp(kind, upon[i]) != 0)
        i++;
    if (layer && strcmp(layer, "InfiniBand") == 0)
        result = error_set(e,
                           "host %s: %s is an InfiniBand port: " OF_PORTS " are those of Ethernet; name an "
                           "Ethernet port in nic.netdev of the lab",
                           host->name, netdev);
    else if (kind && (strcmp(kind, "bond") == 0 || strcmp(kind, "team") == 0))
        result = error_set(
            e,
            "host %s: %s is a bond upon %s: " OF_PORTS " are those of each of its ports, and a run "
            "sets and counts at one: take a port out of the bond and name it in nic.netdev of the lab",
            host->name, netdev, lower.length ? text_string(&lower) : "ports that are not shown");
    else if (bond)
        result = error_set(e,
                           "host %s: %s is a port of %s, whose traffic goes through all its ports: " OF_PORTS
                           " of one alone are not those of the flows; take %s out of the bond",
                           host->name, netdev, bond, netdev);
    else if (kind && upon[i] && json_is_true(json_object_get(facts, "rdma_below")))
        result =
            error_set(e,
                      "host %s: %s is a %s upon %s: " OF_PORTS " are those of the NIC's own interface; name "
                      "that in nic.netdev of the lab%s",
                      host->name, netdev, kind,
                      lower.length ? text_string(&lower) : "an interface of another network namespace",
                      strcmp(kind, "vlan") == 0 ? ", and the VLAN in nic.vlan" : "");
    text_free(&lower);
    return result;
}

int remote_find_nic(struct remote_host *h, struct error *e)
{
    free(h->netdev);
    h->netdev = find_netdev(h, &h->lab->nic, e);
    if (!h->netdev || find_extra_nics(h, e) != 0)
        return -1;
    json_t *settings = remote_settings_get(h, e);
    if (!settings)
        return -1;
    json_decref(settings);
    const json_t *facts = json_object_get(json_object_get(h->nic, "facts"), h->netdev);
    if (remote_port_check(h->lab, h->netdev, facts, e) != 0)
        return -1;
    const char *rdma =
        h->lab->nic.rdma ? h->lab->nic.rdma : json_string_value(json_object_get(facts, "rdma"));
    free(h->rdma);
    h->rdma = rdma && *rdma ? strdup(rdma) : NULL;
    return 0;
}

/* ---- nic-config */

/* nic-config waits for the link after each write that may take it down, one NIC after the other. What a
 * restore finds in the journal is not known before. A host that hangs ends the connection before that
 * (remote/ssh.c). */
#define RESTORED_NICS 16

/* Ask nic-config about `nics` NICs; an answer that is not "ok" is an error with its sentence. */
static json_t *ask_nic_config(struct remote_host *h, const char *const words[], const char *input,
                              size_t nics, struct error *e)
{
    char program[512];
    struct words argv = {0};
    int status;
    words_add(&argv, "%s", remote_program(h, "nic-config", program, sizeof program));
    words_add_all(&argv, words);
    json_t *answer = words_whole(&argv, e) == 0
                         ? remote_json_within(h, (const char *const *)argv.items, input,
                                              (int64_t)nics * REMOTE_COMMAND_NS, &status, e)
                         : NULL;
    words_free(&argv);
    if (!answer || json_is_true(json_object_get(answer, "ok")))
        return answer;
    const char *why = json_string_value(json_object_get(answer, "error"));
    error_set(e, "host %s: nic-config %s: %s", h->lab->name, words[0], why ? why : "it gave no reason");
    json_decref(answer);
    return NULL;
}

json_t *remote_settings_get(struct remote_host *h, struct error *e)
{
    const char *words[REMOTE_EXTRA_NICS + 3] = {"get", h->netdev};
    for (size_t i = 0; i < REMOTE_EXTRA_NICS; i++)
        words[i + 2] = h->extra[i];
    json_t *answer = ask_nic_config(h, words, NULL, 1, e);
    if (!answer)
        return NULL;
    json_decref(h->nic);
    h->nic = answer;
    return json_incref(json_object_get(answer, "interfaces"));
}

bool remote_journal_open(const struct remote_host *h)
{
    return json_is_true(json_object_get(json_object_get(h->nic, "journal"), "open"));
}

/* Whether the NIC of an interface takes RoCE frames itself: nic-config has `roce` where that can be
 * switched. */
static bool takes_roce(const struct remote_host *h, const char *netdev)
{
    return json_is_true(
        json_object_get(json_object_get(json_object_get(h->nic, "interfaces"), netdev), "roce"));
}

/* A port of a forwarding host. Its NIC would take RoCE frames instead of bridging them: RoCE is switched
 * off there, unless the scenario says otherwise, and with it go its settings. */
static json_t *port_of(const struct remote_host *h, const char *netdev, const json_t *common)
{
    json_t *port = json_deep_copy(common);
    json_object_set_new(port, "bridge", json_text(BRIDGE));
    json_object_set_new(port, "up", json_true());
    if (json_object_get(common, "roce") || !takes_roce(h, netdev))
        return port;
    json_object_set_new(port, "roce", json_false());
    for (const struct setting *s = settings_known; s->key; s++)
        if (s->roce)
            json_object_del(port, s->key);
    return port;
}

json_t *remote_interfaces(const struct remote_host *h, const json_t *wanted)
{
    json_t *interfaces = json_object(), *common = json_deep_copy(wanted);
    for (const struct setting *s = settings_known; s->key; s++)
        if (!(s->nodes & ON_HOST))
            json_object_del(common, s->key);
    if (h->lab->extra_nics.count == 0) {
        json_object_set_new(interfaces, h->netdev, common);
        vlan_add(h, wanted, interfaces);
        return interfaces;
    }
    json_t *bridge = json_make("{s:s,s:b}", "kind", "bridge", "up", 1);
    if (json_object_get(wanted, "mtu"))
        json_object_set(bridge, "mtu", json_object_get(wanted, "mtu"));
    json_object_set_new(interfaces, BRIDGE, bridge);
    json_object_set_new(interfaces, h->netdev, port_of(h, h->netdev, common));
    for (size_t i = 0; i < REMOTE_EXTRA_NICS && h->extra[i]; i++)
        json_object_set_new(interfaces, h->extra[i], port_of(h, h->extra[i], common));
    json_decref(common);
    return interfaces;
}

/* "a: setting pfc was left out: ..."; settings with the same reason share one sentence. `interfaces`: those
 * that were asked for by the host, of the machine's; NULL: all. */
static void warn_of_skipped(const struct remote_host *h, const json_t *interfaces, const json_t *answer,
                            json_t *warnings)
{
    size_t i;
    json_t *entry, *by_reason = json_object(), *settings;
    const char *why;
    json_array_foreach(json_object_get(answer, "skipped"), i, entry)
    {
        const char *interface = json_string_value(json_object_get(entry, "interface"));
        if (interfaces && interface && !json_object_get(interfaces, interface))
            continue;
        const char *setting = json_string_value(json_object_get(entry, "setting"));
        why = json_string_value(json_object_get(entry, "why"));
        why = why ? why : "the host does not support it";
        if (!json_object_get(by_reason, why))
            json_object_set_new(by_reason, why, json_object());
        json_object_set_new(json_object_get(by_reason, why), setting ? setting : "?", json_true());
    }
    json_object_foreach(by_reason, why, settings)
    {
        struct text names = {0};
        const char *name;
        json_t *there;
        json_object_foreach(settings, name, there)
        {
            text_add(&names, "%s%s", names.length ? ", " : "", name);
        }
        bool one = json_object_size(settings) == 1;
        json_array_append_new(warnings, json_textf("%s: %s %s %s left out: %s", h->lab->name,
                                                   THINGS(json_object_size(settings), "setting"),
                                                   text_string(&names), one ? "was" : "were", why));
        text_free(&names);
    }
    json_decref(by_reason);
}

/* What nic-config says beside that, of the machine. */
static void warn_of_answer(const struct remote_host *h, const json_t *answer, json_t *warnings)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(answer, "warnings"), i, entry)
    {
        if (json_is_string(entry))
            json_array_append_new(warnings, json_textf("%s: %s", h->lab->name, json_string_value(entry)));
    }
}

static bool is_of_congestion_control(const char *key)
{
    const struct field *f = congestion_table.fields;
    while (f->name && strcmp(f->name, key) != 0)
        f++;
    return f->name;
}

/* A setting that only simulated hosts have is an error. NICs run DCQCN: a scenario may say so. */
static int check_simulated_only(const struct lab_host *host, const json_t *wanted, struct error *e)
{
    const char *control = json_string_value(json_object_get(wanted, "congestion_control"));
    for (const struct setting *s = settings_known; s->key; s++)
        if ((s->nodes & (ON_HOST | ON_SIM_HOST)) == ON_SIM_HOST && json_object_get(wanted, s->key) &&
            strcmp(s->key, "congestion_control") != 0)
            return error_set(
                e, "host %s: settings.%s is simulated only%s", host->name, s->key,
                is_of_congestion_control(s->key)
                    ? ": the NICs of real hosts have DCQCN, whose parameters are in settings.dcqcn"
                    : "");
    if (!control || strcmp(control, "dcqcn") == 0)
        return 0;
    return error_set(e,
                     "host %s: settings.congestion_control: \"%s\" is simulated only: the NICs of real hosts "
                     "run \"dcqcn\" (\"ecn_rp\": [] switches it off at the sender)",
                     host->name, control);
}

int remote_settings_check(const struct lab_host *host, const json_t *wanted, struct error *e)
{
    const struct lab_nic *extra = host->extra_nics.items;
    if (check_simulated_only(host, wanted, e) != 0 || check_nic(host, &host->nic, e) != 0)
        return -1;
    for (size_t i = 0; i < host->extra_nics.count; i++)
        if (check_nic(host, &extra[i], e) != 0)
            return -1;
    return 0;
}

/* Pass settings of interfaces to nic-config set or plan. */
static json_t *hand_over(struct remote_host *h, const char *command, json_t *interfaces, struct error *e)
{
    const char *const words[] = {command, "--skip-missing", "-", NULL};
    json_t *document = json_make("{s:i,s:O}", "schema", 1, "interfaces", interfaces);
    char *input = json_dumps(document, JSON_COMPACT);
    json_t *answer = input ? ask_nic_config(h, words, input, json_object_size(interfaces), e) : NULL;
    if (!input)
        error_set(e, "out of memory");
    free(input);
    json_decref(document);
    return answer;
}

static bool has_all(const json_t *list, const json_t *items)
{
    size_t i;
    const json_t *item;
    json_array_foreach(items, i, item)
    {
        if (!json_list_has(list, item))
            return false;
    }
    return true;
}

/* Is it in force as it was asked for? What was left out, and what has several forms, is not looked at:
 * nic-config compares each setting itself. */
static bool is_in_force(const struct field *f, const json_t *wanted, const json_t *found)
{
    bool in_one_form = f->kind == FIELD_INTEGER || f->kind == FIELD_BOOL || f->kind == FIELD_CHOICE;
    if (!found || !wanted || json_is_null(wanted) || settings_find(f->name)->follows)
        return true;
    if (f->kind == FIELD_LIST && f->any_order)
        return has_all(found, wanted) && has_all(wanted, found);
    return !in_one_form || json_equal(wanted, found);
}

int remote_settings_compare(const struct remote_host *h, const json_t *wanted, const json_t *read_back,
                            struct error *e)
{
    const char *netdev;
    json_t *asked, *interfaces = remote_interfaces(h, wanted);
    int result = 0;
    json_object_foreach(interfaces, netdev, asked)
    {
        const json_t *there = json_object_get(read_back, netdev);
        if (result == 0 && !json_is_object(there))
            result = error_set(e, "host %s: nic-config set did not say which settings of %s are in force",
                               h->lab->name, netdev);
        for (const struct field *f = settings_table.fields; result == 0 && f->name; f++) {
            const json_t *value = json_object_get(asked, f->name), *found = json_object_get(there, f->name);
            if (is_in_force(f, value, found))
                continue;
            char *set = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT),
                 *now = json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT);
            result = error_set(e,
                               "host %s: %s of %s is not in force: nic-config was to set %.100s, and read "
                               "back %.100s",
                               h->lab->name, f->name, netdev, set ? set : "?", now ? now : "?");
            free(set);
            free(now);
        }
    }
    json_decref(interfaces);
    return result;
}

static bool wants_nothing(const struct remote_host *h, const json_t *wanted)
{
    return json_object_size(wanted) == 0 && h->lab->extra_nics.count == 0 && !h->lab->nic.vlan;
}

/* Add a host's interfaces to those of its machine. */
static int join_interfaces(const struct machine_settings all[], size_t i, json_t *document, struct error *e)
{
    const char *netdev;
    json_t *settings, *interfaces = all[i].interfaces;
    json_object_foreach(interfaces, netdev, settings)
    {
        const json_t *there = json_object_get(document, netdev);
        size_t k = 0;
        while (k < i && !json_object_get(all[k].interfaces, netdev))
            k++;
        if (there && !json_equal(there, settings))
            return error_set(e,
                             "host %s and host %s both have interface %s of one machine, and want other "
                             "settings of it: give one of them another netdev in the lab, or both the same",
                             all[k].host->lab->name, all[i].host->lab->name, netdev);
        json_object_set(document, netdev, settings);
    }
    return 0;
}

/* What nic-config read back, of the host's own interfaces. A new reference. */
static json_t *own_part(const json_t *interfaces, const json_t *read_back)
{
    const char *netdev;
    json_t *ignored, *part = json_object();
    json_object_foreach((json_t *)(uintptr_t)interfaces, netdev, ignored)
    {
        if (json_object_get(read_back, netdev))
            json_object_set(part, netdev, json_object_get(read_back, netdev));
    }
    return part;
}

static int take_answer(struct machine_settings *m, const json_t *answer, struct error *e)
{
    struct remote_host *h = m->host;
    warn_of_skipped(h, m->interfaces, answer, m->warnings);
    json_decref(h->thresholds);
    h->thresholds = json_incref(json_object_get(answer, "thresholds"));
    json_t *read_back =
        own_part(m->interfaces, json_object_get(json_object_get(answer, "read_back"), "interfaces"));
    if (json_is_false(json_object_get(json_object_get(read_back, h->netdev), "roce"))) {
        free(h->rdma); /* it went with RoCE */
        h->rdma = NULL;
    }
    if (remote_settings_compare(h, m->wanted, read_back, e) == 0)
        m->read_back = read_back;
    else
        json_decref(read_back);
    return m->read_back ? 0 : -1;
}

static int take_answers(struct machine_settings all[], size_t count, json_t *document, struct error *e)
{
    json_t *answer = json_object_size(document) ? hand_over(all[0].host, "set", document, e) : json_object();
    int result = answer ? 0 : -1;
    for (size_t i = 0; result == 0 && i < count; i++) {
        if (json_object_size(all[i].interfaces))
            result = take_answer(&all[i], answer, e);
        else
            all[i].read_back = json_object();
    }
    if (answer)
        warn_of_answer(all[0].host, answer, all[0].warnings);
    json_decref(answer);
    return result;
}

int remote_settings_set(struct machine_settings all[], size_t count, struct error *e)
{
    json_t *document = json_object();
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        struct machine_settings *m = &all[i];
        m->interfaces =
            wants_nothing(m->host, m->wanted) ? json_object() : remote_interfaces(m->host, m->wanted);
        if (result == 0 && (check_simulated_only(m->host->lab, m->wanted, e) != 0 ||
                            join_interfaces(all, i, document, e) != 0))
            result = -1;
    }
    if (result == 0)
        result = take_answers(all, count, document, e);
    for (size_t i = 0; i < count; i++) {
        json_decref(all[i].interfaces);
        all[i].interfaces = NULL;
    }
    json_decref(document);
    return result;
}

void remote_settings_plan(struct remote_host *h, const json_t *wanted, json_t *entries)
{
    struct error e;
    json_t *warnings = json_array(), *entry;
    json_t *interfaces = remote_interfaces(h, wanted);
    json_t *answer =
        check_simulated_only(h->lab, wanted, &e) == 0 ? hand_over(h, "plan", interfaces, &e) : NULL;
    size_t i;
    json_decref(interfaces);
    if (!answer) {
        doctor_add(entries, h->lab->name, "settings", "failure", NULL, "%s", e.text);
        doctor_add_evidence(entries, "nic-config plan on the host");
        json_decref(warnings);
        return;
    }
    warn_of_skipped(h, NULL, answer, warnings);
    warn_of_answer(h, answer, warnings);
    json_array_foreach(warnings, i, entry)
    {
        const char *words =
            strchr(json_string_value(entry), ' '); /* without the host's name, which has its own column */
        doctor_add(entries, h->lab->name, "settings", "warning", NULL, "%s", words ? words + 1 : "");
        doctor_add_evidence(entries, "nic-config plan on the host");
    }
    vlan_say(h, answer, entries);
    json_array_foreach(json_object_get(json_object_get(answer, "thresholds"), h->netdev), i, entry)
    {
        doctor_add(entries, h->lab->name, "buffers", "ok", NULL,
                   "buffer %lld of %lld bytes: xoff %lld, xon %lld",
                   (long long)json_integer_value(json_object_get(entry, "buffer")),
                   (long long)json_integer_value(json_object_get(entry, "size_bytes")),
                   (long long)json_integer_value(json_object_get(entry, "xoff_bytes")),
                   (long long)json_integer_value(json_object_get(entry, "xon_bytes")));
        doctor_add_evidence(entries, "nic-config plan on the host, by the driver's formula");
    }
    json_decref(warnings);
    json_decref(answer);
}

/* Wait for those of the host's ports whose link was up when they were found. */
int remote_settle(struct remote_host *h, struct error *e)
{
    const char *words[REMOTE_EXTRA_NICS + 3] = {"settle"};
    const json_t *facts = json_object_get(h->nic, "facts");
    size_t count = 1;
    if (json_is_true(json_object_get(json_object_get(facts, h->netdev), "carrier")))
        words[count++] = h->netdev;
    for (size_t i = 0; i < REMOTE_EXTRA_NICS && h->extra[i]; i++)
        if (json_is_true(json_object_get(json_object_get(facts, h->extra[i]), "carrier")))
            words[count++] = h->extra[i];
    json_t *answer = count > 1 ? ask_nic_config(h, words, NULL, 1, e) : json_object();
    json_decref(answer);
    return answer ? 0 : -1;
}

json_t *remote_settings_restore(struct remote_host *h, struct error *e)
{
    static const char *const words[] = {"restore", NULL};
    return ask_nic_config(h, words, NULL, RESTORED_NICS, e);
}

json_t *remote_buffers(const struct remote_host *h)
{
    const json_t *list = json_object_get(h->thresholds, h->netdev);
    if (!h->thresholds) /* nothing was set: those found */
        list = json_object_get(json_object_get(json_object_get(h->nic, "facts"), h->netdev), "thresholds");
    return list ? json_deep_copy(list) : json_array();
}
