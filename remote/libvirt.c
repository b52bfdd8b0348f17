/* libvirt, loaded when guests are first reached: with the fifty libraries that it needs, loading takes four
 * times as long as all else that starts a program, and most commands reach no guest. The functions that the
 * programs call have their own names here, and libvirt's headers check their types. */
#include "remote/virt_error.h"

#include <dlfcn.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdint.h>
#include <stdlib.h>

#define LIBRARY "libvirt.so.0"

/* F(result, name, parameters, arguments), V(name, parameters, arguments) where there is no result */
/* clang-format off */
#define FUNCTIONS(F, V) \
    F(int, virConnectClose, (virConnectPtr conn), (conn)) \
    F(int, virConnectDomainEventDeregisterAny, (virConnectPtr conn, int callbackID), (conn, callbackID)) \
    F(int, virConnectDomainEventRegisterAny, (virConnectPtr conn, virDomainPtr dom, int eventID, virConnectDomainEventGenericCallback cb, void *opaque, virFreeCallback freecb), (conn, dom, eventID, cb, opaque, freecb)) \
    F(char *, virConnectGetDomainCapabilities, (virConnectPtr conn, const char *emulatorbin, const char *arch, const char *machine, const char *virttype, unsigned int flags), (conn, emulatorbin, arch, machine, virttype, flags)) \
    F(int, virConnectIsAlive, (virConnectPtr conn), (conn)) \
    F(int, virConnectListAllNetworks, (virConnectPtr conn, virNetworkPtr **nets, unsigned int flags), (conn, nets, flags)) \
    F(virConnectPtr, virConnectOpen, (const char *name), (name)) \
    F(int, virConnectRegisterCloseCallback, (virConnectPtr conn, virConnectCloseFunc cb, void *opaque, virFreeCallback freecb), (conn, cb, opaque, freecb)) \
    F(int, virConnectSetKeepAlive, (virConnectPtr conn, int interval, unsigned int count), (conn, interval, count)) \
    F(int, virConnectUnregisterCloseCallback, (virConnectPtr conn, virConnectCloseFunc cb), (conn, cb)) \
    F(int, virDomainCreate, (virDomainPtr domain), (domain)) \
    F(virDomainPtr, virDomainCreateXML, (virConnectPtr conn, const char *xmlDesc, unsigned int flags), (conn, xmlDesc, flags)) \
    F(virDomainPtr, virDomainDefineXMLFlags, (virConnectPtr conn, const char *xml, unsigned int flags), (conn, xml, flags)) \
    F(int, virDomainDestroy, (virDomainPtr domain), (domain)) \
    F(int, virDomainFree, (virDomainPtr domain), (domain)) \
    F(const char *, virDomainGetName, (virDomainPtr domain), (domain)) \
    F(int, virDomainGetState, (virDomainPtr domain, int *state, int *reason, unsigned int flags), (domain, state, reason, flags)) \
    F(char *, virDomainGetXMLDesc, (virDomainPtr domain, unsigned int flags), (domain, flags)) \
    F(int, virDomainInterfaceAddresses, (virDomainPtr dom, virDomainInterfacePtr **ifaces, unsigned int source, unsigned int flags), (dom, ifaces, source, flags)) \
    V(virDomainInterfaceFree, (virDomainInterfacePtr iface), (iface)) \
    F(int, virDomainIsActive, (virDomainPtr dom), (dom)) \
    F(virDomainPtr, virDomainLookupByName, (virConnectPtr conn, const char *name), (conn, name)) \
    F(int, virDomainResume, (virDomainPtr domain), (domain)) \
    F(int, virDomainShutdown, (virDomainPtr domain), (domain)) \
    F(int, virDomainShutdownFlags, (virDomainPtr domain, unsigned int flags), (domain, flags)) \
    F(virDomainSnapshotPtr, virDomainSnapshotCreateXML, (virDomainPtr domain, const char *xmlDesc, unsigned int flags), (domain, xmlDesc, flags)) \
    F(int, virDomainSnapshotFree, (virDomainSnapshotPtr snapshot), (snapshot)) \
    F(int, virDomainSuspend, (virDomainPtr domain), (domain)) \
    F(int, virDomainUndefineFlags, (virDomainPtr domain, unsigned int flags), (domain, flags)) \
    F(int, virEventAddTimeout, (int frequency, virEventTimeoutCallback cb, void *opaque, virFreeCallback ff), (frequency, cb, opaque, ff)) \
    F(int, virEventRegisterDefaultImpl, (void), ()) \
    F(int, virEventRunDefaultImpl, (void), ()) \
    F(virErrorPtr, virGetLastError, (void), ()) \
    F(int, virInitialize, (void), ()) \
    F(int, virNetworkCreate, (virNetworkPtr network), (network)) \
    F(virNetworkPtr, virNetworkDefineXML, (virConnectPtr conn, const char *xmlDesc), (conn, xmlDesc)) \
    F(int, virNetworkDestroy, (virNetworkPtr network), (network)) \
    F(int, virNetworkFree, (virNetworkPtr network), (network)) \
    F(const char *, virNetworkGetName, (virNetworkPtr network), (network)) \
    F(char *, virNetworkGetXMLDesc, (virNetworkPtr network, unsigned int flags), (network, flags)) \
    F(int, virNetworkIsActive, (virNetworkPtr net), (net)) \
    F(int, virNetworkIsPersistent, (virNetworkPtr net), (net)) \
    F(virNetworkPtr, virNetworkLookupByName, (virConnectPtr conn, const char *name), (conn, name)) \
    F(int, virNetworkSetAutostart, (virNetworkPtr network, int autostart), (network, autostart)) \
    F(int, virNetworkUndefine, (virNetworkPtr network), (network)) \
    V(virSetErrorFunc, (void *userData, virErrorFunc handler), (userData, handler)) \
    F(int, virStoragePoolCreate, (virStoragePoolPtr pool, unsigned int flags), (pool, flags)) \
    F(virStoragePoolPtr, virStoragePoolDefineXML, (virConnectPtr conn, const char *xmlDesc, unsigned int flags), (conn, xmlDesc, flags)) \
    F(int, virStoragePoolDelete, (virStoragePoolPtr pool, unsigned int flags), (pool, flags)) \
    F(int, virStoragePoolDestroy, (virStoragePoolPtr pool), (pool)) \
    F(int, virStoragePoolFree, (virStoragePoolPtr pool), (pool)) \
    F(int, virStoragePoolGetInfo, (virStoragePoolPtr vol, virStoragePoolInfoPtr info), (vol, info)) \
    F(char *, virStoragePoolGetXMLDesc, (virStoragePoolPtr pool, unsigned int flags), (pool, flags)) \
    F(int, virStoragePoolIsActive, (virStoragePoolPtr pool), (pool)) \
    F(int, virStoragePoolListAllVolumes, (virStoragePoolPtr pool, virStorageVolPtr **vols, unsigned int flags), (pool, vols, flags)) \
    F(virStoragePoolPtr, virStoragePoolLookupByName, (virConnectPtr conn, const char *name), (conn, name)) \
    F(int, virStoragePoolRefresh, (virStoragePoolPtr pool, unsigned int flags), (pool, flags)) \
    F(int, virStoragePoolSetAutostart, (virStoragePoolPtr pool, int autostart), (pool, autostart)) \
    F(int, virStoragePoolUndefine, (virStoragePoolPtr pool), (pool)) \
    F(virStorageVolPtr, virStorageVolCreateXML, (virStoragePoolPtr pool, const char *xmldesc, unsigned int flags), (pool, xmldesc, flags)) \
    F(int, virStorageVolDelete, (virStorageVolPtr vol, unsigned int flags), (vol, flags)) \
    F(int, virStorageVolFree, (virStorageVolPtr vol), (vol)) \
    F(int, virStorageVolGetInfo, (virStorageVolPtr vol, virStorageVolInfoPtr info), (vol, info)) \
    F(const char *, virStorageVolGetName, (virStorageVolPtr vol), (vol)) \
    F(virStorageVolPtr, virStorageVolLookupByName, (virStoragePoolPtr pool, const char *name), (pool, name)) \
    F(int, virStorageVolUpload, (virStorageVolPtr vol, virStreamPtr stream, unsigned long long offset, unsigned long long length, unsigned int flags), (vol, stream, offset, length, flags)) \
    F(int, virStreamAbort, (virStreamPtr st), (st)) \
    F(int, virStreamFinish, (virStreamPtr st), (st)) \
    F(int, virStreamFree, (virStreamPtr st), (st)) \
    F(virStreamPtr, virStreamNew, (virConnectPtr conn, unsigned int flags), (conn, flags)) \
    F(int, virStreamSendAll, (virStreamPtr st, virStreamSourceFunc handler, void *opaque), (st, handler, opaque))
