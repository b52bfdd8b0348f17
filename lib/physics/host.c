#include "lib/physics/host.h"
#include "lib/physics/ranges.h"
#include "lib/roce/retransmission.h"
#include "lib/roce/thresholds.h"

#define BYTES_TEXT_(bytes) "\"" #bytes "B\""
#define BYTES_TEXT(bytes)  BYTES_TEXT_(bytes)

const char *const physics_pacing_names[] = {"queue-pair", "port", NULL};
const char *const physics_recovery_names[] = {"go-back-n", "selective-repeat", NULL};
const char *const physics_firmware_names[] = {"20.43", "16.35", NULL};
_Static_assert(sizeof physics_firmware_names / sizeof *physics_firmware_names == RETRANSMISSION_FIRMWARES + 1,
               "a name for each row of retransmission_firmware");
static const char *const unmarked_cnps_names[] = {"never", "loss", "ingress", NULL};

/* ---- the NIC */

static int check_ingress(const void *object, const char *path, struct error *e)
{
    const struct physics_ingress *ingress = object;
    if (ingress->rate_bps && ingress->rate_bps < 8000000)
        return error_set(e, "%s.rate: %lld b/s is out of range: expected 0, or at least 8 Mb/s", path,
                         (long long)ingress->rate_bps);
    if (!ingress->rate_bps || (ingress->depth_bytes && ingress->loss_bytes))
        return 0;
    return error_set(e, "%s: a rate without %s: expected all three, or a rate of 0", path,
                     ingress->depth_bytes ? "loss" : "depth");
}

#define AT(member) .offset = offsetof(struct physics_ingress, member)
#define LINE_RATE  FIELD_QUANTITY, .unit = UNIT_RATE_BPS, .max = INT64_C(10000000000000)
static const struct field ingress_fields[] = {
    {"rate", LINE_RATE, .min = 0, AT(rate_bps), .fallback = "\"0\"",
     .help = "Rate, in bytes of frames without preamble and gap, that the port takes in for ever. What comes "
             "faster fills depth; 0: the port takes in everything."},
    {"depth", BYTES, AT(depth_bytes), .fallback = "\"0\"",
     .help = "Bytes above the rate until the port begins to lose data frames."},
    {"loss", BYTES, AT(loss_bytes), .fallback = "\"0\"",
     .help =
         "Bytes of data frames that are lost then; depth is free again. They count as rx_discards_phy and "
         "as nothing else, and PFC does not prevent them."},
    {"loss_time", TIME, AT(loss_ps), .fallback = "\"0\"",
     .help = "Time over which they are spread, after which no more are lost; 0: one after the other."},
    {"sending", LINE_RATE, .min = 0, AT(sending_bps), .fallback = "\"0\"",
     .help =
         "Rate of data that the port sends, as of the last 100 us, from which on rate_when_sending counts."},
    {"rate_when_sending", LINE_RATE, .min = 8000000, AT(rate_when_sending_bps),
     .help = "The rate while the port sends. Default: that of rate."},
    {"of_queue_pair", FIELD_BOOL, AT(of_queue_pair), .fallback = "false",
     .help =
         "What comes faster is that of a queue pair, and so are the frames that are lost then. false: of the "
         "port."},
    {0},
};
#undef LINE_RATE
#undef AT
static const struct table ingress_table = {"lab.sim.nic.ingress",
                                           "What the port of a NIC takes in before its receive buffers.",
                                           sizeof(struct physics_ingress), ingress_fields, check_ingress};

