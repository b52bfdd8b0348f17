#include "guest-setup/guest/storage.h"
#include "remote/virt_error.h"

#include <errno.h>
#include <fcntl.h>
#include <libvirt/virterror.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define X(text) ((const xmlChar *)(text))

/* ---- XML */

/* Build a small XML document; special characters in paths and names are escaped. */
struct document {
    xmlDocPtr xml;
    xmlNodePtr root;
};

static struct document begin_document(const char *root)
{
    struct document d = {xmlNewDoc(X("1.0")), xmlNewNode(NULL, X(root))};
    xmlDocSetRootElement(d.xml, d.root);
    return d;
}

static char *document_to_text(struct document *d)
{
    xmlChar *bytes = NULL;
    int length = 0;
    xmlDocDumpMemory(d->xml, &bytes, &length);
    char *text = bytes ? strdup((const char *)bytes) : NULL;
    xmlFree(bytes);
    xmlFreeDoc(d->xml);
    return text;
}

static void add_format(xmlNodePtr parent, const char *format)
{
    xmlNewProp(xmlNewChild(parent, NULL, X("format"), NULL), X("type"), X(format));
}

/* ---- the pool */

/* Always a separate folder for the lab, with nothing else in it. It is below the folder that the lab names,
 * else next to libvirt's own images, or for qemu:///session in the user's home. */
static char *folder_of(const struct lab *lab, struct error *e)
{
    struct text folder = {0};
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (lab->pool)
        text_add(&folder, "%s/harness-%s", lab->pool, lab->name);
    else if (!strstr(lab->uri, "/session"))
        text_add(&folder, "/var/lib/libvirt/images/harness-%s", lab->name);
    else if (data && *data == '/')
        text_add(&folder, "%s/libvirt/images/harness-%s", data, lab->name);
    else if (home && *home == '/')
        text_add(&folder, "%s/.local/share/libvirt/images/harness-%s", home, lab->name);
    else
        error_set(e, "HOME is not set: give the lab a \"pool\", a folder for its disks");
    return folder.length ? text_take(&folder) : NULL;
}

static int make_pool(virConnectPtr connection, struct storage *s, struct error *e)
{
    struct document d = begin_document("pool");
    xmlNewProp(d.root, X("type"), X("dir"));
    xmlNewTextChild(d.root, NULL, X("name"), X(s->name));
    xmlNewTextChild(xmlNewChild(d.root, NULL, X("target"), NULL), NULL, X("path"), X(s->folder));
    char *xml = document_to_text(&d);
    s->pool = xml ? virStoragePoolDefineXML(connection, xml, 0) : NULL;
    free(xml);
    if (!s->pool)
        return virt_error(e, "defining the storage pool %s at %s", s->name, s->folder);
    if (virStoragePoolCreate(s->pool, VIR_STORAGE_POOL_CREATE_WITH_BUILD) < 0) {
        virt_error(e, "creating the storage pool %s at %s", s->name, s->folder);
        virStoragePoolUndefine(s->pool);
        return -1;
    }
    virStoragePoolSetAutostart(s->pool, 1);
    return 0;
}

/* A pool with our name in another folder does not belong to this lab. */
static int check_folder(const struct storage *s, struct error *e)
{
    char *xml = virStoragePoolGetXMLDesc(s->pool, 0);
    if (!xml)
        return virt_error(e, "reading the storage pool %s", s->name);
    struct text path = {0};
    text_add(&path, "<path>%s</path>", s->folder);
    bool ours = strstr(xml, text_string(&path));
    text_free(&path);
    free(xml);
    return ours ? 0
                : error_set(e,
                            "the storage pool %s is not at %s and belongs to something else: rename the lab "
                            "or the pool",
                            s->name, s->folder);
}

