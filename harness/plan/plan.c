/* How a plan is made: cells out of documents, documents out of a request. */
#include "harness/plan/plan.h"

#include "harness/plan/all_hosts.h"
#include "harness/plan/assign.h"
#include "harness/plan/bind.h"
#include "harness/plan/condition.h"
#include "harness/plan/patterns.h"
#include "harness/plan/settings_fit.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/formats/find.h"
#include "lib/schedule/job.h"
#include "lib/text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What kept cells take together: the text of their documents, and about 2 KB for each flow, role, expectation
 * and node of a lab of their own. */
#define KEPT_BYTES ((size_t)32 << 20)
#define ROW_BYTES  ((size_t)2 << 10)

struct made_cells {
    struct cell **kept;           /* by number, NULL: not made yet, or no room */
    size_t bytes, document_bytes; /* of all that are kept; of the scenario that each of them has */
};

/* ---- expressions */

/* other(...) and "against" go together. */
static int check_other(const struct expr *expr, const json_t *against, struct error *e)
{
    bool reads = expr_reads_other(expr);
    if (reads && !against)
        return error_set(e, "other() is of another cell: say which with \"against\": {\"PATH\": VALUE}");
    if (against && !reads)
        return error_set(e, "\"against\" names another cell, and nothing reads it: write other(...)");
    return 0;
}

static int compile_expression(const char *text, bool check, const json_t *against,
                              const struct scenario *scenario, struct expr **into, const char *path, size_t i,
                              struct error *e)
{
    *into = expr_compile(text, check, e);
    if (!*into)
        return error_prefix(e, "%s[%zu].%s", path, i, check ? "check" : "of");
    expr_name_roles(*into, scenario);
    if (expr_validate(*into, scenario, e) != 0 || check_other(*into, against, e) != 0)
        return error_prefix(e, "%s[%zu].%s: \"%.200s\"", path, i, check ? "check" : "of", text);
    return 0;
}

/* `at`: where they are. */
static int check_conditions(const json_t *conditions, const char *at, struct error *e)
{
    const char *path;
    json_t *value;
    if (conditions && !json_is_object(conditions))
        return error_set(e, "%s: expected an object such as {\"settings.mtu\": 4200}", at);
    json_object_foreach((json_t *)(uintptr_t)conditions, path, value)
    {
        if (!paths_in_lab(path) && table_check_path(&scenario_table, path, e) != 0)
            return error_prefix(e, "%s: %.100s", at, path);
    }
    return 0;
}

static int compile_expressions(struct cell *cell, struct error *e)
{
    const struct scenario *scenario = &cell->scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    const struct scenario_published *published = scenario->published.items;
    cell->checks = xcalloc(scenario->expect.count + 1, sizeof(struct expr *));
    cell->published = xcalloc(scenario->published.count + 1, sizeof(struct expr *));
    for (size_t i = 0; i < scenario->expect.count; i++)
        if (compile_expression(expect[i].check, true, expect[i].against, scenario, &cell->checks[i], "expect",
                               i, e) != 0)
            return -1;
    if (check_conditions(scenario->conditions, "published_conditions", e) != 0)
        return -1;
    for (size_t i = 0; i < scenario->published.count; i++)
        if (check_conditions(published[i].conditions, "conditions", e) != 0)
            return error_prefix(e, "published[%zu]", i);
    for (size_t i = 0; i < scenario->published.count; i++)
        if (compile_expression(published[i].of, false, published[i].against, scenario, &cell->published[i],
                               "published", i, e) != 0)
            return -1;
    for (size_t i = 0; i < scenario->published.count; i++)
        if (expr_check_unit(cell->published[i], scenario, published[i].unit ? published[i].unit : "", e) != 0)
            return error_prefix(e, "published[%zu].unit", i);
    return 0;
}

/* ---- the end of a cell */

static void free_expressions(struct cell *cell)
{
    for (size_t i = 0; cell->checks && i < cell->scenario.expect.count; i++)
        expr_free(cell->checks[i]);
    for (size_t i = 0; cell->published && i < cell->scenario.published.count; i++)
        expr_free(cell->published[i]);
    free(cell->checks);
    free(cell->published);
}

static void cell_free(struct cell *cell)
{
    if (!cell->borrows_expressions)
        free_expressions(cell);
    if (!cell->borrows_lab)
        lab_free(&cell->lab);
    scenario_free(&cell->scenario);
    json_decref(cell->choice);
    json_decref(cell->scenario_json);
    json_decref(cell->written_json);
    json_decref(cell->ranges_json);
    json_decref(cell->lab_json);
    json_decref(cell->changed);
    json_decref(cell->known);
    memset(cell, 0, sizeof *cell);
}

/* ---- what the cells of a plan have in common, so that each is made in little time */

