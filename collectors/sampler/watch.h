/* Receives notifications of changes to an interface: its link, its DCB settings. */
#ifndef COLLECTORS_WATCH_H
#define COLLECTORS_WATCH_H

#include <stdbool.h>

struct watch;

/* NULL when the kernel does not permit it; the sampler then relies on its periodic check alone. */
struct watch *watch_open(const char *netdev);
/* Was there a notification about the interface since the last call? Does not wait. */
bool watch_changed(struct watch *w);
void watch_close(struct watch *w);

#endif
