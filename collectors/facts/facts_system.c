/* Facts of the machine and its kernel. */
#include "collectors/facts/facts.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *facts_line(const char *root, const char *format, ...)
{
    char path[512], text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof path || sysfs_text(text, sizeof text, root, "%s", path) <= 0)
        return json_null();
    return json_text(text);
}

/* One value of a file of NAME="value" lines. */
static json_t *os_name(const char *root)
{
    char text[4096], name[128] = "";
    ssize_t length = sysfs_bytes(text, sizeof text - 1, root, "/etc/os-release");
    text[length > 0 ? length : 0] = '\0';
    const char *at = strncmp(text, "PRETTY_NAME=", 12) == 0 ? text : strstr(text, "\nPRETTY_NAME=");
    if (!at)
        return json_null();
    at = strchr(at, '=') + 1;
    at += *at == '"';
    for (size_t i = 0; i + 1 < sizeof name && isprint((unsigned char)at[i]) && at[i] != '"'; i++) {
        name[i] = at[i];
        name[i + 1] = '\0';
    }
    return json_text(name);
}

/* A kernel parameter is a separate word: "iommu=pt". */
static bool has_word(const char *line, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(line, word); at; at = strstr(at + 1, word))
        if ((at == line || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* True in a guest. The processor's "hypervisor" flag shows it; firmware tables name the hypervisor. */
static json_t *hypervisor(const char *root)
{
    char vendor[128], processor[16384];
    static const char *const known[] = {
        "QEMU", "VMware", "Microsoft Corporation", "Xen", "KVM", "Amazon", "Google", "innotek", "Parallels"};
    (void)sysfs_text(vendor, sizeof vendor, root, "/sys/class/dmi/id/sys_vendor");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(vendor, known[i], strlen(known[i])) == 0)
            return json_text(vendor);
    ssize_t length = sysfs_bytes(processor, sizeof processor - 1, root, "/proc/cpuinfo");
    if (length <= 0)
        return json_null();
    processor[length] = '\0';
    char *flags = strstr(processor, "\nflags");
    if (!flags)
        return json_null();
    flags[1 + strcspn(flags + 1, "\n")] = '\0';
    return has_word(flags, "hypervisor") ? json_text("unknown") : json_false();
}

/* How many CPUs have which frequency governor. */
static json_t *governors(const char *root)
{
    json_t *counts = json_object();
    struct sysfs_names cpus = sysfs_list(root, "/sys/devices/system/cpu");
    for (size_t i = 0; i < cpus.count; i++) {
        char governor[64];
        if (strncmp(cpus.items[i], "cpu", 3) != 0 || !isdigit((unsigned char)cpus.items[i][3]) ||
            sysfs_text(governor, sizeof governor, root, "/sys/devices/system/cpu/%s/cpufreq/scaling_governor",
                       cpus.items[i]) <= 0)
            continue;
        json_int_t count = json_integer_value(json_object_get(counts, governor));
        json_put(counts, governor, json_integer(count + 1));
    }
    sysfs_names_free(&cpus);
    return counts;
}

static json_t *huge_pages(const char *root)
{
    json_t *list = json_array();
    struct sysfs_names sizes = sysfs_list(root, "/sys/kernel/mm/hugepages");
    for (size_t i = 0; i < sizes.count; i++) {
        long long kilobytes;
        int64_t total, unused;
        if (sscanf(sizes.items[i], "hugepages-%lldkB", &kilobytes) != 1 || kilobytes <= 0 ||
            kilobytes > (1LL << 32) ||
            !sysfs_number(&total, root, "/sys/kernel/mm/hugepages/%s/nr_hugepages", sizes.items[i]) ||
            !sysfs_number(&unused, root, "/sys/kernel/mm/hugepages/%s/free_hugepages", sizes.items[i]))
            continue;
        json_array_append_new(list, json_make("{s:I,s:I,s:I}", "size_bytes", (json_int_t)(kilobytes * 1024),
                                              "total", (json_int_t)total, "free", (json_int_t)unused));
    }
    sysfs_names_free(&sizes);
    return list;
}

size_t facts_numa_nodes(const char *root)
{
    size_t count = 0;
    struct sysfs_names names = sysfs_list(root, "/sys/devices/system/node");
    for (size_t i = 0; i < names.count; i++)
        count += strncmp(names.items[i], "node", 4) == 0 && isdigit((unsigned char)names.items[i][4]);
    sysfs_names_free(&names);
    return count;
}

json_t *facts_system(const struct facts_source *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "kernel", facts_line(s->root, "/proc/sys/kernel/osrelease"));
    json_object_set_new(o, "os", os_name(s->root));
    json_object_set_new(o, "product", facts_line(s->root, "/sys/class/dmi/id/product_name"));
    json_object_set_new(o, "hypervisor", hypervisor(s->root));
    json_object_set_new(o, "command_line", facts_line(s->root, "/proc/cmdline"));
    json_object_set_new(o, "numa_nodes", json_integer((json_int_t)facts_numa_nodes(s->root)));
    json_object_set_new(o, "cpus_online", facts_line(s->root, "/sys/devices/system/cpu/online"));
    json_object_set_new(o, "cpus_isolated", facts_line(s->root, "/sys/devices/system/cpu/isolated"));
    json_object_set_new(o, "cpus_nohz_full", facts_line(s->root, "/sys/devices/system/cpu/nohz_full"));
    json_object_set_new(o, "governors", governors(s->root));
    json_object_set_new(o, "huge_pages", huge_pages(s->root));
    json_object_set_new(o, "transparent_huge_pages",
                        facts_line(s->root, "/sys/kernel/mm/transparent_hugepage/enabled"));
    json_object_set_new(o, "numa_balancing", facts_line(s->root, "/proc/sys/kernel/numa_balancing"));
    return o;
}