/* Take the first cell's lab if the cell's choice does not vary it. Returns whether it did. */
static bool cell_borrow_lab(struct cell *cell, const struct cell *first)
{
    if (paths_any_in_lab(cell->choice))
        return false;
    cell->lab = first->lab;
    cell->lab_json = json_incref(first->lab_json);
    cell->borrows_lab = true;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_roles(const struct scenario *a, const struct scenario *b)
{
    bool equal = a->roles.count == b->roles.count;
    for (size_t i = 0; equal && i < a->roles.count; i++)
        equal = same_text(scenario_role(a, i), scenario_role(b, i));
    return equal;
}

static bool same_flows(const struct scenario *a, const struct scenario *b)
{
    const struct scenario_flow *flows = a->flows.items, *others = b->flows.items;
    const struct scenario_traffic *traffic = a->traffic.items, *other_traffic = b->traffic.items;
    bool equal = a->flows.count == b->flows.count && a->traffic.count == b->traffic.count;
    for (size_t i = 0; equal && i < a->flows.count; i++)
        equal = same_text(flows[i].name, others[i].name);
    for (size_t i = 0; equal && i < a->traffic.count; i++)
        equal = same_text(traffic[i].name, other_traffic[i].name);
    const struct scenario_job *jobs = a->jobs.items, *other_jobs = b->jobs.items;
    equal = equal && a->jobs.count == b->jobs.count;
    for (size_t i = 0; equal && i < a->jobs.count; i++)
        equal = same_text(jobs[i].name, other_jobs[i].name);
    return equal;
}

static bool same_texts(const struct scenario *a, const struct scenario *b)
{
    const struct scenario_expect *expect = a->expect.items, *other = b->expect.items;
    const struct scenario_published *published = a->published.items, *figures = b->published.items;
    bool equal = a->expect.count == b->expect.count && a->published.count == b->published.count;
    for (size_t i = 0; equal && i < a->expect.count; i++)
        equal = same_text(expect[i].check, other[i].check) && !expect[i].against == !other[i].against;
    for (size_t i = 0; equal && i < a->published.count; i++)
        equal = same_text(published[i].of, figures[i].of) && same_text(published[i].unit, figures[i].unit) &&
                !published[i].against == !figures[i].against;
    return equal;
}

/* Take the first cell's expressions if the cell's are the same and about the same names. The cell's scenario
 * is parsed. */
static bool cell_borrow_expressions(struct cell *cell, const struct cell *first)
{
    const struct scenario *a = &cell->scenario, *b = &first->scenario;
    if (!same_texts(a, b) || !same_roles(a, b) || !same_flows(a, b))
        return false;
    cell->checks = first->checks;
    cell->published = first->published;
    cell->borrows_expressions = true;
    return true;
}

/* ---- a cell */

/* Has an item of a list, as it is written, another name or number than what it stands for? */
static bool has_ranges(const json_t *document, const json_t *expanded)
{
    static const char *const lists[] = {"flows", "storms", "inject"};
    bool has = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const json_t *written = json_object_get(document, lists[i]), *item;
        size_t k;
        has = has || json_array_size(written) != json_array_size(json_object_get(expanded, lists[i]));
        json_array_foreach((json_t *)(uintptr_t)written, k, item)
        {
            const char *name = json_string_value(json_object_get(item, "name"));
            has = has || (name && strchr(name, '{'));
        }
    }
    return has;
}

/* Parse a scenario document into the cell, with its expanded and resolved form. `lab`: that its names are
 * bound to; NULL: none. */
static int cell_parse_scenario(struct cell *cell, const json_t *document, const struct lab *lab,
                               const struct cell *first, struct error *e)
{
    json_t *expanded = scenario_expand(document, e), *written = NULL;
    bool bound = false;
    if (!expanded)
        return -1;
    if (lab && all_hosts_named(expanded) && all_hosts_bind(expanded, lab, e) != 0) {
        json_decref(expanded);
        return -1;
    }
    if (lab && bind_is_needed(expanded, lab))
        written = json_deep_copy(expanded);
    if (written && bind_scenario(expanded, lab, &bound, e) != 0) {
        json_decref(written);
        json_decref(expanded);
        return -1;
    }
    int result = scenario_parse(expanded, &cell->scenario, e);
    cell->scenario.bound = lab;
    if (result == 0)
        cell->scenario_json = scenario_resolve(expanded);
    if (result == 0 && bound)
        cell->written_json = scenario_resolve(written);
    if (result == 0 && has_ranges(document, expanded))
        cell->ranges_json = scenario_resolve(document);
    json_decref(written);
    json_decref(expanded);
    return result == 0 && !(first && cell_borrow_expressions(cell, first)) ? compile_expressions(cell, e)
                                                                           : result;
}

/* `path`: of the document. */
static int cell_parse_lab(struct cell *cell, const json_t *document, const char *path, struct error *e)
{
    json_t *expanded = lab_expand(document, e);
    if (!expanded)
        return -1;
    int result = lab_parse(expanded, path, &cell->lab, e);
    if (result == 0) {
        const struct lab_kind *kind = lab_kind(&cell->lab);
        cell->lab_json = table_resolve(&kind->table, kind->simulated ? document : expanded);
        if (kind->simulated && json_object_get(expanded, "sources")) /* those of NIC models too */
            json_object_set(cell->lab_json, "sources", json_object_get(expanded, "sources"));
    }
    json_decref(expanded);
    return result;
}

static int cell_check_roles(const struct cell *cell, struct error *e)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        if (lab_host_of(&cell->lab, role) >= 0 || lab_switch_of(&cell->lab, role) >= 0 ||
            lab_real_switch(&cell->lab, role))
            continue;
        const char **words = xcalloc(lab_node_count(&cell->lab) + 1, sizeof *words);
        for (size_t n = 0; n < lab_node_count(&cell->lab); n++)
            words[n] = lab_node_name(&cell->lab, n);
        const char *near = nearest_word(role, words);
        free(words);
        return error_set(
            e,
            "role \"%s\" of the scenario has no host in lab %s%s%s%s: give a host that name, or assign one "
            "with \"roles\": {\"%s\": HOST}",
            role, cell->lab.name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", role);
    }
    return 0;
}

/* A host whose GPUs the lab lists has no other. */
static int check_gpu(const struct lab *lab, const struct scenario_flow *flow, int host, struct error *e)
{
    const struct lab_host *h = host < 0 ? NULL : lab_host_at(lab, (size_t)host);
    const struct lab_gpu *gpus = h ? h->gpus.items : NULL;
    struct text numbers = {0};
    bool there = !gpus || h->gpus.count == 0 || flow->gpu == FIELD_UNSET;
    for (size_t i = 0; !there && i < h->gpus.count; i++)
        there = gpus[i].index == flow->gpu;
    for (size_t i = 0; !there && i < h->gpus.count; i++)
        text_add(&numbers, "%s%" PRId64, i ? ", " : "", gpus[i].index);
    if (!there)
        error_set(e, "flow %.100s.gpu: host %.100s of lab %s has no GPU %" PRId64 ": expected one of %s",
                  flow->name, h->name, lab->name, flow->gpu, text_string(&numbers));
    text_free(&numbers);
    return there ? 0 : -1;
}

