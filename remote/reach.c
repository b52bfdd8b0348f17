#include "remote/reach.h"

#include "remote/mark.h"
#include "remote/places.h"
#include "remote/virt_error.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <stdlib.h>
#include <string.h>

/* The first IPv4 address that one source knows for the interface with this MAC. */
static char *address_from(virDomainPtr domain, unsigned source, const char *mac)
{
    virDomainInterfacePtr *interfaces = NULL;
    char *address = NULL;
    int count = virDomainInterfaceAddresses(domain, &interfaces, source, 0);
    for (int i = 0; i < count; i++) {
        bool right = interfaces[i]->hwaddr && strcasecmp(interfaces[i]->hwaddr, mac) == 0;
        for (unsigned k = 0; right && !address && k < interfaces[i]->naddrs; k++)
            if (interfaces[i]->addrs[k].type == VIR_IP_ADDR_TYPE_IPV4)
                address = strdup(interfaces[i]->addrs[k].addr);
        virDomainInterfaceFree(interfaces[i]);
    }
    free(interfaces);
    return address;
}

static char *find_address(virDomainPtr domain, const struct mark *mark)
{
    static const unsigned sources[] = {VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_LEASE,
                                       VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_AGENT,
                                       VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_ARP};
    char *address = mark->address[0] ? strdup(mark->address) : NULL;
    for (size_t i = 0; !address && i < sizeof sources / sizeof *sources; i++)
        address = address_from(domain, sources[i], mark->mac);
    return address;
}

static int fill_target(struct virt *v, const struct lab *lab, const struct lab_host *host,
                       const struct mark *mark, struct ssh_target *t, struct error *e)
{
    struct text alias = {0};
    text_add(&alias, "%s-%s", lab->name, lab_guest_name(host));
    t->key_alias = text_take(&alias);
    t->user = strdup(mark->user[0] ? mark->user : "root");
    t->identity = places_in_lab(lab, "id_ed25519", e);
    t->known_hosts = places_in_lab(lab, "known_hosts", e);
    t->jump = virt_jump(virt_uri(v));
    t->port = mark->port;
    t->own_config = true;
    t->boots = true;
    t->sudo = host->sudo == 1 || (t->user && strcmp(t->user, "root") != 0);
    if (!t->identity || !t->known_hosts)
        return -1;
    if (!t->key_alias || !t->user)
        return error_set(e, "out of memory");
    if (!files_exist(t->identity))
        return error_set(e,
                         "host %s: the lab's key %s is missing: the guest was created by another user or on "
                         "another machine; "
                         "virt-provision rebuild creates it again",
                         host->name, t->identity);
    return 0;
}

/* A host that is not a guest: as the lab file says; the rest comes from the user's ssh configuration. */
static int plain_target(const struct lab_host *host, struct ssh_target *t, struct error *e)
{
    t->host = strdup(host->ssh);
    t->port = host->port == FIELD_UNSET ? 0 : host->port;
    t->identity = host->identity ? strdup(host->identity) : NULL;
    t->known_hosts = host->known_hosts ? strdup(host->known_hosts) : NULL;
    t->sudo = host->sudo == 1;
    if (t->host && (t->identity || !host->identity) && (t->known_hosts || !host->known_hosts))
        return 0;
    ssh_target_free(t);
    return error_set(e, "out of memory");
}

int virt_domain_target(struct virt *v, const struct lab *lab, const struct lab_host *host,
                       struct ssh_target *target, struct error *e)
{
    bool absent;
    struct mark mark;
    *target = (struct ssh_target){0};
    if (!host->domain)
        return plain_target(host, target, e);
    virDomainPtr domain = virt_find(v, host->domain, &absent, e);
    if (!domain)
        return absent ? virt_absent(v, host->domain, e) : -1;
    int result = mark_read(domain, &mark, e);
    if (result == 0)
        result = error_set(e,
                           "domain %s was not created by virt-provision, so its host key is unknown: replace "
                           "it with virt-provision rebuild --adopt, or use an ssh lab",
                           host->domain);
    else if (result == 1)
        result = fill_target(v, lab, host, &mark, target, e);
    if (result == 0 && !(target->host = find_address(domain, &mark)))
        result = error_set(e, "domain %s has no address on its management interface (%s) yet", host->domain,
                           mark.mac);
    virDomainFree(domain);
    if (result != 0)
        ssh_target_free(target);
    return result;
}

int virt_host_target(struct virt *v, const struct lab *lab, const struct lab_host *host, int64_t timeout_ns,
                     struct ssh_target *target, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    enum virt_state state = VIRT_RUNNING;
    int found;
    if (host->domain && virt_domain_start(v, host->domain, e) != 0)
        return -1;
    while ((found = virt_domain_target(v, lab, host, target, e)) == 1 && clock_monotonic_ns() < deadline_ns) {
        clock_sleep_until_ns(clock_monotonic_ns() + 200 * NS_PER_MS);
        if (virt_domain_state(v, host->domain, &state, e) != 0)
            return -1;
        if (state != VIRT_RUNNING)
            return error_set(e, "domain %s is %s while it was booting: see its serial log", host->domain,
                             virt_state_names[state]);
    }
    return found == 0 ? 0 : -1;
}

struct ssh_session *virt_host_open(struct virt *v, const struct lab *lab, const struct lab_host *host,
                                   int64_t timeout_ns, const atomic_bool *cancelled, struct error *e)
{
    struct ssh_target target = {0};
    struct error inner;
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    if (virt_host_target(v, lab, host, timeout_ns, &target, &inner) != 0) {
        error_set(e, "host %s: %s", host->name, inner.text);
        ssh_target_free(&target);
        return NULL;
    }
    target.cancelled = cancelled;
    struct ssh_session *s = ssh_open(host->name, &target, deadline_ns - clock_monotonic_ns(), e);
    ssh_target_free(&target);
    return s;
}
