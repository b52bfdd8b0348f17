#include "harness/labs/hosts/capture/tap.h"

#include "lib/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROCE_AND_PAUSES "udp dst port 4791 or ether proto 0x8808 or (vlan and udp dst port 4791)"
/* The virtual ConnectX's frames of type 0x88b5 carry one of its own behind a header of 24 bytes, if its second byte is 0
 * (virtual-connectx/model/port/credit.h). What is within is no packet to pcap: places of type, protocol and port are counted, of IPv4, IPv6
 * and the same behind a VLAN tag. */
#define UDP(TYPE, IP, PROTOCOL, PORT) \
    "(ether[" TYPE ":2] == " IP " and ether[" PROTOCOL "] == 17 and ether[" PORT ":2] == 4791)"
#define ENCLOSED                                                                                             \
    "ether proto 0x88b5 and ether[15] == 0 and (ether[50:2] == 0x8808 or " UDP(                              \
        "50", "0x0800", "61",                                                                                \
        "74") " or " UDP("50", "0x86dd", "58",                                                               \
                         "94") " or (ether[50:2] == 0x8100 and (" UDP("54", "0x0800", "65",                  \
                                                                      "78") " or " UDP("54", "0x86dd", "62", \
                                                                                       "98") ")))"

static const struct tap_place places[] = {
    {"enclosed", ENCLOSED, 14 + 24, true, "the interface that carries the virtual ConnectX's frames", NULL},
    {"plain", ROCE_AND_PAUSES, 0, true, "the interface that carries the virtual ConnectX's frames", NULL},
    {"netdev", ROCE_AND_PAUSES, 0, true, "the kernel's network device", NULL},
    {"rdma", ROCE_AND_PAUSES, 0, false, "the RDMA device (libpcap's rdmasniff)",
     "pause frames, which the NIC keeps to itself"},
};

/*
 * $1: the network device, $2: the RDMA device, if any. Packets of a NIC that implements RoCE do not pass its network device: they are seen at
 * its RDMA device, those of a virtual ConnectX where its frames go. Soft-RoCE's RDMA device has no device below it.
 */
static const char look[] =
    "PATH=$PATH:/usr/sbin:/sbin; tcpdump=$(command -v tcpdump) || "
    "{ echo 'tcpdump is not there: it captures frames; install it' >&2; exit 1; }; "
    "device=$(readlink \"/sys/class/net/$1/device\"); "
    "wire=/sys/kernel/debug/virtual-connectx/${device##*.}/wire; "
    "on=$1; place=netdev; "
    "if [ -r \"$wire\" ]; then read -r on place < \"$wire\"; "
    "elif [ -n \"$2\" ] && [ -e \"/sys/class/infiniband/$2/device\" ]; then on=$2; place=rdma; fi; "
    "echo \"$tcpdump $on ${place:-cable} $(cat \"/sys/class/net/$1/address\")\"";

static int read_answer(const struct remote_host *h, const char *answer, struct tap *tap, struct error *e)
{
    char place[16];
    uint8_t *a = tap->address;
    if (sscanf(answer, "%127s %63s %15s %2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", tap->tcpdump, tap->on, place,
               &a[0], &a[1], &a[2], &a[3], &a[4], &a[5]) != 9 ||
        tap->tcpdump[0] != '/')
        return error_set(e, "host %s: where its frames can be captured is not known: %.200s", h->lab->name,
                         answer);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(place, places[i].name) == 0) {
            tap->place = &places[i];
            return 0;
        }
    return error_set(e,
                     "host %s: %s has its cable within the virtual ConnectX's module (%.60s), where no frame "
                     "can be captured",
                     h->lab->name, h->netdev, tap->on);
}

int tap_find(struct remote_host *h, struct tap *tap, struct error *e)
{
    const char *const argv[] = {"sh", "-c", look, "sh", h->netdev, h->rdma ? h->rdma : "", NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = read_answer(h, text_string(&out), tap, e);
    text_free(&out);
    return result == 0 ? 0 : error_prefix(e, "capture");
}

void tap_words(const struct tap *tap, int64_t snap_bytes, struct words *w)
{
    words_add(w, "%s", tap->tcpdump);
    words_add_all(w, (const char *const[]){"-n", "-p", "-i", tap->on, "-w", "-", "-B", "16384", NULL});
    words_add(w, "--time-stamp-precision=%s", tap->place->ns ? "nano" : "micro");
    words_add(w, "-s");
    words_add(w, "%" PRId64, snap_bytes + tap->place->before);
    words_add(w, "%s", tap->place->filter);
}
