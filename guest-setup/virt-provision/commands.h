/* Shared by the subcommands: how one is run, and the common options. */
#ifndef VIRT_PROVISION_COMMANDS_H
#define VIRT_PROVISION_COMMANDS_H

#include "guest-setup/virt-provision/context.h"
#include "lib/program/program.h"

/* Run a command's work in a new context. The work returns the program's exit status, or -1 with a sentence. */
int in_context(const struct call *call,
               int (*work)(struct context *c, const char *const *words, size_t count, struct error *e));

#define OPTIONS_AT(member) .offset = offsetof(struct options, member)
#define LAB_OPTION                                                                                           \
    {                                                                                                        \
        .name = "lab", .letter = 'l', .kind = FIELD_STRING, OPTIONS_AT(lab), .argument = "LAB",              \
        .help = "The lab's file or name. Without it, HARNESS_LAB, the lab of the configuration file or the " \
                "soft pair)."                                                                                \
    }
#define QUIET_OPTION                                                           \
    {                                                                          \
        .name = "quiet", .letter = 'q', .kind = FIELD_BOOL, OPTIONS_AT(quiet), \
        .help = "Do not report progress."                                      \
    }
#define OPTIONS_TABLE(fields_)                                                 \
    {                                                                          \
        .name = "options", .size = sizeof(struct options), .fields = (fields_) \
    }

#endif
