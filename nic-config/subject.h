/* One interface that a command is about: what it is, what is in force, what is wanted. */
#ifndef NIC_CONFIG_SUBJECT_H
#define NIC_CONFIG_SUBJECT_H

#include "nic-config/journal.h"
#include "nic-config/knobs/knob.h"

struct subject {
    struct device device;
    bool to_be_made;          /* it does not exist yet: its settings can be read only after */
    json_t *before;           /* settings in force */
    json_t *places;           /* setting -> where it was read */
    json_t *missing;          /* setting -> why it is unavailable */
    json_t *unread;           /* setting -> why it could not be read, though it should be there */
    json_t *wanted;           /* as asked, or NULL */
    json_t *target;           /* before with wanted laid over it, completed */
    struct settings recalled; /* what the journal says of RED */
    bool has_recalled;
};

/* journal may be NULL. */
int subject_open(struct subject *s, struct host *host, const struct journal *journal, const char *name,
                 struct error *e);
void subject_close(struct subject *s);
/* Tell the device how RED was last written. Called anew after each write, because the journal has changed. */
void subject_recall(struct subject *s, const struct journal *journal);

/* Read one knob into settings; its place or the reason of its absence is noted where these are given (else NULL). */
enum knob_answer subject_read(struct subject *s, const struct knob *knob, json_t *settings, json_t *places,
                              json_t *missing, struct error *e);
/* Everything into before, places, missing and unread. What could not be read is in the way only of who asks for it. */
void subject_read_before(struct subject *s);
/* Whether one of the knob's keys is wanted. */
bool subject_wants(const struct subject *s, const struct knob *knob);

#endif
