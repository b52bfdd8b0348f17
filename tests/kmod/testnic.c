// SPDX-License-Identifier: GPL-2.0
/*
 * testnic: gives an existing network interface (a guest's virtio_net) the names and the configuration calls
 * of an mlx5 NIC, so that programs which read counters and apply settings can be tried through a real kernel.
 *
 * It pauses nothing, marks nothing and counts nothing. It keeps the settings that it is given and reports the
 * numbers that a test writes. What it answers says nothing about any NIC.
 *
 *   insmod testnic.ko netdev=data0 [channels=8]
 *   echo rx_prio0_pause=17 > /sys/module/testnic/parameters/counter   a value; "all=0" sets every one
 *   echo ieee_setpfc=16    > /sys/module/testnic/parameters/fail      this call fails with errno 16 from now
 * on; 0 ends it echo 200               > /sys/module/testnic/parameters/flap_ms   a change of the PFC mask
 * drops the link that long
 *
 * Names: linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c; as there, the strings of per-priority
 * pause counters exist only while PFC is on for the priority, and DCB shows the counts of the last full
 * statistics read.
 */
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/dcbnl.h>

#include "mlx5_port.h"

#define PRIORITIES   8
#define MAX_COUNTERS 4096
#define MAX_FAILURES 16
#define TOTAL_BUFFER 262016
/* A ConnectX-4 Lx at 25 Gb/s. */
#define SPEED_MBPS 25000
#define MAX_MTU    9978

enum presence { ALWAYS, WITH_PFC, WITH_GLOBAL_PAUSE };

struct counter {
    char name[ETH_GSTRING_LEN];
    enum presence presence;
    int priority;
    u64 value;
};

struct failure {
    char call[32];
    int error;
};

static char *netdev = "data0";
static int channels = 8;
static int flap_ms;

static struct net_device *device;
static const struct dcbnl_rtnl_ops *old_dcbnl;
static const struct ethtool_ops *old_ethtool;
static struct ethtool_ops ethtool;

static DEFINE_SPINLOCK(lock);
static struct counter *counters;
static unsigned int counter_count;
static struct failure failures[MAX_FAILURES];

static struct mlx5_port mlx5 = {
    .cable_m = 7, .size = {131072}, .total = TOTAL_BUFFER, .speed_Mbps = SPEED_MBPS, .max_mtu = MAX_MTU};
static struct ieee_pfc pfc = {.pfc_cap = PRIORITIES}; /* its counts and mbc; the rest is in mlx5 */
static struct ieee_ets ets = {.ets_cap = PRIORITIES};
static struct ieee_maxrate maxrate;
static u32 rings[2] = {1024, 1024}; /* rx, tx: mlx5's defaults */
static u32 coalesce[2] = {8, 128};  /* rx time in us, rx frames */
static u16 stall_ms = 8000;         /* mlx5: MLX5E_PFC_PREVEN_TOUT_MAX */

/* ---- counters */

