/* Jobs: a row for each, and one for each of its ranks. */
#include "lib/schedule/job.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include <math.h>
#include <stdint.h>

#define RANKS_SHOWN 64 /* of a job */

static double in_us(const json_t *ns)
{
    return html_value(ns) / 1e3;
}

static void add_job(const struct run *run, const char *name, const json_t *job, struct text *out)
{
    double end_ns = result_job_end_ns(job);
    text_add(out, "<tr>");
    html_cell(out, run_label(run));
    html_cell(out, name);
    html_cell(out, run_member(job, "schedule"));
    html_number_cell(out, (double)json_array_size(json_object_get(job, "ranks")));
    html_number_cell(out, html_value(json_object_get(job, "operations")));
    html_number_cell(out, html_value(json_object_get(job, "unfinished")));
    html_number_cell(out, end_ns < 0 ? NAN : end_ns / 1e3);
    text_add(out, "</tr>\n");
}

static void add_ranks(const struct run *run, const char *name, const json_t *job, struct text *out)
{
    static const char *const times[] = {"end_ns", "calc_ns", "exposed_ns"}, *const counts[] = {
                                                                                "sent_bytes",
                                                                                "received_bytes",
                                                                                "unfinished"};
    size_t i;
    const json_t *rank;
    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        if (i == RANKS_SHOWN)
            break;
        text_add(out, "<tr>");
        html_cell(out, run_label(run));
        html_cell(out, name);
        html_number_cell(out, (double)i);
        html_cell(out, run_member(rank, "role"));
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            html_number_cell(out, in_us(json_object_get(rank, times[k])));
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            html_number_cell(out, html_value(json_object_get(rank, counts[k])));
        text_add(out, "</tr>\n");
    }
}

static size_t add_all(const struct runs *runs,
                      void (*add)(const struct run *run, const char *name, const json_t *job,
                                  struct text *out),
                      struct text *out)
{
    size_t more = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *job;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "jobs"), name, job)
        {
            size_t ranks = json_array_size(json_object_get(job, "ranks"));
            more += ranks > RANKS_SHOWN ? ranks - RANKS_SHOWN : 0;
            add(&runs->items[i], name, job, out);
        }
    }
    text_add(out, "</table></div>\n");
    return more;
}

void page_add_jobs(const struct runs *runs, struct text *out)
{
    if (!runs_have(runs, "jobs"))
        return;
    text_add(out, "<h3>Jobs</h3><div class=scroll><table><tr><th>run<th>job<th>schedule"
                  "<th class=number>ranks<th class=number>operations<th class=number>not ended"
                  "<th class=number>end, us</tr>\n");
    add_all(runs, add_job, out);
    text_add(out, "<h3>Ranks of jobs</h3><div class=scroll><table><tr><th>run<th>job<th class=number>rank"
                  "<th>role<th class=number>end, us<th class=number>computing, us"
                  "<th class=number>waiting for messages, us<th class=number>sent, B"
                  "<th class=number>received, B<th class=number>operations not ended</tr>\n");
    size_t more = add_all(runs, add_ranks, out);
    if (more)
        text_add(out,
                 "<p class=soft>%zu more ranks are in result.json: the first %d of each are listed.</p>\n",
                 more, RANKS_SHOWN);
}
