/*
 * What was found as a lab: an entry for each host, NIC and GPU, then with ranges of names. A range is written
 * only if the lab that it stands for is the same, value by value.
 */
#include "harness/labs/hosts/discover/discover.h"

#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/network/networks.h"
#include "lib/text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- an entry for each */

static json_t *gpus_json(const struct found_host *h)
{
    json_t *gpus = json_object();
    for (size_t i = 0; i < h->gpu_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "gpu%" PRId64, h->gpus[i].index);
        json_object_set_new(gpus, name, json_make("{s:I}", "index", (json_int_t)h->gpus[i].index));
    }
    return gpus;
}

static json_t *nic_json(const struct found_host *h, const struct found_nic *n)
{
    json_t *nic = json_make("{s:s,s:s*,s:s*}", "netdev", n->netdev, "rdma", n->rdma, "address", n->address);
    if (n->gpu >= 0 && h->nic_count > 1)
        json_object_set_new(nic, "gpu", json_textf("gpu%" PRId64, h->gpus[n->gpu].index));
    return nic;
}

/* One NIC needs no name, and its GPU is the host's. */
static json_t *host_json(const struct found *found, const struct found_host *h)
{
    const struct discover_request *r = found->request;
    json_t *host = json_make("{s:s,s:s*,s:s*,s:s*}", "ssh", h->destination, "identity", r->identity,
                             "known_hosts", r->known_hosts, "programs", r->programs);
    if (r->port)
        json_object_set_new(host, "port", json_integer(r->port));
    if (r->sudo)
        json_object_set_new(host, "sudo", json_true());
    if (h->nic_count == 1) {
        json_object_set_new(host, "nic", nic_json(h, &h->nics[0]));
        if (h->gpu_count)
            json_object_set_new(host, "gpu",
                                json_make("{s:I}", "index", (json_int_t)h->gpus[h->nics[0].gpu].index));
        return host;
    }
    json_t *nics = json_object();
    for (size_t i = 0; i < h->nic_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "rail%zu", h->nics[i].rail);
        json_object_set_new(nics, name, nic_json(h, &h->nics[i]));
    }
    json_object_set_new(host, "nics", nics);
    if (h->gpu_count)
        json_object_set_new(host, "gpus", gpus_json(h));
    return host;
}

static json_t *hosts_json(const struct found *found)
{
    json_t *hosts = json_object();
    for (size_t i = 0; i < found->count; i++)
        if (found->hosts[i].nic_count)
            json_put(hosts, found->hosts[i].name, host_json(found, &found->hosts[i]));
    return hosts;
}

/* ---- links */

static void node_name(const struct found *found, const struct found_nic *n, struct text *out)
{
    const struct found_host *h = &found->hosts[n->host];
    text_add(out, "%s", h->name);
    if (h->nic_count > 1)
        text_add(out, ".rail%zu", n->rail);
}

static bool reaches(const struct found *found, const struct found_nic *from, const struct found_nic *to)
{
    struct text key = {0};
    text_add(&key, "%s %s %.*s", found->hosts[from->host].name, from->netdev,
             (int)(to->address ? strcspn(to->address, "/") : 0), to->address ? to->address : "");
    bool is = json_object_get(found->reached, text_string(&key));
    text_free(&key);
    return is;
}

/* Does LLDP say that the cable of `n` ends at `other`? Hosts tell their name, and the interface or its MAC.
 */
static bool is_neighbour(const struct found *found, const struct found_nic *n, const struct found_nic *other)
{
    const char *host = json_string_value(json_object_get(found->hosts[other->host].facts, "host"));
    return n->neighbour && n->port && host && strcmp(n->neighbour, host) == 0 &&
           strcmp(n->port, other->netdev) == 0;
}

/* The NICs of other hosts in its network; *other is the last. */
static size_t count_network(const struct found *found, const struct found_nic *n,
                            const struct found_nic **other)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; i != n->host && k < found->hosts[i].nic_count; k++)
            if (networks_same(n->address, found->hosts[i].nics[k].address)) {
                count++;
                *other = &found->hosts[i].nics[k];
            }
    return count;
}