static const char *const port_names[] = {
    "rx_packets",
    "rx_bytes",
    "tx_packets",
    "tx_bytes",
    "rx_out_of_buffer",
    "rx_if_down_packets",
    "rx_vport_unicast_packets",
    "rx_vport_unicast_bytes",
    "tx_vport_unicast_packets",
    "tx_vport_unicast_bytes",
    "rx_vport_rdma_unicast_packets",
    "rx_vport_rdma_unicast_bytes",
    "tx_vport_rdma_unicast_packets",
    "tx_vport_rdma_unicast_bytes",
    "rx_packets_phy",
    "tx_packets_phy",
    "rx_bytes_phy",
    "tx_bytes_phy",
    "rx_crc_errors_phy",
    "rx_discards_phy",
    "tx_discards_phy",
    "tx_errors_phy",
    "rx_pause_ctrl_phy",
    "tx_pause_ctrl_phy",
    "rx_mac_control_phy",
    "tx_mac_control_phy",
    "rx_buffer_passed_thres_phy",
    "link_down_events_phy",
    "rx_pci_signal_integrity",
    "tx_pci_signal_integrity",
    "outbound_pci_stalled_rd",
    "outbound_pci_stalled_wr",
    "outbound_pci_stalled_rd_events",
    "outbound_pci_stalled_wr_events",
    "outbound_pci_buffer_overflow",
    "tx_pause_storm_warning_events",
    "tx_pause_storm_error_events",
};
static const char *const global_names[] = {
    "rx_global_pause",          "rx_global_pause_duration",   "tx_global_pause",
    "tx_global_pause_duration", "rx_global_pause_transition",
};
static const char *const priority_names[] = {
    "rx_prio%d_bytes",   "rx_prio%d_packets",     "rx_prio%d_discards",     "tx_prio%d_bytes",
    "tx_prio%d_packets", "rx_prio%d_buf_discard", "rx_prio%d_cong_discard", "rx_prio%d_marked",
};
static const char *const pfc_names[] = {
    "rx_prio%d_pause",          "rx_prio%d_pause_duration",   "tx_prio%d_pause",
    "tx_prio%d_pause_duration", "rx_prio%d_pause_transition",
};
static const char *const channel_names[] = {
    "rx%d_packets", "rx%d_bytes",   "rx%d_csum_complete", "rx%d_buff_alloc_err", "rx%d_cache_reuse",
    "rx%d_wqe_err", "tx%d_packets", "tx%d_bytes",         "tx%d_stopped",        "tx%d_dropped",
    "tx%d_cqes",    "tx%d_wake",    "ch%d_events",        "ch%d_poll",           "ch%d_arm",
};

static void add_counter(enum presence presence, int number, const char *format)
{
    struct counter *c;

    if (counter_count == MAX_COUNTERS)
        return;
    c = &counters[counter_count++];
    c->presence = presence;
    c->priority = number;
    snprintf(c->name, sizeof c->name, format, number);
}

#define ADD_ALL(presence, number, names)              \
    do {                                              \
        size_t i_;                                    \
        for (i_ = 0; i_ < ARRAY_SIZE(names); i_++)    \
            add_counter(presence, number, names[i_]); \
    } while (0)

static void make_counters(void)
{
    int n;

    ADD_ALL(ALWAYS, 0, port_names);
    for (n = 0; n < PRIORITIES; n++) {
        ADD_ALL(ALWAYS, n, priority_names);
        ADD_ALL(WITH_PFC, n, pfc_names);
    }
    ADD_ALL(WITH_GLOBAL_PAUSE, 0, global_names);
    for (n = 0; n < channels; n++)
        ADD_ALL(ALWAYS, n, channel_names);
}

static bool present(const struct counter *c)
{
    if (c->presence == WITH_PFC)
        return mlx5.pfc & (1 << c->priority);
    if (c->presence == WITH_GLOBAL_PAUSE)
        return !mlx5.pfc && (mlx5.pause_rx || mlx5.pause_tx);
    return true;
}

static struct counter *find_counter(const char *name)
{
    unsigned int i;

    for (i = 0; i < counter_count; i++)
        if (strcmp(counters[i].name, name) == 0)
            return &counters[i];
    return NULL;
}

static u64 counter_value(const char *name)
{
    const struct counter *c = find_counter(name);

    return c ? c->value : 0;
}

/* The pause frames that DCB shows; found once, a read of the statistics must not search. */
static const struct counter *pause_sent[PRIORITIES], *pause_received[PRIORITIES];

static const struct counter *find_priority_counter(const char *format, int priority)
{
    char name[ETH_GSTRING_LEN];

    snprintf(name, sizeof name, format, priority);
    return find_counter(name);
}

static void find_pause_counters(void)
{
    int i;

    for (i = 0; i < PRIORITIES; i++) {
        pause_sent[i] = find_priority_counter("tx_prio%d_pause", i);
        pause_received[i] = find_priority_counter("rx_prio%d_pause", i);
    }
}

