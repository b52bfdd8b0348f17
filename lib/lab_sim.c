#include "lib/lab_sim.h"

#define AT(member) .offset = offsetof(struct lab_sim_nic, member)
static const struct field nic_fields[] = {
    {"model", FIELD_STRING, AT(model), .help = "What is modelled, for people."},
    {"address", FIELD_STRING, AT(address), .help = "Address, for people."},
    {"messages", FIELD_QUANTITY, AT(messages_per_s), .unit = UNIT_PER_SECOND, .min = 1, .max = 10000000000,
     .help = "Work requests it starts a second; unset: no limit."},
    {"send_latency", FIELD_QUANTITY, AT(send_latency_ps), .unit = UNIT_TIME_PS, .fallback = "\"0\"",
     .help = "From doorbell to the first bit on the wire."},
    {"receive_latency", FIELD_QUANTITY, AT(receive_latency_ps), .unit = UNIT_TIME_PS, .fallback = "\"0\"",
     .help = "From the last bit of a packet to its write on PCIe."},
    {"port_buffer", FIELD_QUANTITY, AT(port_buffer_bytes), .unit = UNIT_BYTES, .fallback = "\"262016B\"",
     .help = "Receive buffer of the port, all buffers together."},
    {"cell", FIELD_QUANTITY, AT(cell_bytes), .unit = UNIT_BYTES, .min = 1, .max = 65536,
     .fallback = "\"128B\"", .help = "Receive buffers are counted in cells of this size."},
    {"max_mtu", FIELD_INTEGER, AT(max_mtu), .min = 1500, .max = 16384, .fallback = "9978",
     .help = "The largest MTU it can do: part of the driver's xon formula."},
    {"ack_every", FIELD_INTEGER, AT(ack_every), .min = 1, .max = 4096, .fallback = "1",
     .help = "Packets an ACK."},
    {0},
};
#undef AT
static const struct table nic_table = {"lab.sim.nic", "A simulated NIC.", sizeof(struct lab_sim_nic),
                                       nic_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_pcie, member)
static const struct field pcie_fields[] = {
    {"gen", FIELD_INTEGER, AT(gen), .min = 1, .max = 6, .fallback = "3", .help = "Generation."},
    {"lanes", FIELD_INTEGER, AT(lanes), .min = 1, .max = 32, .fallback = "8", .help = "Width."},
    {"max_payload", FIELD_QUANTITY, AT(max_payload_bytes), .unit = UNIT_BYTES, .min = 128, .max = 4096,
     .fallback = "\"256B\"", .help = "Maximum payload size."},
    {"max_read_request", FIELD_QUANTITY, AT(max_read_request_bytes), .unit = UNIT_BYTES, .min = 128,
     .max = 4096, .fallback = "\"512B\"", .help = "Maximum read request size."},
    {"tags", FIELD_INTEGER, AT(tags), .min = 1, .max = 1024, .fallback = "64",
     .help = "Read requests in flight."},
    {"posted_credit", FIELD_QUANTITY, AT(posted_credit_bytes), .unit = UNIT_BYTES, .min = 128, .max = 1 << 20,
     .fallback = "\"16KiB\"", .help = "Posted writes in flight."},
    {"latency", FIELD_QUANTITY, AT(latency_ps), .unit = UNIT_TIME_PS, .fallback = "\"0\"",
     .help = "One way between the NIC and the memory."},
    {0},
};
#undef AT
static const struct table pcie_table = {"lab.sim.pcie", "The NIC's PCIe link.", sizeof(struct lab_sim_pcie),
                                        pcie_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_stall, member)
static const struct field stall_fields[] = {
    {"rate", FIELD_QUANTITY, AT(per_s), .unit = UNIT_PER_SECOND, .min = 0, .max = 1000000,
     .fallback = "\"0\"", .help = "Stops a second of mixed load."},
    {"length", FIELD_QUANTITY, AT(length_ps), .unit = UNIT_TIME_PS, .fallback = "\"0\"",
     .help = "How long one is."},
    {0},
};
#undef AT
static const struct table stall_table = {"lab.sim.stall",
                                         "Stops of a memory's path under reads and writes together.",
                                         sizeof(struct lab_sim_stall), stall_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_memory, member)
static const struct field memory_fields[] = {
    {"write", FIELD_QUANTITY, AT(write_bps), .unit = UNIT_RATE_BPS, .min = 1000, .max = 1LL << 50,
     .help = "Rate of writes; unset: no limit."},
    {"read", FIELD_QUANTITY, AT(read_bps), .unit = UNIT_RATE_BPS, .min = 1000, .max = 1LL << 50,
     .help = "Rate of reads; unset: no limit."},
    {"latency", FIELD_QUANTITY, AT(latency_ps), .unit = UNIT_TIME_PS, .fallback = "\"0\"",
     .help = "Of one access."},
    {"stall", FIELD_OBJECT, AT(stall), .sub = &stall_table, .help = "Its path's stops."},
    {0},
};
#undef AT
static const struct table memory_table = {"lab.sim.memory", "Memory that reads and writes share.",
                                          sizeof(struct lab_sim_memory), memory_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_host, member)
static const struct field host_fields[] = {
    {"nic", FIELD_OBJECT, AT(nic), .sub = &nic_table, .help = "Its NIC."},
    {"pcie", FIELD_OBJECT, AT(pcie), .sub = &pcie_table, .help = "The NIC's PCIe link."},
    {"memory", FIELD_OBJECT, AT(memory), .sub = &memory_table, .help = "Host memory."},
    {"gpu", FIELD_OPTIONAL, AT(gpu), .sub = &memory_table, .help = "GPU memory behind its BAR1."},
    {0},
};
#undef AT
const struct table lab_sim_host_table = {"lab.sim.host", "A simulated host.", sizeof(struct lab_sim_host),
                                         host_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_switch, member)
static const struct field switch_fields[] = {
    {"buffer", FIELD_QUANTITY, AT(buffer_bytes), .unit = UNIT_BYTES, .min = 1, .max = 1LL << 40,
     .fallback = "\"32MiB\"", .help = "Shared buffer."},
    {"headroom", FIELD_QUANTITY, AT(headroom_bytes), .unit = UNIT_BYTES, .min = 0, .max = 1LL << 40,
     .help = "Headroom of a port and priority; unset: by rate and delay of the link."},
    {"latency", FIELD_QUANTITY, AT(latency_ps), .unit = UNIT_TIME_PS, .fallback = "\"0\"",
     .help = "Of forwarding."},
    {0},
};
#undef AT
const struct table lab_sim_switch_table = {"lab.sim.switch", "A simulated switch.",
                                           sizeof(struct lab_sim_switch), switch_fields, NULL};
