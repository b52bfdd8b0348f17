/* The XML of guests and networks, held against the published set-up and libvirt's schemas; the plan behind
 * it. */
#include "guest-setup/guest/domain_xml.h"
#include "remote/mark.h"
#include "lib/clock.h"
#include "lib/process.h"
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- labs */

/* vm00 of the published machine (remote-lab.net, March/April 2026): 28 virtual CPUs pinned one to one, 32 GiB
 * in 1 GiB pages, memory strictly from nodes 0 and 2, NIC 41:00.0, both functions of GPU 06:00. */
static const char published[] =
    "{'schema':1,'name':'geforce-pair','driver':'libvirt','hosts':{'a':{'domain':'vm00','profile':'p','vcpus'"
    ":28,"
    "'memory':'32GiB','pin':{'vcpus':'2-7,16-23,34-39,48-55','emulator':'0-1,32-33','memory':'0,2','hugepage'"
    ":'1GiB'},"
    "'nic':{'pci':'0000:41:00.0','address':'10.0.0.1/24'},'gpu':{'pci':'0000:06:00.0'}},"
    "'b':{'domain':'vm01','profile':'p','nic':{'pci':'0000:61:00.0'}}},'links':[{'between':['a','b']}]}";

static const char soft[] =
    "{'schema':1,'name':'soft','title':'<two> & "
    "more','driver':'libvirt','management':{'subnet':'198.51.100.64/26'},'hosts':{"
    "'a':{'domain':'soft-a','profile':'p','nic':{'netdev':'data0','address':'10.0.1.1/24'}},"
    "'sw':{'domain':'soft-sw','profile':'p','nic':{'netdev':'data1'},'extra_nics':[{'netdev':'data0','mac':'"
    "52:54:00:12:34:56'}]},"
    "'b':{'domain':'soft-b','profile':'p','nic':{'address':'10.0.1.2/24'}}},"
    "'links':[{'between':['a','sw'],'mtu':4200},{'between':['sw','b']}]}";

/* Two rails, whose links are in another order; a NIC and two GPUs of b are the machine's. */
static const char rails[] =
    "{'schema':1,'name':'rails','driver':'libvirt','management':{'subnet':'198.51.100.64/26'},'hosts':{"
    "'a':{'domain':'rails-a','profile':'p','nics':{'rail[0-1]':{'netdev':'roce{}','address':'10.0.{}.1/"
    "24'}}},"
    "'b':{'domain':'rails-b','profile':'q','nics':{'rail[0-1]':{'netdev':'data{}','address':'10.0.{}.2/24'},"
    "'far':{'pci':'0000:41:00.0'}},'gpus':{'gpu0':{'pci':'0000:06:00.0'},'gpu1':{'pci':'0000:07:00.0'}}}},"
    "'links':[{'between':['a.rail1','b.rail1'],'mtu':9000},{'between':['b.rail0','a.rail0']}]}";

static struct lab parse(const char *document)
{
    struct lab lab = {0};
    struct error e = {""};
    char *text = strdup(document);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *json = json_loads(text, 0, NULL), *whole = lab_expand(json, &e);
    if (!whole || lab_parse(whole, NULL, &lab, &e) != 0)
        fail_msg("%s", e.text);
    json_decref(json);
    json_decref(whole);
    free(text);
    return lab;
}

static const struct lab_host *host(const struct lab *lab, const char *name)
{
    return lab_real_host(lab, name);
}

/* ---- looking at XML */

struct look {
    xmlDocPtr document;
    xmlXPathContextPtr context;
};

static struct look look_at(const char *xml)
{
    struct look l = {xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET), NULL};
    assert_non_null(l.document);
    l.context = xmlXPathNewContext(l.document);
    return l;
}

static void look_away(struct look *l)
{
    xmlXPathFreeContext(l->context);
    xmlFreeDoc(l->document);
}

static void assert_xpath(struct look *l, const char *path, const char *wanted)
{
    char whole[400];
    snprintf(whole, sizeof whole, "string(%s)", path);
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)whole, l->context);
    assert_non_null(found);
    assert_string_equal((const char *)found->stringval, wanted);
    xmlXPathFreeObject(found);
}

