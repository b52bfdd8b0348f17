/* The report page: one index.html, which contains its pictures and needs nothing else; their files and data
 * are beside it. */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

#include "lib/text.h"
#include "reports/page/library.h"
#include "reports/results/run.h"
#include "reports/results/sweep_table.h"

/* Each page begins with it. */
#define PAGE_BEGINS                                                                                  \
    "<!doctype html>\n<html lang=en><meta charset=utf-8>\n<meta http-equiv=Content-Security-Policy " \
    "content=\"default-src 'none'; img-src data:; "

/* A drawing: NAME.svg and NAME.tsv are in the page's folder. */
struct drawing {
    char *name;
    char *title;
    char *caption;
    char *note;       /* after the caption, or NULL */
    char *says;       /* what it shows, a sentence for the first screen, or NULL */
    struct text data; /* for the page's script (plot_data), or nothing */
    char *picture;    /* NAME.svg, which the page contains */
    size_t picture_length;
    bool minor; /* what it shows took next to nothing */
    bool png;   /* NAME.png is there too */
    size_t run; /* which run it belongs to, on the page of a sweep which figure it shows; SIZE_MAX: to all */
};

/* `table`: sweep.csv is beside it. `library`: NULL, or what makes its drawings interactive. */
void page_write(const struct runs *runs, const struct drawing *drawings, size_t count, bool table,
                const struct page_library *library, struct text *out);
/* The page of a sweep of many runs. `how`: how its figures are drawn, or NULL; `left_out`: the
 * number of drawings that are not made. */
void page_sweep_write(const struct sweep_table *t, const struct drawing *drawings, size_t count,
                      const char *how, size_t left_out, struct text *out);

#endif