static json_t *link_json(const struct found *found, const struct found_nic *a, const struct found_nic *b)
{
    struct text one = {0}, other = {0};
    node_name(found, a, &one);
    node_name(found, b, &other);
    json_t *link = json_make("{s:[s,s]}", "between", text_string(&one), text_string(&other));
    int64_t speed = a->speed_mbps < b->speed_mbps ? a->speed_mbps : b->speed_mbps;
    if (speed > 0) {
        char rate[40];
        units_format(UNIT_RATE_BPS, speed * 1000000, rate, sizeof rate);
        json_object_set_new(link, "rate", json_text(rate));
    }
    text_free(&one);
    text_free(&other);
    return link;
}

/* By LLDP, or where nobody else is in their network and both answer each other. */
static const struct found_nic *other_end(const struct found *found, const struct found_nic *n,
                                         json_t *remarks)
{
    const struct found_nic *other = NULL;
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; i != n->host && k < found->hosts[i].nic_count; k++)
            if (is_neighbour(found, n, &found->hosts[i].nics[k]) ||
                is_neighbour(found, &found->hosts[i].nics[k], n))
                return &found->hosts[i].nics[k];
    if (n->neighbour || count_network(found, n, &other) != 1 || other->neighbour ||
        !reaches(found, n, other) || !reaches(found, other, n))
        return NULL;
    struct text one = {0}, two = {0};
    node_name(found, n, &one);
    node_name(found, other, &two);
    if (n->host < other->host)
        json_array_append_new(
            remarks, json_textf("link %s to %s: they answer each other's ping, and no other host has "
                                "an address in their network; LLDP names no switch, which may be "
                                "between them all the same",
                                text_string(&one), text_string(&two)));
    text_free(&one);
    text_free(&two);
    return other;
}

/* The NICs of a network, `n` among them, by `each`; it ends when that is false, which is then the answer. */
typedef bool of_network(const struct found *found, const struct found_nic *one, const struct found_nic *other,
                        void *context);
static bool each_of_network(const struct found *found, const struct found_nic *n, of_network *each,
                            void *context)
{
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; k < found->hosts[i].nic_count; k++) {
            const struct found_nic *other = &found->hosts[i].nics[k];
            if ((other == n || networks_same(n->address, other->address)) && !each(found, n, other, context))
                return false;
        }
    return true;
}

static bool reaches_unheard(const struct found *found, const struct found_nic *one,
                            const struct found_nic *other, void *context)
{
    (void)context;
    return one->host == other->host ? one == other : !other->neighbour && reaches(found, one, other);
}

static bool is_whole(const struct found *found, const struct found_nic *n, const struct found_nic *one,
                     void *context)
{
    (void)n;
    return each_of_network(found, one, reaches_unheard, context);
}

static bool is_not_before(const struct found *found, const struct found_nic *n, const struct found_nic *one,
                          void *context)
{
    (void)found;
    (void)context;
    return one->host >= n->host;
}

static bool add_node(const struct found *found, const struct found_nic *n, const struct found_nic *one,
                     void *context)
{
    struct text *out = context;
    (void)n;
    text_add(out, "%s", out->length ? ", " : "");
    node_name(found, one, out);
    return true;
}

/* Those of its network that answer, or do not. */
struct answering {
    bool answers;
    struct text names;
};

static bool add_answering(const struct found *found, const struct found_nic *n, const struct found_nic *one,
                          void *context)
{
    struct answering *a = context;
    if (one->host != n->host && reaches(found, n, one) == a->answers)
        add_node(found, n, one, &a->names);
    return true;
}

