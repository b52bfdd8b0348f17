#include "verify/flows.h"

#include "verify/psn.h"
#include "lib/packets/opcode.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256
#define MOST_TRIES \
    64 /* answers of a flow by which its partner is looked for, then one of so many; flows each time */
#define WINDOW_PSNS 4096      /* an answer may name a PSN so far behind the last request, */
#define READ_PSNS   (1 << 22) /* and where there are reads: half of those that have an order */

int flows_init(struct flows *t, struct error *e)
{
    *t = (struct flows){.room = FIRST_ROOM, .table_size = FIRST_ROOM * 2};
    t->flows = malloc(t->room * sizeof *t->flows);
    t->pairs = malloc(t->room * sizeof *t->pairs);
    t->table = calloc(t->table_size, sizeof *t->table);
    t->pair_table = calloc(t->table_size, sizeof *t->pair_table);
    if (t->flows && t->pairs && t->table && t->pair_table)
        return 0;
    flows_free(t);
    return error_set(e, "out of memory for the flows of a capture");
}

void flows_free(struct flows *t)
{
    free(t->flows);
    free(t->pairs);
    free(t->table);
    free(t->pair_table);
    *t = (struct flows){0};
}

/* ---- hashing */

static uint64_t mix(uint64_t h, const void *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint32_t hash_pair(uint32_t interface, const struct frame_ip *ip)
{
    uint64_t h = interface + UINT64_C(0x51ed270b);
    h = mix(mix(h, ip->source), ip->source + 8);
    h = mix(mix(h, ip->destination), ip->destination + 8);
    return (uint32_t)(h >> 32);
}

static uint32_t hash_flow(uint32_t pair_hash, uint32_t qpn)
{
    uint64_t key = (uint64_t)pair_hash << 32 | qpn;
    return (uint32_t)(mix(0, &key) >> 32);
}

static bool is_of(const struct flow *f, uint32_t interface, const struct frame_ip *ip)
{
    return f->interface == interface && memcmp(f->source, ip->source, sizeof f->source) == 0 &&
           memcmp(f->destination, ip->destination, sizeof f->destination) == 0;
}

/* ---- growing */

static void table_put(uint32_t *table, uint32_t size, uint32_t hash, uint32_t index)
{
    uint32_t at = hash & (size - 1);
    while (table[at])
        at = (at + 1) & (size - 1);
    table[at] = index + 1;
}

/* Room for one more flow. false: no memory, which is as if there were too many. */
static bool flows_grow(struct flows *t)
{
    uint32_t room = t->room * 2, size = room * 2;
    struct flow *flows = realloc(t->flows, room * sizeof *flows);
    if (flows)
        t->flows = flows;
    struct flow_pair *pairs = realloc(t->pairs, room * sizeof *pairs);
    if (pairs)
        t->pairs = pairs;
    uint32_t *table = calloc(size, sizeof *table), *pair_table = calloc(size, sizeof *pair_table);
    if (!flows || !pairs || !table || !pair_table) {
        free(table);
        free(pair_table);
        return false;
    }
    for (uint32_t i = 0; i < t->count; i++)
        table_put(table, size, t->flows[i].hash, i);
    for (uint32_t i = 0; i < t->pair_count; i++)
        table_put(pair_table, size, t->pairs[i].hash, i);
    free(t->table);
    free(t->pair_table);
    t->table = table;
    t->pair_table = pair_table;
    t->table_size = size;
    t->room = room;
    return true;
}

static uint32_t find_pair(const struct flows *t, uint32_t hash, uint32_t interface, const struct frame_ip *ip)
{
    for (uint32_t at = hash & (t->table_size - 1); t->pair_table[at]; at = (at + 1) & (t->table_size - 1)) {
        uint32_t i = t->pair_table[at] - 1;
        if (t->pairs[i].hash == hash && is_of(&t->flows[t->pairs[i].first], interface, ip))
            return i;
    }
    return FLOW_NONE;
}

static uint32_t find_flow(const struct flows *t, uint32_t hash, uint32_t interface,
                          const struct frame_roce *roce)
{
    for (uint32_t at = hash & (t->table_size - 1); t->table[at]; at = (at + 1) & (t->table_size - 1)) {
        uint32_t i = t->table[at] - 1;
        if (t->flows[i].hash == hash && t->flows[i].qpn == roce->bth.qpn &&
            is_of(&t->flows[i], interface, &roce->ip))
            return i;
    }
    return FLOW_NONE;
}

/* The pair that flow `f` belongs to; a new one knows the pair of the other direction. */
static uint32_t join_pair(struct flows *t, uint32_t hash, uint32_t interface, const struct frame_ip *ip,
                          uint32_t f)
{
    uint32_t i = find_pair(t, hash, interface, ip);
    if (i != FLOW_NONE) {
        t->flows[f].next_in_pair = t->pairs[i].first;
        t->pairs[i].first = f;
        t->pairs[i].count++;
        return i;
    }
    struct frame_ip back = *ip;
    memcpy(back.source, ip->destination, sizeof back.source);
    memcpy(back.destination, ip->source, sizeof back.destination);
    i = t->pair_count++;
    uint32_t reverse = find_pair(t, hash_pair(interface, &back), interface, &back);
    t->pairs[i] = (struct flow_pair){.first = f, .hash = hash, .reverse = reverse, .count = 1};
    if (reverse != FLOW_NONE)
        t->pairs[reverse].reverse = i;
    table_put(t->pair_table, t->table_size, hash, i);
    return i;
}

static uint32_t add(struct flows *t, uint32_t hash, uint32_t pair_hash, uint32_t interface,
                    const struct frame_roce *roce)
{
    if (t->count >= FLOWS_MOST || (t->count == t->room && !flows_grow(t))) {
        t->left_out++;
        return FLOW_NONE;
    }
    uint32_t i = t->count++;
    struct flow *f = &t->flows[i];
    *f = (struct flow){.qpn = roce->bth.qpn,
                       .interface = interface,
                       .hash = hash,
                       .next_in_pair = FLOW_NONE,
                       .partner = FLOW_NONE,
                       .source_port = roce->source_port};
    memcpy(f->source, roce->ip.source, sizeof f->source);
    memcpy(f->destination, roce->ip.destination, sizeof f->destination);
    table_put(t->table, t->table_size, hash, i);
    uint32_t pair = join_pair(t, pair_hash, interface, &roce->ip, i);
    t->flows[i].pair = pair;
    return i;
}

/* ---- partners */

static int32_t window_of(const struct flow *f)
{
    return f->reads ? READ_PSNS : WINDOW_PSNS;
}

/* Did the flow send a request that an answer may name? An ACK may also be of the packet before the capture's
 * first. */
static bool has_psn(const struct flow *f, uint32_t psn)
{
    return f->requests && psn_after(psn, f->first_psn) >= -1 && psn_after(psn, f->last_psn) <= 0 &&
           psn_after(f->last_psn, psn) < window_of(f);
}

/* Has it another partner, which has said something since a new connection may have begun? */
static bool is_taken(const struct flows *t, const struct flow *f)
{
    return f->partner != FLOW_NONE && t->flows[f->partner].last_at >= f->anew_at;
}

/* Can the flow be the partner of `answers`? A CNP names no PSN. */
static bool fits(const struct flows *t, const struct flow *f, const struct frame_roce *roce, bool alone)
{
    if (!f->requests || is_taken(t, f))
        return false;
    if (roce->bth.opcode == OPCODE_CNP)
        return roce->source_port && f->source_port == roce->source_port;
    return has_psn(f, roce->bth.psn) && (f->source_port == roce->source_port || alone);
}

/* The flow whose request an answer is of. */
static uint32_t find_partner(const struct flows *t, const struct flow *answers, const struct frame_roce *roce)
{
    uint32_t reverse = t->pairs[answers->pair].reverse, found = FLOW_NONE;
    if (reverse == FLOW_NONE)
        return FLOW_NONE;
    bool alone = t->pairs[reverse].count == 1 && t->pairs[answers->pair].count == 1;
    int looked = 0;
    for (uint32_t i = t->pairs[reverse].first; i != FLOW_NONE; i = t->flows[i].next_in_pair) {
        const struct flow *f = &t->flows[i];
        if (++looked > MOST_TRIES)
            return FLOW_NONE;
        if (!fits(t, f, roce, alone))
            continue;
        if (found != FLOW_NONE)
            return FLOW_NONE;
        found = i;
    }
    return found;
}

static void part(struct flows *t, uint32_t i)
{
    struct flow *f = &t->flows[i];
    if (f->partner != FLOW_NONE)
        t->flows[f->partner].partner = FLOW_NONE;
    f->partner = FLOW_NONE;
    f->tries = 0;
}

/* Where PSNs do not follow, a new connection may have begun, whose other end is another queue pair. */
static void learn_request(struct flow *f, const struct frame_roce *roce, uint64_t now)
{
    uint32_t psn = roce->bth.psn;
    f->reads |= OPCODE_OPERATION(roce->bth.opcode) == OPCODE_READ_REQUEST;
    int32_t window = window_of(f);
    int32_t ahead = f->requests ? psn_after(psn, f->last_psn) : 1;
    if (opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].first && (ahead <= 0 || ahead > window)) {
        f->anew_at = now;
        f->source_port = roce->source_port;
    }
    if (!f->requests || ahead < -window)
        f->first_psn = f->last_psn = psn;
    f->requests = true;
    f->last_psn = psn_later(psn, f->last_psn);
    if (psn_after(f->last_psn, f->first_psn) > window) /* before the numbers wrap */
        f->first_psn = psn_add(f->last_psn, 0u - (uint32_t)window);
}

