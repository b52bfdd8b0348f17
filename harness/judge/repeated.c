#include "harness/judge/repeated.h"

#include "harness/plan/decidable.h"
#include "harness/judge/spreads.h"
#include "harness/judge/over.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"

bool repeated_wanted(const struct plan *plan, size_t repeats)
{
    return repeats > 1 || (plan->cell_count > 1 && plan_compares(plan));
}

/* ---- a cell */

struct gathered {
    json_t *folders;
    struct spreads spreads;
    struct over over;
};

static void take_run(const struct repeated_source *source, struct gathered *g, size_t repeat,
                     const char *name, const json_t *result)
{
    json_t *other = NULL;
    size_t loaded = NO_CELL;
    for (size_t i = 0; i < g->over.count; i++) {
        struct over_item *item = &g->over.items[i];
        if (item->other != NO_CELL && item->other != loaded && !item->why) {
            json_decref(other);
            other = source->load(source->context, item->other * source->repeats + repeat);
            loaded = item->other;
        }
        over_take(item, name, result, item->other != NO_CELL ? other : NULL);
    }
    json_decref(other);
}

static int gather(const struct repeated_source *source, size_t cell, struct gathered *g, struct error *e)
{
    int outcome = 0;
    for (size_t r = 0; outcome == 0 && r < source->repeats; r++) {
        size_t run = cell * source->repeats + r;
        const char *name = source->name(source->context, run);
        json_t *result = name ? source->load(source->context, run) : NULL;
        if (!result)
            continue;
        json_array_append_new(g->folders, json_text(name));
        if (spreads_add_result(&g->spreads, result) != 0)
            outcome = error_set(e, "out of memory for the figures of %s", name);
        take_run(source, g, r, name, result);
        json_decref(result);
    }
    return outcome;
}

static bool fits(struct room needed, struct room room)
{
    return needed.text <= room.text && needed.memory <= room.memory;
}

/* The entry of the index, with as many figures as there is room for; NULL if there is none for the rest. */
static json_t *entry_of(const struct repeated_source *source, const struct gathered *g,
                        const struct repeated_cell *judged, struct room room)
{
    size_t left_out = 0;
    json_t *entry = json_make("{s:O,s:O}", "cell", judged->cell->choice, "folders", g->folders);
    if (json_array_size(judged->expectations))
        json_object_set(entry, "expectations", judged->expectations);
    if (json_array_size(judged->published))
        json_object_set(entry, "published", judged->published);
    struct room rest = room_of(entry, 4);
    if (!fits(rest, room)) {
        json_decref(entry);
        return NULL;
    }
    if (source->repeats == 1)
        return entry; /* the figures are the run's own */
    room = (struct room){room.text - rest.text, room.memory - rest.memory};
    json_object_set_new(entry, "figures", spreads_json(&g->spreads, room, &left_out));
    if (left_out)
        json_object_set_new(entry, "figures_left_out", json_integer((json_int_t)left_out));
    return entry;
}

static void add_cell(const struct repeated_source *source, const struct cell *cell, const struct gathered *g,
                     struct room room, struct repeated *out)
{
    struct repeated_cell judged = {.cell = cell, .goodput_bps = spreads_of(&g->spreads, "goodput_bps")};
    judged.expectations = over_expectations(&g->over, &judged.verdict);
    judged.published = over_published(&g->over);
    out->with[judged.verdict] += json_array_size(judged.expectations) > 0;
    source->judged(source->context, &judged);
    json_t *entry = entry_of(source, g, &judged, room);
    if (entry)
        json_array_append_new(out->cells, entry);
    else
        out->left_out++;
    json_decref(judged.expectations);
    json_decref(judged.published);
}

static int make_cell(const struct repeated_source *source, size_t i, const struct cell_places *places,
                     struct room room, struct repeated *out, struct error *e)
{
    const struct verdict_scope scope = {source->repeats, source->plan->cell_count};
    struct gathered g = {.folders = json_array()};
    struct cell cell;
    int result = plan_cell(source->plan, i, &cell, e);
    if (result != 0) {
        json_decref(g.folders);
        return result;
    }
    result = over_open(&g.over, &cell, &scope, places, e);
    if (result == 0 && (source->repeats > 1 || g.over.count))
        result = gather(source, i, &g, e);
    if (result == 0 && json_array_size(g.folders))
        add_cell(source, &cell, &g, room, out);
    json_decref(g.folders);
    over_close(&g.over);
    spreads_free(&g.spreads);
    cell_free(&cell);
    return result;
}

/* ---- all */

/* What is left of an index that can be read again, in equal shares. */
static struct room share_of(const struct repeated_source *source)
{
    struct room room, taken = room_of(source->index, 0);
    size_t cells = source->plan->cell_count;
    json_file_limits(DOCUMENT_INDEX, &room.text, &room.memory);
    room.text -= room.text / 16; /* for the words around it */
    room.memory -= room.memory / 16;
    room.text = taken.text < room.text ? (room.text - taken.text) / cells : 0;
    room.memory = taken.memory < room.memory ? (room.memory - taken.memory) / cells : 0;
    return room;
}

int repeated_make(const struct repeated_source *source, struct repeated *out, struct error *e)
{
    struct cell_places places = {0};
    struct room share = share_of(source);
    *out = (struct repeated){.cells = json_array()};
    int result = out->cells ? cell_places_make(&places, source->plan, e) : error_set(e, "out of memory");
    for (size_t i = 0; result == 0 && i < source->plan->cell_count; i++)
        result = make_cell(source, i, &places, share, out, e);
    cell_places_free(&places);
    return result;
}