/* ---- what the test writes */

static int split(const char *text, char *name, size_t size, u64 *value)
{
    const char *equals = strchr(text, '=');
    char number[32];

    if (!equals || (size_t)(equals - text) >= size || strlen(equals + 1) >= sizeof number)
        return -EINVAL;
    memcpy(name, text, equals - text);
    name[equals - text] = '\0';
    strscpy(number, equals + 1, sizeof number);
    return kstrtou64(strim(number), 0, value);
}

static int set_counter(const char *text, const struct kernel_param *param)
{
    char name[ETH_GSTRING_LEN];
    struct counter *c;
    unsigned int i;
    u64 value;
    int result = split(text, name, sizeof name, &value);

    if (result)
        return result;
    spin_lock(&lock);
    c = find_counter(name);
    if (c)
        c->value = value;
    else if (strcmp(name, "all") == 0)
        for (i = 0; i < counter_count; i++)
            counters[i].value = value;
    else
        result = -ENOENT;
    spin_unlock(&lock);
    return result;
}

static int set_failure(const char *text, const struct kernel_param *param)
{
    char call[sizeof failures[0].call];
    int i, unused = -1;
    u64 number;
    int result = split(text, call, sizeof call, &number);

    if (result || number > 4095)
        return result ? result : -ERANGE;
    spin_lock(&lock);
    for (i = 0; i < MAX_FAILURES; i++) {
        if (strcmp(failures[i].call, call) == 0)
            break;
        if (unused < 0 && !failures[i].call[0])
            unused = i;
    }
    if (i == MAX_FAILURES)
        i = unused;
    if (i < 0) {
        result = -ENOSPC;
    } else {
        strscpy(failures[i].call, number ? call : "", sizeof failures[i].call);
        failures[i].error = -(int)number;
    }
    spin_unlock(&lock);
    return result;
}

/* The error that the test wants from this call: 0 or negative. */
static int wanted_failure(const char *call)
{
    int i;

    for (i = 0; i < MAX_FAILURES; i++)
        if (strcmp(failures[i].call, call) == 0)
            return failures[i].error;
    return 0;
}

static const struct kernel_param_ops counter_ops = {.set = set_counter};
static const struct kernel_param_ops failure_ops = {.set = set_failure};

module_param(netdev, charp, 0444);
module_param(channels, int, 0444);
module_param(flap_ms, int, 0644);
module_param_named(pause_turns_pfc_off, mlx5.exclusive, uint, 0644);
module_param_cb(counter, &counter_ops, NULL, 0200);
module_param_cb(fail, &failure_ops, NULL, 0200);

/* ---- DCB */

static void raise_link(struct work_struct *work)
{
    if (device)
        netif_carrier_on(device);
}
static DECLARE_DELAYED_WORK(raise, raise_link);

static int get_pfc(struct net_device *d, struct ieee_pfc *to)
{
    *to = pfc;
    to->pfc_en = mlx5.pfc;
    to->delay = mlx5.cable_m;
    return wanted_failure("ieee_getpfc");
}

/* mlx5 takes the link down and up again when the mask changes (mlx5_toggle_port_link), also when it then
 * refuses the mask for the buffers. */
static int set_pfc(struct net_device *d, struct ieee_pfc *from)
{
    int result = wanted_failure("ieee_setpfc");
    bool changed = from->pfc_en != mlx5.pfc;

    if (result)
        return result;
    mlx5.mtu = d->mtu;
    result = mlx5_port_set_pfc(&mlx5, from->pfc_en, from->delay);
    pfc.mbc = from->mbc;
    if (changed && flap_ms > 0) {
        netif_carrier_off(d);
        mod_delayed_work(system_wq, &raise, msecs_to_jiffies(flap_ms));
    }
    return -result;
}

static int get_ets(struct net_device *d, struct ieee_ets *to)
{
    *to = ets;
    return wanted_failure("ieee_getets");
}

