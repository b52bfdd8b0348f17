/*
 * Workloads of AICB, as SimAI plays them (aliyun/SimAI, astra-sim/workload/Workload.cc, Layer.cc, and
 * astra-sim/system/MockNcclGroup.cc for the groups, of 2026):
 *
 *   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: TP ep: EP ... all_gpus: N ...
 *   LAYERS
 *   NAME -1 FORWARD_NS COMM BYTES INPUT_NS COMM BYTES WEIGHT_NS COMM BYTES UPDATE_NS      for each layer
 *
 * COMM is NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, among the ranks of TP (of the weights'
 * gradients DP), with _EP or _DP_EP of that group. A rank computes the layers forward, then backward: of each
 * the gradient of the input, then that of the weights. It waits for every collective but those of weights,
 * which must have ended when the layer's next forward pass begins. A collective has ended UPDATE_NS late.
 */
#include "harness/import/job.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LAYERS 100000

enum group { TP, DP, EP, DP_EP, GROUPS };
enum pass { FORWARD, INPUT, WEIGHT, PASSES };

struct phase {
    int64_t ns, bytes;
    enum group group;
    enum collective_op op;
    bool communicates;
};

struct layer {
    struct phase passes[PASSES];
    int64_t update_ns;
    unsigned line;
};

struct workload {
    struct reader *in;
    int64_t ranks, sizes[GROUPS], stages, checkpoints, layer_count;
    struct layer *layers;
    unsigned line; /* of the sizes */
};

/* ---- reading */

static int take_word(const struct reader *in, const struct word *word, struct phase *phase, bool of_weights,
                     struct error *e)
{
    static const struct {
        const char *name;
        enum collective_op op;
    } ops[] = {{"ALLREDUCE", COLLECTIVE_ALL_REDUCE},
               {"ALLGATHER", COLLECTIVE_ALL_GATHER},
               {"REDUCESCATTER", COLLECTIVE_REDUCE_SCATTER},
               {"ALLTOALL", COLLECTIVE_ALL_TO_ALL}};
    static const struct {
        const char *suffix;
        enum group group;
    } groups[] = {{"", TP}, {"_EP", EP}, {"_DP_EP", DP_EP}};
    if (word_is(word, "NONE"))
        return 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
            size_t length = strlen(ops[i].name), rest = strlen(groups[k].suffix);
            if (word->length != length + rest || memcmp(word->at, ops[i].name, length) != 0 ||
                memcmp(word->at + length, groups[k].suffix, rest) != 0)
                continue;
            phase->op = ops[i].op;
            phase->group = !k && of_weights ? DP : groups[k].group;
            phase->communicates = true;
            return 0;
        }
    return reader_error(in, word->line, e,
                        "\"%.*s\": expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, with _EP, "
                        "_DP_EP or without",
                        word_shown(word), word->at);
}

static int read_phase(struct reader *in, struct phase *phase, bool of_weights, struct error *e)
{
    struct word word;
    if (read_integer(in, "the time of a computation in ns", 0, SCHEDULE_MOST_CALC_NS, &phase->ns, e) != 0 ||
        reader_expect(in, "a collective", &word, e) != 0 || take_word(in, &word, phase, of_weights, e) != 0 ||
        read_integer(in, "the bytes of a collective", 0, SCHEDULE_MOST_BYTES, &phase->bytes, e) != 0)
        return -1;
    phase->communicates = phase->communicates && phase->bytes;
    return 0;
}

static int read_layer(struct reader *in, struct layer *layer, struct error *e)
{
    struct word name, depends;
    if (reader_expect(in, "the name of a layer", &name, e) != 0 || reader_expect(in, "-1", &depends, e) != 0)
        return -1;
    layer->line = name.line;
    if (!word_is(&depends, "-1"))
        return reader_error(in, depends.line, e, "the layer depends on \"%.*s\": expected -1",
                            word_shown(&depends), depends.at);
    for (int p = 0; p < PASSES; p++)
        if (read_phase(in, &layer->passes[p], p == WEIGHT, e) != 0)
            return -1;
    return read_integer(in, "the time of an update in ns", 0, SCHEDULE_MOST_CALC_NS, &layer->update_ns, e);
}

