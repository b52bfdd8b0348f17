#include "lib/physics/nic_models.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include <ctype.h>
#include <string.h>

#define NAME(ENUM, name, title, line)  name,
#define TITLE(ENUM, name, title, line) title,
#define LINE(ENUM, name, title, line)  (line) * INT64_C(1000000000),
const char *const nic_model_names[] = {NIC_MODELS(NAME) NULL};
const char *const nic_model_titles[] = {NIC_MODELS(TITLE) NULL};
const int64_t nic_model_lines_bps[] = {NIC_MODELS(LINE) 0};

/* ---- the table */

#define LX(value, source)  [NIC_MODEL_CONNECTX_4_LX] = {value, source}
#define CX5(value, source) [NIC_MODEL_CONNECTX_5] = {value, source}
#define CX6(value, source) [NIC_MODEL_CONNECTX_6] = {value, source}
#define CX7(value, source) [NIC_MODEL_CONNECTX_7] = {value, source}
#define REMOTE_LAB         "remote-lab.net, "
#define PERFTEST           "4.096 us * 2^14, perftest's default"
#define HACC               "openfabric-systems/simllm, September 2026, "
#define NCCL_2409          "NVIDIA/nccl issue 2409, September 2026, "
#define AS_CX5             "assumed: as connectx-5"
#define AS_CX6             "assumed: as connectx-6"
#define UX5                "unionxic/rdma-fault-characterization, June 2026, "
#define UX6                "unionxic/rdma-fault-characterization, October 2026, "

