/* The frame of every program: its help and manual, and its run from the command line to the exit status. */
#include "lib/program/program.h"

#include "lib/document/nearest.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const struct field no_fields[] = {{0}};
static const struct table no_options = {.name = "options", .fields = no_fields};

int program_fail(int status, const struct error *e)
{
    log_error("%s", e->text);
    return status;
}

/* ---- help */

/* "run [OPTION...] SCENARIO" */
static void add_usage(const struct command *command, struct text *out)
{
    text_add(out, "%s%s", command->name ? command->name : "", command->name && command->options ? " " : "");
    text_add(out, "%s", command->options ? "[OPTION...]" : "");
    if (command->arguments)
        text_add(out, "%s%s", out->length ? " " : "", command->arguments);
}

static void help_command(FILE *out, const struct program *program, const struct command *command)
{
    struct text usage = {0};
    add_usage(command, &usage);
    print_to(out, "usage: %s %s\n\n", program->name, text_string(&usage));
    text_free(&usage);
    arguments_wrap(out, command->about, 0);
    print_to(out, "\nOptions:\n");
    if (command->options)
        arguments_help(out, command->options);
    print_to(out, "  -h, --help                Show this help.\n");
    if (!command->name)
        print_to(out, "      --version             Show the version.\n");
}

static void help_program(FILE *out, const struct program *program)
{
    if (!program->commands[0]->name) {
        help_command(out, program, program->commands[0]);
        return;
    }
    print_to(out, "usage: %s COMMAND [OPTION...] [ARGUMENT...]\n\n", program->name);
    arguments_wrap(out, program->about, 0);
    print_to(out, "\nCommands:\n");
    for (const struct command *const *c = program->commands; *c; c++) {
        print_to(out, "  %-12s ", (*c)->name);
        arguments_wrap(out, (*c)->about, 15);
    }
    print_to(out, "  %-12s %s\n  %-12s %s\n", "help", "Show the options of a command.", "version",
             "Show the version.");
    print_to(out, "\n\"%s help COMMAND\" shows the options of a command, \"man %s\" the manual.\n",
             program->name, program->name);
}

/* ---- the manual: synopsis */

/* "[HOST...]" in mdoc's macros: .Op Ar HOST ... */
static void manual_arguments(const char *arguments, struct text *out)
{
    for (const char *p = arguments; *(p += strspn(p, " "));) {
        size_t length = strcspn(p, " ");
        bool optional = p[0] == '[';
        struct text word = {0};
        for (size_t i = 0; i < length; i++)
            if (!strchr("[].", p[i]))
                text_add(&word, "%c", p[i]);
        bool several = length > 4 && memcmp(p + length - (optional ? 4 : 3), "...", 3) == 0;
        bool choice = strchr(text_string(&word), '|');
        text_add(out, ".%s%s ", optional ? "Op " : "", choice ? "Cm" : "Ar");
        for (const char *w = text_string(&word); *w; w++)
            text_add(out, *w == '|' ? " | " : "%c", *w);
        text_add(out, "%s\n", several ? " ..." : "");
        text_free(&word);
        p += length;
    }
}

static void manual_synopsis(const struct program *program, struct text *out)
{
    for (const struct command *const *c = program->commands; *c; c++) {
        text_add(out, ".Nm\n");
        if ((*c)->name)
            text_add(out, ".Cm %s\n", (*c)->name);
        if ((*c)->options)
            text_add(out, ".Op Ar option ...\n");
        if ((*c)->arguments)
            manual_arguments((*c)->arguments, out);
    }
}

/* ---- the manual: options */

static const struct field *same_option(const struct command *command, const struct field *field)
{
    char word[ARGUMENT_NAME_SIZE + 2] = "--";
    arguments_name(field, word + 2);
    const struct field *found = command->options ? arguments_find(command->options, word) : NULL;
    return found && found->help && strcmp(found->help, field->help) == 0 ? found : NULL;
}

/* Do all commands have this option with the same meaning? */
static bool is_common(const struct program *program, const struct field *field)
{
    for (const struct command *const *c = program->commands; *c; c++)
        if (!same_option(*c, field))
            return false;
    return true;
}

static const struct field frame_fields[] = {
    {.name = "help", .letter = 'h', .kind = FIELD_BOOL, .help = "Show the options."},
    {.name = "version", .kind = FIELD_BOOL, .help = "Show the version."},
    {0},
};

