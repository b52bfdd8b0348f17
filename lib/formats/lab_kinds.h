/*
 * The kinds of lab: the document of each kind, and what the kind can do. To add one, write its fields and its
 * row of LAB_KINDS here, and its driver, lab_driver_NAME (harness/labs/driver.h), in a file below
 * harness/labs. Only lib/formats/lab.c (the documents) and harness/labs/driver.c (the table of drivers)
 * include this file.
 */
#ifndef LIB_LAB_KINDS_H
#define LIB_LAB_KINDS_H

#include "lib/formats/lab.h"
#include "lib/formats/lab_words.h"
#include "lib/physics/host.h"
#include "lib/physics/fabric.h"

/* KIND(NAME, HELP, HOST, FLAGS...): NAME is the word for "driver", NAME_fields are the fields of its
 * document; HOST is the struct of its hosts; FLAGS are the other members of struct lab_kind, at least one
 * (.bridges = false if none is true). */
#define LAB_KINDS(KIND)                                                                              \
    KIND(sim, "A simulated lab: physical values of hosts, links and switches.", struct physics_host, \
         .simulated = true)                                                                          \
    KIND(libvirt, "Guests under libvirt.", struct lab_host, .guests = true, .bridges = true)         \
    KIND(ssh, "Hosts reached over ssh.", struct lab_host, .bridges = true)

static const char *const kind_names[] = {
#define KIND(NAME, ...) #NAME,
    LAB_KINDS(KIND)
#undef KIND
        NULL};

/* ---- hosts that are reached over ssh */

#define AT(member) .offset = offsetof(struct lab_vlan, member)
static const struct field vlan_fields[] = {
    {"id", FIELD_INTEGER, AT(id), .min = 1, .max = 4094, .required = true, .help = "VLAN identifier."},
    {"address", FIELD_STRING, AT(address), .required = true, .form = &form_network_address,
     .help = "Address of the VLAN interface with prefix length, such as 10.0.1.1/24."},
    {0},
};
#undef AT
static const struct table vlan_table = {"lab.nic.vlan", "A VLAN of a host's NIC.", sizeof(struct lab_vlan),
                                        vlan_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_nic, member)
static const struct field nic_fields[] = {
    {"pci", FIELD_STRING, AT(pci), .form = &form_pci,
     .help = "PCI address on the machine, to pass it through to the guest."},
    {"netdev", FIELD_STRING, AT(netdev), .form = &form_word,
     .help = "Network device inside the host; default: found by MAC or address."},
    {"rdma", FIELD_STRING, AT(rdma), .form = &form_word,
     .help = "RDMA device; default: that of the network device."},
    {"address", FIELD_STRING, AT(address), .form = &form_address,
     .help = "Address with prefix length, such as 10.0.0.1/24."},
    {"mac", FIELD_STRING, AT(mac), .form = &form_mac,
     .help = "MAC address; default: derived from the names of lab and host."},
    {"gid_index", FIELD_INTEGER, AT(gid_index), .min = 0, .max = 65535,
     .help = "GID index; default: the RoCE v2 GID of the address."},
    {"ack_timeout", FIELD_INTEGER, AT(ack_timeout), .min = 1, .max = 31,
     .help = "Local ACK timeout: 4.096 us times 2 to this power. Slow labs need a large value. Default: 14."},
    {"vlan", FIELD_OPTIONAL, AT(vlan), .sub = &vlan_table,
     .help =
         "VLAN that flows use: the tag carries their priority. A run makes the VLAN interface and removes "
         "it afterwards. Default: packets have no tag."},
    {"gpu", FIELD_STRING, AT(gpu), .form = &form_role,
     .help = "Name of the nearest of the host's gpus. Default: by order, NIC i of n has GPU i*g/n of g."},
    {0},
};
#undef AT
static const struct table nic_table = {"lab.nic", "A host's NIC.", sizeof(struct lab_nic), nic_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_gpu, member)
static const struct field gpu_fields[] = {
    {"pci", FIELD_STRING, AT(pci), .form = &form_pci,
     .help = "PCI address on the machine; all its functions are passed through."},
    {"functions", FIELD_INTEGER, AT(functions), .min = 1, .max = 8,
     .help = "Number of PCI functions (graphics, audio). Default: all that the machine has."},
    {"index", FIELD_INTEGER, AT(index), .min = 0, .max = 63, .fallback = "0",
     .help = "Number of the GPU inside the host: NVML's, where it is hardware."},
    {"write", FIELD_QUANTITY, AT(write_bps), .unit = UNIT_RATE_BPS, .min = 8, .max = 8000000000000,
     .help = "Rate of writes into memory that stands for a GPU's, where the NIC is a virtual ConnectX; "
             "default: as fast as the host's memory."},
    {"stalls_per_s", FIELD_INTEGER, AT(stalls_per_s), .min = 0, .max = 1000000, .fallback = "0",
     .help = "Stalls of such memory's path per second of load; 0: none."},
    {"stall_mean", FIELD_QUANTITY, AT(stall_mean_ns), .unit = UNIT_TIME_NS, .min = 1, .max = 100000000000,
     .help = "Mean length of a stall (exponential distribution)."},
    {"stall_window", FIELD_QUANTITY, AT(stall_window_ns), .unit = UNIT_TIME_NS, .min = 1, .max = 100000000000,
     .help = "Writes within this time of each other are load: several times that of a packet on the link."},
    {0},
};
#undef AT

