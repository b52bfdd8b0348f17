/* A scenario's settings on a real host: applied by nic-config on the host, as a transaction with a journal. */
#include "harness/labs/hosts/host.h"
#include "harness/preflight/preflight.h"
#include "lib/text.h"
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

/* The network device of a PCI device, also behind virtio. The PCI address is the one inside the guest, which differs
 * from the lab machine's. */
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
    json_t *list = json_loads(text_string(&out), 0, NULL);
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

/* By name, else by PCI, MAC or IP address. The caller frees. */
static char *find_netdev(struct remote_host *h, const struct lab_nic *nic, struct error *e)
{
    if (nic->netdev)
        return strdup(nic->netdev);
    if (nic->pci && !h->lab->domain)
        return netdev_of_pci(h, nic->pci, e);
    if (nic->mac || nic->address)
        return netdev_of_addresses(h, nic, e);
    error_set(e,
              "host %s: the lab file does not identify the network device: give the NIC's netdev, mac%s "
              "or address",
              h->lab->name, h->lab->domain ? "" : ", pci");
    return NULL;
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
    const char *rdma =
        h->lab->nic.rdma ? h->lab->nic.rdma : json_string_value(json_object_get(facts, "rdma"));
    free(h->rdma);
    h->rdma = rdma && *rdma ? strdup(rdma) : NULL;
    return 0;
}

/* ---- nic-config */

/* Ask nic-config; an answer that is not "ok" is an error with its sentence. */
static json_t *ask(struct remote_host *h, const char *const words[], const char *input, struct error *e)
{
    char program[512];
    const char *argv[72] = {remote_program(h, "nic-config", program, sizeof program)};
    int status;
    for (size_t i = 0; i < 70 && words[i]; i++)
        argv[i + 1] = words[i];
    json_t *answer = remote_json(h, argv, input, &status, e);
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
    json_t *answer = ask(h, words, NULL, e);
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

/* A role's settings as nic-config's interfaces. A forwarding host joins its ports by a bridge; each port gets the role's queue settings. */
static json_t *interfaces_of(const struct remote_host *h, const json_t *wanted)
{
    json_t *interfaces = json_object(), *port = json_deep_copy(wanted);
    json_object_del(port, "ecn_threshold");
    json_object_del(port, "congestion_control");
    if (h->lab->extra_nics.count == 0) {
        json_object_set_new(interfaces, h->netdev, port);
        return interfaces;
    }
    json_t *bridge = json_pack("{s:s,s:b}", "kind", "bridge", "up", 1);
    if (json_object_get(wanted, "mtu"))
        json_object_set(bridge, "mtu", json_object_get(wanted, "mtu"));
    json_object_set_new(interfaces, BRIDGE, bridge);
    json_object_set_new(port, "bridge", json_string(BRIDGE));
    json_object_set_new(port, "up", json_true());
    json_object_set(interfaces, h->netdev, port);
    for (size_t i = 0; i < REMOTE_EXTRA_NICS && h->extra[i]; i++)
        json_object_set_new(interfaces, h->extra[i], json_deep_copy(port));
    json_decref(port);
    return interfaces;
}

/* "a: setting pfc was left out: ..."; settings with the same reason share one sentence. */
static void warn_of_skipped(const struct remote_host *h, const json_t *answer, json_t *warnings)
{
    size_t i;
    json_t *entry, *by_reason = json_object(), *settings;
    const char *why;
    json_array_foreach(json_object_get(answer, "skipped"), i, entry)
    {
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
        json_array_append_new(warnings,
                              json_sprintf("%s: setting%s %s %s left out: %s", h->lab->name, one ? "" : "s",
                                           text_string(&names), one ? "was" : "were", why));
        text_free(&names);
    }
    json_decref(by_reason);
    json_array_foreach(json_object_get(answer, "warnings"), i, entry)
    {
        if (json_is_string(entry))
            json_array_append_new(warnings, json_sprintf("%s: %s", h->lab->name, json_string_value(entry)));
    }
}

/* mlx5 NICs run DCQCN; any other congestion control is an error. */
static int check_congestion_control(const struct remote_host *h, const json_t *wanted, struct error *e)
{
    const char *control = json_string_value(json_object_get(wanted, "congestion_control"));
    if (!control || strcmp(control, "dcqcn") == 0)
        return 0;
    return error_set(e,
                     "host %s: settings.congestion_control: \"%s\" is simulated only: the NICs of real hosts "
                     "run \"dcqcn\" (\"ecn_rp\": [] switches it off at the sender)",
                     h->lab->name, control);
}

/* Pass a role's settings to nic-config set or plan. */
static json_t *hand_over(struct remote_host *h, const char *command, const json_t *wanted, struct error *e)
{
    if (check_congestion_control(h, wanted, e) != 0)
        return NULL;
    const char *const words[] = {command, "--skip-missing", "-", NULL};
    json_t *document = json_pack("{s:i,s:o}", "schema", 1, "interfaces", interfaces_of(h, wanted));
    char *input = json_dumps(document, JSON_COMPACT);
    json_t *answer = input ? ask(h, words, input, e) : NULL;
    if (!input)
        error_set(e, "out of memory");
    free(input);
    json_decref(document);
    return answer;
}

json_t *remote_settings_set(struct remote_host *h, const json_t *wanted, json_t *warnings, struct error *e)
{
    if (json_object_size(wanted) == 0 && h->lab->extra_nics.count == 0)
        return json_object();
    json_t *answer = hand_over(h, "set", wanted, e);
    if (!answer)
        return NULL;
    warn_of_skipped(h, answer, warnings);
    json_decref(h->thresholds);
    h->thresholds = json_incref(json_object_get(answer, "thresholds"));
    json_t *read_back = json_object_get(json_object_get(answer, "read_back"), "interfaces");
    read_back = read_back ? json_incref(read_back) : json_object();
    json_decref(answer);
    return read_back;
}

void remote_settings_plan(struct remote_host *h, const json_t *wanted, json_t *entries)
{
    struct error e;
    json_t *warnings = json_array(), *entry;
    json_t *answer = hand_over(h, "plan", wanted, &e);
    size_t i;
    if (!answer) {
        preflight_say(entries, h->lab->name, "settings", "failure", NULL, "%s", e.text);
        json_decref(warnings);
        return;
    }
    warn_of_skipped(h, answer, warnings);
    json_array_foreach(warnings, i, entry)
    {
        const char *words =
            strchr(json_string_value(entry), ' '); /* without the host's name, which has its own column */
        preflight_say(entries, h->lab->name, "settings", "warning", NULL, "%s", words ? words + 1 : "");
    }
    json_array_foreach(json_object_get(json_object_get(answer, "thresholds"), h->netdev), i, entry)
    {
        preflight_say(entries, h->lab->name, "buffers", "ok", NULL,
                      "buffer %lld of %lld bytes: xoff %lld, xon %lld",
                      (long long)json_integer_value(json_object_get(entry, "buffer")),
                      (long long)json_integer_value(json_object_get(entry, "size_bytes")),
                      (long long)json_integer_value(json_object_get(entry, "xoff_bytes")),
                      (long long)json_integer_value(json_object_get(entry, "xon_bytes")));
    }
    json_decref(warnings);
    json_decref(answer);
}

json_t *remote_settings_restore(struct remote_host *h, struct error *e)
{
    static const char *const words[] = {"restore", NULL};
    return ask(h, words, NULL, e);
}

json_t *remote_buffers(const struct remote_host *h)
{
    const json_t *list = json_object_get(h->thresholds, h->netdev);
    return list ? json_deep_copy(list) : json_array();
}
