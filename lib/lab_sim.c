#include "lib/lab_sim.h"

#define TIME  FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = 1000000000000000
#define BYTES FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 1LL << 31
#define RATE  FIELD_QUANTITY, .unit = UNIT_RATE_BPS, .min = 1000, .max = 1LL << 50
#define COUNT FIELD_QUANTITY, .unit = UNIT_PER_SECOND, .min = 1, .max = 10000000000

#define AT(member) .offset = offsetof(struct lab_sim_nic, member)
static const struct field nic_fields[] = {
    {"model", FIELD_STRING, AT(model), .help = "What is modelled, for people."},
    {"address", FIELD_STRING, AT(address), .help = "Address, for people."},
    {"messages", COUNT, AT(messages_per_s),
     .help = "Work requests that it starts a second; unset: no limit."},
    {"tx_latency", TIME, AT(tx_latency_ps), .help = "From doorbell or data to the wire."},
    {"rx_latency", TIME, AT(rx_latency_ps), .help = "From the wire to the DMA."},
    {"tx_buffer", BYTES, AT(tx_buffer_bytes), .help = "What is fetched and waits for the wire."},
    {"port_buffer", BYTES, AT(port_buffer_bytes),
     .help = "Receive buffer of the port, all buffers together."},
    {"cell", BYTES, AT(cell_bytes), .help = "Unit of the receive buffers."},
    {"max_mtu", BYTES, AT(max_mtu_bytes), .help = "Largest MTU of the device: in the driver's XON formula."},
    {"pause_quanta", FIELD_INTEGER, .min = 0, .max = 65535, AT(pause_quanta),
     .help = "Quanta of 512 bit times in the PFC frames it sends; 0: a pause lasts until resumed."},
    {"pause_refresh_percent", FIELD_INTEGER, .min = 1, .max = 100, AT(pause_refresh_percent),
     .help = "A lasting XOFF is repeated after this share of the quanta."},
    {"ack_every", FIELD_INTEGER, .min = 0, .max = 65536, AT(ack_every_packets),
     .help = "An ACK each so many packets, beside each message's end; 0: only there."},
    {"ack_coalescing", FIELD_BOOL, AT(ack_coalescing),
     .help = "An ACK that waits for the wire is overtaken by a later one."},
    {"ack_unpaused", FIELD_BOOL, AT(ack_unpaused), .help = "ACKs go before data and are not paused."},
    {"ack_timeout", TIME, AT(ack_timeout_ps), .help = "Local ACK timeout."},
    {"max_reads", FIELD_INTEGER, .min = 1, .max = 1024, AT(max_reads),
     .help = "Read requests outstanding on a queue pair."},
    {"inline", BYTES, AT(inline_bytes), .help = "Messages up to this size travel with the doorbell."},
    {0},
};
#undef AT
static const struct table nic_table = {"lab.sim.nic", "A simulated NIC.", sizeof(struct lab_sim_nic),
                                       nic_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_pcie, member)
static const struct field pcie_fields[] = {
    {"generation", FIELD_INTEGER, .min = 0, .max = 5, AT(generation),
     .help = "Generation; 0: ideal, data is there when it is needed."},
    {"lanes", FIELD_INTEGER, .min = 1, .max = 16, AT(lanes), .help = "Width."},
    {"max_payload", BYTES, AT(max_payload_bytes), .help = "Largest posted write."},
    {"max_read_request", BYTES, AT(max_read_request_bytes), .help = "Largest read request."},
    {"completion", BYTES, AT(completion_bytes), .help = "Payload of one completion."},
    {"tags", FIELD_INTEGER, .min = 1, .max = 4096, AT(tags), .help = "Read requests in flight."},
    {"posted_header_credits", FIELD_INTEGER, .min = 1, .max = 65536, AT(posted_header_credits),
     .help = "Posted writes that the root complex holds."},
    {"posted_data_credits", FIELD_INTEGER, .min = 1, .max = 65536, AT(posted_data_credits),
     .help = "Their data, in units of 16 bytes."},
    {"latency", TIME, AT(latency_ps), .help = "One way, NIC to memory."},
    {0},
};
#undef AT
static const struct table pcie_table = {"lab.sim.pcie", "The NIC's PCI Express link.",
                                        sizeof(struct lab_sim_pcie), pcie_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_memory, member)
