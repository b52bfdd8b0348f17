#include "lib/document/json_file.h"

#include "lib/files.h"
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_LIMIT (16u << 20)

/* `data` is freed; NULL passes through. */
static json_t *parse(char *data, size_t length, const char *name, struct error *e)
{
    json_error_t where;
    json_t *value = data ? json_loadb(data, length, JSON_REJECT_DUPLICATES, &where) : NULL;
    if (data && !value)
        error_set(e, "%s:%d:%d: %s", name, where.line, where.column, where.text);
    free(data);
    return value;
}

json_t *json_file_load(const char *path, struct error *e)
{
    size_t length = 0;
    char *data = files_read(path, DOCUMENT_LIMIT, &length, e);
    return parse(data, length, path, e);
}

json_t *json_file_load_descriptor(int fd, const char *name, struct error *e)
{
    size_t length = 0;
    char *data = files_read_descriptor(fd, name, DOCUMENT_LIMIT, &length, e);
    return parse(data, length, name, e);
}

int json_file_save(const char *path, const json_t *value, struct error *e)
{
    char *data = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (!data)
        return error_set(e, "writing %s: the document cannot be converted to JSON text", path);
    size_t length = strlen(data);
    data[length] = '\n'; /* replaces the terminator; the length is passed separately */
    int result = files_write_atomic(path, data, length + 1, e);
    free(data);
    return result;
}