/* Documentation/admin-guide/kernel-parameters.txt and Documentation/ABI/testing/sysfs-kernel-iommu_groups. */
json_t *facts_iommu(const struct facts_source *s)
{
    static const char *const words[] = {"iommu=pt",
                                        "iommu=on",
                                        "iommu=off",
                                        "intel_iommu=on",
                                        "intel_iommu=off",
                                        "amd_iommu=on",
                                        "amd_iommu=off",
                                        "amd_iommu=force_enable",
                                        "iommu.passthrough=1",
                                        "iommu.passthrough=0"};
    char line[4096];
    json_t *o = json_object(), *parameters = json_array(), *types = json_object();
    (void)sysfs_text(line, sizeof line, s->root, "/proc/cmdline");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has_word(line, words[i]))
            json_array_append_new(parameters, json_text(words[i]));
    struct sysfs_names groups = sysfs_list(s->root, "/sys/kernel/iommu_groups");
    for (size_t i = 0; i < groups.count; i++) {
        char type[32];
        if (sysfs_text(type, sizeof type, s->root, "/sys/kernel/iommu_groups/%s/type", groups.items[i]) <= 0)
            strcpy(type, "unknown");
        json_int_t count = json_integer_value(json_object_get(types, type));
        json_put(types, type, json_integer(count + 1));
    }
    /* A kernel without IOMMU support has no such folder. */
    json_object_set_new(o, "groups",
                        sysfs_exists(s->root, "/sys/kernel") ? json_integer((json_int_t)groups.count)
                                                             : json_null());
    json_object_set_new(o, "group_types", types);
    json_object_set_new(o, "parameters", parameters);
    sysfs_names_free(&groups);
    return o;
}

/* ---- modules and versions */

static void add_parameters(const char *root, const char *module, json_t *o)
{
    struct sysfs_names names = sysfs_list(root, "/sys/module/%s/parameters", module);
    json_t *parameters = json_object();
    for (size_t i = 0; i < names.count; i++)
        json_object_set_new(parameters, names.items[i],
                            facts_line(root, "/sys/module/%s/parameters/%s", module, names.items[i]));
    json_object_set_new(o, "parameters", parameters);
    sysfs_names_free(&names);
}

json_t *facts_modules(const struct facts_source *s)
{
    static const char *const names[] = {"mlx5_core",   "mlx5_ib",  "mlx_compat", "ib_core",
                                        "ib_uverbs",   "rdma_rxe", "nvidia",     "nvidia_peermem",
                                        "nv_peer_mem", "gdrdrv",   "nvidia_uvm"};
    if (!sysfs_exists(s->root, "/sys/module"))
        return json_null();
    json_t *modules = json_object();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!sysfs_exists(s->root, "/sys/module/%s", names[i]))
            continue;
        json_t *o = json_object();
        json_object_set_new(o, "version", facts_line(s->root, "/sys/module/%s/version", names[i]));
        json_object_set_new(o, "srcversion", facts_line(s->root, "/sys/module/%s/srcversion", names[i]));
        if (strcmp(names[i], "nvidia_peermem") == 0 || strcmp(names[i], "nv_peer_mem") == 0)
            add_parameters(s->root, names[i], o);
        json_object_set_new(modules, names[i], o);
    }
    return modules;
}

