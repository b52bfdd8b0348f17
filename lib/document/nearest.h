/* Finds the known word that a user probably meant. */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H

/* The word of `words` (ended by NULL) nearest to `word`, or NULL if none is near. */
const char *nearest_word(const char *word, const char *const *words);

#endif
