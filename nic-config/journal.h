/*
 * The journal: the settings of the interfaces before the first change, and each write, recorded on disk
 * before it is done. It exists from a set to its restore; a process that has it open for writing holds its
 * lock.
 *
 * A record is a line "CRC NUMBER JSON": NUMBER counts the records from 1, CRC is the CRC-32 (IEEE 802.3) of
 * the rest of the line in hexadecimal. Behind the last one is room for those to come, which was written (as
 * spaces) before the first change: neither a set nor its restore needs space on the disk later. A line that
 * is not followed by its end is a write that was cut by a crash: what it announces was not done. Every other
 * difference is damage. Journals before version 2 have lines of JSON alone, and no room.
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
    size_t end, room; /* bytes: of whole records; that the file has, or should have */
    int64_t records;
    bool old;       /* of a version without checksums */
    json_t *damage; /* sentences: what of it is not certain */
    bool begun;     /* it has records */
    bool done;      /* the last set was completed */
    int64_t since_ns;
    bool rebooted;   /* the machine was rebooted since the journal began */
    bool foreign;    /* it began on another machine */
    bool elsewhere;  /* it began since the last boot, in another network namespace */
    json_t *before;  /* interface -> {"pci", "index", "address", "settings", "bound"} */
    json_t *written; /* interface -> knob -> {"settings", "finished", "all": [settings of each write]} */
};

/* Open and lock; with `create` a missing file is created, without it a missing journal is treated as
 * empty. */
int journal_open(struct journal *j, const char *path, bool create, struct error *e);
/* Open for reading only, without the lock: a set may be running. */
int journal_peek(struct journal *j, const char *path, struct error *e);
void journal_close(struct journal *j);
/* Remove the file; the journal is empty afterwards. */
int journal_remove(struct journal *j, struct error *e);

/* Take the room for records of `bytes` more, and write the first record if there is none yet. */
int journal_begin(struct journal *j, size_t bytes, struct error *e);
/* Bytes that a record of this JSON needs, and one without settings. */
size_t journal_size_of(const json_t *json);
#define JOURNAL_RECORD_BYTES 160
/* Record the previous settings of an interface, and what is bound to it (bound.h), once for each interface;
 * its PCI address ("": none), its index and its MAC address tell which one it is when its name
 * has changed. */
int journal_note_before(struct journal *j, const char *interface, const char *pci, int index,
                        const char *address, const json_t *settings, const json_t *bound, struct error *e);
/* Record what is about to be written, and afterwards that it was written. */
int journal_note_write(struct journal *j, const char *interface, const char *knob, const json_t *settings,
                       struct error *e);
int journal_note_written(struct journal *j, const char *interface, const char *knob, struct error *e);
int journal_note_done(struct journal *j, struct error *e);

/* What was last written through a knob, or NULL. */
const json_t *journal_last(const struct journal *j, const char *interface, const char *knob);
/* What was written through a knob, in order: a list, or NULL. */
const json_t *journal_all(const struct journal *j, const char *interface, const char *knob);
/* Whether a write was begun and its end was not recorded: then a value that is read back may be only partly
 * written. */
bool journal_unfinished(const struct journal *j, const char *interface, const char *knob);

/* An empty journal. */
void journal_init(struct journal *j, const char *path);
/* Process a journal's text: the records that are whole are taken, the rest is said in `damage`. For
 * journal_open, and for tests. */
void journal_parse(struct journal *j, const char *text, size_t length);
/* CRC-32 of IEEE 802.3 (polynomial 0xedb88320, reflected). */
uint32_t journal_crc(const char *text, size_t length);

#endif
