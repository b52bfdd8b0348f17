#include "harness/search/why.h"

#include "lib/document/json_text.h"
#include "lib/files.h"
#include "reports/explain/explain.h"
#include "reports/results/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.01 /* of what the lines carry: less is no difference */

/* The explanation of a candidate's first run. A new reference; NULL with an error. */
static json_t *explain_first(const struct candidate *c, const char *folder, struct error *e)
{
    const char *run = json_string_value(json_array_get(c->folders, 0));
    struct damaged damaged = {0};
    char *path = run ? files_join(folder, run) : NULL;
    json_t *first = path ? explain_result(path, false, &damaged, e) : NULL;
    if (!path)
        error_set(e, "it has no result");
    damaged_free(&damaged);
    free(path);
    return first;
}

/* The part of what the lines carry that something took, over all flows. */
static double share_of(const json_t *explanation, const char *what)
{
    const json_t *flow, *flows = json_object_get(explanation, "flows");
    double took = 0, all = 0;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)flows, i, flow)
    {
        double most = json_number_value(json_object_get(flow, "most_bps"));
        took += most * json_number_value(json_object_get(json_object_get(flow, "shares"), what));
        all += most;
    }
    return all > 0 ? took / all : 0;
}

static void add_share(const char *words, const json_t *written, const json_t *winner, const char *what,
                      struct text *out)
{
    text_add(out, "%s %.3g %% as written, %.3g %% with the winner", words, 100 * share_of(written, what),
             100 * share_of(winner, what));
}

/* What arrived, and what took most less than before. */
static void add_saved(const json_t *written, const json_t *winner, struct text *out)
{
    const json_t *shares = json_object_get(written, "shares");
    const char *what, *most = NULL;
    json_t *words;
    double best = LEAST;
    json_object_foreach((json_t *)(uintptr_t)shares, what, words)
    {
        double saved = share_of(written, what) - share_of(winner, what);
        if (strcmp(what, "delivered") == 0 || saved <= best)
            continue;
        best = saved;
        most = what;
    }
    text_add(out, "of what the senders' lines carry, ");
    add_share("delivered", written, winner, "delivered", out);
    if (most) {
        text_add(out, "; ");
        add_share(json_string_value(json_object_get(shares, most)), written, winner, most, out);
    }
}

json_t *why_of(const struct candidate *written, const struct candidate *winner, const char *folder)
{
    struct error e;
    struct text out = {0};
    if (written == winner)
        return json_text("nothing that was tried is better than the scenario as it is written");
    json_t *before = explain_first(written, folder, &e),
           *after = before ? explain_first(winner, folder, &e) : NULL;
    if (!after) {
        text_add(&out, "not known: %s", e.text);
    } else {
        add_saved(before, after, &out);
        text_add(&out, "; as written: %s", run_member(before, "text"));
        if (strcmp(run_member(before, "text"), run_member(after, "text")) != 0)
            text_add(&out, "; with the winner: %s", run_member(after, "text"));
        else
            text_add(&out, "; with the winner the same");
    }
    json_t *sentence = json_text(text_string(&out));
    text_free(&out);
    json_decref(before);
    json_decref(after);
    return sentence;
}
