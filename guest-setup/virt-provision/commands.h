/* The subcommands. Each returns the program's exit status, or -1 with a sentence. */
#ifndef VIRT_PROVISION_COMMANDS_H
#define VIRT_PROVISION_COMMANDS_H

#include "guest-setup/virt-provision/context.h"

int cmd_rebuild(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_reset(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_status(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_start(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_stop(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_destroy(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_ssh(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_ssh_config(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_console(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_image(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_xml(struct context *c, const char *const *words, size_t count, struct error *e);
int cmd_devices(struct context *c, const char *const *words, size_t count, struct error *e);

#endif