/* NICs of more than two hosts that all reach each other have a switch, which is said of them together. */
static bool remark_network(const struct found *found, const struct found_nic *n, json_t *remarks)
{
    struct text names = {0};
    if (n->neighbour || !each_of_network(found, n, is_whole, NULL))
        return false;
    if (each_of_network(found, n, is_not_before, NULL)) {
        each_of_network(found, n, add_node, &names);
        json_array_append_new(remarks,
                              json_textf("%s: each reaches the others; no LLDP: what is between them is not "
                                         "known, and the lab has no links of them",
                                         text_string(&names)));
    }
    text_free(&names);
    return true;
}

/* What has no cable to another host: its switch by LLDP, and whom it reaches. */
static void remark_unlinked(const struct found *found, const struct found_nic *n, json_t *remarks)
{
    struct text name = {0}, line = {0};
    struct answering reached = {.answers = true}, silent = {.answers = false};
    const struct found_nic *other;
    bool asked = found->reached && count_network(found, n, &other);
    if (asked && remark_network(found, n, remarks))
        return;
    node_name(found, n, &name);
    each_of_network(found, n, add_answering, &reached);
    each_of_network(found, n, add_answering, &silent);
    text_add(&line, "%s: ", text_string(&name));
    if (n->neighbour)
        text_add(&line, "its cable ends at %s, port %s (LLDP)", n->neighbour, n->port ? n->port : "unknown");
    else
        text_add(&line, "no LLDP: the other end of its cable is not known");
    if (reached.names.length)
        text_add(&line, "; it reaches %s", text_string(&reached.names));
    if (asked && silent.names.length)
        text_add(&line, "; no answer from %s", text_string(&silent.names));
    if (!reached.names.length && !silent.names.length)
        text_add(&line, "; no other host has an address in its network");
    json_array_append_new(remarks, json_text(text_string(&line)));
    text_free(&name);
    text_free(&line);
    text_free(&reached.names);
    text_free(&silent.names);
}

static json_t *links_json(const struct found *found, json_t *remarks)
{
    json_t *links = json_array();
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; k < found->hosts[i].nic_count; k++) {
            const struct found_nic *n = &found->hosts[i].nics[k], *other = other_end(found, n, remarks);
            if (!other)
                remark_unlinked(found, n, remarks);
            else if (n->host < other->host)
                json_array_append_new(links, link_json(found, n, other));
        }
    return links;
}

/* ---- ranges
 *
 * Names that count, such as rail0 to rail7 or node1 to node4, become one, if each of their strings is one
 * pattern: its numbers are the same in all, or the number of the name plus a constant. NICs of a host first,
 * then hosts. */

/* A name's number and what is before it. False: it has none, or one with zeros before it. */
static bool split_name(const char *name, struct text *before, int64_t *number)
{
    size_t length = strlen(name), digits = 0;
    while (digits < length && isdigit((unsigned char)name[length - digits - 1]))
        digits++;
    const char *at = name + length - digits;
    text_add_bytes(before, name, length - digits);
    *number = digits && digits < 10 ? strtoll(at, NULL, 10) : -1;
    return *number >= 0 && (digits == 1 || *at != '0');
}

/* Whether a number of strings follows the names: the same in all, or the name's plus `add`. */
struct follows {
    bool constant, counts;
    int64_t add;
};

static struct follows follow(const int64_t values[], const int64_t numbers[], size_t count)
{
    struct follows f = {.constant = true, .counts = true, .add = values[0] - numbers[0]};
    for (size_t i = 1; i < count; i++) {
        f.constant = f.constant && values[i] == values[0];
        f.counts = f.counts && values[i] - numbers[i] == f.add;
    }
    return f;
}

/* "{1}" of bracket 1, or "{}" of the nearest, 0; "{1+1}", "{+1}". */
static void add_number(struct text *out, int bracket, int64_t add)
{
    text_add(out, "{");
    if (bracket)
        text_add(out, "%d", bracket);
    if (add)
        text_add(out, "%+" PRId64, add);
    text_add(out, "}");
}

/* The pattern of strings, one a name, at the next place: its text, or a number. False: there is none. A brace
 * that is there already is that of another range, and is the same in all. */
