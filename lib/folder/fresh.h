/*
 * Files and folders in the making, which get their names when they are whole. Until then a file NAME is
 * called ".NAME.new-" with letters of which some follow from the others, the name and the folder, so that a
 * file of somebody else's is not taken for one, and is locked (flock) by its maker: one without a lock was
 * left by a program that was killed, and fresh_clear removes it. Those who only read call it never. SIGINT,
 * SIGTERM and SIGHUP wait from its making until it has its name or is removed (interrupt_check asks for
 * them), so that none leaves it behind.
 */
#ifndef LIB_FRESH_H
#define LIB_FRESH_H

#include "lib/folder/folder.h"
#include <signal.h>

struct fresh {
    int fd; /* the file or folder in the making, locked while this is open */
    char name[240];
    sigset_t before; /* the signals that waited before it was made */
    bool soon;       /* set by its maker: its name need not be on the disk when it has it */
};

/* A file in `in` that will be `name`, open for writing. */
int fresh_file(struct fresh *f, const struct folder *in, const char *name, struct error *e);
/* A folder, which only its owner may enter. */
int fresh_folder(struct fresh *f, const struct folder *in, const char *name, struct error *e);
/* Move a file of the fresh folder to where the folder is made, in the place of a file that has this name
 * there (folder_check_place). */
int fresh_move(const struct fresh *f, const struct folder *in, const char *name, struct error *e);
/* It is whole and on the disk: give it its name, in the place of a file that has that name if `replace`
 * (folder_check_place), else only if nothing has. Closes it. */
int fresh_publish(struct fresh *f, const struct folder *in, const char *name, bool replace, struct error *e);
/* Remove it, and what is in it, and close it. */
void fresh_remove(struct fresh *f, const struct folder *in);
/* Remove what killed programs of this user have left in the folder. What other programs make at this time
 * stays. */
void fresh_clear(const struct folder *in);
/* The same in the folders below too, down to this many levels. */
void fresh_clear_below(const struct folder *in, int levels);

#endif
