#include "guest-setup/guest/passthrough.h"

#include "lib/files.h"
#include "lib/text.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- functions */

static char *device_path(const char *sysfs, const struct pci_address *a, const char *below)
{
    char address[16];
    struct text path = {0};
    text_add(&path, "%s/bus/pci/devices/%s%s%s", sysfs, pci_format(a, address), below ? "/" : "",
             below ? below : "");
    return text_take(&path);
}

static bool same_address(const struct pci_address *a, const struct pci_address *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->slot == b->slot && a->function == b->function;
}

size_t pci_functions(const char *sysfs, const struct pci_address *address, struct pci_address functions[8])
{
    size_t count = 0;
    for (unsigned f = 0; f < 8; f++) {
        struct pci_address a = *address;
        a.function = f;
        char *path = device_path(sysfs, &a, NULL);
        if (path && files_exist(path))
            functions[count++] = a;
        free(path);
    }
    return count;
}

/* ---- how the machine uses a device */

/* The last component of the target of a link in the device's folder, or NULL. */
static char *link_name(const char *sysfs, const struct pci_address *a, const char *link)
{
    char target[PATH_MAX];
    char *path = device_path(sysfs, a, link);
    ssize_t length = path ? readlink(path, target, sizeof target - 1) : -1;
    free(path);
    if (length <= 0)
        return NULL;
    target[length] = '\0';
    char *slash = strrchr(target, '/');
    return strdup(slash ? slash + 1 : target);
}

/* The driver bound to the device ("mlx5_core", "vfio-pci"), or NULL. The caller frees. */
static char *pci_driver(const char *sysfs, const struct pci_address *a)
{
    return link_name(sysfs, a, "driver");
}

/* The lines of a small file are compared without their newline. */
static bool file_says(const char *path, const char *wanted)
{
    char *line = files_read_line(path, NULL);
    bool equal = line && strcmp(line, wanted) == 0;
    free(line);
    return equal;
}

/* The name of the first entry of DEVICE/FOLDER for which `busy` holds. The caller frees. */
static char *first_busy(const char *sysfs, const struct pci_address *a, const char *folder,
                        bool (*busy)(const char *entry))
{
    char *path = device_path(sysfs, a, folder), *found = NULL;
    DIR *entries = path ? opendir(path) : NULL;
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        char *whole = entry->d_name[0] == '.' ? NULL : files_join(path, entry->d_name);
        if (whole && busy(whole))
            found = strdup(entry->d_name);
        free(whole);
    }
    if (entries)
        closedir(entries);
    free(path);
    return found;
}

static bool interface_is_up(const char *entry)
{
    char *state = files_join(entry, "operstate");
    bool up = state && file_says(state, "up");
    free(state);
    return up;
}

static bool is_there(const char *entry)
{
    return files_exist(entry);
}

static bool connector_shows(const char *entry)
{
    /* DEVICE/drm/card0/card0-HDMI-A-1/enabled */
    const char *card = strrchr(entry, '/') + 1;
    DIR *connectors = opendir(entry);
    bool shows = false;
    for (struct dirent *c; connectors && !shows && (c = readdir(connectors));) {
        struct text path = {0};
        text_add(&path, "%s/%s/enabled", entry, c->d_name);
        shows = strncmp(c->d_name, card, strlen(card)) == 0 && file_says(text_string(&path), "enabled");
        text_free(&path);
    }
    if (connectors)
        closedir(connectors);
    return shows;
}

/* Is the machine itself using the device? Then e says for what. */
static int check_unused(const char *sysfs, const struct pci_address *a, struct error *e)
{
    static const struct {
        const char *folder;
        bool (*busy)(const char *entry);
        const char *use, *advice;
    } uses[] = {
        {"net", interface_is_up, "its interface %s is up",
         "take the interface down (ip link set %s down) or choose another port"},
        {"drm", connector_shows, "a display is connected to %s", "use another card for the console"},
        {"nvme", is_there, "it is the disk controller %s", "choose a device other than %s"},
    };
    char address[16];
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        char *name = first_busy(sysfs, a, uses[i].folder, uses[i].busy);
        if (!name)
            continue;
        struct text sentence = {0};
        for (int part = 0; part < 2; part++) {
            const char *format = part ? uses[i].advice : uses[i].use, *gap = strstr(format, "%s");
            text_add_bytes(&sentence, format, gap ? (size_t)(gap - format) : strlen(format));
            text_add(&sentence, "%s%s%s", gap ? name : "", gap ? gap + 2 : "", part ? "" : ": ");
        }
        error_set(e, "PCI device %s is used by the machine itself, %s", pci_format(a, address),
                  text_string(&sentence));
        text_free(&sentence);
        free(name);
        return -1;
    }
    return 0;
}

/* ---- IOMMU group */

/* A PCI bridge is part of an IOMMU group but is never passed to a guest. */
static bool is_bridge(const char *sysfs, const struct pci_address *a)
{
    char *path = device_path(sysfs, a, "class"), *class = path ? files_read_line(path, NULL) : NULL;
    bool bridge = class && strncmp(class, "0x06", 4) == 0;
    free(path);
    free(class);
    return bridge;
}

