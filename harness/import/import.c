#include "harness/import/import.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/grow.h"
#include "lib/joined.h"
#include "lib/text.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int import_begin(struct import *import, const char *format, struct error *e)
{
    *import = (struct import){.format = format, .notes = json_array()};
    return import->notes ? 0 : error_set(e, "out of memory");
}

void import_free(struct import *import)
{
    if (import->schedule)
        schedule_free(import->schedule);
    free(import->schedule);
    free(import->is_switch);
    free(import->left_out);
    free(import->sampled);
    free(import->is_nvswitch);
    free(import->server);
    free(import->ports);
    free(import->nvlinks);
    free(import->links);
    free(import->flows);
    free(import->waits);
    free(import->ecn_of);
    for (size_t i = 0; i < sizeof import->files / sizeof *import->files; i++)
        free(import->files[i]);
    json_decref(import->lab_values);
    json_decref(import->scenario_values);
    json_decref(import->ecn);
    json_decref(import->topology);
    json_decref(import->names);
    json_decref(import->notes);
    memset(import, 0, sizeof *import);
}

int import_nodes(struct import *import, size_t count, struct error *e)
{
    import->nodes = count;
    import->is_switch = calloc(count + 1, sizeof *import->is_switch);
    import->left_out = calloc(count + 1, sizeof *import->left_out);
    import->sampled = calloc(count + 1, sizeof *import->sampled);
    import->is_nvswitch = calloc(count + 1, sizeof *import->is_nvswitch);
    import->server = calloc(count + 1, sizeof *import->server);
    import->ports = calloc(count + 1, sizeof *import->ports);
    import->nvlinks = calloc(count + 1, sizeof *import->nvlinks);
    return import->is_switch && import->left_out && import->sampled && import->is_nvswitch &&
                   import->server && import->ports && import->nvlinks
               ? 0
               : error_set(e, "out of memory");
}

#define APPEND(items, count, item)                                \
    void *grown = grow_by_one((items), (count), sizeof *(items)); \
    if (!grown)                                                   \
        return error_set(e, "out of memory");                     \
    (items) = grown;                                              \
    (items)[(count)++] = *(item);                                 \
    return 0

int import_add_link(struct import *import, const struct import_link *link, struct error *e)
{
    APPEND(import->links, import->link_count, link);
}

int import_add_flow(struct import *import, const struct import_flow *flow, struct error *e)
{
    APPEND(import->flows, import->flow_count, flow);
}

int import_add_wait(struct import *import, const struct import_wait *wait, struct error *e)
{
    APPEND(import->waits, import->wait_count, wait);
}

void import_note(const struct import *import, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_array_append_new(import->notes, json_text_list(format, list));
    va_end(list);
}

json_t *import_names(const struct import *import, size_t first, size_t last)
{
    if (import->names)
        return json_incref(json_array_get(import->names, first));
    char kind = import->is_switch[first] ? 's' : 'h';
    return first == last ? json_textf("%c%zu", kind, first) : json_textf("%c[%zu-%zu]", kind, first, last);
}

json_t *import_name(const struct import *import, size_t node)
{
    return import_names(import, node, node);
}

json_t *import_port_names(const struct import *import, size_t first, size_t last, int port)
{
    json_t *hosts = import_names(import, first, last), *names = NULL;
    if (port == IMPORT_ONE_PORT)
        return hosts;
    names = json_textf("%s.%s%d", json_string_value(hosts), port > 0 ? "port" : "nvlink", abs(port) - 1);
    json_decref(hosts);
    return names;
}

json_t *import_port_name(const struct import *import, size_t node, int port)
{
    return import_port_names(import, node, node, port);
}

/* ---- the network */

