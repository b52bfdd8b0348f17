/* Which GPU copies less than others like it: by nvbandwidth (ask.h). */
#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include "lib/statistics/distribution.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
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

static double median_of(const json_t *group)
{
    size_t count = json_array_size(group);
    double *all = xcalloc(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = json_number_value(json_array_get(group, i));
    distribution_sort(all, count);
    double median = all[count / 2];
    free(all);
    return median;
}

struct judging {
    struct work *w;
    const json_t *groups, *baseline;
    json_t *alone; /* tests that nothing was there to compare with */
};

/* The finding of this part, made if it is not there yet. */
static json_t *finding_of(struct judging *j, const struct copy *copy, double expected, const char *source)
{
    struct text culprit = {0};
    text_add(&culprit, "%s GPU %zu", copy->machine, copy->between ? copy->row : copy->column);
    if (copy->between)
        text_add(&culprit, " and GPU %zu", copy->column);
    json_t *finding = blame_of(j->w, text_string(&culprit));
    if (!finding) {
        finding = blame(j->w, "gpu-slow", text_string(&culprit), true, "nvbandwidth",
                        "%s %.4g GB/s, and others like it %.4g", copy->test, copy->gbyte_s, expected);
        json_object_set_new(finding, "host", json_text(copy->machine));
        blame_figure(finding, copy->gbyte_s * 8e9, expected * 8e9, "b/s", source);
    }
    text_free(&culprit);
    return finding;
}

/* The same figure in the baseline; NAN: it has none. */
static double before_of(const struct judging *j, const struct copy *copy)
{
    const json_t *tests = json_object_get(json_object_get(j->baseline, copy->machine), "tests"),
                 *row = json_array_get(json_object_get(tests, copy->test), copy->row),
                 *value = json_array_get(row, copy->column);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void judge_copy(const struct copy *copy, void *context)
{
    struct judging *j = context;
    char *key = key_of(copy);
    const json_t *group = json_object_get(j->groups, key);
    double median = median_of(group), before = before_of(j, copy);
    bool many = json_array_size(group) >= FEW;
    if (many && copy->gbyte_s < OF_OTHERS * median)
        blame_add(finding_of(j, copy, median, "90 % of the median of GPUs of its kind"),
                  "%s: %.4g GB/s, the median of %zu is %.4g", copy->test, copy->gbyte_s,
                  json_array_size(group), median);
    else if (copy->gbyte_s < OF_BASELINE * before) /* not if it is NAN */
        blame_add(finding_of(j, copy, before, "95 % of the baseline"), "%s: %.4g GB/s, in the baseline %.4g",
                  copy->test, copy->gbyte_s, before);
    else if (!many && isnan(before))
        json_object_set_new(j->alone, copy->test, json_true());
    free(key);
}

/* Did it run anywhere? Where no host has it, it is not a part of the burn-in. */
static bool any_copies(const json_t *answers)
{
    const char *machine;
    json_t *of;
    json_object_foreach((json_t *)(uintptr_t)answers, machine, of)
    {
        if (json_object_get(of, "tests"))
            return true;
    }
    return false;
}

void judge_gpu_copies(struct work *w)
{
    const json_t *answers = json_object_get(w->seen, "nvbandwidth"), *of;
    json_t *groups = json_object(), *value;
    struct judging j = {.w = w,
                        .groups = groups,
                        .baseline = json_object_get(json_object_get(w->seen, "baseline"), "nvbandwidth"),
                        .alone = json_object()};
    void (*tell)(struct work *, const char *, ...) __attribute__((format(printf, 2, 3))) =
        any_copies(answers) ? blame_unknown : blame_note;
    const char *name;
    each_copy(answers, group_copy, groups);
    each_copy(answers, judge_copy, &j);
    json_object_foreach((json_t *)(uintptr_t)answers, name, of)
    {
        const char *why = json_string_value(json_object_get(of, "why"));
        if (why)
            tell(w, "copies of %s's GPUs: %s", name, why);
    }
    json_object_foreach(j.alone, name, value)
    {
        tell(w, "%s: too few GPUs of a kind to compare, and no baseline has it", name);
    }
    json_decref(j.alone);
    json_decref(groups);
}
