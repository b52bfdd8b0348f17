/*
 * The journal: what the interfaces were before the first change, and what was then written, on disk before it is done.
 * JSON lines, each synced. It is there from a set to its restore, and whoever has it open holds its lock.
 */
#ifndef NIC_CONFIG_JOURNAL_H
#define NIC_CONFIG_JOURNAL_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct journal {
    char *path;
    int fd;
    bool begun; /* it holds something */
    bool done;  /* the last set came to its end */
    int64_t since_ns;
    bool rebooted;   /* the machine was, since it began */
    json_t *before;  /* interface -> {"pci", "settings"} */
    json_t *written; /* interface -> knob -> {"settings", "finished"} */
};

/* Open and lock; with `create` make it when it is not there. Without it a missing journal is one that has not begun. */
int journal_open(struct journal *j, const char *path, bool create, struct error *e);
/* Read only, without the lock: a set may be at work. */
int journal_peek(struct journal *j, const char *path, struct error *e);
void journal_close(struct journal *j);
/* Remove the file; the journal is empty after. */
int journal_remove(struct journal *j, struct error *e);

/* Begin, if it has not begun. */
int journal_begin(struct journal *j, struct error *e);
/* Note what an interface was, once for each interface. */
int journal_note_before(struct journal *j, const char *interface, const char *pci, const json_t *settings,
                        struct error *e);
/* Note what is about to be written, and that it was. */
int journal_note_write(struct journal *j, const char *interface, const char *knob, const json_t *settings,
                       struct error *e);
int journal_note_written(struct journal *j, const char *interface, const char *knob, struct error *e);
int journal_note_done(struct journal *j, struct error *e);

/* What was last written through a knob, or NULL. */
const json_t *journal_last(const struct journal *j, const char *interface, const char *knob);
/* Whether a write was begun and its end was not noted: what the machine reads as may not be all. */
bool journal_unfinished(const struct journal *j, const char *interface, const char *knob);

/* Take over the records of a journal's text; for journal_open and the fuzzer. A line that was cut is left out. */
int journal_parse(struct journal *j, const char *text, size_t length, struct error *e);

#endif