/* Memory of a card stalls as it does; a length without stalls says nothing. */
static int check_gpu(const void *object, const char *path, struct error *e)
{
    const struct lab_gpu *gpu = object;
    bool lengths = gpu->stall_mean_ns != FIELD_UNSET && gpu->stall_window_ns != FIELD_UNSET;
    if (gpu->pci && lab_gpu_paced(gpu))
        return error_set(e,
                         "%s: write and stalls_per_s are of memory that stands for a GPU's on a virtual "
                         "ConnectX, but pci names a card: expected either",
                         path);
    if (gpu->stalls_per_s > 0 && !lengths)
        return error_set(e, "%s.stalls_per_s: expected stall_mean and stall_window too", path);
    return 0;
}

static const struct table gpu_table = {"lab.gpu", "A host's GPU.", sizeof(struct lab_gpu), gpu_fields,
                                       check_gpu};

#define AT(member) .offset = offsetof(struct lab_pin, member)
static const struct field pin_fields[] = {
    {"vcpus", FIELD_STRING, AT(vcpus), .form = &form_cpus,
     .help = "CPUs of the machine for the virtual CPUs, such as \"2-15,34-47\". Virtual CPU i runs on the "
             "i-th CPU of this list."},
    {"emulator", FIELD_STRING, AT(emulator), .form = &form_cpus, .help = "CPUs for the emulator's threads."},
    {"memory", FIELD_STRING, AT(memory), .form = &form_cpus,
     .help = "NUMA nodes from which all of the memory is taken."},
    {"hugepage", FIELD_QUANTITY, AT(hugepage_bytes), .unit = UNIT_BYTES, .min = 1 << 16, .max = 1 << 30,
     .help = "Size of the huge pages for the memory; default: none."},
    {0},
};
#undef AT
static const struct table pin_table = {"lab.pin", "Placement of the guest on its machine.",
                                       sizeof(struct lab_pin), pin_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_host, member)
