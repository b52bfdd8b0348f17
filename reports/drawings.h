/* The drawings of a page that is being made. */
#ifndef REPORTS_DRAWINGS_H
#define REPORTS_DRAWINGS_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/folder/fresh.h"
#include "reports/page/page.h"

struct drawings {
    struct drawing *items;
    size_t count;
    bool png;  /* make NAME.png of each too */
    bool ours; /* the folder has a page of a report: its drawings are replaced */
};

void drawings_keep(struct drawings *drawings, const char *name, const char *title, const char *caption,
                   size_t run);
/* The drawing that was kept last. */
struct drawing *drawings_last(const struct drawings *drawings);
/* Load the pictures, which are in the folder, for the page, and make what is wanted of them. */
int drawings_load(struct drawings *drawings, const struct folder *folder, struct error *e);
/* Put all files of the drawings in the place of those of an earlier report, and of nothing else. */
int drawings_publish(const struct drawings *drawings, const struct fresh *fresh, const struct folder *folder,
                     struct error *e);
void drawings_free(struct drawings *drawings);

#endif
