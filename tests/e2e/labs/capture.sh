#!/bin/bash
# Captures of simulated runs: tshark reads every frame, its display filters count what the result's counters say; limits are kept, the
# bytes do not depend on threads, and results not on captures.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$ROOT" || exit 2

simulate() { # FOLDER SCENARIO OPTION...: without its sweep; $result and $capture are its files
    local folder=$SCRATCH/$1
    "$H" run "scenarios/$2.json" --quiet --no-report --out "$folder" --set sweep=null --set expect=null --set published=null "${@:3}" >"$SCRATCH/out" 2>&1
    [ $? = 4 ] || nok "$2 runs" "$(cat "$SCRATCH/out")" # nothing judges it
    result=$folder/$2/latest/result.json capture=$folder/$2/latest/capture.pcapng
}
phases() { printf '%s\n' --set "phases.warmup=$1" --set "phases.measure=$2" --set "phases.cooldown=$3"; }
counters() { # GLOB: the sum over all roles, of the whole run
    jq --arg name "$1" '[.hosts[].counters | to_entries[] | select(.key | test("^" + $name + "$")) | .value.total] | add' "$result"
}
mapfile -t pair < <(phases 1ms 14ms 500us)
mapfile -t incast < <(phases 0ns 1ms 200us)

# ---- what is refused
refused() { # CAPTURE PATTERN
    check_exit 2 "refused: $1" "$H" run -n scenarios/pfc-bidir.json --set "capture=$1"
    check_says "and why: $1" "$2" "$SCRATCH/err"
}
refused '{"ports": ["c"]}' 'capture.ports\[0\]: lab sim-geforce-pair has no node "c"'
refused '{"ports": ["a:1"]}' 'capture.ports\[0\]: "a:1": in lab sim-geforce-pair a has no such port'
refused '{"flows": ["a-to-c"]}' 'capture.flows\[0\]: no flow matches "a-to-c"'
refused '{"snap": "63B"}' 'capture.snap: "63B" is out of range'
refused '{"phase": "all"}' 'capture.phase: "all" is unknown'
real() { # CAPTURE PATTERN
    check_exit 2 "refused of real hosts: $1" "$H" run -n scenarios/pfc-bidir.json --lab labs/geforce-pair.json --set "capture=$1"
    check_says "and why: of real hosts, $1" "$2" "$SCRATCH/err"
}
real '{"flows": ["a-to-b"]}' 'capture.flows: frames are chosen in simulated labs only: .* of lab geforce-pair'
real '{"priorities": [0]}' 'capture.priorities: frames are chosen in simulated labs only'
real '{"ports": ["a", "b:1"]}' 'capture.ports\[1\]: "b:1": lab geforce-pair has no such port'
check_exit 0 "a capture of a real host's port is planned" "$H" run -n scenarios/pfc-bidir.json --lab labs/geforce-pair.json --set 'capture={"ports": ["a:0"]}'

# ---- limits
simulate limit pfc-bidir "${pair[@]}" --set 'capture={"limit": "100kB"}'
bytes=$(stat -c %s "$capture")
check "a limit is not exceeded, and nearly used" test "$bytes" -le 100000 -a "$bytes" -gt 99700
check "the result has the size, and the time of the first frame that was left out" \
    jq -e ".capture | .bytes == $bytes and .frames > 500 and .left_out_from_ns > 100000" "$result"
# shellcheck disable=SC2016 # $until is the variable of jq
check "... which a warning says, with the time that is covered" jq -e '(.capture.left_out_from_ns / 1e6) as $until | .warnings | length == 1 and
    (.[0] | match("^capture.pcapng ends at its limit of 100kB \\(capture.limit\\): it covers the run from 0 to ([0-9.]+) ms, and not from there to 15.5 ms$").captures[0].string | tonumber - $until | fabs < 1e-4)' "$result"
check_exit 3 "a limit without room for the ports ends the run" "$H" run scenarios/incast-dcqcn.json --quiet --no-report --out "$SCRATCH/small" \
    --set 'capture={"limit": "1KiB"}' --duration 1ms
check_says "and why: no room" 'capture.pcapng: a limit of 1024 bytes leaves no room for the names of the ports' "$SCRATCH/err"

# ---- the same on all processors (tests/unit/sim/test_sim_threads.c has 2, 3 and 7 threads), and the result is as without
plain() { jq -S 'del(.files, .capture, .simulator, .started, .finished, .scenario, .scenario_file)' "$1"; }
for threads in 1 "$(nproc)"; do
    simulate "threads$threads" incast-dcqcn "${incast[@]}" --threads "$threads" --set 'capture={}'
    sha256sum <"$capture" >"$SCRATCH/sum$threads"
    plain "$result" >"$SCRATCH/plain$threads"
    [ "$threads" = 1 ] || check "$threads threads capture the same bytes" cmp "$SCRATCH/sum1" "$SCRATCH/sum$threads"
    [ "$threads" = 1 ] || check "$threads threads have the same result" cmp "$SCRATCH/plain1" "$SCRATCH/plain$threads"
