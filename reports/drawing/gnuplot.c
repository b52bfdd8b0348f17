#include "reports/drawing/gnuplot.h"

#include "lib/clock.h"
#include "lib/process.h"
#include "lib/output/visible.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define DRAW_LIMIT (300 * NS_PER_S)

void gnuplot_quoted(struct text *out, const char *words)
{
    struct text shown = {0};
    visible_add(&shown, words, strlen(words), VISIBLE_LINE);
    text_add(out, "\"");
    for (const char *c = text_string(&shown); *c; c++) {
        bool plain = isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 || strchr(" .,:;()/+-_=<>", *c);
        text_add(out, plain ? "%c" : "\\%03o", (unsigned char)*c);
    }
    text_add(out, "\"");
    out->failed = out->failed || shown.failed;
    text_free(&shown);
}

void gnuplot_column(struct text *out, const char *words)
{
    struct text shown = {0};
    visible_add(&shown, words, strlen(words), VISIBLE_LINE);
    for (const char *c = text_string(&shown); *c; c++)
        text_add(out, "%c", *c == '"' ? '_' : *c);
    out->failed = out->failed || shown.failed;
    text_free(&shown);
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
    } outputs[GNUPLOT_OUTPUTS] = {{"svg noenhanced dynamic font 'sans-serif,12' fontscale 1.2", "svg"},
                                  {"pngcairo noenhanced font 'sans,12'", "png"}};
    text_add(out,
             "reset\nset terminal %s size %d,%d background rgb 'white'\nset output '%s.%s'\n"
             "set encoding utf8\nset datafile separator tab\n",
             outputs[i].terminal, GNUPLOT_WIDTH, height, name, outputs[i].ending);
}

static char *file_name(const char *name, const char *ending)
{
    char *file = NULL;
    return asprintf(&file, "%s.%s", name, ending) < 0 ? NULL : file;
}

static int write_text(const struct folder *folder, const char *name, const char *ending,
                      const struct text *words, struct error *e)
{
    char *file = file_name(name, ending);
    int result = !file || words->failed ? error_set(e, "out of memory for the drawing %s", name)
                                        : folder_create(folder, file, text_string(words), words->length, e);
    free(file);
    return result;
}

int gnuplot_write(const struct folder *folder, const char *name, const struct text *data,
                  const struct text *script, struct error *e)
{
    int result = write_text(folder, name, "tsv", data, e);
    return result == 0 ? write_text(folder, name, "gp", script, e) : result;
}

/* gnuplot ends with 0 after a disk was full: a drawing is whole if it ends as its format ends. */
static int check_drawing(const struct folder *folder, const char *name, const char *ending, const char *last,
                         struct error *e)
{
    char *file = file_name(name, ending), tail[16];
    int fd =
        file ? folder_open_file(folder, file, e) : error_set(e, "out of memory for the drawing %s", name);
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    ssize_t got = end > (off_t)sizeof tail ? pread(fd, tail, sizeof tail, end - (off_t)sizeof tail) : 0;
    bool whole = got > 0 && memmem(tail, (size_t)got, last, strlen(last));
    struct statvfs system;
    if (fd >= 0 && !whole && fstatvfs(fd, &system) == 0 && system.f_bavail == 0)
        error_set_errno(e, ENOSPC, "drawing %s/%s", folder->path, file);
    else if (fd >= 0 && !whole)
        error_set(e, "drawing %s/%s: gnuplot left it incomplete", folder->path, file);
    if (fd >= 0)
        close(fd);
    free(file);
    return whole ? 0 : -1;
}

static int check_drawings(const struct folder *folder, char *const *names, size_t count, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (check_drawing(folder, names[i], "svg", "</svg>", e) != 0 ||
            check_drawing(folder, names[i], "png", "IEND\xae\x42\x60\x82", e) != 0)
            return -1;
    return 0;
}

/* The folder is given by its descriptor: nobody can put another one in its place. */
int gnuplot_draw(const struct folder *folder, char *const *names, size_t count, struct error *e)
{
    struct text input = {0}, said = {0};
    const char *const argv[] = {"gnuplot", NULL};
    text_add(&input, "cd '/proc/%ld/fd/%d'\n", (long)getpid(), folder->fd);
    for (size_t i = 0; i < count; i++)
        text_add(&input, "load '%s.gp'\n", names[i]);
    int code = count ? process_run(argv, text_string(&input), NULL, &said, DRAW_LIMIT, e) : 0;
    if (code < 0)
        error_prefix(e, "drawing with gnuplot (package gnuplot-nox on Debian, gnuplot on Rocky)");
    else if (code > 0)
        error_set(e, "gnuplot ended with %d in %s: %.400s", code, folder->path, text_string(&said));
    text_free(&input);
    text_free(&said);
    return code == 0 ? check_drawings(folder, names, count, e) : -1;
}
