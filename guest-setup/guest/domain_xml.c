#include "guest-setup/guest/domain_xml.h"

#include "remote/mark.h"
#include "lib/text.h"
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(text) ((const xmlChar *)(text))

/* ---- building */

/* Add a child element with attributes: name, key, value, key, value, ..., NULL. An attribute with the value
 * NULL is left out. */
static xmlNodePtr add_element(xmlNodePtr parent, const char *const words[])
{
    xmlNodePtr node = xmlNewChild(parent, NULL, X(words[0]), NULL);
    for (size_t i = 1; words[i]; i += 2)
        if (words[i + 1])
            xmlNewProp(node, X(words[i]), X(words[i + 1]));
    return node;
}
#define ELEMENT(parent, ...) add_element(parent, (const char *const[]){__VA_ARGS__, NULL})

/* A child element with text. */
static xmlNodePtr add_text_element(xmlNodePtr parent, const char *name, const char *content)
{
    return xmlNewTextChild(parent, NULL, X(name), X(content));
}

static const char *decimal_text(char buffer[24], long long value)
{
    snprintf(buffer, 24, "%lld", value);
    return buffer;
}

static char *document_to_text(xmlDocPtr document, struct error *e)
{
    xmlChar *bytes = NULL;
    int length = 0;
    char *text = NULL;
    xmlDocDumpFormatMemory(document, &bytes, &length, 1);
    if (bytes)
        text = strdup((const char *)bytes);
    if (!text)
        error_set(e, "out of memory");
    xmlFree(bytes);
    return text;
}

static int add_mark(xmlNodePtr root, const struct mark *mark, struct error *e)
{
    char *xml = mark_xml(mark);
    xmlDocPtr document = xml ? xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET) : NULL;
    free(xml);
    if (!document)
        return error_set(e, "out of memory");
    xmlAddChild(ELEMENT(root, "metadata"), xmlDocCopyNode(xmlDocGetRootElement(document), root->doc, 1));
    xmlFreeDoc(document);
    return 0;
}

/* ---- placement */

static int add_pins(xmlNodePtr tune, const struct lab_host *host, struct error *e)
{
    unsigned *cpus;
    size_t count;
    if (cpu_list_parse(host->pin.vcpus, &cpus, &count, e) != 0)
        return error_prefix(e, "hosts.%s.pin.vcpus", lab_guest_name(host));
    for (size_t i = 0; i < count; i++) {
        char vcpu[24], cpu[24];
        ELEMENT(tune, "vcpupin", "vcpu", decimal_text(vcpu, (long long)i), "cpuset",
                decimal_text(cpu, cpus[i]));
    }
    free(cpus);
    return 0;
}

static int add_placement(xmlNodePtr root, const struct lab_host *host, struct error *e)
{
    const struct lab_pin *pin = &host->pin;
    char size[24];
    if (pin->hugepage_bytes != FIELD_UNSET) {
        xmlNodePtr pages = ELEMENT(ELEMENT(root, "memoryBacking"), "hugepages");
        ELEMENT(pages, "page", "size", decimal_text(size, pin->hugepage_bytes / 1024), "unit", "KiB");
    }
    if (pin->vcpus || pin->emulator) {
        xmlNodePtr tune = ELEMENT(root, "cputune");
        if (pin->vcpus && add_pins(tune, host, e) != 0)
            return -1;
        if (pin->emulator)
            ELEMENT(tune, "emulatorpin", "cpuset", pin->emulator);
    }
    if (pin->memory)
        ELEMENT(ELEMENT(root, "numatune"), "memory", "mode", "strict", "nodeset", pin->memory);
    return 0;
}

/* ---- machine */

static void add_boot(xmlNodePtr root, const struct domain_parts *parts)
{
    xmlNodePtr os = ELEMENT(root, "os");
    if (parts->boot == BOOT_EFI)
        xmlNewProp(os, X("firmware"), X("efi"));
    xmlNodePtr type = add_text_element(os, "type", "hvm");
    xmlNewProp(type, X("arch"), X("x86_64"));
    xmlNewProp(type, X("machine"), X("q35"));
    if (parts->boot == BOOT_KERNEL) {
        add_text_element(os, "kernel", parts->kernel);
        add_text_element(os, "initrd", parts->initrd);
        add_text_element(os, "cmdline", parts->cmdline);
    } else {
        ELEMENT(os, "boot", "dev", "hd");
    }
}

