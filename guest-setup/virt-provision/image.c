#include "guest-setup/virt-provision/image.h"

#include "guest-setup/virt/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
        error_set(e, "the image of %s was not built: build-image above says why", second ? second : first);
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

/* ---- built -------------------------------------------------------------------------------------------------------- */

static int use_built(const struct profile *p, bool fresh, struct image *image, struct error *e)
{
    char *folder = run_builder(fresh ? "--fresh" : p->name, fresh ? p->name : NULL, e);
    if (!folder)
        return -1;
    const char *slash = strrchr(folder, '/');
    image->id = strdup(slash ? slash + 1 : folder);
    image->disk = files_join(folder, "base.qcow2");
    if (p->boot == BOOT_KERNEL) {
        image->kernel = files_join(folder, "vmlinuz");
        image->initrd = files_join(folder, "initrd.img");
    }
    free(folder);
    return 0;
}

/* ---- fetched ------------------------------------------------------------------------------------------------------ */

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

static int fetch(const char *url, const char *path, struct error *e)
{
    const char *const argv[] = {"curl",     "--fail", "--location", "--silent", "--show-error",
                                "--output", path,     "--",         url,        NULL};
    struct text err = {0};
    int status = process_run(argv, NULL, NULL, &err, FETCH_NS, e);
    if (status > 0)
        error_set(e, "fetching %s: %.*s", url, (int)strcspn(text_string(&err), "\n"), text_string(&err));
    text_free(&err);
    return status == 0 ? 0 : -1;
}

static int unpack(const char *path, struct error *e)
{
    const char *const argv[] = {"xz", "--decompress", "--force", "--", path, NULL};
    int status = process_run(argv, NULL, NULL, NULL, FETCH_NS, e);
    return status > 0 ? error_set(e, "unpacking %s: xz ended with %d", path, status) : status;
}

/* Fetch beside the place, check, unpack, and only then rename: what lies in the cache is whole. */
static int fetch_checked(const struct profile_image *from, const char *path, struct error *e)
{
    size_t length = strlen(from->url);
    bool packed = length > 3 && strcmp(from->url + length - 3, ".xz") == 0;
    struct text part = {0}, unpacked = {0};
    text_add(&unpacked, "%s.part.%d", path, (int)getpid());
    text_add(&part, "%s%s", text_string(&unpacked), packed ? ".xz" : "");
    int result = fetch(from->url, text_string(&part), e);
    if (result == 0)
        result = check_sum(text_string(&part), from->sha256, e);
    if (result == 0 && packed)
        result = unpack(text_string(&part), e);
    if (result == 0 && rename(text_string(&unpacked), path) != 0)
        result = error_set(e, "cannot put the image at %s", path);
    unlink(text_string(&part));
    unlink(text_string(&unpacked));
    text_free(&part);
    text_free(&unpacked);
    return result;
}

static int use_fetched(const struct profile *p, bool fresh, struct image *image, struct error *e)
{
    struct text id = {0}, path = {0};
    char *cache = image_cache(e);
    if (!cache)
        return -1;
    text_add(&id, "%s-%.16s", p->name, p->image.sha256);
    text_add(&path, "%s/%s.qcow2", cache, text_string(&id));
    free(cache);
    image->id = text_take(&id);
    image->disk = text_take(&path);
    if (!image->id || !image->disk)
        return error_set(e, "out of memory");
    return files_exist(image->disk) && !fresh ? 0 : fetch_checked(&p->image, image->disk, e);
}

int image_prepare(const struct profile *p, bool fresh, struct image *image, struct error *e)
{
    *image = (struct image){0};
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
    free(image->id);
    free(image->disk);
    free(image->kernel);
    free(image->initrd);
    *image = (struct image){0};
}
