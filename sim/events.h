/*
 * Event queue: a wheel of time slots with a bitmap, and a heap for events beyond the wheel's span.
 *
 * An event belongs to its object (a link's next arrival, a port's next transmission, a timer) and exists
 * once; scheduling moves it. So nothing is allocated after the build, and the queue holds few events: packets
 * in flight wait in their link's FIFO. Events of one time happen in the order in which they were scheduled.
 */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include "lib/error.h"
#include <stdbool.h>
#include <stdint.h>

#define EVENT_NONE      UINT32_MAX
#define WHEEL_SLOT_BITS 12
#define WHEEL_SLOTS     (1u << WHEEL_SLOT_BITS)
#define WHEEL_WORDS     (WHEEL_SLOTS / 64)
#define WHEEL_GROUPS    (WHEEL_WORDS / 64)

enum event_place { EVENT_IDLE, EVENT_IN_WHEEL, EVENT_IN_HEAP };

struct event {
    int64_t time_ps;
    uint32_t next, prev; /* in its slot; in the heap: its position, and its order of scheduling */
    uint32_t object;     /* index of its object */
    uint32_t hint; /* the packet that it will probably touch: may be fetched into the cache beforehand */
    uint8_t kind;  /* enum event_kind of model.h */
    uint8_t place;
    uint16_t
        late_ps; /* time_ps is later by this than the scheduled time, so that the event comes after others of the same time */
};

struct event_queue {
    struct event *events;
    uint32_t count, capacity;
    int slot_shift;     /* a slot is 2^slot_shift picoseconds */
    int64_t base_slot;  /* of the latest event: no pending event is earlier */
    int64_t first_slot; /* the first one in use; INT64_MAX: the wheel is empty */
    struct slot {
        uint32_t head, tail;
    } slots[WHEEL_SLOTS];
    uint64_t words[WHEEL_WORDS];   /* bit: slot in use */
    uint64_t groups[WHEEL_GROUPS]; /* bit: word not zero */
    uint32_t *heap;
    uint32_t heap_count, heap_order;
    int64_t heap_slot; /* of the heap's earliest event; INT64_MAX: empty */
};

/* slot_ps is rounded down to a power of two. */
void events_open(struct event_queue *q, int64_t slot_ps);
void events_close(struct event_queue *q);
/* A new event of this kind and object, idle. Returns its index, EVENT_NONE when memory ran out. Only while
 * building. */
uint32_t events_add(struct event_queue *q, uint8_t kind, uint32_t object);

/* How many are scheduled: a walk over all, for reports. */
uint32_t events_pending(const struct event_queue *q);

void events_heap_insert(struct event_queue *q, uint32_t id);
void events_heap_remove(struct event_queue *q, uint32_t id);
/* Move what the wheel's span has reached from the heap to the wheel. */
void events_migrate(struct event_queue *q);
/* The first slot in use at or after this one, which must be within the wheel's span; INT64_MAX when the wheel
 * is empty. */
int64_t events_find(const struct event_queue *q, int64_t from_slot);

/* In a slot's list, `prev` of the first event and `next` of the last one are not read. */
static inline void events_wheel_insert(struct event_queue *q, uint32_t id, int64_t slot_number)
{
    struct event *events = q->events, *event = &events[id];
    uint32_t index = (uint32_t)slot_number & (WHEEL_SLOTS - 1);
    struct slot *slot = &q->slots[index];
    uint64_t bit = UINT64_C(1) << (index & 63), word = q->words[index >> 6];
    event->place = EVENT_IN_WHEEL;
    if (!(word & bit)) {
        if (slot_number < q->first_slot)
            q->first_slot = slot_number;
        q->words[index >> 6] = word | bit;
        if (!word)
            q->groups[index >> 12] |= UINT64_C(1) << ((index >> 6) & 63);
        slot->head = slot->tail = id;
        return;
    }
    if (events[slot->tail].time_ps <= event->time_ps) {
        event->prev = slot->tail;
        events[slot->tail].next = id;
        slot->tail = id;
        return;
    }
    uint32_t after = slot->tail;
    while (after != slot->head && events[events[after].prev].time_ps > event->time_ps)
        after = events[after].prev;
    event->next = after;
    event->prev = events[after].prev;
    events[after].prev = id;
    if (after == slot->head)
        slot->head = id;
    else
        events[event->prev].next = id;
}

