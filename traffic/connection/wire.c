#include "traffic/connection/wire.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include <string.h>

/* ---- tables */

#define MAX_ADDRESS INT64_MAX

static const struct field hello_fields[] = {
    {.name = "protocol",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct hello, protocol),
     .required = true,
     .min = 1,
     .max = 1000},
    {.name = "version", .kind = FIELD_STRING, .offset = offsetof(struct hello, version), .required = true},
    {.name = "secret", .kind = FIELD_STRING, .offset = offsetof(struct hello, secret)},
    {0},
};

#define AT(member) offsetof(struct endpoint, member)
static const struct field endpoint_fields[] = {
    {.name = "gid", .kind = FIELD_STRING, .offset = AT(gid), .required = true},
    {.name = "device", .kind = FIELD_STRING, .offset = AT(device), .required = true},
    {.name = "route", .kind = FIELD_STRING, .offset = AT(route), .required = true},
    {.name = "address", .kind = FIELD_STRING, .offset = AT(address), .required = true},
    {.name = "rdma_port",
     .kind = FIELD_INTEGER,
     .offset = AT(rdma_port),
     .required = true,
     .min = 0,
     .max = 65535},
    {.name = "lid", .kind = FIELD_INTEGER, .offset = AT(lid), .required = true, .min = 0, .max = 65535},
    {.name = "mtu_bytes",
     .kind = FIELD_INTEGER,
     .offset = AT(mtu_bytes),
     .required = true,
     .min = 256,
     .max = 4096},
    {.name = "responder_reads",
     .kind = FIELD_INTEGER,
     .offset = AT(responder_reads),
     .required = true,
     .min = 0,
     .max = 255},
    {.name = "outgoing_address",
     .kind = FIELD_INTEGER,
     .offset = AT(outgoing_address),
     .required = true,
     .min = 0,
     .max = MAX_ADDRESS},
    {.name = "incoming_address",
     .kind = FIELD_INTEGER,
     .offset = AT(incoming_address),
     .required = true,
     .min = 0,
     .max = MAX_ADDRESS},
    {.name = "remote_key",
     .kind = FIELD_INTEGER,
     .offset = AT(remote_key),
     .required = true,
     .min = 0,
     .max = UINT32_MAX},
    {.name = "token",
     .kind = FIELD_INTEGER,
     .offset = AT(token),
     .required = true,
     .min = 0,
     .max = INT64_MAX},
    {.name = "queue_pairs",
     .kind = FIELD_LIST,
     .offset = AT(queue_pairs),
     .required = true,
     .item = FIELD_INTEGER,
     .min = 0,
     .max = 0xffffff},
    {.name = "packet_start",
     .kind = FIELD_LIST,
     .offset = AT(packet_start),
     .required = true,
     .item = FIELD_INTEGER,
     .min = 0,
     .max = 0xffffff},
    {0},
};
#undef AT

static const struct field sent_fields[] = {
    {.name = "counts",
     .kind = FIELD_LIST,
     .offset = offsetof(struct sent, counts),
     .required = true,
     .item = FIELD_INTEGER,
     .min = 0,
     .max = INT64_MAX},
    {0},
};

static const struct field phase_fields[] = {
    {.name = "message_bytes",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct phase, message_bytes),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_MESSAGE_BYTES},
    {0},
};

#define AT(member) offsetof(struct start, member)
static const struct field start_fields[] = {
    {.name = "start_in_ns",
     .kind = FIELD_INTEGER,
     .offset = AT(start_in_ns),
     .required = true,
     .min = 0,
     .max = INT64_MAX / 4},
    {.name = "warmup_ns",
     .kind = FIELD_INTEGER,
     .offset = AT(warmup_ns),
     .required = true,
     .min = 0,
     .max = INT64_MAX / 4},
    {.name = "duration_ns",
     .kind = FIELD_INTEGER,
     .offset = AT(duration_ns),
     .required = true,
     .min = 0,
     .max = INT64_MAX / 4},
    {.name = "count",
     .kind = FIELD_INTEGER,
     .offset = AT(count),
     .required = true,
     .min = 0,
     .max = INT64_MAX},
    {0},
};
#undef AT

static const struct field result_fields[] = {
    {.name = "received",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct result, received),
     .required = true,
     .min = 0,
     .max = INT64_MAX},
    {.name = "wrong_bytes",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct result, wrong_bytes),
     .required = true,
     .min = 0,
     .max = INT64_MAX},
    {.name = "text",
     .kind = FIELD_STRING,
     .offset = offsetof(struct result, text),
     .form = &form_any,
     .required = true},
    {0},
};

static const struct field line_fields[] = {
    {.name = "line", .kind = FIELD_JSON, .offset = offsetof(struct message_line, line), .required = true},
    {0},
};

static const struct field error_fields[] = {
    {.name = "text",
     .kind = FIELD_STRING,
     .offset = offsetof(struct message_error, text),
     .form = &form_any,
     .required = true},
    {0},
};

static const struct field no_fields[] = {{0}};

static int check_endpoint(const void *object, const char *path, struct error *e)
{
    const struct endpoint *endpoint = object;
    size_t pairs = endpoint->queue_pairs.count;
    (void)path;
    if (pairs > FLOW_MAX_QUEUE_PAIRS || endpoint->packet_start.count != pairs)
        return error_set(e, "%zu queue pairs with %zu packet sequence numbers", pairs,
                         endpoint->packet_start.count);
    return 0;
}

