#include "reports/page/library.h"

#include "lib/files.h"
#include "lib/formats/find.h"
#include <stddef.h>
#include <stdlib.h>

#define FOLDER "page-library"
#define MOST   (1u << 20) /* bytes of a file */

static char *read_file(const char *folder, const char *name)
{
    char *path = files_join(folder, name), *text = path ? files_read(path, MOST, NULL, NULL) : NULL;
    free(path);
    return text;
}

void page_library_read(struct page_library *library)
{
    *library = (struct page_library){0};
    char *folder = find_shared(FOLDER);
    if (!folder)
        return;
    library->script = read_file(folder, "uPlot.iife.min.js");
    library->style = read_file(folder, "uPlot.min.css");
    library->licence = read_file(folder, "LICENSE");
    free(folder);
    if (!library->script || !library->style || !library->licence)
        page_library_free(library);
}

void page_library_free(struct page_library *library)
{
    free(library->script);
    free(library->style);
    free(library->licence);
    *library = (struct page_library){0};
}
