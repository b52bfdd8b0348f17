#include "guest-setup/guest/image.h"

#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/log.h"
#include "lib/process.h"
#include "lib/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_NS (30 * 60 * NS_PER_S)
#define FETCH_NS (4 * 3600 * NS_PER_S)

/* Run the image builder; its messages go to stderr. Returns the line that it prints. */
static char *run_builder(const char *first, const char *second, struct error *e)
{
    char *builder = places_project("guest-setup/build-image", e);
    struct text out = {0};
    if (!builder)
        return NULL;
    const char *const argv[] = {builder, first, second, NULL};
    int status = process_run(argv, NULL, &out, NULL, BUILD_NS, e);
    free(builder);
    if (status > 0)
        error_set(e, "the image of %s was not built: the messages of build-image above say why",
                  second ? second : first);
    char *line = status == 0 ? text_take(&out) : NULL;
    text_free(&out);
    if (line)
        line[strcspn(line, "\n")] = '\0';
    return line;
}

char *image_cache(struct error *e)
{
    return run_builder("--cache", NULL, e);
}

/* ---- built */

/* build-image removes old images, but none that is locked. */
static int lock_folder(const char *folder)
{
    char *marker = files_join(folder, "complete");
    int fd = marker ? open(marker, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        flock(fd, LOCK_SH);
    free(marker);
    return fd;
}

static int use_built(const struct profile *p, bool fresh, struct image *image, struct error *e)
{
    const char *recipe = p->image.of ? p->image.of : p->name;
    char *folder = run_builder(fresh ? "--fresh" : recipe, fresh ? recipe : NULL, e);
    if (!folder)
        return -1;
    const char *slash = strrchr(folder, '/');
    image->held = lock_folder(folder);
    image->id = strdup(slash ? slash + 1 : folder);
    image->disk = files_join(folder, "base.qcow2");
    if (p->boot == BOOT_KERNEL) {
        image->kernel = files_join(folder, "vmlinuz");
        image->initrd = files_join(folder, "initrd.img");
    }
    free(folder);
    return 0;
}

/* ---- fetched */

static int check_sum(const char *path, const char *wanted, struct error *e)
{
    struct text out = {0};
    const char *const argv[] = {"sha256sum", "--", path, NULL};
    int status = process_run(argv, NULL, &out, NULL, FETCH_NS, e), result = 0;
    if (status > 0)
        result =
            error_set(e, "the checksum of %s cannot be computed (sha256sum ended with %d)", path, status);
    else if (status == 0 && strncmp(text_string(&out), wanted, 64) != 0)
        result = error_set(e,
                           "the checksum (SHA-256) of the image is %.64s: expected %s; it was removed, and "
                           "nothing was installed",
                           text_string(&out), wanted);
    text_free(&out);
    return status < 0 ? -1 : result;
}

/* https://HOST/PATH from HARNESS_MIRROR/HOST/PATH, as guest-setup/host/packages does. */
static void apply_mirror(const char *url, struct text *from)
{
    static const char https[] = "https://";
    const char *mirror = getenv("HARNESS_MIRROR");
    size_t length = mirror ? strlen(mirror) : 0, skip = sizeof https - 1;
    if (length == 0 || strncmp(url, https, skip) != 0)
        text_add(from, "%s", url);
    else
        text_add(from, "%.*s/%s", (int)(length - (mirror[length - 1] == '/')), mirror, url + skip);
}

/* One attempt, which continues at the end of `path`. Returns curl's exit status. */
static int fetch_on(const char *from, const char *path, struct text *err, struct error *e)
{
    const char *const argv[] = {"curl", "--fail",   "--location", "--silent", "--show-error", "--continue-at",
                                "-",    "--output", path,         "--",       from,           NULL};
    text_clear(err);
    return process_run(argv, NULL, NULL, err, FETCH_NS, e);
}

static int fetch_image(const char *url, const char *path, struct error *e)
{
    struct text from = {0}, err = {0};
    apply_mirror(url, &from);
    bool began = files_exist(path);
    int status = fetch_on(text_string(&from), path, &err, e);
    /* 22, 33: the server has no more data, or cannot continue in the middle; then the partial file is
     * useless */
    if (began && (status == 22 || status == 33)) {
        unlink(path);
        status = fetch_on(text_string(&from), path, &err, e);
    }
    if (status > 0)
        error_set(e, "fetching %s: %.*s%s", text_string(&from), (int)strcspn(text_string(&err), "\n"),
                  text_string(&err), files_exist(path) ? "; the next call continues the download" : "");
    text_free(&from);
    text_free(&err);
    return status == 0 ? 0 : -1;
}

static int unpack_image(const char *path, struct error *e)
{
    const char *const argv[] = {"xz", "--decompress", "--force", "--", path, NULL};
    int status = process_run(argv, NULL, NULL, NULL, FETCH_NS, e);
    return status > 0 ? error_set(e, "unpacking %s: xz ended with %d", path, status) : status;
}

/* A fetched image has its number of bytes in a file beside it. */
static char *bytes_path(const char *path)
{
    struct text to = {0};
    text_add(&to, "%s.bytes", path);
    return text_take(&to);
}

static int note_bytes(const char *file, const char *path, struct error *e)
{
    struct stat status = {0};
    char number[24], *to = bytes_path(path);
    int result = !to                        ? error_set(e, "out of memory")
                 : stat(file, &status) != 0 ? error_set_errno(e, errno, "reading %s", file)
                                            : 0;
    if (result == 0) {
        snprintf(number, sizeof number, "%lld\n", (long long)status.st_size);
        result = files_write_atomic(to, number, strlen(number), e);
    }
    free(to);
    return result;
}

/* Is the image there, with all of its bytes? One without their number, which somebody put there, is. `why`:
 * a sentence where bytes are missing, else "". */
static bool is_whole(const char *path, struct error *why)
{
    struct stat status;
    struct error ignored;
    why->text[0] = '\0';
    if (stat(path, &status) != 0)
        return false;
    char *from = bytes_path(path), *number = from ? files_read_line(from, &ignored) : NULL;
    bool whole = !number || strtoll(number, NULL, 10) == (long long)status.st_size;
    if (!whole)
        error_set(why, "%s is not whole and is fetched again: it has %lld bytes of %s", path,
                  (long long)status.st_size, number);
    free(number);
    free(from);
    return whole;
}

/* Fetch into `part`, check, unpack, and only then rename, so that files in the cache are complete. A part
 * that passes its check was fetched by a program that was interrupted afterwards. */
static int fetch_checked(const struct profile_image *from, const char *part, bool packed, const char *path,
                         struct error *e)
{
    struct text unpacked = {0};
    text_add(&unpacked, "%.*s", (int)(strlen(part) - (packed ? strlen(".xz") : 0)), part);
    int result = 0;
    if (!files_exist(part) || check_sum(part, from->sha256, NULL) != 0) {
        result = fetch_image(from->url, part, e);
        if (result == 0 && check_sum(part, from->sha256, e) != 0) {
            unlink(part);
            result = -1;
        }
    }
    if (result == 0 && packed)
        result = unpack_image(part, e);
    if (result == 0)
        result = note_bytes(text_string(&unpacked), path, e);
    if (result == 0 && files_publish(text_string(&unpacked), path, e) != 0)
        result = -1;
    text_free(&unpacked);
    return result;
}

/* One program at a time: a program that has waited finds the image in the cache. */
static int fetch_alone(const struct profile_image *from, const char *cache, const char *path, bool fresh,
                       struct error *e)
{
    size_t length = strlen(from->url);
    bool packed = length > 3 && strcmp(from->url + length - 3, ".xz") == 0;
    struct text lock = {0}, part = {0};
    struct error why;
    text_add(&lock, "%s/.fetch.lock", cache);
    text_add(&part, "%s.part%s", path, packed ? ".xz" : "");
    int fd = scratch_open(text_string(&lock), O_RDWR | O_CREAT, 0644, e), result = fd < 0 ? -1 : 0;
    if (fd >= 0 && flock(fd, LOCK_EX) != 0)
        result = error_set_errno(e, errno, "locking %s", text_string(&lock));
    else if (fd >= 0 && (fresh || !is_whole(path, &why))) {
        if (!fresh && why.text[0])
            log_warning("%s", why.text);
        result = fetch_checked(from, text_string(&part), packed, path, e);
    }
    if (fd >= 0)
        close(fd);
    text_free(&lock);
    text_free(&part);
    return result;
}

static int use_fetched(const struct profile *p, bool fresh, struct image *image, struct error *e)
{
    struct text id = {0}, path = {0};
    struct error why;
    char *cache = image_cache(e);
    if (!cache)
        return -1;
    text_add(&id, "%s-%.16s", p->name, p->image.sha256);
    text_add(&path, "%s/%s.qcow2", cache, text_string(&id));
    image->id = text_take(&id);
    image->disk = text_take(&path);
    int result = 0;
    if (!image->id || !image->disk)
        result = error_set(e, "out of memory");
    else if (fresh || !is_whole(image->disk, &why))
        result = fetch_alone(&p->image, cache, image->disk, fresh, e);
    free(cache);
    return result;
}

int image_prepare(const struct profile *p, bool fresh, struct image *image, struct error *e)
{
    *image = (struct image){.held = -1};
    int result = p->image.url ? use_fetched(p, fresh, image, e) : use_built(p, fresh, image, e);
    if (result == 0 &&
        (!image->id || !image->disk || (p->boot == BOOT_KERNEL && (!image->kernel || !image->initrd))))
        result = error_set(e, "out of memory");
    if (result != 0) {
        error_prefix(e, "profile %s", p->name);
        image_free(image);
    }
    return result;
}

void image_free(struct image *image)
{
    if (image->held >= 0)
        close(image->held);
    free(image->id);
    free(image->disk);
    free(image->kernel);
    free(image->initrd);
    *image = (struct image){.held = -1};
}