/* MLNX_OFED's ib_uverbs lists the clients here (ib_peer_mem.c): also those that lsmod does not name. */
json_t *facts_memory_peers(const struct facts_source *s)
{
    static const char *const counts[] = {"num_alloc_mrs", "num_reg_bytes", "num_free_callbacks"};
    if (!sysfs_exists(s->root, "/sys/kernel/mm/memory_peers"))
        return json_null();
    json_t *peers = json_object();
    struct sysfs_names names = sysfs_list(s->root, "/sys/kernel/mm/memory_peers");
    for (size_t i = 0; i < names.count; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "version",
                            facts_line(s->root, "/sys/kernel/mm/memory_peers/%s/version", names.items[i]));
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            int64_t value;
            if (sysfs_number(&value, s->root, "/sys/kernel/mm/memory_peers/%s/%s", names.items[i], counts[k]))
                json_object_set_new(o, counts[k], json_integer(value));
        }
        json_object_set_new(peers, names.items[i], o);
    }
    sysfs_names_free(&names);
    return peers;
}

json_t *facts_gdrcopy(const struct facts_source *s)
{
    return json_make("{s:b}", "device", sysfs_exists(s->root, "/dev/gdrdrv"));
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build ...": the number after
 * two spaces. */
static bool driver_version(const char *line, char *version, size_t size)
{
    for (const char *at = strstr(line, "  "); at; at = strstr(at + 1, "  ")) {
        size_t length = strspn(at + 2, "0123456789.");
        if (length < 3 || length >= size || !memchr(at + 2, '.', length))
            continue;
        memcpy(version, at + 2, length);
        version[length] = '\0';
        return true;
    }
    return false;
}

static json_t *cuda_version(const char *root)
{
    char text[8192];
    ssize_t length = sysfs_bytes(text, sizeof text, root, "/usr/local/cuda/version.json");
    json_t *file =
        length > 0 ? json_file_parse(text, (size_t)length, "version.json", DOCUMENT_LINE, NULL) : NULL;
    const char *version = json_string_value(json_object_get(json_object_get(file, "cuda"), "version"));
    json_t *found = version ? json_text(version) : json_null();
    json_decref(file);
    return found;
}

json_t *facts_versions(const struct facts_source *s)
{
    char line[512], version[32];
    json_t *o = json_object();
    json_object_set_new(o, "kernel", facts_line(s->root, "/proc/sys/kernel/osrelease"));
    /* The kernel's own mlx5_core no longer has a module version; MLNX_OFED's has the release as its version,
     * and mlx_compat is loaded with it. */
    bool ofed = sysfs_exists(s->root, "/sys/module/mlx_compat");
    json_object_set_new(o, "mlnx_ofed",
                        ofed ? facts_line(s->root, "/sys/module/mlx5_core/version") : json_null());
    bool nvidia = sysfs_text(line, sizeof line, s->root, "/proc/driver/nvidia/version") > 0 &&
                  driver_version(line, version, sizeof version);
    json_object_set_new(o, "nvidia", nvidia ? json_text(version) : json_null());
    json_object_set_new(o, "nvidia_open",
                        nvidia ? json_boolean(strstr(line, "Open Kernel Module")) : json_null());
    json_object_set_new(o, "cuda", cuda_version(s->root));
    return o;
}

/* ---- the whole document */

bool facts_may_ask(const struct facts_source *s, const char *netdev)
{
    char *const *names = s->tools ? s->tools->items : NULL;
    for (size_t i = 0; s->tools && i < s->tools->count; i++)
        if (strcmp(names[i], netdev) == 0)
            return true;
    return !s->tools;
}

json_t *facts_gather(const struct facts_source *s, const char *netdev)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    json_t *o = json_object();
    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "program", json_text("host-facts"));
    json_object_set_new(o, "version", json_text(HARNESS_VERSION));
    /* A copied tree (--root) contains neither a host name nor a time. */
    json_object_set_new(o, "host", s->live ? json_text(host) : json_null());
    json_object_set_new(o, "time_ns", s->live ? json_integer(clock_realtime_ns()) : json_null());
    json_object_set_new(o, "system", facts_system(s));
    json_object_set_new(o, "versions", facts_versions(s));
    json_object_set_new(o, "iommu", facts_iommu(s));
    json_object_set_new(o, "modules", facts_modules(s));
    json_object_set_new(o, "memory_peers", facts_memory_peers(s));
    json_object_set_new(o, "gdrcopy", facts_gdrcopy(s));
    json_object_set_new(o, "namespaces", facts_namespaces(s));
    json_object_set_new(o, "lldp_agents", facts_lldp_agents(s));
    json_object_set_new(o, "elsewhere", facts_elsewhere(s));
    json_t *nics = facts_nics(s, netdev), *gpus = facts_gpus(s);
    json_object_set_new(o, "nics", nics);
    json_object_set_new(o, "gpus", gpus);
    json_object_set_new(o, "pairs", facts_pairs(s, nics, gpus));
    return o;
}