#define REACHED                                                                                        \
    {"programs", FIELD_STRING, AT(programs), .fallback = "\"/usr/local/bin\"",                         \
     .help = "Folder of the harness's programs on the host."},                                         \
        {"sudo", FIELD_BOOL, AT(sudo), .fallback = "false", .help = "Run the programs with sudo -n."}, \
        {"nic", FIELD_OBJECT, AT(nic), .sub = &nic_table, .help = "The NIC of the experiment."},       \
        {"extra_nics",      FIELD_LIST, AT(extra_nics), .item = FIELD_OBJECT,                          \
         .sub = &nic_table, .min = 0,   .max = 64,      .help = "Other ports of a forwarding host."},  \
        {"nics",                                                                                       \
         FIELD_MAP,                                                                                    \
         AT(nics),                                                                                     \
         .item = FIELD_OBJECT,                                                                         \
         .sub = &nic_table,                                                                            \
         .names = &form_role,                                                                          \
         .inherits = true,                                                                             \
         .min = 1,                                                                                     \
         .max = 64,                                                                                    \
         .help = "In place of nic: the NICs by name, or ranges of names. Each is a node HOST.NIC."},   \
        {"gpus",                                                                                       \
         FIELD_MAP,                                                                                    \
         AT(gpus),                                                                                     \
         .item = FIELD_OBJECT,                                                                         \
         .sub = &gpu_table,                                                                            \
         .names = &form_role,                                                                          \
         .inherits = true,                                                                             \
         .min = 1,                                                                                     \
         .max = 64,                                                                                    \
         .help = "In place of gpu: the GPUs by name, or ranges of names. Their indices are, unless "   \
                 "given, in this order."},                                                             \
        {"machine", FIELD_STRING, AT(machine), .form = &form_name,                                     \
         .help = "Name of the machine that the host is, where several hosts are one: they share "      \
                 "connection, lock, journal and sampler. The nodes of nics have it."},                 \
    {                                                                                                  \
        "gpu", FIELD_OPTIONAL, AT(gpu), .sub = &gpu_table, .help = "The GPU of the experiment."        \
    }
#define BY_SSH                                                                                          \
    {"port",   FIELD_INTEGER, AT(port),                                                                 \
     .min = 1, .max = 65535,  .help = "TCP port of ssh. Default: from the ssh configuration."},         \
        {"identity", FIELD_STRING, AT(identity),                                                        \
         .help = "File with the private key; a path begins at the lab's folder. Default: from the ssh " \
                 "configuration."},                                                                     \
    {                                                                                                   \
        "known_hosts", FIELD_STRING, AT(known_hosts),                                                   \
            .help = "File with the host key; a path begins at the lab's folder. Default: from the ssh " \
                    "configuration."                                                                    \
    }
static const struct field libvirt_host_fields[] = {
    {"domain", FIELD_STRING, AT(domain), .form = &form_word, .help = "Name of the libvirt domain."},
    {"profile", FIELD_STRING, AT(profile), .form = &form_name,
     .help = "Profile that is installed on the guest (guest-setup/profiles)."},
    {"bundle", FIELD_STRING, AT(bundle), .form = &form_name,
     .help =
         "Bundle: versions that the profile installs (guest-setup/bundles). Default: the profile's bundle."},
    {"ssh", FIELD_STRING, AT(ssh), .form = &form_destination,
     .help = "ssh destination of a host that is not a guest, such as the machine itself. It replaces domain "
             "and profile."},
    BY_SSH,
    {"vcpus", FIELD_INTEGER, AT(vcpus), .min = 1, .max = 1024, .fallback = "1",
     .help = "Number of virtual CPUs."},
    {"memory", FIELD_QUANTITY, AT(memory_bytes), .unit = UNIT_BYTES, .min = 64 << 20, .max = 1LL << 42,
     .fallback = "\"256MiB\"", .help = "Size of the memory."},
    {"disk", FIELD_QUANTITY, AT(disk_bytes), .unit = UNIT_BYTES, .min = 1 << 20, .max = 1LL << 44,
     .help = "Size of the disk; default: that of the image."},
    {"pin", FIELD_OBJECT, AT(pin), .sub = &pin_table, .help = "Placement of the guest on its machine."},
    {"switch", FIELD_OPTIONAL, AT(forwarding), .sub = &physics_virtual_switch_table,
     .help = "The guest is a switch, of profile debian-12-virtual-switch; port N is that of the guest's link "
             "N in the lab, counted from 0."},
    REACHED,
    {0},
};
static const struct table libvirt_host_table = {"lab.libvirt.host", "A guest.", sizeof(struct lab_host),
                                                libvirt_host_fields, NULL};

