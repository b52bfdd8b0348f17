#include "reports/drawing/gnuplot.h"

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/process.h"
#include <stdio.h>
#include <stdlib.h>

#define DRAW_LIMIT (300 * NS_PER_S)

void gnuplot_quoted(struct text *out, const char *words)
{
    text_add(out, "'");
    for (; *words; words++) {
        if (*words == '\'')
            text_add(out, "'");
        if ((unsigned char)*words >= ' ')
            text_add(out, "%c", *words);
    }
    text_add(out, "'");
}

void gnuplot_begin(struct text *out, const char *name)
{
    text_add(out, "# Draws %s.svg and %s.png from %s.tsv: run gnuplot on this file in its folder.\n", name,
             name, name);
}

void gnuplot_output(struct text *out, size_t i, const char *name, int height)
{
    static const struct {
        const char *terminal, *ending;
    } outputs[GNUPLOT_OUTPUTS] = {{"svg noenhanced dynamic font 'sans-serif,12'", "svg"},
                                  {"pngcairo noenhanced font 'sans,12'", "png"}};
    text_add(out,
             "reset\nset terminal %s size %d,%d background rgb 'white'\nset output '%s.%s'\n"
             "set encoding utf8\nset datafile separator tab\n",
             outputs[i].terminal, GNUPLOT_WIDTH, height, name, outputs[i].ending);
}

static int write_text(const char *folder, const char *name, const char *ending, const struct text *words,
                      struct error *e)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.%s", folder, name, ending) < 0)
        return error_set(e, "out of memory for the drawing %s", name);
    int result = words->failed ? error_set(e, "out of memory for %s", path)
                               : files_write_atomic(path, text_string(words), words->length, e);
    free(path);
    return result;
}

int gnuplot_write(const char *folder, const char *name, const struct text *data, const struct text *script,
                  struct error *e)
{
    int result = write_text(folder, name, "tsv", data, e);
    return result == 0 ? write_text(folder, name, "gp", script, e) : result;
}

int gnuplot_draw(const char *folder, char *const *names, size_t count, struct error *e)
{
    struct text input = {0}, said = {0};
    const char *const argv[] = {"gnuplot", NULL};
    text_add(&input, "cd ");
    gnuplot_quoted(&input, folder);
    text_add(&input, "\n");
    for (size_t i = 0; i < count; i++)
        text_add(&input, "load '%s.gp'\n", names[i]);
    int code = count ? process_run(argv, text_string(&input), NULL, &said, DRAW_LIMIT, e) : 0;
    if (code < 0)
        error_prefix(e, "drawing with gnuplot (package gnuplot-nox on Debian, gnuplot on Rocky)");
    else if (code > 0)
        error_set(e, "gnuplot ended with %d in %s: %.400s", code, folder, text_string(&said));
    text_free(&input);
    text_free(&said);
    return code == 0 ? 0 : -1;
}
