/* A schedule of Chakra's nodes: computations, messages, and collectives, which are matched among ranks by
 * their group and their order in it. */
#include "harness/import/chakra.h"
#include "lib/files.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILE_BYTES ((size_t)256 << 20)
#define MOST_US         (SCHEDULE_MOST_CALC_NS / 1000)

enum { ON_GPU, ON_CPU, ON_MEMORY };

/* The k-th collective of a group in a rank. */
struct arrival {
    uint32_t group, rank;
    size_t k;
    struct chakra_node *node;
};

struct build {
    struct chakra *chakra;
    struct import_job *job;
    struct import *import;
    struct arrival *arrivals;
    size_t arrival_count;
    uint32_t *ranks, zero; /* the group with the name 0 */
    int64_t *begin, *end;
    size_t without_time, rooted;
};

/* ---- nodes */

static int check_number(const struct chakra_trace *trace, const struct chakra_node *node, const char *what,
                        int64_t value, int64_t most, struct error *e)
{
    if (value >= 0 && value <= most)
        return 0;
    if (value == CHAKRA_UNSAID)
        return chakra_error(trace, node->id, e, "it has no %s", what);
    return chakra_error(trace, node->id, e, "its %s is %" PRId64 ": expected 0 to %" PRId64, what, value,
                        most);
}

static int add_message(struct build *b, uint32_t rank, struct chakra_node *node, struct error *e)
{
    const struct chakra_trace *trace = &b->chakra->traces[rank];
    bool sends = node->type == CHAKRA_SEND;
    int64_t own = sends ? node->from : node->to, peer = sends ? node->to : node->from,
            last = (int64_t)b->chakra->ranks - 1;
    if (own != CHAKRA_UNSAID && own != rank)
        return chakra_error(trace, node->id, e, "its %s is %" PRId64 ", and its rank %u",
                            sends ? "comm_src" : "comm_dst", own, rank);
    if (check_number(trace, node, sends ? "comm_dst" : "comm_src", peer, last, e) != 0 ||
        check_number(trace, node, "comm_size", node->comm_size, SCHEDULE_MOST_BYTES, e) != 0 ||
        check_number(trace, node, "comm_tag", node->tag, IMPORT_COLLECTIVE_TAGS - 1, e) != 0)
        return -1;
    uint32_t tag = (uint32_t)node->tag;
    node->entry = node->exit =
        sends ? schedule_add_send(&b->job->schedule, rank, peer, node->comm_size, tag, e)
              : schedule_add_recv(&b->job->schedule, rank, peer, node->comm_size, tag, e);
    return 0;
}

/* Computations of the GPU, those of the CPU and what memory does go beside one another. */
static int add_calc(struct build *b, uint32_t rank, struct chakra_node *node, struct error *e)
{
    const struct chakra_trace *trace = &b->chakra->traces[rank];
    struct schedule_operation calc = {.type = SCHEDULE_CALC, .cpu = node->is_cpu ? ON_CPU : ON_GPU};
    if (node->type == CHAKRA_MEM_LOAD || node->type == CHAKRA_MEM_STORE || node->type > CHAKRA_COLL)
        calc.cpu = ON_MEMORY;
    if (node->type != CHAKRA_COLL && node->type != CHAKRA_METADATA && node->type != CHAKRA_INVALID) {
        if (check_number(trace, node, "duration_micros", node->duration_us, MOST_US, e) != 0)
            return -1;
        calc.size = node->duration_us * 1000;
        b->without_time += !calc.size;
    }
    node->entry = node->exit = schedule_add(&b->job->schedule, rank, &calc, e);
    return 0;
}

static int add_node(struct build *b, uint32_t rank, struct chakra_node *node, size_t *counts, struct error *e)
{
    const struct chakra_trace *trace = &b->chakra->traces[rank];
    int result = node->type == CHAKRA_SEND || node->type == CHAKRA_RECV ? add_message(b, rank, node, e)
                                                                        : add_calc(b, rank, node, e);
    if (result == 0 && node->entry < 0)
        return error_prefix(e, "%.200s: node %" PRIu64, trace->path, node->id);
    if (result != 0 || node->type != CHAKRA_COLL)
        return result;
    if (node->some_dimensions && !node->group)
        return chakra_error(trace, node->id, e,
                            "its involved_dim names some dimensions of a network: expected a pg_name");
    b->arrivals[b->arrival_count++] = (struct arrival){node->group, rank, counts[node->group]++, node};
    return 0;
}