static const struct field ssh_host_fields[] = {
    {"ssh", FIELD_STRING, AT(ssh), .required = true, .form = &form_destination,
     .help = "user@host, or a host name from your ssh configuration."},
    BY_SSH,
    REACHED,
    {0},
};
#undef REACHED
#undef AT
static const struct table ssh_host_table = {"lab.ssh.host", "A host that exists already.",
                                            sizeof(struct lab_host), ssh_host_fields, NULL};

/* ---- switches of real labs */

#define AT(member) .offset = offsetof(struct lab_switch, member)
static const struct field switch_fields[] = {
    {"ssh", FIELD_STRING, AT(ssh), .form = &form_destination,
     .help = "user@host, or a host name from your ssh configuration. Its databases are read there."},
    BY_SSH,
    {"sudo", FIELD_BOOL, AT(sudo), .fallback = "false", .help = "Run redis-cli with sudo -n."},
    {"socket", FIELD_STRING, AT(socket), .form = &form_folder,
     .help = "Unix socket of the switch's redis. Default: 127.0.0.1:6379 on the switch."},
    {"config", FIELD_STRING, AT(config),
     .help = "In place of ssh: a file with the switch's config_db.json, relative to the lab's folder. It is "
             "checked, and "
             "there are no counters."},
    {"shared", FIELD_BOOL, AT(shared), .fallback = "false",
     .help = "A run may change what ports that the lab does not name use too, such as a WRED profile of all "
             "ports. Otherwise such a run is refused."},
    {0},
};
#undef BY_SSH
#undef AT
static const struct table switch_table = {"lab.switch", "A switch that runs SONiC.",
                                          sizeof(struct lab_switch), switch_fields, NULL};

/* ---- common to all labs */

#define AT(member) .offset = offsetof(struct lab_link, member)
static const struct field link_fields[] = {
    {"between", FIELD_LIST, AT(between), .item = FIELD_STRING, .form = &form_name, .min = 2, .max = 3,
     .required = true,
     .help = "The two ends: names of hosts or switches. Two ranges of names are linked pairwise, a range and "
             "a single name each with it."},
    {"ports", FIELD_MAP, AT(ports), .item = FIELD_STRING, .form = &form_name, .names = &form_name, .min = 0,
     .max = 2, .help = "Where the cable is plugged in at switches that run SONiC: {\"tor\": \"Ethernet0\"}."},
    {"rate", FIELD_QUANTITY, AT(rate_bps), .unit = UNIT_RATE_BPS, .min = PHYSICS_LINK_LEAST_BPS,
     .max = PHYSICS_LINK_MOST_BPS, .help = "Data rate of the link."},
    {"length", FIELD_QUANTITY, AT(length_mm), .unit = UNIT_LENGTH_MM, .min = 0, .max = 100000000,
     .help = "Length of the cable."},
    {"delay", FIELD_QUANTITY, AT(delay_ps), .unit = UNIT_TIME_PS, .min = 0, .max = PHYSICS_LINK_MOST_DELAY_PS,
     .help = "Propagation delay; default: 5 ns per metre."},
    {"loss", FIELD_NUMBER, AT(loss), .min_number = 0, .max_number = 1, .fallback = "0",
     .help = "Fraction of frames that the link damages at random, except PFC frames; the port at which they "
             "arrive counts and drops them (simulated)."},
    {"lossy_at", FIELD_STRING, AT(lossy_at),
     .help =
         "In a simulated lab: the switch at an end of the link that maps the DSCPs of what arrives there to "
         "a priority without PFC, and so drops what it has no room for, and pauses nobody at this port."},
    {"mtu", FIELD_INTEGER, AT(mtu), .min = 68, .max = 16384, .help = "MTU of a virtual link."},
    {0},
};
#undef AT
static const struct table link_table = {"lab.link", "A cable.", sizeof(struct lab_link), link_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_management, member)
static const struct field management_fields[] = {
    {"network", FIELD_STRING, AT(network), .form = &form_word,
     .help = "An existing libvirt network, on which guests get addresses by DHCP."},
    {"subnet", FIELD_STRING, AT(subnet), .form = &form_subnet,
     .help = "A private network of the lab, such as 198.51.100.0/26. The machine gets address .1, the guests "
             "get the addresses from .11."},
    {0},
};
#undef AT
static const struct table management_table = {"lab.management", "The network for ssh connections to guests.",
                                              sizeof(struct lab_management), management_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_nccl_tests, member)