done
simulate none incast-dcqcn "${incast[@]}"
plain "$result" >"$SCRATCH/plain0"
check "the result is as without a capture" cmp "$SCRATCH/plain0" "$SCRATCH/plain1"
check "without a capture there is no file" test ! -e "$capture"

if [ -z "$(command -v tshark)" ]; then
    skip "tshark reads captures" no-command tshark
    finish
fi

# ---- what tshark reads
counts() { # FILTER...: how many frames each finds, in one reading
    local IFS=,
    tshark -q -r "$capture" -z "io,stat,0,$*" 2>/dev/null |
        awk -F '|' -v n=$# '/<>/ { for (i = 0; i < n; i++) sum[i] += $(3 + 2 * i) } END { for (i = 0; i < n; i++) print sum[i] }'
}
decoded() { # WHAT [WHAT FILTER COUNT]...: nothing is malformed, and each filter finds so many frames, which are some
    local of=$1 i n=() filters=()
    shift
    for ((i = 2; i <= $#; i += 3)); do filters+=("${!i}"); done
    mapfile -t n < <(counts '_ws.malformed or _ws.expert.severity == error' 'not infiniband and not macc' frame "${filters[@]}")
    check "$of: nothing is malformed" test "${n[0]}" = 0
    check "$of: every frame is RoCE or MAC control" test "${n[1]}" = 0
    check "$of: the result counts them" test "${n[2]}" = "$(jq .capture.frames "$result")"
    for ((i = 3; $#; i++)); do
        check "$1: $2 finds $3, not 0" test "${n[i]}" = "$3" -a "${n[i]}" -gt 0
        shift 3
    done
}
sent='frame.packet_flags_direction == 2' received='frame.packet_flags_direction == 1'
from() { printf '%s' "$sent && frame.interface_name matches \"^$1\""; }
to() { printf '%s' "$received && frame.interface_name matches \"^$1\""; }

simulate pfc pfc-bidir "${pair[@]}" --set 'capture={}'
decoded pfc-bidir \
    "pauses that hosts sent" "macc.opcode == 0x0101 && $sent" "$(counters tx_prio0_pause)" \
    "pauses that hosts received" "macc.opcode == 0x0101 && $received" "$(counters rx_prio0_pause)" \
    "PFC of priority 0" 'macc.cbfc.enbv == 1 && eth.dst == 01:80:c2:00:00:01' "$(counters '[rt]x_prio0_pause')" \
    "packets that a sent" "infiniband && $(from a:)" "$(jq '.hosts.a.counters.tx_prio0_packets.total' "$result")"
check "XON follows XOFF" test "$(counts "macc.cbfc.pause_time.c0 == 0 && $sent")" -gt 0

# An ACK names the last packet of a message (here of 16 packets), and counts the messages.
tshark -r "$capture" -Y "infiniband.bth.opcode == 8 && $(from a:)" -T fields -e infiniband.bth.psn 2>/dev/null | sort -u >"$SCRATCH/last"
tshark -r "$capture" -Y "infiniband.bth.opcode == 17 && $(to a:)" -T fields -e infiniband.bth.psn -e infiniband.aeth.msn 2>/dev/null >"$SCRATCH/acks"
check "ACKs name last packets" test -s "$SCRATCH/acks" -a -z "$(cut -f 1 "$SCRATCH/acks" | sort -u | comm -23 - "$SCRATCH/last")"
check "ACKs count messages" test -z "$(awk '$2 != ($1 + 1) / 16' "$SCRATCH/acks")"
check "a write's first packet has the length of its message" \
    test "$(tshark -r "$capture" -Y 'infiniband.bth.opcode == 6' -T fields -e infiniband.reth.dmalen 2>/dev/null | sort -u)" = 65536

# Whole frames: the ICRC of each.
whole() { # WHAT
    tshark -r "$capture" -F pcap -w "$SCRATCH/whole.pcap" -P >"$SCRATCH/shown" 2>/dev/null
    tests/e2e/guests/roce-frames "$SCRATCH/whole.pcap" >"$SCRATCH/counts"
    check "$1: every ICRC is right" jq -e '.roce > 1000 and .icrc_wrong == 0 and .other == 0' "$SCRATCH/counts"
    check "$1: tshark has no complaint about lengths" test -s "$SCRATCH/shown" -a -z "$(grep -m 1 -iE 'malformed|invalid' "$SCRATCH/shown")"
}
# Lengths: the counters of bytes are those of the frames, filled up to 4 bytes and with immediate data, and their FCS.
mapfile -t short < <(phases 0ns 100us 50us)
simulate lengths pfc-bidir "${short[@]}" --set 'capture={}' --set 'flows.*.message=4999B' --set flows.a-to-b.op=write-imm
frames=$(tshark -r "$capture" -Y "infiniband && $sent" -T fields -e frame.len 2>/dev/null | awk '{ n += $1 + 4 } END { print n }')
check "bytes of odd messages and of immediate data are counted as they are in the frames ($frames)" \
    test "$frames" -gt 100000 -a "$frames" = "$(counters tx_prio0_bytes)"

simulate whole pfc-bidir "${pair[@]}" --set 'capture={"snap": "64KiB", "limit": "20MB", "ports": ["b"]}'
decoded "whole frames"
whole "whole frames"
check "one port is one interface, with its rate" test "$(tshark -r "$capture" -T fields -e frame.interface_name 2>/dev/null | sort -u)" = b:0

simulate incast incast-dcqcn "${incast[@]}" --set 'capture={"snap": "64KiB", "limit": "1GB"}'
cnp='infiniband.bth.opcode == 129'
decoded incast \
    "CNPs that hosts sent" "$cnp && $(from h)" "$(counters np_cnp_sent)" \
    "CNPs that hosts received" "$cnp && $(to h)" "$(counters rp_cnp_handled)" \
    "CE at the receiver" "ip.dsfield.ecn == 3 && $(to h16:)" "$(jq '.hosts.h16.counters.np_ecn_marked_roce_packets.total' "$result")" \
    "pauses at hosts" "macc.cbfc.enbv.c3 == 1 && $(to h)" "$(counters rx_prio3_pause)" \
    "data at the receiver" "infiniband.bth.opcode < 13 && $(to h16:)" "$(jq '.hosts.h16.counters.rx_prio3_packets.total' "$result")" \
    "ACKs of the receiver" "infiniband.bth.opcode == 17 && $(from h16:)" "$(jq '.hosts.h16.counters.tx_prio3_packets.total' "$result")"
whole incast

mapfile -t lossy < <(phases 0ns 2ms 2ms)
simulate lossy lossy-link "${lossy[@]}" --set faults.0.loss=0.001 --set 'capture={"limit": "1GB"}'
nak='infiniband.aeth.syndrome.opcode == 3'
decoded lossy-link \
    "NAKs that hosts sent" "$nak && $(from h)" "$(counters out_of_sequence)" \
    "NAKs that hosts received" "$nak && $(to h)" "$(counters packet_seq_err)"
# a packet whose number is not above all others that the queue pair has sent is sent again
again=$(tshark -r "$capture" -Y "infiniband.bth.opcode < 13 && $(from h)" -T fields -e infiniband.bth.destqp -e infiniband.bth.psn 2>/dev/null |
    awk '$1 in highest && $2 + 0 <= highest[$1] { again++; next } { highest[$1] = $2 + 0 } END { print again + 0 }')
check "packets sent again: $again" test "$again" -gt 0 -a "$again" = "$(jq '[.flows[].retransmitted_packets // empty] | add // 0' "$result")"

# Reads: the responses have the numbers that their request stands for.
simulate reads pfc-bidir "${pair[@]}" --set phases.measure=500us --set 'flows.*.op=read' --set 'capture={"snap": "64KiB", "ports": ["a"]}'
decoded reads
whole reads
check "a read's first response has the number of its request" test -z "$(comm -13 \
    <(tshark -r "$capture" -Y 'infiniband.bth.opcode == 12' -T fields -e ip.dst -e infiniband.bth.psn 2>/dev/null | sort) \
    <(tshark -r "$capture" -Y 'infiniband.bth.opcode == 13' -T fields -e ip.src -e infiniband.bth.psn 2>/dev/null | sort))"
simulate immediate pfc-bidir "${pair[@]}" --set phases.measure=100us --set 'flows.*.op=write-imm' --set 'capture={}'
check "writes with immediate data end with it" test "$(counts 'infiniband.bth.opcode == 9 && infiniband.immdt')" -gt 0 -a "$(counts 'infiniband.bth.opcode == 8')" = 0

# ---- phase, flows, priorities, snap
simulate part incast-dcqcn "${incast[@]}" --set phases.warmup=500us --set phases.measure=1ms \
    --set 'capture={"phase": "measure", "flows": ["incast/[12]"], "priorities": [3], "snap": "64B", "ports": ["h16", "h[0-2]:0"]}'
mapfile -t n < <(counts 'frame.time_epoch < 0.0005 || frame.time_epoch >= 0.0015' "$cnp" 'frame.cap_len > 64' 'frame.cap_len == 64 && frame.len > 64')
check "phase: no frame outside" test "${n[0]}" = 0
check "flows: only these queue pairs" test "$(tshark -r "$capture" -Y "infiniband.bth.opcode < 13" -T fields -e ip.src 2>/dev/null | sort -u | xargs)" = "11.0.1.1 11.0.2.1"
check "priorities: no CNP" test "${n[1]}" = 0
check "snap: no frame is longer" test "${n[2]}" = 0 -a "${n[3]}" -gt 0
check "ports: four interfaces" test "$(tshark -r "$capture" -T fields -e frame.interface_name 2>/dev/null | sort -u | xargs)" = "h0:0 h16:0 h1:0 h2:0"

finish
