/* A schedule of GOAL: its ranks are the nodes, and a job plays it. */
#include "harness/import/import.h"
#include <stdlib.h>

int import_goal(const char *path, struct import *import, struct error *e)
{
    if (import_begin(import, "GOAL", e) != 0)
        return -1;
    import->flow_path = path;
    import->schedule = calloc(1, sizeof *import->schedule);
    if (!import->schedule)
        error_set(e, "out of memory");
    else if (schedule_read(import->schedule, path, e) == 0 &&
             import_nodes(import, import->schedule->rank_count, e) == 0) {
        import_note(import,
                    "a send has ended when its last ACK is back, and needs no CPU; the overheads of LogGOPS "
                    "(o, O, g, S) are not in the schedule, and not simulated");
        return 0;
    }
    import_free(import);
    return -1;
}
