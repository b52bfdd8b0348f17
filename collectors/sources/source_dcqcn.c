/*
 * DCQCN parameters in force at the reaction point (rp) and notification point (np). MLNX_OFED keeps them in the interface's
 * sysfs folder ecn/, upstream kernels in debugfs (linux drivers/infiniband/hw/mlx5/cong.c), under other names;
 * the columns have MLNX_OFED's.
 */
#include "collectors/sources/source.h"

#include "collectors/sources/slow_files.h"
#include "lib/kernel/sysfs.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *column;
    const char *ofed;
    const char *debugfs;
} parameters[] = {
    {"dcqcn_rp_clamp_tgt_rate", "roce_rp/clamp_tgt_rate", "rp_clamp_tgt_rate"},
    {"dcqcn_rp_clamp_tgt_rate_after_time_inc", "roce_rp/clamp_tgt_rate_after_time_inc",
     "rp_clamp_tgt_rate_ati"},
    {"dcqcn_rp_rpg_time_reset", "roce_rp/rpg_time_reset", "rp_time_reset"},
    {"dcqcn_rp_rpg_byte_reset", "roce_rp/rpg_byte_reset", "rp_byte_reset"},
    {"dcqcn_rp_rpg_threshold", "roce_rp/rpg_threshold", "rp_threshold"},
    {"dcqcn_rp_rpg_ai_rate", "roce_rp/rpg_ai_rate", "rp_ai_rate"},
    {"dcqcn_rp_rpg_hai_rate", "roce_rp/rpg_hai_rate", "rp_hai_rate"},
    {"dcqcn_rp_rpg_max_rate", "roce_rp/rpg_max_rate", "rp_max_rate"},
    {"dcqcn_rp_rpg_min_dec_fac", "roce_rp/rpg_min_dec_fac", "rp_min_dec_fac"},
    {"dcqcn_rp_rpg_min_rate", "roce_rp/rpg_min_rate", "rp_min_rate"},
    {"dcqcn_rp_rpg_gd", "roce_rp/rpg_gd", "rp_gd"},
    {"dcqcn_rp_rate_to_set_on_first_cnp", "roce_rp/rate_to_set_on_first_cnp", "rp_rate_to_set_on_first_cnp"},
    {"dcqcn_rp_dce_tcp_g", "roce_rp/dce_tcp_g", "rp_dce_tcp_g"},
    {"dcqcn_rp_dce_tcp_rtt", "roce_rp/dce_tcp_rtt", "rp_dce_tcp_rtt"},
    {"dcqcn_rp_rate_reduce_monitor_period", "roce_rp/rate_reduce_monitor_period",
     "rp_rate_reduce_monitor_period"},
    {"dcqcn_rp_initial_alpha_value", "roce_rp/initial_alpha_value", "rp_initial_alpha_value"},
    {"dcqcn_np_min_time_between_cnps", "roce_np/min_time_between_cnps", "np_min_time_between_cnps"},
    {"dcqcn_np_cnp_dscp", "roce_np/cnp_dscp", "np_cnp_dscp"},
    {"dcqcn_np_cnp_802p_prio", "roce_np/cnp_802p_prio", "np_cnp_prio"},
};

/* Where the parameters are: the folder, and which column of the table has the file names. */
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
    for (size_t i = 0; result != -1 && i < sizeof parameters / sizeof parameters[0]; i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s", place->folder,
                 place->ofed ? parameters[i].ofed : parameters[i].debugfs);
        result = slow_files_add(s, columns, parameters[i].column, SLOW_NUMBER, path, e);
    }
    return result;
}

/* Only MLNX_OFED tells, by priority, whether each point is on. */
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
