/* Texts and bytes that the kernel shows: netstat, PCI, requests over HTTP, small files below a root. */
#include "tests/unit/unit.h"

#include "collectors/sampler/http_server.h"
#include "collectors/sources/ip_text.h"
#include "collectors/facts/pci.h"
#include "collectors/sources/slow_files.h"
#include "collectors/sources/source.h"
#include "lib/kernel/sysfs.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"IpExtInCEPkts", "IpExtInECT0Pkts", "UdpInErrors", NULL};

static void netstat_pairs_are_matched(void **state)
{
    (void)state;
    static const char text[] =
        "TcpExt: SyncookiesSent InCEPkts\nTcpExt: 1 2\nIpExt: InNoRoutes InECT0Pkts InCEPkts\n"
        "IpExt: 5 18446744073709551615 77\nUdp: InDatagrams InErrors\nUdp: 9 3\n";
    int64_t values[3];
    ip_text_values(text, sizeof text - 1, names, values);
    assert_int_equal(values[0], 77);
    assert_int_equal(values[1], LINES_NULL); /* more than 63 bits */
    assert_int_equal(values[2], 3);
}

static void damaged_netstat_gives_nulls(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "IpExt:",
        "IpExt: InCEPkts\n",              /* the values are missing */
        "IpExt: InCEPkts\nTcpExt: 5\n",   /* others' values */
        "IpExt: InCEPkts\nIpExt:\n",      /* too few */
        "IpExt: InCEPkts\nIpExt: -5\n",   /* negative */
        "IpExt: InCEPkts\nIpExt: 5x\n",   /* no number */
        "IpExt InCEPkts\nIpExt 5\n",      /* no colon */
        "IpExtIn: CEPkts2\nIpExtIn: 5\n", /* another name */
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t values[3];
        ip_text_values(texts[i], strlen(texts[i]), names, values);
        assert_int_equal(values[0], LINES_NULL);
    }
}

/* ---- the virtual switch's file */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void counters_of_the_switch_are_lines(void **state)
{
    char root[] = "/tmp/test_switch.XXXXXX", path[200];
    struct error e;
    struct column_set columns = {0};
    int64_t values[3];
    (void)state;
    assert_non_null(mkdtemp(root));
    const struct target target = {.root = root};
    assert_null(source_switch.open(&target, &columns, &e));
    assert_non_null(strstr(e.text, "no switch of the module virtual_connectx"));
    snprintf(path, sizeof path, "mkdir -p %s/sys/kernel/debug/virtual-connectx/switch", root);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/sys/kernel/debug/virtual-connectx/switch/counters", root);
    write_text(path, "tx_pause 7\nport1_prio3_queue_bytes 18446744073709551615\nflooded 2\n");
    void *source = source_switch.open(&target, &columns, &e);
    assert_non_null(source);
    assert_int_equal(columns.count, 3);
    assert_int_equal(columns.items[0].counter->group, COUNTER_GROUP_PFC);
    assert_int_equal(columns.items[1].counter->group, COUNTER_GROUP_QUEUE);
    write_text(path, "tx_pause 9\nport1_prio3_queue_bytes 18446744073709551615\nflooded 3\n");
    assert_int_equal(source_switch.read(source, values, &e), SOURCE_OK);
    assert_int_equal(values[0], 9);
    assert_int_equal(values[1], LINES_NULL); /* more than 63 bits */
    assert_int_equal(values[2], 3);
    write_text(path, "tx_pause 9\n");
    assert_int_equal(source_switch.read(source, values, &e), SOURCE_CHANGED);
    write_text(path, "tx_pause 9\na 1\nb 2\nc 3\n");
    assert_int_equal(source_switch.read(source, values, &e), SOURCE_CHANGED);
    source_switch.close(source);
    column_set_free(&columns);
    snprintf(path, sizeof path, "rm -r %s", root);
    assert_int_equal(system(path), 0);
}

static int64_t slow(enum slow_text kind, const char *text)
{
    return slow_text_value(kind, text, strlen(text));
}

