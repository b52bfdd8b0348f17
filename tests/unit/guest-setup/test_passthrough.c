/* What may be passed through, on sysfs trees that the test lays out as the kernel does. */
#include "guest-setup/guest/passthrough.h"
#include "lib/files.h"
#include "lib/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64];

static void folder(const char *format, const char *part)
{
    char path[300];
    int length = snprintf(path, sizeof path, "%s/", root);
    snprintf(path + length, sizeof path - (size_t)length, format, part);
    assert_int_equal(files_make_folders(path, NULL), 0);
}

static void file(const char *device, const char *name, const char *content)
{
    char path[300];
    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/%s", root, device, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void link_to(const char *device, const char *name, const char *target)
{
    char path[300];
    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/%s", root, device, name);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

/* A function with a class, an IOMMU group and a driver (NULL: none). */
static void device(const char *address, const char *class, const char *group, const char *driver)
{
    char target[300];
    folder("bus/pci/devices/%s", address);
    file(address, "class", class);
    if (group) {
        char member[300];
        snprintf(member, sizeof member, "%s/kernel/iommu_groups/%s/devices/%s", root, group, address);
        assert_int_equal(files_make_folders(member, NULL), 0);
        snprintf(target, sizeof target, "../../../../kernel/iommu_groups/%s", group);
        link_to(address, "iommu_group", target);
    }
    snprintf(target, sizeof target, "../../../../bus/pci/drivers/%s", driver ? driver : "");
    if (driver)
        link_to(address, "driver", target);
}

static int lay_out(void **state)
{
    (void)state;
    strcpy(root, "/tmp/test-pci.XXXXXX");
    assert_non_null(mkdtemp(root));
    device("0000:00:01.1", "0x060400\n", "13", "pcieport"); /* a bridge in the GPU's group */
    device("0000:06:00.0", "0x030000\n", "13", "nouveau");
    device("0000:06:00.1", "0x040300\n", "13", "snd_hda_intel");
    device("0000:41:00.0", "0x020000\n", "30", "mlx5_core");
    device("0000:41:00.1", "0x020000\n", "31", "mlx5_core");
    device("0000:61:00.0", "0x020000\n", NULL, "mlx5_core");
    folder("bus/pci/devices/%s", "0000:41:00.0/net/enp65s0f0np0");
    file("0000:41:00.0", "net/enp65s0f0np0/operstate", "down\n");
    return 0;
}

static int clear(void **state)
{
    (void)state;
    return files_remove_tree(root, NULL);
}

static struct pci_address at(const char *text)
{
    struct pci_address a;
    struct error e;
    if (pci_parse(text, &a, &e) != 0)
        fail_msg("%s", e.text);
    return a;
}

static void addresses(void **state)
{
    static const char *const bad[] = {
        "",        "41:00",         "0000:41:00.8", "0000:41:20.0",  "0000:41:00.0x",
        "g0:00.0", "0000:41:00.0 ", "-1:00.0",      "00000:41:00.0", " 41:00.0",
        NULL};
    char text[16];
    struct pci_address a = at("41:00.1");
    struct error e;
    (void)state;
    assert_string_equal(pci_format(&a, text), "0000:41:00.1");
    a = at("0001:ff:1f.7");
    assert_string_equal(pci_format(&a, text), "0001:ff:1f.7");
    for (size_t i = 0; bad[i]; i++)
        if (pci_parse(bad[i], &a, &e) == 0)
            fail_msg("\"%s\" was taken", bad[i]);
}

static void a_free_port_may_go(void **state)
{
    struct pci_address a = at("0000:41:00.0");
    struct error e = {""};
    (void)state;
    if (pci_check(root, &a, &a, 1, &e) != 0)
        fail_msg("%s", e.text);
}

static void an_absent_device_is_named(void **state)
{
    struct pci_address a = at("0000:42:00.0");
    struct error e;
    (void)state;
    assert_int_equal(pci_check(root, &a, &a, 1, &e), -1);
    assert_string_equal(e.text, "this machine has no PCI device 0000:42:00.0: lspci lists its devices");
}

static void a_port_in_use_stays(void **state)
{
    struct pci_address a = at("0000:41:00.0");
    struct error e;
    (void)state;
    file("0000:41:00.0", "net/enp65s0f0np0/operstate", "up\n");
    assert_int_equal(pci_check(root, &a, &a, 1, &e), -1);
    assert_string_equal(
        e.text,
        "PCI device 0000:41:00.0 is used by the machine itself, its interface enp65s0f0np0 is up: take the "
        "interface down (ip link set enp65s0f0np0 down) or choose another port");
    /* once vfio-pci has it, the machine does not */
    link_to("0000:41:00.0", "driver", "../../../../bus/pci/drivers/vfio-pci");
    assert_int_equal(pci_check(root, &a, &a, 1, &e), 0);
}

static void a_gpu_that_shows_the_console_stays(void **state)
{
    struct pci_address ours[2] = {at("0000:06:00.0"), at("0000:06:00.1")};
    struct error e;
    (void)state;
    folder("bus/pci/devices/%s", "0000:06:00.0/drm/card0/card0-HDMI-A-1");
    file("0000:06:00.0", "drm/card0/card0-HDMI-A-1/enabled", "enabled\n");
    assert_int_equal(pci_check(root, &ours[0], ours, 2, &e), -1);
    assert_non_null(strstr(e.text, "a display is connected to card0"));
    file("0000:06:00.0", "drm/card0/card0-HDMI-A-1/enabled", "disabled\n");
    assert_int_equal(pci_check(root, &ours[0], ours, 2, &e), 0);
}

static void a_group_goes_as_a_whole(void **state)
{
    struct pci_address ours[2] = {at("0000:06:00.0"), at("0000:06:00.1")};
    struct error e;
    (void)state;
    assert_int_equal(pci_check(root, &ours[0], ours, 2, &e), 0); /* the bridge in the group does no harm */
    assert_int_equal(pci_check(root, &ours[0], ours, 1, &e), -1);
    assert_string_equal(
        e.text,
        "PCI device 0000:06:00.0 shares IOMMU group 13 with 0000:06:00.1, which the machine uses (driver "
        "snd_hda_intel): pass both to the same guest, or move the card to a slot with a separate group");
}

static void without_iommu_nothing_goes(void **state)
{
    struct pci_address a = at("0000:61:00.0");
    struct error e;
    (void)state;
    assert_int_equal(pci_check(root, &a, &a, 1, &e), -1);
    assert_non_null(strstr(e.text, "PCI device 0000:61:00.0 has no IOMMU group: the IOMMU is off"));
}

static void functions_of_a_slot(void **state)
{
    struct pci_address found[8], gpu = at("0000:06:00.0"), none = at("0000:07:00.0");
    (void)state;
    assert_int_equal(pci_functions(root, &gpu, found), 2);
    assert_int_equal(found[1].function, 1);
    assert_int_equal(pci_functions(root, &none, found), 0);
}

static char *read_back(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return files_read(path, 100, NULL, NULL);
}

static void put(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void binding_writes_what_the_kernel_reads(void **state)
{
    struct pci_address a = at("0000:41:00.1");
    struct error e;
    char *written;
    (void)state;
    folder("bus/pci/drivers/%s", "mlx5_core");
    put("bus/pci/drivers/mlx5_core/unbind");
    put("bus/pci/drivers_probe");
    file("0000:41:00.1", "driver_override", "");
    /* no kernel answers here, so the driver stays, which is noticed */
    assert_int_equal(pci_bind_vfio(root, &a, &e), -1);
    assert_string_equal(
        e.text,
        "PCI device 0000:41:00.1 was not bound to vfio-pci: is the module loaded (modprobe vfio-pci)?");
    written = read_back("bus/pci/devices/0000:41:00.1/driver_override");
    assert_string_equal(written, "vfio-pci");
    free(written);
    written = read_back("bus/pci/drivers/mlx5_core/unbind");
    assert_string_equal(written, "0000:41:00.1");
    free(written);
    written = read_back("bus/pci/drivers_probe");
    assert_string_equal(written, "0000:41:00.1");
    free(written);
    /* a device that the machine has is left to it */
    put("bus/pci/drivers/mlx5_core/unbind");
    assert_int_equal(pci_unbind_vfio(root, &a, &e), 0);
    written = read_back("bus/pci/drivers/mlx5_core/unbind");
    assert_string_equal(written, "");
    free(written);
    link_to("0000:41:00.1", "driver", "../../../../bus/pci/drivers/vfio-pci");
    assert_int_equal(pci_bind_vfio(root, &a, &e), 0);
    /* and given back: override cleared, vfio-pci told to let go, drivers asked */
    folder("bus/pci/drivers/%s", "vfio-pci");
    put("bus/pci/drivers/vfio-pci/unbind");
    put("bus/pci/drivers_probe");
    assert_int_equal(pci_unbind_vfio(root, &a, &e), 0);
    written = read_back("bus/pci/devices/0000:41:00.1/driver_override");
    assert_string_equal(written, "\n");
    free(written);
    written = read_back("bus/pci/drivers/vfio-pci/unbind");
    assert_string_equal(written, "0000:41:00.1");
    free(written);
    written = read_back("bus/pci/drivers_probe");
    assert_string_equal(written, "0000:41:00.1");
    free(written);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lay_out, clear)
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        TEST(a_free_port_may_go),
        TEST(an_absent_device_is_named),
        TEST(a_port_in_use_stays),
        TEST(a_gpu_that_shows_the_console_stays),
        TEST(a_group_goes_as_a_whole),
        TEST(without_iommu_nothing_goes),
        TEST(functions_of_a_slot),
        TEST(binding_writes_what_the_kernel_reads),
    };
    return cmocka_run_group_tests_name("passthrough", tests, NULL, NULL);
}
