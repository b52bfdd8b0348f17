/* Collectives between GPUs: what each run reached, and a row for each size. */
#include "reports/page/page_parts.h"

#include "reports/page/html.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define SIZES_SHOWN 64 /* of a collective */

static const json_t *collectives_of(const struct run *run)
{
    return run_get(run, "collectives");
}

/* What between hosts was used: NCCL's own word for it is in run.log. */
static const char *path_words(const json_t *collective)
{
    static const char *const words[][2] = {{"gdrdma", "GPUDirect RDMA"},
                                           {"ib", "RDMA through host memory"},
                                           {"socket", "TCP"},
                                           {"net", "network plugin, through host memory"},
                                           {"collnet", "reduced by the network"},
                                           {"mixed", "several"},
                                           {"none", "none: one host"}};
    const char *path = run_member(collective, "path");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(path, words[i][0]) == 0)
            return words[i][1];
    return "unknown";
}

/* With the decimals that nccl-tests prints. */
static void bandwidth_cell(struct text *out, const json_t *value)
{
    if (json_is_number(value))
        text_add(out, "<td class=number>%.2f</td>", json_number_value(value));
    else
        html_number_cell(out, NAN);
}

static void add_collective(const struct run *run, const char *name, const json_t *collective,
                           struct text *out)
{
    const json_t *used = json_object_get(collective, "tool_used");
    text_add(out, "<tr>");
    html_cell(out, run_label(run));
    html_cell(out, name);
    html_cell(out, run_member(collective, "op"));
    html_number_cell(out, html_value(json_object_get(collective, "ranks")));
    html_number_cell(out, html_value(json_object_get(collective, "avg_busbw_GBps")));
    bandwidth_cell(out, json_object_get(collective, "max_busbw_GBps"));
    html_number_cell(out, html_value(json_object_get(collective, "wrong")));
    html_cell(out, path_words(collective));
    html_cell(out, run_member(used, "version"));
    html_cell(out, run_member(used, "nccl_version"));
    text_add(out, "</tr>\n");
}

static void add_half(const json_t *half, struct text *out)
{
    html_number_cell(out, html_value(json_object_get(half, "time_ns")) / 1e3);
    bandwidth_cell(out, json_object_get(half, "algbw_GBps"));
    bandwidth_cell(out, json_object_get(half, "busbw_GBps"));
    html_number_cell(out, html_value(json_object_get(half, "wrong")));
}

static void add_sizes(const struct run *run, const char *name, const json_t *collective, struct text *out)
{
    size_t i;
    const json_t *size;
    json_array_foreach(json_object_get(collective, "sizes"), i, size)
    {
        if (i == SIZES_SHOWN)
            break;
        text_add(out, "<tr>");
        html_cell(out, run_label(run));
        html_cell(out, name);
        html_number_cell(out, html_value(json_object_get(size, "bytes")));
        add_half(json_object_get(size, "out_of_place"), out);
        add_half(json_object_get(size, "in_place"), out);
        text_add(out, "</tr>\n");
    }
}

typedef void add_rows(const struct run *run, const char *name, const json_t *collective, struct text *out);

static void add_all(const struct runs *runs, add_rows *add, struct text *out)
{
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *collective;
        json_object_foreach((json_t *)(uintptr_t)collectives_of(&runs->items[i]), name, collective)
        {
            add(&runs->items[i], name, collective, out);
        }
    }
    text_add(out, "</table></div>\n");
}

#define HALF(words)           \
    "<th class=number>" words \
    " time, us<th class=number>algbw, GB/s<th class=number>busbw, GB/s<th class=number>wrong"

void page_add_collectives(const struct runs *runs, struct text *out)
{
    if (!runs_have(runs, "collectives"))
        return;
    text_add(
        out,
        "<h3>Collectives</h3><div class=scroll><table><tr><th>run<th>collective<th>op<th class=number>ranks"
        "<th class=number>average busbw, GB/s<th class=number>largest busbw, GB/s<th class=number>wrong"
        "<th>between hosts<th>nccl-tests<th>NCCL</tr>\n");
    add_all(runs, add_collective, out);
    text_add(out, "<h3>Collectives by size</h3><div class=scroll><table><tr><th>run<th>collective"
                  "<th class=number>size, B" HALF("out of place") HALF("in place") "</tr>\n");
    add_all(runs, add_sizes, out);
}
