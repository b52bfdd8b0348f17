/* virt-provision image: the cache of guest images. */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/guest/image.h"
#include "lib/output/print.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int make_image(struct context *c, const char *name, bool fetch, struct error *e)
{
    struct profile profile;
    struct image image;
    if (profile_load(name, NULL, &profile, e) != 0)
        return -1;
    int result = 0;
    if (fetch != !!profile.image.url)
        result = error_set(e, "the image of profile %s is %s: virt-provision image %s %s", name,
                           fetch ? "built" : "fetched", fetch ? "build" : "fetch", name);
    if (result == 0)
        result = image_prepare(&profile, c->options.fresh, &image, e);
    if (result == 0) {
        print_out("%s\n", image.disk);
        image_free(&image);
    }
    profile_free(&profile);
    return result;
}

/* The profiles named on the command line, else those of the lab's guests. */
static int make_images(struct context *c, const char *const *names, size_t count, bool fetch, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (make_image(c, names[i], fetch, e) != 0)
            return -1;
    if (count > 0)
        return 0;
    if (context_load(c, NULL, 0, e) != 0)
        return -1;
    for (size_t i = 0; i < c->host_count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen = seen || strcmp(c->hosts[k]->profile, c->hosts[i]->profile) == 0;
        if (!seen && make_image(c, c->hosts[i]->profile, fetch, e) != 0)
            return -1;
    }
    return 0;
}

static void print_entry(const char *cache, const char *name)
{
    struct text path = {0};
    struct stat status;
    char when[32];
    struct tm local;
    text_add(&path, "%s/%s", cache, name);
    if (stat(text_string(&path), &status) == 0 && S_ISDIR(status.st_mode)) {
        text_add(&path, "/base.qcow2");
        if (stat(text_string(&path), &status) != 0)
            status.st_size = 0;
    } else if (!strstr(name, ".qcow2")) {
        status.st_size = 0;
    }
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime_r(&status.st_mtime, &local));
    if (status.st_size > 0)
        print_out("%-50s %6lld MiB  %s\n", name, (long long)status.st_size >> 20, when);
    text_free(&path);
}

static int list_images(struct error *e)
{
    struct dirent **entries = NULL;
    char *cache = image_cache(e);
    if (!cache)
        return -1;
    int count = scandir(cache, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            print_entry(cache, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(cache);
    return 0;
}

static int image_action(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (count == 1 && strcmp(words[0], "list") == 0)
        return list_images(e);
    if (count >= 1 && strcmp(words[0], "build") == 0)
        return make_images(c, words + 1, count - 1, false, e);
    if (count >= 1 && strcmp(words[0], "fetch") == 0)
        return make_images(c, words + 1, count - 1, true, e);
    return error_set(e, "usage: virt-provision image build|fetch [PROFILE...], or image list");
}

static int run_image(const struct call *call)
{
    return in_context(call, image_action);
}

static const struct field fields[] = {
    LAB_OPTION,
    {.name = "fresh",
     .kind = FIELD_BOOL,
     OPTIONS_AT(fresh),
     .help = "Build or fetch the image again even if it is in the cache."},
    QUIET_OPTION,
    {0},
};
static const struct table options = OPTIONS_TABLE(fields);

const struct command command_image = {
    .name = "image",
    .arguments = "build|fetch|list [PROFILE...]",
    .about = "Build, fetch or list the images of guests.",
    .options = &options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_image,
};
