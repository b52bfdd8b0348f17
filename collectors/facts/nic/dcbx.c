#include "collectors/facts/nic/dcbx.h"

#include "lib/document/json_text.h"

#define PRIORITIES 8

static json_t *mask_list(uint8_t mask)
{
    json_t *list = json_array();
    for (int i = 0; i < PRIORITIES; i++)
        if (mask >> i & 1)
            json_array_append_new(list, json_integer(i));
    return list;
}

static json_t *mode_json(uint8_t mode)
{
    return json_make("{s:b,s:b,s:b,s:b}", "host", mode & DCB_CAP_DCBX_HOST, "lld_managed",
                     mode & DCB_CAP_DCBX_LLD_MANAGED, "ieee", mode & DCB_CAP_DCBX_VER_IEEE, "cee",
                     mode & DCB_CAP_DCBX_VER_CEE);
}

json_t *dcbx_json(const struct dcb *dcb)
{
    json_t *peer = dcb->has_peer_pfc ? json_make("{s:s,s:o}", "from", "DCB netlink, ieee_peer_pfc", "pfc",
                                                 mask_list(dcb->peer_pfc.pfc_en))
                                     : json_null();
    return json_make("{s:o,s:o}", "mode", dcb->has_dcbx ? mode_json(dcb->dcbx) : json_null(), "peer", peer);
}

json_t *facts_dcbx(const struct facts_source *s, const char *netdev)
{
    struct host host = {.root = s->root};
    struct device device;
    struct dcb dcb = {0};
    int number;
    if (s->live && device_open(&device, &host, netdev, NULL) == 0)
        (void)dcb_read(&device, &dcb, &number, NULL);
    host_close(&host);
    return dcbx_json(&dcb);
}