static void slow_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(slow(SLOW_NUMBER, "300\n"), 300);
    assert_int_equal(slow(SLOW_NUMBER, "-1\n"), -1);
    assert_int_equal(slow(SLOW_PORT_SPEED, "25000\n"), 25000);
    assert_int_equal(slow(SLOW_PORT_SPEED, "-1\n"), LINES_NULL); /* drivers/net/ethtool: SPEED_UNKNOWN */
    assert_int_equal(slow(SLOW_NUMBER, "3 00\n"), LINES_NULL);
    assert_int_equal(slow(SLOW_NUMBER, ""), LINES_NULL);
    assert_int_equal(slow(SLOW_LINK_SPEED, "8.0 GT/s PCIe\n"), 8000);
    assert_int_equal(slow(SLOW_LINK_SPEED, "2.5 GT/s PCIe\n"), 2500);
    assert_int_equal(slow(SLOW_LINK_SPEED, "64.0 GT/s PCIe"), 64000);
    assert_int_equal(slow(SLOW_LINK_SPEED, "8 GT/s"), 8000);
    assert_int_equal(slow(SLOW_LINK_SPEED, "Unknown\n"), LINES_NULL);
    assert_int_equal(slow(SLOW_LINK_SPEED, "nan GT/s PCIe"), LINES_NULL);
    assert_int_equal(slow(SLOW_LINK_SPEED, "1e300 GT/s"), LINES_NULL);
    assert_int_equal(slow(SLOW_AER_TOTAL, "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n"), 3);
    assert_int_equal(slow(SLOW_AER_TOTAL, "RxErr 1\n"), LINES_NULL);
    assert_int_equal(slow(SLOW_AER_TOTAL, "TOTAL_ERR_FATAL -3\n"), LINES_NULL);
    assert_int_equal(slow(SLOW_AER_TOTAL, "TOTAL_ERR_FATAL 99999999999999999999\n"), LINES_NULL);
}

/* ---- PCI */