static int use_pool(struct storage *s, struct error *e)
{
    if (check_folder(s, e) != 0)
        return -1;
    if (virStoragePoolIsActive(s->pool) != 1 &&
        virStoragePoolCreate(s->pool, VIR_STORAGE_POOL_CREATE_WITH_BUILD) < 0)
        return virt_error(e, "starting the storage pool %s", s->name);
    if (virStoragePoolRefresh(s->pool, 0) < 0)
        return virt_error(e, "reading the storage pool %s", s->name);
    return 0;
}

int storage_plan(const struct lab *lab, struct storage *s, struct error *e)
{
    struct text name = {0};
    text_add(&name, "harness-%s", lab->name);
    *s = (struct storage){.folder = folder_of(lab, e), .name = text_take(&name)};
    if (s->folder && s->name)
        return 0;
    storage_close(s);
    return -1;
}

int storage_open(struct virt *v, const struct lab *lab, bool make, struct storage *s, struct error *e)
{
    virConnectPtr connection = virt_connection(v);
    if (!connection)
        return error_set(e, "the connection to libvirt was lost");
    if (storage_plan(lab, s, e) != 0)
        return -1;
    s->pool = virStoragePoolLookupByName(connection, s->name);
    int result = s->pool ? use_pool(s, e) : make ? make_pool(connection, s, e) : 0;
    if (result != 0)
        storage_close(s);
    return result;
}

void storage_close(struct storage *s)
{
    if (s->pool)
        virStoragePoolFree(s->pool);
    free(s->folder);
    free(s->name);
    *s = (struct storage){0};
}

char *storage_path(const struct storage *s, const char *volume)
{
    struct text path = {0};
    text_add(&path, "%s/%s", s->folder, volume);
    return text_take(&path);
}

/* ---- volumes */

bool storage_has(const struct storage *s, const char *volume)
{
    virStorageVolPtr found = s->pool ? virStorageVolLookupByName(s->pool, volume) : NULL;
    if (found)
        virStorageVolFree(found);
    return found;
}

int storage_delete(const struct storage *s, const char *volume, struct error *e)
{
    virStorageVolPtr found = s->pool ? virStorageVolLookupByName(s->pool, volume) : NULL;
    int result = found ? virStorageVolDelete(found, 0) : 0;
    if (result < 0)
        virt_error(e, "deleting %s from the storage pool %s", volume, s->name);
    if (found)
        virStorageVolFree(found);
    return result < 0 ? -1 : 0;
}

/* Create a volume of `bytes` (0: unspecified) with the volume `base` as its backing file (NULL: none). */
static virStorageVolPtr create_volume(const struct storage *s, const char *volume, int64_t bytes,
                                      const char *format, const char *base, struct error *e)
{
    char size[24];
    struct document d = begin_document("volume");
    char *base_path = base ? storage_path(s, base) : NULL;
    snprintf(size, sizeof size, "%lld", (long long)bytes);
    xmlNewTextChild(d.root, NULL, X("name"), X(volume));
    if (bytes || !base)
        xmlNewTextChild(d.root, NULL, X("capacity"), X(size));
    xmlNewTextChild(d.root, NULL, X("allocation"), X("0"));
    add_format(xmlNewChild(d.root, NULL, X("target"), NULL), format);
    if (base_path) {
        xmlNodePtr store = xmlNewChild(d.root, NULL, X("backingStore"), NULL);
        xmlNewTextChild(store, NULL, X("path"), X(base_path));
        add_format(store, "qcow2");
    }
    char *xml = document_to_text(&d);
    virStorageVolPtr made = xml ? virStorageVolCreateXML(s->pool, xml, 0) : NULL;
    if (!made)
        virt_error(e, "creating %s in the storage pool %s (%s)", volume, s->name, s->folder);
    free(xml);
    free(base_path);
    return made;
}

/* The size of a volume, for an overlay that must name its own. */
static int64_t capacity_of(const struct storage *s, const char *volume)
{
    virStorageVolInfo info = {0};
    virStorageVolPtr found = virStorageVolLookupByName(s->pool, volume);
    if (found)
        virStorageVolGetInfo(found, &info);
    if (found)
        virStorageVolFree(found);
    return (int64_t)info.capacity;
}