/* As mlx5e_dbcnl_validate_ets: bandwidths of the ETS classes must add up to 0 or 100. */
static int set_ets(struct net_device *d, struct ieee_ets *from)
{
    int i, sum = 0, result = wanted_failure("ieee_setets");

    for (i = 0; i < PRIORITIES; i++)
        if (from->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS)
            sum += from->tc_tx_bw[i];
    if (!result && sum != 0 && sum != 100)
        result = -EINVAL;
    if (result)
        return result;
    ets = *from;
    ets.ets_cap = PRIORITIES;
    return 0;
}

static int get_maxrate(struct net_device *d, struct ieee_maxrate *to)
{
    *to = maxrate;
    return wanted_failure("ieee_getmaxrate");
}

static int set_maxrate(struct net_device *d, struct ieee_maxrate *from)
{
    int result = wanted_failure("ieee_setmaxrate");

    if (!result)
        maxrate = *from;
    return result;
}

static int get_buffer(struct net_device *d, struct dcbnl_buffer *to)
{
    int i;

    to->total_size = TOTAL_BUFFER;
    for (i = 0; i < DCBX_MAX_BUFFERS; i++) {
        to->prio2buffer[i] = mlx5.buffer[i];
        to->buffer_size[i] = mlx5.size[i];
    }
    return wanted_failure("dcbnl_getbuffer");
}

static int set_buffer(struct net_device *d, struct dcbnl_buffer *from)
{
    unsigned int map[DCBX_MAX_BUFFERS];
    int i, result = wanted_failure("dcbnl_setbuffer");

    if (result)
        return result;
    for (i = 0; i < DCBX_MAX_BUFFERS; i++)
        map[i] = from->prio2buffer[i] % DCBX_MAX_BUFFERS;
    mlx5.mtu = d->mtu;
    return -mlx5_port_set_buffers(&mlx5, map, from->buffer_size);
}

static int set_app(struct net_device *d, struct dcb_app *app)
{
    int result = wanted_failure("ieee_setapp");

    return result ? result : dcb_ieee_setapp(d, app);
}

static int delete_app(struct net_device *d, struct dcb_app *app)
{
    int result = wanted_failure("ieee_delapp");

    return result ? result : dcb_ieee_delapp(d, app);
}

