#include "sim/events.h"
#include "sim/array.h"
#include <stdlib.h>
#include <string.h>

void events_open(struct event_queue *q, int64_t slot_ps)
{
    memset(q, 0, sizeof *q);
    memset(q->slots, 0xff, sizeof q->slots);
    q->heap_slot = q->first_slot = INT64_MAX;
    while (slot_ps > 1) {
        slot_ps >>= 1;
        q->slot_shift++;
    }
}

void events_close(struct event_queue *q)
{
    free(q->events);
    free(q->heap);
}

uint32_t events_add(struct event_queue *q, uint8_t kind, uint32_t object)
{
    if (q->count == q->capacity) {
        uint32_t capacity = q->capacity ? q->capacity * 2 : 256;
        struct event *events = array_grow(q->events, q->count * sizeof *events, capacity * sizeof *events);
        if (!events)
            return EVENT_NONE;
        q->events = events;
        uint32_t *heap = realloc(q->heap, capacity * sizeof *heap);
        if (!heap)
            return EVENT_NONE;
        q->heap = heap;
        q->capacity = capacity;
    }
    q->events[q->count] =
        (struct event){.next = EVENT_NONE, .prev = EVENT_NONE, .kind = kind, .object = object};
    return q->count++;
}

uint32_t events_pending(const struct event_queue *q)
{
    uint32_t pending = 0;
    for (uint32_t i = 0; i < q->count; i++)
        pending += q->events[i].place != EVENT_IDLE;
    return pending;
}

/* Of equal times the one that was scheduled first. */
static bool before(const struct event *a, const struct event *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    return (int32_t)(a->prev - b->prev) < 0;
}

static void heap_put(struct event_queue *q, uint32_t position, uint32_t id)
{
    q->heap[position] = id;
    q->events[id].next = position;
}

static void heap_up(struct event_queue *q, uint32_t position, uint32_t id)
{
    while (position) {
        uint32_t parent = (position - 1) / 2;
        if (!before(&q->events[id], &q->events[q->heap[parent]]))
            break;
        heap_put(q, position, q->heap[parent]);
        position = parent;
    }
    heap_put(q, position, id);
}

static void heap_down(struct event_queue *q, uint32_t position, uint32_t id)
{
    for (;;) {
        uint32_t child = position * 2 + 1;
        if (child >= q->heap_count)
            break;
        if (child + 1 < q->heap_count && before(&q->events[q->heap[child + 1]], &q->events[q->heap[child]]))
            child++;
        if (!before(&q->events[q->heap[child]], &q->events[id]))
            break;
        heap_put(q, position, q->heap[child]);
        position = child;
    }
    heap_put(q, position, id);
}

static void note_first(struct event_queue *q)
{
    q->heap_slot = q->heap_count ? q->events[q->heap[0]].time_ps >> q->slot_shift : INT64_MAX;
}

void events_heap_insert(struct event_queue *q, uint32_t id)
{
    q->events[id].place = EVENT_IN_HEAP;
    q->events[id].prev = q->heap_order++;
    heap_up(q, q->heap_count++, id);
    note_first(q);
}

void events_heap_remove(struct event_queue *q, uint32_t id)
{
    uint32_t position = q->events[id].next;
    uint32_t last = q->heap[--q->heap_count];
    q->events[id].place = EVENT_IDLE;
    if (last == id) {
        note_first(q);
        return;
    }
    if (position && before(&q->events[last], &q->events[q->heap[(position - 1) / 2]]))
        heap_up(q, position, last);
    else
        heap_down(q, position, last);
    note_first(q);
}

void events_migrate(struct event_queue *q)
{
    while (q->heap_slot - q->base_slot < WHEEL_SLOTS) {
        uint32_t id = q->heap[0];
        int64_t slot = q->heap_slot;
        events_heap_remove(q, id);
        events_wheel_insert(q, id, slot);
    }
}

int64_t events_find(const struct event_queue *q, int64_t from_slot)
{
    uint32_t start = (uint32_t)from_slot & (WHEEL_SLOTS - 1), word = start >> 6;
    uint64_t bits = q->words[word] & (~UINT64_C(0) << (start & 63));
    /* The words after this one, then those before it: once round the groups, the first one masked. */
    uint32_t group = word >> 6;
    uint64_t mask = (word & 63) == 63 ? 0 : ~UINT64_C(0) << ((word & 63) + 1);
    for (uint32_t i = 0; i <= WHEEL_GROUPS && !bits; i++) {
        uint64_t words = q->groups[group] & mask;
        if (words) {
            word = group << 6 | (uint32_t)__builtin_ctzll(words);
            bits = q->words[word];
        }
        mask = ~UINT64_C(0);
        group = (group + 1) % WHEEL_GROUPS;
    }
    if (!bits)
        return INT64_MAX;
    uint32_t index = word << 6 | (uint32_t)__builtin_ctzll(bits);
    return from_slot + ((index - start) & (WHEEL_SLOTS - 1));
}
