/* VLAN interfaces: the tag's priority of packets is in the egress map. Read from the files of linux net/8021q/vlanproc.c. */
#include "collectors/facts/facts.h"

#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text after a label, up to the end of its line; NULL without the label. The line is cut off. */
static char *after(char *text, const char *label)
{
    char *at = strstr(text, label);
    if (!at)
        return NULL;
    at += strlen(label);
    at[strcspn(at, "\n")] = '\0';
    return at;
}

/* "0:3 1:3" */
static json_t *parse_egress(const char *text)
{
    json_t *egress = json_object();
    unsigned int from, to;
    int used;
    for (; text && sscanf(text, " %u:%u%n", &from, &to, &used) == 2; text += used) {
        char key[16];
        snprintf(key, sizeof key, "%u", from);
        json_object_set_new(egress, key, json_integer(to & 7));
    }
    return egress;
}

/* The VLAN of one file if it belongs to the interface, else NULL. The parts are cut off from the file's end. */
static json_t *parse_vlan(const char *name, char *text, const char *netdev)
{
    const char *egress = after(text, "EGRESS priority mappings:"), *device = after(text, "\nDevice: ");
    const char *id = after(text, "VID: ");
    long number = id ? strtol(id, NULL, 10) : 0;
    if (!device || strcmp(device, netdev) != 0 || number < 1 || number > 4094)
        return NULL;
    return json_make("{s:s,s:i,s:o}", "netdev", name, "id", (int)number, "egress", parse_egress(egress));
}

json_t *facts_vlans(const struct facts_source *s, const char *netdev)
{
    json_t *list = json_array();
    struct sysfs_names names = sysfs_list(s->root, "/proc/net/vlan");
    for (size_t i = 0; i < names.count; i++) {
        char text[4096];
        ssize_t length = sysfs_bytes(text, sizeof text - 1, s->root, "/proc/net/vlan/%s", names.items[i]);
        if (length <= 0 || strcmp(names.items[i], "config") == 0)
            continue;
        text[length] = '\0';
        json_t *vlan = parse_vlan(names.items[i], text, netdev);
        if (vlan)
            json_array_append_new(list, vlan);
    }
    sysfs_names_free(&names);
    return list;
}