static bool add_place(const char *at[], const int64_t numbers[], size_t count, int bracket, struct text *out)
{
    bool all_digits = true;
    for (size_t i = 0; i < count; i++)
        all_digits = all_digits && isdigit((unsigned char)*at[i]);
    if (!all_digits || *at[0] == '{') {
        size_t length = *at[0] == '{' ? strcspn(at[0], "}") + 1 : 1;
        for (size_t i = 0; i < count; i++) {
            if (strncmp(at[i], at[0], length) != 0 || strlen(at[i]) < length)
                return false;
        }
        text_add_bytes(out, at[0], length);
        for (size_t i = 0; i < count; i++)
            at[i] += length;
        return true;
    }
    int64_t *values = xcalloc(count, sizeof *values);
    bool plain = true;
    for (size_t i = 0; i < count; i++) {
        size_t digits = strspn(at[i], "0123456789");
        plain = plain && digits < 10 && (digits == 1 || *at[i] != '0');
        values[i] = digits < 10 ? strtoll(at[i], NULL, 10) : -1;
    }
    struct follows f = follow(values, numbers, count);
    free(values);
    size_t length = strspn(at[0], "0123456789");
    if (f.constant)
        for (size_t i = 1; i < count; i++)
            f.constant =
                f.constant && strspn(at[i], "0123456789") == length && strncmp(at[i], at[0], length) == 0;
    if (f.constant)
        text_add_bytes(out, at[0], length);
    else if (f.counts && plain)
        add_number(out, bracket, f.add);
    else
        return false;
    for (size_t i = 0; i < count; i++)
        at[i] += strspn(at[i], "0123456789");
    return true;
}

static json_t *pattern_of_strings(const json_t *const values[], const int64_t numbers[], size_t count,
                                  int bracket)
{
    const char **at = xcalloc(count, sizeof *at);
    struct text out = {0};
    bool fits = true, ended = false;
    for (size_t i = 0; i < count; i++)
        at[i] = json_string_value(values[i]);
    while (fits && !ended) {
        size_t ends = 0;
        for (size_t i = 0; i < count; i++)
            ends += !*at[i];
        ended = ends == count;
        fits = (ends == 0 || ended) && (ended || add_place(at, numbers, count, bracket, &out));
    }
    json_t *pattern = fits ? json_text(text_string(&out)) : NULL;
    text_free(&out);
    free(at);
    return pattern;
}

/* A number follows the names as a string of the pattern "{}" would: where all are the same it stays a number.
 */
static json_t *pattern_of_integers(const json_t *const values[], const int64_t numbers[], size_t count,
                                   int bracket)
{
    int64_t *all = xcalloc(count, sizeof *all);
    struct text out = {0};
    for (size_t i = 0; i < count; i++)
        all[i] = json_integer_value(values[i]);
    struct follows f = follow(all, numbers, count);
    if (!f.constant && f.counts)
        add_number(&out, bracket, f.add);
    json_t *pattern = f.constant ? json_integer(all[0]) : f.counts ? json_text(text_string(&out)) : NULL;
    text_free(&out);
    free(all);
    return pattern;
}

static json_t *pattern_of(const json_t *const values[], const int64_t numbers[], size_t count, int bracket);

static json_t *pattern_of_objects(const json_t *const values[], const int64_t numbers[], size_t count,
                                  int bracket)
{
    json_t *pattern = json_object(), *ignored, *one = NULL;
    const char *key;
    const json_t **below = xcalloc(count, sizeof *below);
    bool fits = true;
    for (size_t i = 1; i < count; i++)
        fits = fits && json_object_size(values[i]) == json_object_size(values[0]);
    json_object_foreach((json_t *)(uintptr_t)values[0], key, ignored)
    {
        if (strchr(key, '[')) /* below it the nearest number is that range's, and this one the first */
            bracket = 1;
        for (size_t i = 0; fits && i < count; i++)
            fits = (below[i] = json_object_get(values[i], key)) != NULL;
        fits = fits && (one = pattern_of(below, numbers, count, bracket));
        if (fits)
            json_object_set_new(pattern, key, one);
    }
    free(below);
    if (!fits)
        json_decref(pattern);
    return fits ? pattern : NULL;
}