static u8 get_dcbx(struct net_device *d)
{
    return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static u8 set_dcbx(struct net_device *d, u8 mode)
{
    return 0;
}

static const struct dcbnl_rtnl_ops dcbnl = {
    .ieee_getpfc = get_pfc,
    .ieee_setpfc = set_pfc,
    .ieee_getets = get_ets,
    .ieee_setets = set_ets,
    .ieee_getmaxrate = get_maxrate,
    .ieee_setmaxrate = set_maxrate,
    .dcbnl_getbuffer = get_buffer,
    .dcbnl_setbuffer = set_buffer,
    .ieee_setapp = set_app,
    .ieee_delapp = delete_app,
    .getdcbx = get_dcbx,
    .setdcbx = set_dcbx,
};

/* ---- ethtool */

static int get_sset_count(struct net_device *d, int set)
{
    unsigned int i;
    int count = 0;

    if (set != ETH_SS_STATS)
        return old_ethtool->get_sset_count ? old_ethtool->get_sset_count(d, set) : -EOPNOTSUPP;
    for (i = 0; i < counter_count; i++)
        count += present(&counters[i]);
    return count;
}

static void get_strings(struct net_device *d, u32 set, u8 *to)
{
    unsigned int i;

    if (set != ETH_SS_STATS) {
        if (old_ethtool->get_strings)
            old_ethtool->get_strings(d, set, to);
        return;
    }
    for (i = 0; i < counter_count; i++) {
        if (!present(&counters[i]))
            continue;
        memcpy(to, counters[i].name, ETH_GSTRING_LEN);
        to += ETH_GSTRING_LEN;
    }
}

/* DCB's counts follow a full read only (mlx5e_dcbnl_ieee_getpfc reads the driver's cache). */
static void get_stats(struct net_device *d, struct ethtool_stats *stats, u64 *to)
{
    unsigned int i;

    spin_lock(&lock);
    for (i = 0; i < counter_count; i++)
        if (present(&counters[i]))
            *to++ = counters[i].value;
    for (i = 0; i < PRIORITIES; i++) {
        pfc.requests[i] = pause_sent[i]->value;
        pfc.indications[i] = pause_received[i]->value;
    }
    spin_unlock(&lock);
}

static void get_pause(struct net_device *d, struct ethtool_pauseparam *to)
{
    to->autoneg = 0;
    to->rx_pause = mlx5.pause_rx;
    to->tx_pause = mlx5.pause_tx;
}

static int set_pause(struct net_device *d, struct ethtool_pauseparam *from)
{
    int result = wanted_failure("set_pauseparam");

    if (result)
        return result;
    return from->autoneg ? -EINVAL : -mlx5_port_set_pause(&mlx5, from->rx_pause, from->tx_pause);
}

static void get_pause_stats(struct net_device *d, struct ethtool_pause_stats *to)
{
    to->rx_pause_frames = counter_value("rx_pause_ctrl_phy");
    to->tx_pause_frames = counter_value("tx_pause_ctrl_phy");
}

static void get_mac_stats(struct net_device *d, struct ethtool_eth_mac_stats *to)
{
    to->FramesReceivedOK = counter_value("rx_packets_phy");
    to->FramesTransmittedOK = counter_value("tx_packets_phy");
    to->OctetsReceivedOK = counter_value("rx_bytes_phy");
    to->OctetsTransmittedOK = counter_value("tx_bytes_phy");
    to->FrameCheckSequenceErrors = counter_value("rx_crc_errors_phy");
}

static void get_ctrl_stats(struct net_device *d, struct ethtool_eth_ctrl_stats *to)
{
    to->MACControlFramesReceived = counter_value("rx_mac_control_phy");
    to->MACControlFramesTransmitted = counter_value("tx_mac_control_phy");
}

static int get_tunable(struct net_device *d, const struct ethtool_tunable *what, void *to)
{
    int result = wanted_failure("get_tunable");

    if (result)
        return result;
    if (what->id == ETHTOOL_PFC_PREVENTION_TOUT) {
        *(u16 *)to = stall_ms;
        return 0;
    }
    return old_ethtool->get_tunable ? old_ethtool->get_tunable(d, what, to) : -EINVAL;
}

static int set_tunable(struct net_device *d, const struct ethtool_tunable *what, const void *from)
{
    int result = wanted_failure("set_tunable");
    u16 wanted;

    if (result)
        return result;
    if (what->id != ETHTOOL_PFC_PREVENTION_TOUT)
        return old_ethtool->set_tunable ? old_ethtool->set_tunable(d, what, from) : -EINVAL;
    /* mlx5e_set_pfc_prevention_tout: 0 off, 65535 automatic (100 ms), else 80..8000 ms. */
    wanted = *(const u16 *)from;
    if (wanted == PFC_STORM_PREVENTION_AUTO)
        wanted = 100;
    if (wanted != PFC_STORM_PREVENTION_DISABLE && (wanted < 80 || wanted > 8000))
        return -EINVAL;
    stall_ms = wanted;
    return 0;
}

static void get_ring(struct net_device *d, struct ethtool_ringparam *to,
                     struct kernel_ethtool_ringparam *kernel, struct netlink_ext_ack *ack)
{
    to->rx_max_pending = to->tx_max_pending = 8192;
    to->rx_pending = rings[0];
    to->tx_pending = rings[1];
}

/* mlx5e_ethtool_set_ringparam: rings are powers of two, others are rounded up. */
static int set_ring(struct net_device *d, struct ethtool_ringparam *from,
                    struct kernel_ethtool_ringparam *kernel, struct netlink_ext_ack *ack)
{
    int result = wanted_failure("set_ringparam");

    if (result)
        return result;
    rings[0] = roundup_pow_of_two(from->rx_pending);
    rings[1] = roundup_pow_of_two(from->tx_pending);
    return 0;
}

static int get_coalesce(struct net_device *d, struct ethtool_coalesce *to,
                        struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *ack)
{
    to->rx_coalesce_usecs = coalesce[0];
    to->rx_max_coalesced_frames = coalesce[1];
    return wanted_failure("get_coalesce");
}

static int set_coalesce(struct net_device *d, struct ethtool_coalesce *from,
                        struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *ack)
{
    int result = wanted_failure("set_coalesce");

    if (result)
        return result;
    coalesce[0] = from->rx_coalesce_usecs;
    coalesce[1] = from->rx_max_coalesced_frames;
    return 0;
}

static void overlay_ethtool(void)
{
    ethtool = *old_ethtool;
    ethtool.get_sset_count = get_sset_count;
    ethtool.get_strings = get_strings;
    ethtool.get_ethtool_stats = get_stats;
    ethtool.get_pauseparam = get_pause;
    ethtool.set_pauseparam = set_pause;
    ethtool.get_pause_stats = get_pause_stats;
    ethtool.get_eth_mac_stats = get_mac_stats;
    ethtool.get_eth_ctrl_stats = get_ctrl_stats;
    ethtool.get_tunable = get_tunable;
    ethtool.set_tunable = set_tunable;
    ethtool.get_ringparam = get_ring;
    ethtool.set_ringparam = set_ring;
    ethtool.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS | ETHTOOL_COALESCE_RX_MAX_FRAMES;
    ethtool.get_coalesce = get_coalesce;
    ethtool.set_coalesce = set_coalesce;
}

/* ---- coming and going */

static int attach(void)
{
    device = dev_get_by_name(&init_net, netdev);
    if (!device) {
        pr_err("testnic: no interface \"%s\"\n", netdev);
        return -ENODEV;
    }
    rtnl_lock();
    old_dcbnl = device->dcbnl_ops;
    old_ethtool = device->ethtool_ops;
    overlay_ethtool();
    device->dcbnl_ops = &dcbnl;
    device->ethtool_ops = &ethtool;
    rtnl_unlock();
    return 0;
}

/* Under rtnl_lock. */
static void detach(void)
{
    if (!device)
        return;
    device->dcbnl_ops = old_dcbnl;
    device->ethtool_ops = old_ethtool;
    dev_put(device);
    device = NULL;
}

/* The interface must not wait for us when its driver goes. */
static int on_event(struct notifier_block *block, unsigned long event, void *data)
{
    if (event == NETDEV_UNREGISTER && device && netdev_notifier_info_to_dev(data) == device)
        detach();
    return NOTIFY_DONE;
}
static struct notifier_block notifier = {.notifier_call = on_event};

static int __init testnic_init(void)
{
    int result;

    counters = kvcalloc(MAX_COUNTERS, sizeof *counters, GFP_KERNEL);
    if (!counters)
        return -ENOMEM;
    make_counters();
    find_pause_counters();
    result = attach();
    if (result) {
        kvfree(counters);
        return result;
    }
    result = register_netdevice_notifier(&notifier);
    if (result) {
        rtnl_lock();
        detach();
        rtnl_unlock();
        kvfree(counters);
    }
    return result;
}

static void __exit testnic_exit(void)
{
    unregister_netdevice_notifier(&notifier);
    rtnl_lock();
    detach();
    rtnl_unlock();
    cancel_delayed_work_sync(&raise);
    kvfree(counters);
}

module_init(testnic_init);
module_exit(testnic_exit);
MODULE_DESCRIPTION("mlx5's names and configuration calls on another interface, for tests");
MODULE_LICENSE("GPL");
