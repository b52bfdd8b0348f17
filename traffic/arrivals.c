#include "traffic/arrivals.h"

#include "lib/clock.h"
#include "lib/log.h"
#include <errno.h>
#include <inttypes.h>

static bool is_free(const struct arrival *place)
{
    return place->since_ns == 0;
}

static void leave(struct arrival *place)
{
    control_close(&place->control);
    place->since_ns = 0;
}

/* A stranger must not fill a log: only every doubling of the count is mentioned. */
static void refuse(struct arrivals *a, struct arrival *place, const char *why)
{
    control_say_error(&place->control, why);
    leave(place);
    a->refused++;
    if (a->refused & (a->refused - 1))
        return;
    log_error("connection refused: %s (%" PRIu64 " so far)", why, a->refused);
    output_line(a->output, output_error("", "REFUSED", why));
}

size_t arrivals_poll(const struct arrivals *a, struct pollfd *fds)
{
    size_t count = 0;
    fds[count++] = (struct pollfd){.fd = listener_descriptor(a->listener), .events = POLLIN};
    for (size_t i = 0; i < ARRIVALS_MOST; i++)
        if (!is_free(&a->places[i]))
            fds[count++] = (struct pollfd){.fd = a->places[i].control.fd, .events = POLLIN};
    return count;
}

/* ---- places */

static struct arrival *oldest(struct arrivals *a)
{
    struct arrival *found = NULL;
    for (size_t i = 0; i < ARRIVALS_MOST; i++)
        if (!is_free(&a->places[i]) && (!found || a->places[i].since_ns < found->since_ns))
            found = &a->places[i];
    return found;
}

static struct arrival *make_place(struct arrivals *a)
{
    for (size_t i = 0; i < ARRIVALS_MOST; i++)
        if (is_free(&a->places[i]))
            return &a->places[i];
    struct arrival *place = oldest(a);
    refuse(a, place, "too many connections have not said hello");
    return place;
}

/* At most as many as there are places: each of them is then looked at. */
void arrivals_accept(struct arrivals *a)
{
    for (size_t i = 0; i < ARRIVALS_MOST; i++) {
        struct error e;
        int fd = listener_accept(a->listener);
        struct arrival *place = fd >= 0 ? make_place(a) : errno == EMFILE ? oldest(a) : NULL;
        if (fd < 0 && place)
            refuse(a, place, "this server has no descriptor left");
        if (fd < 0)
            return;
        if (control_take(&place->control, fd, &e) == 0)
            place->since_ns = clock_monotonic_ns();
    }
}

/* After what came was read: a server that had no processor for a while has kept them waiting itself. */
static void turn_away_late(struct arrivals *a)
{
    int64_t now_ns = clock_monotonic_ns();
    for (size_t i = 0; i < ARRIVALS_MOST; i++)
        if (!is_free(&a->places[i]) && now_ns - a->places[i].since_ns > CONTROL_SETUP_NS)
            refuse(a, &a->places[i], "the connection did not say hello in time");
}

bool arrivals_next(struct arrivals *a, struct control *control)
{
    for (size_t i = 0; i < ARRIVALS_MOST; i++) {
        struct arrival *place = &a->places[i];
        struct error e;
        int greeted = is_free(place) ? 0 : control_admit(&place->control, a->secret, &e);
        if (greeted < 0)
            refuse(a, place, e.text);
        if (greeted <= 0)
            continue;
        *control = place->control;
        place->since_ns = 0;
        return true;
    }
    turn_away_late(a);
    return false;
}

void arrivals_close(struct arrivals *a)
{
    for (size_t i = 0; i < ARRIVALS_MOST; i++)
        if (!is_free(&a->places[i]))
            leave(&a->places[i]);
}
