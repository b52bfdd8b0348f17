#include "lib/program/program.h"

#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FILES   ":files\n"
#define FOLDERS ":folders\n"

/* ---- one word */

/* How long a sentence is up to its first stop or parenthesis. */
static size_t first_part(const char *words)
{
    static const char *const ends[] = {". ", ": ", "; ", " ("};
    size_t length = strlen(words);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(words, ends[i]);
        if (end && (size_t)(end - words) < length)
            length = (size_t)(end - words);
    }
    return length;
}

/* Does a shell run nothing of the word, however it stands in quotes? Others than who types name keys, values,
 * results. */
static bool is_harmless(const char *word)
{
    while (isalnum((unsigned char)*word) || (unsigned char)*word > 127 ||
           (*word && strchr(" ._-/:=,@+%*{}[]~#", *word)))
        word++;
    return !*word;
}

void completing_offer(const struct completing *c, const char *word, const char *about)
{
    if (strncmp(word, c->typed, strlen(c->typed)) != 0 || !is_harmless(word))
        return;
    const char *last = c->words[c->count - 1];
    size_t length = about ? first_part(about) : 0;
    while (length && (about[length - 1] == '.' || about[length - 1] == '\n'))
        length--;
    text_add(c->out, "%.*s%s", (int)(c->typed - last), last, word);
    if (length)
        text_add(c->out, "\t%.*s", (int)length, about);
    text_add(c->out, "\n");
}

/* ---- what was said before it */

static const struct field *option_of(const struct completing *c, const char *word)
{
    const struct table *table = c->command ? c->command->options : NULL;
    return table ? arguments_find(table, word) : NULL;
}

/* Go over the words before the last one: the options' values and the arguments. */
static const char *find_said(const struct completing *c, const char *option, size_t place)
{
    char name[ARGUMENT_NAME_SIZE];
    bool command_seen = !c->command || !c->command->name;
    for (size_t i = 0; i + 1 < c->count; i++) {
        const char *word = c->words[i], *sign = strchr(word, '=');
        const struct field *field = option_of(c, word);
        bool next = field && arguments_value_follows(field, word);
        bool asked = field && option && strcmp(arguments_name(field, name), option) == 0;
        if (asked && next)
            return i + 2 < c->count ? c->words[i + 1] : NULL;
        if (asked)
            return sign ? sign + 1 : word + 2;
        i += next;
        if (word[0] == '-')
            continue;
        if (!command_seen && strcmp(word, c->command->name) == 0)
            command_seen = true;
        else if (!option && place-- == 0)
            return word;
    }
    return NULL;
}

const char *completing_value(const struct completing *c, const char *option)
{
    return find_said(c, option, 0);
}

const char *completing_argument(const struct completing *c, size_t place)
{
    return find_said(c, NULL, place);
}

/* ---- values by the words that stand for them in the usage */

void completing_offer_names(const struct completing *c, enum find_kind kind)
{
    char **paths;
    size_t count;
    struct error e;
    if (find_all(kind, &paths, &count, &e) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash + 1 : paths[i];
        struct text word = {0};
        text_add(&word, "%.*s", (int)(strlen(name) - strlen(".json")), name);
        completing_offer(c, text_string(&word), NULL);
        text_free(&word);
    }
    find_free(paths, count);
}

static void offer_interfaces(const struct completing *c)
{
    struct sysfs_names names = sysfs_list("", "/sys/class/net");
    for (size_t i = 0; i < names.count; i++)
        completing_offer(c, names.items[i], NULL);
    sysfs_names_free(&names);
}

/* One of the alternatives of "CAPTURE|RUN" or "on|off": capitals stand for a value, others are the value. */
static void offer_alternative(const struct completing *c, const char *word)
{
    static const char *const files[] = {"FILE", "DOCUMENT", "CAPTURE", "PATH", "SCENARIO", "LAB"},
                             *const folders[] = {"FOLDER", "RESULT", "RESULTS", "RUN", "OLD", "NEW"};
    size_t before = c->out->length;
    if (islower((unsigned char)*word) || *word == '-')
        completing_offer(c, word, NULL);
    else if (c->program->complete)
        c->program->complete(c, word);
    bool offered = c->out->length > before;
    if (strcmp(word, "LAB") == 0)
        completing_offer_names(c, FIND_LAB);
    if (strcmp(word, "SCENARIO") == 0)
        completing_offer_names(c, FIND_SCENARIO);
    if (strcmp(word, "INTERFACE") == 0)
        offer_interfaces(c);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(word, files[i]) == 0)
            text_add(c->out, FILES);
    for (size_t i = 0; !offered && i < sizeof folders / sizeof *folders; i++)
        if (strcmp(word, folders[i]) == 0)
            text_add(c->out, FOLDERS);
}

