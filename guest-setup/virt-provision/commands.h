/* Shared by the subcommands: how one is run, and the common options. */
#ifndef VIRT_PROVISION_COMMANDS_H
#define VIRT_PROVISION_COMMANDS_H

#include "guest-setup/rebuild/context.h"
#include "lib/program/program.h"

/* Run a command's work in a new context. The work returns the program's exit status, or -1 with a
 * sentence. */
int in_context(const struct call *call,
               int (*work)(struct context *c, const char *const *words, size_t count, struct error *e));
/* Connect to libvirt and work under the lab's lock: for what changes guests. */
int with_lab_locked(struct context *c, const char *purpose, int (*work)(struct context *c, struct error *e),
                    struct error *e);
/* Load the lab and the host that the first word names. usage: "ssh HOST". */
int one_host(struct context *c, const char *const *words, size_t count, const char *usage, struct error *e);

#define OPTIONS_AT(member) .offset = offsetof(struct options, member)
#define LAB_OPTION                                                                                           \
    {                                                                                                        \
        .name = "lab", .letter = 'l', .kind = FIELD_STRING, OPTIONS_AT(lab), .argument = "LAB",              \
        .help = "The lab's file or name. Without it, HARNESS_LAB, the lab of the configuration file or the " \
                "soft pair."                                                                                 \
    }
#define QUIET_OPTION                                                           \
    {                                                                          \
        .name = "quiet", .letter = 'q', .kind = FIELD_BOOL, OPTIONS_AT(quiet), \
        .help = "Do not report progress."                                      \
    }
#define ADOPT_OPTION                                                                                         \
    {                                                                                                        \
        .name = "adopt", .kind = FIELD_BOOL, OPTIONS_AT(adopt),                                              \
        .help =                                                                                              \
            "Take over domains with these names that virt-provision did not create. Their disks stay where " \
            "they are."                                                                                      \
    }
#define DISCARD_OPTION                                                                                    \
    {                                                                                                     \
        .name = "discard_settings", .kind = FIELD_BOOL, OPTIONS_AT(discard_settings),                     \
        .help =                                                                                           \
            "Do not first restore the settings of NICs that are passed through. Their firmware may keep " \
            "them, and the journal with the earlier ones is discarded."                                   \
    }
#define OPTIONS_TABLE(fields_)                                                 \
    {                                                                          \
        .name = "options", .size = sizeof(struct options), .fields = (fields_) \
    }

/* --lab and --quiet. */
extern const struct table common_options;

#endif
