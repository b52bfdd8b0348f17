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

/* A lab's name becomes a folder, and part of the names of domains, networks and pools. */
static int check_name(const char *name, struct error *e)
{
    size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (*name && name[good] == '\0' && *name != '.' && *name != '-' && good <= 64)
        return 0;
    return error_set(
        e, "name: \"%.80s\" is not a valid name of a lab: expected at most 64 letters, digits, '.', '_', '-'",
        name);
}

char *places_in_lab(const struct lab *lab, const char *name, struct error *e)
{
    struct text below = {0};
    if (check_name(lab->name, e) != 0)
        return NULL;
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
    if (strchr(host->name, '/') || host->name[0] == '.') {
        error_set(e, "hosts.%s: a host's name must not contain '/' or begin with '.'", host->name);
        return NULL;
    }
    text_add(&below, "hosts/%s%s%s", host->name, name ? "/" : "", name ? name : "");
    char *path = places_in_lab(lab, text_string(&below), e);
    text_free(&below);
    return path;
}

char *places_project(const char *name, struct error *e)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    /* build/PROGRAM, build/sanitize/PROGRAM, build/tests/PROGRAM or build/sanitize/tests/PROGRAM; else where `make install` puts it */
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(self, '/');
        if (!slash)
            break;
        *slash = '\0';
        struct text path = {0};
        text_add(&path, "%s/%s", self, name);
        if (files_exist(text_string(&path)))
            return text_take(&path);
        text_free(&path);
    }
    struct text path = {0};
    text_add(&path, "%s/share/harness/%s", HARNESS_PREFIX, name);
    if (files_exist(text_string(&path)))
        return text_take(&path);
    error_set(e, "%s is neither in this program's folder nor at %s", name, text_string(&path));
    text_free(&path);
    return NULL;
}