/* A slot has become empty. If it was the first, find the next; its word nearly always has it. */
static inline void events_wheel_clear(struct event_queue *q, int64_t slot_number)
{
    uint32_t index = (uint32_t)slot_number & (WHEEL_SLOTS - 1);
    uint64_t left = q->words[index >> 6] &= ~(UINT64_C(1) << (index & 63));
    if (!left)
        q->groups[index >> 12] &= ~(UINT64_C(1) << ((index >> 6) & 63));
    if (slot_number != q->first_slot)
        return;
    uint64_t after = left >> (index & 63);
    q->first_slot = after ? slot_number + __builtin_ctzll(after) : events_find(q, slot_number);
}

static inline void events_wheel_remove(struct event_queue *q, uint32_t id)
{
    struct event *event = &q->events[id];
    int64_t slot_number = event->time_ps >> q->slot_shift;
    struct slot *slot = &q->slots[(uint32_t)slot_number & (WHEEL_SLOTS - 1)];
    event->place = EVENT_IDLE;
    if (slot->head == slot->tail) {
        events_wheel_clear(q, slot_number);
    } else if (slot->head == id) {
        slot->head = event->next;
    } else if (slot->tail == id) {
        slot->tail = event->prev;
    } else {
        q->events[event->prev].next = event->next;
        q->events[event->next].prev = event->prev;
    }
}

/* The time that it is scheduled for. */
static inline int64_t event_time_ps(const struct event *event)
{
    return event->time_ps - event->late_ps;
}

static inline bool event_is_pending(const struct event_queue *q, uint32_t id)
{
    return q->events[id].place != EVENT_IDLE;
}

static inline void event_cancel(struct event_queue *q, uint32_t id)
{
    struct event *event = &q->events[id];
    if (event->place == EVENT_IDLE)
        return;
    if (event->place == EVENT_IN_HEAP)
        events_heap_remove(q, id);
    else
        events_wheel_remove(q, id);
}

/* Let an idle event happen at time_ps, which is not before the latest event. */
static inline void event_schedule(struct event_queue *q, uint32_t id, int64_t time_ps)
{
    struct event *event = &q->events[id];
    event->time_ps = time_ps += event->late_ps;
    int64_t slot = time_ps >> q->slot_shift;
    if (slot - q->base_slot < WHEEL_SLOTS)
        events_wheel_insert(q, id, slot);
    else
        events_heap_insert(q, id);
}

/* Move an event to time_ps, pending or not. */
static inline void event_reschedule(struct event_queue *q, uint32_t id, int64_t time_ps)
{
    event_cancel(q, id);
    event_schedule(q, id, time_ps);
}

/* The earliest event of the wheel; EVENT_NONE when the wheel is empty. */
static inline uint32_t events_coming(const struct event_queue *q)
{
    if (q->first_slot == INT64_MAX)
        return EVENT_NONE;
    return q->slots[(uint32_t)q->first_slot & (WHEEL_SLOTS - 1)].head;
}

/* The earliest event of all, if it comes before until_ps; else EVENT_NONE, or one that does not. */
static inline uint32_t events_first(struct event_queue *q, int64_t until_ps)
{
    uint32_t id = events_coming(q);
    if (id != EVENT_NONE || !q->heap_count || q->events[q->heap[0]].time_ps >= until_ps)
        return id;
    q->base_slot = q->heap_slot;
    events_migrate(q);
    return events_coming(q);
}

/* Remove the earliest event; the caller passes its index. */
static inline void events_take(struct event_queue *q, uint32_t id)
{
    struct event *event = &q->events[id];
    struct slot *slot = &q->slots[(uint32_t)q->first_slot & (WHEEL_SLOTS - 1)];
    event->place = EVENT_IDLE;
    q->base_slot = q->first_slot;
    if (id == slot->tail)
        events_wheel_clear(q, q->first_slot);
    else
        slot->head = event->next;
    if (q->heap_slot - q->base_slot < WHEEL_SLOTS)
        events_migrate(q);
}

/* Take the earliest event before until_ps; EVENT_NONE when there is none. */
static inline uint32_t events_pop(struct event_queue *q, int64_t until_ps)
{
    uint32_t id = events_first(q, until_ps);
    if (id == EVENT_NONE || q->events[id].time_ps >= until_ps)
        return EVENT_NONE;
    events_take(q, id);
    return id;
}

#endif
