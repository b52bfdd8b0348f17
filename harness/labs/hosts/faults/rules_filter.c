#include "harness/labs/hosts/faults/rules_filter.h"

#include "lib/clock.h"
#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NUMBERS \
    4294967295u /* the largest modulus of nft's numgen: values below it, one after the other or at random */
/* Bits from the beginning of the UDP header: of the base transport header its opcode and the byte with seven reserved bits, which the ICRC
 * covers; the syndrome of the ACK header behind it. */
#define AT_OPCODE   "@th,64,8"
#define AT_RESERVED "@th,128,8"
#define AT_SYNDROME "@th,160,8"

/* ---- what a filter cannot do */

static int check_action(const struct fault_request *q, bool bridge, struct error *e)
{
    const struct injection_rule *r = q->rule;
    const char *name = injection_action_name(r);
    if (r->action > INJECT_DUPLICATE)
        return error_set(e,
                         "%s.do: \"%s\" is simulated only: a host's packet filter drops, corrupts and marks "
                         "frames, that of a bridge delays and duplicates them too",
                         q->path, name);
    if (!bridge && (r->action == INJECT_DELAY || r->action == INJECT_DUPLICATE))
        return error_set(e,
                         "%s.do: to \"%s\" takes a Linux bridge between the hosts: %s itself drops, corrupts "
                         "and marks the frames that it receives",
                         q->path, name, q->destination->name);
    if (r->packet == INJECT_PFC)
        return error_set(e,
                         "%s.packet: PFC frames pass neither a bridge nor a packet filter: simulated labs "
                         "and virtual ConnectX have such faults",
                         q->path);
    if (r->priority != FIELD_UNSET)
        return error_set(e, "%s.priority: frames of a priority are simulated only: leave it out", q->path);
    if (r->delay_ns != FIELD_UNSET && r->delay_ns % NS_PER_US != 0)
        return error_set(e, "%s.delay: netem delays by whole microseconds: found %" PRId64 " ns", q->path,
                         r->delay_ns);
    return 0;
}

static int check_choice(const struct fault_request *q, struct error *e)
{
    const struct injection_rule *r = q->rule;
    struct injection_choice choice = injection_choice(r);
    int64_t most = choice.first > choice.every ? choice.first : choice.every;
    if (r->count != FIELD_UNSET && r->count > most)
        most = r->count;
    if (r->phase != 0 || r->start_ns != 0 || r->stop_ns != FIELD_UNSET)
        return error_set(e,
                         "%s: a packet filter knows no times of a run: leave out \"phase\", \"start\" and "
                         "\"stop\"; frames are counted from the first one on",
                         q->path);
    if (most > FAULT_MOST_FRAMES)
        return error_set(e, "%s: a packet filter counts to %d: found %" PRId64, q->path, FAULT_MOST_FRAMES,
                         most);
    if (!isnan(r->probability) && r->probability * NUMBERS < 1)
        return error_set(e,
                         "%s.probability: a packet filter draws frames with a probability of at least "
                         "2.4e-10: found %g",
                         q->path, r->probability);
    return 0;
}

/* Addresses tell hosts apart, nothing tells apart the flows of two hosts. */
static int check_alone(const struct fault_request *q, struct error *e)
{
    const struct scenario_flow *flows = q->scenario->flows.items;
    for (size_t i = 0; q->rule->flow && i < q->scenario->flows.count; i++) {
        const char *ends[] = {flows[i].from, flows[i].to};
        for (int end = 0; end < 2; end++)
            if (strcmp(flows[i].name, q->rule->flow) != 0 && lab_real_host(q->lab, ends[end]) == q->source &&
                lab_real_host(q->lab, ends[!end]) == q->destination &&
                fault_sends(&flows[i], ends[end], q->rule->packet))
                return error_set(
                    e,
                    "%s.flow: a packet filter does not tell apart flows of the same hosts, and %s "
                    "sends such packets of flow \"%.80s\" to %s too: give \"link\"",
                    q->path, q->from, flows[i].name, q->to);
    }
    return 0;
}

/* ---- which frames */

/* What the packets of an operation are to `inject`. */
static int kind_of(uint8_t opcode)
{
    if (opcode == OPCODE_CNP)
        return INJECT_CNP;
    if (OPCODE_OPERATION(opcode) == OPCODE_READ_REQUEST)
        return INJECT_READ_REQUEST;
    return OPCODE_OPERATION(opcode) == OPCODE_ACKNOWLEDGE ? INJECT_ACK : INJECT_DATA;
}

static bool is_kind(unsigned opcode, int kind)
{
    return opcode < 256 && opcode_find((uint8_t)opcode) && kind_of((uint8_t)opcode) == kind;
}