/* A kernel delivers what it sends to an address of its own without the wire. */
static int cell_check_ends(const struct cell *cell, struct error *e)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    const struct lab *lab = &cell->lab;
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        int from = lab_host_of(lab, flows[i].from), to = lab_host_of(lab, flows[i].to);
        if (check_gpu(lab, &flows[i], from, e) != 0 || check_gpu(lab, &flows[i], to, e) != 0)
            return -1;
        if (from >= 0 && to >= 0 && from != to && lab_same_machine(lab, (size_t)from, (size_t)to))
            return error_set(
                e,
                "flow %.100s: %.100s and %.100s are NICs of one machine, %.100s, which does not send "
                "from one to the other by the wire: expected NICs of two machines",
                flows[i].name, flows[i].from, flows[i].to, lab_machine_name(lab, (size_t)from));
    }
    return 0;
}

/* ---- a cell: documents with the values of a choice */

/* The scenario without what its cells are of: its sweep, which may be long, and its search. */
static json_t *copy_scenario(const json_t *scenario)
{
    json_t *shallow = json_copy((json_t *)(uintptr_t)scenario);
    json_object_del(shallow, "sweep");
    json_object_del(shallow, "search");
    json_t *copy = json_deep_copy(shallow);
    json_decref(shallow);
    return copy;
}

/* Put a choice into copies of the documents, of which one may be NULL. */
static void put_choice(json_t *scenario, json_t *lab, const json_t *choice)
{
    const char *at;
    json_t *value;
    struct error ignored; /* a path that matches nothing is refused with its cell */
    json_object_foreach((json_t *)(uintptr_t)choice, at, value)
    {
        if (paths_in_lab(at) ? lab : scenario)
            assign_value(scenario, lab, at, value, &ignored);
    }
}

static int scale(json_t *scenario, const json_t *scaled, struct error *e)
{
    const char *path;
    json_t *value;
    if (scaled && !json_is_object(scaled))
        return error_set(e, "scaled: expected an object such as {\"PATH\": VALUE}");
    json_object_foreach((json_t *)(uintptr_t)scaled, path, value)
    {
        if (paths_exist(scenario, path) && assign_value(scenario, NULL, path, value, e) != 0)
            return error_prefix(e, "scaled");
    }
    return 0;
}

static bool differ_at(const json_t *one, const json_t *other, const char *path)
{
    json_t *here = paths_values(one, path), *there = paths_values(other, path);
    bool differ = !json_same(here, there);
    json_decref(here);
    json_decref(there);
    return differ;
}

/* A lab may replace values that the scenario and its sweep set (such as RED's thresholds where links are a
 * thousand times slower), but never adds any. What the request sets is put back, also where the lab's path is
 * wider, and over it what the choice sets and the lab leaves. */
static int apply_scaled(const struct cell_sources *d, const json_t *choice, json_t *scenario, struct error *e)
{
    const json_t *scaled = json_object_get(d->lab, "scaled");
    const char *path;
    json_t *value;
    if (json_object_size(scaled) == 0 || json_object_size(d->requested) == 0)
        return scale(scenario, scaled, e);
    json_t *before = json_deep_copy(scenario), *left = json_object();
    int result = scale(scenario, scaled, e);
    json_object_foreach((json_t *)(uintptr_t)choice, path, value)
    {
        if (!differ_at(before, scenario, path))
            json_object_set(left, path, value);
    }
    put_choice(scenario, NULL, d->requested);
    json_object_del(scenario, "sweep"); /* a cell has none, though the request may set one */
    json_object_del(scenario, "search");
    put_choice(scenario, NULL, left);
    json_decref(before);
    json_decref(left);
    return result;
}

static json_t *documents_with_choice(const void *context, const json_t *choice)
{
    const struct cell_sources *d = context;
    json_t *scenario = copy_scenario(d->scenario), *lab = json_deep_copy(d->lab);
    put_choice(scenario, lab, choice);
    return json_make("[o,o]", scenario, lab);
}

/* The values at a path in the documents with a choice put in. */
static json_t *values_with_choice(const void *context, const json_t *choice, const char *path)
{
    const struct cell_sources *d = context;
    const char *in_lab = paths_in_lab(path);
    json_t *scenario = in_lab ? NULL : copy_scenario(d->scenario),
           *lab = in_lab ? json_deep_copy(d->lab) : NULL;
    put_choice(scenario, lab, choice);
    json_t *values = in_lab ? paths_values(lab, in_lab) : paths_values(scenario, path);
    json_decref(scenario);
    json_decref(lab);
    return values;
}

/* ---- what --set has changed */

/* Does a value there leave the run's figures as they are? */
static bool leaves_figures(const char *path)
{
    static const char *const keys[] = {
        "name",    "title",    "lab",       "phases",      "sample",
        "capture", "verify",   "expect",    "published",   "sweep",
        "search",  "lab.name", "lab.title", "lab.sources", "published_conditions"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(keys[i]);
        if (strncmp(path, keys[i], length) == 0 &&
            (path[length] == '\0' || (path[length] == '.' && strcmp(keys[i], "lab") != 0)))
            return true;
    }
    return false;
}

/* Each value once. */
static json_t *distinct(const json_t *values)
{
    json_t *list = json_array(), *value, *other;
    size_t i, k;
    json_array_foreach(values, i, value)
    {
        bool known = false;
        json_array_foreach(list, k, other) known = known || json_same(value, other);
        if (!known)
            json_array_append(list, value);
    }
    return list;
}

/* Where the nodes have what a path into a host with several NICs leads to: "hosts.a.rail3.nic.netdev" for
 * "hosts.a.nics.rail3.netdev", "hosts.a.*.ssh" for "hosts.a.ssh". NULL: the lab has this host as it is
 * written. The caller frees. */
static char *path_of_nodes(const json_t *lab, const char *path)
{
    static const char into[] = "hosts.", nics[] = ".nics.";
    const char *name = strncmp(path, into, strlen(into)) == 0 ? path + strlen(into) : NULL,
               *rest = name ? strchr(name, '.') : NULL,
               *nic = rest && strncmp(rest, nics, strlen(nics)) == 0 ? rest + strlen(nics) : NULL;
    size_t length = nic ? strcspn(nic, ".") : 0;
    if (!rest || json_object_getn(json_object_get(lab, "hosts"), name, (size_t)(rest - name)))
        return NULL;
    return nic ? xasprintf("%.*s.%.*s.nic%s", (int)(rest - path), path, (int)length, nic, nic + length)
               : xasprintf("%.*s.*%s", (int)(rest - path), path, rest);
}