static const struct field memory_fields[] = {
    {"write", RATE, AT(write_bps), .help = "Rate of writes."},
    {"read", RATE, AT(read_bps), .help = "Rate of reads."},
    {"write_access", TIME, AT(write_access_ps), .help = "The least that a write occupies it."},
    {"read_access", TIME, AT(read_access_ps), .help = "The least that a read occupies it."},
    {"write_latency", TIME, AT(write_latency_ps), .help = "From service to visible."},
    {"read_latency", TIME, AT(read_latency_ps), .help = "From service to the first completion."},
    {"banks", FIELD_INTEGER, .min = 0, .max = 4096, AT(banks),
     .help = "Banks that blocks are spread over, a power of two; 0: none."},
    {"interleave", BYTES, AT(interleave_bytes), .help = "Size of such a block."},
    {"bank", TIME, AT(bank_ps), .help = "A read keeps its bank busy for so long,"},
    {"sector", TIME, AT(sector_ps), .help = "and so long more for each 32 bytes."},
    {"stalls_per_s", FIELD_NUMBER, .min_number = 0, .max_number = 1000000, AT(stalls_per_s),
     .help = "Stops of its path a second of mixed load (reads and writes together)."},
    {"stall_mean", TIME, AT(stall_mean_ps), .help = "Their length, mean of an exponential distribution."},
    {"stall_window", TIME, AT(stall_window_ps),
     .help = "Reads and writes so near to each other are mixed load."},
    {"device_write", BYTES, AT(device_write_bytes),
     .help = "Payload of a packet on the device's own PCIe link: writes,"},
    {"device_read", BYTES, AT(device_read_bytes), .help = "read requests,"},
    {"device_completion", BYTES, AT(device_completion_bytes), .help = "completions,"},
    {"device_request_header", BYTES, AT(device_request_header_bytes), .help = "headers of requests,"},
    {"device_completion_header", BYTES, AT(device_completion_header_bytes), .help = "and of completions."},
    {0},
};
#undef AT
static const struct table memory_table = {
    "lab.sim.memory", "A memory as the NIC's DMA meets it: one service centre that reads and writes share.",
    sizeof(struct lab_sim_memory), memory_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_software, member)
static const struct field software_fields[] = {
    {"post", TIME, AT(post_ps), .help = "From call to doorbell."},
    {"poll", TIME, AT(poll_ps), .help = "From data being visible to the program knowing."},
    {"jitter", TIME, AT(jitter_ps), .help = "Mean of an exponential addition to each turn-around."},
    {"spikes_per_turn", FIELD_NUMBER, .min_number = 0, .max_number = 1, AT(spikes_per_turn),
     .help = "Share of turn-arounds that something else delays."},
    {"spike", TIME, AT(spike_ps), .help = "By how much, mean of an exponential,"},
    {"spike_floor", TIME, AT(spike_floor_ps), .help = "and at least."},
    {0},
};
#undef AT
static const struct table software_table = {"lab.sim.software", "The program that posts and polls.",
                                            sizeof(struct lab_sim_software), software_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_framing, member)
static const struct field framing_fields[] = {
    {"gap", FIELD_INTEGER, .min = 0, .max = 64, AT(gap_bytes),
     .help = "Preamble, start delimiter and inter-packet gap; they are in no counter."},
    {"data", FIELD_INTEGER, .min = 0, .max = 512, AT(data_bytes),
     .help = "Headers and trailers of a data packet."},
    {"reth", FIELD_INTEGER, .min = 0, .max = 64, AT(reth_bytes),
     .help = "More in the first packet of a write, and in a read request."},
    {"aeth", FIELD_INTEGER, .min = 0, .max = 64, AT(aeth_bytes),
     .help = "More in a read's first and last response."},
    {"ack", FIELD_INTEGER, .min = 1, .max = 512, AT(ack_bytes), .help = "A whole ACK or NAK frame."},
    {"cnp", FIELD_INTEGER, .min = 1, .max = 512, AT(cnp_bytes), .help = "A whole CNP frame."},
    {"pfc", FIELD_INTEGER, .min = 1, .max = 512, AT(pfc_bytes), .help = "A whole PFC frame."},
    {"minimum", FIELD_INTEGER, .min = 1, .max = 512, AT(minimum_bytes), .help = "The shortest frame."},
    {0},
};
#undef AT
const struct table lab_sim_framing_table = {"lab.sim.framing",
                                            "Bytes that a packet occupies beside its payload.",
                                            sizeof(struct lab_sim_framing), framing_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_host, member)
static const struct field host_fields[] = {
    {"nic", FIELD_OBJECT, AT(nic), .sub = &nic_table, .help = "Its NIC."},
    {"pcie", FIELD_OBJECT, AT(pcie), .sub = &pcie_table, .help = "The NIC's PCI Express link."},
    {"memory", FIELD_OBJECT, AT(memory), .sub = &memory_table, .help = "Host memory."},
    {"gpu", FIELD_OPTIONAL, AT(gpu), .sub = &memory_table,
     .help = "GPU memory behind its BAR1; unset: no GPU."},
    {"software", FIELD_OBJECT, AT(software), .sub = &software_table,
     .help = "The program that posts and polls."},
    {0},
};
#undef AT
const struct table lab_sim_host_table = {"lab.sim.host", "A simulated host.", sizeof(struct lab_sim_host),
                                         host_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_switch, member)
static const struct field switch_fields[] = {
    {"buffer", BYTES, AT(buffer_bytes), .help = "Shared buffer."},
    {"headroom", BYTES, AT(headroom_bytes),
     .help = "Headroom of a port and priority; unset: by rate and delay of the link."},
    {"latency", TIME, AT(latency_ps), .help = "Of forwarding."},
    {0},
};
#undef AT
const struct table lab_sim_switch_table = {"lab.sim.switch", "A simulated switch.",
                                           sizeof(struct lab_sim_switch), switch_fields, NULL};