static int by_ends(const void *a, const void *b)
{
    const struct import_link *const *x = a, *const *y = b;
    uint32_t x_low = (*x)->a < (*x)->b ? (*x)->a : (*x)->b, y_low = (*y)->a < (*y)->b ? (*y)->a : (*y)->b;
    uint32_t x_high = (*x)->a ^ (*x)->b ^ x_low, y_high = (*y)->a ^ (*y)->b ^ y_low;
    if (x_low != y_low)
        return x_low < y_low ? -1 : 1;
    if (x_high != y_high)
        return x_high < y_high ? -1 : 1;
    return ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

static int check_pairs(const struct import *import, const struct reader *network, struct error *e)
{
    const struct import_link **sorted = calloc(import->link_count + 1, sizeof(const struct import_link *));
    if (!sorted)
        return error_set(e, "out of memory");
    int result = 0;
    for (size_t i = 0; i < import->link_count; i++)
        sorted[i] = &import->links[i];
    qsort(sorted, import->link_count, sizeof(const struct import_link *), by_ends);
    for (size_t i = 1; result == 0 && i < import->link_count; i++) {
        const struct import_link *one = sorted[i - 1], *other = sorted[i];
        if ((one->a == other->a && one->b == other->b) || (one->a == other->b && one->b == other->a))
            result =
                reader_error(network, other->line, e,
                             "a second link between %u and %u: %s routes over one of them, a lab over both "
                             "(the first is on line %u)",
                             other->a, other->b, import->format, one->line);
    }
    free(sorted);
    return result;
}

int import_check_network(const struct import *import, const struct reader *network, struct error *e)
{
    bool *has_link = calloc(import->nodes + 1, sizeof *has_link);
    if (!has_link)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < import->link_count; i++)
        has_link[import->links[i].a] = has_link[import->links[i].b] = true;
    int result = 0;
    for (size_t i = 0; result == 0 && i < import->nodes; i++)
        if (!import->is_switch[i] && !has_link[i])
            result = error_set(e, "%s: host %zu has no link", network->path, i);
    free(has_link);
    return result == 0 ? check_pairs(import, network, e) : -1;
}

/* No path leads through a host: where each has one link, nodes that links join are joined by a path. */
int import_check_paths(const struct import *import, const struct reader *flows, struct error *e)
{
    uint32_t *joined = joined_make(import->nodes);
    if (!joined)
        return error_set(e, "out of memory");
    int result = 0;
    for (size_t i = 0; i < import->link_count; i++)
        joined_link(joined, import->links[i].a, import->links[i].b);
    for (size_t i = 0; result == 0 && i < import->flow_count; i++) {
        const struct import_flow *flow = &import->flows[i];
        if (!joined_are(joined, flow->from, flow->to))
            result = reader_error(flows, flow->line, e, "no path leads from host %u to host %u", flow->from,
                                  flow->to);
    }
    free(joined);
    return result;
}

/* ---- a document as people write it */

static void add_value(struct text *out, const json_t *value)
{
    char *compact = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (compact)
        text_add_bytes(out, compact, strlen(compact));
    else
        out->failed = true;
    free(compact);
}

static void add_key(struct text *out, const char *key)
{
    json_t *name = json_text(key);
    add_value(out, name);
    json_decref(name);
    text_add(out, ": ");
}

#define LINE 100

/* Lists of objects, and objects that are longer than a line, have a line for each item. */
static bool is_long(const json_t *value)
{
    if (json_is_array(value))
        return json_is_object(json_array_get(value, 0));
    return json_is_object(value) && json_dumpb(value, NULL, 0, 0) > LINE;
}

static void add_items(struct text *out, const json_t *value)
{
    const char *between = "\n    ", *key;
    const json_t *item;
    size_t i;
    if (json_is_array(value)) {
        text_add(out, "[");
        json_array_foreach(value, i, item)
        {
            text_add(out, "%s", between);
            add_value(out, item);
            between = ",\n    ";
        }
        text_add(out, "\n  ]");
        return;
    }
    text_add(out, "{");
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        text_add(out, "%s", between);
        add_key(out, key);
        add_value(out, item);
        between = ",\n    ";
    }
    text_add(out, "\n  }");
}

int import_write(const char *path, const json_t *document, struct error *e)
{
    struct text out = {0};
    const char *between = "\n  ", *key;
    const json_t *value;
    text_add(&out, "{");
    json_object_foreach((json_t *)(uintptr_t)document, key, value)
    {
        text_add(&out, "%s", between);
        add_key(&out, key);
        if (is_long(value))
            add_items(&out, value);
        else
            add_value(&out, value);
        between = ",\n  ";
    }
    text_add(&out, "\n}\n");
    int result = out.failed ? error_set(e, "writing %s: out of memory", path)
                            : files_write_atomic(path, text_string(&out), out.length, e);
    text_free(&out);
    return result;
}
