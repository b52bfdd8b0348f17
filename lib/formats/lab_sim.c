#include "lib/formats/lab_sim.h"

#define TIME  FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = 1000000000000000
#define BYTES FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 1LL << 31
#define RATE  FIELD_QUANTITY, .unit = UNIT_RATE_BPS, .min = 1000, .max = 1LL << 50
#define COUNT FIELD_QUANTITY, .unit = UNIT_PER_SECOND, .min = 1, .max = 10000000000

static const char *const pacing_names[] = {"queue-pair", "port", NULL};

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
    {"ack_unpaused", FIELD_BOOL, AT(ack_unpaused),
     .help = "ACKs leave the host before data and are not paused there."},
    {"ack_timeout", TIME, AT(ack_timeout_ps), .help = "Local ACK timeout."},
    {"max_reads", FIELD_INTEGER, .min = 1, .max = 1024, AT(max_reads),
     .help = "Read requests outstanding on a queue pair."},
    {"inline", BYTES, AT(inline_bytes), .help = "Messages up to this size travel with the doorbell."},
    {"payload", BYTES, AT(payload_bytes),
     .help = "Payload of a packet; unset: the InfiniBand MTU that fits the MTU."},
    {"congestion_on_ack", FIELD_BOOL, AT(congestion_on_ack),
     .help = "A marked packet's ACK says so and no CNP is sent, as some simulators have it."},
    {"gap_held", FIELD_BOOL, AT(gap_held),
     .help = "The gap to the next packet stays what the rate was when a packet was sent, as some simulators "
             "have it; "
             "else it follows the rate."},
    {"cnp_pacing", FIELD_CHOICE, AT(cnp_pacing), .choices = pacing_names,
     .help = "What min_time_between_cnps holds for."},
    {"dcqcn", FIELD_OBJECT, AT(dcqcn), .sub = &settings_dcqcn_table,
     .help = "Parameters of DCQCN where a scenario's settings do not say; unset: mlx5's defaults."},
    {"byte_reset", BYTES, AT(byte_reset_bytes),
     .help = "Bytes between rate increases where rpg_byte_reset's 15 bits do not suffice."},
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

static const char *const ecn_at_names[] = {"dequeue", "enqueue", NULL};
#define AT(member) .offset = offsetof(struct lab_sim_ecn, member)
static const struct field ecn_fields[] = {
    {"kmin", BYTES, AT(kmin_bytes), .help = "Queue above which packets are marked now and then."},
    {"kmax", BYTES, AT(kmax_bytes), .help = "Queue above which every packet is marked."},
    {"pmax", FIELD_NUMBER, .min_number = 0, .max_number = 1, AT(pmax),
     .help = "Probability of marking just below kmax."},
    {"reference", RATE, AT(reference_bps),
     .help =
         "Rate of a port that kmin and kmax hold for; others scale with theirs; unset: the same for all."},
    {"at", FIELD_CHOICE, AT(at), .choices = ecn_at_names, .fallback = "\"dequeue\"",
     .help = "When it is decided."},
    {0},
};
#undef AT
static const struct table ecn_table = {
    "lab.sim.switch.ecn", "ECN marking, on every priority; a scenario's ecn_threshold goes over it.",
    sizeof(struct lab_sim_ecn), ecn_fields, NULL};

static const char *const watchdog_action_names[] = {"drop", "forward", NULL};
#define AT(member) .offset = offsetof(struct lab_sim_watchdog, member)
static const struct field watchdog_fields[] = {
    {"detect", TIME, AT(detect_ps), .help = "Paused so long: a storm; unset: no watchdog."},
    {"restore", TIME, AT(restore_ps), .help = "Without a pause so long: over."},
    {"action", FIELD_CHOICE, AT(action), .choices = watchdog_action_names, .fallback = "\"drop\"",
     .help = "Meanwhile the queue's packets are dropped, or sent in spite of the pause."},
    {0},
};
#undef AT
static const struct table watchdog_table = {"lab.sim.switch.watchdog", "PFC watchdog.",
                                            sizeof(struct lab_sim_watchdog), watchdog_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_forwarding, member)
