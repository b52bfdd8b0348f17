#include "lib/program/program.h"

#include <string.h>

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
        text_add(out, ".%s%s%s\n", optional ? "Op Ar " : "Ar ", text_string(&word), several ? " ..." : "");
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
            text_add(out, ".Op Ar options\n");
        if ((*c)->arguments)
            manual_arguments((*c)->arguments, out);
    }
}

int program_manual(const struct program *program, const char *section, struct text *out)
{
    if (strcmp(section, "synopsis") == 0) {
        manual_synopsis(program, out);
        return 0;
    }
    for (const struct command *const *c = program->commands; *c; c++) {
        if (strcmp((*c)->name ? (*c)->name : "", section) != 0)
            continue;
        if ((*c)->options)
            arguments_manual((*c)->options, out);
        return 0;
    }
    return -1;
}