#define AT(member) .offset = offsetof(struct physics_nic, member)
static const struct field nic_fields[] = {
    {"model", FIELD_STRING, AT(model),
     .help = "Name of the modelled device. With a name of the table of NIC models (harness list models, "
             "docs/nic-models.md) the host has the model's values wherever the lab says nothing; any other "
             "name is a title and changes nothing."},
    {"address", FIELD_STRING, AT(address), .help = "Address, for display."},
    {"messages", FIELD_QUANTITY, .unit = UNIT_PER_SECOND, .min = 0, .max = 1000000000, AT(messages_per_s),
     .fallback = "\"0\"", .help = "Largest number of work requests started per second; 0: no limit."},
    {"queue_pair_messages", FIELD_QUANTITY, .unit = UNIT_PER_SECOND, .min = 0, .max = 1000000000,
     AT(queue_pair_messages_per_s), .fallback = "\"0\"",
     .help = "The same for each queue pair; 0: no limit but that of the port."},
    {"tx_latency", TIME, AT(tx_latency_ps), .fallback = "\"0\"",
     .help = "Latency from the doorbell, or from the arrival of the data, to the wire."},
    {"rx_latency", TIME, AT(rx_latency_ps), .fallback = "\"0\"", .help = "Latency from the wire to the DMA."},
    {"completion", TIME, AT(completion_ps), .fallback = "\"0\"",
     .help = "Time from an ACK until the program sees the completion, in addition to rx_latency, the latency "
             "of PCIe and poll. With few messages in flight it limits their rate; mode latency does not have "
             "it."},
    {"ingress", FIELD_OBJECT, AT(ingress), .sub = &ingress_table,
     .help = "What the port takes in; by default everything."},
    {"tx_buffer", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1, .max = 1 << 30, AT(tx_buffer_bytes),
     .fallback = "\"32KiB\"",
     .help = "Buffer for fetched data that waits for the wire. The default is an assumption: more than PCIe "
             "latency times 25 Gb/s."},
    {"port_buffer", BYTES, AT(port_buffer_bytes), .fallback = "\"262016B\"",
     .help = "Size of all receive buffers of the port together. The default is that of ConnectX-4 Lx."},
    {"cell", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1, .max = 65536, AT(cell_bytes),
     .fallback = BYTES_TEXT(THRESHOLDS_MLX5_CELL),
     .help = "Allocation unit of the receive buffers. The default is that of mlx5."},
    {"max_mtu", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1, .max = 65535, AT(max_mtu_bytes),
     .fallback = BYTES_TEXT(THRESHOLDS_MLX5_MAX_MTU),
     .help = "Largest MTU of the device, used in the driver's XON formula. The default is that of ConnectX-4 "
             "Lx."},
    PAUSE_FIELDS,
    {"ack_every", FIELD_INTEGER, .min = 0, .max = 65536, AT(ack_every_packets), .fallback = "0",
     .help = "Send an ACK after every N packets, in addition to the one at each message's end; 0: only at "
             "the end."},
    {"ack_coalescing", FIELD_BOOL, AT(ack_coalescing), .fallback = "true",
     .help = "Replace an ACK that waits for the wire by a later one (InfiniBand Architecture Specification "
             "9.7.5.1.2)."},
    {"ack_unpaused", FIELD_BOOL, AT(ack_unpaused), .fallback = "false",
     .help = "Send ACKs before data, and do not pause them at the host, as in some simulators."},
    {"ack_timeout", FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 1000000, .max = INT64_C(1000000000000000),
     AT(ack_timeout_ps), .fallback = "\"67.108864ms\"",
     .help = "Local ACK timeout. The default is perftest's: 4.096 us times 2 to the power of 14."},
    {"nak_delay", TIME, AT(nak_delay_ps), .fallback = "\"0\"",
     .help = "Time from a packet out of sequence until its NAK joins the port's queue."},
    {"nak_again", TIME, AT(nak_again_ps), .fallback = "\"0\"",
     .help = "Time from a NAK until the receiver sends another for the same packet, if others still come "
             "before it; 0: it asks once, as the InfiniBand Architecture Specification has it."},
    {"retry_count", FIELD_INTEGER, .min = 0, .max = 7, AT(retry_count),
     .help = "Time-outs in a row after which a queue pair that made no progress gives up. Default: 7, "
             "perftest's, in a run with faults of links or frames; without faults it never gives up."},
    {"adaptive_retransmission", FIELD_BOOL, AT(adaptive_retransmission), .fallback = "false",
     .help = "Send again at the measured times of adaptive retransmission (roce_adp_retrans_en), then at "
             "time-outs of at least 537 ms. false: at each ack_timeout exactly."},
    {"min_ack_timeout_limit_disabled", FIELD_BOOL, AT(min_ack_timeout_limit_disabled), .fallback = "false",
     .help = "Send again at ack_timeout however short it is, as measured: no adaptive retransmission, and a "
             "first time-out that is drawn."},
    {"retransmission_firmware", FIELD_CHOICE, AT(retransmission_firmware), .choices = physics_firmware_names,
     .fallback = "\"20.43\"",
     .help = "Firmware whose measured times these two have: 20.43 (ConnectX-6), or 16.35 (ConnectX-5; also "
             "20.40 of ConnectX-6)."},
    {"slow_restart", FIELD_BOOL, AT(slow_restart), .fallback = "false",
     .help = "A NIC notifies itself of congestion when it sends again after a time-out "
             "(roce_slow_restart_en): counted as rp_cnp_handled and roce_slow_restart_cnps."},
    {"slow_restart_on_nak", FIELD_BOOL, AT(slow_restart_on_nak), .fallback = "false",
     .help = "With slow_restart: also when it sends again after a NAK. Probable, but not proved by "
             "measurements."},
    {"counts_timeouts", FIELD_BOOL, AT(counts_timeouts), .fallback = "true",
     .help = "Does local_ack_timeout_err count time-outs? With firmware 16.32 of ConnectX-5 it stays 0."},
    {"rnr_retry", FIELD_INTEGER, .min = 0, .max = 7, AT(rnr_retry), .fallback = "7",
     .help = "Retries after RNR NAKs in a row; 7: without end."},
    {"rnr_timer", FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 10000000, .max = INT64_C(655360000000),
     AT(rnr_timer_ps), .fallback = "\"640us\"", .help = "Time that an RNR NAK asks for, code 12 by default."},
    {"rnr_added", TIME, AT(rnr_added_ps),
     .help = "Time by which a NIC waits longer than an RNR NAK asks for. Default: 1.43 ms, as measured, with "
             "adaptive_retransmission or min_ack_timeout_limit_disabled; else 0."},
    {"recovery", FIELD_CHOICE, AT(recovery), .choices = physics_recovery_names, .fallback = "\"go-back-n\"",
     .help = "What is sent again after a loss: all from the missing packet on, or what is missing alone "
             "(writes and sends between two NICs that both do so)."},
    {"out_of_order_placement", FIELD_BOOL, AT(out_of_order_placement), .fallback = "false",
     .help =
         "Take packets of writes and sends in any order, and ask for a missing one after reorder_wait only."},
    {"reorder_wait", TIME, AT(reorder_wait_ps), .fallback = "\"100us\"",
     .help = "Time for which out-of-order placement waits for a missing packet, and after which selective "
             "repeat asks for it again. The default is an assumption: more than queues of a network hold."},
    {"recovery_window", FIELD_INTEGER, .min = 1, .max = 8192, AT(recovery_window_packets), .fallback = "4096",
     .help = "With out-of-order placement or selective repeat, the largest number of packets of a queue pair "
             "without an acknowledgement. The default is an assumption."},
    {"max_reads", FIELD_INTEGER, .min = 1, .max = 1024, AT(max_reads), .fallback = "16",
     .help = "Largest number of outstanding read requests of a queue pair. The default is that of ConnectX-4 "
             "Lx."},
    {"inline", BYTES, AT(inline_bytes), .fallback = "\"0\"",
     .help = "Messages up to this size are sent with the doorbell."},
    {"payload", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 16384, AT(payload_bytes),
     .fallback = "\"0\"",
     .help = "Payload of a packet; 0: the largest InfiniBand MTU that fits into the MTU."},
    {"congestion_on_ack", FIELD_BOOL, AT(congestion_on_ack), .fallback = "false",
     .help = "Echo a packet's CE mark in its ACK instead of a CNP, as in some simulators. Answers of reads "
             "have no "
             "ACK, and get CNPs."},
    {"gap_held", FIELD_BOOL, AT(gap_held), .fallback = "false",
     .help = "Fix the gap to the next packet when a packet is sent, as in some simulators. Otherwise the gap "
             "follows changes of the rate."},
    {"cnp_pacing", FIELD_CHOICE, AT(cnp_pacing), .choices = physics_pacing_names,
     .fallback = "\"queue-pair\"",
     .help = "What min_time_between_cnps applies to: each queue pair, or all of the port."},
    {"unmarked_cnps", FIELD_CHOICE, AT(unmarked_cnps), .choices = unmarked_cnps_names,
     .fallback = "\"never\"",
     .help = "What the receiver answers with a CNP besides marks, on priorities whose notification point is "
             "on. loss: a packet of the queue pair that it asks for again. ingress: a packet that finds "
             "unmarked_cnp_bytes in its receive buffer, or above the rate of ingress."},
    {"unmarked_cnp_interval", TIME, AT(unmarked_cnp_interval_ps), .fallback = "\"1ms\"",
     .help = "Minimum time from any CNP of the queue pair, or the port as cnp_pacing says, to one without a "
             "mark. The default is an assumption."},
    {"unmarked_cnp_bytes", BYTES, AT(unmarked_cnp_bytes), .fallback = "\"128KiB\"",
     .help = "What a receive buffer, or the depth of ingress, must hold for a CNP of unmarked_cnps ingress. "
             "The default is an assumption."},
    {"cnp_delay", TIME, AT(cnp_delay_ps), .fallback = "\"0\"",
     .help = "Time from the arrival of the packet that is answered until its CNP joins the port's queue."},
    {"cnp_cuts_share", FIELD_BOOL, AT(cnp_cuts_share), .fallback = "false",
     .help = "A CNP cuts a queue pair from its share of the port, of all that have something to send, where "
             "DCQCN permits more. false: from the rate that DCQCN permits, which with several queue pairs "
             "may be many "
             "times what they send."},
    {"cnp_cuts_target", FIELD_BOOL, AT(cnp_cuts_target), .fallback = "false",
     .help = "A CNP lowers the rate to which a queue pair recovers as far as its rate. false: DCQCN's fast "
             "recovery, to the rate before the cut."},
    {"first_cnp_again", LONG_TIME, AT(first_cnp_again_ps), .fallback = "\"0\"",
     .help = "A CNP after this time without one is like a queue pair's first: alpha begins at "
             "initial_alpha_value. 0: only the first is."},
    {"jitter", FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = 1000000, AT(jitter_ps),
     .fallback = "\"0\"",
     .help =
         "Mean of a random time between two frames (exponential distribution), at most 1us. Without it, NICs "
         "that send at the same rate stay in step, and a full queue may always drop the same one's "
         "frames."},
    {"burst", BYTES, AT(burst_bytes), .fallback = "\"0\"",
     .help = "Bytes that a queue pair sends in its turn, back to back, before it waits for its rate and the "
             "others have theirs; 0: one packet."},
    {"dcqcn", FIELD_OBJECT, AT(dcqcn), .sub = &dcqcn_table,
     .help = "DCQCN parameters that the scenario's settings do not set; default: those of dcqcn_profile."},
    {"dcqcn_profile", FIELD_CHOICE, AT(dcqcn_profile), .choices = dcqcn_profile_names,
     .fallback = "\"driver\"",
     .help = "DCQCN parameters that neither the scenario's settings nor dcqcn set. driver: mlx5's defaults. "
             "slow-recovery: parameters fitted to what was measured of a ConnectX-5 whose own cannot be read "
             "(openfabric-systems/simllm, September 2026)."},
    {"byte_reset", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 1 << 30, AT(byte_reset_bytes),
     .help = "Bytes between rate increases, for values that exceed rpg_byte_reset's 15 bits."},
    {"pcie", FIELD_OPTIONAL, AT(pcie), .sub = &physics_pcie_table,
     .help =
         "PCI Express link of this NIC's own slot, for one of several nics: over the values of the host's "
         "pcie."},
    {"gpu", FIELD_STRING, AT(gpu), .form = &form_role,
     .help = "Name of the nearest of the host's gpus. Default: by order."},
    {0},
};
#undef AT
const struct table physics_nic_table = {"lab.sim.nic", "A simulated NIC.", sizeof(struct physics_nic),
                                        nic_fields, NULL};

