/* The event queue's slower part (events.h): making it, the heap, turning the wheel. */
#include "sim/events.h"
#include "sim/packet.h"
#include <stdlib.h>
#include <string.h>

int events_open(struct event_queue *q, uint32_t slots, int64_t slot_ps)
{
    memset(q, 0, sizeof *q);
    q->first_slot = INT64_MAX;
    q->first = EVENT_NONE;
    q->slot_mask = slots - 1;
    for (; slot_ps > 1; slot_ps >>= 1)
        q->slot_shift++;
    q->words = array_grow(NULL, 0, slots / 64 * sizeof *q->words + slots * sizeof *q->slots);
    if (!q->words)
        return -1;
    q->slots = (struct slot *)(q->words + slots / 64);
    q->wheel_end_ps = (int64_t)slots << q->slot_shift;
    return 0;
}

void events_close(struct event_queue *q)
{
    free(q->events);
    free(q->heap);
    free(q->words);
}

uint32_t events_add(struct event_queue *q, uint8_t kind, uint32_t object)
{
    if (q->count == q->capacity) {
        uint32_t capacity = q->capacity ? q->capacity * 2 : 8;
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

size_t events_bytes(const struct event_queue *q)
{
    size_t slots = q->slot_mask + 1u;
    return slots / 64 * sizeof *q->words + slots * sizeof *q->slots +
           q->capacity * (sizeof *q->events + sizeof *q->heap);
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
        if (!event_before(&q->events[id], &q->events[q->heap[parent]]))
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
        if (child + 1 < q->heap_count &&
            event_before(&q->events[q->heap[child + 1]], &q->events[q->heap[child]]))
            child++;
        if (!event_before(&q->events[q->heap[child]], &q->events[id]))
            break;
        heap_put(q, position, q->heap[child]);
        position = child;
    }
    heap_put(q, position, id);
}

void events_heap_insert(struct event_queue *q, uint32_t id)
{
    q->events[id].place = EVENT_IN_HEAP;
    heap_up(q, q->heap_count++, id);
}

void events_heap_remove(struct event_queue *q, uint32_t id)
{
    uint32_t position = q->events[id].next;
    uint32_t last = q->heap[--q->heap_count];
    q->events[id].place = EVENT_IDLE;
    if (last == id) {
        return;
    }
    if (position && event_before(&q->events[last], &q->events[q->heap[(position - 1) / 2]]))
        heap_up(q, position, last);
    else
        heap_down(q, position, last);
}

void events_turn(struct event_queue *q)
{
    int64_t next_ps = events_next_ps(q);
    if (next_ps == INT64_MAX)
        return;
    q->wheel_end_ps = ((next_ps >> q->slot_shift) + q->slot_mask + 1) << q->slot_shift;
    while (q->heap_count && q->events[q->heap[0]].time_ps < q->wheel_end_ps) {
        uint32_t id = q->heap[0];
        events_heap_remove(q, id);
        events_wheel_insert(q, id, q->events[id].time_ps >> q->slot_shift);
    }
}

void events_find(struct event_queue *q, int64_t from_slot)
{
    uint32_t start = (uint32_t)from_slot & q->slot_mask, words = (q->slot_mask + 1) / 64;
    for (uint32_t i = 1; i <= words; i++) {
        uint32_t word = ((start >> 6) + i) & (words - 1);
        if (!q->words[word])
            continue;
        uint32_t index = word << 6 | (uint32_t)__builtin_ctzll(q->words[word]);
        q->first_slot = from_slot + ((index - start) & q->slot_mask);
        q->first = q->slots[index].head;
        return;
    }
    q->first_slot = INT64_MAX;
    q->first = EVENT_NONE;
}

void events_wheel_sort_in(struct event_queue *q, uint32_t id, struct slot *slot)
{
    struct event *events = q->events, *event = &events[id];
    uint32_t after = slot->tail;
    while (after != slot->head && event_before(event, &events[events[after].prev]))
        after = events[after].prev;
    event->next = after;
    event->prev = events[after].prev;
    events[after].prev = id;
    if (after != slot->head) {
        events[event->prev].next = id;
        return;
    }
    slot->head = id;
    if (q->first == after)
        q->first = id;
}
