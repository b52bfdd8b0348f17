// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Wires: cables between ends within this module, and interfaces that carry frames. */
#include "virtual-connectx/kernel/front.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#if __has_include(<net/gso.h>)
#include <net/gso.h> /* from 6.5 on */
#endif

#define MOST_WAITING   4096 /* frames of the interface that the thread has not taken */
#define FRAMES_A_ROUND 4
#define FRAME_TAILROOM 16
#define ENCLOSED       ETH_P_802_EX1 /* IEEE 802's type for local experiments */

static LIST_HEAD(all_wires); /* under the lock of interfaces */

void vcx_wire_start(struct vcx_wire *wire, void (*receive)(struct vcx_wire *wire, struct vcx_frame *frame),
                    const struct vcx_port *(*port)(const struct vcx_wire *wire))
{
    skb_queue_head_init(&wire->from_lower);
    wire->receive = receive;
    wire->port = port;
    rtnl_lock();
    list_add(&wire->all, &all_wires);
    rtnl_unlock();
}

void vcx_wire_cable(struct vcx_wire *one, struct vcx_wire *other)
{
    one->peer = other;
    other->peer = one;
}

bool vcx_wire_connected(const struct vcx_wire *wire)
{
    const struct vcx_wire *peer = wire->peer;
    if (wire->unplugged)
        return false;
    return (peer && peer->present && !peer->unplugged && !vcx_port_closed(peer->port(peer))) ||
           (wire->lower && netif_carrier_ok(wire->lower) && netif_running(wire->lower) &&
            !(wire->enclosed && wire->credit.peer_closed));
}

/* ---- out */

static struct sk_buff *new_skb(struct net_device *lower, const struct vcx_frame *frame)
{
    unsigned int before = LL_RESERVED_SPACE(lower) + ETH_HLEN + VCX_CREDIT_BYTES,
                 bytes = frame ? frame->length : 0;
    struct sk_buff *skb = netdev_alloc_skb(lower, bytes + before + ETH_ZLEN);
    if (!skb)
        return NULL;
    skb_reserve(skb, before);
    if (frame)
        skb_put_data(skb, frame->data, frame->length);
    return skb;
}

static void to_interface(struct sk_buff *skb)
{
    skb_reset_mac_header(skb);
    skb->protocol = eth_hdr(skb)->h_proto;
    skb_set_network_header(skb, ETH_HLEN);
    dev_queue_xmit(skb);
}

static uint32_t window_of(const struct vcx_wire *wire)
{
    return vcx_credit_window(wire->port(wire));
}

/* A bridge between two ends never forwards a pause frame; it forwards what encloses one. */
static void send_enclosed(struct vcx_wire *wire, enum vcx_credit_kind kind, const struct vcx_frame *frame)
{
    struct sk_buff *skb = new_skb(wire->lower, frame);
    struct ethhdr *header;
    if (!skb)
        return;
    vcx_credit_write(&wire->credit, kind, frame ? frame->length : 0, window_of(wire),
                     skb_push(skb, VCX_CREDIT_BYTES));
    header = skb_push(skb, ETH_HLEN);
    eth_broadcast_addr(header->h_dest);
    ether_addr_copy(header->h_source, skb->dev->dev_addr);
    header->h_proto = htons(ENCLOSED);
    if (frame || skb_put_padto(skb, ETH_ZLEN) == 0)
        to_interface(skb);
}

static void send_plain(struct vcx_wire *wire, const struct vcx_frame *frame)
{
    struct sk_buff *skb = new_skb(wire->lower, frame);
    if (skb)
        to_interface(skb);
}

bool vcx_wire_ready(struct vcx_wire *wire)
{
    return !wire->enclosed || vcx_credit_open(&wire->credit, wire->port(wire), vcx_turn_ns());
}