/* Does libvirt's own schema agree? virt-xml-validate comes with libvirt's clients. */
static void assert_valid(const char *xml, const char *type)
{
    char path[] = "/tmp/test-domain.XXXXXX";
    struct text out = {0}, err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, xml, strlen(xml)), (ssize_t)strlen(xml));
    close(fd);
    const char *const argv[] = {"virt-xml-validate", path, type, NULL};
    int status = process_run(argv, NULL, &out, &err, 30 * NS_PER_S, NULL);
    unlink(path);
    if (status > 0)
        fail_msg("libvirt's schema: %s%s in %s", text_string(&out), text_string(&err), xml);
    text_free(&out);
    text_free(&err);
    if (status < 0)
        skip();
}

static struct domain_parts parts_of(void)
{
    return (struct domain_parts){.type = "kvm",
                                 .user = "root",
                                 .boot = BOOT_DISK,
                                 .disk = "/p/a.qcow2",
                                 .seed = "/p/a.seed",
                                 .console = "/p/a.console",
                                 .safe_disk = true};
}

/* ---- the published machine */

static char *published_xml(void)
{
    struct lab lab = parse(published);
    struct error e = {""};
    struct domain_parts parts = parts_of();
    struct pci_address nic = {0, 0x41, 0, 0}, gpu[2] = {{0, 6, 0, 0}, {0, 6, 0, 1}};
    parts.nic = &nic;
    parts.nic_count = 1;
    parts.gpu = gpu;
    parts.gpu_count = 2;
    char *xml = domain_xml(&lab, host(&lab, "a"), &parts, &e);
    if (!xml)
        fail_msg("%s", e.text);
    lab_free(&lab);
    return xml;
}

static void cpus_are_pinned_one_to_one(void **state)
{
    static const unsigned wanted[28] = {2,  3,  4,  5,  6,  7,  16, 17, 18, 19, 20, 21, 22, 23,
                                        34, 35, 36, 37, 38, 39, 48, 49, 50, 51, 52, 53, 54, 55};
    (void)state;
    char *xml = published_xml();
    struct look l = look_at(xml);
    assert_xpath(&l, "/domain/vcpu", "28");
    assert_xpath(&l, "count(/domain/cputune/vcpupin)", "28");
    for (unsigned i = 0; i < 28; i++) {
        char path[80], cpu[16];
        snprintf(path, sizeof path, "/domain/cputune/vcpupin[@vcpu='%u']/@cpuset", i);
        snprintf(cpu, sizeof cpu, "%u", wanted[i]);
        assert_xpath(&l, path, cpu);
    }
    assert_xpath(&l, "/domain/cputune/emulatorpin/@cpuset", "0-1,32-33");
    look_away(&l);
    free(xml);
}

static void memory_is_strict_and_huge(void **state)
{
    (void)state;
    char *xml = published_xml();
    struct look l = look_at(xml);
    assert_xpath(&l, "/domain/memory", "33554432");
    assert_xpath(&l, "/domain/memory/@unit", "KiB");
    assert_xpath(&l, "/domain/numatune/memory/@mode", "strict");
    assert_xpath(&l, "/domain/numatune/memory/@nodeset", "0,2");
    assert_xpath(&l, "/domain/memoryBacking/hugepages/page/@size", "1048576");
    assert_xpath(&l, "/domain/memoryBacking/hugepages/page/@unit", "KiB");
    assert_xpath(&l, "/domain/devices/memballoon/@model", "none");
    look_away(&l);
    free(xml);
}

static void cards_have_root_ports_of_their_own(void **state)
{
    (void)state;
    char *xml = published_xml();
    struct look l = look_at(xml);
    assert_xpath(&l, "count(//hostdev[@managed='yes'])", "3");
    assert_xpath(&l, "//hostdev[1]/source/address/@bus", "0x41");
    assert_xpath(&l, "//hostdev[2]/source/address/@bus", "0x06");
    assert_xpath(&l, "//hostdev[2]/source/address/@function", "0x0");
    assert_xpath(&l, "//hostdev[3]/source/address/@function", "0x1");
    assert_xpath(&l, "count(//controller[@model='pcie-root-port'])", "2");
    assert_xpath(&l,
                 "//hostdev[1]/address/@bus = concat('0x0', //controller[@model='pcie-root-port'][1]/@index)",
                 "true");
    assert_xpath(&l, "//hostdev[2]/address/@bus = //hostdev[3]/address/@bus", "true");
    assert_xpath(&l, "//hostdev[1]/address/@bus = //hostdev[2]/address/@bus", "false");
    assert_xpath(&l, "//hostdev[2]/address/@multifunction", "on");
    look_away(&l);
    assert_valid(xml, "domain");
    free(xml);
}

