/*
 * Event queue: a wheel of time slots with a bitmap, and a heap for events beyond the wheel's span.
 *
 * An event belongs to its object (a link's next arrival, a port's next transmission, a timer) and exists
 * once; scheduling moves it. So nothing is allocated after the build, and the queue holds few events: packets
 * in flight wait in their link's FIFO.
 *
 * Events of one time happen in the order in which they were scheduled. An event that a queue learns of late
 * (a frame that another island sent) brings with it when it was scheduled, and its order among those that
 * were scheduled at the same time.
 */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_NONE       UINT32_MAX
#define WHEEL_MOST_SLOTS 16384u

enum event_place { EVENT_IDLE, EVENT_IN_WHEEL, EVENT_IN_HEAP };

struct event {
    int64_t time_ps;
    /* Which of equal times comes first, the one that was scheduled first: when (twice the time; odd: after
     * the others of this time), and the order among those. */
    int64_t since;
    uint32_t order;
    uint32_t next, prev; /* in its slot; in the heap: its position */
    uint32_t object;     /* index of its object */
    uint32_t hint; /* the packet that it will probably touch: may be fetched into the cache beforehand */
    uint8_t kind;  /* enum event_kind of model.h */
    uint8_t place;
};

struct event_queue {
    struct event *events;
    struct slot {
        uint32_t head, tail;
    } * slots;
    uint64_t *words;      /* bit: slot in use */
    int64_t first_slot;   /* the first one in use; INT64_MAX: the wheel is empty */
    uint32_t first;       /* the first one's first event; EVENT_NONE: the wheel is empty */
    uint32_t slot_mask;   /* number of slots, less one */
    int slot_shift;       /* a slot is 2^slot_shift picoseconds */
    int64_t now_ps;       /* of the latest event */
    int64_t wheel_end_ps; /* the wheel has the events before it, the heap those after it */
    uint32_t next_order;  /* of the next event that is scheduled */
    uint32_t *heap;
    uint32_t heap_count, count, capacity;
};

/* A wheel of this number of slots, a power of two between 64 and WHEEL_MOST_SLOTS; slot_ps is rounded down to
 * a power of two. -1 when memory ran out. */
int events_open(struct event_queue *q, uint32_t slots, int64_t slot_ps);
void events_close(struct event_queue *q);
/* A new event of this kind and object, idle. Returns its index, EVENT_NONE when memory ran out. Only while
 * building. */
uint32_t events_add(struct event_queue *q, uint8_t kind, uint32_t object);

/* How many are scheduled: a walk over all, for reports. */
uint32_t events_pending(const struct event_queue *q);
/* Bytes of memory. */
size_t events_bytes(const struct event_queue *q);

void events_heap_insert(struct event_queue *q, uint32_t id);
void events_heap_remove(struct event_queue *q, uint32_t id);
/* Turn the wheel on to the earliest event: what its span reaches moves from the heap to it. */
void events_turn(struct event_queue *q);
/* Look for the first slot in use after this one, which was the first. */
void events_find(struct event_queue *q, int64_t from_slot);
/* Put an event into a slot in use, before its last one. */
void events_wheel_sort_in(struct event_queue *q, uint32_t id, struct slot *slot);

static inline bool event_before(const struct event *a, const struct event *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    return a->since != b->since ? a->since < b->since : (int32_t)(a->order - b->order) < 0;
}

/* In a slot's list, `prev` of the first event and `next` of the last one are not read. */
static inline void events_wheel_insert(struct event_queue *q, uint32_t id, int64_t slot_number)
{
    struct event *events = q->events, *event = &events[id];
    uint32_t index = (uint32_t)slot_number & q->slot_mask;
    struct slot *slot = &q->slots[index];
    uint64_t bit = UINT64_C(1) << (index & 63), word = q->words[index >> 6];
    event->place = EVENT_IN_WHEEL;
    if (!(word & bit)) {
        if (slot_number < q->first_slot) {
            q->first_slot = slot_number;
            q->first = id;
        }
        q->words[index >> 6] = word | bit;
        slot->head = slot->tail = id;
    } else if (event_before(&events[slot->tail], event)) {
        event->prev = slot->tail;
        events[slot->tail].next = id;
        slot->tail = id;
    } else {
        events_wheel_sort_in(q, id, slot);
    }
}

