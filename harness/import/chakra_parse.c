/* Messages of protobuf, as far as a Node of Chakra needs them. Unknown fields are passed over. */
#include "harness/import/chakra.h"
#include "lib/document/json_text.h"
#include "lib/grow.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int chakra_error(const struct chakra_trace *trace, uint64_t node, struct error *e, const char *format, ...)
{
    char words[400];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return error_set(e, "%.300s: node %" PRIu64 ": %s", trace->path, node, words);
}

/* ---- the wire format (protobuf.dev/programming-guides/encoding) */

enum { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

struct wire {
    const unsigned char *at, *end;
};

struct wire_field {
    uint64_t number, value;
    struct wire bytes; /* of WIRE_BYTES */
    unsigned type;
};

static bool wire_varint(struct wire *w, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        *value |= (uint64_t)(*w->at & 0x7f) << shift;
        if (!(*w->at++ & 0x80))
            return true;
    }
    return false;
}

static bool wire_fixed(struct wire *w, unsigned bytes, uint64_t *value)
{
    *value = 0;
    if ((size_t)(w->end - w->at) < bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        *value |= (uint64_t)*w->at++ << 8 * i;
    return true;
}

static bool wire_bytes(struct wire *w, struct wire *bytes)
{
    uint64_t length;
    if (!wire_varint(w, &length) || length > (uint64_t)(w->end - w->at))
        return false;
    *bytes = (struct wire){w->at, w->at + length};
    w->at += length;
    return true;
}

/* 1: a field; 0: the end; -1: neither. */
static int wire_next(struct wire *w, struct wire_field *field)
{
    uint64_t key;
    bool whole = false;
    *field = (struct wire_field){0};
    if (w->at == w->end)
        return 0;
    if (!wire_varint(w, &key))
        return -1;
    field->number = key >> 3;
    field->type = key & 7;
    if (field->type == WIRE_VARINT)
        whole = wire_varint(w, &field->value);
    else if (field->type == WIRE_BYTES)
        whole = wire_bytes(w, &field->bytes);
    else if (field->type == WIRE_8_BYTES || field->type == WIRE_4_BYTES)
        whole = wire_fixed(w, field->type == WIRE_8_BYTES ? 8 : 4, &field->value);
    return whole && field->number ? 1 : -1;
}

/* ---- attributes */

struct attribute {
    struct wire name, text;
    int64_t number;
    bool is_number, is_text, some_false; /* in a list of bool */
};

static int64_t limited(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t of_double(double value)
{
    return value >= 0 && value < 9e18 ? (int64_t)value : -1;
}

static bool list_has_false(struct wire list)
{
    struct wire_field field;
    uint64_t value;
    bool has = false;
    while (wire_next(&list, &field) == 1) {
        if (field.number != 1)
            continue;
        has = has || (field.type == WIRE_VARINT && !field.value);
        while (field.type == WIRE_BYTES && wire_varint(&field.bytes, &value))
            has = has || !value;
    }
    return has;
}

/* The schema's oneof: of numbers the plain, the zigzag and the fixed ones, float and double. */
static void take_value(struct attribute *attribute, const struct wire_field *field)
{
    double number;
    float small;
    uint32_t bits = (uint32_t)field->value;
    uint64_t zigzag = field->value >> 1 ^ (0 - (field->value & 1));
    attribute->is_number = true;
    switch (field->number << 3 | field->type) {
    case 3 << 3 | WIRE_8_BYTES:
        memcpy(&number, &field->value, sizeof number);
        attribute->number = of_double(number);
        break;
    case 5 << 3 | WIRE_4_BYTES:
        memcpy(&small, &bits, sizeof small);
        attribute->number = of_double(small);
        break;
    case 7 << 3 | WIRE_VARINT:
    case 9 << 3 | WIRE_VARINT:
    case 25 << 3 | WIRE_8_BYTES:
        attribute->number = (int64_t)field->value;
        break;
    case 23 << 3 | WIRE_4_BYTES:
        attribute->number = (int32_t)bits;
        break;
    case 11 << 3 | WIRE_VARINT:
    case 13 << 3 | WIRE_VARINT:
    case 19 << 3 | WIRE_4_BYTES:
    case 21 << 3 | WIRE_8_BYTES:
    case 27 << 3 | WIRE_VARINT:
        attribute->number = limited(field->value);
        break;
    case 15 << 3 | WIRE_VARINT:
    case 17 << 3 | WIRE_VARINT:
        attribute->number = (int64_t)zigzag;
        break;
    default:
        attribute->is_number = false;
    }
    if (field->type == WIRE_BYTES && field->number == 29) {
        attribute->text = field->bytes;
        attribute->is_text = true;
    }
    if (field->type == WIRE_BYTES && field->number == 28)
        attribute->some_false = list_has_false(field->bytes);
}

static bool wire_is(const struct wire *wire, const char *text)
{
    return (size_t)(wire->end - wire->at) == strlen(text) && memcmp(wire->at, text, strlen(text)) == 0;
}

/* The number of a group, a new one if it has none yet; UINT32_MAX: its name is no text. */
static uint32_t group_number(struct chakra *chakra, const struct attribute *attribute)
{
    char number[24], *name = NULL;
    if (attribute->is_text) {
        size_t length = (size_t)(attribute->text.end - attribute->text.at);
        name =
            memchr(attribute->text.at, 0, length) ? NULL : strndup((const char *)attribute->text.at, length);
    } else {
        snprintf(number, sizeof number, "%" PRId64, attribute->number);
        name = strdup(number);
    }
    json_t *known = name ? json_object_get(chakra->groups, name) : NULL;
    uint32_t result = UINT32_MAX;
    if (known)
        result = (uint32_t)json_integer_value(known);
    else if (name && json_object_set_new(chakra->groups, name,
                                         json_integer((json_int_t)json_object_size(chakra->groups))) == 0)
        result = (uint32_t)json_object_size(chakra->groups) - 1;
    free(name);
    return result;
}

static int take_attribute(struct chakra *chakra, struct chakra_node *node, struct wire message)
{
    struct attribute attribute = {0};
    struct wire_field field;
    int next;
    while ((next = wire_next(&message, &field)) == 1) {
        if (field.number == 1 && field.type == WIRE_BYTES)
            attribute.name = field.bytes;
        else if (field.number > 2)
            take_value(&attribute, &field);
    }
    const struct {
        const char *name;
        int64_t *value;
    } numbers[] = {{"comm_type", &node->comm_type}, {"comm_size", &node->comm_size},
                   {"comm_src", &node->from},       {"comm_dst", &node->to},
                   {"comm_tag", &node->tag},        {"root", &node->root},
                   {"num_ops", &node->operations}};
    if (next != 0 || !attribute.name.at)
        return next;
    for (size_t i = 0; attribute.is_number && i < sizeof numbers / sizeof *numbers; i++)
        if (wire_is(&attribute.name, numbers[i].name))
            *numbers[i].value = attribute.number;
    if (attribute.is_number && wire_is(&attribute.name, "is_cpu_op"))
        node->is_cpu = attribute.number != 0;
    if (wire_is(&attribute.name, "involved_dim"))
        node->some_dimensions = attribute.some_false;
    if ((attribute.is_number || attribute.is_text) && wire_is(&attribute.name, "pg_name"))
        node->group = group_number(chakra, &attribute);
    return node->group == UINT32_MAX ? -1 : 0;
}

/* ---- nodes */

static int add_dependency(struct chakra *chakra, struct chakra_trace *trace, uint64_t id, struct error *e)
{
    if (chakra->dependencies++ == CHAKRA_MOST_DEPENDENCIES)
        return error_set(e, "%s: more than %d dependencies up to here", trace->path,
                         CHAKRA_MOST_DEPENDENCIES);
    uint64_t *grown = grow_by_one(trace->dependencies, trace->dependency_count, sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    trace->dependencies = grown;
    grown[trace->dependency_count++] = id;
    return 0;
}

/* One, or many packed into bytes. */
static int take_dependencies(struct chakra *chakra, struct chakra_trace *trace, struct wire_field *field,
                             struct error *e)
{
    uint64_t id;
    if (field->type == WIRE_VARINT)
        return add_dependency(chakra, trace, field->value, e);
    while (field->type == WIRE_BYTES && field->bytes.at < field->bytes.end)
        if (!wire_varint(&field->bytes, &id))
            return error_set(e, "%s: a list of dependencies is cut off", trace->path);
        else if (add_dependency(chakra, trace, id, e) != 0)
            return -1;
    return 0;
}

static int take_node(struct chakra *chakra, struct chakra_trace *trace, struct wire message, struct error *e)
{
    struct chakra_node node = {.comm_type = CHAKRA_UNSAID,
                               .comm_size = CHAKRA_UNSAID,
                               .from = CHAKRA_UNSAID,
                               .to = CHAKRA_UNSAID,
                               .root = CHAKRA_UNSAID,
                               .first_dependency = trace->dependency_count};
    struct wire_field field;
    int next;
    while ((next = wire_next(&message, &field)) == 1) {
        if (field.number == 1 && field.type == WIRE_VARINT)
            node.id = field.value;
        else if (field.number == 3 && field.type == WIRE_VARINT)
            node.type = field.value > UINT32_MAX ? UINT32_MAX : (uint32_t)field.value;
        else if (field.number == 7 && field.type == WIRE_VARINT)
            node.duration_us = limited(field.value);
        else if ((field.number == 4 || field.number == 5) && take_dependencies(chakra, trace, &field, e) != 0)
            return -1;
        else if (field.number == 10 && field.type == WIRE_BYTES &&
                 take_attribute(chakra, &node, field.bytes) != 0)
            return chakra_error(trace, node.id, e, "an attribute of it is no message of the schema");
    }
    if (next != 0)
        return chakra_error(trace, node.id, e, "it is no message of the schema");
    node.dependencies = trace->dependency_count - node.first_dependency;
    if (chakra->nodes++ == IMPORT_MOST_OPERATIONS)
        return error_set(e, "%s: more than %d nodes up to here", trace->path, IMPORT_MOST_OPERATIONS);
    struct chakra_node *grown = grow_by_one(trace->nodes, trace->node_count, sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    trace->nodes = grown;
    grown[trace->node_count++] = node;
    return 0;
}

int chakra_parse(struct chakra *chakra, struct chakra_trace *trace, const unsigned char *bytes, size_t length,
                 struct error *e)
{
    struct wire file = {bytes, bytes + length}, message;
    if (length > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return error_set(e, "%s: it is compressed: gunzip it", trace->path);
    if (!chakra->groups && !(chakra->groups = json_make("{s:i}", "", 0)))
        return error_set(e, "out of memory");
    for (bool is_head = true; file.at < file.end; is_head = false) {
        size_t at = (size_t)(file.at - bytes);
        if (!wire_bytes(&file, &message))
            return error_set(e, "%s: at byte %zu: the file ends before the message that begins there",
                             trace->path, at);
        if (!is_head && take_node(chakra, trace, message, e) != 0)
            return -1;
    }
    return 0;
}
