/* Texts that the build makes of reports/page/style.css and reports/page/script/ (reports/page/embed). */
#ifndef REPORTS_PAGE_FILES_H
#define REPORTS_PAGE_FILES_H

extern const char page_style[];
extern const char page_script[];
/* The script's digest in the page's Content-Security-Policy: "sha256-...". */
extern const char page_script_digest[];

#endif