const struct nic_property nic_properties[] = {
    {"nic.messages",
     {LX("\"3.768M/s\"",
         "fitted: 3.768 Mmsg/s of 64 and 512 byte writes, host memory (" REMOTE_LAB "March 2026)"),
      CX5("\"16.6M/s\"",
          "fitted: S-1.15, 67.88 Gb/s of 512 byte writes on several queue pairs (" HACC "incast.csv)"),
      CX6("\"215M/s\"", "the data sheet of ConnectX-6: up to 215 million messages a second")}},
    {"nic.queue_pair_messages",
     {CX5("\"3.87M/s\"", HACC "S-1.14: 1 KiB writes on one queue pair"), CX6("\"3.87M/s\"", AS_CX5),
      CX7("\"2.9M/s\"", "fitted: S-1.16, 380.0 Gb/s of 16 KiB writes on one queue pair, 391.8 on eight "
                        "(" NCCL_2409 "one user's table)")}},
    {"nic.tx_latency",
     {LX("\"570ns\"", "fitted: typical latency 1.41 us of 2 byte writes (" REMOTE_LAB
                      "March 2026), minus the assumed latencies"),
      CX5("\"400ns\"", "fitted: S-1.01, 2.10 us of 2 byte writes (" HACC
                       "measurement.tex) through links of 515 ns, minus the assumed latencies"),
      CX6("\"400ns\"", AS_CX5), CX7("\"400ns\"", AS_CX5)}},
    {"nic.rx_latency",
     {LX("\"300ns\"", "assumed: typical of such NICs; only its sum with nic.tx_latency is fitted"),
      CX5("\"220ns\"", "assumed: only its sum with nic.tx_latency is fitted"), CX6("\"220ns\"", AS_CX5),
      CX7("\"220ns\"", AS_CX5)}},
    {"nic.completion",
     {CX5("\"760ns\"", "fitted: S-1.02 to S-1.08, S-1.18 and S-1.19, one message in flight (" HACC
                       "msgsize.csv); the latency has no such part"),
      CX6("\"760ns\"", AS_CX5), CX7("\"760ns\"", AS_CX5)}},
    {"nic.ingress.rate",
     {CX5("\"93.4Gb/s\"", "fitted: S-3.04 to S-3.07, S-3.09 and S-3.10, where losses begin between 88.2 and "
                          "92.2 Gb/s of goodput over a burst and its gap (" HACC "gapsweep.csv)")}},
    {"nic.ingress.depth",
     {CX5("\"10.4MB\"",
          "fitted: S-3.01 with S-6.01, a burst of loss each 13.7 ms of a saturated flow (" HACC "ANOM-17)")}},
    {"nic.ingress.loss",
     {CX5("\"303kB\"", "fitted: S-3.02 and S-6.01, 73 packets of 4 KiB a burst, one NAK (" HACC "ANOM-19)")}},
    {"nic.ingress.loss_time", {CX5("\"94us\"", "fitted: S-3.02, the length of a burst (" HACC "ANOM-17)")}},
    {"nic.ingress.sending",
     {CX5("\"9Gb/s\"",
          "fitted: S-3.03, with 10 Gb/s or more the other way losses are rarer, not shorter (" HACC
          "ANOM-17); a bit less, as a window counts whole packets")}},
    {"nic.ingress.rate_when_sending",
     {CX5("\"98.7Gb/s\"", "fitted: S-3.03, 12.5 times fewer bursts (" HACC "ANOM-17)")}},
    {"nic.ingress.of_queue_pair",
     {CX5("true", "fitted: S-1.13 and S-3.16, several queue pairs fill the line and one does not (" HACC
                  "measurement.tex: a lone flow)")}},
    {"nic.ack_every",
     {LX("16", "assumed: one or two ACKs per message of 64 KiB"), CX5("16", "assumed: as connectx-4-lx"),
      CX6("16", AS_CX5), CX7("16", AS_CX5)}},
    {"nic.adaptive_retransmission",
     {CX5("true", "as for connectx-6; " UX5 "S-6.13 counts roce_adp_retrans"),
      CX6("true", UX6 "default of ROCE_ACCL, as read"), CX7("true", AS_CX6)}},
    {"nic.retransmission_firmware",
     {CX5("\"16.35\"", "fitted: S-6.13, S-7.15, S-7.22 (" UX5 "firmware 16.35.8002)"),
      CX6("\"20.43\"", UX6 "S-7.01 to S-7.21"), CX7("\"20.43\"", AS_CX6)}},
    {"nic.slow_restart",
     {CX5("true", AS_CX6), CX6("true", UX6 "default of ROCE_ACCL, as read; counts as S-4.07"),
      CX7("true", AS_CX6)}},
    {"nic.rnr_added",
     {LX("\"1.38ms\"",
         "fitted: S-7.17, a resend 1.5 ms after a wait of 0.12 ms was asked for, of a ConnectX-4 "
         "(NVIDIA's forum, thread 207566, one observation)")}},
    {"nic.inline",
     {LX("\"220B\"", "perftest's default for write latency: 220 bytes"),
      CX5("\"220B\"", "perftest's default for write latency: 220 bytes"), CX6("\"220B\"", AS_CX5),
      CX7("\"220B\"", AS_CX5)}},
    {"nic.slow_restart_on_nak",
     {CX5("true", "fitted: S-4.05, CNPs handled are 2.24 times those sent (" HACC "measurement.tex)"),
      CX6("true", AS_CX5)}},
    {"nic.jitter",
     {CX5("\"1.1ns\"", "fitted: S-1.13, 97.7 Gb/s where headers leave 98.0 (" HACC "P2)"),
      CX6("\"1.1ns\"", AS_CX5)}},
    {"nic.burst",
     {CX5("\"96KiB\"", "fitted: S-3.13, 1.65 % of the packets lost in 3100 events/s (" HACC
                       "incast.csv): those of a queue pair are lost together"),
      CX6("\"96KiB\"", AS_CX5)}},
    {"nic.nak_delay",
     {CX5("\"320us\"", "fitted: S-3.15, 26 % of the wire sent in vain (" HACC
                       "incast.csv): more than a round trip of a queue pair for each event"),
      CX6("\"320us\"", AS_CX5)}},
    {"nic.nak_again",
     {CX5("\"800us\"", "fitted: S-3.11 and S-3.12, a full wire and no stand-still (" HACC
                       "incast.csv) though packets that are sent again are lost, too"),
      CX6("\"800us\"", AS_CX5)}},
    {"nic.unmarked_cnps",
     {CX5("\"loss\"", "fitted: S-4.01 to S-4.06, 2262/s with 3100 loss events/s, 38/s with 73/s and none "
                      "without losses (" HACC "ANOM-16); the cause is not proved"),
      CX6("\"loss\"", AS_CX5)}},
    {"nic.unmarked_cnp_interval",
     {CX5("\"850us\"", "fitted: S-4.01, three CNPs for four loss events (" HACC "ANOM-16)"),
      CX6("\"850us\"", AS_CX5)}},
    {"nic.cnp_cuts_share",
     {CX5("true", "fitted: S-5.01, a sender of four queue pairs slows down within 39 ms (" HACC "ANOM-18)"),
      CX6("true", AS_CX5)}},
    {"nic.cnp_cuts_target",
     {CX5("true",
          "fitted: S-3.15 and S-4.02, the same share of the wire in vain and CNPs of a queue pair with 2 to "
          "32 of them (" HACC "ANOM-16): fast recovery would undo cuts of a fast queue pair sooner"),
      CX6("true", AS_CX5)}},
    {"nic.first_cnp_again",
     {CX5("\"100ms\"",
          "fitted: S-1.10, S-1.11 and S-3.04, a burst of loss of a queue pair alone each half second "
          "(" HACC "gapsweep.csv, 4460 packets in 30 s): a cut that takes so long to recover from"),
      CX6("\"100ms\"", AS_CX5)}},
    {"nic.byte_reset",
     {CX5("\"130kB\"", "fitted: S-5.02 and S-5.03, as nic.dcqcn_profile (" HACC "ANOM-18)"),
      CX6("\"130kB\"", AS_CX5)}},
    {"nic.dcqcn_profile",
     {CX5("\"slow-recovery\"", "fitted: S-5.01 to S-5.03, S-3.12, S-3.13, S-1.10 and S-1.11 (" HACC
                               "ANOM-18); its parameters cannot be read"),
      CX6("\"slow-recovery\"", AS_CX5)}},
    {"pcie.generation",
     {LX("3", REMOTE_LAB "March 2026: PCIe Gen3 x8"),
      CX5("4", "openfabric-systems/simllm, September 2026: PCIe Gen4 x16"),
      CX6("4", "the data sheet of ConnectX-6: PCIe Gen4 x16"),
      CX7("5", "NVIDIA/nccl issue 2409, September 2026: PCIe Gen5")}},
    {"pcie.lanes",
     {LX("8", "the same as for pcie.generation"), CX5("16", "the same as for pcie.generation"),
      CX6("16", "the same as for pcie.generation"), CX7("16", "the data sheet of ConnectX-7: x16")}},
    {"pcie.completion",
     {CX7("\"128B\"", "assumed: completions of 64 B would not carry the measured 392 Gb/s")}},
    {"nic.tx_buffer", {CX7("\"128KiB\"", "assumed: more than PCIe and transmit latency times 400 Gb/s")}},
    {"pcie.tags", {CX7("256", "assumed: enough for 400 Gb/s")}},
    {"pcie.posted_header_credits", {CX7("256", "assumed: enough for 400 Gb/s")}},
    {"pcie.posted_data_credits", {CX7("4096", "assumed: enough for 400 Gb/s")}},
    {"pcie.latency",
     {LX("\"200ns\"", "assumed: typical one-way latency; only sums are fitted"),
      CX5("\"150ns\"", "assumed: typical one-way latency; only sums are fitted"), CX6("\"150ns\"", AS_CX5),
      CX7("\"150ns\"", AS_CX5)}},
    {"memory.write_latency",
     {LX("\"100ns\"", "assumed: only sums are fitted"), CX5("\"100ns\"", "assumed: only sums are fitted"),
      CX6("\"100ns\"", AS_CX5), CX7("\"100ns\"", AS_CX5)}},
    {"memory.read_latency",
     {LX("\"100ns\"", "assumed: only sums are fitted"), CX5("\"50ns\"", "assumed: only sums are fitted"),
      CX6("\"50ns\"", AS_CX5), CX7("\"50ns\"", AS_CX5)}},
    {"software.post",
     {LX("\"80ns\"", "assumed: only sums are fitted"), CX5("\"80ns\"", "assumed: as connectx-4-lx"),
      CX6("\"80ns\"", AS_CX5), CX7("\"80ns\"", AS_CX5)}},
    {"software.poll",
     {LX("\"70ns\"", "assumed: only sums are fitted"), CX5("\"70ns\"", "assumed: as connectx-4-lx"),
      CX6("\"70ns\"", AS_CX5), CX7("\"70ns\"", AS_CX5)}},
    {"software.jitter",
     {LX("\"40ns\"", "fitted: p99 1.53 us at typical 1.44 us (" REMOTE_LAB "March 2026)"),
      CX5("\"35ns\"", "fitted: S-1.01, p99 2.23 us (" HACC "measurement.tex)"), CX6("\"35ns\"", AS_CX5),
      CX7("\"35ns\"", AS_CX5)}},
    {"software.spikes_per_turn", {LX("0.0008", "fitted: p99.9 5.22 us (" REMOTE_LAB "March 2026)")}},
    {"software.spike_floor", {LX("\"5us\"", "fitted: the same")}},
    {"software.spike", {LX("\"5.5us\"", "fitted: the same")}},
    {0},
};