/* What a word of the usage stands for, without its brackets and dots; "slurm[:PROFILE]" is "slurm". */
static void offer_values(const struct completing *c, const char *usage, size_t length)
{
    char word[ARGUMENT_NAME_SIZE * 2];
    for (size_t at = 0; at < length;) {
        size_t kept = 0;
        for (; at < length && usage[at] != '|'; at++)
            if (!strchr("[].", usage[at]) && kept + 1 < sizeof word)
                word[kept++] = usage[at];
        at++;
        word[kept] = '\0';
        word[strcspn(word, ":")] = '\0';
        offer_alternative(c, word);
    }
}

static void offer_option_values(const struct completing *c, const struct field *field)
{
    char buffer[ARGUMENT_NAME_SIZE];
    bool chosen = field->kind == FIELD_CHOICE || (field->kind == FIELD_LIST && field->item == FIELD_CHOICE);
    const char *word = chosen ? "" : arguments_word(field, buffer);
    for (size_t i = 0; chosen && field->choices[i]; i++)
        completing_offer(c, field->choices[i], NULL);
    offer_values(c, word, strlen(word));
}

/* ---- options, commands, arguments */

static void offer_options(const struct completing *c)
{
    char name[ARGUMENT_NAME_SIZE], word[ARGUMENT_NAME_SIZE + 2];
    const struct field **fields =
        c->command && c->command->options ? arguments_list(c->command->options) : NULL;
    for (size_t i = 0; fields && fields[i]; i++) {
        snprintf(word, sizeof word, "--%s", arguments_name(fields[i], name));
        completing_offer(c, word, fields[i]->help);
    }
    free(fields);
    completing_offer(c, "--help", "Show this help.");
    if (!c->command || !c->command->name)
        completing_offer(c, "--version", "Show the version.");
}

static void offer_commands(const struct completing *c, bool more)
{
    for (const struct command *const *one = c->program->commands; *one; one++)
        completing_offer(c, (*one)->name, (*one)->about);
    if (more) {
        completing_offer(c, "help", "Show the options of a command.");
        completing_offer(c, "version", "Show the version.");
    }
}

/* The usage's word for the argument at a place; the last one may be given again: "RESULT...". */
static void offer_argument(const struct completing *c)
{
    const char *usage = c->command->arguments ? c->command->arguments : "", *next;
    size_t place = 0;
    while (completing_argument(c, place))
        place++;
    if (place >= c->command->most)
        return;
    for (size_t i = 0; place > 0 && c->command->words && c->command->words[i]; i++)
        completing_offer(c, c->command->words[i], NULL);
    for (size_t i = 0; i < place && (next = strchr(usage, ' ')); i++)
        usage = next + 1;
    offer_values(c, usage, strcspn(usage, " "));
}

void complete_words(const struct program *program, const char *const *words, size_t count, struct text *out)
{
    if (!count)
        return;
    struct completing c = {.program = program, .words = words, .count = count, .out = out};
    bool single = !program->commands[0]->name, help = false;
    c.command = single ? program->commands[0] : NULL;
    for (size_t i = 0; !c.command && i + 1 < count; i++) {
        c.command = program_command(program, words[i]);
        help = help || strcmp(words[i], "help") == 0;
    }
    const char *last = words[count - 1], *before = count > 1 ? words[count - 2] : "",
               *sign = strchr(last, '=');
    const struct field *field = option_of(&c, before);
    c.typed = last;
    if (field && arguments_value_follows(field, before)) {
        c.option = before;
        offer_option_values(&c, field);
    } else if (last[0] == '-' && sign && (field = option_of(&c, last))) {
        c.option = last;
        c.typed = sign + 1;
        offer_option_values(&c, field);
    } else if (last[0] == '-') {
        offer_options(&c);
    } else if (c.command) {
        offer_argument(&c);
    } else {
        offer_commands(&c, !help);
    }
}

/* ---- the shells: \1 is the program's name, \2 the same as a part of a function's name */