/* ---- PCI Express */

static int power_of_two(const char *path, const char *what, int64_t value, struct error *e)
{
    if ((value & (value - 1)) == 0)
        return 0;
    return error_set(e, "%s.%s: %lld is not a power of two", path, what, (long long)value);
}

/* PCI Express Base Specification 7.5.3.4 and 7.5.3.6: payloads are powers of two, and links have these
 * widths. */
static int check_pcie(const void *object, const char *path, struct error *e)
{
    const struct physics_pcie *pcie = object;
    int64_t lanes = pcie->lanes;
    if ((lanes & (lanes - 1)) && lanes != 12)
        return error_set(e, "%s.lanes: no link has %lld lanes: expected 1, 2, 4, 8, 12 or 16", path,
                         (long long)lanes);
    return power_of_two(path, "max_payload", pcie->max_payload_bytes, e) ||
                   power_of_two(path, "max_read_request", pcie->max_read_request_bytes, e)
               ? -1
               : 0;
}

#define AT(member) .offset = offsetof(struct physics_pcie, member)
static const struct field pcie_fields[] = {
    {"generation", FIELD_INTEGER, .min = 0, .max = 5, AT(generation), .fallback = "0",
     .help = "PCIe generation; 0: an ideal NIC, without delay and receive buffers to fill."},
    {"lanes", FIELD_INTEGER, .min = 1, .max = 16, AT(lanes), .fallback = "8",
     .help = "Number of lanes: 1, 2, 4, 8, 12 or 16."},
    {"max_payload", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 64, .max = 4096, AT(max_payload_bytes),
     .fallback = "\"256B\"",
     .help = "Maximum payload size of posted writes. The default is from the GPU counters of remote-lab.net, "
             "April 2026."},
    {"max_read_request", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 64, .max = 4096,
     AT(max_read_request_bytes), .fallback = "\"512B\"",
     .help = "Maximum read request size. The default is that of mlx5."},
    {"completion", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 32, .max = 4096, AT(completion_bytes),
     .fallback = "\"64B\"",
     .help =
         "Largest payload of one completion. The default is the read completion boundary of PCI Express."},
    {"tags", FIELD_INTEGER, .min = 1, .max = 1024, AT(tags), .fallback = "64",
     .help = "Largest number of read requests in flight. The default is an assumption that does not limit."},
    {"posted_header_credits", FIELD_INTEGER, .min = 1, .max = 4096, AT(posted_header_credits),
     .fallback = "64",
     .help = "Number of posted writes that the root complex can buffer. The default is an assumption."},
    {"posted_data_credits", FIELD_INTEGER, .min = 1, .max = 65536, AT(posted_data_credits),
     .fallback = "1024",
     .help = "Data of posted writes that the root complex can buffer, in units of 16 bytes. The default is "
             "an assumption."},
    {"latency", TIME, AT(latency_ps), .fallback = "\"150ns\"",
     .help = "One-way latency from NIC to memory. The default is an assumption."},
    {0},
};
#undef AT
const struct table physics_pcie_table = {"lab.sim.pcie", "The NIC's PCI Express link.",
                                         sizeof(struct physics_pcie), pcie_fields, check_pcie};

