#include "tests/unit/unit.h"

#include "lib/program/program.h"
#include <unistd.h>

/* What the last command was called with. */
static struct {
    const char *name;
    int64_t count_option;
    int loud;
    size_t count;
    char first[20];
} seen;

struct options {
    int64_t count;
    int loud;
    char *lab;
};
#define AT(member) .offset = offsetof(struct options, member)
#define LAB                                                                                                \
    {                                                                                                      \
        .name = "lab", .letter = 'l', .kind = FIELD_STRING, AT(lab), .argument = "LAB", .help = "The lab." \
    }
static const struct field walk_fields[] = {
    LAB,
    {.name = "count", .letter = 'c', .kind = FIELD_INTEGER, AT(count), .min = 1, .max = 9, .help = "Steps."},
    {0},
};
static const struct field talk_fields[] = {
    LAB, {.name = "loud", .kind = FIELD_BOOL, AT(loud), .help = "Talk loudly."}, {0}};
static const struct table walk_options = {
    .name = "options", .size = sizeof(struct options), .fields = walk_fields};
static const struct table talk_options = {
    .name = "options", .size = sizeof(struct options), .fields = talk_fields};

static int note(const char *name, const struct call *call)
{
    const struct options *options = call->options;
    seen.name = name;
    seen.count_option = options->count;
    seen.loud = options->loud;
    seen.count = call->count;
    snprintf(seen.first, sizeof seen.first, "%s", call->count ? call->arguments[0] : "");
    return EXIT_FAILED;
}
static int walk(const struct call *call)
{
    return note("walk", call);
}
static int talk(const struct call *call)
{
    return note("talk", call);
}

static const struct command command_walk = {.name = "walk",
                                            .arguments = "PLACE [on|off]",
                                            .about = "Walk.",
                                            .options = &walk_options,
                                            .least = 1,
                                            .most = 2,
                                            .run = walk};
static const struct command command_talk = {
    .name = "talk", .about = "Talk.", .options = &talk_options, .run = talk};
static const struct command *const commands[] = {&command_walk, &command_talk, NULL};
static const struct program program = {.name = "person", .about = "A person.", .commands = commands};

#define MAX_WORDS 10

static int run(const char *const *words)
{
    char *argv[MAX_WORDS + 2] = {(char *)(uintptr_t) "person"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    memset(&seen, 0, sizeof seen);
    return program_main(&program, argc, argv);
}
#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static void commands_get_options_and_arguments(void **state)
{
    (void)state;
    assert_int_equal(RUN("walk", "--count", "3", "home"), EXIT_FAILED); /* the command's own status */
    assert_string_equal(seen.name, "walk");
    assert_int_equal(seen.count_option, 3);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.first, "home");
    assert_int_equal(RUN("talk", "--loud"), EXIT_FAILED);
    assert_string_equal(seen.name, "talk");
    assert_int_equal(seen.loud, 1);
}

static void options_may_stand_before_the_command(void **state)
{
    (void)state;
    RUN("--lab", "talk", "walk", "home");
    assert_string_equal(seen.name, "walk");
    RUN("-l", "talk", "--loud", "talk");
    assert_string_equal(seen.name, "talk");
    RUN("-ltalk", "--count=2", "walk", "x");
    assert_string_equal(seen.name, "walk");
    assert_int_equal(seen.count_option, 2);
    assert_int_equal(RUN("--loud", "walk", "x"), EXIT_USAGE); /* not this command's */
}

static void wrong_usage_runs_nothing(void **state)
{
    (void)state;
    assert_int_equal(RUN("wlak", "x"), EXIT_USAGE);
    assert_int_equal(RUN("walk"), EXIT_USAGE);
    assert_int_equal(RUN("walk", "a", "b", "c"), EXIT_USAGE);
    assert_int_equal(RUN("walk", "--count", "0", "x"), EXIT_USAGE);
    assert_int_equal(RUN("talk", "x"), EXIT_USAGE);
    assert_int_equal(run((const char *const[]){NULL}), EXIT_USAGE);
    assert_null(seen.name);
}

static void manual_knows_common_options_and_others(void **state)
{
    struct text out = {0};
    (void)state;
    assert_int_equal(program_manual(&program, "common", &out), 0);
    assert_non_null(strstr(text_string(&out), "Fl -lab Ar LAB"));
    assert_non_null(strstr(text_string(&out), "Fl -version"));
    assert_null(strstr(text_string(&out), "Fl -count"));
    text_clear(&out);
    assert_int_equal(program_manual(&program, "walk", &out), 0);
    assert_null(strstr(text_string(&out), "-lab"));
    assert_non_null(strstr(text_string(&out), "Fl c , Fl -count Ar N"));
    text_clear(&out);
    assert_int_equal(program_manual(&program, "synopsis", &out), 0);
    assert_non_null(
        strstr(text_string(&out), ".Cm walk\n.Op Ar option ...\n.Ar PLACE\n.Op Cm on | off\n.Nm\n"));
    assert_int_equal(program_manual(&program, "run", &out), -1);
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_get_options_and_arguments),
        cmocka_unit_test(options_may_stand_before_the_command),
        cmocka_unit_test(wrong_usage_runs_nothing),
        cmocka_unit_test(manual_knows_common_options_and_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