/* What the other end waits for, unless a frame has told it. */
static void wire_tell_credit(struct vcx_wire *wire)
{
    enum vcx_credit_kind kind;
    if (!wire->enclosed || !wire->lower)
        return;
    wire->credit.closed = wire->unplugged || vcx_port_closed(wire->port(wire));
    kind = vcx_credit_due(&wire->credit, window_of(wire), vcx_turn_ns());
    if (kind != VCX_CREDIT_BAD)
        send_enclosed(wire, kind, NULL);
}

void vcx_wire_transmit(struct vcx_wire *wire, struct vcx_frame *frame)
{
    if (wire->unplugged) {
        vcx_release(frame);
        return;
    }
    if (wire->peer) {
        vcx_frames_put(&wire->peer->arrived, frame);
        return;
    }
    if (wire->lower && frame->length >= ETH_HLEN) {
        if (wire->enclosed)
            send_enclosed(wire, VCX_CREDIT_FRAME, frame);
        else
            send_plain(wire, frame);
    }
    vcx_release(frame);
}

/* ---- in */

static bool is_enclosed(const struct sk_buff *skb)
{
    return skb->protocol == htons(ENCLOSED) && skb->len >= VCX_CREDIT_BYTES;
}

static rx_handler_result_t lower_receive(struct sk_buff **pskb)
{
    struct sk_buff *skb = skb_share_check(*pskb, GFP_ATOMIC);
    struct vcx_wire *wire;
    if (!skb)
        return RX_HANDLER_CONSUMED;
    wire = rcu_dereference(skb->dev->rx_handler_data);
    if (skb_queue_len(&wire->from_lower) >= MOST_WAITING) {
        wire->lower_drops++;
        kfree_skb(skb);
        return RX_HANDLER_CONSUMED;
    }
    if (wire->enclosed && !is_enclosed(skb)) {
        kfree_skb(skb); /* the machine's own, such as its bridge's */
        return RX_HANDLER_CONSUMED;
    }
    if (!wire->enclosed)
        skb_push(skb, ETH_HLEN);
    skb_queue_tail(&wire->from_lower, skb);
    vcx_thread_wake();
    return RX_HANDLER_CONSUMED;
}

/* true: a frame is left. */
static bool wire_disclose(struct vcx_wire *wire, struct sk_buff *skb)
{
    u8 header[VCX_CREDIT_BYTES];
    if (!wire->enclosed)
        return true;
    return skb_copy_bits(skb, 0, header, sizeof header) == 0 && pskb_pull(skb, sizeof header) &&
           vcx_credit_take(&wire->credit, header, skb->len) == VCX_CREDIT_FRAME;
}

static void take_skb(struct vcx_wire *wire, struct sk_buff *skb)
{
    if (!wire_disclose(wire, skb)) {
        kfree_skb(skb);
        return;
    }
    struct vcx_frame *frame = vcx_frame_new(skb->len + FRAME_TAILROOM);
    if (frame && skb_copy_bits(skb, 0, frame->data, skb->len) == 0) {
        frame->length = skb->len;
        wire->receive(wire, frame);
    } else {
        wire->lower_drops++;
        vcx_release(frame);
    }
    kfree_skb(skb);
}

/* The interface was asked for whole frames only; one that a peer on the same machine did not cut or sum up
 * is finished here. */
static void take_any(struct vcx_wire *wire, struct sk_buff *skb)
{
    struct sk_buff *segments;
    if (skb_vlan_tag_present(skb))
        skb = __vlan_hwaccel_push_inside(skb);
    if (!skb)
        return;
    if (!skb_is_gso(skb)) {
        if (skb->ip_summed == CHECKSUM_PARTIAL)
            skb_checksum_help(skb);
        take_skb(wire, skb);
        return;
    }
    segments = skb_gso_segment(skb, 0);
    kfree_skb(skb);
    while (!IS_ERR_OR_NULL(segments)) {
        skb = segments;
        segments = skb->next;
        skb_mark_not_on_list(skb);
        take_skb(wire, skb);
    }
}

