#include "lib/roce/congestion_values.h"

#include "lib/document/json_text.h"
#include <math.h>

/* ---- expansions of the rows */

#define FIELD_RATE(least, most)   FIELD_QUANTITY, .unit = UNIT_RATE_BPS, .min = (least), .max = (most)
#define FIELD_TIME(least, most)   FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = (least), .max = (most)
#define FIELD_COUNT(least, most)  FIELD_INTEGER, .min = (least), .max = (most)
#define FIELD_SHARE(least, most)  FIELD_NUMBER, .min_number = (least), .max_number = (most)
#define FIELD_SWITCH(least, most) FIELD_BOOL

static int check_timely(const void *object, const char *path, struct error *e)
{
    const struct timely_values *timely = object;
    if (timely->t_low_ps == FIELD_UNSET || timely->t_high_ps == FIELD_UNSET ||
        timely->t_low_ps <= timely->t_high_ps)
        return 0;
    return error_set(e, "%s: t_low %.3f us is above t_high %.3f us", path, (double)timely->t_low_ps / 1e6,
                     (double)timely->t_high_ps / 1e6);
}

#define FIELD(part, kind, member, key, least, most, meaning) \
    {key, FIELD_##kind(least, most), .offset = offsetof(struct part##_values, member), .help = (meaning)},
#define TABLE(with, part, ROWS, check, about, setting)                                         \
    static const struct field part##_fields[] = {ROWS(FIELD, part){0}};                        \
    const struct table part##_table = {"settings." #part, about, sizeof(struct part##_values), \
                                       part##_fields, check};
CONGESTION_PARTS(TABLE, )

#define PART(with, part, ...) \
    {#part, FIELD_OBJECT, offsetof(struct congestion_values, part), .sub = &part##_table, .help = ""},
static const struct field parts[] = {CONGESTION_PARTS(PART, ){0}};
const struct table congestion_table = {"settings", "Congestion controls that are simulated only.",
                                       sizeof(struct congestion_values), parts, NULL};

bool congestion_control_is_dcqcn(int number)
{
#define IS_DCQCN(name, is_dcqcn, has_marks) is_dcqcn,
    static const bool are[] = {CONGESTION_CONTROLS(IS_DCQCN)};
    return are[number < 0 ? 0 : number];
}

bool congestion_control_has_marks(int number)
{
#define HAS_MARKS(name, is_dcqcn, has_marks) has_marks,
    static const bool have[] = {CONGESTION_CONTROLS(HAS_MARKS)};
    return have[number < 0 ? 0 : number];
}

/* ---- values */

void congestion_values_clear(struct congestion_values *values)
{
    (void)table_defaults(&congestion_table, values); /* allocates nothing */
}

static bool is_set(const struct field *f, const void *at)
{
    if (f->kind == FIELD_BOOL)
        return *(const int *)at >= 0;
    if (f->kind == FIELD_NUMBER)
        return !isnan(*(const double *)at);
    return *(const int64_t *)at != FIELD_UNSET;
}

static void copy(const struct field *f, void *to, const void *from)
{
    if (f->kind == FIELD_BOOL)
        *(int *)to = *(const int *)from;
    else if (f->kind == FIELD_NUMBER)
        *(double *)to = *(const double *)from;
    else
        *(int64_t *)to = *(const int64_t *)from;
}

void congestion_values_merge(const struct table *table, void *to, const void *from)
{
    for (const struct field *f = table->fields; f->name; f++) {
        void *into = (char *)to + f->offset;
        const void *at = (const char *)from + f->offset;
        if (f->kind == FIELD_OBJECT)
            congestion_values_merge(f->sub, into, at);
        else if (is_set(f, at))
            copy(f, into, at);
    }
}

static json_t *value_json(const struct field *f, const void *at)
{
    char text[40];
    if (f->kind == FIELD_OBJECT)
        return congestion_values_json(f->sub, at);
    if (!is_set(f, at))
        return NULL;
    if (f->kind == FIELD_BOOL)
        return json_boolean(*(const int *)at);
    if (f->kind == FIELD_NUMBER)
        return json_real(*(const double *)at);
    if (f->kind == FIELD_INTEGER)
        return json_integer(*(const int64_t *)at);
    return json_text(units_format(f->unit, *(const int64_t *)at, text, sizeof text));
}

json_t *congestion_values_json(const struct table *table, const void *values)
{
    json_t *json = json_object();
    for (const struct field *f = table->fields; f->name; f++) {
        json_t *value = value_json(f, (const char *)values + f->offset);
        if (value)
            json_object_set_new(json, f->name, value);
    }
    if (json_object_size(json))
        return json;
    json_decref(json);
    return NULL;
}
