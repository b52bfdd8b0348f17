/* Finds the known word that a user probably meant. */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H

#include <stddef.h>

/* The word of `words` (ended by NULL) nearest to `word`, or NULL if none is near. */
const char *nearest_word(const char *word, const char *const *words);

/* Edits (insert, delete, replace, swap two neighbours) that turn a into b; for words of more than 63 letters
 * a large number. */
size_t nearest_edits(const char *a, const char *b);

#endif
