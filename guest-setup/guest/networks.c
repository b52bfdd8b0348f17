#include "guest-setup/guest/networks.h"

#include "guest-setup/guest/domain_xml.h"
#include "remote/virt_error.h"
#include "remote/mark.h"
#include <stdlib.h>
#include <string.h>

/* Did virt-provision create this network? 1, 0, or -1. */
static int network_is_ours(virNetworkPtr network, const struct lab *lab, struct error *e)
{
    struct mark mark;
    char *xml = virNetworkGetXMLDesc(network, 0);
    if (!xml)
        return virt_error(e, "reading the network %s", virNetworkGetName(network));
    int result = mark_parse(xml, &mark, e);
    free(xml);
    return result == 1 ? strcmp(mark.lab, lab->name) == 0 : result;
}

static virNetworkPtr define_network(virConnectPtr connection, const struct lab *lab,
                                    const struct wiring_network *planned, struct error *e)
{
    char *xml = network_xml(lab, planned, e);
    virNetworkPtr network = xml ? virNetworkDefineXML(connection, xml) : NULL;
    if (xml && !network)
        virt_error(e, "defining the network %s", planned->name);
    free(xml);
    return network;
}

static int make_network(virConnectPtr connection, const struct lab *lab, const struct wiring_network *planned,
                        struct error *e)
{
    virNetworkPtr network = virNetworkLookupByName(connection, planned->name);
    int ours = network ? network_is_ours(network, lab, e) : 1, result = -1;
    if (!network)
        network = define_network(connection, lab, planned, e);
    if (ours == 0)
        error_set(e, "libvirt has a network %s that virt-provision did not create: rename it, or the lab",
                  planned->name);
    if (network && ours == 1 && virNetworkIsActive(network) != 1 && virNetworkCreate(network) < 0) {
        virt_error(e, "starting the network %s", virNetworkGetName(network));
    } else if (network && ours == 1) {
        virNetworkSetAutostart(network, 1);
        result = 0;
    }
    if (network)
        virNetworkFree(network);
    return result;
}

int networks_make(struct virt *v, const struct lab *lab, struct error *e)
{
    struct wiring_network *planned;
    size_t count;
    virConnectPtr connection = virt_connection(v);
    if (!connection)
        return error_set(e, "the connection to libvirt was lost");
    if (wiring_networks(lab, &planned, &count, e) != 0)
        return -1;
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = make_network(connection, lab, &planned[i], e);
    free(planned);
    return result;
}

static int remove_network(virNetworkPtr network, struct error *e)
{
    if (virNetworkIsActive(network) == 1 && virNetworkDestroy(network) < 0)
        return virt_error(e, "stopping the network %s", virNetworkGetName(network));
    if (virNetworkIsPersistent(network) == 1 && virNetworkUndefine(network) < 0)
        return virt_error(e, "undefining the network %s", virNetworkGetName(network));
    return 0;
}

int networks_remove(struct virt *v, const struct lab *lab, struct error *e)
{
    virNetworkPtr *all = NULL;
    virConnectPtr connection = virt_connection(v);
    int count = connection ? virConnectListAllNetworks(connection, &all, 0) : 0, result = 0;
    if (count < 0)
        return virt_error(e, "listing libvirt's networks");
    for (int i = 0; i < count; i++) {
        if (network_is_ours(all[i], lab, NULL) == 1 && remove_network(all[i], e) != 0)
            result = -1;
        virNetworkFree(all[i]);
    }
    free(all);
    return result;
}