/* ---- memory */

/* The mean time between stalls, times 37, must fit the clock. */
#define LEAST_STALLS_PER_S 1e-5

static int check_memory(const void *object, const char *path, struct error *e)
{
    const struct physics_memory *m = object;
    if (m->stalls_per_s > 0 && m->stalls_per_s < LEAST_STALLS_PER_S)
        return error_set(e, "%s.stalls_per_s: %g is out of range: expected 0, or %g to 1e6", path,
                         m->stalls_per_s, LEAST_STALLS_PER_S);
    if (m->banks && m->interleave_bytes < 32)
        return error_set(e, "%s.interleave: %lld B is out of range: expected at least 32 B with banks", path,
                         (long long)m->interleave_bytes);
    return power_of_two(path, "banks", m->banks, e) ||
                   power_of_two(path, "interleave", m->interleave_bytes, e)
               ? -1
               : 0;
}

#define AT(member) .offset = offsetof(struct physics_memory, member)
#define RATE       FIELD_QUANTITY, .unit = UNIT_RATE_BPS, .min = 8000000, .max = INT64_C(1) << 46
static const struct field memory_fields[] = {
    {"write", RATE, AT(write_bps), .fallback = "\"1600Gb/s\"",
     .help = "Rate of writes. The default is an assumption: eight channels of DDR4-3200, which all NICs can "
             "read and write at line rate at the same time."},
    {"read", RATE, AT(read_bps), .fallback = "\"1600Gb/s\"",
     .help = "Rate of reads. The default is chosen like that of write."},
    {"write_access", TIME, AT(write_access_ps), .fallback = "\"0\"",
     .help = "Minimum service time of a write."},
    {"read_access", TIME, AT(read_access_ps), .fallback = "\"0\"", .help = "Minimum service time of a read."},
    {"write_latency", TIME, AT(write_latency_ps), .fallback = "\"0\"",
     .help = "Latency from service of a write until the data is visible."},
    {"read_latency", TIME, AT(read_latency_ps), .fallback = "\"0\"",
     .help = "Latency from service of a read to the first completion."},
    {"banks", FIELD_INTEGER, .min = 0, .max = 4096, AT(banks), .fallback = "0",
     .help = "Number of banks over which blocks are distributed, a power of two; 0: no banks."},
    {"interleave", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 1 << 20, AT(interleave_bytes),
     .fallback = "\"512B\"",
     .help = "Size of the blocks that are distributed over the banks. The default is an assumption."},
    {"bank", TIME, AT(bank_ps), .fallback = "\"0\"",
     .help = "Time for which a read occupies its bank, without the time of its sectors."},
    {"sector", TIME, AT(sector_ps), .fallback = "\"0\"",
     .help = "Additional time for each 32 bytes of a read."},
    {"stalls_per_s", FIELD_NUMBER, .min_number = 0, .max_number = 1000000, AT(stalls_per_s), .fallback = "0",
     .help = "Stalls of the memory's path per second of mixed load (reads and writes at the same time); 0: "
             "none."},
    {"stall_mean", TIME, AT(stall_mean_ps), .fallback = "\"0\"",
     .help = "Mean length of a stall (exponential distribution)."},
    {"stall_window", LONG_TIME, AT(stall_window_ps), .fallback = "\"10us\"",
     .help = "Reads and writes within this time of each other are mixed load. The default is an assumption: "
             "the time of several packets."},
    {"device_write", PACKET_BYTES, AT(device_write_bytes), .fallback = "\"256B\"",
     .help = "Payload of a write packet on the device's own PCIe link."},
    {"device_read", PACKET_BYTES, AT(device_read_bytes), .fallback = "\"512B\"",
     .help = "Size of a read request on the device's own PCIe link."},
    {"device_completion", PACKET_BYTES, AT(device_completion_bytes), .fallback = "\"64B\"",
     .help = "Payload of a completion on the device's own PCIe link."},
    {"device_request_header", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 4096,
     AT(device_request_header_bytes), .fallback = "\"16B\"",
     .help = "Header size of requests on the device's own PCIe link. The default is that of PCI Express: 4 "
             "words."},
    {"device_completion_header", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = 4096,
     AT(device_completion_header_bytes), .fallback = "\"12B\"",
     .help = "Header size of completions on the device's own PCIe link. The default is that of PCI Express: "
             "3 words."},
    {0},
};
#undef RATE
#undef AT
const struct table physics_memory_table = {
    "lab.sim.memory", "A memory as seen by the NIC's DMA: one service centre for reads and writes.",
    sizeof(struct physics_memory), memory_fields, check_memory};