/* An answer that is not of its partner's requests may be of a new connection, with another queue pair. */
static bool is_partners(const struct flows *t, const struct flow *f, const struct frame_roce *roce)
{
    const struct flow *partner = &t->flows[f->partner];
    bool port = roce->source_port == partner->source_port;
    bool acknowledges = OPCODE_OPERATION(roce->bth.opcode) == OPCODE_ACKNOWLEDGE;
    return roce->bth.opcode == OPCODE_CNP || (port && (!acknowledges || has_psn(partner, roce->bth.psn)));
}

static void learn(struct flows *t, uint32_t i, const struct frame_roce *roce)
{
    const struct opcode_row *row = opcode_find(roce->bth.opcode);
    struct flow *f = &t->flows[i];
    if (!row)
        return;
    if (!row->response && roce->bth.opcode != OPCODE_CNP) {
        learn_request(f, roce, t->packets);
        return;
    }
    if ((f->partner != FLOW_NONE && is_partners(t, f, roce)) ||
        (++f->tries > MOST_TRIES && f->tries % MOST_TRIES != 0))
        return;
    uint32_t partner = find_partner(t, f, roce);
    if (partner != FLOW_NONE) {
        part(t, i);
        part(t, partner);
        f->partner = partner;
        t->flows[partner].partner = i;
    }
}