/* ---- names */

int nic_model_named(const char *name)
{
    for (int i = 0; name && nic_model_names[i]; i++)
        if (strcmp(nic_model_names[i], name) == 0)
            return i;
    return -1;
}

/* Letters and digits alone, in lower case. */
static void bare_name(const char *name, char *bare, size_t size)
{
    size_t length = 0;
    for (; *name && length + 1 < size; name++)
        if (isalnum((unsigned char)*name))
            bare[length++] = (char)tolower((unsigned char)*name);
    bare[length] = '\0';
}

/* The generation of a NIC is no slip. */
static bool same_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strcspn(a, "0123456789");
        b += strcspn(b, "0123456789");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* A slip is one edit, or two in a longer name; what says more is a title. */
bool nic_model_is_slip(const char *name, const char **meant)
{
    char said[64], known[64];
    bool any = false;
    size_t least = 0;
    *meant = NULL;
    if (!name || nic_model_named(name) >= 0)
        return false;
    bare_name(name, said, sizeof said);
    for (int i = 0; nic_model_names[i]; i++) {
        bare_name(nic_model_names[i], known, sizeof known);
        size_t edits = nearest_edits(said, known);
        if (edits > (strlen(known) < 8 ? 1 : 2))
            continue;
        any = true;
        if (same_digits(said, known) && (!*meant || edits < least)) {
            *meant = nic_model_names[i];
            least = edits;
        }
    }
    return any;
}

