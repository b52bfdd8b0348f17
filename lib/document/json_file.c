#include "lib/document/json_file.h"

#include "lib/files.h"
#include "lib/text.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB (1u << 10)
#define MIB (1u << 20)

/* A lab with 100,000 written links has 6 MiB, and takes 110 MiB. Of a scenario with 100,000 flows
 * (harness/import/import.h) the document has 14 MiB and takes 220 MiB, the request 33 and 260, the result 140
 * MiB and 1.6 GiB. */
static const struct {
    const char *name;
    size_t text_bytes, memory_bytes, depth;
} limits[] = {
    [DOCUMENT_SCENARIO] = {"a document", 16 * MIB, 256 * MIB, 64},
    [DOCUMENT_LAB] = {"a lab", 16 * MIB, 256 * MIB, 64},
    [DOCUMENT_RESULT] = {"a result", 192 * MIB, 2048 * MIB, 64},
    [DOCUMENT_INDEX] = {"an index", 16 * MIB, 128 * MIB, 64},
    [DOCUMENT_REQUEST] = {"a request", 64 * MIB, 384 * MIB, 66},
    [DOCUMENT_ANSWER] = {"an answer", 16 * MIB, 128 * MIB, 64},
    [DOCUMENT_LINE] = {"a line", 4 * MIB, 32 * MIB, 32},
    [DOCUMENT_MESSAGE] = {"a message", 256 * KIB, 16 * MIB, 16},
};

/* ---- what a text will take */

/* Measured with jansson 2.14 on glibc, an item each, with what holds it. */
#define OBJECT_BYTES 480
#define ARRAY_BYTES  272
#define VALUE_BYTES  88
#define MEMBER_BYTES 128

/* From behind a string's opening quote to behind its closing one; false: it has none before the end. */
static bool skip_string(const char **at, const char *end)
{
    while (*at < end && **at != '"')
        *at += **at == '\\' ? 2 : 1;
    bool closed = *at < end;
    *at = closed ? *at + 1 : end;
    return closed;
}

size_t json_file_memory(const char *text, size_t length, size_t *depth)
{
    /* what a sign adds; other signs, of which there are most, are passed over */
    static const unsigned short adds[256] = {['{'] = OBJECT_BYTES,
                                             ['['] = ARRAY_BYTES,
                                             [','] = VALUE_BYTES,
                                             [':'] = MEMBER_BYTES,
                                             ['}'] = 1,
                                             [']'] = 1,
                                             ['"'] = 1};
    const char *end = text + length;
    size_t memory = 2 * length, inside = 0;
    *depth = 0;
    for (const char *at = text; at < end;) {
        unsigned char c = (unsigned char)*at++;
        if (!adds[c])
            continue;
        if (c == '"') {
            skip_string(&at, end);
        } else if (c == '}' || c == ']') {
            inside -= inside ? 1 : 0;
        } else {
            memory += adds[c];
            inside += c == '{' || c == '[';
            *depth = inside > *depth ? inside : *depth;
        }
    }
    return memory;
}

size_t json_file_memory_of(const json_t *value)
{
    const char *key;
    json_t *item;
    size_t i, memory = VALUE_BYTES + 2 * json_string_length(value);
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        memory += MEMBER_BYTES + 2 * strlen(key) + json_file_memory_of(item);
    }
    json_array_foreach(value, i, item)
    {
        memory += json_file_memory_of(item);
    }
    return memory + (json_is_object(value) ? OBJECT_BYTES : json_is_array(value) ? ARRAY_BYTES : 0);
}

void json_file_limits(enum document_kind kind, size_t *text_bytes, size_t *memory_bytes)
{
    *text_bytes = limits[kind].text_bytes;
    *memory_bytes = limits[kind].memory_bytes;
}

struct scan {
    const char *at, *end;
    const char *const *paths;
    struct text *out;
};

/* ---- parts of a large text: over what is not looked into */

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

/* An object or a list, whose brackets are counted. */
static bool skip_container(struct scan *s)
{
    size_t depth = 0;
    while (s->at < s->end) {
        char c = *s->at;
        s->at++;
        if (c == '"') {
            if (!skip_string(&s->at, s->end))
                return false;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!depth)
            return true;
    }
    return false;
}

static bool skip_value(struct scan *s)
{
    const char *begin = s->at;
    if (s->at < s->end && *s->at == '"') {
        s->at++;
        return skip_string(&s->at, s->end);
    }
    if (s->at < s->end && (*s->at == '{' || *s->at == '['))
        return skip_container(s);
    while (s->at < s->end && !strchr(",}]: \n\r\t", *s->at))
        s->at++;
    return s->at > begin;
}

/* ---- parts of a large text: paths */

