#include "tests/unit/unit.h"

#include "lib/document/json_file.h"
#include "lib/document/table.h"
#include "lib/formats/lab.h"
#include "lib/formats/lab_kinds.h"
#include "lib/formats/scenario.h"
#include <glob.h>
#include <math.h>
#include <regex.h>

struct leg {
    char *name; /* map key */
    int64_t length_mm;
    int side;
};

struct animal {
    char *name;
    int tame;
    int64_t age;
    double weight;
    int64_t sleep_ns;
    struct leg head;
    struct leg *tail;
    struct list_of legs;
    struct list_of names;
    struct list_of ages;
    struct list_of scores;
    json_t *note;
};

static const char *const sides[] = {"left", "right", NULL};

static const struct field leg_fields[] = {
    {.name = "length",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct leg, length_mm),
     .unit = UNIT_LENGTH_MM,
     .min = 1,
     .max = 5000,
     .fallback = "\"1m\"",
     .help = "How long"},
    {.name = "side", .kind = FIELD_CHOICE, .offset = offsetof(struct leg, side), .choices = sides},
    {0},
};
static const struct table leg_table = {
    .name = "animal.leg", .size = sizeof(struct leg), .fields = leg_fields};

static const struct field animal_fields[] = {
    {.name = "name", .kind = FIELD_STRING, .offset = offsetof(struct animal, name), .required = true},
    {.name = "tame", .kind = FIELD_BOOL, .offset = offsetof(struct animal, tame)},
    {.name = "age", .kind = FIELD_INTEGER, .offset = offsetof(struct animal, age), .min = 0, .max = 150},
    {.name = "weight",
     .kind = FIELD_NUMBER,
     .offset = offsetof(struct animal, weight),
     .min_number = 0,
     .max_number = 1},
    {.name = "sleep",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct animal, sleep_ns),
     .unit = UNIT_TIME_NS,
     .fallback = "\"8h\""},
    {.name = "head", .kind = FIELD_OBJECT, .offset = offsetof(struct animal, head), .sub = &leg_table},
    {.name = "tail", .kind = FIELD_OPTIONAL, .offset = offsetof(struct animal, tail), .sub = &leg_table},
    {.name = "legs",
     .kind = FIELD_MAP,
     .item = FIELD_OBJECT,
     .offset = offsetof(struct animal, legs),
     .sub = &leg_table,
     .min = 0,
     .max = 3},
    {.name = "names", .kind = FIELD_LIST, .item = FIELD_STRING, .offset = offsetof(struct animal, names)},
    {.name = "ages",
     .kind = FIELD_LIST,
     .item = FIELD_INTEGER,
     .offset = offsetof(struct animal, ages),
     .min = 0,
     .max = 7},
    {.name = "scores", .kind = FIELD_MAP, .item = FIELD_INTEGER, .offset = offsetof(struct animal, scores)},
    {.name = "note", .kind = FIELD_JSON, .offset = offsetof(struct animal, note)},
    {0},
};
static const struct table animal_table = {
    .name = "animal", .size = sizeof(struct animal), .fields = animal_fields};

static int parse(const char *text, struct animal *animal, struct error *e)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(json);
    int result = table_parse(&animal_table, json, animal, e);
    json_decref(json);
    return result;
}