uint32_t flows_of(struct flows *t, uint32_t interface, const struct frame_roce *roce)
{
    uint32_t pair_hash = hash_pair(interface, &roce->ip), hash = hash_flow(pair_hash, roce->bth.qpn);
    uint32_t i = find_flow(t, hash, interface, roce);
    if (i == FLOW_NONE)
        i = add(t, hash, pair_hash, interface, roce);
    t->packets++;
    if (i == FLOW_NONE)
        return i;
    learn(t, i, roce);
    t->flows[i].last_at = t->packets;
    return i;
}

/* ---- states of flows */

void *states_at(struct states *s, uint32_t i, size_t size)
{
    if (i >= s->count) {
        size_t count = s->count ? s->count : 16;
        while (count <= i)
            count *= 2;
        char *items = realloc(s->items, count * size);
        if (!items)
            return NULL;
        memset(items + s->count * size, 0, (count - s->count) * size);
        s->items = items;
        s->count = count;
    }
    return (char *)s->items + i * size;
}

void flows_note_untied(struct states *untied, uint32_t flow)
{
    uint64_t *count = states_at(untied, flow, sizeof *count);
    if (count)
        ++*count;
}

uint64_t flows_count_untied(const struct flows *t, const struct states *untied, uint64_t *alone)
{
    uint64_t sum = 0;
    *alone = 0;
    for (uint32_t i = 0; i < untied->count && i < t->count; i++)
        if (t->flows[i].partner == FLOW_NONE)
            *(t->pairs[t->flows[i].pair].reverse != FLOW_NONE ? &sum : alone) +=
                *(const uint64_t *)states_have(untied, i, sizeof(uint64_t));
    return sum;
}

