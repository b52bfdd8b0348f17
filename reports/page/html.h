/* Words and numbers of the page, escaped: all that is shown comes from files. */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "lib/text.h"
#include <jansson.h>

void html_escaped(struct text *out, const char *words);
/* A table's cell of words. */
void html_cell(struct text *out, const char *words);
/* As many digits as say something, thousands apart; a dash where it is not finite. */
void html_number(struct text *out, double value);
void html_number_cell(struct text *out, double value);
/* NAN if it is not a number. */
double html_value(const json_t *value);
/* "passed" and the like as a pill of its colour. */
void html_verdict(struct text *out, const char *verdict);

#endif