int storage_overlay(const struct storage *s, const char *volume, const char *base, int64_t bytes,
                    struct error *e)
{
    int64_t base_bytes = capacity_of(s, base);
    if (storage_delete(s, volume, e) != 0)
        return -1;
    virStorageVolPtr made =
        create_volume(s, volume, bytes > base_bytes ? bytes : base_bytes, "qcow2", base, e);
    if (made)
        virStorageVolFree(made);
    return made ? 0 : -1;
}

/* ---- upload */

static int send_file(virStreamPtr stream, char *data, size_t length, void *fd)
{
    (void)stream;
    return (int)read(*(int *)fd, data, length);
}

static int upload_volume(virConnectPtr connection, virStorageVolPtr volume, int fd, int64_t bytes,
                         struct error *e)
{
    virStreamPtr stream = virStreamNew(connection, 0);
    int result = -1;
    if (stream && virStorageVolUpload(volume, stream, 0, (unsigned long long)bytes, 0) == 0) {
        if (virStreamSendAll(stream, send_file, &fd) < 0)
            virStreamAbort(stream);
        else
            result = virStreamFinish(stream);
    }
    if (result < 0)
        virt_error(e, "copying to %s", virStorageVolGetName(volume));
    if (stream)
        virStreamFree(stream);
    return result < 0 ? -1 : 0;
}

/* libvirt would report the lack of space only during the copy, and without the numbers. */
static int check_room(const struct storage *s, int64_t bytes, struct error *e)
{
    virStoragePoolInfo info = {0};
    if (virStoragePoolGetInfo(s->pool, &info) < 0)
        return virt_error(e, "reading the free space of the storage pool %s", s->name);
    if (info.available >= (unsigned long long)bytes + (64ull << 20))
        return 0;
    return error_set(
        e,
        "the storage pool %s (%s) has %llu MiB free, %lld MiB are needed: free some space, or name "
        "another folder in "
        "the lab's \"pool\"",
        s->name, s->folder, info.available >> 20, (long long)(bytes >> 20) + 64);
}

int storage_upload(struct virt *v, const struct storage *s, const char *volume, const char *local,
                   const char *format, struct error *e)
{
    struct stat status;
    virConnectPtr connection = virt_connection(v);
    int fd = open(local, O_RDONLY | O_CLOEXEC), result = -1;
    virStorageVolPtr made = NULL;
    if (fd < 0 || fstat(fd, &status) != 0)
        error_set_errno(e, errno, "opening %s", local);
    else if (connection && storage_delete(s, volume, e) == 0 && check_room(s, status.st_size, e) == 0)
        made = create_volume(s, volume, status.st_size, format, NULL, e);
    if (made)
        result = upload_volume(connection, made, fd, status.st_size, e);
    if (made && result != 0)
        virStorageVolDelete(made, 0);
    if (made)
        virStorageVolFree(made);
    if (fd >= 0)
        close(fd);
    return result;
}

int storage_remove(struct storage *s, struct error *e)
{
    virStorageVolPtr *volumes = NULL;
    if (!s->pool)
        return 0;
    int count = virStoragePoolListAllVolumes(s->pool, &volumes, 0), result = 0;
    for (int i = 0; i < count; i++) {
        if (virStorageVolDelete(volumes[i], 0) < 0)
            result = virt_error(e, "deleting %s from the storage pool %s", virStorageVolGetName(volumes[i]),
                                s->name);
        virStorageVolFree(volumes[i]);
    }
    free(volumes);
    if (result != 0)
        return -1;
    if (virStoragePoolDestroy(s->pool) < 0)
        return virt_error(e, "stopping the storage pool %s", s->name);
    virStoragePoolDelete(s->pool,
                         VIR_STORAGE_POOL_DELETE_NORMAL); /* its folder may contain files of others */
    if (virStoragePoolUndefine(s->pool) < 0)
        return virt_error(e, "undefining the storage pool %s", s->name);
    return 0;
}
