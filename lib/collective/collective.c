#include "lib/collective/collective.h"

#include "lib/formats/traffic_tools.h"
#include <string.h>

#define CAPITALS  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define NAME_MOST 100

const char *const collective_op_names[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                           "broadcast",  "reduce",     "gather",         "scatter",
                                           "send-recv",  NULL};
static const char *const launcher_names[] = {"process", "mpirun", NULL};

#define TOOL_NAME(name, word) word,
static const char *const tool_names[] = {COLLECTIVE_TOOLS(TOOL_NAME) NULL};
#undef TOOL_NAME

/* A scenario from elsewhere sets variables of NCCL, and which GPUs are seen; none that has a program loaded
 * or run. */
static bool is_variable(const char *text)
{
    static const char *const loads[] = {"NCCL_NET_PLUGIN",     "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN",
                                        "NCCL_ENV_PLUGIN",     "NCCL_CONF_FILE",    "NCCL_DEBUG_FILE",
                                        "NCCL_GIN_PLUGIN",     "NCCL_RAS_ADDR",     "NCCL_TOPO_DUMP_FILE",
                                        "NCCL_GRAPH_DUMP_FILE"};
    size_t length = strspn(text, CAPITALS);
    if (length > NAME_MOST || text[length] ||
        (strncmp(text, "NCCL_", 5) != 0 && strcmp(text, "CUDA_VISIBLE_DEVICES") != 0 &&
         strcmp(text, "CUDA_DEVICE_ORDER") != 0))
        return false;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        if (strcmp(text, loads[i]) == 0)
            return false;
    return true;
}

static const struct form form_variable = {
    "a variable that a scenario may set",
    "NCCL_..., CUDA_VISIBLE_DEVICES or CUDA_DEVICE_ORDER, but none that names a file or a plugin",
    .fits = is_variable};

static bool is_type(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < 16 && !text[length] && strcmp(text, "all") != 0;
}

static const struct form form_type = {
    "a name of nccl-tests", "one such as \"float\", \"bfloat16\" or \"sum\", not \"all\"", .fits = is_type};

static int check_collective(const void *object, const char *path, struct error *e)
{
    const struct scenario_collective *c = object;
    if (c->max_bytes < c->min_bytes)
        return error_set(e, "%s.max: it is smaller than min", path);
    return 0;
}

#define AT(member) .offset = offsetof(struct scenario_collective, member)
static const struct field collective_fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_role, .single = true,
     .help = "Unique name."},
    {"tool", FIELD_CHOICE, AT(tool), .choices = tool_names, .fallback = "\"nccl-tests\"",
     .help = "Program that runs it."},
    {"op", FIELD_CHOICE, AT(op), .choices = collective_op_names, .fallback = "\"all-reduce\"",
     .help = "The operation."},
    {"roles", FIELD_LIST, AT(roles), .item = FIELD_STRING, .min = 0, .max = COLLECTIVE_MOST_HOSTS,
     .help = "Roles whose hosts take part, in the order of their ranks. Default: all of the scenario."},
    {"nics", FIELD_LIST, .any_order = true, AT(nics), .item = FIELD_STRING, .min = 0, .max = 64,
     .help = "Names of the NICs that are used, of hosts with several; globs are allowed. Default: all."},
    {"gpus", FIELD_INTEGER, AT(gpus), .min = 1, .max = 64, .fallback = "1", .help = "GPUs of each host."},
    {"launcher", FIELD_CHOICE, AT(launcher), .choices = launcher_names,
     .help =
         "process: one process with all GPUs of one host. mpirun: a process for each GPU, started by Open "
         "MPI. Default: process for one role, mpirun for several."},
    {"min", FIELD_QUANTITY, AT(min_bytes), .unit = UNIT_BYTES, .min = 1, .max = 1LL << 40,
     .fallback = "\"8B\"", .help = "Smallest size."},
    {"max", FIELD_QUANTITY, AT(max_bytes), .unit = UNIT_BYTES, .min = 1, .max = 1LL << 40,
     .fallback = "\"128MiB\"", .help = "Largest size."},
    {"factor", FIELD_INTEGER, AT(factor), .min = 2, .max = 1 << 20, .fallback = "2",
     .help = "How many times the one before each size is."},
    {"iterations", FIELD_INTEGER, AT(iterations), .min = 1, .max = 1000000, .fallback = "20",
     .help = "Measured iterations of each size."},
    {"warmup_iterations", FIELD_INTEGER, AT(warmup_iterations), .min = 0, .max = 1000000, .fallback = "5",
     .help = "Iterations before them, of the largest and the smallest size."},
    {"validate", FIELD_BOOL, AT(validate), .fallback = "true",
     .help = "Check the results; without it there are no wrong values."},
    {"datatype", FIELD_STRING, AT(datatype), .form = &form_type, .fallback = "\"float\"",
     .help = "Type of the elements, as the tool names it."},
    {"reduction", FIELD_STRING, AT(reduction), .form = &form_type, .fallback = "\"sum\"",
     .help = "How elements are reduced, as the tool names it."},
    {"root", FIELD_INTEGER, AT(root), .min = 0, .max = 100000, .fallback = "0",
     .help = "Rank of the root, for operations that have one."},
    {"env", FIELD_MAP, AT(env), .item = FIELD_STRING, .names = &form_variable, .min = 0, .max = 100,
     .help = "Environment variables of all processes: NCCL_..., CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER."},
    {"env_from_hosts", FIELD_BOOL, AT(env_from_hosts), .fallback = "false",
     .help = "Each host's processes also have what its host-facts --nccl-env prints. env overrides it."},
    {0},
};
#undef AT
const struct table collective_table = {
    "scenario.collective", "A collective operation between the GPUs of hosts. Not in simulated labs.",
    sizeof(struct scenario_collective), collective_fields, check_collective};

int64_t collective_sizes(const struct scenario_collective *collective)
{
    int64_t count = 1;
    for (int64_t bytes = collective->min_bytes; bytes <= collective->max_bytes / collective->factor;
         bytes *= collective->factor)
        count++;
    return count;
}