/* ---- software */

#define AT(member) .offset = offsetof(struct physics_software, member)
static const struct field software_fields[] = {
    {"post", TIME, AT(post_ps), .fallback = "\"0\"", .help = "Time from the call to the doorbell."},
    {"poll", TIME, AT(poll_ps), .fallback = "\"0\"",
     .help = "Time from visible data to detection by the program."},
    {"jitter", TIME, AT(jitter_ps), .fallback = "\"0\"",
     .help = "Mean of a random delay added to each turn-around (exponential distribution)."},
    {"spikes_per_turn", FIELD_NUMBER, .min_number = 0, .max_number = 1, AT(spikes_per_turn), .fallback = "0",
     .help = "Fraction of turn-arounds with an additional long delay."},
    {"spike", TIME, AT(spike_ps), .fallback = "\"0\"",
     .help = "Mean of the long delay, without its minimum (exponential distribution)."},
    {"spike_floor", TIME, AT(spike_floor_ps), .fallback = "\"0\"", .help = "Minimum of the long delay."},
    {0},
};
#undef AT
const struct table physics_software_table = {"lab.sim.software", "The program that posts and polls.",
                                             sizeof(struct physics_software), software_fields, NULL};

/* ---- framing */

#define AT(member) .offset = offsetof(struct physics_framing, member)
static const struct field framing_fields[] = {
    {"gap", FIELD_INTEGER, .min = 0, .max = 64, AT(gap_bytes), .fallback = "20",
     .help = "Size of preamble, start delimiter and inter-packet gap. No counter includes them."},
    {"data", FIELD_INTEGER, .min = 0, .max = 512, AT(data_bytes), .fallback = "62",
     .help = "Headers and trailers of a data packet: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4."},
    {"pad", FIELD_INTEGER, .min = 1, .max = 4, AT(pad_bytes), .fallback = "4",
     .help = "A packet's payload is filled up to a multiple of this many bytes. The default is that of BTH."},
    {"reth", FIELD_INTEGER, .min = 0, .max = 64, AT(reth_bytes), .fallback = "16",
     .help = "Additional bytes in the first packet of a write and in a read request."},
    {"aeth", FIELD_INTEGER, .min = 0, .max = 64, AT(aeth_bytes), .fallback = "4",
     .help = "Additional bytes in a read's first and last response."},
    {"immediate", FIELD_INTEGER, .min = 0, .max = 64, AT(immediate_bytes), .fallback = "4",
     .help = "Additional bytes in the last packet of a write with immediate data."},
    {"ack", FIELD_INTEGER, .min = 1, .max = 512, AT(ack_bytes), .fallback = "66",
     .help = "Size of an ACK or NAK frame."},
    {"cnp", FIELD_INTEGER, .min = 1, .max = 512, AT(cnp_bytes), .fallback = "78",
     .help = "Size of a CNP frame, with BTH and 16 bytes of payload."},
    {"pfc", FIELD_INTEGER, .min = 1, .max = 512, AT(pfc_bytes), .fallback = "64",
     .help = "Size of a PFC frame."},
    {"ack_minimum", FIELD_INTEGER, .min = 0, .max = 512, AT(ack_minimum_bytes), .fallback = "0",
     .help = "Size of the shortest ACK or NAK frame, where that is more than minimum. A congestion control's "
             "header is part of the frame."},
    {"minimum", FIELD_INTEGER, .min = 1, .max = 512, AT(minimum_bytes), .fallback = "64",
     .help = "Size of the shortest frame. The default is that of Ethernet."},
    {0},
};
#undef AT
const struct table physics_framing_table = {"lab.sim.framing",
                                            "Bytes of a packet in addition to its payload.",
                                            sizeof(struct physics_framing), framing_fields, NULL};

