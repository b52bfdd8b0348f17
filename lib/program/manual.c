#include "lib/program/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- synopsis */

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

/* ---- options */

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
