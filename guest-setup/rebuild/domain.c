#include "guest-setup/rebuild/domain.h"

#include "guest-setup/guest/seed.h"
#include "lib/clock.h"
#include "remote/mark.h"
#include "remote/virt_error.h"
#include <libvirt/virterror.h>
#include <stdlib.h>
#include <string.h>

#define DEFINE_TRIES 5

/* ---- the domain */

int making_check_domain(struct making *m, struct error *e)
{
    virConnectPtr connection = virt_connection(m->context->virt);
    struct mark mark;
    if (!connection)
        return error_set(e, "the connection to libvirt was lost");
    virDomainPtr domain = virDomainLookupByName(connection, m->host->domain);
    if (!domain)
        return 0;
    int marked = mark_read(domain, &mark, e);
    virDomainFree(domain);
    if (marked < 0)
        return -1;
    bool ours =
        marked && strcmp(mark.lab, m->context->lab.name) == 0 && strcmp(mark.host, m->host->name) == 0;
    if (ours || m->context->options.adopt)
        return 1;
    if (marked)
        return error_set(
            e, "domain %s belongs to host %s of lab %s: destroy it there, or replace it with --adopt",
            m->host->domain, mark.host, mark.lab);
    return error_set(e,
                     "domain %s was not created by virt-provision and is not changed; --adopt replaces it "
                     "(its disks are "
                     "they are)",
                     m->host->domain);
}

int making_remove_domain(struct making *m, int64_t grace_ns, struct error *e)
{
    int there = making_check_domain(m, e);
    if (there <= 0)
        return there;
    if (virt_domain_stop(m->context->virt, m->host->domain, grace_ns, e) != 0)
        return -1;
    virDomainPtr domain = virDomainLookupByName(virt_connection(m->context->virt), m->host->domain);
    int result = 0;
    /* the snapshot metadata and managed save of an adopted domain are removed with it; its disks are not */
    if (domain && virDomainUndefineFlags(domain, VIR_DOMAIN_UNDEFINE_MANAGED_SAVE |
                                                     VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA |
                                                     VIR_DOMAIN_UNDEFINE_NVRAM) < 0)
        result = virt_error(e, "undefining domain %s", m->host->domain);
    if (domain)
        virDomainFree(domain);
    return result;
}

/* Of the first two domains that a libvirtd validates at once one may be refused: libxml2 2.9's xmlSchemaInitTypes has no lock, so that a
 * second thread replaces the table of data types that the first one reads. Then it is tried again. */
static virDomainPtr define(virConnectPtr connection, const char *xml)
{
    for (int tries = 1;; tries++) {
        virDomainPtr domain = virDomainDefineXMLFlags(connection, xml, VIR_DOMAIN_DEFINE_VALIDATE);
        const virError *why = domain ? NULL : virGetLastError();
        if (!why || !why->message || tries == DEFINE_TRIES ||
            !strstr(why->message, "is not exported by type library"))
            return domain;
        clock_sleep_until_ns(clock_monotonic_ns() + NS_PER_S);
    }
}

int making_define_domain(struct making *m, const char *suffix, struct error *e)
{
    char *disk = volume_of_host(m, suffix), *xml = disk ? making_xml(m, disk, e) : NULL;
    virConnectPtr connection = virt_connection(m->context->virt);
    virDomainPtr domain = xml && connection ? define(connection, xml) : NULL;
    if (xml && !domain)
        virt_error(e, "defining domain %s", m->host->domain);
    if (domain)
        virDomainFree(domain);
    free(xml);
    free(disk);
    return domain ? 0 : -1;
}

/* ---- disks */

int making_delete_volume(struct making *m, const char *suffix, struct error *e)
{
    char *volume = volume_of_host(m, suffix);
    int result = volume ? storage_delete(m->storage, volume, e) : error_set(e, "out of memory");
    free(volume);
    return result;
}

int making_overlay(struct making *m, const char *suffix, char *base, int64_t bytes, struct error *e)
{
    char *volume = volume_of_host(m, suffix);
    int result =
        volume && base ? storage_overlay(m->storage, volume, base, bytes, e) : error_set(e, "out of memory");
    free(volume);
    free(base);
    return result;
}

static int upload_seed(struct making *m, struct error *e)
{
    char *volume = volume_of_host(m, ".seed"), *local = seed_make(&m->context->lab, m->host, &m->profile, e);
    int result = local && volume ? storage_upload(m->context->virt, m->storage, volume, local, "raw", e) : -1;
    free(volume);
    free(local);
    return result;
}

int making_fresh_disks(struct making *m, struct error *e)
{
    int64_t bytes = m->host->disk_bytes == FIELD_UNSET ? 0 : m->host->disk_bytes;
    if (making_delete_volume(m, DISK_WORK, e) != 0 || making_delete_volume(m, ".console", e) != 0)
        return -1;
    if (making_overlay(m, DISK_BASE, volume_of_image(m, DISK_BASE), bytes, e) != 0)
        return -1;
    return upload_seed(m, e);
}