static const struct table hello_table = {.name = "hello",
                                         .help = "Program and version of the sender.",
                                         .size = sizeof(struct hello),
                                         .fields = hello_fields};
static const struct table endpoint_table = {.name = "endpoint",
                                            .help = "Queue pairs and memory of one side.",
                                            .size = sizeof(struct endpoint),
                                            .fields = endpoint_fields,
                                            .check = check_endpoint};
static const struct table phase_table = {
    .name = "phase", .help = "The next message size.", .size = sizeof(struct phase), .fields = phase_fields};
static const struct table start_table = {.name = "start",
                                         .help = "Start time and durations.",
                                         .size = sizeof(struct start),
                                         .fields = start_fields};
static const struct table result_table = {.name = "result",
                                          .help = "Counts of received data.",
                                          .size = sizeof(struct result),
                                          .fields = result_fields};
static const struct table line_table = {
    .name = "line", .help = "A flow line.", .size = sizeof(struct message_line), .fields = line_fields};
static const struct table error_table = {.name = "error",
                                         .help = "Reason for the end.",
                                         .size = sizeof(struct message_error),
                                         .fields = error_fields};
static const struct table sent_table = {
    .name = "sent", .help = "Counts of sent data.", .size = sizeof(struct sent), .fields = sent_fields};
static const struct table empty_table = {
    .name = "message", .help = "All messages are completed.", .size = 0, .fields = no_fields};

static const struct {
    const char *name;
    const struct table *table;
} kinds[MESSAGE_TYPES] = {
    [MESSAGE_HELLO] = {"hello", &hello_table},          [MESSAGE_OFFER] = {"offer", &plan_table},
    [MESSAGE_ENDPOINT] = {"endpoint", &endpoint_table}, [MESSAGE_CONNECTED] = {"connected", &empty_table},
    [MESSAGE_PHASE] = {"phase", &phase_table},          [MESSAGE_READY] = {"ready", &empty_table},
    [MESSAGE_START] = {"start", &start_table},          [MESSAGE_LINE] = {"line", &line_table},
    [MESSAGE_ALIVE] = {"alive", &empty_table},          [MESSAGE_STOP] = {"stop", &sent_table},
    [MESSAGE_DRAINED] = {"drained", &sent_table},       [MESSAGE_RESULT] = {"result", &result_table},
    [MESSAGE_FINISH] = {"finish", &empty_table},        [MESSAGE_ERROR] = {"error", &error_table},
};

const char *wire_name(enum message_type type)
{
    return kinds[type].name;
}

/* ---- decoding */

static int find_type(const char *name)
{
    for (int i = 0; name && i < MESSAGE_TYPES; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    return -1;
}

int wire_decode(const char *text, size_t length, struct message *message, struct error *e)
{
    if (length > WIRE_MAX_LENGTH)
        return error_set(e, "a control message of %zu bytes: at most %d are expected", length,
                         WIRE_MAX_LENGTH);
    json_t *json = json_file_parse(text, length, "message", DOCUMENT_MESSAGE, NULL);
    if (!json_is_object(json)) {
        json_decref(json);
        return error_set(e, "not a control message: \"%.*s\"", (int)(length < 40 ? length : 40), text);
    }
    const char *name = json_string_value(json_object_get(json, "type"));
    int type = find_type(name);
    int result = -1;
    if (type < 0) {
        error_set(e, "a control message of the unknown type \"%.40s\"", name ? name : "none");
    } else {
        *message = (struct message){.type = (enum message_type)type};
        json_object_del(json, "type");
        result = table_parse(kinds[type].table, json, &message->hello, e);
        if (result != 0)
            error_prefix(e, "control message \"%s\"", kinds[type].name);
    }
    json_decref(json);
    return result;
}

int wire_decode_hello(const char *text, size_t length, struct message *message)
{
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    bool hello =
        json_is_object(json) && find_type(json_string_value(json_object_get(json, "type"))) == MESSAGE_HELLO;
    json_decref(json);
    return hello ? wire_decode(text, length, message, NULL) : -1;
}

void wire_free(struct message *message)
{
    table_free(kinds[message->type].table, &message->hello);
}

/* ---- encoding */

static json_t *encode_list(const struct list_of *list)
{
    json_t *array = json_array();
    const int64_t *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(array, json_integer(items[i]));
    return array;
}

static json_t *encode_choice(const struct field *field, int chosen)
{
    return chosen < 0 ? NULL : json_text(field->choices[chosen]);
}

/* The kinds of field that messages use. NULL: an optional one that was not given, which a message does not
 * have. */
static json_t *encode_field(const struct field *field, const void *slot)
{
    switch (field->kind) {
    case FIELD_STRING:
        return json_text(*(char *const *)slot ? *(char *const *)slot : "");
    case FIELD_BOOL:
        return json_boolean(*(const int *)slot);
    case FIELD_INTEGER:
        return *(const int64_t *)slot == FIELD_UNSET ? NULL : json_integer(*(const int64_t *)slot);
    case FIELD_CHOICE:
        return encode_choice(field, *(const int *)slot);
    case FIELD_LIST:
        return encode_list(slot);
    case FIELD_JSON:
        return json_incref(*(json_t *const *)slot);
    default:
        return NULL;
    }
}

char *wire_encode(const struct message *message)
{
    const char *base = (const char *)&message->hello;
    json_t *json = json_make("{s:s}", "type", kinds[message->type].name);
    for (const struct field *f = kinds[message->type].table->fields; f->name; f++)
        json_object_set_new(json, f->name, encode_field(f, base + f->offset));
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}