static void physical_links_make_no_networks(void **state)
{
    (void)state;
    struct lab lab = parse(published);
    struct wiring_network *networks;
    struct wiring wiring;
    size_t count;
    assert_int_equal(wiring_networks(&lab, &networks, &count, NULL), 0);
    assert_int_equal(count, 0);
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "a"), &wiring, NULL), 0);
    assert_int_equal(wiring.count, 1);
    assert_string_equal(wiring.ports[0].network, "default");
    assert_string_equal(wiring.ports[0].address, "");
    free(networks);
    lab_free(&lab);
}

/* ---- the soft lab */

static void links_become_ports(void **state)
{
    (void)state;
    struct lab lab = parse(soft);
    struct wiring a, sw, b;
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "a"), &a, NULL), 0);
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "sw"), &sw, NULL), 0);
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "b"), &b, NULL), 0);
    assert_int_equal(a.count, 2);
    assert_int_equal(sw.count, 3);
    assert_string_equal(a.ports[0].address, "198.51.100.75/26");
    assert_string_equal(sw.ports[0].address, "198.51.100.76/26");
    assert_string_equal(a.ports[1].network, sw.ports[1].network);
    assert_string_equal(b.ports[1].network, sw.ports[2].network);
    assert_string_equal(a.ports[1].address, "10.0.1.1/24");
    assert_string_equal(sw.ports[1].name, "data0");
    assert_string_equal(sw.ports[1].mac, "52:54:00:12:34:56");
    assert_string_equal(sw.ports[1].address, "");
    assert_int_equal(a.ports[1].mtu, 4200);
    assert_int_equal(b.ports[1].mtu, 0);
    assert_string_equal(b.ports[1].address, "10.0.1.2/24");
    assert_string_not_equal(a.ports[1].mac, b.ports[1].mac);
    lab_free(&lab);
}

static void a_guest_boots_its_kernel_directly(void **state)
{
    (void)state;
    struct lab lab = parse(soft);
    struct error e;
    struct domain_parts parts = parts_of();
    parts.type = "qemu";
    parts.boot = BOOT_KERNEL;
    parts.kernel = "/p/vmlinuz & co";
    parts.initrd = "/p/initrd";
    parts.cmdline = "console=ttyS0 a=\"<b>\"";
    parts.safe_disk = false;
    char *xml = domain_xml(&lab, host(&lab, "sw"), &parts, &e);
    struct look l = look_at(xml);
    assert_xpath(&l, "/domain/@type", "qemu");
    assert_xpath(&l, "/domain/title", "<two> & more");
    assert_xpath(&l, "/domain/os/kernel", "/p/vmlinuz & co");
    assert_xpath(&l, "/domain/os/cmdline", "console=ttyS0 a=\"<b>\"");
    assert_xpath(&l, "/domain/cpu/@mode", "maximum");
    assert_xpath(&l, "/domain/cpu/feature[@policy='disable']/@name", "erms");
    assert_xpath(&l, "count(//interface[@type='network'])", "3");
    assert_xpath(&l, "//interface[2]/mtu/@size", "4200");
    assert_xpath(&l, "count(//hostdev)", "0");
    assert_xpath(&l, "//serial/log/@file", "/p/a.console");
    look_away(&l);
    assert_valid(xml, "domain");
    free(xml);
    lab_free(&lab);
}

