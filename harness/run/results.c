#include "harness/run/results.h"
#include "lib/files.h"
#include "lib/folder/fresh.h"
#include "lib/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LATEST "latest"

static char *time_text(const char *format)
{
    char buffer[40];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(buffer, sizeof buffer, format, &utc);
    return strdup(buffer);
}

const char *results_build(void)
{
    return HARNESS_BUILD;
}

char *results_time(void)
{
    return time_text("%Y-%m-%dT%H:%M:%SZ");
}

/* Earlier results may have what a killed run or report has left: in the result, its cells, and the reports of
 * both. */
#define RESULT_LEVELS 3

void results_clear_left(const char *parent)
{
    struct folder folder;
    if (folder_open(&folder, parent, NULL) == 0)
        fresh_clear_below(&folder, RESULT_LEVELS);
    folder_close(&folder);
}

char *results_make_folder(const char *out, const char *scenario, struct error *e)
{
    struct text parent = {0}, path = {0};
    char *stamp = time_text("%Y%m%dT%H%M%SZ"), *made = NULL; /* stamp.h */
    text_add(&parent, "%s/%s", out, scenario);
    if (!stamp || files_make_folders(text_string(&parent), e) != 0)
        goto done;
    results_clear_left(text_string(&parent));
    for (int i = 1; i < 1000; i++) {
        text_clear(&path);
        text_add(&path, "%s/%s", text_string(&parent), stamp);
        if (i > 1)
            text_add(&path, "-%d", i);
        if (mkdir(text_string(&path), 0777) == 0) {
            made = files_sync_name(text_string(&path), e) == 0 ? text_take(&path) : NULL;
            goto done;
        }
        if (errno != EEXIST)
            break;
    }
    error_set_errno(e, errno, "creating the result folder %s", text_string(&path));
done:
    free(stamp);
    text_free(&parent);
    text_free(&path);
    return made;
}

uint64_t results_free_bytes(const char *out)
{
    struct statvfs system;
    char *path = strdup(out), *slash;
    int found = path ? statvfs(path, &system) : -1;
    while (found != 0 && path && (slash = strrchr(path, '/')) && slash > path) {
        *slash = '\0';
        found = statvfs(path, &system);
    }
    if (found != 0 && *out != '/')
        found = statvfs(".", &system);
    free(path);
    return found == 0 ? (uint64_t)system.f_bavail * system.f_frsize : UINT64_MAX;
}

void results_cell_name(size_t number, char *name, size_t size)
{
    snprintf(name, size, "%02zu", number);
}

char *results_make_cell(const char *folder, size_t number, struct error *e)
{
    char name[24];
    results_cell_name(number, name, sizeof name);
    char *path = files_join(folder, name);
    if (path && mkdir(path, 0777) == 0)
        return path;
    error_set_errno(e, path ? errno : ENOMEM, "creating the result folder %s/%s", folder, name);
    free(path);
    return NULL;
}

/* The folder that a result is in, and its name there; NULL: its path names none. */
static const char *open_above(const char *folder, struct folder *above, struct error *e)
{
    const char *slash = strrchr(folder, '/');
    char *path = slash ? strndup(folder, (size_t)(slash - folder)) : NULL;
    *above = (struct folder){.fd = -1};
    const char *name = path && folder_open(above, path, e) == 0 ? slash + 1 : NULL;
    free(path);
    return name;
}

void results_clear_resumed(const char *folder)
{
    struct folder above;
    if (open_above(folder, &above, NULL))
        fresh_clear(&above);
    folder_close(&above);
    results_clear_left(folder);
}

/* The link is made in a fresh folder, and takes the old one's place at once. */
static int point(const struct folder *parent, const char *target, struct error *e)
{
    struct fresh fresh;
    if (fresh_folder(&fresh, parent, LATEST, e) != 0)
        return -1;
    int result = symlinkat(target, fresh.fd, LATEST) != 0
                     ? error_set_errno(e, errno, "making the link %s/" LATEST, parent->path)
                     : fresh_move(&fresh, parent, LATEST, e);
    if (result == 0)
        result = folder_sync(parent, ".", e);
    fresh_remove(&fresh, parent);
    return result;
}

int results_point_latest(const char *folder, struct error *e)
{
    struct folder above;
    const char *name = open_above(folder, &above, e);
    struct stat is;
    int result = strchr(folder, '/') ? -1 : 0;
    if (name && fstatat(above.fd, LATEST, &is, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(is.st_mode))
        error_set(e,
                  "%s/" LATEST " is no link, and is left as it is: it does not lead to the newest result, %s",
                  above.path, name);
    else if (name)
        result = point(&above, name, e);
    folder_close(&above);
    return result;
}
