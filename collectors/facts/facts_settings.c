/* Settings in force, read by nic-config's own knobs: both programs read them with the same code. */
#include "collectors/facts/facts.h"

#include "lib/document/json_text.h"
#include "nic-config/knobs/knob.h"
#include "lib/kernel/sysfs.h"
#include <stdio.h>
#include <string.h>

/* Knobs that read only files: they also work on a copied tree. */
static bool reads_files_only(const struct knob *knob)
{
    return knob == &knob_ecn || knob == &knob_dcqcn;
}

static void add_knob(const struct knob *knob, struct device *device, json_t *settings, json_t *from,
                     json_t *missing)
{
    struct text place = {0};
    struct error e = {0};
    if (knob->read(device, settings, &place, &e) == KNOB_READ)
        json_object_set_new(from, knob->name, json_text(text_string(&place)));
    else
        json_object_set_new(missing, knob->name, json_text(e.text));
    text_free(&place);
}

/* A copied tree has no interface to open: the properties that the knobs need are taken from its files. */
static int open_device(const struct facts_source *s, const char *netdev, struct host *host,
                       struct device *device, struct error *e)
{
    host->root = s->root;
    if (s->live)
        return device_open(device, host, netdev, e);
    *device = (struct device){.host = host};
    snprintf(device->name, sizeof device->name, "%s", netdev);
    (void)sysfs_link(device->driver, sizeof device->driver, s->root, "/sys/class/net/%s/device/driver",
                     netdev);
    (void)sysfs_link(device->pci, sizeof device->pci, s->root, "/sys/class/net/%s/device", netdev);
    return 0;
}

void facts_settings(const struct facts_source *s, const char *netdev, json_t *nic)
{
    struct host host = {0};
    struct device device;
    struct error e = {0};
    json_t *settings = json_object(), *from = json_object(), *missing = json_object();
    if (open_device(s, netdev, &host, &device, &e) == 0) {
        for (const struct knob *const *knob = knobs; *knob; knob++)
            if (s->live || reads_files_only(*knob))
                add_knob(*knob, &device, settings, from, missing);
    } else {
        json_object_set_new(missing, "all", json_text(e.text));
    }
    host_close(&host);
    json_object_set_new(nic, "settings", settings);
    json_object_set_new(nic, "settings_from", from);
    json_object_set_new(nic, "settings_missing", missing);
}
