#include "tests/unit/unit.h"

#include "lib/document/arguments.h"

struct wheel {
    int64_t size_mm;
    char *rim;
};
struct values {
    int flag;
    char *name;
    struct list_of sets;
    struct list_of ages;
    int64_t count, every_ns, big;
    double share;
    int colour, dry_run, on;
    json_t *note;
    struct wheel wheel;
    char *secret;
};
static const char *const colours[] = {"red", "blue", NULL};
static const struct field wheel_fields[] = {
    {.name = "wheel_size",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct wheel, size_mm),
     .unit = UNIT_LENGTH_MM,
     .fallback = "\"1m\"",
     .help = "The size of the wheel."},
    {.name = "rim",
     .letter = 'r',
     .kind = FIELD_STRING,
     .offset = offsetof(struct wheel, rim),
     .help = "The rim."},
    {0},
};
static const struct table wheel_table = {
    .name = "wheel", .size = sizeof(struct wheel), .fields = wheel_fields};

#define AT(member) .offset = offsetof(struct values, member)
static const struct field fields[] = {
    {.name = "flag", .letter = 'f', .kind = FIELD_BOOL, AT(flag), .help = "A flag."},
    {.name = "name",
     .letter = 'n',
     .kind = FIELD_STRING,
     AT(name),
     .argument = "NAME",
     .help = "A name. Any."},
    {.name = "set",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     AT(sets),
     .argument = "KEY=VALUE",
     .help = "Set a value."},
    {.name = "ages",
     .kind = FIELD_LIST,
     .item = FIELD_INTEGER,
     AT(ages),
     .min = 0,
     .max = 9,
     .help = "Ages."},
    {.name = "count", .kind = FIELD_INTEGER, AT(count), .min = 1, .max = 9, .help = "How many."},
    {.name = "every",
     .kind = FIELD_QUANTITY,
     AT(every_ns),
     .unit = UNIT_TIME_NS,
     .min = 1000,
     .max = 1000000000,
     .fallback = "\"10ms\"",
     .help = "The interval."},
    {.name = "big", .kind = FIELD_INTEGER, AT(big), .help = "Any number."},
    {.name = "share",
     .kind = FIELD_NUMBER,
     AT(share),
     .min_number = 0,
     .max_number = 1,
     .help = "A share of the whole that is explained in so many words that they need a second line."},
    {.name = "colour", .kind = FIELD_CHOICE, AT(colour), .choices = colours, .help = "The colour."},
    {.name = "dry_run", .kind = FIELD_BOOL, AT(dry_run), .help = "Change nothing."},
    {.name = "on", .kind = FIELD_BOOL, AT(on), .fallback = "true", .help = "On."},
    {.name = "note", .kind = FIELD_JSON, AT(note), .help = "Any value."},
    {.name = "wheel", .kind = FIELD_OBJECT, AT(wheel), .sub = &wheel_table, .help = "The wheel:"},
    {.name = "secret_for_tests", .kind = FIELD_STRING, AT(secret)},
    {0},
};
static const struct table table = {.name = "values", .size = sizeof(struct values), .fields = fields};

#define MAX_WORDS 24

