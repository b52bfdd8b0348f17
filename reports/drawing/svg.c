#include "reports/drawing/svg.h"

#include "lib/clock.h"
#include "lib/output/visible.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONVERT_NS (60 * NS_PER_S)

void svg_begin(struct text *out, int height)
{
    text_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
             SVG_WIDTH, height, SVG_WIDTH, height);
}

void svg_end(struct text *out)
{
    text_add(out, "</svg>\n");
}

void svg_words(struct text *out, double x, double y, struct svg_font font, const char *words)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    if (!*words)
        return;
    text_add(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" fill=\"%s\" text-anchor=\"%s\"", x,
             y + (font.turned ? 0 : 0.36 * font.size), font.size, font.colour, anchors[font.anchor]);
    if (font.turned)
        text_add(out, " dy=\"%.1f\" transform=\"rotate(-90 %.1f %.1f)\"", 0.36 * font.size, x, y);
    if (font.boxed)
        text_add(out, " stroke=\"#fff\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
    text_add(out, ">");
    visible_add_markup(out, words, VISIBLE_LINE, false);
    text_add(out, "</text>\n");
}

void svg_line(struct text *out, double x1, double y1, double x2, double y2, const char *colour, double width,
              const char *dashes)
{
    text_add(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"",
             x1, y1, x2, y2, colour, width);
    if (dashes)
        text_add(out, " stroke-dasharray=\"%s\"", dashes);
    text_add(out, "/>\n");
}

void svg_rectangle(struct text *out, double x, double y, double width, double height, const char *fill,
                   const char *stroke)
{
    text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"", x, y, width,
             height, fill);
    if (stroke)
        text_add(out, " stroke=\"%s\" stroke-width=\"%s\"", stroke, strcmp(fill, "none") == 0 ? "1.8" : "1");
    text_add(out, "/>\n");
}

void svg_arrow(struct text *out, double x1, double y1, double x2, double y2, const char *colour, double width)
{
    double length = hypot(x2 - x1, y2 - y1), head = fmin(4 + 1.5 * width, length), half = head * 0.42;
    if (!(length > 0))
        return;
    double ux = (x2 - x1) / length, uy = (y2 - y1) / length, bx = x2 - head * ux, by = y2 - head * uy;
    svg_line(out, x1, y1, bx, by, colour, width, NULL);
    text_add(out, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" fill=\"%s\"/>\n", x2, y2, bx - half * uy,
             by + half * ux, bx + half * uy, by - half * ux, colour);
}

void svg_marker(struct text *out, size_t shape, double x, double y, double radius, const char *colour)
{
    double r = radius, s = radius * 0.9, t = radius * 1.15;
    switch (shape % SVG_MARKERS) {
    case 0:
        text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, r, colour);
        break;
    case 1:
        svg_rectangle(out, x - s, y - s, 2 * s, 2 * s, colour, NULL);
        break;
    case 2:
        text_add(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fZ\" fill=\"%s\"/>\n", x, y - t, t, 1.8 * t, -2 * t,
                 colour);
        break;
    case 3:
        text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#fff\" stroke=\"%s\"/>\n", x, y, r,
                 colour);
        break;
    case 4:
        text_add(out, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fZ\" fill=\"%s\"/>\n", x, y - t, t, t,
                 -t, t, -t, -t, colour);
        break;
    default:
        text_add(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fZ\" fill=\"#fff\" stroke=\"%s\"/>\n", x, y - t, t,
                 1.8 * t, -2 * t, colour);
    }
}

/* A nested drawing cuts without a name, of which a page with several drawings would have two. */
void svg_begin_clip(struct text *out, double x, double y, double width, double height)
{
    text_add(out,
             "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f %.1f\">\n",
             x, y, width, height, x, y, width, height);
}

void svg_end_clip(struct text *out)
{
    text_add(out, "</svg>\n");
}

/* ---- files */

void svg_data_column(struct text *out, const char *words)
{
    struct text shown = {0};
    visible_add(&shown, words, strlen(words), VISIBLE_LINE);
    for (const char *c = text_string(&shown); *c; c++)
        text_add(out, "%c", *c == '"' ? '_' : *c);
    text_free(&shown);
}

static int write_file(const struct folder *folder, const char *name, const char *ending,
                      const struct text *words, struct error *e)
{
    char *file = xasprintf("%s.%s", name, ending);
    int result = words->failed ? error_set(e, "out of memory for the drawing %s", name)
                               : folder_create(folder, file, text_string(words), words->length, e);
    free(file);
    return result;
}

int svg_write(const struct folder *folder, const char *name, const struct text *data,
              const struct text *drawing, struct error *e)
{
    int result = write_file(folder, name, "tsv", data, e);
    return result == 0 ? write_file(folder, name, "svg", drawing, e) : result;
}

/* The folder is given by its descriptor: nobody can put another one in its place. */
int svg_to_png(const struct folder *folder, const char *name, struct error *e)
{
    char *from = xasprintf("/proc/%ld/fd/%d/%s.svg", (long)getpid(), folder->fd, name),
         *to = xasprintf("/proc/%ld/fd/%d/%s.png", (long)getpid(), folder->fd, name);
    const char *const argv[] = {"rsvg-convert", "--output", to, from, NULL};
    struct text said = {0};
    int code = process_run(argv, NULL, NULL, &said, CONVERT_NS, e);
    if (code < 0)
        error_prefix(
            e,
            "converting %s.svg to PNG with rsvg-convert (package librsvg2-bin on Debian, librsvg2-tools on "
            "Rocky)",
            name);
    else if (code > 0)
        error_set(e, "converting %s/%s.svg to PNG: rsvg-convert exited with %d: %.300s", folder->path, name,
                  code, text_string(&said));
    text_free(&said);
    free(from);
    free(to);
    return code == 0 ? 0 : -1;
}
