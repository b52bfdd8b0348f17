#include "lib/formats/find.h"
#include "lib/document/nearest.h"
#include "lib/files.h"
#include "lib/program/config.h"
#include "lib/text.h"
#include "lib/words.h"
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const folders[] = {[FIND_SCENARIO] = "scenarios", [FIND_LAB] = "labs"};
static const char *const words_of[] = {[FIND_SCENARIO] = "scenario", [FIND_LAB] = "lab"};

/* Where what comes with the program is: beside it, in its source tree, and in the installation. */
static void add_installed(struct words *roots)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = NULL;
    if (length > 0) {
        self[length] = '\0';
        slash = strrchr(self, '/');
    }
    if (slash) {
        *slash = '\0';
        words_add(roots, "%s", self);
        words_add(roots, "%s/..", self);
        words_add(roots, "%s/../share/harness", self);
    }
    words_add(roots, "%s/share/harness", HARNESS_PREFIX);
}

/* Folders for a word of the command line: the current one comes first. */
static struct words roots_here(void)
{
    struct words roots = {0};
    words_add(&roots, ".");
    add_installed(&roots);
    return roots;
}

/* The folder of a path: "." if it names none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
}

static bool is_named(const char *folder, const char *name)
{
    char *whole = realpath(folder, NULL);
    const char *slash = whole ? strrchr(whole, '/') : NULL;
    bool is = slash && strcmp(slash + 1, name) == 0;
    free(whole);
    return is;
}

/* Folders for a word of a document: its own comes first, never the current one. In a project with the folders
 * scenarios and labs, the folder that has both is meant too. */
