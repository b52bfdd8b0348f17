#include "reports/results/damaged.h"

#include "lib/log.h"
#include <string.h>

#define SAID 5 /* of many runs */

void damaged_add(struct damaged *d, const struct run *run)
{
    if (!d || !run->damage)
        return;
    if (d->runs++ < SAID)
        text_add(&d->first, "%s: %s\n", run->folder, run->damage);
}

bool damaged_warn(const struct damaged *d)
{
    const char *line = text_string(&d->first);
    for (size_t length; *line; line += length + 1) {
        length = strcspn(line, "\n");
        log_warning("%.*s: the run is not whole", (int)length, line);
    }
    if (d->runs > SAID)
        log_warning("%zu more runs are not whole", d->runs - SAID);
    return d->runs > 0;
}
