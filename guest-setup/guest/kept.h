/* What was found out about this machine, kept in a folder until it boots again: FOLDER/NAME has "VALUE BOOT-ID". */
#ifndef GUEST_KEPT_H
#define GUEST_KEPT_H

/* The value that was kept since this machine booted; NULL: none. The caller frees. */
char *kept_recall(const char *folder, const char *name);
/* It is not kept where the folder cannot be written. */
void kept_keep(const char *folder, const char *name, const char *value);

#endif
