#include "lib/output/columns.h"

#include "lib/output/print.h"
#include "lib/output/visible.h"
#include "lib/text.h"
#include <stdint.h>
#include <string.h>

#define MOST_COLUMNS 32
#define GAP          2 /* between columns */
#define CUT          ".."

/* ---- characters */

static void show(struct text *shown, const char *cell)
{
    text_clear(shown);
    visible_add(shown, cell ? cell : "", cell ? strlen(cell) : 0, VISIBLE_LINE);
}

/* The bytes of the first `most` characters; *count is how many there are, up to that. */
static size_t bytes_of(const char *text, size_t length, size_t most, size_t *count)
{
    size_t at = 0;
    uint32_t character;
    for (*count = 0; at < length && *count < most; ++*count)
        at += utf8_character(text + at, length - at, &character);
    return at;
}

static size_t width_of(struct text *shown, const char *cell)
{
    size_t count;
    show(shown, cell);
    bytes_of(text_string(shown), shown->length, SIZE_MAX, &count);
    return count;
}

/* ---- sentences */

void columns_wrap(FILE *file, const char *words, size_t at, size_t indent, size_t width)
{
    struct text shown = {0}, folded = {0};
    show(&shown, words);
    print_fold(&folded, text_string(&shown), at, indent, width);
    print_to(file, "%s\n", text_string(&folded));
    text_free(&shown);
    text_free(&folded);
}

/* ---- widths */

static size_t total(const size_t *widths, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += widths[i] ? widths[i] + GAP : 0;
    return sum ? sum - GAP : 0;
}

/* Cut the widest of those that may be cut by one; false: none can. */
static bool cut_one(const struct columns_style *styles, bool keep, size_t *widths, size_t count)
{
    size_t widest = count;
    for (size_t i = 0; i < count; i++) {
        size_t least = keep && styles[i].keep > styles[i].least ? styles[i].keep : styles[i].least;
        if (least && widths[i] > least && (widest == count || widths[i] > widths[widest]))
            widest = i;
    }
    if (widest == count)
        return false;
    widths[widest]--;
    return true;
}

static bool leave_one_out(const struct columns_style *styles, size_t *widths, size_t count)
{
    size_t first = count;
    for (size_t i = 0; i < count; i++)
        if (styles[i].leave && widths[i] && (first == count || styles[i].leave > styles[first].leave))
            first = i;
    if (first == count)
        return false;
    widths[first] = 0;
    return true;
}

/* A column that may be left out and says nothing in any row. */
static bool says_nothing(const struct columns_style *style, const char *const *cells, size_t count,
                         size_t rows)
{
    bool nothing = style->leave;
    for (size_t row = 0; row < rows; row++)
        nothing = nothing && cells[row * count] && strcmp(cells[row * count], "-") == 0;
    return nothing;
}

static void fit(const struct columns_style *styles, size_t *widths, size_t count, size_t width)
{
    size_t natural[MOST_COLUMNS];
    do {
        memcpy(natural, widths, count * sizeof *widths);
        while (total(natural, count) > width && cut_one(styles, true, natural, count))
            ;
    } while (total(natural, count) > width && leave_one_out(styles, widths, count));
    while (total(natural, count) > width && cut_one(styles, false, natural, count))
        ;
    memcpy(widths, natural, count * sizeof *widths);
}

/* ---- lines */

static void add_spaces(struct text *line, size_t count)
{
    text_add(line, "%*s", (int)count, "");
}

static void add_cell(struct text *line, const char *text, size_t length, size_t width, bool right)
{
    size_t count, whole, cut = sizeof CUT - 1;
    size_t bytes = bytes_of(text, length, width, &count);
    bytes_of(text, length, SIZE_MAX, &whole);
    if (right)
        add_spaces(line, width - count);
    if (whole > width && width > cut) {
        bytes = bytes_of(text, length, width - cut, &count);
        text_add_bytes(line, text, bytes);
        text_add(line, CUT);
    } else {
        text_add_bytes(line, text, bytes);
    }
    if (!right)
        add_spaces(line, width - count - (whole > width && width > cut ? cut : 0));
}

static void print_line(FILE *file, const struct columns_style *styles, const size_t *widths, size_t count,
                       const char *const *cells)
{
    struct text line = {0}, shown = {0};
    for (size_t i = 0; i < count; i++) {
        if (!widths[i])
            continue;
        show(&shown, cells ? cells[i] : styles[i].title);
        if (line.length)
            add_spaces(&line, GAP);
        add_cell(&line, text_string(&shown), shown.length, widths[i], styles[i].right);
    }
    while (line.length && line.data[line.length - 1] == ' ')
        line.data[--line.length] = '\0';
    print_to(file, "%s\n", text_string(&line));
    text_free(&line);
    text_free(&shown);
}

void columns_print(FILE *file, const struct columns_style *styles, size_t count, const char *const *cells,
                   size_t rows, size_t width)
{
    size_t widths[MOST_COLUMNS] = {0};
    struct text shown = {0};
    if (count > MOST_COLUMNS)
        count = MOST_COLUMNS;
    for (size_t i = 0; i < count; i++) {
        widths[i] = width_of(&shown, styles[i].title);
        for (size_t row = 0; row < rows; row++) {
            size_t wide = width_of(&shown, cells[row * count + i]);
            widths[i] = wide > widths[i] ? wide : widths[i];
        }
    }
    for (size_t i = 0; width && i < count && total(widths, count) > width; i++)
        if (says_nothing(&styles[i], cells + i, count, rows))
            widths[i] = 0;
    if (width)
        fit(styles, widths, count, width);
    print_line(file, styles, widths, count, NULL);
    for (size_t row = 0; row < rows; row++)
        print_line(file, styles, widths, count, &cells[row * count]);
    text_free(&shown);
}
