/* Prints what rebuild would do; does not call libvirt and neither fetches nor changes anything. */
#include "guest-setup/rebuild/rebuild.h"

#include "guest-setup/rebuild/packages.h"
#include "guest-setup/rebuild/guest_build.h"
#include "lib/files.h"
#include "lib/output/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT     "        "
#define STEP_BYTES (1u << 20)

/* The first comment of a step after #! states its purpose. */
static void print_step(const struct profile_step *step)
{
    char *text = files_read(step->path, STEP_BYTES, NULL, NULL);
    const char *line = text && strncmp(text, "#!", 2) == 0 ? strchr(text, '\n') : NULL;
    int length = line && strncmp(line, "\n# ", 3) == 0 ? (int)strcspn(line + 3, "\n") : 0;
    print_out(INDENT "%-20s %.*s\n", step->name, length, length ? line + 3 : "");
    free(text);
}

static void print_puts(const struct guest_build *build)
{
    const struct profile *p = &build->profile;
    const struct profile_put *put = p->put.items;
    for (size_t i = 0; i < p->programs.count; i++)
        print_out(INDENT "%s -> %s\n", ((char *const *)p->programs.items)[i], build->host->programs);
    for (size_t i = 0; i < p->put.count; i++)
        print_out(INDENT "%s -> %s\n", put[i].from, put[i].to);
    print_out(INDENT "steps of %s -> /usr/local/share/lab/steps\n", p->name);
    if (p->bundle.name)
        print_out(INDENT "packages of %s -> /usr/local/share/lab/packages\n", p->bundle.name);
}

static int print_xml(struct guest_build *build, struct error *e)
{
    char *disk = volume_of_host(build, ".qcow2"), *xml = disk ? guest_build_xml(build, disk, e) : NULL;
    for (const char *line = xml; line && *line;) {
        size_t length = strcspn(line, "\n");
        print_out(INDENT "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    free(xml);
    free(disk);
    return xml ? 0 : -1;
}

static void print_image(const struct guest_build *build)
{
    const struct profile_image *image = &build->profile.image;
    if (image->url)
        print_out("    image: fetch %s\n" INDENT "and check its SHA-256: %s\n", image->url, image->sha256);
    else
        print_out("    image: built by guest-setup/profiles/%s/image/build, or taken from the cache\n",
                  image->of ? image->of : build->profile.name);
}

static int print_host(struct guest_build *build, struct error *e)
{
    const struct profile *p = &build->profile;
    print_out("\nhost %s: domain %s, profile %s\n", lab_guest_name(build->host), build->host->domain,
              p->name);
    print_image(build);
    if (p->bundle.name) {
        print_out("    packages: fetch, check signatures and checksums, store in the cache\n");
        if (packages_print(p, INDENT, e) != 0)
            return -1;
    }
    print_out(
        "    domain %s: stop and undefine an existing one, if virt-provision created it; new disk over the "
        "image,\n"
        "    first-boot seed; then define and start\n",
        build->host->domain);
    if (print_xml(build, e) != 0)
        return -1;
    print_out("    copied to the guest, once ssh answers with the guest's host key\n");
    print_puts(build);
    print_out(
        "    steps, each checked, applied when its check fails, and checked again; with reboots where one "
        "asks\n");
    for (size_t i = 0; i < p->step_count; i++)
        print_step(&p->steps[i]);
    print_out("    every check once more, then a snapshot for reset\n");
    if (p->prove)
        print_out("    when all guests are built: %s run --lab, once\n", p->prove);
    return 0;
}

int rebuild_dry_run(struct context *c, struct error *e)
{
    struct storage storage = {0};
    if (storage_plan(&c->lab, &storage, e) != 0)
        return -1;
    print_out("plan for rebuilding lab %s through %s; nothing is changed\n", c->lab.name, c->lab.uri);
    print_out("disks: %s\n", storage.folder);
    int result = 0;
    for (size_t i = 0; result == 0 && i < c->host_count; i++) {
        struct guest_build build;
        result = guest_build_open(c, c->hosts[i], &storage, &build, e);
        if (result != 0)
            break;
        build.type = "kvm";
        result = print_host(&build, e);
        guest_build_free(&build);
    }
    storage_close(&storage);
    return result;
}
