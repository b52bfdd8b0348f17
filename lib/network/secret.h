/* What the programs of one session know and nobody else does. It goes through pipes and files that only their
 * owner can read, never through a command line or the environment. */
#ifndef LIB_NETWORK_SECRET_H
#define LIB_NETWORK_SECRET_H

#include "lib/error.h"
#include <stdbool.h>

#define SECRET_LEAST 16 /* characters */
#define SECRET_MOST  128

/* Printable ASCII without spaces, filled with zeros; "": there is no secret. */
struct secret {
    char text[SECRET_MOST + 1];
};

/* A random one of 128 bits, in hexadecimal. */
int secret_make(struct secret *secret, struct error *e);
/* The first line of a file, or of standard input ("-"), of which nothing more is read. A file that others
 * than its owner may open is refused. */
int secret_read(struct secret *secret, const char *path, struct error *e);
/* Copy one from a stranger: too long a text is cut. */
void secret_copy(struct secret *secret, const char *text);
/* The time that it takes does not depend on the texts. */
bool secret_equal(const struct secret *a, const struct secret *b);
static inline bool secret_given(const struct secret *secret)
{
    return secret->text[0] != '\0';
}

#endif