static json_t *pattern_of(const json_t *const values[], const int64_t numbers[], size_t count, int bracket)
{
    bool same = true;
    for (size_t i = 1; i < count; i++)
        same = same && json_equal(values[i], values[0]);
    if (same)
        return json_deep_copy(values[0]);
    for (size_t i = 0; i < count; i++)
        if (json_typeof(values[i]) != json_typeof(values[0]))
            return NULL;
    switch (json_typeof(values[0])) {
    case JSON_STRING:
        return pattern_of_strings(values, numbers, count, bracket);
    case JSON_INTEGER:
        return pattern_of_integers(values, numbers, count, bracket);
    case JSON_OBJECT:
        return pattern_of_objects(values, numbers, count, bracket);
    default:
        return NULL;
    }
}

/* A run of names that count up by one, from item `from` of a map: how many. */
static size_t counting(const json_t *map, size_t from, struct text *before, int64_t numbers[])
{
    const char *name;
    json_t *ignored;
    size_t i = 0, count = 0;
    json_object_foreach((json_t *)(uintptr_t)map, name, ignored)
    {
        struct text own = {0};
        int64_t number;
        bool counts = split_name(name, &own, &number);
        bool goes_on = counts && i >= from &&
                       (i == from || (i == from + count && number == numbers[count - 1] + 1 &&
                                      strcmp(text_string(&own), text_string(before)) == 0));
        if (goes_on) {
            if (count == 0)
                text_add(before, "%s", text_string(&own));
            numbers[count++] = number;
        }
        text_free(&own);
        i++;
    }
    return count;
}

/* The values of `count` items of a map, from item `from` on. */
static void values_from(const json_t *map, size_t from, size_t count, const json_t *values[])
{
    const char *name;
    json_t *value;
    size_t i = 0;
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        if (i >= from && i < from + count)
            values[i - from] = value;
        i++;
    }
}

/* A map in which names that count are ranges where they are of one pattern. A new reference. */
static json_t *ranged(const json_t *map)
{
    size_t size = json_object_size(map), i = 0;
    const json_t **values = xcalloc(size + 1, sizeof *values);
    int64_t *numbers = xcalloc(size + 1, sizeof *numbers);
    json_t *out = json_object();
    const char *name;
    json_t *value, *pattern = NULL;
    size_t skip = 0;
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        if (i++ < skip)
            continue;
        struct text range = {0};
        size_t count = counting(map, i - 1, &range, numbers);
        values_from(map, i - 1, count, values);
        while (count > 1 && !(pattern = pattern_of(values, numbers, count, 0)))
            count--;
        text_add(&range, "[%" PRId64 "-%" PRId64 "]", numbers[0], numbers[count ? count - 1 : 0]);
        if (count > 1)
            json_object_set_new(out, text_string(&range), pattern);
        else
            json_object_set(out, name, value);
        skip = i - 1 + (count > 1 ? count : 1);
        text_free(&range);
    }
    free(values);
    free(numbers);
    return out;
}

/* NICs and GPUs of each host, then the hosts. */
static json_t *ranged_hosts(const json_t *hosts)
{
    json_t *copy = json_deep_copy(hosts), *host;
    const char *name;
    json_object_foreach(copy, name, host)
    {
        static const char *const maps[] = {"nics", "gpus"};
        for (size_t i = 0; i < 2; i++)
            if (json_object_get(host, maps[i]))
                json_object_set_new(host, maps[i], ranged(json_object_get(host, maps[i])));
    }
    json_t *all = ranged(copy);
    json_decref(copy);
    return all;
}

