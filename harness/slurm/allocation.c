#include "harness/slurm/allocation.h"

#include "lib/document/json_text.h"
#include "lib/formats/find.h"
#include "lib/formats/lab.h"
#include "lib/names/range.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define NODELIST "SLURM_JOB_NODELIST"

/* ---- the nodes */

/* The length of the first word: a comma between brackets does not end it. */
static size_t word_length(const char *list)
{
    size_t length = 0;
    for (bool inside = false; list[length] && (inside || list[length] != ','); length++)
        inside = list[length] == '[' || (inside && list[length] != ']');
    return length;
}

static int add_range(const char *word, struct words *nodes, struct error *e)
{
    struct range range;
    if (!*word)
        return error_set(e, "a name is empty");
    if (range_parse(word, &range, e) != 0)
        return -1;
    for (size_t i = 0; i < range.count && nodes->count < RANGE_LIMIT; i++) {
        struct text name = {0};
        range_name(&range, i, &name);
        words_add(nodes, "%s", text_string(&name));
        text_free(&name);
    }
    return 0;
}

/* Append the names of a list as SLURM_JOB_NODELIST has it: "n[01-04,7],gpu3". */
static int allocation_names(const char *list, struct words *nodes, struct error *e)
{
    for (const char *at = list;; at++) {
        size_t length = word_length(at);
        char *word = strndup(at, length);
        int result = word ? add_range(word, nodes, e) : error_set(e, "out of memory");
        free(word);
        if (result != 0)
            return error_prefix(e, NODELIST "=%.100s", list);
        at += length;
        if (!*at)
            return words_whole(nodes, e);
    }
}

/* ---- the hosts */

/* The name that the lab's document has for what is reached: of a host with several NICs its own. NULL: that
 * has been named by the NIC before. */
static const char *written_name(const struct lab *lab, size_t i)
{
    if (!lab_nic_name(lab, i))
        return lab_host_at(lab, i)->name;
    return lab_machine_first(lab, i) == i ? lab_machine_name(lab, i) : NULL;
}

/* As JSON: a node may be named as a number is. */
static int add_host(struct words *sets, const struct lab_host *host, const char *name, const char *node,
                    struct error *e)
{
    const char *at = host->ssh ? strchr(host->ssh, '@') : NULL;
    json_t *ssh = json_textf("%.*s%s", at ? (int)(at + 1 - host->ssh) : 0, at ? host->ssh : "", node);
    char *shown = ssh ? json_dumps(ssh, JSON_ENCODE_ANY) : NULL;
    if (shown)
        words_add(sets, "lab.hosts.%s.ssh=%s", name, shown);
    int result = shown ? 0 : error_set(e, "out of memory");
    free(shown);
    json_decref(ssh);
    return result;
}

static int assign(const struct lab *lab, const struct words *nodes, struct words *sets, struct error *e)
{
    size_t count = 0, node = 0;
    char *const *names = nodes->items;
    for (size_t i = 0; lab_host_at(lab, i); i++)
        count += lab_machine_first(lab, i) == i;
    if (lab_kind(lab)->simulated || lab_kind(lab)->guests)
        return error_set(e, "lab %s has no hosts that are reached over ssh alone (\"driver\": \"ssh\")",
                         lab->name);
    if (nodes->count < count)
        return error_set(
            e, "lab %s has %zu hosts, and this job of Slurm %zu nodes: ask for as many (--nodes=%zu)",
            lab->name, count, nodes->count, count);
    for (size_t i = 0; lab_host_at(lab, i); i++) {
        const char *name = written_name(lab, i);
        node += lab_machine_first(lab, i) == i;
        if (name && names && add_host(sets, lab_host_at(lab, i), name, names[node - 1], e) != 0)
            return -1;
    }
    return words_whole(sets, e);
}

static int add_hosts_of_nodes(const char *lab, struct words *sets, struct error *e)
{
    const char *list = getenv(NODELIST), *why;
    struct words nodes = {0};
    struct lab hosts;
    if (!list || !*list)
        return error_set(e, NODELIST " is not set: run this in a job of Slurm (salloc, sbatch)");
    char *path = find_lab(lab, NULL, NULL, &why, e);
    if (!path)
        return -1;
    int result = allocation_names(list, &nodes, e);
    if (result == 0 && (result = lab_load(path, &hosts, e)) == 0) {
        result = assign(&hosts, &nodes, sets, e);
        lab_free(&hosts);
    }
    words_free(&nodes);
    free(path);
    return result;
}

int allocation_take(const char *hosts_from, const char *lab, struct list_of *sets, struct words *words,
                    struct error *e)
{
    char *const *own = sets->items;
    if (!hosts_from)
        return 0;
    if (strcmp(hosts_from, "slurm") != 0)
        return error_set(e, "--hosts-from %.60s: expected slurm", hosts_from);
    if (add_hosts_of_nodes(lab, words, e) != 0)
        return error_prefix(e, "--hosts-from slurm");
    for (size_t i = 0; i < sets->count; i++)
        words_add(words, "%s", own[i]);
    *sets = (struct list_of){.items = words->items, .count = words->count};
    return words_whole(words, e);
}