/* Is the key what the path has at this depth? *last: the path ends there. */
static bool leads_to(const char *path, size_t depth, const char *key, size_t length, bool *last)
{
    for (; depth; depth--) {
        path += strcspn(path, ".");
        if (!*path++)
            return false;
    }
    size_t wanted = strcspn(path, "."), i = 0;
    *last = path[wanted] == '\0';
    if (wanted == 1 && *path == '*')
        return true;
    for (size_t k = 0; k < wanted; k++) {
        size_t before = i;
        if (path[k] != '#') {
            i += i < length && key[i] == path[k];
        } else {
            while (i < length && key[i] >= '0' && key[i] <= '9')
                i++;
        }
        if (i == before)
            return false;
    }
    return i == length;
}

/* Those of the paths in `mask` that lead to the key or beyond. *whole: one ends there. */
static uint64_t narrow_paths(const struct scan *s, uint64_t mask, size_t depth, const char *key,
                             size_t length, bool *whole)
{
    uint64_t left = 0;
    bool last = false;
    *whole = false;
    for (size_t i = 0; i < JSON_PARTS_MOST && s->paths[i]; i++) {
        if (!(mask & UINT64_C(1) << i) || !leads_to(s->paths[i], depth, key, length, &last))
            continue;
        left |= UINT64_C(1) << i;
        *whole |= last;
    }
    return left;
}

/* ---- parts of a large text: objects */

static bool copy_object(struct scan *s, uint64_t mask, size_t depth);

static bool copy_value(struct scan *s, uint64_t mask, size_t depth, bool whole)
{
    if (!whole && s->at < s->end && *s->at == '{')
        return copy_object(s, mask, depth);
    const char *begin = s->at;
    bool skipped = skip_value(s);
    text_add_bytes(s->out, begin, (size_t)(s->at - begin));
    return skipped;
}

/* From the key to behind the value; *count is how many members are copied. */
static bool copy_member(struct scan *s, uint64_t mask, size_t depth, size_t *count)
{
    bool whole;
    const char *key = s->at;
    if (s->at == s->end || *s->at++ != '"' || !skip_string(&s->at, s->end))
        return false;
    size_t length = (size_t)(s->at - key);
    skip_space(s);
    if (s->at == s->end || *s->at++ != ':')
        return false;
    skip_space(s);
    uint64_t below = narrow_paths(s, mask, depth, key + 1, length - 2, &whole);
    if (!below)
        return skip_value(s);
    if ((*count)++)
        text_add_bytes(s->out, ",", 1);
    text_add_bytes(s->out, key, length);
    text_add_bytes(s->out, ":", 1);
    return copy_value(s, below, depth + 1, whole);
}

/* At most as deep as the longest path. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool copy_object(struct scan *s, uint64_t mask, size_t depth)
{
    size_t count = 0;
    text_add_bytes(s->out, "{", 1);
    s->at++;
    skip_space(s);
    bool empty = s->at < s->end && *s->at == '}';
    while (!empty) {
        skip_space(s);
        if (!copy_member(s, mask, depth, &count))
            return false;
        skip_space(s);
        if (s->at == s->end || *s->at != ',')
            break;
        s->at++;
    }
    if (s->at == s->end || *s->at != '}')
        return false;
    s->at++;
    text_add_bytes(s->out, "}", 1);
    return true;
}

int json_parts(const char *text, size_t length, const char *const *paths, struct text *out, struct error *e)
{
    struct scan s = {.at = text, .end = text + length, .paths = paths, .out = out};
    skip_space(&s);
    if (s.at == s.end || *s.at != '{')
        return error_set(e, "expected an object");
    bool whole = copy_object(&s, UINT64_MAX, 0);
    skip_space(&s);
    if (!whole || s.at < s.end)
        return error_set(e, "it is damaged at byte %zu of %zu: expected a whole object",
                         (size_t)(s.at - text), length);
    return out->failed ? error_set(e, "out of memory") : 0;
}

/* ---- reading */

static int check_limits(const char *text, size_t length, const char *name, enum document_kind kind,
                        struct error *e)
{
    size_t depth, memory = json_file_memory(text, length, &depth);
    if (length > limits[kind].text_bytes)
        return error_set(e, "%s: %zu bytes: %s may have %zu", name, length, limits[kind].name,
                         limits[kind].text_bytes);
    if (depth > limits[kind].depth)
        return error_set(e, "%s: objects and lists %zu deep: %s may have %zu", name, depth, limits[kind].name,
                         limits[kind].depth);
    if (memory > limits[kind].memory_bytes)
        return error_set(e, "%s: its values would take %zu MiB of memory: %s may take %zu MiB", name,
                         memory / MIB, limits[kind].name, limits[kind].memory_bytes / MIB);
    return 0;
}

/* JSON has no comments: people write them as keys. */
void json_drop_comments(json_t *value)
{
    const char *key;
    json_t *member;
    void *next;
    size_t i;
    json_object_foreach_safe(value, next, key, member)
    {
        if (strncmp(key, JSON_COMMENT, strlen(JSON_COMMENT)) == 0)
            json_object_del(value, key);
        else
            json_drop_comments(member);
    }
    json_array_foreach(value, i, member) json_drop_comments(member);
}

