#include "lib/folder/fresh.h"

#include "lib/interrupt.h"
#include "lib/names/letters.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK    ".new-"
#define LETTERS 6 /* after the mark: random ones, */
#define PROOF   9 /* and those that follow from them, the name, and the folder */
#define TRIES   100

/* ---- names */

/* Letters that only a name has that was chosen here for this folder: a name of somebody else's that looks
 * like one has them once in 5e12 times, and a copy of the folder is another folder. FNV-1a (64 bits) of the
 * name up to them and of the folder's inode. */
static void fresh_prove(const struct folder *in, const char *name, size_t length, char proof[PROOF + 1])
{
    struct stat status = {0};
    char inode[32];
    uint64_t hash = UINT64_C(14695981039346656037);
    (void)fstat(in->fd, &status);
    snprintf(inode, sizeof inode, "%" PRIu64, (uint64_t)status.st_ino);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    for (const char *c = inode; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    for (size_t i = 0; i < PROOF; i++, hash /= 26)
        proof[i] = (char)('a' + hash % 26);
    proof[PROOF] = '\0';
}

static void fresh_choose_name(struct fresh *f, const struct folder *in, const char *name)
{
    char letters[LETTERS + 1], proof[PROOF + 1];
    letters_random(letters, LETTERS);
    snprintf(f->name, sizeof f->name, ".%.200s" MARK "%s", name, letters);
    size_t length = strlen(f->name);
    fresh_prove(in, f->name, length, proof);
    snprintf(f->name + length, sizeof f->name - length, "%s", proof);
}

static bool fresh_is_name(const struct folder *in, const char *name)
{
    char proof[PROOF + 1];
    size_t length = strlen(name), tail = strlen(MARK) + LETTERS + PROOF;
    if (name[0] != '.' || length < tail + 2 || strncmp(name + length - tail, MARK, strlen(MARK)) != 0)
        return false;
    fresh_prove(in, name, length - PROOF, proof);
    return strcmp(name + length - PROOF, proof) == 0;
}

/* ---- making */

static int fresh_make(const struct fresh *f, const struct folder *in, bool folder)
{
    if (!folder)
        return openat(in->fd, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (mkdirat(in->fd, f->name, 0700) != 0)
        return -1;
    return openat(in->fd, f->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Between its making and its locking it may have been taken for one that was left. A file system without
 * locks has none that are removed. */
static bool fresh_lock(int fd)
{
    struct stat status;
    bool other = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return !other && fstat(fd, &status) == 0 && status.st_nlink > 0;
}

static int fresh_start(struct fresh *f, const struct folder *in, const char *name, bool folder,
                       struct error *e)
{
    f->soon = false;
    interrupt_hold(&f->before);
    for (int i = 0; i < TRIES; i++) {
        fresh_choose_name(f, in, name);
        f->fd = fresh_make(f, in, folder);
        if (f->fd >= 0 && fresh_lock(f->fd))
            return 0;
        if (f->fd >= 0)
            close(f->fd);
        else if (errno != EEXIST && !(folder && errno == ENOENT))
            break;
    }
    f->fd = -1;
    error_set_errno(e, errno, "creating %s/%s", in->path, name);
    interrupt_release(&f->before);
    return -1;
}

int fresh_file(struct fresh *f, const struct folder *in, const char *name, struct error *e)
{
    return fresh_start(f, in, name, false, e);
}

int fresh_folder(struct fresh *f, const struct folder *in, const char *name, struct error *e)
{
    return fresh_start(f, in, name, true, e);
}

int fresh_move(const struct fresh *f, const struct folder *in, const char *name, struct error *e)
{
    if (folder_check_place(in, name, e) != 0)
        return -1;
    if (renameat(f->fd, name, in->fd, name) == 0)
        return 0;
    return error_set_errno(e, errno, "moving %s into %s", name, in->path);
}

static void fresh_close(struct fresh *f)
{
    close(f->fd);
    f->fd = -1;
    interrupt_release(&f->before);
}

int fresh_publish(struct fresh *f, const struct folder *in, const char *name, bool replace, struct error *e)
{
    if (replace && folder_check_place(in, name, e) != 0)
        return -1;
    int done = renameat2(in->fd, f->name, in->fd, name, replace ? 0 : RENAME_NOREPLACE);
    /* a file system that does not know the flag: the name was free a moment ago */
    if (done != 0 && errno == EINVAL && !replace && !folder_has(in, name))
        done = renameat(in->fd, f->name, in->fd, name);
    if (done != 0)
        return error_set_errno(e, errno, "writing %s/%s", in->path, name);
    if (!f->soon)
        fsync(in->fd); /* or the rename may be lost with the power */
    fresh_close(f);
    return 0;
}

/* ---- removing */

/* The entries of a folder; the caller closes. NULL if it cannot be read. */
static DIR *folder_entries(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries && fd >= 0)
        close(fd);
    return entries;
}

/* The files in a folder; a link is removed, not followed. A folder in it stays, and so then does the folder
 * itself. */
static void remove_files(int folder)
{
    DIR *entries = folder_entries(folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(folder, entry->d_name, 0);
    if (entries)
        closedir(entries);
}

static void remove_open(int fd, const struct folder *in, const char *name)
{
    struct stat status;
    bool folder = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    if (folder)
        remove_files(fd);
    unlinkat(in->fd, name, folder ? AT_REMOVEDIR : 0);
}

void fresh_remove(struct fresh *f, const struct folder *in)
{
    if (f->fd < 0)
        return;
    remove_open(f->fd, in, f->name);
    fresh_close(f);
}

/* Only what this user made, and what nobody is making now: its lock can be had. */
static void remove_left(const struct folder *in, const char *name)
{
    struct stat status;
    int left = openat(in->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (left < 0)
        return;
    bool ours = fstat(left, &status) == 0 && status.st_uid == geteuid() &&
                (S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_nlink == 1));
    if (ours && flock(left, LOCK_EX | LOCK_NB) == 0)
        remove_open(left, in, name);
    close(left);
}

void fresh_clear_below(const struct folder *in, int levels)
{
    DIR *entries = folder_entries(in->fd);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        struct folder below = {.fd = -1};
        if (fresh_is_name(in, entry->d_name))
            remove_left(in, entry->d_name);
        else if (levels && entry->d_name[0] != '.' &&
                 (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
                 folder_open_in(&below, in, entry->d_name, false, NULL) == 0)
            fresh_clear_below(&below, levels - 1);
        folder_close(&below);
    }
    if (entries)
        closedir(entries);
}

void fresh_clear(const struct folder *in)
{
    fresh_clear_below(in, 0);
}
