/* The kernel's settings of IP on an interface, which begin anew when IPv6 or the interface was removed. */
#include "lib/document/json_text.h"
#include "nic-config/device/bound.h"

#include "lib/files.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Values that are not kept: the first is a secret, the second a state. */
static bool is_kept(const char *name)
{
    return name[0] != '.' && strcmp(name, "stable_secret") != 0 && strcmp(name, "mc_forwarding") != 0;
}

static void read_folder(const char *folder, json_t *values)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        char *path = is_kept(entry->d_name) ? files_join(folder, entry->d_name) : NULL;
        char *value = path && access(path, W_OK) == 0 ? files_read_line(path, NULL) : NULL;
        if (value)
            json_object_set_new(values, path, json_text(value));
        free(value);
        free(path);
    }
    if (entries)
        closedir(entries);
}

json_t *bound_read_sysctls(const struct device *d)
{
    static const char *const groups[] = {"ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh"};
    json_t *values = json_object();
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        char folder[96];
        snprintf(folder, sizeof folder, "/proc/sys/net/%s/%s", groups[i], d->name);
        read_folder(folder, values);
    }
    return values;
}

/* IPv6's MTU follows a change of the interface's. */
static bool follows_mtu(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/mtu") == 0;
}

int bound_put_back_sysctls(struct device *d, const json_t *sysctls, bool all, json_t *restored,
                           json_t *failed)
{
    const char *path;
    json_t *value, *now = bound_read_sysctls(d);
    int wrote = 0;
    json_object_foreach((json_t *)(uintptr_t)sysctls, path, value)
    {
        struct error e = {""};
        /* one that cannot be read now is not this interface's, whatever the journal says */
        json_t *found = json_object_get(now, path);
        if (!found || !json_is_string(value) || json_equal(found, value) || (!all && follows_mtu(path)))
            continue;
        if (files_write(path, json_string_value(value), &e) == 0) {
            wrote++;
            json_array_append_new(restored, json_make("{s:s,s:s,s:O,s:O}", "interface", d->name, "setting",
                                                      path, "found", found, "put_back", value));
        } else {
            json_array_append_new(
                failed, json_make("{s:s,s:s,s:s}", "interface", d->name, "setting", path, "why", e.text));
        }
    }
    json_decref(now);
    return wrote;
}