/* argv[0] and the words. */
static int parse(const char *const *words, struct values *v, const char ***rest, size_t *count,
                 struct error *e)
{
    char *argv[MAX_WORDS + 1] = {(char *)(uintptr_t) "p"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    json_t *document = arguments_read(&table, argc, argv, rest, count, e);
    int result = document ? table_parse_options(&table, document, v, e) : -1;
    json_decref(document);
    if (document && result != 0) {
        free(*rest);
        *rest = NULL;
    }
    return result;
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void command_lines_are_read(void **state)
{
    struct values v;
    const char **rest;
    size_t count;
    struct error e;
    (void)state;
    if (parse(WORDS("one", "-fnx", "--set=a=1", "--set", "b=2", "--every", "20ms", "--colour", "blue",
                    "--count=9", "-", "--dry-run", "--note={\"a\":1}", "--share", "0.5", "-r", "steel",
                    "--secret-for-tests", "s", "--", "--flag"),
              &v, &rest, &count, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(v.flag, 1);
    assert_int_equal(v.dry_run, 1);
    assert_string_equal(v.name, "x");
    assert_int_equal(v.sets.count, 2);
    assert_string_equal(((char **)v.sets.items)[1], "b=2");
    assert_int_equal(v.every_ns, 20000000);
    assert_int_equal(v.colour, 1);
    assert_int_equal(v.count, 9);
    assert_true(v.share == 0.5);
    assert_int_equal(json_integer_value(json_object_get(v.note, "a")), 1);
    assert_string_equal(v.wheel.rim, "steel"); /* the fields of a group are options too */
    assert_int_equal(v.wheel.size_mm, 1000);
    assert_string_equal(v.secret, "s");
    assert_int_equal(count, 3);
    assert_string_equal(rest[0], "one");
    assert_string_equal(rest[1], "-");
    assert_string_equal(rest[2], "--flag");
    free(rest);
    table_free(&table, &v);
}

/* docs/README.md says so. */
static void of_an_option_given_twice_the_last_counts(void **state)
{
    struct values v;
    const char **rest;
    size_t count;
    struct error e;
    (void)state;
    if (parse(WORDS("-nx", "--count", "8", "--count=9", "-r", "steel", "-ny"), &v, &rest, &count, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(v.name, "y");
    assert_int_equal(v.count, 9);
    free(rest);
    table_free(&table, &v);
}

static void what_is_not_given_has_its_default(void **state)
{
    struct values v;
    const char **rest;
    size_t count;
    (void)state;
    assert_int_equal(parse((const char *const[]){NULL}, &v, &rest, &count, NULL), 0);
    assert_int_equal(v.flag, 0);
    assert_int_equal(v.on, 1);
    assert_int_equal(v.every_ns, 10000000);
    assert_true(v.count == FIELD_UNSET);
    assert_int_equal(v.colour, -1);
    assert_null(v.name);
    assert_int_equal(v.wheel.size_mm, 1000);
    assert_int_equal(count, 0);
    free(rest);
    table_free(&table, &v);
    assert_int_equal(parse(WORDS("--on=false", "--count=1", "--count=2"), &v, &rest, &count, NULL), 0);
    assert_int_equal(v.on, 0);
    assert_int_equal(v.count, 2); /* the last one counts */
    free(rest);
    table_free(&table, &v);
}

static void wrong_command_lines_are_explained(void **state)
{
    static const char *const cases[][3] = {
        {"--nam", "x", "unknown option --nam; did you mean --name?"},
        {"--dry_run", NULL, "unknown option --dry_run; did you mean --dry-run?"},
        {"--rims", NULL, "did you mean --rim?"},
        {"--zzzzzzzz", "x", "unknown option --zzzzzzzz"},
        {"--name", NULL, "--name needs a value: NAME"},
        {"-n", NULL, "-n needs a value: NAME"},
        {"--flag=1", NULL, "--flag: 1 is a number: expected true or false"},
        {"--count", "10", "--count: 10 is out of range: expected a whole number from 1 to 9"},
        {"--count", "x", "--count: \"x\" is a string: expected a whole number from 1 to 9"},
        {"--count", "1.5", "--count: 1.5 is a number: expected a whole number from 1 to 9"},
        {"--big", "99999999999999999999", "--big: 1e20 is a number: expected a whole number"},
        {"--share", "nan", "--share: \"nan\" is a string: expected a number"},
        {"--ages", "10", "--ages: 10 is out of range: expected a whole number from 0 to 9"},
        {"--every", "10", "--every: \"10\" has no unit"},
        {"--every", "2s", "--every: \"2s\" is out of range: expected 1us to 1s"},
        {"--colour", "green", "--colour: \"green\" is unknown: expected one of \"red\", \"blue\""},
        {"--wheel-size", "1s", "--wheel-size: \"1s\" has the unknown unit"},
        {"-x", NULL, "unknown option -x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct values v;
        const char **rest;
        size_t count;
        struct error e = {""};
        assert_int_equal(parse(WORDS(cases[i][0], cases[i][1]), &v, &rest, &count, &e), -1);
        if (!strstr(e.text, cases[i][2]))
            fail_msg("\"%s\" does not say \"%s\"", e.text, cases[i][2]);
    }
}

/* The limits and the sentences are the same for documents and command lines. */
static void documents_and_options_are_refused_alike(void **state)
{
    struct values v;
    const char **rest;
    size_t count;
    struct error option = {""}, key = {""};
    json_t *document = json_pack("{s:i}", "count", 10);
    (void)state;
    assert_int_equal(parse(WORDS("--count=10"), &v, &rest, &count, &option), -1);
    assert_int_equal(table_parse(&table, document, &v, &key), -1);
    assert_string_equal(option.text + 2, key.text);
    json_decref(document);
}

static void help_lists_every_option_once(void **state)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&memory, &size);
    (void)state;
    arguments_help(out, &table);
    fclose(out);
    static const char *const lines[] = {
        "  -f, --flag                A flag.\n",
        "  -n, --name NAME           A name.\n",
        "      --count N             How many.\n",
        "      --every TIME          The interval (default 10ms).\n",
        "      --colour red|blue     The colour.\n",
        ("      --share N             A share of the whole that is explained in so many\n"
         "                            words that they need a second line.\n"),
        "\nThe wheel:\n",
        "      --wheel-size LENGTH   The size of the wheel (default 1m).\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(memory, lines[i]))
            fail_msg("\"%s\" is not in:\n%s", lines[i], memory);
    assert_null(strstr(memory, "secret_for_tests"));
    free(memory);
}

static void the_manual_tells_range_and_default(void **state)
{
    struct text out = {0};
    (void)state;
    const struct field **listed = arguments_list(&table);
    arguments_manual(listed, &out);
    free(listed);
    static const char *const parts[] = {
        ".It Fl n , Fl -name Ar NAME\nA name.\nAny.\n",
        ".It Fl -count Ar N\nHow many.\nA whole number from 1 to 9.\n",
        ".It Fl -dry-run\nChange nothing.\n",
        ".It Fl -wheel-size Ar LENGTH\nThe size of the wheel.\nA length such as",
        "; default 1m.\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text_string(&out), parts[i]))
            fail_msg("\"%s\" is not in:\n%s", parts[i], text_string(&out));
    assert_null(strstr(text_string(&out), "secret_for_tests"));
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_lines_are_read),
        cmocka_unit_test(of_an_option_given_twice_the_last_counts),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(wrong_command_lines_are_explained),
        cmocka_unit_test(documents_and_options_are_refused_alike),
        cmocka_unit_test(help_lists_every_option_once),
        cmocka_unit_test(the_manual_tells_range_and_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
