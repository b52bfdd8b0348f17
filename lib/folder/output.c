#include "lib/folder/output.h"

#include "lib/folder/result_files.h"
#include "lib/files.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BEGIN 256

/* A link is not one, whatever it leads to. */
static bool is_own_kind(const struct folder *in, const char *name, const struct output *o)
{
    char begin[MOST_BEGIN];
    int fd = o->begins && o->length <= sizeof begin ? folder_open_file(in, name, NULL) : -1;
    if (fd < 0)
        return false;
    bool own =
        pread(fd, begin, o->length, 0) == (ssize_t)o->length && memcmp(begin, o->begins, o->length) == 0;
    own =
        own && (!o->also || (pread(fd, begin, o->also_length, (off_t)o->also_at) == (ssize_t)o->also_length &&
                             memcmp(begin, o->also, o->also_length) == 0));
    close(fd);
    return own;
}

int output_check(const struct folder *in, const char *name, const struct output *o, struct error *e)
{
    struct stat status;
    if (fstatat(in->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (folder_check_place(in, name, e) != 0)
        return -1;
    bool is_link = S_ISLNK(status.st_mode);
    if (is_link && o->takes_links)
        return 0;
    if (result_files_have(in, name))
        return error_set(e,
                         "%s/%s is a file of a result, which %s may not replace: --out names another place",
                         in->path, name, o->what);
    bool leads_to_folder = is_link && fstatat(in->fd, name, &status, 0) == 0 && S_ISDIR(status.st_mode);
    if (leads_to_folder)
        return error_set(e, "%s/%s is a link to a folder: --out names another place", in->path, name);
    bool own = (o->can_force && (!o->begins || is_link)) || is_own_kind(in, name, o);
    if (own && (o->force || !o->can_force))
        return 0;
    if (own)
        return error_set(e, "%s/%s exists: --force replaces it, --out names another place", in->path, name);
    return error_set(e, "%s/%s is not %s, and would be replaced: remove it, or --out names another place",
                     in->path, name, o->what);
}

int output_check_path(const char *path, const struct output *o, struct error *e)
{
    char *parent;
    struct folder folder = {.fd = -1};
    const char *name = files_split(path, &parent);
    int result = !parent ? error_set(e, "writing %s: out of memory", path) : folder_open(&folder, parent, e);
    if (result == 0)
        result = output_check(&folder, name, o, e);
    folder_close(&folder);
    free(parent);
    return result;
}