static const struct field forwarding_fields[] = {
    {"rx_ring", FIELD_INTEGER, .min = 1, .max = 65536, AT(rx_ring), .help = "Descriptors of a port."},
    {"coalesce", TIME, AT(coalesce_ps), .help = "Interrupt so long after the first frame"},
    {"coalesce_frames", FIELD_INTEGER, .min = 1, .max = 65536, AT(coalesce_frames),
     .help = "or with so many waiting."},
    {"adaptive", FIELD_BOOL, AT(adaptive),
     .help = "Instead of these two, the kernel's adaptive moderation: 2 us to 64 us, by load."},
    {"interrupt", TIME, AT(interrupt_ps), .help = "From interrupt to the first frame's processing."},
    {"frame", TIME, AT(frame_ps), .help = "CPU time of a frame."},
    {"budget", FIELD_INTEGER, .min = 1, .max = 65536, AT(budget), .help = "Frames of one NAPI poll."},
    {"tx_limit", BYTES, AT(tx_limit_bytes),
     .help = "What the byte queue limit of a device grows to at most."},
    {"fifo", BYTES, AT(fifo_bytes), .help = "Length of the queue where there is no RED."},
    {0},
};
#undef AT
static const struct table forwarding_table = {
    "lab.sim.switch.software", "A host that forwards in software, with one softirq CPU for all ports.",
    sizeof(struct lab_sim_forwarding), forwarding_fields, NULL};

#define AT(member) .offset = offsetof(struct lab_sim_switch, member)
static const struct field switch_fields[] = {
    {"buffer", BYTES, AT(buffer_bytes), .help = "All of the buffer: reserves, headroom, shared part."},
    {"reserve", BYTES, AT(reserve_bytes), .help = "Each lossless priority of a port has so much of its own."},
    {"xoff_alpha", FIELD_NUMBER, .min_number = 0, .max_number = 1024, AT(xoff_alpha),
     .help = "Beyond it, XOFF at this share of what is free of the shared part."},
    {"xoff", BYTES, AT(xoff_bytes),
     .help = "XOFF at this use of the shared part instead: a static threshold."},
    {"alpha_follows_rate", FIELD_BOOL, AT(alpha_follows_rate),
     .help = "Double xoff_alpha for each doubling of a port's rate over the slowest host's, up to 1."},
    {"xon_offset", BYTES, AT(xon_offset_bytes), .help = "XON this much below XOFF."},
    {"headroom", BYTES, AT(headroom_bytes),
     .help = "Headroom of a port and lossless priority; unset: by rate and delay of the link."},
    {"headroom_delays", FIELD_NUMBER, .min_number = 0, .max_number = 1000, AT(headroom_delays),
     .help = "Headroom in propagation delays at the port's rate, where headroom is unset."},
    {"pause_quanta", FIELD_INTEGER, .min = 0, .max = 65535, AT(pause_quanta),
     .help = "Quanta of 512 bit times in the PFC frames it sends; 0: a pause lasts until resumed."},
    {"pause_refresh_percent", FIELD_INTEGER, .min = 1, .max = 100, AT(pause_refresh_percent),
     .help = "A lasting XOFF is repeated after this share of the quanta."},
    {"lossy_alpha", FIELD_NUMBER, .min_number = 0, .max_number = 1024, AT(lossy_alpha),
     .help = "Queues of other priorities are at most this share of what is free."},
    {"ecn", FIELD_OBJECT, AT(ecn), .sub = &ecn_table, .help = "ECN marking."},
    {"latency", TIME, AT(latency_ps), .help = "From the last bit in to the egress queue."},
    {"ecmp_seed", FIELD_INTEGER, .min = 1, .max = UINT32_MAX, AT(ecmp_seed),
     .help = "Of the hash that chooses among equal paths; unset: the number of the node, hosts first."},
    {"watchdog", FIELD_OBJECT, AT(watchdog), .sub = &watchdog_table, .help = "PFC watchdog."},
    {"software", FIELD_OPTIONAL, AT(software), .sub = &forwarding_table,
     .help = "It is a host that forwards in software: a Linux bridge, with RED where its settings say."},
    {0},
};
#undef AT
const struct table lab_sim_switch_table = {"lab.sim.switch", "A simulated switch.",
                                           sizeof(struct lab_sim_switch), switch_fields, NULL};