/* ---- values */

/* The object at the first part of a path, and its key, which may be a path again. */
static const char *key_of(const char *path, char *part, size_t size)
{
    size_t length = strcspn(path, ".");
    snprintf(part, size, "%.*s", (int)length, path);
    return path[length] ? path + length + 1 : NULL;
}

static void put_at(json_t *document, const char *path, json_t *value)
{
    char part[40];
    const char *rest = key_of(path, part, sizeof part);
    if (!rest) {
        json_object_set_new(document, part, value);
        return;
    }
    if (!json_object_get(document, part))
        json_object_set_new(document, part, json_object());
    put_at(json_object_get(document, part), rest, value);
}

static bool has_at(const json_t *document, const char *path)
{
    char part[40];
    const char *rest = key_of(path, part, sizeof part);
    const json_t *there = json_object_get(document, part);
    return there && (!rest || has_at(there, rest));
}

static json_t *value_of(const struct nic_model_value *v)
{
    return json_loads(v->value, JSON_DECODE_ANY, NULL);
}

json_t *nic_model_document(int model)
{
    json_t *document = json_object();
    for (const struct nic_property *p = nic_properties; p->path; p++)
        if (p->of[model].value)
            put_at(document, p->path, value_of(&p->of[model]));
    return document;
}

void nic_model_add_sources(json_t *sources, int model, const json_t *host)
{
    for (const struct nic_property *p = nic_properties; p->path; p++) {
        const struct nic_model_value *v = &p->of[model];
        char key[120];
        if (!v->value || has_at(host, p->path))
            continue;
        snprintf(key, sizeof key, "hosts.*.%s (%s)", p->path, nic_model_names[model]);
        if (json_object_get(sources, key))
            continue;
        json_t *value = value_of(v);
        char *shown = json_bare(value);
        json_object_set_new(sources, key,
                            json_textf("%s; %s in the table of NIC models", v->source, shown ? shown : "?"));
        free(shown);
        json_decref(value);
    }
}