/* One of the first line's keys and its value; of checkpoints the list of layers, too. */
static int take_key(struct workload *w, const struct word *key, struct import *import, struct error *e)
{
    int64_t ignored = 0, layer;
    const struct {
        const char *name;
        int64_t *value;
    } keys[] = {{"model_parallel_NPU_group:", &w->sizes[TP]},
                {"ep:", &w->sizes[EP]},
                {"pp:", &w->stages},
                {"all_gpus:", &w->ranks},
                {"checkpoints:", &w->checkpoints},
                {"checkpoint_initiates:", &w->checkpoints},
                {"vpp:", &ignored},
                {"ga:", &ignored},
                {"pp_comm:", &ignored},
                {"pp_comm", &ignored}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!word_is(key, keys[i].name))
            continue;
        bool lists = keys[i].value == &w->checkpoints;
        int64_t before = w->checkpoints;
        if (read_integer(w->in, keys[i].name, 0, INT64_C(1) << 50, keys[i].value, e) != 0)
            return -1;
        for (int64_t k = 0; lists && k < *keys[i].value; k++)
            if (read_integer(w->in, "the number of a layer", 0, MOST_LAYERS, &layer, e) != 0)
                return -1;
        w->checkpoints += lists ? before : 0;
        return 0;
    }
    import_note(import, "%s:%u: %.*s is left out: it is unknown", w->in->path, key->line, word_shown(key),
                key->at);
    return 0;
}

static int check_sizes(struct workload *w, struct error *e)
{
    if (w->ranks < 2 || w->ranks > SCHEDULE_MOST_RANKS)
        return reader_error(w->in, w->line, e, "all_gpus is %" PRId64 ": expected 2 to %d", w->ranks,
                            SCHEDULE_MOST_RANKS);
    if (w->sizes[TP] < 1 || w->ranks % w->sizes[TP])
        return reader_error(w->in, w->line, e,
                            "model_parallel_NPU_group is %" PRId64
                            ": expected a divisor of all_gpus, %" PRId64,
                            w->sizes[TP], w->ranks);
    w->sizes[DP] = w->ranks / w->sizes[TP];
    if (w->sizes[EP] < 1 || w->sizes[DP] % w->sizes[EP])
        return reader_error(w->in, w->line, e,
                            "ep is %" PRId64 ": expected a divisor of all_gpus / model_parallel_NPU_group, "
                            "%" PRId64,
                            w->sizes[EP], w->sizes[DP]);
    w->sizes[DP_EP] = w->sizes[DP] / w->sizes[EP];
    return 0;
}

static int read_head(struct workload *w, struct import *import, struct error *e)
{
    struct word word;
    if (reader_expect(w->in, "HYBRID_TRANSFORMER_FWD_IN_BCKWD", &word, e) != 0)
        return -1;
    w->line = word.line;
    if (!word_is(&word, "HYBRID_TRANSFORMER_FWD_IN_BCKWD") && !word_is(&word, "HYBRID_TRANSFORMER"))
        return reader_error(w->in, word.line, e,
                            "\"%.*s\": expected HYBRID_TRANSFORMER_FWD_IN_BCKWD or HYBRID_TRANSFORMER",
                            word_shown(&word), word.at);
    while (reader_word_in_line(w->in, &word))
        if (take_key(w, &word, import, e) != 0)
            return -1;
    return check_sizes(w, e);
}

static int read_workload(struct workload *w, struct import *import, struct error *e)
{
    if (read_head(w, import, e) != 0 ||
        read_integer(w->in, "the number of layers", 1, MOST_LAYERS, &w->layer_count, e) != 0)
        return -1;
    w->layers = calloc((size_t)w->layer_count, sizeof *w->layers);
    if (!w->layers)
        return error_set(e, "out of memory");
    for (int64_t i = 0; i < w->layer_count; i++)
        if (read_layer(w->in, &w->layers[i], e) != 0)
            return -1;
    if (reader_has_more(w->in))
        import_note(import, "%s: what follows the last of %" PRId64 " layers, on line %u, is not read",
                    w->in->path, w->layer_count, w->in->line);
    return 0;
}

/* ---- the schedule */