static const struct field nccl_tests_fields[] = {
    {"folder", FIELD_STRING, AT(folder), .form = &form_folder,
     .help = "Folder of its programs, the same on all hosts. Default: they are found by PATH."},
    {"suffix", FIELD_STRING, AT(suffix), .form = &form_role, .single = true,
     .help = "What they were built with as NAME_SUFFIX: \"_mpi\" for all_reduce_perf_mpi."},
    {"library_path", FIELD_STRING, AT(library_path),
     .help = "LD_LIBRARY_PATH of its processes, for NCCL in a folder of its own."},
    {"mpirun", FIELD_LIST, AT(mpirun), .item = FIELD_STRING, .min = 0, .max = 100,
     .help = "More options of mpirun, a word each, such as \"--mca\", \"btl_tcp_if_include\", "
             "\"10.0.0.0/24\"."},
    {0},
};
#undef AT
static const struct table nccl_tests_table = {"lab.nccl_tests", "nccl-tests on the hosts of the lab.",
                                              sizeof(struct lab_nccl_tests), nccl_tests_fields, NULL};

#define AT(member) .offset = offsetof(struct lab, member)
#define GPU_TOOLS                                                                              \
    {"nccl_tests", FIELD_OPTIONAL, AT(nccl_tests), .sub = &nccl_tests_table,                   \
     .help = "Where the hosts have nccl-tests, and what mpirun needs to start it there."},     \
    {                                                                                          \
        "nvbandwidth", FIELD_STRING, AT(nvbandwidth),                                          \
            .help = "NVIDIA's nvbandwidth on the hosts, a path; default: it is found by PATH." \
    }
#define COMMON                                                                                               \
    {"schema",                                                                                               \
     FIELD_INTEGER,                                                                                          \
     AT(schema),                                                                                             \
     .min = 1,                                                                                               \
     .max = 1,                                                                                               \
     .required = true,                                                                                       \
     .help = "Version of the format: 1."},                                                                   \
        {"name",                                                                                             \
         FIELD_STRING,                                                                                       \
         AT(name),                                                                                           \
         .required = true,                                                                                   \
         .form = &form_name,                                                                                 \
         .single = true,                                                                                     \
         .help = "Name of the lab."},                                                                        \
        {"title", FIELD_STRING, AT(title), .help = "A descriptive title."},                                  \
        {"driver",         FIELD_CHOICE,                                                                     \
         AT(driver),       .choices = kind_names,                                                            \
         .required = true, .help = "The kind of lab."},                                                      \
        {"roles",                                                                                            \
         FIELD_MAP,                                                                                          \
         AT(roles),                                                                                          \
         .item = FIELD_STRING,                                                                               \
         .form = &form_name,                                                                                 \
         .names = &form_role,                                                                                \
         .min = 0,                                                                                           \
         .max = 100000,                                                                                      \
         .help = "Map of role to host or switch. A role without an entry is the host or switch with the "    \
                 "same name."},                                                                              \
        {"links",                                                                                            \
         FIELD_LIST,                                                                                         \
         AT(links),                                                                                          \
         .item = FIELD_OBJECT,                                                                               \
         .sub = &link_table,                                                                                 \
         .min = 0,                                                                                           \
         .max = 100000,                                                                                      \
         .help = "Cables between hosts and switches."},                                                      \
        {"defaults", FIELD_JSON, AT(defaults),                                                               \
         .help = "Common values: an object with host, switch and link. The values of each "                  \
                 "host, switch and link are merged over them."},                                             \
        {"scaled", FIELD_JSON, AT(scaled),                                                                   \
         .help = "Map of scenario path to value, for labs that are slower. The value replaces the one that " \
                 "the scenario sets there; other paths are not added."},                                     \
    {                                                                                                        \
        "sources", FIELD_JSON, AT(sources),                                                                  \
            .help = "Map of path pattern to the source of the values. \"fitted: ...\" marks fitted values."  \
    }
