/* virt-provision xml */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/rebuild/guest_build.h"
#include "guest-setup/rebuild/record.h"
#include "lib/output/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_xml(struct context *c, const char *const *words, size_t count, struct error *e)
{
    struct storage storage = {0};
    struct record record = {0};
    struct guest_build build;
    if (one_host(c, words, count, "xml HOST", e) != 0 || storage_plan(&c->lab, &storage, e) != 0)
        return -1;
    int result = guest_build_open(c, c->hosts[0], &storage, &build, e);
    if (result == 0)
        result = record_open(&c->lab, c->hosts[0], &record, e);
    if (result == 0) {
        /* the accelerator found at the last rebuild, else KVM is assumed */
        const char *image = record_string(&record, "image");
        build.type = strcmp(record_string(&record, "type"), "qemu") == 0 ? "qemu" : "kvm";
        build.image_id = *image ? strdup(image) : NULL;
        char *disk = volume_of_host(&build, record_complete(&record) ? ".work.qcow2" : ".qcow2");
        char *xml = disk ? guest_build_xml(&build, disk, e) : NULL;
        result = xml ? 0 : -1;
        if (xml)
            print_document(xml);
        free(xml);
        free(disk);
        record_free(&record);
    }
    guest_build_free(&build);
    storage_close(&storage);
    return result;
}

static int run_xml(const struct call *call)
{
    return in_context(call, print_xml);
}

const struct command command_xml = {
    .name = "xml",
    .arguments = "HOST",
    .about = "Print the XML of a guest's domain.",
    .options = &common_options,
    .least = 1,
    .most = 1,
    .run = run_xml,
};