struct build {
    const struct workload *w;
    struct import_job *job;
    struct import *import;
    uint32_t *ranks;       /* of a group */
    int64_t *at;           /* of each rank: what its next computation waits for */
    int64_t *last[GROUPS]; /* and its next collective in this group; -1 */
    int64_t *of_weights;   /* of each layer and rank: the collective of its weights; -1 */
    int64_t *begin, *end;  /* of a group */
};

/* Rank k of group g: those of TP are next to each other, and EP is that of neighbouring groups of TP. */
static uint32_t rank_of(const struct workload *w, enum group group, int64_t g, int64_t k)
{
    int64_t tp = w->sizes[TP], ep = w->sizes[EP], place = g % tp, block = g / tp;
    switch (group) {
    case TP:
        return (uint32_t)(g * tp + k);
    case DP:
        return (uint32_t)(k * tp + g);
    case EP:
        return (uint32_t)((block * ep + k) * tp + place);
    case DP_EP:
    case GROUPS:
        break;
    }
    return (uint32_t)((k * ep + block) * tp + place);
}

/* On a CPU of its own what goes beside computations. */
static int64_t add_calc(struct build *b, uint32_t rank, int64_t ns, uint8_t cpu, int64_t before,
                        unsigned line, struct error *e)
{
    struct schedule *s = &b->job->schedule;
    const struct schedule_operation calc = {.type = SCHEDULE_CALC, .size = ns, .cpu = cpu, .line = line};
    if (s->operation_count >= IMPORT_MOST_OPERATIONS)
        return reader_error(b->w->in, line, e, "more than %d sends, recvs and computations up to here",
                            IMPORT_MOST_OPERATIONS);
    int64_t added = schedule_add(s, rank, &calc, e);
    if (added < 0 || (before >= 0 && schedule_add_wait(s, added, before, false, e) != 0))
        return -1;
    return added;
}

/* Of one group of the phase's kind. */
static int add_group(struct build *b, const struct layer *layer, const struct phase *phase, int64_t g,
                     int64_t *result, struct error *e)
{
    const struct workload *w = b->w;
    int64_t size = w->sizes[phase->group], *last = b->last[phase->group];
    for (int64_t k = 0; k < size; k++) {
        uint32_t rank = b->ranks[k] = rank_of(w, phase->group, g, k);
        b->begin[k] = b->at[rank];
        if (last[rank] < 0)
            continue;
        if ((b->begin[k] = add_calc(b, rank, 0, 0, b->at[rank], layer->line, e)) < 0 ||
            schedule_add_wait(&b->job->schedule, b->begin[k], last[rank], false, e) != 0)
            return -1;
    }
    const struct collective c = {.op = phase->op,
                                 .bytes = phase->bytes,
                                 .ranks = b->ranks,
                                 .count = (uint32_t)size,
                                 .line = layer->line};
    if (import_job_collective(b->job, b->import, &c, b->begin, b->end, e) != 0)
        return -1;
    for (int64_t k = 0; k < size; k++) {
        uint32_t rank = b->ranks[k];
        result[rank] = b->end[k];
        if (layer->update_ns &&
            (result[rank] = add_calc(b, rank, layer->update_ns, (uint8_t)(1 + phase->group), b->end[k],
                                     layer->line, e)) < 0)
            return -1;
        last[rank] = result[rank];
    }
    return 0;
}

/* Each rank computes, and begins its collective, whose end is in `result`, if there is one. */
static int add_phase(struct build *b, const struct layer *layer, enum pass pass, int64_t *result,
                     struct error *e)
{
    const struct phase *phase = &layer->passes[pass];
    int64_t size = b->w->sizes[phase->group];
    for (uint32_t rank = 0; rank < b->w->ranks; rank++)
        if ((b->at[rank] = add_calc(b, rank, phase->ns, 0, b->at[rank], layer->line, e)) < 0)
            return -1;
    for (int64_t g = 0; phase->communicates && size > 1 && g < b->w->ranks / size; g++)
        if (add_group(b, layer, phase, g, result, e) != 0)
            return -1;
    return 0;
}