/* Is a link the next of one, whose ends' numbers are lower by `by`, and which else is the same? */
static bool goes_on(const json_t *first, const json_t *link, int64_t by)
{
    bool goes = json_equal(json_object_get(first, "rate"), json_object_get(link, "rate")) ||
                (!json_object_get(first, "rate") && !json_object_get(link, "rate"));
    for (size_t i = 0; goes && i < 2; i++) {
        const json_t *was = json_array_get(json_object_get(first, "between"), i),
                     *is = json_array_get(json_object_get(link, "between"), i);
        struct text before = {0}, now = {0};
        int64_t from, number;
        goes = split_name(json_string_value(was), &before, &from) &&
               split_name(json_string_value(is), &now, &number) && number == from + by &&
               strcmp(text_string(&before), text_string(&now)) == 0;
        text_free(&before);
        text_free(&now);
    }
    return goes;
}

/* "a.rail0" of `count` -> "a.rail[0-3]" */
static json_t *range_of_end(const json_t *link, size_t end, size_t count)
{
    struct text name = {0};
    int64_t from = 0;
    (void)split_name(json_string_value(json_array_get(json_object_get(link, "between"), end)), &name, &from);
    text_add(&name, "[%" PRId64 "-%" PRId64 "]", from, from + (int64_t)count - 1);
    json_t *range = json_text(text_string(&name));
    text_free(&name);
    return range;
}

static json_t *ranged_links(const json_t *links)
{
    json_t *out = json_array();
    for (size_t i = 0, count = 0; i < json_array_size(links); i += count) {
        const json_t *first = json_array_get(links, i);
        for (count = 1; i + count < json_array_size(links) &&
                        goes_on(first, json_array_get(links, i + count), (int64_t)count);)
            count++;
        json_t *link = json_deep_copy(first);
        if (count > 1)
            json_object_set_new(
                link, "between",
                json_make("[o,o]", range_of_end(first, 0, count), range_of_end(first, 1, count)));
        json_array_append_new(out, link);
    }
    return out;
}

/* ---- the document */

static json_t *document_of(const struct found *found, json_t *hosts, json_t *links, const json_t *remarks)
{
    json_t *document = json_make("{s:i,s:s,s:s}", "schema", 1, "name", found->request->name, "title",
                                 "Found by harness lab discover: to be checked and edited");
    if (json_array_size(remarks))
        json_object_set_new(document, "// remarks", json_deep_copy(remarks));
    json_object_set_new(document, "driver", json_text("ssh"));
    json_object_set(document, "hosts", hosts);
    if (json_array_size(links))
        json_object_set(document, "links", links);
    return document;
}

/* The lab that a document stands for; NULL: it is none. */
static json_t *lab_of(const json_t *document, struct error *e)
{
    struct lab lab;
    json_t *copy = json_deep_copy(document);
    json_object_del(copy, "// remarks");
    json_t *whole = lab_expand(copy, e);
    if (whole && lab_parse(whole, NULL, &lab, e) == 0)
        lab_free(&lab);
    else if (whole) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(copy);
    return whole;
}

json_t *found_document(const struct found *found, struct error *e)
{
    struct error ignored;
    json_t *remarks = json_deep_copy(found->remarks), *hosts = hosts_json(found);
    json_t *links = links_json(found, remarks), *shorter = ranged_hosts(hosts), *fewer = ranged_links(links);
    json_t *document = document_of(found, hosts, links, remarks),
           *briefly = document_of(found, shorter, fewer, remarks);
    json_t *whole = json_object_size(hosts) ? lab_of(document, e) : NULL,
           *same = whole ? lab_of(briefly, &ignored) : NULL;
    if (!json_object_size(hosts))
        error_set(e, "none of the hosts has a NIC that a lab can have: no lab is written");
    if (whole && same && json_equal(whole, same)) {
        json_decref(document);
        document = json_incref(briefly);
    }
    if (!whole) {
        json_decref(document);
        document = NULL;
    }
    json_decref(briefly);
    json_decref(whole);
    json_decref(same);
    json_decref(hosts);
    json_decref(shorter);
    json_decref(fewer);
    json_decref(links);
    json_decref(remarks);
    return document;
}