static void definitions_are_steady_and_differ_by_host(void **state)
{
    (void)state;
    struct lab lab = parse(soft);
    struct domain_parts parts = parts_of();
    char *first = domain_xml(&lab, host(&lab, "a"), &parts, NULL),
         *again = domain_xml(&lab, host(&lab, "a"), &parts, NULL);
    char *other = domain_xml(&lab, host(&lab, "b"), &parts, NULL);
    assert_string_equal(first, again);
    char uuid[43];
    snprintf(uuid, sizeof uuid, "%s", strstr(first, "<uuid>"));
    assert_non_null(strstr(again, uuid));
    assert_null(strstr(other, uuid));
    free(first);
    free(again);
    free(other);
    lab_free(&lab);
}

static void networks_are_cables(void **state)
{
    (void)state;
    struct lab lab = parse(soft);
    struct wiring_network *networks;
    size_t count;
    assert_int_equal(wiring_networks(&lab, &networks, &count, NULL), 0);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        char *xml = network_xml(&lab, &networks[i], NULL);
        struct look l = look_at(xml);
        assert_xpath(&l, "/network/bridge/@stp", "off");
        assert_xpath(&l, "count(/network/ip/dhcp)", "0");
        assert_xpath(&l, "/network/forward/@mode", i == 0 ? "open" : "");
        assert_xpath(&l, "/network/ip/@address", i == 0 ? "198.51.100.65" : "");
        assert_xpath(&l, "/network/mtu/@size", i == 1 ? "4200" : "");
        look_away(&l);
        assert_valid(xml, "network");
        free(xml);
    }
    free(networks);
    lab_free(&lab);
}

/* ---- a guest with several NICs */

static void a_guest_has_the_links_of_all_its_nics(void **state)
{
    (void)state;
    struct lab lab = parse(rails);
    struct wiring a, same, b;
    struct wiring_network *networks;
    size_t count;
    assert_int_equal(wiring_nodes(&lab, host(&lab, "a.rail1")), 2);
    assert_int_equal(wiring_nodes(&lab, host(&lab, "b.rail0")), 3);
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "a.rail0"), &a, NULL), 0);
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "a.rail1"), &same, NULL), 0);
    assert_int_equal(wiring_of_guest(&lab, host(&lab, "b.rail0"), &b, NULL), 0);
    assert_memory_equal(&a, &same, sizeof a);
    assert_int_equal(a.count, 3);
    assert_int_equal(b.count, 3);
    for (size_t i = 1; i < 3; i++) {
        char name[16], address[24];
        snprintf(name, sizeof name, "data%zu", i - 1);
        assert_string_equal(a.ports[i].name, name);
        assert_string_equal(b.ports[i].name, name);
        assert_string_equal(a.ports[i].network, b.ports[i].network);
        assert_string_equal(a.ports[i].peer_profile, "q");
        /* roce0 is made over data0, and has the address */
        assert_string_equal(a.ports[i].address, "");
        snprintf(address, sizeof address, "10.0.%zu.1/24", i - 1);
        assert_string_equal(a.ports[i].nic_address, address);
        snprintf(address, sizeof address, "10.0.%zu.2/24", i - 1);
        assert_string_equal(b.ports[i].address, address);
    }
    assert_int_equal(a.ports[1].mtu, 0);
    assert_int_equal(a.ports[2].mtu, 9000);
    assert_string_not_equal(a.ports[1].mac, a.ports[2].mac);
    assert_string_not_equal(a.ports[0].address, b.ports[0].address);
    assert_int_equal(wiring_networks(&lab, &networks, &count, NULL), 0);
    assert_int_equal(count, 3);
    free(networks);
    lab_free(&lab);
}

