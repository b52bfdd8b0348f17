/* The library that draws the interactive figures: uPlot, which `make` takes from the npm registry
 * (deps/fetch-page-library). It may be missing: pages then have their pictures alone. */
#ifndef REPORTS_LIBRARY_H
#define REPORTS_LIBRARY_H

/* Texts of its files; all are NULL if one of them is missing. */
struct page_library {
    char *script, *style, *licence;
};

/* Read it from beside the program or from the installation. */
void page_library_read(struct page_library *library);
void page_library_free(struct page_library *library);

/* The script's digest in the page's Content-Security-Policy: browsers run no other. Of the version in
 * deps/fetch-page-library. */
#define PAGE_LIBRARY_DIGEST "sha256-GcjUxq2Ikpp59K5J1vcWFWbf0Lo9FcxJXpdPeH63jx8="

#endif