/* Without KVM, QEMU takes `rep movsb` byte by byte. A processor that calls it fast has the guest's kernel
 * copy all memory with it: with QEMU 7.2 that is 5 times slower than `rep movsq`, which the kernel takes
 * else. */
static void leave_out_slow_copies(xmlNodePtr cpu)
{
    static const char *const features[] = {"erms", "fsrm"};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        ELEMENT(cpu, "feature", "policy", "disable", "name", features[i]);
}

static void add_machine(xmlNodePtr root, const struct lab_host *host, const struct domain_parts *parts)
{
    char cores[24];
    bool kvm = strcmp(parts->type, "kvm") == 0;
    xmlNodePtr features = ELEMENT(root, "features");
    ELEMENT(features, "acpi");
    ELEMENT(features, "apic");
    if (!kvm) /* the default is up to 1 GiB for translated code */
        xmlNodeAddContent(ELEMENT(ELEMENT(features, "tcg"), "tb-cache", "unit", "MiB"), X("512"));
    xmlNodePtr cpu = ELEMENT(root, "cpu", "mode", kvm ? "host-passthrough" : "maximum");
    if (kvm) {
        xmlNewProp(cpu, X("check"), X("none"));
        xmlNewProp(cpu, X("migratable"), X("off"));
    }
    ELEMENT(cpu, "topology", "sockets", "1", "dies", "1", "cores", decimal_text(cores, host->vcpus),
            "threads", "1");
    if (!kvm)
        leave_out_slow_copies(cpu);
    ELEMENT(root, "clock", "offset", "utc");
    add_text_element(root, "on_poweroff", "destroy");
    add_text_element(root, "on_reboot", "restart");
    add_text_element(root, "on_crash", "destroy");
}

/* ---- devices */

static void add_disks(xmlNodePtr devices, const struct domain_parts *parts)
{
    xmlNodePtr disk = ELEMENT(devices, "disk", "type", "file", "device", "disk");
    ELEMENT(disk, "driver", "name", "qemu", "type", "qcow2", "cache", parts->safe_disk ? "none" : "unsafe",
            "discard", "unmap");
    ELEMENT(disk, "source", "file", parts->disk);
    ELEMENT(disk, "target", "dev", "vda", "bus", "virtio");
    xmlNodePtr seed = ELEMENT(devices, "disk", "type", "file", "device", "disk");
    ELEMENT(seed, "driver", "name", "qemu", "type", "raw");
    ELEMENT(seed, "source", "file", parts->seed);
    ELEMENT(seed, "target", "dev", "vdb", "bus", "virtio");
    ELEMENT(seed, "readonly");
}

static void add_port(xmlNodePtr devices, const struct wiring_port *port)
{
    char number[24];
    if (port->plug == PLUG_FORWARD)
        return; /* add_forward */
    xmlNodePtr interface = ELEMENT(devices, "interface", "type", port->plug == PLUG_UDP ? "udp" : "network");
    ELEMENT(interface, "mac", "address", port->mac);
    if (port->plug == PLUG_UDP) { /* one end of a cable between two guests of the same user */
        xmlNodePtr source = ELEMENT(interface, "source", "address", "127.0.0.1", "port",
                                    decimal_text(number, port->peer_port));
        ELEMENT(source, "local", "address", "127.0.0.1", "port", decimal_text(number, port->local_port));
    } else {
        ELEMENT(interface, "source", "network", port->network);
    }
    ELEMENT(interface, "model", "type", "virtio");
    if (port->mtu && port->plug == PLUG_NETWORK) /* sockets carry frames of any length */
        ELEMENT(interface, "mtu", "size", decimal_text(number, port->mtu));
}

static void add_small_devices(xmlNodePtr devices, const struct domain_parts *parts)
{
    xmlNodePtr serial = ELEMENT(devices, "serial", "type", "pty");
    ELEMENT(serial, "log", "file", parts->console, "append", "off");
    ELEMENT(serial, "target", "port", "0");
    xmlNodePtr channel = ELEMENT(devices, "channel", "type", "unix");
    ELEMENT(channel, "target", "type", "virtio", "name", "org.qemu.guest_agent.0");
    xmlNodePtr rng = ELEMENT(devices, "rng", "model", "virtio");
    xmlNodePtr backend = add_text_element(rng, "backend", "/dev/urandom");
    xmlNewProp(backend, X("model"), X("random"));
    /* a balloon would take back memory that devices write to */
    ELEMENT(devices, "memballoon", "model", "none");
    ELEMENT(devices, "controller", "type", "usb", "model", "none");
}