/* ---- for people and programs */

json_t *nic_models_json(void)
{
    json_t *models = json_object();
    for (int i = 0; i < NIC_MODEL_COUNT; i++) {
        json_t *values = json_object();
        for (const struct nic_property *p = nic_properties; p->path; p++)
            if (p->of[i].value)
                json_object_set_new(
                    values, p->path,
                    json_make("{s:o,s:s}", "value", value_of(&p->of[i]), "source", p->of[i].source));
        json_object_set_new(models, nic_model_names[i],
                            json_make("{s:s,s:o}", "title", nic_model_titles[i], "values", values));
    }
    return models;
}

static const char introduction[] =
    "# Models of NICs\n\n"
    "A simulated host whose `nic.model` is one of these names has the model's values wherever the lab, its "
    "defaults included, says nothing. Any other name is a title for display and changes nothing.\n\n"
    "`harness check` names the models of a lab, and warns of a name that looks like a slip. Results have "
    "what came from here among the lab's sources. What a property means: the manual of labs "
    "([lab.md](lab.md)). (`make docs` writes this file.)\n\n";

/* How a value is known, by the first word of its source; "": it was read or measured. */
static const char *how_known(const struct nic_model_value *of)
{
    static const char *const words[] = {"fitted", "assumed"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(of->source, words[i], strlen(words[i])) == 0)
            return words[i];
    return "";
}

/* A row a property, a column a model; the ideal NIC is nobody's. */
static void add_values(struct text *out)
{
    text_add(
        out,
        "\n## Values, and how they are known\n\n"
        "- No mark: the NIC's own, read or measured.\n"
        "- ~16.6M/s: fitted: chosen so that the simulator shows a figure that was measured; nobody measured "
        "the value.\n"
        "- 16?: assumed: nothing is known, or the same as another model is likely.\n"
        "- Empty, or not listed: not known. It has the simulator's default: as a rule the NIC does not "
        "do it.\n\n"
        "Sources: connectx-4-lx, remote-lab.net, March 2026 ([simulator.md](simulator.md#fitted-values)); "
        "connectx-5, openfabric-systems/simllm and unionxic/rdma-fault-characterization; connectx-6, the "
        "latter and its data sheet; connectx-7, NVIDIA/nccl issue 2409 and its data sheet. The source of "
        "each value, with the rows of [silicon.tsv](silicon.md) to which it was fitted: "
        "`harness schema nic-models`. What a NIC was measured to do that is not modelled: "
        "[silicon.md](silicon.md#what-is-not-met).\n\n| property |");
    for (int i = NIC_MODEL_IDEAL + 1; i < NIC_MODEL_COUNT; i++)
        text_add(out, " `%s` |", nic_model_names[i]);
    text_add(out, "\n|---|");
    for (int i = NIC_MODEL_IDEAL + 1; i < NIC_MODEL_COUNT; i++)
        text_add(out, "---|");
    text_add(out, "\n");
    for (const struct nic_property *p = nic_properties; p->path; p++) {
        text_add(out, "| `%s` |", p->path);
        for (int i = NIC_MODEL_IDEAL + 1; i < NIC_MODEL_COUNT; i++) {
            json_t *value = p->of[i].value ? value_of(&p->of[i]) : NULL;
            char *shown = value ? json_bare(value) : NULL;
            const char *known = shown ? how_known(&p->of[i]) : "";
            text_add(out, "%s%s%s%s |", shown ? " " : "", strcmp(known, "fitted") == 0 ? "~" : "",
                     shown ? shown : "", strcmp(known, "assumed") == 0 ? "?" : "");
            free(shown);
            json_decref(value);
        }
        text_add(out, "\n");
    }
}

void nic_models_manual(struct text *out)
{
    text_add(out, "%s", introduction);
    for (int i = 0; i < NIC_MODEL_COUNT; i++)
        text_add(out, "- `%s`: %s\n", nic_model_names[i], nic_model_titles[i]);
    add_values(out);
}
