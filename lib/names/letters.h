/* Random letters, for names that others are not to meet. */
#ifndef LIB_NAMES_LETTERS_H
#define LIB_NAMES_LETTERS_H

#include <stddef.h>

#define LETTERS_MOST 32

/* `count` letters from a to z, at most LETTERS_MOST, and a NUL. They are not a secret; a name that is taken
 * is chosen again by the caller. */
void letters_random(char *out, size_t count);

#endif