static void hex_text(char buffer[16], unsigned value, int digits)
{
    snprintf(buffer, 16, "0x%0*x", digits, value & 0xffffff);
}

/* One function of a device of the machine, at `bus`:0.`function` of the guest. managed: libvirt binds it to
 * vfio-pci when the guest starts, and returns it when the guest ends. */
static void add_function(xmlNodePtr devices, const struct pci_address *a, unsigned bus, unsigned function,
                         bool several)
{
    char part[4][16], guest_bus[16], guest_function[16];
    hex_text(part[0], a->domain, 4);
    hex_text(part[1], a->bus, 2);
    hex_text(part[2], a->slot, 2);
    hex_text(part[3], a->function, 1);
    hex_text(guest_bus, bus, 2);
    hex_text(guest_function, function, 1);
    xmlNodePtr device = ELEMENT(devices, "hostdev", "mode", "subsystem", "type", "pci", "managed", "yes");
    ELEMENT(device, "driver", "name", "vfio");
    ELEMENT(ELEMENT(device, "source"), "address", "domain", part[0], "bus", part[1], "slot", part[2],
            "function", part[3]);
    ELEMENT(device, "address", "type", "pci", "domain", "0x0000", "bus", guest_bus, "slot", "0x00",
            "function", guest_function, "multifunction", several && function == 0 ? "on" : NULL);
}

/* Each card has a separate root port: bus `bus` of the guest. The functions of a card remain functions of one
 * device. */
static void add_card(xmlNodePtr devices, const struct pci_address *functions, size_t count, unsigned bus)
{
    char index[24];
    ELEMENT(devices, "controller", "type", "pci", "index", decimal_text(index, bus), "model",
            "pcie-root-port");
    for (size_t i = 0; i < count; i++)
        add_function(devices, &functions[i], bus, (unsigned)i, count > 1);
}

static bool same_card(const struct pci_address *a, const struct pci_address *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->slot == b->slot;
}

static void add_passthrough(xmlNodePtr devices, const struct domain_parts *parts)
{
    unsigned bus = 1;
    if (parts->nic_count + parts->gpu_count == 0)
        return;
    ELEMENT(devices, "controller", "type", "pci", "index", "0", "model", "pcie-root");
    for (size_t i = 0; i < parts->nic_count; i++)
        add_card(devices, &parts->nic[i], 1, bus++);
    for (size_t i = 0, count; i < parts->gpu_count; i += count) {
        count = 1;
        while (i + count < parts->gpu_count && same_card(&parts->gpu[i], &parts->gpu[i + count]))
            count++;
        add_card(devices, &parts->gpu[i], count, bus++);
    }
}

#define QEMU_URI "http://libvirt.org/schemas/domain/qemu/1.0"

/* QEMU's own network with a port forwarded to the guest's ssh. libvirt has no element for the forwarding
 * before 9.0 with passt, so it is passed to QEMU on its command line; at a slot of the root complex that
 * libvirt does not assign by itself. */
static void add_forward(xmlNodePtr root, const struct wiring_port *port)
{
    char netdev[120], device[120];
    const char *const words[] = {"-netdev", netdev, "-device", device};
    snprintf(netdev, sizeof netdev, "user,id=mgmt0,restrict=on,hostfwd=tcp:127.0.0.1:%d-10.0.2.15:22",
             port->local_port);
    snprintf(device, sizeof device, "virtio-net-pci,netdev=mgmt0,mac=%s,bus=pcie.0,addr=0x10", port->mac);
    xmlNsPtr ns = xmlNewNs(root, X(QEMU_URI), X("qemu"));
    xmlNodePtr line = xmlNewChild(root, ns, X("commandline"), NULL);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        xmlNewProp(xmlNewChild(line, ns, X("arg"), NULL), X("value"), X(words[i]));
}

/* ---- domain */

static void fill_mark(const struct lab *lab, const struct lab_host *host, const struct domain_parts *parts,
                      const struct wiring *wiring, struct mark *mark)
{
    memset(mark, 0, sizeof *mark);
    snprintf(mark->lab, sizeof mark->lab, "%s", lab->name);
    snprintf(mark->host, sizeof mark->host, "%s", lab_guest_name(host));
    snprintf(mark->user, sizeof mark->user, "%s", parts->user);
    snprintf(mark->mac, sizeof mark->mac, "%s", wiring->ports[0].mac);
    snprintf(mark->address, sizeof mark->address, "%s", wiring->ports[0].address);
    mark->address[strcspn(mark->address, "/")] = '\0';
    if (wiring->ports[0].plug == PLUG_FORWARD) {
        snprintf(mark->address, sizeof mark->address, "127.0.0.1");
        mark->port = wiring->ports[0].local_port;
    }
}

