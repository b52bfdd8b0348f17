#include "harness/labs/hosts/visit.h"

#include "remote/locks.h"
#include "lib/formats/find.h"
#include <stdlib.h>

char *lab_hosts_load(const char *said, struct lab *lab, struct error *e)
{
    const char *why;
    char *path = find_lab(said, NULL, &why, e);
    if (path && lab_load(path, lab, e) == 0)
        return path;
    free(path);
    return NULL;
}

int lab_hosts_visit(const struct lab *lab, const char *purpose,
                    void (*visit)(void *context, struct virt *virt, const struct lab_host *host),
                    void *context, struct error *e)
{
    struct virt *virt = NULL;
    const struct lab_host *host;
    struct lab_lock *lock = lab_lock(lab, purpose, e);
    if (!lock || (lab_kind(lab)->guests && !(virt = virt_open(lab->uri, e)))) {
        lab_unlock(lock);
        return -1;
    }
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++)
        visit(context, virt, host);
    if (virt)
        virt_close(virt);
    lab_unlock(lock);
    return 0;
}
