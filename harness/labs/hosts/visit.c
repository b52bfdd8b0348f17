#include "harness/labs/hosts/visit.h"

#include "harness/labs/hosts/crew.h"
#include "remote/locks.h"
#include "lib/formats/find.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include <stdio.h>
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

/* What came of a host's visit. */
struct visited {
    struct text said;
    struct error e;
    bool failed;
};

struct visits {
    const struct lab *lab;
    struct virt *virt;
    host_visit *visit;
    void *context;
    struct visited *results; /* by host */
};

static void visit_one(void *context, size_t i)
{
    struct visits *v = context;
    struct visited *r = &v->results[i];
    r->failed = v->visit(v->context, i, v->virt, lab_host_at(v->lab, i), &r->said, &r->e) != 0;
}

/* What was said of a host, as soon as it and all hosts before it were visited. Returns the number of failures. */
static size_t print_in_order(struct visits *v, struct crew *crew, size_t count)
{
    size_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        struct visited *r = &v->results[i];
        crew_wait(crew, i, -1);
        print_out("%s", text_string(&r->said));
        fflush(stdout);
        if (r->failed)
            log_error("%s", r->e.text);
        failures += r->failed;
        text_free(&r->said);
    }
    return failures;
}

static int visit_all(struct visits *v, size_t *failures, struct error *e)
{
    size_t count = v->lab->hosts.count;
    v->results = calloc(count + 1, sizeof *v->results);
    if (!v->results)
        return error_set(e, "out of memory for %zu hosts", count);
    struct crew *crew = crew_start(count, e);
    if (crew) {
        crew_begin(crew, visit_one, v);
        *failures = print_in_order(v, crew, count);
    }
    crew_dismiss(crew);
    free(v->results);
    return crew ? 0 : -1;
}

int lab_hosts_visit(const struct lab *lab, const char *purpose, host_visit *visit, void *context,
                    size_t *failures, struct error *e)
{
    struct visits v = {.lab = lab, .visit = visit, .context = context};
    struct lab_lock *lock = lab_lock(lab, purpose, e);
    if (!lock || (lab_kind(lab)->guests && !(v.virt = virt_open(lab->uri, e)))) {
        lab_unlock(lock);
        return -1;
    }
    int result = visit_all(&v, failures, e);
    if (v.virt)
        virt_close(v.virt);
    lab_unlock(lock);
    return result;
}