/* The same lab and host have the same UUID, so that a definition replaces the previous one. Version 8: a
 * custom rule (RFC 9562). */
static void make_uuid(const struct lab *lab, const struct lab_host *host, char uuid[37])
{
    uint64_t half[2] = {14695981039346656037u, 1099511628211u};
    const char *const parts[] = {MARK_URI, "/", lab->name, "/", lab_guest_name(host)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *c = parts[i]; *c; c++)
            for (size_t k = 0; k < 2; k++)
                half[k] = (half[k] ^ (unsigned char)*c) * 1099511628211u; /* FNV-1a with two initial values */
    snprintf(uuid, 37, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(half[0] >> 32),
             (unsigned)(half[0] >> 16) & 0xffff, (unsigned)half[0] & 0xfff,
             0x8000u | ((unsigned)(half[1] >> 48) & 0x3fff), (unsigned long long)(half[1] & 0xffffffffffffu));
}

static int fill_domain(xmlNodePtr root, const struct lab *lab, const struct lab_host *host,
                       const struct domain_parts *parts, const struct wiring *wiring, struct error *e)
{
    char value[24], uuid[37];
    struct mark mark;
    fill_mark(lab, host, parts, wiring, &mark);
    xmlNewProp(root, X("type"), X(parts->type));
    add_text_element(root, "name", host->domain);
    make_uuid(lab, host, uuid);
    add_text_element(root, "uuid", uuid);
    if (lab->title)
        add_text_element(root, "title", lab->title);
    if (add_mark(root, &mark, e) != 0)
        return -1;
    xmlNodePtr memory = add_text_element(root, "memory", decimal_text(value, host->memory_bytes / 1024));
    xmlNewProp(memory, X("unit"), X("KiB"));
    add_text_element(root, "vcpu", decimal_text(value, host->vcpus));
    if (add_placement(root, host, e) != 0)
        return -1;
    add_boot(root, parts);
    add_machine(root, host, parts);
    xmlNodePtr devices = ELEMENT(root, "devices");
    add_disks(devices, parts);
    for (size_t i = 0; i < wiring->count; i++)
        add_port(devices, &wiring->ports[i]);
    add_passthrough(devices, parts);
    add_small_devices(devices, parts);
    if (wiring->ports[0].plug == PLUG_FORWARD)
        add_forward(root, &wiring->ports[0]);
    return 0;
}

char *domain_xml(const struct lab *lab, const struct lab_host *host, const struct domain_parts *parts,
                 struct error *e)
{
    struct wiring wiring;
    char *text = NULL;
    if (wiring_of_guest(lab, host, &wiring, e) != 0)
        return NULL;
    xmlDocPtr document = xmlNewDoc(X("1.0"));
    xmlNodePtr root = xmlNewNode(NULL, X("domain"));
    xmlDocSetRootElement(document, root);
    if (fill_domain(root, lab, host, parts, &wiring, e) == 0)
        text = document_to_text(document, e);
    xmlFreeDoc(document);
    return text;
}

/* ---- network */

/* A bridge without spanning tree, DHCP, DNS or packet filter, which works like a cable; on the management
 * network the machine is connected too. */
char *network_xml(const struct lab *lab, const struct wiring_network *network, struct error *e)
{
    char value[24], *text = NULL;
    struct mark mark;
    memset(&mark, 0, sizeof mark);
    xmlDocPtr document = xmlNewDoc(X("1.0"));
    xmlNodePtr root = xmlNewNode(NULL, X("network"));
    xmlDocSetRootElement(document, root);
    snprintf(mark.lab, sizeof mark.lab, "%s", lab->name);
    add_text_element(root, "name", network->name);
    int result = add_mark(root, &mark, e);
    if (network->address[0])
        ELEMENT(root, "forward", "mode", "open");
    ELEMENT(root, "bridge", "stp", "off", "delay", "0");
    if (network->mtu)
        ELEMENT(root, "mtu", "size", decimal_text(value, network->mtu));
    if (network->address[0]) {
        ELEMENT(root, "dns", "enable", "no");
        ELEMENT(root, "ip", "address", network->address, "prefix", decimal_text(value, network->prefix));
    }
    if (result == 0)
        text = document_to_text(document, e);
    xmlFreeDoc(document);
    return text;
}
