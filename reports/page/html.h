/* Text and numbers of the page, escaped because they come from files. */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "lib/text.h"
#include <jansson.h>

/* Text, also between double quotes of an attribute: markup is escaped, and controls are made visible
 * (lib/output/visible.h). */
void html_escaped(struct text *out, const char *words);
/* A path, or a value, as a part of an address: every byte that could have a meaning there is %XX. */
void html_address(struct text *out, const char *path);
/* Bytes in base64, as in a data: URI. */
void html_base64(struct text *out, const char *bytes, size_t length);
/* A table cell with text. */
void html_cell(struct text *out, const char *words);
/* Significant digits only, with thousands separated; a dash if not finite. */
void html_number(struct text *out, double value);
void html_number_cell(struct text *out, double value);
/* NAN if it is not a number. */
double html_value(const json_t *value);
/* A verdict such as "passed", as a coloured label. */
void html_verdict(struct text *out, const char *verdict);

#endif
