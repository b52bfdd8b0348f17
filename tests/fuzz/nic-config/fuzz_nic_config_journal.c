/* Journals that a run left behind. Behind a first byte '+' each line is given its checksum and number, so
 * that records are reached. */
#include "nic-config/device/bound.h"
#include "nic-config/journal.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The lines with checksums; an allocation of its own, so that reading beyond the end is seen. */
static char *with_checksums(const char *text, size_t *length)
{
    char *all = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&all, &size);
    const char *stop = text + *length, *end;
    for (int number = 1; file && text < stop && (end = memchr(text, '\n', (size_t)(stop - text))); number++) {
        char *line = NULL;
        int count = asprintf(&line, "%d %.*s", number, (int)(end - text), text);
        if (count > 0)
            fprintf(file, "%08x %s\n", journal_crc(line, strlen(line)), line);
        free(line);
        text = end + 1;
    }
    if (file)
        fclose(file);
    *length = size;
    return all;
}

/* What restore would make of it, up to the kernel. */
static void use(const struct journal *j)
{
    const char *interface;
    json_t *record, *object;
    size_t i;
    json_object_foreach(j->before, interface, record)
    {
        json_array_foreach(json_object_get(json_object_get(record, "bound"), "objects"), i, object)
        {
            struct nlmsghdr *m = bound_message(object, 7);
            if (m)
                (void)bound_age(m, 1000000000);
            free(m);
            free(bound_key(object));
            (void)bound_family(object);
        }
        (void)bound_has_address(json_object_get(record, "bound"), "10.0.0.1/24");
        (void)bound_lost(json_object_get(record, "bound"), false, 1000);
        (void)journal_last(j, interface, "mtu");
        (void)journal_all(j, interface, "addresses");
        (void)journal_unfinished(j, interface, "mtu");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal j;
    char *text = malloc(size ? size : 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    if (size > 0 && data[0] == '+') {
        size_t length = size - 1;
        char *checked = with_checksums(text + 1, &length);
        free(text);
        text = checked;
        size = length;
    }
    journal_init(&j, "journal");
    if (text)
        journal_parse(&j, text, size);
    use(&j);
    free(text);
    journal_close(&j);
    return 0;
}