static void a_guest_is_one_domain(void **state)
{
    (void)state;
    struct lab lab = parse(rails);
    struct error e = {""};
    struct domain_parts parts = parts_of();
    struct pci_address nic = {0, 0x41, 0, 0}, gpu[3] = {{0, 6, 0, 0}, {0, 6, 0, 1}, {0, 7, 0, 0}};
    parts.nic = &nic;
    parts.nic_count = 1;
    parts.gpu = gpu;
    parts.gpu_count = 3;
    char *one = domain_xml(&lab, host(&lab, "b.rail0"), &parts, &e),
         *other = domain_xml(&lab, host(&lab, "b.rail1"), &parts, &e);
    assert_non_null(one);
    assert_string_equal(one, other);
    struct look l = look_at(one);
    assert_xpath(&l, "/domain/name", "rails-b");
    assert_xpath(&l, "/domain/metadata/*/@host", "b");
    assert_xpath(&l, "count(//interface[@type='network'])", "3");
    assert_xpath(&l, "count(//controller[@model='pcie-root-port'])", "3");
    assert_xpath(&l, "//hostdev[2]/address/@bus = //hostdev[3]/address/@bus", "true");
    assert_xpath(&l, "//hostdev[3]/address/@bus = //hostdev[4]/address/@bus", "false");
    assert_xpath(&l, "//hostdev[4]/address/@function", "0x0");
    look_away(&l);
    assert_valid(one, "domain");
    free(one);
    free(other);
    lab_free(&lab);
}

/* ---- what is refused */

static void cpu_lists(void **state)
{
    static const char *const bad[] = {
        "", ",", "1,", "1-", "-1", "3-2", "1--2", "a", "1 2", "4096", "0-99999999999", "1,,2", NULL};
    unsigned *cpus;
    size_t count;
    struct error e;
    (void)state;
    assert_int_equal(cpu_list_parse("0,2-4,9", &cpus, &count, &e), 0);
    assert_int_equal(count, 5);
    assert_int_equal(cpus[3], 4);
    free(cpus);
    for (size_t i = 0; bad[i]; i++) {
        if (cpu_list_parse(bad[i], &cpus, &count, &e) == 0)
            fail_msg("\"%s\" was taken", bad[i]);
        assert_null(cpus);
    }
}

static void subnets(void **state)
{
    static const char *const bad[] = {"198.51.100.1/26", "198.51.100.0", "198.51.100.0/29",
                                      "198.51.100.0/7",  "x/24",         "198.51.100.0/26x",
                                      "2001:db8::/64",   "/24",          NULL};
    struct lab lab = parse(soft);
    char *good = lab.management.subnet;
    struct wiring wiring;
    struct error e;
    (void)state;
    for (size_t i = 0; bad[i]; i++) {
        lab.management.subnet = strdup(bad[i]);
        if (wiring_of_guest(&lab, lab.hosts.items, &wiring, &e) == 0)
            fail_msg("\"%s\" was taken", bad[i]);
        assert_non_null(strstr(e.text, "management.subnet: "));
        free(lab.management.subnet);
    }
    lab.management.subnet = good;
    lab_free(&lab);
}

/* ---- the mark */

static void marks_survive_the_way_through_xml(void **state)
{
    (void)state;
    struct mark in = {"a<b>&\"'", "h", "root", "52:54:00:00:00:01", "198.51.100.11", 0}, out;
    char *xml = mark_xml(&in), whole[1000];
    struct error e;
    snprintf(whole, sizeof whole,
             "<domain><name>x</name><metadata><other xmlns='urn:x'/>%s</metadata></domain>", xml);
    assert_int_equal(mark_parse(whole, &out, &e), 1);
    assert_string_equal(out.lab, in.lab);
    assert_string_equal(out.address, in.address);
    assert_int_equal(mark_parse("<domain><guest/><metadata/></domain>", &out, &e), 0);
    assert_int_equal(mark_parse("<domain", &out, &e), -1);
    free(xml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_are_pinned_one_to_one),
        cmocka_unit_test(memory_is_strict_and_huge),
        cmocka_unit_test(cards_have_root_ports_of_their_own),
        cmocka_unit_test(physical_links_make_no_networks),
        cmocka_unit_test(links_become_ports),
        cmocka_unit_test(a_guest_boots_its_kernel_directly),
        cmocka_unit_test(definitions_are_steady_and_differ_by_host),
        cmocka_unit_test(networks_are_cables),
        cmocka_unit_test(a_guest_has_the_links_of_all_its_nics),
        cmocka_unit_test(a_guest_is_one_domain),
        cmocka_unit_test(cpu_lists),
        cmocka_unit_test(subnets),
        cmocka_unit_test(marks_survive_the_way_through_xml),
    };
    return cmocka_run_group_tests_name("domain_xml", tests, NULL, NULL);
}
