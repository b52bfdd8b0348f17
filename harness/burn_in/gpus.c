#include "harness/burn_in/gpus.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* GPUs of one kind copy the same within a few percents; half the lanes, or a missing NVLink, is far below. */
#define OF_OTHERS   0.90
#define OF_BASELINE 0.95
#define FEW         3 /* of fewer nobody is the odd one */

/* A figure of a machine. */
struct copy {
    const char *machine, *test;
    const json_t *gpus;
    size_t row, column; /* GPUs; rows of tests with the host's memory are not */
    bool between;       /* two GPUs */
    double gbyte_s;
};

typedef void copy_work(const struct copy *copy, void *context);

/* Each figure that was measured. */
static void each_copy(const json_t *answers, copy_work *work, void *context)
{
    const char *machine, *test;
    json_t *of, *rows, *row, *value;
    size_t i, k;
    json_object_foreach((json_t *)(uintptr_t)answers, machine, of)
    {
        json_object_foreach(json_object_get(of, "tests"), test, rows)
        {
            json_array_foreach(rows, i, row)
            {
                json_array_foreach(row, k, value)
                {
                    struct copy copy = {machine,
                                        test,
                                        json_object_get(of, "gpus"),
                                        i,
                                        k,
                                        strncmp(test, "device_to_device", 16) == 0,
                                        json_number_value(value)};
                    if (json_is_number(value))
                        work(&copy, context);
                }
            }
        }
    }
}

/* "NVIDIA H200" of "0: NVIDIA H200 (00000000:00:06): (host)". */
static void add_kind(const json_t *gpus, size_t i, struct text *out)
{
    const char *words = json_string_value(json_array_get(gpus, i));
    if (!words)
        return;
    const char *name = strstr(words, ": ");
    name = name ? name + 2 : words;
    text_add(out, "%.*s", (int)strcspn(name, "("), name);
}

/* Copies that are to be equally fast have one key: those between host and GPUs of one kind; those between the
 * same two GPUs of machines with the same GPUs. */
static char *key_of(const struct copy *copy)
{
    struct text key = {0};
    text_add(&key, "%s\n", copy->test);
    if (!copy->between)
        add_kind(copy->gpus, copy->column, &key);
    else
        for (size_t i = 0; i < json_array_size(copy->gpus); i++)
            add_kind(copy->gpus, i, &key);
    if (copy->between)
        text_add(&key, "\n%zu %zu", copy->row, copy->column);
    return text_take(&key);
}

static void group_copy(const struct copy *copy, void *context)
{
    json_t *groups = context, *group;
    char *key = key_of(copy);
    group = json_object_get(groups, key);
    if (!group)
        json_object_set_new(groups, key, group = json_array());
    json_array_append_new(group, json_real(copy->gbyte_s));
    free(key);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const json_t *group)
{
    size_t count = json_array_size(group);
    double *all = xcalloc(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = json_number_value(json_array_get(group, i));
    qsort(all, count, sizeof *all, compare_numbers);
    double median = all[count / 2];
    free(all);
    return median;
}

struct judging {
    const json_t *groups, *baseline;
    json_t *findings;
    json_t *alone; /* tests that nothing was there to compare with */
};

/* The finding of this part, made if it is not there yet. */
static json_t *finding_of(struct judging *j, const struct copy *copy, double expected, const char *source)
{
    struct text culprit = {0};
    json_t *finding = NULL;
    size_t i;
    text_add(&culprit, "%s GPU %zu", copy->machine, copy->between ? copy->row : copy->column);
    if (copy->between)
        text_add(&culprit, " and GPU %zu", copy->column);
    json_array_foreach(j->findings, i, finding)
    {
        const char *other = json_string_value(json_object_get(finding, "culprit"));
        if (other && strcmp(other, text_string(&culprit)) == 0)
            break;
        finding = NULL;
    }
    if (!finding || i == json_array_size(j->findings)) {
        finding = json_make(
            "{s:s,s:s,s:s,s:b,s:s,s:o,s:f,s:f,s:s,s:s,s:[]}", "kind", "gpu-slow", "culprit",
            text_string(&culprit), "host", copy->machine, "sure", 1, "stage", "nvbandwidth", "says",
            json_textf("%s %.4g GB/s, and others like it %.4g", copy->test, copy->gbyte_s, expected),
            "figure", copy->gbyte_s * 8e9, "expected", expected * 8e9, "unit", "b/s", "source", source,
            "evidence");
        json_array_append_new(j->findings, finding);
    }
    text_free(&culprit);
    return finding;
}

static void judge_copy(const struct copy *copy, void *context)
{
    struct judging *j = context;
    char *key = key_of(copy);
    const json_t *group = json_object_get(j->groups, key),
                 *was = json_array_get(
                     json_array_get(json_object_get(
                                        json_object_get(json_object_get(j->baseline, copy->machine), "tests"),
                                        copy->test),
                                    copy->row),
                     copy->column);
    double median = median_of(group), before = json_number_value(was);
    bool many = json_array_size(group) >= FEW;
    if (many && copy->gbyte_s < OF_OTHERS * median)
        json_array_append_new(
            json_object_get(finding_of(j, copy, median, "90 % of the median of GPUs of its kind"),
                            "evidence"),
            json_textf("%s: %.4g GB/s, the median of %zu is %.4g", copy->test, copy->gbyte_s,
                       json_array_size(group), median));
    else if (json_is_number(was) && copy->gbyte_s < OF_BASELINE * before)
        json_array_append_new(
            json_object_get(finding_of(j, copy, before, "95 % of the baseline"), "evidence"),
            json_textf("%s: %.4g GB/s, in the baseline %.4g", copy->test, copy->gbyte_s, before));
    else if (!many && !json_is_number(was))
        json_object_set_new(j->alone, copy->test, json_true());
    free(key);
}

void judge_gpu_copies(const json_t *seen, json_t *findings, json_t *unknown)
{
    const json_t *answers = json_object_get(seen, "nvbandwidth"), *of;
    json_t *groups = json_object(), *value;
    struct judging j = {.groups = groups,
                        .baseline = json_object_get(json_object_get(seen, "baseline"), "nvbandwidth"),
                        .findings = findings,
                        .alone = json_object()};
    const char *name;
    each_copy(answers, group_copy, groups);
    each_copy(answers, judge_copy, &j);
    json_object_foreach((json_t *)(uintptr_t)answers, name, of)
    {
        const char *why = json_string_value(json_object_get(of, "why"));
        if (why)
            json_array_append_new(unknown, json_textf("copies of %s's GPUs: %s", name, why));
    }
    json_object_foreach(j.alone, name, value)
    {
        json_array_append_new(
            unknown, json_textf("%s: too few GPUs of a kind to compare, and no baseline has it", name));
    }
    json_decref(j.alone);
    json_decref(groups);
}