static void fills_the_struct(void **state)
{
    struct animal a;
    struct error e = {""};
    (void)state;
    if (parse("{\"name\":\"cat\",\"tame\":true,\"age\":3,\"weight\":0.5,\"tail\":{\"length\":\"30cm\","
              "\"side\":\"right\"},"
              "\"legs\":{\"fore\":{},\"hind\":{\"length\":\"2m\"}},\"names\":[\"a\",\"b\"],\"ages\":[1,2,7],"
              "\"scores\":{\"x\":4,\"y\":-5},\"note\":{\"any\":[1]}}",
              &a, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(a.name, "cat");
    assert_int_equal(a.tame, 1);
    assert_int_equal(a.age, 3);
    assert_true(a.weight == 0.5);
    assert_int_equal(a.sleep_ns, 8LL * 3600 * 1000000000);
    assert_int_equal(a.head.length_mm, 1000);
    assert_int_equal(a.head.side, -1);
    assert_int_equal(a.tail->length_mm, 300);
    assert_int_equal(a.tail->side, 1);
    const struct leg *legs = a.legs.items;
    assert_int_equal(a.legs.count, 2);
    assert_string_equal(legs[1].name, "hind");
    assert_int_equal(legs[1].length_mm, 2000);
    assert_string_equal(((char **)a.names.items)[1], "b");
    assert_int_equal(((int64_t *)a.ages.items)[2], 7);
    const struct named_integer *scores = a.scores.items;
    assert_string_equal(scores[1].name, "y");
    assert_int_equal(scores[1].value, -5);
    assert_int_equal(json_object_size(a.note), 1);
    table_free(&animal_table, &a);
    assert_null(a.name);
}

static void marks_what_was_not_said(void **state)
{
    struct animal a;
    (void)state;
    assert_int_equal(parse("{\"name\":\"x\"}", &a, NULL), 0);
    assert_int_equal(a.tame, -1);
    assert_true(a.age == FIELD_UNSET);
    assert_true(isnan(a.weight));
    assert_null(a.tail);
    assert_int_equal(a.legs.count, 0);
    assert_null(a.note);
    table_free(&animal_table, &a);
}

static void errors_name_path_value_and_what_is_allowed(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"[]", "document: [] is a list: expected an object"},
        {"{}", "name is missing"},
        {"{\"name\":1}", "name: 1 is a number: expected a string"},
        {"{\"name\":\"a\\u0000b\"}", "name: the string contains a zero byte"},
        {"{\"name\":\"x\",\"agee\":1}", "unknown key \"agee\"; did you mean \"age\"?"},
        {"{\"name\":\"x\",\"zzzzzzzz\":1}", "unknown key \"zzzzzzzz\": expected one of name, tame"},
        {"{\"name\":\"x\",\"age\":151}", "age: 151 is out of range: expected a whole number from 0 to 150"},
        {"{\"name\":\"x\",\"age\":1.5}", "age: 1.5 is a number: expected a whole number from 0 to 150"},
        {"{\"name\":\"x\",\"weight\":2}", "weight: 2 is out of range: expected 0 to 1"},
        {"{\"name\":\"x\",\"sleep\":8}", "sleep: 8 is a number: expected a time such as"},
        {"{\"name\":\"x\",\"sleep\":\"8 hours\"}", "sleep: \"8 hours\" has the unknown unit \"hours\""},
        {"{\"name\":\"x\",\"tail\":{\"length\":\"9m\"}}",
         "tail.length: \"9m\" is out of range: expected 1mm to 5m"},
        {"{\"name\":\"x\",\"legs\":{\"fore\":{\"side\":\"up\"}}}",
         "legs.fore.side: \"up\" is unknown: expected one of \"left\", \"right\""},
        {"{\"name\":\"x\",\"legs\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{}}}", "legs: 4 items: expected 0 to 3"},
        {"{\"name\":\"x\",\"ages\":[1,8]}",
         "ages[1]: 8 is out of range: expected a whole number from 0 to 7"},
        {"{\"name\":\"x\",\"names\":\"a\"}", "names: \"a\" is a string: expected a list"},
        {"{\"name\":\"x\",\"scores\":[]}", "scores: [] is a list: expected an object"},
        {"{\"name\":\"x\",\"tame\":\"yes\"}", "tame: \"yes\" is a string: expected true or false"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct animal a;
        struct error e = {""};
        assert_int_equal(parse(cases[i].text, &a, &e), -1);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, e.text, cases[i].says);
    }
}

static void defaults_need_no_document(void **state)
{
    struct animal a;
    (void)state;
    assert_int_equal(table_defaults(&animal_table, &a), 0);
    assert_null(a.name); /* though it is required */
    assert_int_equal(a.tame, -1);
    assert_true(a.age == FIELD_UNSET);
    assert_int_equal(a.sleep_ns, 8LL * 3600 * 1000000000);
    assert_int_equal(a.head.length_mm, 1000);
    assert_null(a.tail);
    table_free(&animal_table, &a);
}

static void defaults_are_written_out(void **state)
{
    json_t *json = json_loads("{\"name\":\"x\",\"legs\":{\"a\":{}}}", 0, NULL);
    json_t *full = table_resolve(&animal_table, json);
    char *text = json_dumps(full, JSON_COMPACT);
    (void)state;
    assert_string_equal(text, "{\"name\":\"x\",\"sleep\":\"8h\",\"head\":{\"length\":\"1m\"},\"legs\":{\"a\":"
                              "{\"length\":\"1m\"}}}");
    free(text);
    json_decref(full);
    json_decref(json);
}

static void schema_and_manual_know_every_field(void **state)
{
    json_t *schema = table_schema(&animal_table);
    const json_t *properties = json_object_get(schema, "properties");
    struct text manual = {0};
    (void)state;
    table_manual(&animal_table, &manual);
    for (const struct field *f = animal_fields; f->name; f++) {
        assert_non_null(json_object_get(properties, f->name));
        assert_non_null(strstr(text_string(&manual), f->name));
    }
    assert_int_equal(json_integer_value(json_object_get(json_object_get(properties, "age"), "maximum")), 150);
    assert_string_equal(json_string_value(json_array_get(json_object_get(schema, "required"), 0)), "name");
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    text_free(&manual);
    json_decref(schema);
}

