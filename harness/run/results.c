#include "harness/run/results.h"
#include "lib/files.h"
#include "lib/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *time_text(const char *format)
{
    char buffer[40];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(buffer, sizeof buffer, format, &utc);
    return strdup(buffer);
}

char *results_time(void)
{
    return time_text("%Y-%m-%dT%H:%M:%SZ");
}

char *results_make_folder(const char *out, const char *scenario, struct error *e)
{
    struct text parent = {0}, path = {0};
    char *stamp = time_text("%Y%m%dT%H%M%SZ"), *made = NULL;
    text_add(&parent, "%s/%s", out, scenario);
    if (!stamp || files_make_folders(text_string(&parent), e) != 0)
        goto done;
    for (int i = 1; i < 1000; i++) {
        text_clear(&path);
        text_add(&path, "%s/%s", text_string(&parent), stamp);
        if (i > 1)
            text_add(&path, "-%d", i);
        if (mkdir(text_string(&path), 0777) == 0) {
            made = text_take(&path);
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

char *results_make_cell(const char *folder, size_t number, struct error *e)
{
    char name[24];
    snprintf(name, sizeof name, "%02zu", number);
    char *path = files_join(folder, name);
    if (path && mkdir(path, 0777) == 0)
        return path;
    error_set_errno(e, path ? errno : ENOMEM, "creating the result folder %s/%s", folder, name);
    free(path);
    return NULL;
}

int results_point_latest(const char *folder, struct error *e)
{
    struct text link = {0}, temporary = {0};
    const char *slash = strrchr(folder, '/');
    if (!slash)
        return 0;
    text_add(&link, "%.*s/latest", (int)(slash - folder), folder);
    text_add(&temporary, "%.*s/.latest.%ld", (int)(slash - folder), folder, (long)getpid());
    unlink(text_string(&temporary));
    int result = 0;
    if (symlink(slash + 1, text_string(&temporary)) != 0 ||
        rename(text_string(&temporary), text_string(&link)) != 0) {
        result = error_set_errno(e, errno, "setting the link %s to the result", text_string(&link));
        unlink(text_string(&temporary));
    }
    text_free(&link);
    text_free(&temporary);
    return result;
}
