/* DCB netlink (linux/dcbnl.h): reads and writes the IEEE 802.1Qaz settings of a driver. */
#ifndef NIC_CONFIG_DCB_H
#define NIC_CONFIG_DCB_H

#include "nic-config/device/device.h"
#include <linux/dcbnl.h>

#define DCB_MAX_APPS 256

struct dcb {
    bool has_pfc, has_ets, has_buffer;
    bool has_dcbx, has_peer_pfc;
    uint8_t dcbx; /* DCB_CAP_DCBX_*: who negotiates */
    struct ieee_pfc pfc;
    struct ieee_pfc peer_pfc; /* what the other end of the cable sent */
    struct ieee_ets ets;
    struct dcbnl_buffer buffer;
    struct dcb_app apps[DCB_MAX_APPS];
    bool more_apps; /* than that */
    size_t app_count;
};

/* 0, or -1 with *number (EOPNOTSUPP: the driver has no DCB). */
int dcb_read(const struct device *d, struct dcb *dcb, int *number, struct error *e);
/* Fill dcb from one answer of the kernel; for dcb_read and the fuzzer. */
void dcb_parse(const struct nlmsghdr *message, struct dcb *dcb);
/* Write one attribute of DCB_ATTR_IEEE (a struct of the kernel's). */
int dcb_write(const struct device *d, uint16_t attribute, const void *data, size_t size, const char *what,
              struct error *e);
/* Add (DCB_CMD_IEEE_SET) or remove (DCB_CMD_IEEE_DEL) entries of the application table. */
int dcb_write_apps(const struct device *d, uint8_t command, const struct dcb_app *apps, size_t count,
                   const char *what, struct error *e);

#endif
