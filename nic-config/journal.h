/*
 * The journal: the settings of the interfaces before the first change, and each write, recorded on disk
 * before it is done. JSON lines, each synced. It exists from a set to its restore; a process that has it open
 * for writing holds its lock.
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
    bool begun; /* it has records */
    bool done;  /* the last set was completed */
    int64_t since_ns;
    bool rebooted;   /* the machine was rebooted since the journal began */
    json_t *before;  /* interface -> {"pci", "settings"} */
    json_t *written; /* interface -> knob -> {"settings", "finished"} */
};

/* Open and lock; with `create` a missing file is created, without it a missing journal is treated as empty. */
int journal_open(struct journal *j, const char *path, bool create, struct error *e);
/* Open for reading only, without the lock: a set may be running. */
int journal_peek(struct journal *j, const char *path, struct error *e);
void journal_close(struct journal *j);
/* Remove the file; the journal is empty afterwards. */
int journal_remove(struct journal *j, struct error *e);

/* Write the first record, if there is none yet. */
int journal_begin(struct journal *j, struct error *e);
/* Record the previous settings of an interface, once for each interface. */
int journal_note_before(struct journal *j, const char *interface, const char *pci, const json_t *settings,
                        struct error *e);
/* Record what is about to be written, and afterwards that it was written. */
int journal_note_write(struct journal *j, const char *interface, const char *knob, const json_t *settings,
                       struct error *e);
int journal_note_written(struct journal *j, const char *interface, const char *knob, struct error *e);
int journal_note_done(struct journal *j, struct error *e);

/* What was last written through a knob, or NULL. */
const json_t *journal_last(const struct journal *j, const char *interface, const char *knob);
/* Whether a write was begun and its end was not recorded: then a value that is read back may be only partly
 * written. */
bool journal_unfinished(const struct journal *j, const char *interface, const char *knob);

/* Process the records in a journal's text; for journal_open and the fuzzer. An incomplete last line is left out. */
int journal_parse(struct journal *j, const char *text, size_t length, struct error *e);

#endif
