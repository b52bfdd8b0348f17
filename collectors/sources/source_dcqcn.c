/*
 * DCQCN parameters in force at the reaction point (rp) and notification point (np). MLNX_OFED keeps them in
 * the interface's sysfs folder ecn/, upstream kernels in debugfs (linux drivers/infiniband/hw/mlx5/cong.c),
 * under other names; the columns have MLNX_OFED's.
 */
#include "collectors/sources/source.h"

#include "collectors/sources/slow_files.h"
#include "lib/kernel/sysfs.h"
#include "lib/roce/dcqcn.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Where the parameters are: the folder, and which of the two sets of file names it uses. */
struct place {
    char folder[PATH_MAX];
    bool ofed;
};

static int find_place(const struct target *target, struct place *place, struct error *e)
{
    char pci[64];
    snprintf(place->folder, sizeof place->folder, "/sys/class/net/%s/ecn", target->netdev);
    place->ofed = sysfs_exists(target->root, "%s/roce_rp", place->folder);
    if (place->ofed)
        return 0;
    if (sysfs_link(pci, sizeof pci, target->root, "/sys/class/net/%s/device", target->netdev) > 0) {
        snprintf(place->folder, sizeof place->folder, "/sys/kernel/debug/mlx5/%s/cc_params", pci);
        if (sysfs_exists(target->root, "%s", place->folder))
            return 0;
    }
    return error_set(e,
                     "%s has DCQCN parameters neither in /sys/class/net/%s/ecn (MLNX_OFED) nor in "
                     "/sys/kernel/debug/mlx5/%s/cc_params (mlx5, readable by root with debugfs mounted)",
                     target->netdev, target->netdev, pci[0] != '\0' ? pci : "PCI-ADDRESS");
}

static int add_parameters(struct slow_files *s, const struct place *place, struct column_set *columns,
                          struct error *e)
{
    int result = 0;
    for (const struct dcqcn_parameter *p = dcqcn_parameters; result != -1 && p->name; p++) {
        const char *file = place->ofed ? p->ofed : p->upstream;
        char path[PATH_MAX + 64], column[64];
        if (!file)
            continue;
        snprintf(path, sizeof path, "%s/%s", place->folder, file);
        snprintf(column, sizeof column, "dcqcn_%s_%s", p->point, p->name);
        result = slow_files_add(s, columns, column, SLOW_NUMBER, path, e);
    }
    return result;
}

/* Only MLNX_OFED shows for each priority whether the reaction and notification points are on. */
static int add_enables(struct slow_files *s, const struct place *place, struct column_set *columns,
                       struct error *e)
{
    int result = 0;
    for (int i = 0; result != -1 && place->ofed && i < 16; i++) {
        char path[PATH_MAX + 64], name[40];
        const char *point = i < 8 ? "rp" : "np";
        snprintf(path, sizeof path, "%s/roce_%s/enable/%d", place->folder, point, i % 8);
        snprintf(name, sizeof name, "dcqcn_%s_enable_prio%d", point, i % 8);
        result = slow_files_add(s, columns, name, SLOW_NUMBER, path, e);
    }
    return result;
}

static void *dcqcn_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct place place = {0};
    if (find_place(target, &place, e) == -1)
        return NULL;
    struct slow_files *s = slow_files_new(target, e);
    if (s && add_parameters(s, &place, columns, e) != -1 && add_enables(s, &place, columns, e) != -1) {
        if (columns->count > 0)
            return s;
        error_set(e, "none of the DCQCN parameters in %s can be read; are you root?", place.folder);
    }
    slow_files_close(s);
    return NULL;
}

const struct source_kind source_dcqcn = {
    .name = "dcqcn",
    .about = "DCQCN parameters",
    .needs_netdev = true,
    .open = dcqcn_open,
    .read = slow_files_read,
    .close = slow_files_close,
};