/* The values in a lab whose hosts are as written, or nodes. */
static json_t *values_of_hosts(const json_t *lab, const char *path)
{
    json_t *values = paths_values(lab, path);
    char *of_nodes = json_array_size(values) ? NULL : path_of_nodes(lab, path);
    if (of_nodes) {
        json_decref(values);
        values = paths_values(lab, of_nodes);
    }
    free(of_nodes);
    return values;
}

/* With the values that each host and link has by ranges and defaults: to write them out changes nothing. A
 * topology, and defaults as a whole, are in the lab as it is written alone. */
static json_t *values_in_lab(const json_t *lab, const char *path)
{
    struct error ignored;
    json_t *whole = lab_expand(lab, &ignored), *values = values_of_hosts(whole ? whole : lab, path);
    json_decref(whole);
    if (json_array_size(values))
        return values;
    json_decref(values);
    return paths_values(lab, path);
}

/* "lab.hosts.*.pcie.lanes" for "lab.defaults.host.pcie.lanes": what has the value; others as they are. The
 * caller frees. */
static char *path_of_sharers(const char *path)
{
    static const char *const kinds[][2] = {{"lab.defaults.host.", "lab.hosts.*."},
                                           {"lab.defaults.switch.", "lab.switches.*."},
                                           {"lab.defaults.link.", "lab.links.*."}};
    struct text sharers = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !sharers.length; i++)
        if (strncmp(path, kinds[i][0], strlen(kinds[i][0])) == 0)
            text_add(&sharers, "%s%s", kinds[i][1], path + strlen(kinds[i][0]));
    if (!sharers.length)
        text_add(&sharers, "%s", path);
    return text_take(&sharers);
}

static void note_change(struct cell *cell, const struct cell_sources *d, const char *requested)
{
    char *path = path_of_sharers(requested);
    const char *in_lab = paths_in_lab(path);
    if (leaves_figures(path) || (in_lab && !d->written.lab)) {
        free(path);
        return;
    }
    const struct cell written = {.scenario_json = d->written.scenario, .ranges_json = d->written.ranges};
    json_t *before = in_lab ? values_in_lab(d->written.lab, in_lab) : plan_values(&written, path),
           *here = in_lab ? values_in_lab(cell->lab_json, in_lab) : plan_values(cell, path),
           *was = distinct(before), *is = distinct(here);
    if (!json_same(was, is)) {
        cell->changed = cell->changed ? cell->changed : json_object();
        json_object_set(cell->changed, path, is);
    }
    json_decref(before);
    json_decref(here);
    json_decref(was);
    json_decref(is);
    free(path);
}

/* The values of a sweep are the document's own, unless --set gives the sweep. */
static void note_changes(struct cell *cell, const struct cell_sources *d)
{
    const char *path;
    json_t *value;
    bool sweeps = false;
    json_object_foreach(d->requested, path, value)
    {
        sweeps = sweeps || strncmp(path, "sweep", 5) == 0;
        note_change(cell, d, path);
    }
    json_object_foreach(cell->choice, path, value)
    {
        if (sweeps)
            note_change(cell, d, path);
    }
}

/* Keep the documents as they are written, of which --set will change something. */
static int keep_written(struct cell_sources *d, struct error *e)
{
    if (!json_array_size(json_object_get(d->scenario, "published")))
        return 0;
    struct cell cell = {0};
    json_t *scenario = copy_scenario(d->scenario), *expanded = scenario_expand(scenario, e);
    int result = expanded ? 0 : error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && d->lab && cell_parse_lab(&cell, d->lab, d->lab_path, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0) {
        d->written.scenario = scenario_resolve(expanded);
        d->written.ranges = has_ranges(scenario, expanded) ? scenario_resolve(scenario) : NULL;
        d->written.lab = json_incref(cell.lab_json);
        cell_free(&cell);
    }
    json_decref(expanded);
    json_decref(scenario);
    return result;
}

/* A cooldown that the document does not name is that of the kind of lab. Warm-up and measurement are not:
 * figures depend on them. */
static void set_cooldown(struct cell *cell, const json_t *scenario)
{
    if (!lab_kind(&cell->lab)->simulated || json_object_get(json_object_get(scenario, "phases"), "cooldown"))
        return;
    cell->scenario.phases.cooldown_ns = SCENARIO_SIMULATED_COOLDOWN_NS;
    json_object_set_new(json_object_get(cell->scenario_json, "phases"), "cooldown",
                        json_text(SCENARIO_SIMULATED_COOLDOWN));
}

/* Paths into the lab with their values, as far as there is room: "lab.topology.hosts 2". */
static void add_lab_values(const json_t *values, const char *of, struct text *out)
{
    const char *path;
    json_t *value;
    size_t before = out->length;
    json_object_foreach((json_t *)(uintptr_t)values, path, value)
    {
        char *shown = paths_in_lab(path) && out->length < 150 ? json_bare(value) : NULL;
        if (shown)
            text_add(out, "%s%.60s %.40s%s", out->length == before ? ", with " : " and ", path, shown,
                     strlen(shown) > 40 ? "..." : "");
        free(shown);
    }
    if (out->length > before)
        text_add(out, " %s", of);
}

/* The lab is not as its file has it where the request or the sweep puts values into it. */
static int refuse_lab(const struct cell_sources *d, const json_t *choice, struct error *e)
{
    struct text words = {0};
    add_lab_values(d->requested, "of --set", &words);
    add_lab_values(choice, "of the sweep", &words);
    int result = error_prefix(e, "%s%s", d->lab_path, text_string(&words));
    text_free(&words);
    return result;
}