/* ---- flows that are the same but for the interface */

/* Indices + 1; 0: not known, none. */
struct chain {
    uint32_t first, next;
};

static bool same_flows_match(const struct flow *a, const struct flow *b)
{
    return a->qpn == b->qpn && memcmp(a->source, b->source, 16) == 0 &&
           memcmp(a->destination, b->destination, 16) == 0;
}

static uint32_t same_flows_hash(const struct flow *f)
{
    uint32_t h = f->qpn * 0x9e3779b1u;
    for (int i = 0; i < 16; i++)
        h = (h ^ f->source[i] ^ (uint32_t)f->destination[i] << 8) * 0x01000193u;
    return h ^ h >> 15;
}

static bool same_flows_grow(struct same_flows *s, const struct flows *flows)
{
    uint32_t size = s->table_size ? s->table_size * 2 : 512, *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < s->table_size; i++) {
        if (!s->first[i])
            continue;
        uint32_t at = same_flows_hash(&flows->flows[s->first[i] - 1]) & (size - 1);
        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = s->first[i];
    }
    free(s->first);
    s->first = table;
    s->table_size = size;
    return true;
}

static uint32_t same_flows_find(struct same_flows *s, const struct flows *flows, uint32_t flow)
{
    if (s->used * 2 >= s->table_size && !same_flows_grow(s, flows))
        return flow;
    uint32_t at = same_flows_hash(&flows->flows[flow]) & (s->table_size - 1);
    for (; s->first[at]; at = (at + 1) & (s->table_size - 1))
        if (same_flows_match(&flows->flows[s->first[at] - 1], &flows->flows[flow]))
            return s->first[at] - 1;
    s->first[at] = flow + 1;
    s->used++;
    return flow;
}

uint32_t same_flows_first(struct same_flows *s, const struct flows *flows, uint32_t flow)
{
    struct chain *mine = states_at(&s->chains, flow, sizeof *mine);
    if (!mine || mine->first)
        return mine ? mine->first - 1 : flow;
    uint32_t first = same_flows_find(s, flows, flow);
    *mine = (struct chain){.first = first + 1};
    if (first != flow) {
        struct chain *head = states_have(&s->chains, first, sizeof *head);
        mine->next = head->next;
        head->next = flow + 1;
    }
    return first;
}

uint32_t same_flows_next(const struct same_flows *s, uint32_t flow)
{
    const struct chain *at = states_have(&s->chains, flow, sizeof *at);
    return at && at->next ? at->next - 1 : FLOW_NONE;
}

void same_flows_free(struct same_flows *s)
{
    free(s->first);
    free(s->chains.items);
    *s = (struct same_flows){0};
}

bool flows_seen_again(const struct flows *t)
{
    struct same_flows same = {0};
    bool again = false;
    for (uint32_t i = 0; i < t->count && !again; i++)
        again = same_flows_first(&same, t, i) != i;
    same_flows_free(&same);
    return again;
}
