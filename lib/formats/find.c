#include "lib/formats/find.h"
#include "lib/document/nearest.h"
#include "lib/files.h"
#include "lib/program/config.h"
#include "lib/text.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const folders[] = {[FIND_SCENARIO] = "scenarios", [FIND_LAB] = "labs"};
static const char *const words[] = {[FIND_SCENARIO] = "scenario", [FIND_LAB] = "lab"};

/* Roots of the search: the current folder, the program's folder, its source tree, and the installation. */
#define ROOTS 5
static void search_folders(struct text out[ROOTS])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = NULL;
    text_add(&out[0], ".");
    if (length > 0) {
        self[length] = '\0';
        slash = strrchr(self, '/');
    }
    if (slash) {
        *slash = '\0';
        text_add(&out[1], "%s", self);
        text_add(&out[2], "%s/..", self);
        text_add(&out[3], "%s/../share/harness", self);
    }
    text_add(&out[4], "%s/share/harness", HARNESS_PREFIX);
}

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISDIR(s.st_mode);
}

/* The first file under a root that `word` can name. */
static char *try_root(enum find_kind kind, const char *root, const char *word)
{
    for (int form = 0; form < 4; form++) {
        struct text path = {0};
        text_add(&path, "%s/", root);
        if (form >= 2)
            text_add(&path, "%s/", folders[kind]);
        text_add(&path, "%s%s", word, form % 2 ? ".json" : "");
        if (is_file(text_string(&path)))
            return text_take(&path);
        text_free(&path);
    }
    return NULL;
}

/* The name in a path, without ".json". */
static char *bare_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    return strndup(name, length > 5 && strcmp(name + length - 5, ".json") == 0 ? length - 5 : length);
}

/* There is no such file: the sentence names the one with the nearest name. */
static void set_unknown(enum find_kind kind, const char *word, struct error *e)
{
    char **paths, *said = bare_name(word);
    size_t count;
    if (find_all(kind, &paths, &count, NULL) != 0)
        count = 0;
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = bare_name(paths[i]);
    const char *near = said && names ? nearest_word(said, names) : NULL;
    error_set(
        e, "there is no %s \"%s\", neither as a file nor under %s/, whose files `harness list` shows%s%s%s",
        words[kind], word, folders[kind], near ? "; did you mean \"" : "", near ? near : "",
        near ? "\"?" : "");
    for (size_t i = 0; names && i < count; i++)
        free((char *)(uintptr_t)names[i]);
    free(names);
    free(said);
    find_free(paths, count);
}

char *find_file(enum find_kind kind, const char *word, struct error *e)
{
    struct text all[ROOTS] = {0};
    char *found = NULL;
    if (is_file(word))
        found = strdup(word);
    search_folders(all);
    for (size_t i = 0; !found && *word != '/' && i < ROOTS; i++)
        if (all[i].data)
            found = try_root(kind, text_string(&all[i]), word);
    for (size_t i = 0; i < ROOTS; i++)
        text_free(&all[i]);
    if (!found && files_exist(word))
        error_set(e, "%s is a folder: expected a %s file", word, words[kind]);
    else if (!found)
        set_unknown(kind, word, e);
    return found;
}

char *find_shared(const char *name)
{
    struct text all[ROOTS] = {0};
    char *found = NULL;
    struct stat s;
    search_folders(all);
    for (size_t i = 1; i < ROOTS; i++) {
        char *path = !found && all[i].data ? files_join(text_string(&all[i]), name) : NULL;
        if (path && stat(path, &s) == 0 && S_ISDIR(s.st_mode))
            found = path;
        else
            free(path);
    }
    for (size_t i = 0; i < ROOTS; i++)
        text_free(&all[i]);
    return found;
}

static int by_name(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    const char *l = strrchr(left, '/'), *r = strrchr(right, '/');
    return strcmp(l ? l : left, r ? r : right);
}

static bool have_name(char *const *paths, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(strrchr(paths[i], '/') + 1, name) == 0)
            return true;
    return false;
}

static void add_folder(const char *root, enum find_kind kind, char ***paths, size_t *count)
{
    struct text folder = {0};
    const struct dirent *entry;
    text_add(&folder, "%s/%s", root, folders[kind]);
    DIR *open = opendir(text_string(&folder));
    while (open && (entry = readdir(open))) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0 ||
            have_name(*paths, *count, entry->d_name))
            continue;
        char **grown = realloc(*paths, (*count + 1) * sizeof **paths);
        if (!grown)
            break;
        *paths = grown;
        grown[*count] = files_join(text_string(&folder), entry->d_name);
        if (grown[*count])
            (*count)++;
    }
    if (open)
        closedir(open);
    text_free(&folder);
}

/* No file of the kind is anywhere: the sentence names the folders that were looked into. */
static int set_none(enum find_kind kind, struct error *e)
{
    struct text all[ROOTS] = {0}, places = {0};
    search_folders(all);
    for (size_t i = 0; i < ROOTS; i++) {
        if (all[i].data)
            text_add(&places, "%s%s/%s", places.length ? ", " : "", text_string(&all[i]), folders[kind]);
        text_free(&all[i]);
    }
    error_set(e, "there are no %ss: none of %s has a file that ends in .json", words[kind],
              text_string(&places));
    text_free(&places);
    return -1;
}

int find_all(enum find_kind kind, char ***paths, size_t *count, struct error *e)
{
    struct text all[ROOTS] = {0};
    *paths = NULL;
    *count = 0;
    search_folders(all);
    for (size_t i = 0; i < ROOTS; i++) {
        if (all[i].data)
            add_folder(text_string(&all[i]), kind, paths, count);
        text_free(&all[i]);
    }
    if (!*count)
        return set_none(kind, e);
    qsort(*paths, *count, sizeof **paths, by_name);
    return 0;
}

void find_free(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

/* ---- which lab */

/* The configuration's lab, or NULL. */
static int configured_lab(char **lab, struct error *e)
{
    struct user_config config;
    *lab = NULL;
    if (config_load(&config, e) != 0)
        return -1;
    if (config.lab)
        *lab = strdup(config.lab);
    config_free(&config);
    return 0;
}

char *find_lab(const char *said, const char *fallback, const char **why, struct error *e)
{
    const char *variable = getenv("HARNESS_LAB");
    char *configured = NULL;
    *why = "--lab";
    if (said)
        return find_file(FIND_LAB, said, e);
    *why = "HARNESS_LAB";
    if (variable && *variable)
        return find_file(FIND_LAB, variable, e);
    if (configured_lab(&configured, e) != 0)
        return NULL;
    *why = configured ? "the config file" : "the scenario";
    if (!configured && !fallback) {
        error_set(e, "no lab: give --lab, set HARNESS_LAB, or write \"lab\" into "
                     "$XDG_CONFIG_HOME/harness/config.json; a "
                     "run can also use the lab of its scenario");
        return NULL;
    }
    char *found = find_file(FIND_LAB, configured ? configured : fallback, e);
    free(configured);
    return found;
}