/* ---- does a JSON Schema take what the program takes? */

static bool type_fits(const char *type, const json_t *value)
{
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "integer") == 0 &&
            (json_is_integer(value) || (json_is_real(value) && fmod(json_real_value(value), 1) == 0)));
}

static bool pattern_fits(const char *pattern, const char *text)
{
    regex_t regex;
    if (strstr(pattern, "\\u")) /* a line: no control characters */
        return form_fits(&form_line, text);
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool fits = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return fits;
}

static bool within(const json_t *schema, const char *least, const char *most, double value)
{
    const json_t *low = json_object_get(schema, least), *high = json_object_get(schema, most);
    return (!low || value >= json_number_value(low)) && (!high || value <= json_number_value(high));
}

static bool schema_takes(const json_t *schema, const json_t *value);

static bool members_fit(const json_t *schema, const json_t *value)
{
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member, *name;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        const json_t *own = json_object_get(json_object_get(schema, "properties"), key);
        if (own ? !schema_takes(own, member)
                : json_is_false(others) || (others && !schema_takes(others, member)))
            return false;
    }
    json_array_foreach(json_object_get(schema, "required"), i, name)
    {
        if (!json_object_get(value, json_string_value(name)))
            return false;
    }
    return within(schema, "minProperties", "maxProperties", (double)json_object_size(value));
}

static bool items_fit(const json_t *schema, const json_t *value)
{
    const json_t *items = json_object_get(schema, "items");
    json_t *item;
    size_t i;
    json_array_foreach(value, i, item)
    {
        if (items && !schema_takes(items, item))
            return false;
    }
    return within(schema, "minItems", "maxItems", (double)json_array_size(value));
}

/* How many of the schemas take it. */
static size_t takers(const json_t *schemas, const json_t *value)
{
    size_t i, count = 0;
    const json_t *one;
    json_array_foreach(schemas, i, one) count += schema_takes(one, value);
    return count;
}

/* The words of JSON Schema that table_schema writes. */
static bool schema_takes(const json_t *schema, const json_t *value)
{
    const char *type = json_string_value(json_object_get(schema, "type")),
               *pattern = json_string_value(json_object_get(schema, "pattern"));
    const json_t *choices = json_object_get(schema, "enum"), *only = json_object_get(schema, "const"),
                 *any = json_object_get(schema, "anyOf"), *one = json_object_get(schema, "oneOf"), *choice;
    bool chosen = !choices;
    size_t i;
    json_array_foreach(choices, i, choice) chosen |= json_equal(choice, value);
    if ((type && !type_fits(type, value)) || !chosen || (only && !json_equal(only, value)) ||
        (any && !takers(any, value)) || (one && takers(one, value) != 1) ||
        (pattern && json_is_string(value) && !pattern_fits(pattern, json_string_value(value))))
        return false;
    if (json_is_number(value) && !within(schema, "minimum", "maximum", json_number_value(value)))
        return false;
    return json_is_object(value)  ? members_fit(schema, value)
           : json_is_array(value) ? items_fit(schema, value)
                                  : true;
}

static void shipped_fit(const json_t *schema, const char *pattern)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        json_t *document = json_file_load(found.gl_pathv[i], DOCUMENT_LAB, NULL);
        if (!document || !schema_takes(schema, document))
            fail_msg("the schema refuses %s", found.gl_pathv[i]);
        json_decref(document);
    }
    assert_true(found.gl_pathc > 10);
    globfree(&found);
}

static void the_schemas_take_what_is_shipped(void **state)
{
    json_t *lab = lab_schema(), *scenario = table_schema(&scenario_table);
    (void)state;
    shipped_fit(lab, "labs/*.json");
    shipped_fit(scenario, "scenarios/*.json");
    json_decref(lab);
    json_decref(scenario);
}

/* One value of one field: by a table of this field alone, and by its schema. Ranges of quantities are in
 * words. */
