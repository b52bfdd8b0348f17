/* A lab, a profile and bundles from elsewhere, as virt-provision reads them before it changes anything: up to
 * the XML of domains and networks. The input is four files with \1 between them: the lab, the profile "p",
 * the bundle "b", and the bundle "base". */
#define places_project project_below_scratch
#include "guest-setup/guest/profile.c"
#include "guest-setup/rebuild/guest_build.h"
#include "tests/fuzz/scratch.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

char *places_project(const char *name, struct error *e)
{
    char *path = files_join(scratch_folder(), name);
    if (path && files_exist(path))
        return path;
    free(path);
    error_set(e, "%s is not there", name);
    return NULL;
}

/* Write the next of the files; returns what is left of the input. */
static size_t put_file(const char *name, const uint8_t **data, size_t size)
{
    const uint8_t *end = memchr(*data, 1, size);
    size_t length = end ? (size_t)(end - *data) : size;
    char *path = files_join(scratch_folder(), name);
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        abort();
    fwrite(*data, 1, length, file);
    fclose(file);
    free(path);
    *data += end ? length + 1 : length;
    return size - (end ? length + 1 : length);
}

static void make_folders(void)
{
    static const char *const folders[] = {"guest-setup/bundles", "guest-setup/profiles/p/steps"};
    for (size_t i = 0; i < 2; i++) {
        char *path = files_join(scratch_folder(), folders[i]);
        if (files_make_folders(path, NULL) != 0)
            abort();
        free(path);
    }
}

static void make_guests(struct context *c, struct storage *storage)
{
    struct error e;
    for (size_t i = 0; i < c->host_count; i++) {
        struct guest_build m;
        if (guest_build_open(c, c->hosts[i], storage, &m, &e) != 0)
            continue;
        char *disk = volume_of_host(&m, ".qcow2");
        free(disk ? guest_build_xml(&m, disk, &e) : NULL);
        free(disk);
        guest_build_free(&m);
    }
}

static void make_networks(const struct lab *lab)
{
    struct wiring_network *networks = NULL;
    struct error e;
    size_t count = 0;
    if (wiring_networks(lab, &networks, &count, &e) == 0)
        for (size_t i = 0; i < count; i++)
            free(network_xml(lab, &networks[i], &e));
    free(networks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"lab.json", "guest-setup/profiles/p/profile.json",
                                        "guest-setup/bundles/b.json", "guest-setup/bundles/base.json"};
    struct storage storage = {0};
    struct error e;
    make_folders();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        size = put_file(files[i], &data, size);
    char *path = files_join(scratch_folder(), files[0]);
    struct context c = {.options = {.lab = path, .quiet = true}};
    if (path && context_load(&c, NULL, 0, &e) == 0 && storage_plan(&c.lab, &storage, &e) == 0) {
        make_guests(&c, &storage);
        make_networks(&c.lab);
        storage_close(&storage);
    }
    context_free(&c);
    free(path);
    return 0;
}
