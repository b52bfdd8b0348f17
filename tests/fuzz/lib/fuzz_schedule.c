/* A schedule of GOAL, text or binary: what is accepted is the same again after it was written. */
#include "lib/schedule/schedule.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct schedule *a, const struct schedule *b)
{
    size_t n = a->operation_count;
    if (a->rank_count != b->rank_count || n != b->operation_count || a->first_after[n] != b->first_after[n])
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct schedule_operation *x = &a->operations[i], *y = &b->operations[i];
        bool message = x->type != SCHEDULE_CALC;
        if (x->type != y->type || x->size != y->size || x->cpu != y->cpu ||
            a->wait_count[i] != b->wait_count[i] ||
            (message &&
             (x->peer != y->peer || x->tag != y->tag || x->nic != y->nic || a->match[i] != b->match[i])))
            return false;
    }
    return memcmp(a->after, b->after, a->first_after[n] * sizeof *a->after) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schedule s, again;
    struct error e;
    char *content = malloc(size + 1), *text = NULL;
    size_t length = 0;
    double ns = 0;
    if (!content)
        return 0;
    if (size)
        memcpy(content, data, size);
    content[size] = '\0';
    if (schedule_read_content(&s, "input", content, size, &e) != 0)
        return 0;
    FILE *to = open_memstream(&text, &length);
    schedule_print(&s, to);
    fclose(to);
    if (schedule_read_content(&again, "again", text, length, &e) != 0) {
        fprintf(stderr, "what was written is refused: %s\n", e.text);
        abort();
    }
    if (!same(&s, &again) || schedule_least_ns(&s, 0.1, 1000, &ns, &e) != 0)
        abort();
    schedule_free(&s);
    schedule_free(&again);
    return 0;
}
