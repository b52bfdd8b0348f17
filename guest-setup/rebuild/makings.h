/* The inputs of all selected hosts. */
#ifndef GUEST_SETUP_REBUILD_MAKINGS_H
#define GUEST_SETUP_REBUILD_MAKINGS_H

#include "guest-setup/rebuild/making.h"

/* One for each of the context's hosts. Free with makings_close, also after a failure. */
int makings_open(struct context *c, struct storage *storage, struct making **makings, struct error *e);
void makings_close(struct context *c, struct making *makings);
/* Run `work` for every host in parallel, each in a thread; it sets result and error of its struct making. The
 * error of the first host that failed is returned, the others are printed. */
int makings_run(struct context *c, struct making *makings, void *(*work)(void *), struct error *e);

#endif