/* A few: what came while the thread did not run is still on the wire, and the receive buffer drains before
 * the next. */
bool vcx_wire_poll(struct vcx_wire *wire)
{
    struct vcx_frame *frame;
    struct sk_buff *skb;
    unsigned int taken = 0;
    wire_tell_credit(wire);
    while (taken < FRAMES_A_ROUND && (frame = vcx_frames_take(&wire->arrived))) {
        wire->receive(wire, frame);
        taken++;
    }
    while (taken < FRAMES_A_ROUND && (skb = skb_dequeue(&wire->from_lower))) {
        take_any(wire, skb);
        taken++;
    }
    return taken > 0;
}

/* ---- an interface comes and goes */

static const netdev_features_t merging =
    NETIF_F_GRO | NETIF_F_GRO_HW | NETIF_F_LRO | NETIF_F_GSO | NETIF_F_ALL_TSO | NETIF_F_HW_VLAN_CTAG_RX;

static int wire_attach(struct vcx_wire *wire, struct net_device *lower, bool enclosed)
{
    int rc;
    mutex_lock(&vcx_lock);
    wire->enclosed = enclosed;
    vcx_credit_start(&wire->credit, get_random_u32());
    mutex_unlock(&vcx_lock);
    rc = netdev_rx_handler_register(lower, lower_receive, wire);
    if (rc)
        return rc;
    dev_set_promiscuity(lower, 1); /* with all multicast, 01:80:c2:00:00:01 among them */
    dev_disable_lro(lower);
    lower->wanted_features &= ~merging;
    netdev_update_features(lower);
    wire->lower = lower;
    dev_hold(lower);
    return 0;
}

static void wire_detach(struct vcx_wire *wire)
{
    struct net_device *lower = wire->lower;
    if (!lower)
        return;
    netdev_rx_handler_unregister(lower);
    dev_set_promiscuity(lower, -1);
    mutex_lock(&vcx_lock);
    wire->lower = NULL;
    mutex_unlock(&vcx_lock);
    skb_queue_purge(&wire->from_lower);
    dev_put(lower);
}

int vcx_wire_attach(struct vcx_wire *wire, const char *interface, bool enclosed)
{
    struct net_device *lower;
    int rc = -ENODEV;
    rtnl_lock();
    wire_detach(wire);
    lower = __dev_get_by_name(&init_net, interface);
    if (lower)
        rc = lower->type == ARPHRD_ETHER ? wire_attach(wire, lower, enclosed) : -EINVAL;
    rtnl_unlock();
    if (rc)
        pr_err("virtual ConnectX: wire=%s: %s\n", interface,
               rc == -ENODEV  ? "there is no such interface"
               : rc == -EBUSY ? "something else, such as a bridge, takes this interface's frames"
                              : "it is not an Ethernet interface");
    return rc;
}

void vcx_wire_detach(struct vcx_wire *wire)
{
    rtnl_lock();
    wire_detach(wire);
    rtnl_unlock();
}

void vcx_wire_stop(struct vcx_wire *wire)
{
    rtnl_lock();
    list_del(&wire->all);
    rtnl_unlock();
    skb_queue_purge(&wire->from_lower);
    vcx_frames_drop(&wire->arrived);
}

/* An interface that goes away is let go; its wire is cut from then on. */
static int lower_event(struct notifier_block *block, unsigned long event, void *info)
{
    struct vcx_wire *wire;
    if (event != NETDEV_UNREGISTER)
        return NOTIFY_DONE;
    list_for_each_entry(wire, &all_wires, all) if (wire->lower == netdev_notifier_info_to_dev(info))
        wire_detach(wire);
    return NOTIFY_DONE;
}

static struct notifier_block watcher = {.notifier_call = lower_event};

int vcx_wire_watch(void)
{
    return register_netdevice_notifier(&watcher);
}

void vcx_wire_unwatch(void)
{
    unregister_netdevice_notifier(&watcher);
}