static struct words roots_of(const char *document)
{
    struct words roots = {0};
    char *folder = folder_of(document);
    words_add(&roots, "%s", folder ? folder : ".");
    if (folder && is_named(folder, folders[FIND_SCENARIO])) {
        char *above = strchr(folder, '/') ? folder_of(folder) : NULL;
        words_add(&roots, "%s", above ? above : strcmp(folder, ".") == 0 ? ".." : ".");
        free(above);
    }
    free(folder);
    add_installed(&roots);
    return roots;
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
        if (strcmp(root, ".") != 0)
            text_add(&path, "%s%s", root, strcmp(root, "/") == 0 ? "" : "/");
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

/* The folders of the search that there are, each once. */
static void add_places(struct text *places, const struct words *roots)
{
    struct words whole = {0};
    for (size_t i = 0; i < roots->count; i++) {
        char *path = realpath(roots->items[i], NULL);
        bool known = !path;
        for (size_t k = 0; !known && k < whole.count; k++)
            known = strcmp(whole.items[k], path) == 0;
        if (!known)
            words_add(&whole, "%s", path);
        free(path);
    }
    for (size_t i = 0; i < whole.count; i++)
        text_add(places, "%s%s", i == 0 ? "" : i + 1 < whole.count ? ", " : " and ", whole.items[i]);
    words_free(&whole);
}

static int find_below(enum find_kind kind, const struct words *roots, char ***paths, size_t *count);
static void add_folder(const char *folder, char ***paths, size_t *count);

/* There is no such file: the sentence names the folders that were searched, and the nearest name there. */
static void set_unknown(enum find_kind kind, const struct words *roots, const char *word, struct error *e)
{
    char **paths, *said = bare_name(word);
    size_t count;
    find_below(kind, roots, &paths, &count);
    if (!strchr(word, '/'))
        add_folder(roots->items[0], &paths, &count); /* documents of both kinds */
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = bare_name(paths[i]);
    const char *near = said && names ? nearest_word(said, names) : NULL;
    struct text places = {0};
    if (*word != '/') {
        add_places(&places, roots);
        text_add(&places, ", each also under %s/", folders[kind]);
    }
    error_set(e, "there is no %s \"%s\"%s%s%s%s%s", words_of[kind], word, places.length ? ": searched " : "",
              text_string(&places), near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    text_free(&places);
    for (size_t i = 0; names && i < count; i++)
        free((char *)(uintptr_t)names[i]);
    free(names);
    free(said);
    find_free(paths, count);
}

/* Takes over the roots. */
static char *find_in(enum find_kind kind, struct words roots, const char *word, struct error *e)
{
    char *found = *word == '/' && is_file(word) ? strdup(word) : NULL;
    for (size_t i = 0; !found && *word != '/' && i < roots.count; i++)
        found = try_root(kind, roots.items[i], word);
    char *folder = found || *word == '/' ? NULL : files_join(roots.items[0], word);
    if (!found && files_exist(folder ? folder : word))
        error_set(e, "%s is a folder: expected a %s file", word, words_of[kind]);
    else if (!found)
        set_unknown(kind, &roots, word, e);
    free(folder);
    words_free(&roots);
    return found;
}

char *find_file(enum find_kind kind, const char *word, struct error *e)
{
    return find_in(kind, roots_here(), word, e);
}

char *find_beside(enum find_kind kind, const char *document, const char *word, struct error *e)
{
    return find_in(kind, roots_of(document), word, e);
}

char *find_shared(const char *name)
{
    struct words roots = {0};
    char *found = NULL;
    struct stat s;
    add_installed(&roots);
    for (size_t i = 0; !found && i < roots.count; i++) {
        char *path = files_join(roots.items[i], name);
        if (path && stat(path, &s) == 0 && S_ISDIR(s.st_mode))
            found = path;
        else
            free(path);
    }
    words_free(&roots);
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

static void add_folder(const char *folder, char ***paths, size_t *count)
{
    const struct dirent *entry;
    DIR *open = opendir(folder);
    while (open && (entry = readdir(open))) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0 ||
            have_name(*paths, *count, entry->d_name))
            continue;
        char **grown = realloc(*paths, (*count + 1) * sizeof **paths);
        if (!grown)
            break;
        *paths = grown;
        grown[*count] = files_join(folder, entry->d_name);
        if (grown[*count])
            (*count)++;
    }
    if (open)
        closedir(open);
}

static int find_below(enum find_kind kind, const struct words *roots, char ***paths, size_t *count)
{
    *paths = NULL;
    *count = 0;
    for (size_t i = 0; i < roots->count; i++) {
        char *folder = files_join(roots->items[i], folders[kind]);
        if (folder)
            add_folder(folder, paths, count);
        free(folder);
    }
    if (*count)
        qsort(*paths, *count, sizeof **paths, by_name);
    return *count ? 0 : -1;
}

int find_all(enum find_kind kind, char ***paths, size_t *count, struct error *e)
{
    struct words roots = roots_here();
    struct text places = {0};
    int result = find_below(kind, &roots, paths, count);
    if (result != 0) {
        add_places(&places, &roots);
        error_set(e, "there are no %ss: no file ends in .json under %s/ in %s", words_of[kind], folders[kind],
                  text_string(&places));
        text_free(&places);
    }
    words_free(&roots);
    return result;
}

void find_free(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

/* ---- paths of documents */

char *find_path_from(const char *folder, const char *path)
{
    return !folder || *path == '/' || *path == '~' ? strdup(path) : files_join(folder, path);
}

char *find_path_of(const char *document, const char *path)
{
    char *folder = strchr(document, '/') ? folder_of(document) : NULL, *whole = find_path_from(folder, path);
    free(folder);
    return whole;
}

/* ---- which lab */

/* The lab of the configuration, if it names one: *names. */
static char *find_configured(bool *names, struct error *e)
{
    struct user_config config;
    if (config_load(&config, e) != 0)
        return NULL;
    char *path = config_path(), *found = NULL;
    *names = config.lab;
    if (config.lab && path && !(found = find_beside(FIND_LAB, path, config.lab, e)))
        error_prefix(e, "%s: lab", path);
    config_free(&config);
    free(path);
    return found;
}

char *find_lab(const char *said, const char *document, const char *fallback, const char **why,
               struct error *e)
{
    const char *variable = getenv("HARNESS_LAB");
    bool configured = true;
    *why = "--lab";
    if (said)
        return find_file(FIND_LAB, said, e);
    *why = "HARNESS_LAB";
    if (variable && *variable)
        return find_file(FIND_LAB, variable, e);
    *why = "the config file";
    char *found = find_configured(&configured, e);
    if (configured)
        return found;
    *why = "the scenario";
    if (!fallback) {
        error_set(e, "no lab: give --lab, set HARNESS_LAB, or write \"lab\" into "
                     "$XDG_CONFIG_HOME/harness/config.json; a "
                     "run can also use the lab of its scenario");
        return NULL;
    }
    if (!document)
        return find_file(FIND_LAB, fallback, e);
    if (!(found = find_beside(FIND_LAB, document, fallback, e)))
        error_prefix(e, "%s: lab", document);
    return found;
}
