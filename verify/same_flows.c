#include "verify/same_flows.h"

#include <stdlib.h>
#include <string.h>

/* Indices + 1; 0: not known, none. */
struct chain {
    uint32_t first, next;
};

static bool is_same(const struct flow *a, const struct flow *b)
{
    return a->qpn == b->qpn && memcmp(a->source, b->source, 16) == 0 &&
           memcmp(a->destination, b->destination, 16) == 0;
}

static uint32_t hash_of(const struct flow *f)
{
    uint32_t h = f->qpn * 0x9e3779b1u;
    for (int i = 0; i < 16; i++)
        h = (h ^ f->source[i] ^ (uint32_t)f->destination[i] << 8) * 0x01000193u;
    return h ^ h >> 15;
}

static bool grow(struct same_flows *s, const struct flows *flows)
{
    uint32_t size = s->table_size ? s->table_size * 2 : 512, *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < s->table_size; i++) {
        if (!s->first[i])
            continue;
        uint32_t at = hash_of(&flows->flows[s->first[i] - 1]) & (size - 1);
        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = s->first[i];
    }
    free(s->first);
    s->first = table;
    s->table_size = size;
    return true;
}

static uint32_t find_first(struct same_flows *s, const struct flows *flows, uint32_t flow)
{
    if (s->used * 2 >= s->table_size && !grow(s, flows))
        return flow;
    uint32_t at = hash_of(&flows->flows[flow]) & (s->table_size - 1);
    for (; s->first[at]; at = (at + 1) & (s->table_size - 1))
        if (is_same(&flows->flows[s->first[at] - 1], &flows->flows[flow]))
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
    uint32_t first = find_first(s, flows, flow);
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