/* The options that all commands have (`common`), or the command's other options. */
static void manual_options(const struct program *program, const struct command *command, bool common,
                           struct text *out)
{
    static const struct table none = {.name = "options", .fields = frame_fields + 2};
    const struct field **fields = arguments_list(command->options ? command->options : &none);
    size_t count = 0, kept = 0;
    while (fields && fields[count])
        count++;
    const struct field **chosen = calloc(count + 3, sizeof *chosen);
    for (size_t i = 0; chosen && i < count; i++)
        if (is_common(program, fields[i]) == common)
            chosen[kept++] = fields[i];
    for (size_t i = 0; chosen && common && frame_fields[i].name; i++)
        chosen[kept++] = &frame_fields[i];
    if (chosen)
        arguments_manual(chosen, out);
    free(chosen);
    free(fields);
}

int program_manual(const struct program *program, const char *section, struct text *out)
{
    if (strcmp(section, "synopsis") == 0) {
        manual_synopsis(program, out);
        return 0;
    }
    if (strcmp(section, "common") == 0) {
        manual_options(program, program->commands[0], true, out);
        return 0;
    }
    bool whole = strncmp(section, "whole ", 6) == 0;
    for (const struct command *const *c = program->commands; *c; c++) {
        if (!(*c)->name || strcmp((*c)->name, section + (whole ? 6 : 0)) != 0)
            continue;
        if (whole)
            text_add(out, ".Ss %s%s%s\n%s\n", (*c)->name, (*c)->arguments ? " " : "",
                     (*c)->arguments ? (*c)->arguments : "", (*c)->about);
        manual_options(program, *c, false, out);
        return 0;
    }
    return -1;
}

/* ---- finding the command */

const struct command *program_command(const struct program *program, const char *name)
{
    for (const struct command *const *c = program->commands; *c; c++)
        if ((*c)->name && strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static int unknown_command(const struct program *program, const char *word)
{
    size_t count = 0;
    while (program->commands[count])
        count++;
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = program->commands[i]->name;
    const char *near = names ? nearest_word(word, names) : NULL;
    if (near)
        log_error("unknown command \"%.60s\"; did you mean \"%s\"?", word, near);
    else
        log_error("unknown command \"%.60s\"; %s --help lists the commands", word, program->name);
    free(names);
    return EXIT_USAGE;
}

/* Options may precede the command: is the next word the value of this one? */
static bool takes_next(const struct program *program, const char *word)
{
    for (const struct command *const *c = program->commands; *c; c++) {
        const struct field *field = (*c)->options ? arguments_find((*c)->options, word) : NULL;
        if (field)
            return arguments_value_follows(field, word);
    }
    return false;
}

/* The index of the command in argv; argc if there is none. */
static int command_index(const struct program *program, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            return i;
        if (takes_next(program, argv[i]))
            i++;
    }
    return argc;
}

static bool is_given(int argc, char **argv, const char *word, const char *other)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0 || strcmp(argv[i], other) == 0)
            return true;
    return false;
}

/* ---- running it */

static int wrong_count(const struct program *program, const struct command *command, const struct call *call)
{
    struct text usage = {0};
    add_usage(command, &usage);
    if (call->count > command->most)
        log_error("\"%.60s\" is one argument too many; usage: %s %s", call->arguments[command->most],
                  program->name, text_string(&usage));
    else
        log_error("an argument is missing; usage: %s %s", program->name, text_string(&usage));
    text_free(&usage);
    return EXIT_USAGE;
}

/* argv[0] is the name of the command or program. */
static int run_command(const struct program *program, const struct command *command, int argc, char **argv)
{
    const struct table *table = command->options ? command->options : &no_options;
    const char **rest = NULL;
    struct call call = {0};
    struct error e = {""};
    void *options = calloc(1, table->size + 1);
    if (!options)
        return program_fail(EXIT_LAB, (error_set(&e, "out of memory"), &e));
    json_t *document = arguments_read(table, argc, argv, &rest, &call.count, &e);
    if (!document || table_parse_options(table, document, options, &e) != 0) {
        json_decref(document);
        free(rest);
        free(options);
        log_error("%s; see %s%s%s --help", e.text, program->name, command->name ? " " : "",
                  command->name ? command->name : "");
        return EXIT_USAGE;
    }
    call.options = options;
    call.document = document;
    call.arguments = rest;
    int status = call.count < command->least || call.count > command->most
                     ? wrong_count(program, command, &call)
                     : command->run(&call);
    table_free(table, options);
    json_decref(document);
    free(options);
    free(rest);
    return status;
}

/* ---- options that the frame handles */

static int print_text(struct text *out)
{
    print_document(text_string(out));
    text_free(out);
    return EXIT_DONE;
}