/* clang-format on */

/* Opening it again only counts: it is never unloaded, as its threads go on. */
static void *open_library(void)
{
    return dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

int virt_load(struct error *e)
{
#define NAME(result, name, ...) #name,
#define VOID_NAME(name, ...)    #name,
    static const char *const names[] = {FUNCTIONS(NAME, VOID_NAME)};
    void *library = open_library();
    if (!library)
        return error_set(
            e, "libvirt cannot be loaded (%s): install libvirt0 (Debian) or libvirt-libs (Rocky)", dlerror());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!dlsym(library, names[i]))
            return error_set(e, "%s has no function %s: expected libvirt 1.2.14 or later", LIBRARY, names[i]);
    return 0;
}

/* virt_load has found it, before there was a connection. */
static void *function(const char *name)
{
    void *library = open_library(), *found = library ? dlsym(library, name) : NULL;
    if (!found)
        abort();
    return found;
}

/* Parameters stand in parentheses in the list. NOLINTBEGIN(bugprone-macro-parentheses) */
#define CALL(name) ((__typeof__(&name))(uintptr_t)function(#name))
#define DEFINE(result, name, parameters, arguments) \
    result name parameters                          \
    {                                               \
        return CALL(name) arguments;                \
    }
#define DEFINE_VOID(name, parameters, arguments) \
    void name parameters                         \
    {                                            \
        CALL(name) arguments;                    \
    }
FUNCTIONS(DEFINE, DEFINE_VOID)
/* NOLINTEND(bugprone-macro-parentheses) */