json_t *json_file_parse(const char *text, size_t length, const char *name, enum document_kind kind,
                        struct error *e)
{
    json_error_t where;
    /* ip and tc of iproute2 print some keys twice */
    size_t flags = (kind == DOCUMENT_ANSWER ? 0 : JSON_REJECT_DUPLICATES) |
                   (kind == DOCUMENT_LINE ? JSON_DECODE_ANY : 0);
    if (check_limits(text, length, name, kind, e) != 0)
        return NULL;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark (RFC 8259, 8.1) */
        text += 3;
        length -= 3;
    }
    const char *zero = memchr(text, '\0', length); /* behind true, false and null jansson passes over it */
    if (zero) {
        error_set(e, "%s: byte %td is zero, which JSON does not have: was the file written whole?", name,
                  zero - text);
        return NULL;
    }
    json_t *value = json_loadb(text, length, flags, &where);
    if (!value)
        error_set(e, "%s:%d:%d: %s%s", name, where.line, where.column, where.text,
                  strstr(where.text, "duplicate object key near '\"" JSON_COMMENT)
                      ? ": comments of one object have different keys, such as \"//\" and \"// 2\""
                      : "");
    if (kind == DOCUMENT_SCENARIO || kind == DOCUMENT_LAB)
        json_drop_comments(value);
    return value;
}

/* `data` is freed; NULL passes through. */
static json_t *parse_and_free(char *data, size_t length, const char *name, enum document_kind kind,
                              struct error *e)
{
    json_t *value = data ? json_file_parse(data, length, name, kind, e) : NULL;
    free(data);
    return value;
}

char *json_file_read(const char *path, enum document_kind kind, size_t *length, struct error *e)
{
    return files_read(path, limits[kind].text_bytes, length, e);
}

json_t *json_file_load(const char *path, enum document_kind kind, struct error *e)
{
    size_t length = 0;
    char *data = json_file_read(path, kind, &length, e);
    return parse_and_free(data, length, path, kind, e);
}

json_t *json_file_load_descriptor(int fd, const char *name, enum document_kind kind, struct error *e)
{
    size_t length = 0;
    char *data = files_read_descriptor(fd, name, limits[kind].text_bytes, &length, e);
    return parse_and_free(data, length, name, kind, e);
}

json_t *json_file_load_next_line(int fd, const char *name, enum document_kind kind, struct error *e)
{
    struct text line = {0};
    char c = '\0';
    ssize_t got;
    while ((got = read(fd, &c, 1)) != 0 && c != '\n' && line.length <= limits[kind].text_bytes) {
        if (got > 0)
            text_add_bytes(&line, &c, 1);
        else if (errno != EINTR)
            break;
        c = '\0';
    }
    json_t *value = NULL;
    if (got < 0)
        error_set_errno(e, errno, "reading %s", name);
    else
        value = json_file_parse(text_string(&line), line.length, name, kind, e);
    text_free(&line);
    return value;
}

json_t *json_file_load_in(const struct folder *folder, const char *name, enum document_kind kind,
                          struct error *e)
{
    int fd = folder_open_file(folder, name, e);
    char *path = fd >= 0 ? files_join(folder->path, name) : NULL;
    json_t *value = path ? json_file_load_descriptor(fd, path, kind, e) : NULL;
    if (fd >= 0)
        close(fd);
    free(path);
    return value;
}

json_t *json_file_load_parts_in(const struct folder *folder, const char *name, enum document_kind kind,
                                const char *const *paths, struct error *e)
{
    size_t length = 0;
    struct text parts = {0};
    json_t *value = NULL;
    int fd = folder_open_file(folder, name, e);
    char *path = fd >= 0 ? files_join(folder->path, name) : NULL;
    char *data = path ? files_read_descriptor(fd, path, limits[kind].text_bytes, &length, e) : NULL;
    if (data && json_parts(data, length, paths, &parts, e) == 0)
        value = json_file_parse(text_string(&parts), parts.length, path, kind, e);
    else if (data)
        error_prefix(e, "%s", path);
    if (fd >= 0)
        close(fd);
    text_free(&parts);
    free(data);
    free(path);
    return value;
}

/* `kind` NULL: it need not be read again. */
static int save_value(const char *path, const json_t *value, const enum document_kind *kind, bool soon,
                      struct error *e)
{
    char *data = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (!data)
        return error_set(e, "writing %s: the document cannot be converted to JSON text", path);
    size_t length = strlen(data);
    if (kind && check_limits(data, length + 1, path, *kind, e) != 0) {
        free(data);
        return error_prefix(e, "it is not written, because it could not be read again");
    }
    data[length] = '\n'; /* replaces the terminator; the length is passed separately */
    int result = (soon ? files_write_soon : files_write_atomic)(path, data, length + 1, e);
    free(data);
    return result;
}

int json_file_save(const char *path, const json_t *value, struct error *e)
{
    return save_value(path, value, NULL, false, e);
}

int json_file_save_soon(const char *path, const json_t *value, struct error *e)
{
    return save_value(path, value, NULL, true, e);
}

int json_file_save_readable(const char *path, const json_t *value, enum document_kind kind, bool soon,
                            struct error *e)
{
    return save_value(path, value, &kind, soon, e);
}