static bool is_ours(const struct pci_address *a, const struct pci_address *ours, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (same_address(a, &ours[i]))
            return true;
    return false;
}

/* Every other device of the group must be passed to the same guest, be bound to vfio-pci, or have no
 * driver. */
static int check_neighbour(const char *sysfs, const struct pci_address *a, const char *name,
                           const char *group, const struct pci_address *ours, size_t count, struct error *e)
{
    char address[16];
    struct pci_address neighbour;
    if (pci_parse(name, &neighbour, NULL) != 0 || same_address(&neighbour, a) ||
        is_bridge(sysfs, &neighbour) || is_ours(&neighbour, ours, count))
        return 0;
    char *driver = pci_driver(sysfs, &neighbour);
    bool free_of_host = !driver || strcmp(driver, "vfio-pci") == 0;
    if (!free_of_host)
        error_set(e,
                  "PCI device %s shares IOMMU group %s with %s, which the machine uses (driver %s): pass "
                  "both to the "
                  "same guest, or move the card to a slot with a separate group",
                  pci_format(a, address), group, name, driver);
    free(driver);
    return free_of_host ? 0 : -1;
}

static int check_group(const char *sysfs, const struct pci_address *a, const struct pci_address *ours,
                       size_t count, struct error *e)
{
    char address[16];
    char *group = link_name(sysfs, a, "iommu_group"), *path = device_path(sysfs, a, "iommu_group/devices");
    int result = 0;
    if (!group || !path)
        result = error_set(
            e,
            "PCI device %s has no IOMMU group: the IOMMU is off; switch it on in the firmware (VT-d, "
            "AMD-Vi) and boot with intel_iommu=on on Intel, iommu=pt on both",
            pci_format(a, address));
    DIR *entries = result == 0 && path ? opendir(path) : NULL;
    for (struct dirent *entry; entries && result == 0 && (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            result = check_neighbour(sysfs, a, entry->d_name, group, ours, count, e);
    if (entries)
        closedir(entries);
    free(group);
    free(path);
    return result;
}

int pci_check(const char *sysfs, const struct pci_address *a, const struct pci_address *ours, size_t count,
              struct error *e)
{
    char address[16];
    char *path = device_path(sysfs, a, NULL);
    bool there = path && files_exist(path);
    free(path);
    if (!there)
        return error_set(e, "this machine has no PCI device %s: lspci lists its devices",
                         pci_format(a, address));
    char *driver = pci_driver(sysfs, a);
    bool with_vfio = driver && strcmp(driver, "vfio-pci") == 0;
    free(driver);
    if (!with_vfio && check_unused(sysfs, a, e) != 0)
        return -1;
    return check_group(sysfs, a, ours, count, e);
}

/* ---- binding */

static int write_device(const char *sysfs, const struct pci_address *a, const char *file, const char *value,
                        struct error *e)
{
    char *path = device_path(sysfs, a, file);
    int result = path ? files_write(path, value, e) : error_set(e, "out of memory");
    free(path);
    return result;
}

static int unbind_driver(const char *sysfs, const struct pci_address *a, struct error *e)
{
    char address[16];
    char *driver = pci_driver(sysfs, a);
    int result = driver ? write_device(sysfs, a, "driver/unbind", pci_format(a, address), e) : 0;
    free(driver);
    return result;
}

static int probe_driver(const char *sysfs, const struct pci_address *a, struct error *e)
{
    char address[16];
    struct text path = {0};
    text_add(&path, "%s/bus/pci/drivers_probe", sysfs);
    int result = files_write(text_string(&path), pci_format(a, address), e);
    text_free(&path);
    return result;
}

int pci_bind_vfio(const char *sysfs, const struct pci_address *a, struct error *e)
{
    char address[16];
    char *driver = pci_driver(sysfs, a);
    bool bound = driver && strcmp(driver, "vfio-pci") == 0;
    free(driver);
    if (bound)
        return 0;
    if (write_device(sysfs, a, "driver_override", "vfio-pci", e) != 0 || unbind_driver(sysfs, a, e) != 0 ||
        probe_driver(sysfs, a, e) != 0)
        return error_prefix(e, "binding PCI device %s to vfio-pci", pci_format(a, address));
    driver = pci_driver(sysfs, a);
    bound = driver && strcmp(driver, "vfio-pci") == 0;
    free(driver);
    return bound
               ? 0
               : error_set(
                     e, "PCI device %s was not bound to vfio-pci: is the module loaded (modprobe vfio-pci)?",
                     pci_format(a, address));
}

int pci_unbind_vfio(const char *sysfs, const struct pci_address *a, struct error *e)
{
    char address[16];
    char *driver = pci_driver(sysfs, a);
    bool with_vfio = driver && strcmp(driver, "vfio-pci") == 0;
    free(driver);
    /* a single newline clears the override: the device's own driver claims it again. A device that already
     * has its own driver is not unbound. */
    if (write_device(sysfs, a, "driver_override", "\n", e) != 0 ||
        (with_vfio && (unbind_driver(sysfs, a, e) != 0 || probe_driver(sysfs, a, e) != 0)))
        return error_prefix(e, "returning PCI device %s to its driver", pci_format(a, address));
    return 0;
}