/* ---- the kinds */

static const char *const ecmp_numbers_names[] = {"order", "names", NULL};

static const struct field sim_fields[] = {
    COMMON,
    {"hosts", FIELD_MAP, AT(hosts), .item = FIELD_OBJECT, .sub = &physics_host_table, .names = &form_name,
     .inherits = true, .min = 1, .max = 100000, .required = true,
     .help = "Hosts by name; \"h[0-15]\" stands for h0 to h15, and in its values {} for the number."},
    {"switches", FIELD_MAP, AT(switches), .item = FIELD_OBJECT, .sub = &physics_switch_table,
     .names = &form_name, .inherits = true, .min = 0, .max = 100000,
     .help = "Switches by name, or ranges of names."},
    {"framing", FIELD_OPTIONAL, AT(framing), .sub = &physics_framing_table,
     .help = "Sizes of headers; default: RoCE v2 over IPv4."},
    {"truncate_to_ns", FIELD_BOOL, AT(truncate_to_ns), .fallback = "false",
     .help = "Truncate durations to whole nanoseconds, as some simulators do."},
    {"udp_port", FIELD_INTEGER, AT(udp_port), .min = 1, .max = 65535, .fallback = "4791",
     .help = "Destination port of all connections, used in the hash that selects among equal paths."},
    {"ecmp_numbers", FIELD_CHOICE, AT(ecmp_numbers), .choices = ecmp_numbers_names,
     .help =
         "The number that stands for a node in that hash. order, the default: hosts, then switches, count "
         "from 0 in the "
         "order of the lab. names: the number in the node's name, 12 of h12 and of its NIC h12.port1: what "
         "cases of the HPCC simulator hash, where the ports of a host have one address."},
    {"topology", FIELD_OPTIONAL, AT(topology), .sub = &lab_topology_table,
     .help = "Shape from which hosts, switches and links are generated."},
    {0},
};
static const struct field libvirt_fields[] = {
    COMMON,
    GPU_TOOLS,
    {"uri", FIELD_STRING, AT(uri), .form = &form_uri, .fallback = "\"qemu:///system\"",
     .help = "URI of libvirt."},
    {"pool", FIELD_STRING, AT(pool), .form = &form_folder,
     .help = "Folder in which the lab creates a folder for its disks. Default: /var/lib/libvirt/images."},
    {"management", FIELD_OBJECT, AT(management), .sub = &management_table,
     .help = "Network for ssh connections to guests. Default: libvirt's network \"default\"."},
    {"hosts", FIELD_MAP, AT(hosts), .item = FIELD_OBJECT, .sub = &libvirt_host_table, .names = &form_name,
     .min = 1, .max = 10000, .required = true,
     .help = "Hosts by name; \"h[0-15]\" stands for h0 to h15, and in its values {} for the number."},
    {"switches", FIELD_MAP, AT(switches), .item = FIELD_OBJECT, .sub = &switch_table, .names = &form_name,
     .inherits = true, .min = 0, .max = 1000,
     .help = "Switches that run SONiC, by name, or ranges of names."},
    {0},
};
static const struct field ssh_fields[] = {
    COMMON,
    GPU_TOOLS,
    {"hosts", FIELD_MAP, AT(hosts), .item = FIELD_OBJECT, .sub = &ssh_host_table, .names = &form_name,
     .min = 1, .max = 10000, .required = true,
     .help = "Hosts by name; \"h[0-15]\" stands for h0 to h15, and in its values {} for the number."},
    {"switches", FIELD_MAP, AT(switches), .item = FIELD_OBJECT, .sub = &switch_table, .names = &form_name,
     .inherits = true, .min = 0, .max = 1000,
     .help = "Switches that run SONiC, by name, or ranges of names."},
    {0},
};
#undef COMMON
#undef GPU_TOOLS
#undef AT

#endif
