#include "lib/program/config.h"

#include "lib/document/json_file.h"
#include "lib/files.h"
#include <stdlib.h>
#include <string.h>

static bool is_option(const char *text)
{
    return form_fits(&form_line, text) && text[0] == '-' && text[1] != '\0';
}
static const struct form form_option = {"an option of sbatch",
                                        "a text that begins with -, such as --exclusive", .fits = is_option};

static bool is_path(const char *text)
{
    return form_fits(&form_line, text) && text[0] == '/';
}
static const struct form form_path = {"an absolute path", "a path that begins with /", .fits = is_path};

#define AT(member) .offset = offsetof(struct slurm_profile, member)
static const struct field profile_fields[] = {
    {"partition", FIELD_STRING, AT(partition), .form = &form_word, .help = "The partition (--partition)."},
    {"account", FIELD_STRING, AT(account), .form = &form_word, .help = "The account (--account)."},
    {"qos", FIELD_STRING, AT(qos), .form = &form_word, .help = "The quality of service (--qos)."},
    {"time", FIELD_QUANTITY, AT(time_ns), .unit = UNIT_TIME_NS, .min = 60000000000, .max = 31536000000000000,
     .help = "The time limit of a task, in whole minutes (--time)."},
    {"memory", FIELD_QUANTITY, AT(memory_bytes), .unit = UNIT_BYTES, .min = 1 << 20, .max = INT64_C(1) << 50,
     .help = "The memory of a task (--mem)."},
    {"cpus", FIELD_INTEGER, AT(cpus), .min = 1, .max = 4096, .fallback = "1",
     .help = "The processors of a task (--cpus-per-task), which has as many runs at a time."},
    {"sbatch", FIELD_LIST, AT(sbatch), .item = FIELD_STRING, .form = &form_option,
     .help = "More options of sbatch, such as [\"--exclusive\"]."},
    {"program", FIELD_STRING, AT(program), .form = &form_path,
     .help = "The path of this program on the nodes. Default: its path here."},
    {"results", FIELD_STRING, AT(results), .form = &form_path,
     .help = "The folder that results are written to without --out; the nodes must see it."},
    {0},
};
#undef AT
static const struct table profile_table = {"config.slurm", "How jobs are submitted to Slurm.",
                                           sizeof(struct slurm_profile), profile_fields, NULL};

static const struct field config_fields[] = {
    {"schema", FIELD_INTEGER, .offset = offsetof(struct user_config, schema), .min = 1, .max = 1,
     .fallback = "1", .help = "Version of the format: 1."},
    {"lab", FIELD_STRING, .offset = offsetof(struct user_config, lab),
     .help = "The lab that is used if none is given. A path begins at the folder of this file."},
    {"slurm", FIELD_MAP, .offset = offsetof(struct user_config, slurm), .item = FIELD_OBJECT,
     .sub = &profile_table, .names = &form_name, .min = 0, .max = 1000, .help = "Profiles of Slurm by name."},
    {0},
};
static const struct table config_table = {"config", "The user's configuration.", sizeof(struct user_config),
                                          config_fields, NULL};

static char *path_in_folder(const char *name)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool own = base && *base == '/';
    char *folder = own    ? files_join(base, "harness")
                   : home ? files_join(home, ".config/harness")
                          : NULL,
         *path = folder ? files_join(folder, name) : NULL;
    free(folder);
    return path;
}

char *config_path(void)
{
    return path_in_folder("config.json");
}

char *config_baseline(const char *name)
{
    char *folder = *name && name[0] != '.' && !strchr(name, '/') ? path_in_folder("baselines") : NULL,
         *path = folder ? files_join(folder, name) : NULL;
    free(folder);
    return path;
}

int config_load(struct user_config *config, struct error *e)
{
    char *path = config_path();
    int result = 0;
    if (path && files_exist(path)) {
        json_t *json = json_file_load(path, DOCUMENT_SCENARIO, e);
        result = json ? table_parse(&config_table, json, config, e) : -1;
        if (json && result != 0)
            error_prefix(e, "%s", path);
        json_decref(json);
    } else if (table_defaults(&config_table, config) != 0) {
        result = error_set(e, "out of memory");
    }
    free(path);
    return result;
}

void config_free(struct user_config *config)
{
    table_free(&config_table, config);
}