static int print_help(const struct program *program, const char *name)
{
    const struct command *command = name ? program_command(program, name) : NULL;
    if (name && !command)
        return unknown_command(program, name);
    if (command)
        help_command(stdout, program, command);
    else
        help_program(stdout, program);
    return EXIT_DONE;
}

/* Options that the Makefile and the tests use; -1 if argv contains none of these options. */
static int print_parts(const struct program *program, int argc, char **argv)
{
    struct text out = {0};
    if (argc >= 2 && strcmp(argv[1], "--complete") == 0) {
        complete_words(program, (const char *const *)argv + 2, (size_t)argc - 2, &out);
        return print_text(&out);
    }
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "--completion") == 0) {
        if (complete_script(program->name, argc == 3 ? argv[2] : "bash", &out) == 0)
            return print_text(&out);
        log_error("--completion %.60s: expected bash, zsh or fish", argv[2]);
        return EXIT_USAGE;
    }
    if (argc == 2 && strcmp(argv[1], "--commands") == 0) {
        for (const struct command *const *c = program->commands; *c; c++)
            print_out("%s\n", (*c)->name ? (*c)->name : "");
        return EXIT_DONE;
    }
    if (argc < 2 || argc > 3 || strcmp(argv[1], "--manual") != 0)
        return -1;
    if (program_manual(program, argc == 3 ? argv[2] : "", &out) == 0)
        return print_text(&out);
    log_error("--manual %.60s: expected synopsis, common or a command", argc == 3 ? argv[2] : "");
    return EXIT_USAGE;
}

/* Remove the word at `at` from argv: the rest is the command line of the command that it names. */
static void remove_word(int *argc, char **argv, int at)
{
    argv[0] = argv[at];
    memmove(argv + at, argv + at + 1, (size_t)(*argc - at) * sizeof *argv);
    --*argc;
}

static int run_program(const struct program *program, int argc, char **argv)
{
    const struct command *command = program->commands[0];
    bool single = !command->name;
    int at = single ? argc : command_index(program, argc, argv), status = print_parts(program, argc, argv);
    const char *word = at < argc ? argv[at] : NULL;
    if (status >= 0)
        return status;
    if (word && strcmp(word, "help") == 0)
        return print_help(program, argv[at + 1]);
    if (is_given(argc, argv, "--version", "--version") || (word && strcmp(word, "version") == 0)) {
        print_out("%s %s", program->name, HARNESS_VERSION);
        print_out(program->build ? " (build %s)\n" : "\n", program->build ? program->build : "");
        return EXIT_DONE;
    }
    if (is_given(argc, argv, "--help", "-h"))
        return print_help(program, word);
    if (single)
        return run_command(program, command, argc, argv);
    if (!word) {
        help_program(stderr, program);
        return EXIT_USAGE;
    }
    command = program_command(program, word);
    if (!command)
        return unknown_command(program, word);
    remove_word(&argc, argv, at);
    return run_command(program, command, argc, argv);
}

/*
 * The first file that a program opens gets the lowest free number: if the caller has closed 0, 1 or 2, a
 * journal or a document would be what messages are printed to. What is closed is opened the wrong way round,
 * as glibc does for set-user-ID programs: each read or write still fails with EBADF, so that output which
 * nobody gets is an error, as on a full disk. Programs that are started from here inherit that.
 */
static int open_closed_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return -1;
    return 0;
}

static bool can_be_written(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* The reader of a pipe has closed it. */
static bool reader_has_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* Was all output written? A write may have failed long ago, and errno is another one since. */
static int finish_output(int status)
{
    struct statvfs system;
    int number = fflush(stdout) != 0 ? errno : 0;
    if (!number && !ferror(stdout))
        return status;
    if (!number && fstatvfs(STDOUT_FILENO, &system) == 0 && system.f_blocks > 0 && system.f_bavail == 0)
        number = ENOSPC;
    if (!can_be_written(STDOUT_FILENO))
        log_error(
            "writing to standard output: it is closed, or open for reading alone; >/dev/null says that the "
            "output is not wanted");
    else if (!reader_has_gone()) /* as "... | head": it knows */
        log_error("writing to standard output: %s",
                  number ? strerror(number) : "a part of it could not be written");
    return status == EXIT_DONE || status == EXIT_SKIPPED ? EXIT_LAB : status;
}

int program_main(const struct program *program, int argc, char **argv)
{
    if (open_closed_standard_files() != 0) {
        log_error("opening /dev/null in place of a standard file that is closed: %s", strerror(errno));
        return EXIT_LAB;
    }
    signal(SIGPIPE, SIG_IGN); /* a write that fails is an error with a sentence; work goes on where it can */
    signal(SIGXFSZ, SIG_IGN);
    return finish_output(run_program(program, argc, argv));
}