static void compare_value(const struct field *field, const json_t *schema, json_t *value)
{
    struct field alone[2] = {*field, {0}};
    struct error e = {""};
    struct table table = {"t", NULL, sizeof(struct list_of) + sizeof(int64_t), alone, NULL};
    _Alignas(16) char object[sizeof(struct list_of) + sizeof(int64_t)];
    json_t *document = json_pack("{s:o}", field->name, value);
    alone[0].offset = 0;
    alone[0].required = false;
    alone[0].fallback = NULL;
    bool taken = table_parse(&table, document, object, &e) == 0;
    bool ranged = field->kind == FIELD_QUANTITY && strstr(e.text, "out of range");
    if (!ranged && taken != schema_takes(schema, json_object_get(document, field->name)))
        fail_msg("%s: the program %s %s, the schema does not: %s", field->name, taken ? "takes" : "refuses",
                 json_dumps(document, 0), e.text);
    if (taken)
        table_free(&table, object);
    json_decref(document);
}

static void compare_fields(const struct table *table, size_t *count);

static void compare_field(const struct field *field, size_t *count)
{
    static const char *const words[] = {"",      "0",    "00.0", "1",    "1.5",   ".5",   "1.", "1ns", "1 us",
                                        "1  us", "-1us", "10%",  "1KiB", "2MB/s", "3k/s", "1m", "x"};
    static const char *const names[] = {
        "",     "a",        "7",          "8",          "07", "63",  "64",  "a/b", "c d",
        "c.d",  ".a",       "-a",         "a-",         "_a", "..",  "a:b", "a@b", "\303\251",
        "a\nb", "\302\205", "4294967295", "4294967296", "-1", "a+b", "a=b"};
    const struct form *form = field->kind == FIELD_STRING ? field->form : NULL;
    bool has_pattern = !form || form->pattern || !form->fits; /* what none has is in words */
    json_t *schema = table_schema(&(struct table){"t", NULL, 0, (struct field[]){*field, {0}}, NULL});
    const json_t *own = json_object_get(json_object_get(schema, "properties"), field->name);
    bool whole = field->kind == FIELD_INTEGER && field_has_range(field), number = field->kind == FIELD_NUMBER;
    (*count)++;
    compare_value(field, own, json_null());
    compare_value(field, own, json_true());
    compare_value(field, own, json_integer(0));
    compare_value(field, own, json_integer(1));
    compare_value(field, own, json_integer(-1));
    compare_value(field, own, json_real(0.5));
    compare_value(field, own, json_real(1));
    for (size_t i = 0; i < sizeof names / sizeof *names && has_pattern; i++)
        compare_value(field, own, json_string(names[i]));
    for (size_t length = 60; length <= 125 && has_pattern && field->kind == FIELD_STRING; length++) {
        char word[126] = "";
        memset(word, 'a', length);
        compare_value(field, own, json_string(word));
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (field->kind != FIELD_STRING)
            compare_value(field, own, json_string(words[i]));
    for (int64_t step = -1; step <= 1 && whole; step++) {
        if (step >= 0 || field->min > INT64_MIN)
            compare_value(field, own, json_integer(field->min + step));
        if (step <= 0 || field->max < INT64_MAX)
            compare_value(field, own, json_integer(field->max + step));
    }
    for (double part = -0.5; part <= 0.5 && number && field->max_number > field->min_number; part += 0.5) {
        compare_value(field, own, json_real(field->min_number + part));
        compare_value(field, own, json_real(field->max_number + part));
    }
    json_decref(schema);
}

/* The names of a map are as a text of their form. */
static void compare_names(const struct field *map, size_t *count)
{
    struct field name = {.name = map->name,
                         .kind = FIELD_STRING,
                         .form = map->names ? map->names : &form_line,
                         .single = map->single};
    json_t *schemas[2];
    const json_t *own[2];
    for (int i = 0; i < 2; i++) {
        schemas[i] =
            table_schema(&(struct table){"t", NULL, 0, (struct field[]){i ? name : *map, {0}}, NULL});
        own[i] = json_object_get(json_object_get(schemas[i], "properties"), map->name);
    }
    assert_true(json_equal(
        json_object_get(json_array_get(json_object_get(json_object_get(own[0], "propertyNames"), "anyOf"), 0),
                        "pattern"),
        json_object_get(own[1], "pattern")));
    for (int i = 0; i < 2; i++)
        json_decref(schemas[i]);
    compare_field(&name, count);
}

static void compare_fields(const struct table *table, size_t *count)
{
    for (const struct field *f = table->fields; f->name; f++) {
        struct field item = field_item(f);
        if (field_is_scalar(f->kind))
            compare_field(f, count);
        else if (f->kind == FIELD_LIST || f->kind == FIELD_MAP)
            field_is_scalar(item.kind) ? compare_field(&item, count) : (void)0;
        if (f->kind == FIELD_MAP)
            compare_names(f, count);
        if (f->sub && f->sub != table)
            compare_fields(f->sub, count);
    }
}

static void the_schema_takes_what_the_program_takes(void **state)
{
    size_t count = 0;
    (void)state;
    compare_fields(&scenario_table, &count);
    for (const struct lab_kind *kind = lab_kinds; kind->name; kind++)
        compare_fields(&kind->table, &count);
    assert_true(count > 300);
    json_t *schema = table_schema(&scenario_table),
           *version = json_object_get(json_object_get(schema, "properties"), "schema");
    assert_int_equal(json_integer_value(json_object_get(version, "maximum")), 1);
    json_decref(schema);
}

static void expect_refused(const struct animal *a, const char *sentence)
{
    struct error e = {""};
    assert_int_equal(table_check(&animal_table, a, "animal 3", &e), -1);
    assert_string_equal(e.text, sentence);
}

/* The ranges also apply to a struct that was not filled from a document. */
static void structs_are_checked(void **state)
{
    (void)state;
    struct animal a;
    struct error e = {""};
    assert_int_equal(table_defaults(&animal_table, &a), 0);
    assert_int_equal(table_check(&animal_table, &a, "animal 3", &e), 0);
    a.age = 151;
    expect_refused(&a, "animal 3.age: 151 is out of range: expected 0 to 150");
    a.age = FIELD_UNSET; /* has no default: may be unset */
    a.weight = 2;
    expect_refused(&a, "animal 3.weight: 2 is out of range: expected 0 to 1");
    a.weight = NAN;
    a.head.length_mm = FIELD_UNSET; /* has a default: may not */
    assert_int_equal(table_check(&animal_table, &a, "animal 3", &e), -1);
    a.head.length_mm = 6000;
    expect_refused(&a, "animal 3.head.length: 6m is out of range: expected 1mm to 5m");
    a.head.length_mm = 1000;
    struct leg tail = {.length_mm = 1, .side = 2};
    a.tail = &tail;
    expect_refused(&a, "animal 3.tail.side: choice 2 is out of range: expected 0 to 1");
}

/* If values may come from elsewhere, their defaults are not written out. */
static void what_inherits_stays_as_it_is(void **state)
{
    (void)state;
    static const struct field fields[] = {
        {.name = "legs", .kind = FIELD_MAP, .item = FIELD_OBJECT, .sub = &leg_table},
        {.name = "arms", .kind = FIELD_MAP, .item = FIELD_OBJECT, .sub = &leg_table, .inherits = true},
        {0}};
    static const struct table table = {"t", NULL, sizeof(struct list_of), fields, NULL};
    json_t *json = json_pack("{s:{s:{}},s:{s:{}}}", "legs", "a", "arms", "b");
    json_t *full = table_resolve(&table, json);
    json_t *wanted = json_pack("{s:{s:{s:s}},s:{s:{}}}", "legs", "a", "length", "1m", "arms", "b");
    assert_true(json_equal(full, wanted));
    json_decref(json);
    json_decref(full);
    json_decref(wanted);
}

/* As they are written: "*" and "*3" are all hosts and one, and ranges names; POSIX reads the pattern, too. */
static void the_pattern_of_roles_takes_all_hosts(void **state)
{
    (void)state;
    static const char *const takes[] = {"a",   "a.rail3", "h[0-31]", "h[0-1,16]",
                                        "s{}", "*",       "*3",      "*12.rail0"},
                             *const refuses[] = {"",   "-a", "a b", "a+b",  "**",
                                                 "*a", "a*", "*3.", "*.-a", "*3.a.b"};
    struct text pattern = {0};
    assert_true(form_pattern(&form_roles, false, &pattern));
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (!pattern_fits(text_string(&pattern), takes[i]))
            fail_msg("%s does not take %s", text_string(&pattern), takes[i]);
    for (size_t i = 0; i < sizeof refuses / sizeof *refuses; i++)
        if (pattern_fits(text_string(&pattern), refuses[i]))
            fail_msg("%s takes %s", text_string(&pattern), refuses[i]);
    text_free(&pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_struct),
        cmocka_unit_test(marks_what_was_not_said),
        cmocka_unit_test(errors_name_path_value_and_what_is_allowed),
        cmocka_unit_test(defaults_need_no_document),
        cmocka_unit_test(defaults_are_written_out),
        cmocka_unit_test(schema_and_manual_know_every_field),
        cmocka_unit_test(the_schemas_take_what_is_shipped),
        cmocka_unit_test(the_schema_takes_what_the_program_takes),
        cmocka_unit_test(the_pattern_of_roles_takes_all_hosts),
        cmocka_unit_test(structs_are_checked),
        cmocka_unit_test(what_inherits_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