/* A slot has become empty. If it was the first, find the next; its word nearly always has it. */
static inline void events_wheel_clear(struct event_queue *q, int64_t slot_number)
{
    uint32_t index = (uint32_t)slot_number & q->slot_mask;
    uint64_t left = q->words[index >> 6] &= ~(UINT64_C(1) << (index & 63));
    if (slot_number != q->first_slot)
        return;
    uint64_t after = left >> (index & 63);
    if (__builtin_expect(after != 0, 1)) {
        q->first_slot = slot_number + __builtin_ctzll(after);
        q->first = q->slots[(uint32_t)q->first_slot & q->slot_mask].head;
    } else {
        events_find(q, slot_number);
    }
}

static inline void events_wheel_remove(struct event_queue *q, uint32_t id)
{
    struct event *event = &q->events[id];
    int64_t slot_number = event->time_ps >> q->slot_shift;
    struct slot *slot = &q->slots[(uint32_t)slot_number & q->slot_mask];
    event->place = EVENT_IDLE;
    if (slot->head == slot->tail) {
        events_wheel_clear(q, slot_number);
    } else if (slot->head == id) {
        slot->head = event->next;
        if (slot_number == q->first_slot)
            q->first = slot->head;
    } else if (slot->tail == id) {
        slot->tail = event->prev;
    } else {
        q->events[event->prev].next = event->next;
        q->events[event->next].prev = event->prev;
    }
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

/* Let an idle event happen at time_ps, which is not before the latest event, as if it had been scheduled
 * then. */
static inline void event_schedule_as(struct event_queue *q, uint32_t id, int64_t time_ps, int64_t since,
                                     uint32_t order)
{
    struct event *event = &q->events[id];
    event->time_ps = time_ps;
    event->since = since;
    event->order = order;
    if (time_ps < q->wheel_end_ps)
        events_wheel_insert(q, id, time_ps >> q->slot_shift);
    else
        events_heap_insert(q, id);
}

/* Let an idle event happen at time_ps, which is not before the latest event. */
static inline void event_schedule(struct event_queue *q, uint32_t id, int64_t time_ps)
{
    event_schedule_as(q, id, time_ps, 2 * q->now_ps, q->next_order++);
}

/* Move an event to time_ps, pending or not. */
static inline void event_reschedule(struct event_queue *q, uint32_t id, int64_t time_ps)
{
    event_cancel(q, id);
    event_schedule(q, id, time_ps);
}

/* The time of the earliest event; INT64_MAX: there is none. */
static inline int64_t events_next_ps(const struct event_queue *q)
{
    if (q->first != EVENT_NONE)
        return q->events[q->first].time_ps;
    return q->heap_count ? q->events[q->heap[0]].time_ps : INT64_MAX;
}

/* The earliest event of the wheel; EVENT_NONE when the wheel is empty. */
static inline uint32_t events_coming(const struct event_queue *q)
{
    return q->first;
}

/* Remove the earliest event of the wheel, which is this one. */
static inline void events_take(struct event_queue *q, uint32_t id)
{
    struct slot *slot = &q->slots[(uint32_t)q->first_slot & q->slot_mask];
    struct event *event = &q->events[id];
    q->now_ps = event->time_ps;
    event->place = EVENT_IDLE;
    if (id == slot->tail)
        events_wheel_clear(q, q->first_slot);
    else
        slot->head = q->first = event->next;
}

/* Take the earliest event before until_ps; EVENT_NONE when there is none. */
static inline uint32_t events_pop(struct event_queue *q, int64_t until_ps)
{
    if (events_next_ps(q) >= until_ps)
        return EVENT_NONE;
    if (q->first == EVENT_NONE)
        events_turn(q);
    uint32_t id = events_coming(q);
    events_take(q, id);
    return id;
}

#endif