static const char bash[] =
    "# shellcheck shell=bash\n"
    "# completion of \1 in bash, written by \"\1 --completion bash\"\n"
    "_\2() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} words=() kept='' piece='' rest i\n"
    "    # bash takes words apart at = and :, and puts only the last piece in place of itself\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        rest=${line#\"${line%%[![:space:]]*}\"}\n"
    "        piece=${COMP_WORDS[i]}\n"
    "        ((i < COMP_CWORD)) || piece=$rest\n"
    "        if ((i > 0)) && [[ $rest == \"$line\" ]]; then\n"
    "            kept=${words[-1]} words[-1]+=$piece\n"
    "        else\n"
    "            kept='' words+=(\"$piece\")\n"
    "        fi\n"
    "        line=${rest#\"$piece\"}\n"
    "    done\n"
    "    [[ -z $piece || $piece == *[!=:]* ]] || kept=${words[-1]}\n"
    "    words=(\"${words[@]//[\\\"\\'\\\\]/}\") kept=${kept//[\\\"\\'\\\\]/} COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files) compopt -o filenames 2>/dev/null\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X $'*\\n*' -- "
    "\"${words[-1]#\"$kept\"}\") ;;\n"
    "        :folders) compopt -o filenames 2>/dev/null\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -X $'*\\n*' -- "
    "\"${words[-1]#\"$kept\"}\") ;;\n"
    "        *) line=${line%%$'\\t'*} line=${line#\"$kept\"}\n"
    "            [[ $piece =~ ^(\\\"[^\\\"]*|\\'[^\\']*)$ ]] || printf -v line %q \"$line\"\n"
    "            [[ $line != *[.=] ]] || compopt -o nospace 2>/dev/null\n"
    "            COMPREPLY+=(\"$line\") ;;\n"
    "        esac\n"
    "    done < <(\"${words[0]/#\\~/$HOME}\" --complete \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _\2 \1\n";

static const char zsh[] =
    "#compdef \1\n"
    "# completion of \1 in zsh, written by \"\1 --completion zsh\"\n"
    "local line word\n"
    "local -a asked whole whole_about open open_about files=(true)\n"
    "asked=(\"${(@Q)words[1,CURRENT-1]}\" \"${(Q)PREFIX}\")\n"
    "for line in ${(f)\"$(${~asked[1]} --complete \"${(@)asked[2,-1]}\" 2>/dev/null)\"}; do\n"
    "    word=${line%%$'\\t'*}\n"
    "    case $line in\n"
    "    :files) files=(_files) ;;\n"
    "    :folders) files=(_files -/) ;;\n"
    "    *[.=] | *[.=]$'\\t'*) open+=(\"$word\") open_about+=(\"${line/$'\\t'/  -- }\") ;;\n"
    "    *) whole+=(\"$word\") whole_about+=(\"${line/$'\\t'/  -- }\") ;;\n"
    "    esac\n"
    "done\n"
    "compadd -l -d whole_about -a whole\n"
    "compadd -l -S '' -d open_about -a open\n"
    "[[ $PREFIX != --*=* ]] || compset -P '*='\n"
    "\"${files[@]}\"\n";

static const char fish[] = "# completion of \1 in fish, written by \"\1 --completion fish\"\n"
                           "function __complete_\2\n"
                           "    set -l words (commandline -opc)\n"
                           "    set -l typed (commandline -ct | string unescape)\n"
                           "    for line in ($words[1] --complete $words[2..-1] \"$typed\" 2>/dev/null)\n"
                           "        switch $line\n"
                           "            case :files\n"
                           "                __fish_complete_path \"$typed\"\n"
                           "            case :folders\n"
                           "                __fish_complete_directories \"$typed\" ''\n"
                           "            case '*'\n"
                           "                echo $line\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "complete -c \1 -f -a '(__complete_\2)'\n";

int complete_script(const char *program, const char *shell, struct text *out)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    const char *script = NULL;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(shell, scripts[i].shell) == 0)
            script = scripts[i].script;
    for (const char *p = script; p && *p; p++) {
        if (*p != '\1' && *p != '\2')
            text_add(out, "%c", *p);
        for (const char *n = *p == '\1' || *p == '\2' ? program : ""; *n; n++)
            text_add(out, "%c", *p == '\1' || isalnum((unsigned char)*n) ? *n : '_');
    }
    return script ? 0 : -1;
}