/* Takes over `choice`. `first`: of the same plan; NULL if it is this one. */
static int cell_fill(const struct cell_sources *d, json_t *choice, const struct cell *first,
                     struct cell *cell, struct error *e)
{
    cell->choice = choice;
    cell->folder_of = d->scenario_opened;
    bool has_lab = d->lab && first && cell_borrow_lab(cell, first);
    json_t *scenario = copy_scenario(d->scenario),
           *lab = has_lab ? json_incref(d->lab) : json_deep_copy(d->lab);
    json_t *value;
    const char *path;
    int result = 0;
    bool known = true;
    struct error of_lab;
    json_object_foreach(choice, path, value)
    {
        if (result != 0)
            break;
        if (strcmp(path, "sweep") == 0 || strncmp(path, "sweep.", 6) == 0)
            result = error_set(e, "%.100s: a sweep does not vary itself", path);
        else
            result = assign_value(scenario, lab, path, value, e);
        if (result != 0)
            error_prefix(e, "%s: sweep", d->scenario_path);
    }
    if (result == 0 && lab && apply_scaled(d, choice, scenario, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && lab && !has_lab)
        known = cell_parse_lab(cell, lab, d->lab_opened, &of_lab) == 0;
    if (result == 0 && (known || !all_hosts_named(scenario)) && /* `*` means nothing without the lab */
        cell_parse_scenario(cell, scenario, lab && known ? &cell->lab : NULL, first, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && !known) {
        *e = of_lab;
        result = refuse_lab(d, choice, e);
    }
    if (result == 0 && lab && cell_check_roles(cell, e) != 0)
        result = refuse_lab(d, choice, e);
    if (result == 0 && lab && settings_fit(cell, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab && !lab_kind(&cell->lab)->simulated &&
        plan_expand_patterns(&cell->scenario, &cell->lab, d->seed, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab && !lab_kind(&cell->lab)->simulated && cell_check_ends(cell, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab)
        set_cooldown(cell, scenario);
    if (result == 0 && d->written.scenario)
        note_changes(cell, d);
    json_decref(scenario);
    json_decref(lab);
    return result;
}

/* Nothing is left allocated on error. */
static int cell_make(const struct cell_sources *d, json_t *choice, const struct cell *first,
                     struct cell *cell, struct error *e)
{
    *cell = (struct cell){.known = json_object()};
    if (cell_fill(d, choice, first, cell, e) == 0)
        return 0;
    cell_free(cell);
    return -1;
}

/* ---- the cells of a plan */

static size_t rows_of(const struct cell *cell)
{
    const struct scenario *s = &cell->scenario;
    size_t rows =
        1 + s->flows.count + s->traffic.count + s->roles.count + s->expect.count + s->published.count;
    if (!cell->borrows_lab)
        rows += cell->lab.hosts.count + cell->lab.switches.count + cell->lab.links.count;
    return rows;
}

const struct cell *plan_cell(const struct plan *plan, size_t i, struct error *e)
{
    struct made_cells *cells = plan->cells;
    if (i == 0)
        return &plan->first;
    if (cells->kept[i])
        return cells->kept[i];
    struct cell *cell = xcalloc(1, sizeof *cell);
    if (cell_make(&plan->from, choices_at(&plan->choices, i), &plan->first, cell, e) != 0) {
        free(cell);
        return NULL;
    }
    size_t bytes = rows_of(cell) * ROW_BYTES + cells->document_bytes;
    cell->kept = cells->bytes + bytes <= KEPT_BYTES;
    if (cell->kept) {
        cells->kept[i] = cell;
        cells->bytes += bytes;
    }
    return cell;
}

void plan_release(const struct plan *plan, const struct cell *cell)
{
    if (!cell || cell == &plan->first || cell->kept)
        return;
    struct cell *own = (struct cell *)(uintptr_t)cell;
    cell_free(own);
    free(own);
}

/* ---- documents */

static json_t *load_object(const char *path, enum document_kind kind, struct error *e)
{
    json_t *document = json_file_load(path, kind, e);
    if (document && !json_is_object(document)) {
        error_set(e, "%s: expected an object", path);
        json_decref(document);
        return NULL;
    }
    return document;
}

/* A copy of the document in its place: what was read stays as it is. */
static void copy_document(json_t **document)
{
    json_t *copy = *document ? json_deep_copy(*document) : NULL;
    json_decref(*document);
    *document = copy;
}

static int apply_sets(const struct plan_request *request, struct cell_sources *d, struct error *e)
{
    if (request->set_count && keep_written(d, e) != 0)
        return -1;
    if (request->set_count || request->duration_ns != FIELD_UNSET) {
        copy_document(&d->scenario);
        copy_document(&d->lab);
    }
    for (size_t i = 0; i < request->set_count; i++) {
        char *path;
        json_t *value;
        if (paths_assignment(request->sets[i], &path, &value, e) != 0)
            return error_prefix(e, "--set");
        int result =
            paths_in_lab(path) && !d->lab ? error_set(e, "the scenario names no lab, and none is given")
            : strcmp(path, "sweep") == 0 && !json_is_null(value) /* two sweeps merged would be neither */
                ? json_object_set(d->scenario, path, value)
                : assign_value(d->scenario, d->lab, path, value, e);
        json_object_set(d->requested, path, value);
        free(path);
        json_decref(value);
        if (result != 0)
            return error_prefix(e, "--set %s", request->sets[i]);
    }
    if (request->duration_ns != FIELD_UNSET) {
        char written[40];
        json_t *value = json_text(units_format(UNIT_TIME_NS, request->duration_ns, written, sizeof written));
        int result = paths_set(d->scenario, "phases.measure", value, e);
        json_object_set(d->requested, "phases.measure", value);
        json_decref(value);
        if (result != 0)
            return error_prefix(e, "--duration");
    }
    return 0;
}

char *plan_named_lab(const struct plan *plan, struct error *e)
{
    const char *named = json_string_value(json_object_get(plan->from.scenario, "lab"));
    char *scenario = named ? find_path_from(plan->folder, plan->scenario_path) : NULL,
         *lab = scenario ? find_beside(FIND_LAB, scenario, named, e) : NULL;
    free(scenario);
    return lab;
}

/* The lab of the request, or the one that the user's choice or the scenario names; with own_lab there may be
 * none. */
static int plan_load_lab(const struct plan_request *request, struct plan *plan, struct cell_sources *d,
                         struct error *e)
{
    const char *own = json_string_value(json_object_get(d->scenario, "lab"));
    if (!request->own_lab || request->lab) {
        plan->lab_path = find_lab(request->lab, plan->scenario_path, own, &plan->lab_why, e);
    } else {
        if (!own)
            return 0;
        plan->lab_why = "the scenario";
        plan->lab_path = plan_named_lab(plan, e);
        if (!plan->lab_path)
            return error_prefix(e, "%s: lab", plan->scenario_path);
    }
    d->lab_path = plan->lab_path;
    d->lab_opened = plan->lab_path ? xstrdup(plan->lab_path) : NULL;
    d->lab = plan->lab_path ? load_object(plan->lab_path, DOCUMENT_LAB, e) : NULL;
    return d->lab ? 0 : -1;
}

/* Paths lead to single hosts: "lab.hosts.h3". */
static int write_ranges_out(struct cell_sources *d, struct error *e)
{
    json_t *lab = d->lab ? lab_expand_ranges(d->lab, e) : NULL;
    if (d->lab && !lab)
        return error_prefix(e, "%s", d->lab_path);
    json_decref(d->lab);
    d->lab = lab;
    return 0;
}

/* Is the plan's lab the one that its scenario names, or does it name none? */
static bool has_own_lab(const struct plan *plan, const struct cell_sources *d)
{
    char *own = d->lab ? plan_named_lab(plan, NULL) : NULL;
    bool same = own && files_are_one(own, d->lab_opened);
    free(own);
    return same || !json_is_string(json_object_get(d->scenario, "lab")) || !d->lab;
}

/* The documents of the request, as they are written. */
static int load_documents(const struct plan_request *request, struct plan *plan, struct cell_sources *d,
                          struct error *e)
{
    const struct plan_documents *from = request->documents;
    if (from) {
        plan->folder = from->folder;
        plan->scenario_path = xstrdup(from->scenario_path);
        d->scenario = json_incref(from->scenario);
    } else {
        plan->scenario_path = find_file(FIND_SCENARIO, request->scenario, e);
        if (!plan->scenario_path || !(d->scenario = load_object(plan->scenario_path, DOCUMENT_SCENARIO, e)))
            return -1;
    }
    if (from && from->lab) {
        plan->lab_path = xstrdup(from->lab_path);
        plan->lab_why = from->lab_why;
        d->lab = json_incref(from->lab);
        d->lab_path = plan->lab_path;
        d->lab_opened = find_path_from(from->folder, plan->lab_path);
        return d->lab_opened ? 0 : error_set(e, "out of memory");
    }
    return plan_load_lab(request, plan, d, e);
}

struct cell_maker {
    const struct cell_sources *from;
    const struct cell *first;
};

/* A cell as what its documents say, however they are written; NULL if it cannot be made. */
static json_t *plain_cell(const void *context, const json_t *choice)
{
    const struct cell_maker *maker = context;
    struct error ignored;
    struct cell cell;
    if (cell_make(maker->from, json_copy((json_t *)(uintptr_t)choice), maker->first, &cell, &ignored) != 0)
        return NULL;
    json_t *lab = cell.lab_json ? lab_expand(cell.lab_json, &ignored) : NULL;
    json_t *plain = json_make("[o,o?]", table_plain(&scenario_table, cell.scenario_json),
                              lab ? table_plain(&lab_kind(&cell.lab)->table, lab) : NULL);
    json_decref(lab);
    cell_free(&cell);
    return plain;
}

int plan_admits(const struct plan *plan, const struct choice_conditions *of_caller, const json_t *choice,
                cell_check *check, void *context, struct error *e)
{
    struct choice_conditions conditions = *of_caller;
    struct cell cell;
    conditions.values_at = values_with_choice;
    conditions.context = &plan->from;
    int admitted = conditions_admit(&conditions, choice, e);
    if (admitted == 0)
        error_set(e, "%s: except and only leave it out", conditions.of);
    if (admitted != 1)
        return admitted;
    if (cell_make(&plan->from, json_copy((json_t *)(uintptr_t)choice), &plan->first, &cell, e) != 0)
        return 0;
    admitted = !check || check(context, &cell, e) == 0;
    cell_free(&cell);
    return admitted;
}

/* The values at a path of the choice before and after the lab's "scaled"; new references. */
static void values_at_scaled(const struct cell_sources *d, const json_t *choice, const char *path,
                             json_t **before, json_t **after)
{
    struct error ignored; /* what fails there, the first cell has said */
    json_t *scenario = copy_scenario(d->scenario);
    put_choice(scenario, NULL, choice);
    *before = paths_values(scenario, path);
    apply_scaled(d, choice, scenario, &ignored);
    *after = paths_values(scenario, path);
    json_decref(scenario);
}

bool plan_replaces(const struct plan *plan, const json_t *choice)
{
    const struct cell_sources *d = &plan->from;
    const char *path;
    json_t *value, *before, *after;
    bool replaces = false;
    if (json_object_size(json_object_get(d->lab, "scaled")) == 0)
        return false;
    json_object_foreach((json_t *)(uintptr_t)choice, path, value)
    {
        if (paths_in_lab(path))
            continue;
        values_at_scaled(d, choice, path, &before, &after);
        replaces = replaces || !json_same(before, after);
        json_decref(before);
        json_decref(after);
    }
    return replaces;
}

/* Does the lab make one value of what an axis has as several? */
static int check_axis_scaled(const struct cell_sources *d, const char *path, const json_t *values,
                             struct error *e)
{
    json_t *seen = json_object(), *value, *before, *after;
    size_t i;
    int result = 0;
    json_array_foreach((json_t *)(uintptr_t)values, i, value)
    {
        json_t *choice = json_make("{s:O}", path, value);
        values_at_scaled(d, choice, path, &before, &after);
        char *key = json_dumps(after, JSON_COMPACT | JSON_SORT_KEYS);
        const json_t *earlier = key ? json_object_get(seen, key) : NULL;
        if (earlier && !json_same(earlier, before) && result == 0)
            result =
                error_set(e,
                          "sweep.%.100s: lab %s makes different values of it the same, by its \"scaled\": "
                          "expected another path, or --set lab.scaled=null",
                          path, d->lab_path);
        if (key)
            json_object_set(seen, key, before);
        free(key);
        json_decref(before);
        json_decref(after);
        json_decref(choice);
    }
    json_decref(seen);
    return result;
}

static int check_scaled(const struct plan *plan, struct error *e)
{
    const char *path;
    json_t *values;
    if (json_object_size(json_object_get(plan->from.lab, "scaled")) == 0)
        return 0;
    json_object_foreach(plan->choices.lists, path, values)
    {
        if (!paths_in_lab(path) && check_axis_scaled(&plan->from, path, values, e) != 0)
            return -1;
    }
    return 0;
}

/* The search of the scenario, which its cells do not have. */
static int read_search(struct plan *plan, struct error *e)
{
    const json_t *written = json_object_get(plan->from.scenario, "search");
    if (!written || json_is_null(written))
        return 0;
    struct scenario_search search;
    if (table_parse(&scenario_search_table, written, &search, e) != 0)
        return error_prefix(e, "%s: search", plan->scenario_path);
    plan->search = xcalloc(1, sizeof *plan->search);
    *plan->search = search;
    return 0;
}

/* The choices of the documents, which are whole now, and the first cell. Takes over the documents. */
static int plan_begin(struct plan *plan, bool many, struct error *e)
{
    const struct cell_sources *d = &plan->from;
    if (assign_check_roles(d->scenario, d->requested, e) != 0)
        return error_prefix(e, "%s", d->scenario_path);
    if (choices_parse(json_object_get(d->scenario, "sweep"), many, json_object_size(d->requested) == 0,
                      values_with_choice, d, &plan->choices, e) != 0)
        return error_prefix(e, "%s", d->scenario_path);
    plan->sweep = json_incref(plan->choices.lists);
    if (read_search(plan, e) != 0)
        return -1;
    if (cell_make(d, choices_at(&plan->choices, 0), NULL, &plan->first, e) != 0)
        return -1;
    const struct cell_maker maker = {d, &plan->first};
    if (check_scaled(plan, e) != 0 ||
        choices_check_effects(&plan->choices, documents_with_choice, d, e) != 0 ||
        choices_check_same(&plan->choices, plain_cell, &maker, e) != 0)
        return error_prefix(e, "%s", d->scenario_path);
    plan->cell_count = plan->choices.count;
    plan->cells = xcalloc(1, sizeof *plan->cells);
    plan->cells->kept = xcalloc(plan->cell_count, sizeof *plan->cells->kept);
    json_t *scenario = copy_scenario(d->scenario);
    plan->cells->document_bytes = json_file_memory_of(scenario);
    json_decref(scenario);
    return 0;
}

int plan_load(const struct plan_request *request, struct plan *plan, struct error *e)
{
    *plan = (struct plan){.from = {.requested = json_object(), .seed = request->seed},
                          .changed = request->set_count || request->duration_ns != FIELD_UNSET};
    struct cell_sources *d = &plan->from;
    int result = load_documents(request, plan, d, e);
    d->scenario_path = plan->scenario_path;
    if (result == 0 && !(d->scenario_opened = find_path_from(plan->folder, plan->scenario_path)))
        result = error_set(e, "out of memory");
    plan->read.scenario = json_incref(d->scenario);
    plan->read.lab = json_incref(d->lab);
    if (result == 0)
        plan->as_written =
            !plan->changed && !(request->documents && request->documents->lab) && has_own_lab(plan, d);
    if (result == 0 && (write_ranges_out(d, e) != 0 || apply_sets(request, d, e) != 0 ||
                        plan_begin(plan, request->many, e) != 0))
        result = -1;
    if (result != 0)
        plan_free(plan);
    return result;
}

void plan_free(struct plan *plan)
{
    if (plan->search)
        table_free(&scenario_search_table, plan->search);
    free(plan->search);
    for (size_t i = 0; plan->cells && i < plan->cell_count; i++)
        if (plan->cells->kept[i]) {
            cell_free(plan->cells->kept[i]);
            free(plan->cells->kept[i]);
        }
    if (plan->cells)
        free(plan->cells->kept);
    free(plan->cells);
    cell_free(&plan->first);
    json_decref(plan->from.scenario);
    json_decref(plan->from.lab);
    json_decref(plan->from.requested);
    free(plan->from.lab_opened);
    free(plan->from.scenario_opened);
    json_decref(plan->from.written.scenario);
    json_decref(plan->from.written.ranges);
    json_decref(plan->from.written.lab);
    free(plan->scenario_path);
    free(plan->lab_path);
    json_decref(plan->sweep);
    json_decref(plan->read.scenario);
    json_decref(plan->read.lab);
    choices_free(&plan->choices);
    memset(plan, 0, sizeof *plan);
}

int plan_load_as_written(const struct plan *plan, struct plan *written, struct error *e)
{
    bool names_lab = json_object_get(plan->read.scenario, "lab");
    const struct plan_documents documents = {.scenario = plan->read.scenario,
                                             .scenario_path = plan->scenario_path,
                                             .lab = names_lab ? NULL : plan->read.lab,
                                             .lab_path = plan->lab_path,
                                             .folder = plan->folder,
                                             .lab_why = plan->lab_why};
    const struct plan_request request = {
        .documents = &documents, .own_lab = true, .duration_ns = FIELD_UNSET};
    return plan_load(&request, written, e);
}

int plan_check_lab(json_t *lab, const char *path, struct error *e)
{
    struct cell cell = {0};
    int result = cell_parse_lab(&cell, lab, path, e);
    if (result != 0)
        error_prefix(e, "%s", path);
    cell_free(&cell);
    return result;
}

/* ---- what a cell has at a path */

/* The document that a path leads into, and the path in it. */
static const json_t *document_of(const struct cell *cell, const char **path)
{
    const char *in_lab = paths_in_lab(*path);
    *path = in_lab ? in_lab : *path;
    return in_lab ? cell->lab_json : cell->scenario_json;
}

/* Does a path name an item of a list as it is written, "flows.in-{}.rate", or by its number? What a range
 * stands for has other names and numbers. */
static bool names_written_item(const char *path)
{
    const char *item = strchr(path, '.');
    size_t length = item ? strcspn(item + 1, ".") : 0;
    return length && (memchr(item + 1, '{', length) || strspn(item + 1, "0123456789") == length);
}

json_t *plan_values(const struct cell *cell, const char *path)
{
    json_t *chosen = json_object_get(cell->choice, path);
    const json_t *document = document_of(cell, &path);
    if (document == cell->scenario_json && cell->ranges_json && names_written_item(path))
        document = cell->ranges_json;
    json_t *values = chosen                       ? json_make("[O]", chosen)
                     : !document                  ? NULL
                     : document == cell->lab_json ? values_of_hosts(document, path)
                                                  : paths_values(document, path);
    if (json_array_size(values) || document != cell->scenario_json || !cell->written_json)
        return values;
    json_decref(values);
    return paths_values(cell->written_json, path);
}

static json_t *values_of_cell(const void *context, const char *path)
{
    return plan_values(context, path);
}

int plan_judge_when(const struct cell *cell, const json_t *when, struct error *e)
{
    return condition_holds(when, values_of_cell, cell, e);
}

bool plan_when(const struct cell *cell, const json_t *when)
{
    struct error ignored;
    return plan_judge_when(cell, when, &ignored) == 1;
}

/* ---- what published figures hold for */

/* A cell, and its lab with the values of each host and link written out. */
struct conditioned {
    const struct cell *cell;
    json_t *lab;
};

static json_t *values_conditioned(const void *context, const char *path)
{
    const struct conditioned *of = context;
    const char *in_lab = paths_in_lab(path);
    return in_lab && of->lab ? paths_values(of->lab, in_lab) : plan_values(of->cell, path);
}

json_t *plan_conditions(const struct cell *cell, const struct scenario_published *published)
{
    json_t *all = cell->scenario.conditions ? json_copy(cell->scenario.conditions) : json_object();
    json_object_update(all, published->conditions);
    return all;
}

/* "settings.mtu is 1500" */
static void add_values(struct text *why, const char *path, const json_t *values)
{
    json_t *each = distinct(values), *value;
    size_t i;
    text_add(why, "%s%s is%s", why->length ? ", and " : "", path, json_array_size(each) ? "" : " not set");
    json_array_foreach(each, i, value)
    {
        char *shown = json_bare(value);
        text_add(why, "%s %.100s", i ? " or" : "", shown ? shown : "?");
        free(shown);
    }
    json_decref(each);
}

/* Real hosts are not described by their lab in every value: what it does not say contradicts nothing. */
static void add_condition(const struct conditioned *of, const char *path, json_t *wanted, struct text *why)
{
    struct error e;
    json_t *one = json_make("{s:O}", path, wanted), *values = values_conditioned(of, path);
    int holds = condition_holds(one, values_conditioned, of, &e);
    bool silent = paths_in_lab(path) && !json_array_size(values) && !lab_kind(&of->cell->lab)->simulated;
    if (holds < 0)
        text_add(why, "%s%s", why->length ? ", and " : "", e.text);
    else if (!holds && !silent)
        add_values(why, path, values);
    json_decref(values);
    json_decref(one);
}

/* Does a path of the map lead to this place? */
static bool names_place(const json_t *conditions, const char *place)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)conditions, path, value)
    {
        if (fnmatch(path, place, FNM_NOESCAPE) == 0)
            return true;
    }
    return false;
}

json_t *plan_published_why_not(const struct cell *cell, const struct scenario_published *published)
{
    struct error ignored;
    json_t *conditions = plan_conditions(cell, published), *value;
    struct conditioned of = {.cell = cell};
    struct text why = {0};
    const char *path;
    if (cell->lab_json && paths_any_in_lab(conditions))
        of.lab = lab_expand(cell->lab_json, &ignored);
    json_object_foreach(cell->changed, path, value)
    {
        json_t *wanted = json_object_get(conditions, path);
        if (wanted)
            add_condition(&of, path, wanted, &why);
        else if (!names_place(conditions, path) && !names_place(published->when, path) &&
                 !names_place(published->against, path))
            add_values(&why, path, value);
    }
    json_object_foreach(conditions, path, value)
    {
        if (!json_object_get(cell->changed, path))
            add_condition(&of, path, value, &why);
    }
    json_t *words = why.length ? json_text(text_string(&why)) : NULL;
    text_free(&why);
    json_decref(of.lab);
    json_decref(conditions);
    return words;
}

/* ---- the cells by their choices */

/* The caller frees it. */
static char *place_of(const json_t *choice)
{
    struct text words = {0};
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)choice, path, value)
    {
        json_add_canonical(value, &words);
        text_add(&words, "\n");
    }
    return text_take(&words);
}

void cell_places_make(struct cell_places *places, const struct plan *plan)
{
    places->by_choice = json_object();
    for (size_t i = 0; i < plan->cell_count; i++) {
        json_t *choice = choices_at(&plan->choices, i);
        char *key = place_of(choice);
        json_object_set_new(places->by_choice, key, json_integer((json_int_t)i));
        free(key);
        json_decref(choice);
    }
}

void cell_places_free(struct cell_places *places)
{
    json_decref(places->by_choice);
    *places = (struct cell_places){0};
}

size_t cell_places_other(const struct cell_places *places, const struct cell *cell, const json_t *against)
{
    json_t *choice = json_copy(cell->choice), *value;
    const char *path;
    bool swept = choice;
    json_object_foreach((json_t *)(uintptr_t)against, path, value)
    {
        swept = swept && json_object_get(choice, path) && json_object_set(choice, path, value) == 0;
    }
    char *key = swept ? place_of(choice) : NULL;
    const json_t *place = key ? json_object_get(places->by_choice, key) : NULL;
    free(key);
    json_decref(choice);
    return place ? (size_t)json_integer_value(place) : NO_CELL;
}