static void addresses_are_recognised(void **state)
{
    (void)state;
    assert_true(pci_address_valid("0000:41:00.0"));
    assert_true(pci_address_valid("10000:e1:00.7"));
    static const char *const bad[] = {"",
                                      "41:00.0",
                                      "0000:41:00",
                                      "0000:41:00.8",
                                      "0000:4g:00.0",
                                      "0000:41:00.0/..",
                                      "0000:41:00.0 ",
                                      "../0000:41:00.0"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(pci_address_valid(bad[i]));
}

static struct pci_device device(const char *path, int64_t node)
{
    struct pci_device d = {.numa_node = node};
    assert_int_equal(pci_chain_parse(path, &d.chain, NULL), 0);
    memcpy(d.address, d.chain.addresses[d.chain.count - 1], PCI_ADDRESS);
    return d;
}

static void chains_are_taken_from_paths(void **state)
{
    (void)state;
    struct pci_chain c;
    struct error e;
    assert_int_equal(pci_chain_parse("/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/net/eth1", &c, &e),
                     0);
    assert_string_equal(c.host_bridge, "pci0000:40");
    assert_int_equal(c.count, 2);
    assert_string_equal(c.addresses[1], "0000:41:00.0");
    /* virtio hangs below its PCI function; VMD's domains are longer */
    assert_int_equal(pci_chain_parse("/sys/devices/pci0000:00/0000:00:03.0/virtio0", &c, &e), 0);
    assert_int_equal(c.count, 1);
    assert_int_equal(
        pci_chain_parse("/sys/devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0", &c, &e), 0);
    assert_string_equal(c.host_bridge, "pci10000:e0");
    assert_int_equal(pci_chain_parse("/sys/devices/platform/serial8250", &c, &e), -1);
    assert_int_equal(pci_chain_parse("/sys/devices/pci0000:00", &c, &e), -1);
    char deep[1024] = "/sys/devices/pci0000:00";
    for (size_t length = strlen(deep), i = 0; i < 40; i++)
        length += (size_t)snprintf(deep + length, sizeof deep - length, "/0000:00:01.0");
    assert_int_equal(pci_chain_parse(deep, &c, &e), -1);
}

static void relations_are_those_of_nvidia_smi(void **state)
{
    (void)state;
    struct pci_device nic = device("/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0", 0);
    struct pci_device own = device("/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:1b:00.0", 0);
    struct pci_device nested = device(
        "/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1c:00.0/0000:1d:01.0/0000:1f:00.0", 0);
    struct pci_device port = device("/pci0000:15/0000:15:02.0/0000:30:00.0", 0);
    struct pci_device node = device("/pci0000:37/0000:37:01.0/0000:38:00.0", 0);
    struct pci_device far = device("/pci0000:97/0000:97:01.0/0000:98:00.0", 1);
    struct pci_device somewhere = device("/pci0000:b7/0000:b7:01.0/0000:b8:00.0", -1);
    assert_int_equal(pci_relation(&nic, &nic, 2), PCI_SAME);
    assert_int_equal(pci_relation(&nic, &own, 2), PCI_PIX);
    assert_int_equal(pci_relation(&nic, &nested, 2), PCI_PXB);
    assert_int_equal(pci_relation(&nested, &nic, 2), PCI_PXB);
    assert_int_equal(pci_relation(&nic, &port, 2), PCI_PHB);
    assert_int_equal(pci_relation(&nic, &node, 2), PCI_NODE);
    assert_int_equal(pci_relation(&nic, &far, 2), PCI_SYS);
    assert_int_equal(pci_relation(&nic, &somewhere, 2), PCI_UNKNOWN);
    assert_int_equal(pci_relation(&nic, &somewhere, 1), PCI_NODE);
}

static void put32(uint8_t *bytes, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static void capabilities_are_found(void **state)
{
    (void)state;
    uint8_t bytes[PCI_CONFIG_BYTES] = {0};
    struct pci_config c;
    put32(bytes, 0x100, 0x15010001); /* AER, next at 0x150 */
    put32(bytes, 0x150, 0x2001000d); /* ACS, next at 0x200 */
    put32(bytes, 0x154, 0x001d005f); /* capability 5f, control 1d */
    put32(bytes, 0x200, 0x00010015); /* resizable BAR, last */
    put32(bytes, 0x204, 0x0001ffc0); /* 64 MiB (bit 6) to 8 GiB... */
    put32(bytes, 0x208, 0x00000821); /* BAR 1, one BAR, size 8: 256 MiB */
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_true(c.extended && c.acs.present);
    assert_int_equal(c.acs.control, PCI_ACS_SOURCE_VALIDATION | PCI_ACS_REQUEST_REDIRECT |
                                        PCI_ACS_COMPLETION_REDIRECT | PCI_ACS_UPSTREAM_FORWARDING);
    assert_true(c.bars[1].present);
    assert_int_equal(c.bars[1].current_bytes, 256 << 20);
    assert_int_equal(c.bars[1].largest_bytes, INT64_C(4) << 30); /* highest bit 16 less 4: 2^12 MiB */
    /* the same cut anywhere is read as far as it goes */
    for (size_t length = 0; length <= 0x20c; length++) {
        pci_config_parse(bytes, length, &c);
        assert_int_equal(c.extended, length == 0x20c); /* what is behind the cut is not known */
        assert_int_equal(c.acs.present, length >= 0x158);
    }
    /* without privilege only 64 bytes are there */
    pci_config_parse(bytes, 64, &c);
    assert_false(c.extended);
    /* a list that bites its tail ends */
    put32(bytes, 0x200, 0x10010015);
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_true(c.acs.present && !c.extended);
    /* registers of a device that is gone read as ones */
    memset(bytes, 0xff, sizeof bytes);
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_false(c.acs.present || c.extended);
    /* no extended capabilities at all */
    memset(bytes, 0, sizeof bytes);
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_true(c.extended && !c.acs.present);
}

/* What lspci shows as "RlxdOrd+" of DevCtl. */
static void relaxed_ordering_is_found(void **state)
{
    (void)state;
    uint8_t bytes[PCI_CONFIG_BYTES] = {[0x06] = 0x10, [0x34] = 0x48};
    struct pci_config c;
    put32(bytes, 0x48, 0x00006001); /* power management, next at 0x60 */
    put32(bytes, 0x60, 0x00020010); /* PCI Express, last */
    put32(bytes, 0x68, 0x00002810); /* Device Control: relaxed ordering, no snoop, reads of 512 bytes */
    for (size_t length = 0; length <= 256; length++) {
        pci_config_parse(bytes, length, &c);
        assert_int_equal(c.express.present, length >= 0x6a);
    }
    assert_int_equal(c.express.control, 0x2810);
    assert_true(c.express.control & PCI_EXPRESS_RELAXED_ORDERING);
    bytes[0x06] = 0; /* no list */
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_false(c.express.present);
    bytes[0x06] = 0x10;
    bytes[0x60] = 0x05; /* a list that bites its tail ends */
    bytes[0x61] = 0x48;
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_false(c.express.present);
    memset(bytes, 0xff, sizeof bytes);
    pci_config_parse(bytes, sizeof bytes, &c);
    assert_false(c.express.present);
}

static void resources_have_sizes(void **state)
{
    (void)state;
    uint64_t bars[PCI_BARS];
    pci_bars_parse("0x00000000c0000000 0x00000000c0ffffff 0x0000000000040200\n"
                   "0x0000380000000000 0x00003807ffffffff 0x000000000014220c\n"
                   "0x0000000000000000 0x0000000000000000 0x0000000000000000\nnonsense\n",
                   bars);
    assert_int_equal(bars[0], 16 << 20);
    assert_int_equal(bars[1], INT64_C(32) << 30);
    assert_int_equal(bars[2], 0);
    assert_int_equal(bars[3], 0);
    assert_int_equal(bars[5], 0);
}

/* ---- HTTP */

static enum http_request ask(const char *text, bool *head)
{
    return http_request_parse(text, strlen(text), head);
}

static void requests_are_understood(void **state)
{
    (void)state;
    bool head;
    assert_int_equal(ask("GET /metrics HTTP/1.1\r\n", &head), HTTP_INCOMPLETE);
    assert_int_equal(ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", &head), HTTP_METRICS);
    assert_false(head);
    assert_int_equal(ask("HEAD /metrics?x=1 HTTP/1.0\n\n", &head), HTTP_METRICS);
    assert_true(head);
    assert_int_equal(ask("GET / HTTP/1.1\r\n\r\n", &head), HTTP_ROOT);
    assert_int_equal(ask("GET /metricss HTTP/1.1\r\n\r\n", &head), HTTP_NOT_FOUND);
    assert_int_equal(ask("PUT /metrics HTTP/1.1\r\n\r\n", &head), HTTP_BAD_METHOD);
    assert_int_equal(ask("GET /metrics\r\n\r\n", &head), HTTP_BAD);
    assert_int_equal(ask("\r\n\r\n", &head), HTTP_BAD);
    assert_int_equal(ask(" \n\n", &head), HTTP_BAD);
}

/* ---- small files */

static void put(const char *root, const char *name, const char *text, size_t length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text, 1, length, file);
    fclose(file);
}

static void files_are_read_below_a_root(void **state)
{
    (void)state;
    char root[] = "/tmp/test-sysfs.XXXXXX", text[16], path[512];
    int64_t number;
    assert_non_null(mkdtemp(root));
    put(root, "n", "300\n", 4);
    put(root, "hex", "0x10de\n", 7);
    put(root, "two", "a\tb  \nsecond\n", 13);
    put(root, "binary", "\x01\xff\0x", 4);
    put(root, "long", "0123456789012345678901234567890", 31);
    assert_true(sysfs_number(&number, root, "/%s", "n") && number == 300);
    assert_true(sysfs_number(&number, root, "/hex") && number == 0x10de);
    assert_false(sysfs_number(&number, root, "/two"));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sysfs_text(text, sizeof text, root, "/two"), 3);
    assert_string_equal(text, "a b");
    assert_int_equal(sysfs_text(text, sizeof text, root, "/binary"), 2);
    assert_string_equal(text, "??");
    assert_int_equal(sysfs_text(text, sizeof text, root, "/long"), 15);
    assert_int_equal(sysfs_text(text, sizeof text, root, "/missing"), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(text, "");
    /* links inside the tree and out of it */
    snprintf(path, sizeof path, "%s/inside", root);
    assert_int_equal(symlink("n", path), 0);
    char *found = sysfs_resolve(root, "/inside");
    assert_string_equal(found, "/n");
    free(found);
    snprintf(path, sizeof path, "%s/outside", root);
    assert_int_equal(symlink("/etc", path), 0);
    assert_null(sysfs_resolve(root, "/outside"));
    assert_int_equal(sysfs_link(text, sizeof text, root, "/outside"), 3);
    struct sysfs_names list = sysfs_list(root, "/");
    assert_int_equal(list.count, 7);
    assert_string_equal(list.items[0], "binary");
    for (size_t i = 0; i < list.count; i++) {
        snprintf(path, sizeof path, "%s/%s", root, list.items[i]);
        unlink(path);
    }
    sysfs_names_free(&list);
    assert_int_equal(rmdir(root), 0);
    assert_false(sysfs_safe_name("..") || sysfs_safe_name("a/b") || sysfs_safe_name("") ||
                 sysfs_safe_name("a b"));
    assert_true(sysfs_safe_name("eth0.100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(netstat_pairs_are_matched),         cmocka_unit_test(damaged_netstat_gives_nulls),
        cmocka_unit_test(counters_of_the_switch_are_lines),  cmocka_unit_test(slow_files_are_read),
        cmocka_unit_test(addresses_are_recognised),          cmocka_unit_test(chains_are_taken_from_paths),
        cmocka_unit_test(relations_are_those_of_nvidia_smi), cmocka_unit_test(capabilities_are_found),
        cmocka_unit_test(relaxed_ordering_is_found),         cmocka_unit_test(resources_have_sizes),
        cmocka_unit_test(requests_are_understood),           cmocka_unit_test(files_are_read_below_a_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
