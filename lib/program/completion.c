#include "lib/program/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Completion of a value by its word in the usage. The names of labs and scenarios come from harness list. */
static const char values_case[] =
    "    [[ ${COMP_WORDS[0]##*/} == harness ]] && list=${COMP_WORDS[0]} || list=harness\n"
    "    case $values in\n"
    "    LAB) words=$(\"$list\" list labs 2>/dev/null | sed -n 's/^  \\([^ ]*\\) .*/\\1/p'; compgen -f -- "
    "\"$word\") ;;\n"
    "    SCENARIO | FILE) words=$(\"$list\" list scenarios 2>/dev/null | sed -n 's/^  \\([^ ]*\\) .*/\\1/p'\n"
    "        compgen -f -- \"$word\") ;;\n"
    "    DOCUMENT) words=$(compgen -f -- \"$word\") ;;\n"
    "    FOLDER | RESULT) words=$(compgen -d -- \"$word\") ;;\n"
    "    INTERFACE) words=$(ls /sys/class/net 2>/dev/null) ;;\n"
    "    *'|'* | -* | [a-z]*) words=${values//'|'/ } ;;\n"
    "    esac\n";

/* "host_facts": a valid name of a shell function. */
static const char *shell_name(const char *name, char buffer[ARGUMENT_NAME_SIZE])
{
    snprintf(buffer, ARGUMENT_NAME_SIZE, "%s", name);
    for (char *p = buffer; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return buffer;
}

/* "a|b|c" of choices, else the word for the value. */
static void value_word(const struct field *field, struct text *out)
{
    char buffer[ARGUMENT_NAME_SIZE];
    const char *const *choices = field->kind == FIELD_CHOICE ? field->choices : NULL;
    if (!choices)
        text_add(out, "%s", arguments_word(field, buffer));
    for (size_t i = 0; choices && choices[i]; i++)
        text_add(out, "%s%s", i ? "|" : "", choices[i]);
}

static void option_words(const struct command *command, struct text *out)
{
    char name[ARGUMENT_NAME_SIZE];
    const struct field **fields = command->options ? arguments_list(command->options) : NULL;
    for (size_t i = 0; fields && fields[i]; i++)
        text_add(out, "--%s ", arguments_name(fields[i], name));
    text_add(out, "--help");
    free(fields);
}

/* A line of a case for each option with a value. */
static void value_cases(const struct command *command, struct text *out)
{
    char name[ARGUMENT_NAME_SIZE];
    const struct field **fields = command->options ? arguments_list(command->options) : NULL;
    for (size_t i = 0; fields && fields[i]; i++) {
        const struct field *f = fields[i];
        struct text word = {0};
        if (f->kind == FIELD_BOOL)
            continue;
        value_word(f, &word);
        text_add(out, "    '%s --%s'", command->name ? command->name : "", arguments_name(f, name));
        if (f->letter)
            text_add(out, " | '%s -%c'", command->name ? command->name : "", f->letter);
        text_add(out, ") values='%s' ;;\n", text_string(&word));
        text_free(&word);
    }
    free(fields);
}

/* The first argument's word without brackets and dots: "HOST" of "[HOST...]". */
static void argument_word(const struct command *command, struct text *out)
{
    for (const char *p = command->arguments ? command->arguments : ""; *p && *p != ' '; p++)
        if (!strchr("[].", *p))
            text_add(out, "%c", *p);
}

static void command_case(const struct command *command, struct text *out)
{
    struct text options = {0}, argument = {0};
    option_words(command, &options);
    argument_word(command, &argument);
    text_add(out, "    '%s') options='%s' argument='%s' ;;\n", command->name ? command->name : "",
             text_string(&options), text_string(&argument));
    text_free(&options);
    text_free(&argument);
}

static void command_words(const struct program *program, struct text *out)
{
    bool subcommands = false;
    for (const struct command *const *c = program->commands; *c && (*c)->name; c++, subcommands = true)
        text_add(out, "%s ", (*c)->name);
    if (subcommands)
        text_add(out, "help version ");
    text_add(out, "--help --version");
}

void program_completion(const struct program *program, struct text *out)
{
    char name[ARGUMENT_NAME_SIZE];
    struct text words = {0};
    shell_name(program->name, name);
    command_words(program, &words);
    text_add(out, "# shellcheck shell=bash\n# bash completion for %s, written by \"%s --completion\"\n",
             program->name, program->name);
    text_add(out,
             "_%s() {\n"
             "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
             "    local commands='%s' command='' options='' argument='' values='' words='' list i\n"
             "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
             "        [[ -n $command || ${COMP_WORDS[i]} == -* || \" $commands \" != *\" ${COMP_WORDS[i]} "
             "\"* ]] ||\n"
             "            command=${COMP_WORDS[i]}\n"
             "    done\n"
             "    case $command in\n",
             name, text_string(&words));
    for (const struct command *const *c = program->commands; *c; c++)
        command_case(*c, out);
    text_add(out, "    *) options=$commands argument=${commands// /|} ;;\n    esac\n"
                  "    [[ $word != -* ]] || argument=${options// /|}\n"
                  "    case \"$command $before\" in\n");
    for (const struct command *const *c = program->commands; *c; c++)
        value_cases(*c, out);
    text_add(out, "    *) values=$argument ;;\n    esac\n%s", values_case);
    text_add(out,
             "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
             "}\n"
             "complete -o filenames -F _%s %s\n",
             name, program->name);
    text_free(&words);
}