/* ---- the host */

#define AT(member) .offset = offsetof(struct physics_host, member)
static const struct field host_fields[] = {
    {"nic", FIELD_OBJECT, AT(nic), .sub = &physics_nic_table, .help = "The NIC of the host."},
    {"pcie", FIELD_OBJECT, AT(pcie), .sub = &physics_pcie_table, .help = "The NIC's PCI Express link."},
    {"memory", FIELD_OBJECT, AT(memory), .sub = &physics_memory_table, .help = "Host memory."},
    {"gpu", FIELD_OPTIONAL, AT(gpu), .sub = &physics_memory_table,
     .help = "GPU memory behind its BAR1; default: no GPU."},
    {"nics", FIELD_MAP, AT(nics), .item = FIELD_OBJECT, .sub = &physics_nic_table, .names = &form_role,
     .inherits = true, .min = 1, .max = 64,
     .help = "In place of nic: the NICs by name, or ranges of names. Each is a node HOST.NIC with a link of "
             "its own."},
    {"gpus", FIELD_MAP, AT(gpus), .item = FIELD_OBJECT, .sub = &physics_memory_table, .names = &form_role,
     .inherits = true, .min = 1, .max = 64,
     .help =
         "In place of gpu: the GPUs by name, or ranges of names. NIC i of n is nearest to GPU i*g/n of g, "
         "unless it names another."},
    {"machine", FIELD_STRING, AT(machine), .form = &form_name,
     .help = "Name of the machine that the host is, where several hosts are one. The nodes of nics have it."},
    {"software", FIELD_OBJECT, AT(software), .sub = &physics_software_table,
     .help = "The program that posts and polls."},
    {0},
};
#undef AT
const struct table physics_host_table = {"lab.sim.host", "A simulated host.", sizeof(struct physics_host),
                                         host_fields, NULL};