static int add_forward(struct build *b, int64_t i, struct error *e)
{
    const struct layer *layer = &b->w->layers[i];
    for (uint32_t rank = 0; rank < b->w->ranks; rank++) {
        int64_t weights = b->of_weights[i * b->w->ranks + rank];
        if (weights >= 0 && ((b->at[rank] = add_calc(b, rank, 0, 0, b->at[rank], layer->line, e)) < 0 ||
                             schedule_add_wait(&b->job->schedule, b->at[rank], weights, false, e) != 0))
            return -1;
    }
    return add_phase(b, layer, FORWARD, b->at, e);
}

static int add_iteration(struct build *b, struct error *e)
{
    const struct workload *w = b->w;
    for (int64_t i = 0; i < w->layer_count; i++)
        if (add_forward(b, i, e) != 0)
            return -1;
    for (int64_t i = w->layer_count - 1; i >= 0; i--)
        if (add_phase(b, &w->layers[i], INPUT, b->at, e) != 0 ||
            add_phase(b, &w->layers[i], WEIGHT, &b->of_weights[i * w->ranks], e) != 0)
            return -1;
    return 0;
}

static int64_t *none(int64_t count)
{
    int64_t *items = malloc(((size_t)count + 1) * sizeof *items);
    for (int64_t i = 0; items && i < count; i++)
        items[i] = -1;
    return items;
}

static int build(struct build *b, struct error *e)
{
    const struct workload *w = b->w;
    if (w->layer_count > IMPORT_MOST_OPERATIONS / w->ranks)
        return reader_error(b->w->in, w->line, e,
                            "%" PRId64 " layers of %" PRId64 " ranks: more than %d computations",
                            w->layer_count, w->ranks, IMPORT_MOST_OPERATIONS);
    b->ranks = calloc((size_t)w->ranks + 1, sizeof *b->ranks);
    b->at = none(w->ranks);
    b->begin = none(w->ranks);
    b->end = none(w->ranks);
    b->of_weights = none(w->ranks * w->layer_count);
    bool whole = b->ranks && b->at && b->begin && b->end && b->of_weights;
    for (int g = 0; g < GROUPS; g++)
        whole = (b->last[g] = none(w->ranks)) && whole;
    if (!whole)
        return error_set(e, "out of memory");
    for (int64_t k = 0; k < b->job->iterations; k++)
        if (add_iteration(b, e) != 0)
            return -1;
    return 0;
}

static void build_free(struct build *b)
{
    free(b->ranks);
    free(b->at);
    free(b->begin);
    free(b->end);
    free(b->of_weights);
    for (int g = 0; g < GROUPS; g++)
        free(b->last[g]);
}

static void note(const struct workload *w, const struct import *import)
{
    if (w->stages > 1)
        import_note(import,
                    "pp is %" PRId64
                    ": SimAI's simulator has no messages between stages, and each rank computes "
                    "all layers of the file, here too",
                    w->stages);
    if (w->checkpoints)
        import_note(import, "checkpoints are left out: nothing is computed twice");
    import_note(import,
                "TP %" PRId64 ", DP %" PRId64 ", EP %" PRId64 ", DP_EP %" PRId64 " ranks; all are on "
                "the network, also those that SimAI has on NVLink",
                w->sizes[TP], w->sizes[DP], w->sizes[EP], w->sizes[DP_EP]);
}

static int make(struct workload *w, struct import_job *job, struct import *import, struct error *e)
{
    json_t *notes = import->notes;
    if (import_job_begin(job, import, "AICB", w->in->path, (size_t)w->ranks, e) != 0) {
        json_decref(notes);
        return -1;
    }
    json_array_extend(import->notes, notes);
    json_decref(notes);
    struct build b = {.w = w, .job = job, .import = import};
    int result = build(&b, e);
    if (result == 0)
        note(w, import);
    build_free(&b);
    if (result == 0)
        return import_job_end(job, import, e);
    schedule_free(&job->schedule);
    import_free(import);
    return -1;
}

int import_aicb(struct reader *file, struct import_job *job, struct import *import, struct error *e)
{
    struct workload w = {.in = file, .sizes = {[EP] = 1}, .stages = 1};
    *import = (struct import){.notes = json_array()};
    int result = read_workload(&w, import, e);
    if (result == 0) {
        result = make(&w, job, import, e);
    } else {
        json_decref(import->notes);
        import->notes = NULL;
    }
    free(w.layers);
    return result;
}
