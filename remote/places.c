#include "remote/places.h"

#include "lib/files.h"
#include "lib/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- places */

char *places_state(const char *below, struct error *e)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct text path = {0};
    if (state && *state == '/')
        text_add(&path, "%s/harness/%s", state, below);
    else if (home && *home == '/')
        text_add(&path, "%s/.local/state/harness/%s", home, below);
    else
        error_set(e, "neither XDG_STATE_HOME nor HOME is set: set one of them; the lab's keys and states are "
                     "kept there");
    return path.length ? text_take(&path) : NULL;
}

char *places_in_lab(const struct lab *lab, const char *name, struct error *e)
{
    struct text below = {0};
    text_add(&below, "labs/%s%s%s", lab->name, name ? "/" : "", name ? name : "");
    char *path = places_state(text_string(&below), e);
    text_free(&below);
    return path;
}

char *places_lab(const struct lab *lab, struct error *e)
{
    return places_in_lab(lab, NULL, e);
}

char *places_of_host(const struct lab *lab, const struct lab_host *host, const char *name, struct error *e)
{
    struct text below = {0};
    text_add(&below, "hosts/%s%s%s", lab_guest_name(host), name ? "/" : "", name ? name : "");
    char *path = places_in_lab(lab, text_string(&below), e);
    text_free(&below);
    return path;
}

/* A file of the project below `folder`: of a source tree, or of an installation. */
static char *project_below(const char *folder, const char *name)
{
    static const char *const places[] = {"", "share/harness/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct text path = {0};
        text_add(&path, "%s/%s%s", folder, places[i], name);
        if (files_exist(text_string(&path)))
            return text_take(&path);
        text_free(&path);
    }
    return NULL;
}

char *places_project(const char *name, struct error *e)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    /* build/PROGRAM, build/sanitize/PROGRAM, build/tests/PROGRAM or build/sanitize/tests/PROGRAM; or
     * PREFIX/bin/PROGRAM, whatever the prefix; else a program that was copied from its installation */
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(self, '/');
        if (!slash)
            break;
        *slash = '\0';
        char *path = project_below(self, name);
        if (path)
            return path;
    }
    char *path = project_below(HARNESS_PREFIX, name);
    if (!path)
        error_set(
            e,
            "%s is neither in this program's source tree, nor in its installation, nor in %s/share/harness",
            name, HARNESS_PREFIX);
    return path;
}