static void write_packet(int packet, struct text *line)
{
    int kind = packet == INJECT_NAK ? INJECT_ACK : packet;
    const char *between = "";
    text_add(line, "udp dport %d " AT_OPCODE " { ", FRAME_ROCE_PORT);
    for (unsigned first = 0, next; first < 256; first = next + 1) {
        for (next = first; is_kind(next, kind); next++)
            ;
        if (next == first)
            continue;
        text_add(line, "%s0x%02x", between, first);
        if (next > first + 1)
            text_add(line, "-0x%02x", next - 1);
        between = ", ";
    }
    text_add(line, " }");
    if (kind == INJECT_ACK)
        text_add(line, " " AT_SYNDROME " & 0x60 %s 0", packet == INJECT_NAK ? "!=" : "==");
}

/* The flows' address of a host, which may be the filter's own or a bridge: then nothing is added. */
static int write_address(const struct fault_request *q, const struct lab_host *host, const char *side,
                         int *family, struct text *line, struct error *e)
{
    const char *said = lab_flow_address(&host->nic);
    char plain[INET6_ADDRSTRLEN], shown[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    int of = said && strchr(said, ':') ? AF_INET6 : AF_INET;
    if (host->extra_nics.count)
        return 0;
    snprintf(plain, sizeof plain, "%.*s", said ? (int)strcspn(said, "/") : 0, said ? said : "");
    if (inet_pton(of, plain, bytes) != 1 || !inet_ntop(of, bytes, shown, sizeof shown))
        return error_set(e,
                         "%s: a packet filter knows frames by their addresses: host %s of lab %s has no "
                         "nic.address",
                         q->path, host->name, q->lab->name);
    if (*family && *family != of)
        return error_set(e, "%s: host %s of lab %s has an address of another family than its peer", q->path,
                         host->name, q->lab->name);
    *family = of;
    text_add(line, "%s %s %s ", of == AF_INET ? "ip" : "ip6", side, shown);
    return 0;
}

static void write_choice(const struct injection_rule *r, struct text *line)
{
    struct injection_choice choice = injection_choice(r);
    double below =
        round(r->probability * NUMBERS); /* of a probability of 1 or nearly so, nft takes no comparison */
    if (!isnan(below) && below < NUMBERS)
        text_add(line, "numgen random mod %u < %.0f ", NUMBERS, below);
    if (choice.first > 1)
        text_add(line, "numgen inc mod %u >= %" PRId64 " ", NUMBERS, choice.first - 1);
    if (choice.every > 1)
        text_add(line, "numgen inc mod %" PRId64 " == 0 ", choice.every);
    if (choice.most <= FAULT_MOST_FRAMES)
        text_add(line, "numgen inc mod %u < %" PRId64 " ", NUMBERS, choice.most);
}

/* ---- what happens to them */

static void write_action(const struct fault_request *q, int family, struct text *line)
{
    switch ((enum injection_action)q->rule->action) {
    case INJECT_CORRUPT:
        text_add(line, AT_RESERVED " set " AT_RESERVED " ^ 0x01");
        break;
    case INJECT_MARK:
        text_add(line, "%s ecn set ce", family == AF_INET ? "ip" : "ip6");
        break;
    case INJECT_DELAY:
        text_add(line, "fwd to \"" FAULT_DETOUR "%zu\"", q->i);
        break;
    case INJECT_DUPLICATE:
        text_add(line, "dup to \"" FAULT_DETOUR "%zu\"", q->i);
        break;
    default:
        text_add(line, "drop");
    }
}

int fault_of_filter(const struct fault_request *q, const struct lab_host *host, struct fault *fault,
                    struct error *e)
{
    const struct injection_rule *r = q->rule;
    int family = 0;
    fault->host = host;
    fault->filter = true;
    fault->detour = r->action == INJECT_DELAY || r->action == INJECT_DUPLICATE;
    fault->delay_ns = r->delay_ns == FIELD_UNSET ? 0 : r->delay_ns;
    if (check_action(q, host != q->destination || host->extra_nics.count > 0, e) != 0 ||
        check_choice(q, e) != 0 || check_alone(q, e) != 0 ||
        write_address(q, q->source, "saddr", &family, &fault->line, e) != 0 ||
        write_address(q, q->destination, "daddr", &family, &fault->line, e) != 0)
        return -1;
    if (!family)
        return error_set(e,
                         "%s.link: %s and %s both forward: a packet filter knows frames by the address of a "
                         "host at an end of the link",
                         q->path, q->from, q->to);
    write_packet(r->packet, &fault->line);
    text_add(&fault->line, " counter name \"seen%zu\" ", q->i);
    write_choice(r, &fault->line);
    text_add(&fault->line, "counter name \"met%zu\" ", q->i);
    write_action(q, family, &fault->line);
    return 0;
}