static int add_nodes(struct build *b, struct error *e)
{
    size_t groups = json_object_size(b->chakra->groups), *counts = calloc(groups + 1, sizeof *counts);
    int result = counts ? 0 : error_set(e, "out of memory");
    for (uint32_t rank = 0; result == 0 && rank < b->chakra->ranks; rank++) {
        struct chakra_trace *trace = &b->chakra->traces[rank];
        for (size_t i = 0; result == 0 && i < trace->node_count; i++)
            result = add_node(b, rank, &trace->nodes[i], counts, e);
        for (size_t i = 0; i < trace->node_count; i++)
            counts[trace->nodes[i].group] = 0;
    }
    free(counts);
    return result;
}

/* ---- collectives */

static int by_group(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static const char *group_name(const struct build *b, uint32_t group)
{
    const char *name;
    json_t *number;
    json_object_foreach(b->chakra->groups, name, number)
    {
        if (json_integer_value(number) == group)
            return name;
    }
    return "";
}

/* The ranks of each collective of a group are those of its first one; of the group without a name, and of
 * "0" (PyTorch's and ASTRA-sim's default), all. */
static int check_members(const struct build *b, const struct arrival *of, size_t count,
                         const struct arrival *first, size_t members, struct error *e)
{
    bool all = !of->group || of->group == b->zero;
    size_t expected_count = all ? b->chakra->ranks : members;
    for (size_t i = 0; i < expected_count || i < count; i++) {
        uint32_t expected = i >= expected_count ? UINT32_MAX
                            : all               ? (uint32_t)i
                                                : first[i].rank,
                 found = i < count ? of[i].rank : UINT32_MAX;
        if (found == expected)
            continue;
        return chakra_error(&b->chakra->traces[of->rank], of->node->id, e,
                            "collective %zu of group \"%.40s\": rank %u has %s", of->k + 1,
                            group_name(b, of->group), found < expected ? found : expected,
                            found < expected ? "it, and not the first of the group" : "no such one");
    }
    return 0;
}

static int check_equal(const struct build *b, const struct arrival *of, size_t count, struct error *e)
{
    const struct chakra_node *node = of->node;
    for (size_t i = 1; i < count; i++)
        if (of[i].node->comm_type != node->comm_type || of[i].node->comm_size != node->comm_size)
            return chakra_error(&b->chakra->traces[of[i].rank], of[i].node->id, e,
                                "collective %zu of group \"%.40s\" has comm_type %" PRId64
                                " and comm_size %" PRId64 " here, %" PRId64 " and %" PRId64
                                " in node %" PRIu64 " of rank %u",
                                of->k + 1, group_name(b, of->group), of[i].node->comm_type,
                                of[i].node->comm_size, node->comm_type, node->comm_size, node->id, of->rank);
    return 0;
}

static int take_kind(const struct build *b, const struct arrival *of, struct collective *c, struct error *e)
{
    static const enum collective_op kinds[] = {
        COLLECTIVE_ALL_REDUCE,     COLLECTIVE_REDUCE,    COLLECTIVE_ALL_GATHER, COLLECTIVE_GATHER,
        COLLECTIVE_SCATTER,        COLLECTIVE_BROADCAST, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_REDUCE_SCATTER,
        COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_BARRIER};
    const struct chakra_trace *trace = &b->chakra->traces[of->rank];
    const size_t count = sizeof kinds / sizeof *kinds, kind = (size_t)of->node->comm_type;
    if (check_number(trace, of->node, "comm_type", of->node->comm_type, (int64_t)count - 1, e) != 0 ||
        kind >= count)
        return -1;
    c->op = kinds[kind];
    if (c->op == COLLECTIVE_BARRIER)
        return 0;
    if (check_number(trace, of->node, "comm_size", of->node->comm_size, SCHEDULE_MOST_BYTES, e) != 0)
        return -1;
    /* its comm_size is that of a rank's input */
    bool gathers = c->op == COLLECTIVE_ALL_GATHER || c->op == COLLECTIVE_GATHER;
    if (gathers && of->node->comm_size > SCHEDULE_MOST_BYTES / c->count)
        return chakra_error(trace, of->node->id, e, "%u times its comm_size is above %" PRId64, c->count,
                            SCHEDULE_MOST_BYTES);
    c->bytes = of->node->comm_size * (gathers ? c->count : 1);
    return 0;
}

static int take_root(struct build *b, const struct arrival *of, struct collective *c, struct error *e)
{
    const struct chakra_node *node = of->node;
    int64_t root = node->root != CHAKRA_UNSAID ? node->root : node->from;
    bool has = c->op == COLLECTIVE_BROADCAST || c->op == COLLECTIVE_REDUCE || c->op == COLLECTIVE_GATHER ||
               c->op == COLLECTIVE_SCATTER;
    if (!has || root == CHAKRA_UNSAID) {
        b->rooted += has;
        return 0;
    }
    for (uint32_t i = 0; i < c->count; i++)
        if (c->ranks[i] == root) {
            c->root = i;
            return 0;
        }
    return chakra_error(&b->chakra->traces[of->rank], node->id, e,
                        "its root, %" PRId64 ", is not in its group", root);
}

/* After the one before it in its group: a communicator's follow one another. */
static int add_collective(struct build *b, const struct arrival *of, size_t count, struct error *e)
{
    struct collective c = {.ranks = b->ranks, .count = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        b->ranks[i] = of[i].rank;
        b->begin[i] = of[i].node->entry;
        if (of->k && schedule_add_wait(&b->job->schedule, of[i].node->entry, b->end[i], false, e) != 0)
            return -1;
    }
    if (check_equal(b, of, count, e) != 0 || take_kind(b, of, &c, e) != 0 || take_root(b, of, &c, e) != 0)
        return -1;
    if (import_job_collective(b->job, b->import, &c, b->begin, b->end, e) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        of[i].node->exit = b->end[i];
    return 0;
}

static int add_collectives(struct build *b, struct error *e)
{
    const struct arrival *first = b->arrivals;
    size_t members = 0;
    if (b->arrival_count)
        qsort(b->arrivals, b->arrival_count, sizeof *b->arrivals, by_group);
    for (size_t at = 0, end; at < b->arrival_count; at = end) {
        const struct arrival *of = &b->arrivals[at];
        for (end = at;
             end < b->arrival_count && b->arrivals[end].group == of->group && b->arrivals[end].k == of->k;)
            end++;
        if (!of->k) {
            first = of;
            members = end - at;
        }
        if (check_members(b, of, end - at, first, members, e) != 0 || add_collective(b, of, end - at, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- dependencies */

struct place {
    uint64_t id;
    size_t node;
};

static int by_id(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int add_waits_of(struct build *b, const struct chakra_trace *trace, const struct chakra_node *node,
                        const struct place *places, struct error *e)
{
    for (size_t i = 0; i < node->dependencies; i++) {
        const struct place wanted = {.id = trace->dependencies[node->first_dependency + i]};
        const struct place *found = bsearch(&wanted, places, trace->node_count, sizeof *places, by_id);
        if (!found)
            return chakra_error(trace, node->id, e, "it depends on node %" PRIu64 ", which is not there",
                                wanted.id);
        if (schedule_add_wait(&b->job->schedule, node->entry, trace->nodes[found->node].exit, false, e) != 0)
            return -1;
    }
    return 0;
}

static int add_waits(struct build *b, const struct chakra_trace *trace, struct error *e)
{
    struct place *places = calloc(trace->node_count + 1, sizeof *places);
    int result = 0;
    if (!places)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < trace->node_count; i++)
        places[i] = (struct place){trace->nodes[i].id, i};
    if (trace->node_count)
        qsort(places, trace->node_count, sizeof *places, by_id);
    for (size_t i = 1; result == 0 && i < trace->node_count; i++)
        if (places[i].id == places[i - 1].id)
            result = chakra_error(trace, places[i].id, e, "a second one with this id");
    for (size_t i = 0; result == 0 && i < trace->node_count; i++)
        result = add_waits_of(b, trace, &trace->nodes[i], places, e);
    free(places);
    return result;
}

/* ---- all of it */

static int build(struct build *b, struct error *e)
{
    if (!b->arrivals || !b->ranks || !b->begin || !b->end)
        return error_set(e, "out of memory");
    if (add_nodes(b, e) != 0 || add_collectives(b, e) != 0)
        return -1;
    for (size_t rank = 0; rank < b->chakra->ranks; rank++)
        if (add_waits(b, &b->chakra->traces[rank], e) != 0)
            return -1;
    return 0;
}

static void note(const struct build *b)
{
    if (b->without_time)
        import_note(b->import,
                    "computations and accesses to memory without duration_micros, which take no time: %zu",
                    b->without_time);
    if (b->rooted)
        import_note(b->import, "collectives that state no root, which is the first rank of their group: %zu",
                    b->rooted);
    import_note(b->import,
                "collectives and messages take the time that the network needs, not their duration_micros; "
                "reductions take none; a group's collectives follow one another in the order of the file");
}

int chakra_import(struct chakra *chakra, const char *path, struct import_job *job, struct import *import,
                  struct error *e)
{
    if (import_job_begin(job, import, "Chakra", path, chakra->ranks, e) != 0)
        return -1;
    struct build b = {.chakra = chakra,
                      .job = job,
                      .import = import,
                      .arrivals = calloc(chakra->nodes + 1, sizeof *b.arrivals),
                      .ranks = calloc(chakra->ranks + 1, sizeof *b.ranks),
                      .begin = calloc(chakra->ranks + 1, sizeof *b.begin),
                      .end = calloc(chakra->ranks + 1, sizeof *b.end)};
    const json_t *zero = json_object_get(chakra->groups, "0");
    b.zero = zero ? (uint32_t)json_integer_value(zero) : UINT32_MAX;
    int result = build(&b, e);
    if (result == 0)
        note(&b);
    free(b.arrivals);
    free(b.ranks);
    free(b.begin);
    free(b.end);
    if (result == 0)
        return import_job_end(job, import, e);
    schedule_free(&job->schedule);
    import_free(import);
    return -1;
}

void chakra_free(struct chakra *chakra)
{
    for (size_t i = 0; i < chakra->ranks && chakra->traces; i++) {
        free(chakra->traces[i].nodes);
        free(chakra->traces[i].dependencies);
    }
    free(chakra->traces);
    json_decref(chakra->groups);
    *chakra = (struct chakra){0};
}

/* ---- files */

/* The rank in NAME.RANK.et; -1: it has none. */
static int64_t rank_of_file(const char *path)
{
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 3, ".et") != 0)
        return -1;
    size_t end = length - 3, begin = end;
    int64_t rank = 0;
    while (begin > 0 && path[begin - 1] >= '0' && path[begin - 1] <= '9')
        begin--;
    if (begin == end || end - begin > 6 || begin == 0 || path[begin - 1] != '.')
        return -1;
    for (size_t i = begin; i < end; i++)
        rank = 10 * rank + (path[i] - '0');
    return rank;
}

struct list {
    char **paths;
    size_t count;
};

static int list_add(struct list *list, char *path, struct error *e)
{
    char **grown = path ? realloc(list->paths, (list->count + 1) * sizeof *grown) : NULL;
    if (!grown || list->count == SCHEDULE_MOST_RANKS) {
        free(path);
        list->paths = grown ? grown : list->paths;
        return grown ? error_set(e, "more than %d traces", SCHEDULE_MOST_RANKS)
                     : error_set(e, "out of memory");
    }
    list->paths = grown;
    list->paths[list->count++] = path;
    return 0;
}

static int list_folder(struct list *list, const char *path, DIR *folder, struct error *e)
{
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(folder));)
        if (rank_of_file(entry->d_name) >= 0)
            result = list_add(list, files_join(path, entry->d_name), e);
    if (result == 0 && !list->count)
        result = error_set(e, "%s: no file NAME.RANK.et is in it", path);
    return result;
}

static int list_paths(struct list *list, const char *const *paths, size_t count, struct error *e)
{
    DIR *folder = count == 1 ? opendir(paths[0]) : NULL;
    int result = folder ? list_folder(list, paths[0], folder, e) : 0;
    if (folder)
        closedir(folder);
    for (size_t i = 0; !folder && result == 0 && i < count; i++)
        result = list_add(list, strdup(paths[i]), e);
    return result;
}

/* Each rank has one. */
static int place_files(struct chakra *chakra, const struct list *list, struct error *e)
{
    chakra->traces = calloc(list->count + 1, sizeof *chakra->traces);
    if (!chakra->traces)
        return error_set(e, "out of memory");
    chakra->ranks = list->count;
    for (size_t i = 0; i < list->count; i++) {
        int64_t rank = rank_of_file(list->paths[i]);
        if (rank < 0 || rank >= (int64_t)list->count)
            return error_set(e, "%s: expected a name NAME.RANK.et, with a rank from 0 to %zu", list->paths[i],
                             list->count - 1);
        if (chakra->traces[rank].path)
            return error_set(e, "%s and %s: both are of rank %" PRId64, chakra->traces[rank].path,
                             list->paths[i], rank);
        chakra->traces[rank].path = list->paths[i];
    }
    return 0;
}

static int read_trace(struct chakra *chakra, struct chakra_trace *trace, struct error *e)
{
    size_t length = 0;
    char *bytes = files_read(trace->path, MOST_FILE_BYTES, &length, e);
    int result = bytes ? chakra_parse(chakra, trace, (const unsigned char *)bytes, length, e) : -1;
    free(bytes);
    return result;
}

int import_chakra(const char *const *paths, size_t count, struct import_job *job, struct import *import,
                  struct error *e)
{
    struct list list = {0};
    struct chakra chakra = {0};
    int result = list_paths(&list, paths, count, e) == 0 && place_files(&chakra, &list, e) == 0 ? 0 : -1;
    for (size_t i = 0; result == 0 && i < chakra.ranks; i++)
        result = read_trace(&chakra, &chakra.traces[i], e);
    if (result == 0)
        result = chakra_import(&chakra, paths[0], job, import, e);
    chakra_free(&chakra);
    for (size_t i = 0; i < list.count; i++)
        free(list.paths[i]);
    free(list.paths);
    return result;
}
