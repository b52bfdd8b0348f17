#!/bin/bash
# nic-sampler and host-facts in a guest: every source is read from the real kernel and compared with the tool that people use,
# in the same guest. testnic (tests/kmod) gives the guest's interface mlx5's names; it counts nothing itself.
# shellcheck disable=SC2016,SC2317 # jq, awk and the guest expand what stands in single quotes; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
# shellcheck source=tests/e2e/collectors/pace.bash
. "$(dirname "$0")/../collectors/pace.bash"
softlab_require "$0" "$@"
softlab_begin soft-pair

guest() { softlab_ssh a "$@"; }

softlab_put a "$BUILD/nic-sampler" "$BUILD/host-facts" || { nok "programs are on the guest"; finish; }

# ---- as it is: what the kernel lacks is named, the rest is read
guest 'nic-sampler --netdev data0 --count 3' > "$SCRATCH/plain" 2> "$SCRATCH/plain.err"
check_says "a plain guest is sampled" '"reason":"count"' "$SCRATCH/plain"
head -n 1 "$SCRATCH/plain" > "$SCRATCH/plain.header"
for source in dcb standard dcqcn; do
    check "$source is named as missing" jq -e --arg s $source 'any(.missing[]; .source == $s and (.text | length > 10))' "$SCRATCH/plain.header"
done
for source in ethtool rdma link ip qdisc; do
    check "$source is read" jq -e --arg s $source 'any(.columns[]; .source == $s)' "$SCRATCH/plain.header"
done

# ---- with mlx5's names
KERNEL=$(guest uname -r)
if [ ! -d "/usr/src/linux-headers-$KERNEL" ]; then
    skip "sources with mlx5's names" no-file "/usr/src/linux-headers-$KERNEL" linux-headers-amd64
    finish
fi
if ! make -s -C "$ROOT/tests/kmod" OUT="$SCRATCH/kmod" KDIR="/usr/src/linux-headers-$KERNEL" > "$SCRATCH/kmod.log" 2>&1; then
    nok "testnic builds" "$(tail -n 20 "$SCRATCH/kmod.log")"
    finish
fi
guest 'cat > /tmp/testnic.ko && insmod /tmp/testnic.ko netdev=data0 channels=20' < "$SCRATCH/kmod/testnic.ko" ||
    { nok "testnic loads" "$(guest dmesg | tail -n 5)"; finish; }
clean_guest() {
    guest 'pkill -x nic-sampler; tc qdisc del dev data0 root 2> /dev/null; rmmod testnic; rm -rf /tmp/testnic.ko /tmp/change.jsonl /tmp/look /tmp/away /usr/local/bin/witness
        rdma link show rxe0/1 > /dev/null 2>&1 || rdma link add rxe0 type rxe netdev data0' 2> /dev/null
}
at_exit clean_guest

# values beyond 32 bits too, each different, so that a mixed-up column shows
guest 'cd /sys/module/testnic/parameters
    dcb pfc set dev data0 prio-pfc all:off 3:on
    i=4294960000
    ethtool -S data0 | sed -n "s/^ *\(.*\): .*/\1/p" | while read -r name; do i=$((i + 7)); echo "$name=$i" > counter; done
    echo outbound_pci_stalled_rd=37 > counter
    tc qdisc add dev data0 root handle 1: red limit 1000000 min 30000 max 150000 avpkt 1000 burst 50 probability 0.2 bandwidth 20mbit ecn'
# RoCE and marked packets, so that their counters move
softlab_ssh b 'timeout 120 ib_send_bw -d rxe0 -n 50 -s 1024 > /dev/null 2>&1 & ping -q -c 3 -i 0.2 -Q 3 10.0.0.1; ping -q -c 2 -i 0.2 -Q 2 10.0.0.1; wait' \
    > /dev/null 2>&1 &
guest 'for try in $(seq 20); do timeout 30 ib_send_bw -d rxe0 -n 50 -s 1024 10.0.0.2 && break; sleep 0.5; done' > "$SCRATCH/bw" 2>&1
wait $!

# one sample between two looks with the tools: what stands still must be equal, what moves lies between
guest 'look() { nstat -asz > $1.nstat; cat /proc/net/dev_snmp6/data0 > $1.six; ip -j -s link show data0 > $1.link; }
    cd /tmp; rm -rf look; mkdir look; cd look; look before
    nic-sampler --netdev data0 --count 1 > sample 2> sample.err
    ethtool -S data0 > ethtool; ethtool --json -I -a data0 > pause; ethtool --json -S data0 --groups eth-mac eth-ctrl > groups
    rdma -j statistic show link rxe0/1 > rdma; dcb -j -s pfc show dev data0 > dcb; tc -s -j qdisc show dev data0 > tc
    look after; tar c .' > "$SCRATCH/look.tar"
mkdir "$SCRATCH/look" && tar x -C "$SCRATCH/look" -f "$SCRATCH/look.tar"
cd "$SCRATCH/look" || exit 1

# name -> value of one source, as JSON
sampled() {
    jq -s --arg source "$1" 'first(.[] | select(.type? == "header")).columns as $c | first(.[] | arrays) as $v |
        [range($c | length) | select($c[.].source == $source) | {key: $c[.].name, value: $v[. + 2]}] | from_entries' sample
}
compare() { # what, sampled JSON, expected JSON
    if [ "$(jq -S . "$2" | sha256sum)" = "$(jq -S . "$3" | sha256sum)" ] && [ "$(jq length "$2")" -gt 0 ]; then
        ok "$1 ($(jq length "$2") values)"
    else
        nok "$1" "$(diff <(jq -S . "$2") <(jq -S . "$3") | head -n 12)"
    fi
}

sampled ethtool > s.ethtool
sed -n 's/^ *\(.*\): \(.*\)$/{"key":"\1","value":\2}/p' ethtool | jq -s 'from_entries' > e.ethtool
compare "driver statistics equal ethtool -S" s.ethtool e.ethtool
check "there are some 400 of them, PFC's strings among them" jq -e 'length > 380 and has("rx_prio3_pause") and (has("rx_prio0_pause") | not)' s.ethtool

sampled rdma > s.rdma
jq '.[0] | del(.ifname, .port)' rdma > e.rdma
compare "RDMA counters equal rdma statistic" s.rdma e.rdma
check "and RoCE has moved them" jq -e '.sent_pkts > 0 and .rcvd_pkts > 0' s.rdma

sampled dcb > s.dcb
jq '[.requests, .indications] as [$q, $i] |
    [range(8) as $p | {key: "pfc_prio\($p)_requests", value: $q[$p]}, {key: "pfc_prio\($p)_indications", value: $i[$p]}] | from_entries' dcb > e.dcb
compare "PFC counts equal dcb pfc" s.dcb e.dcb
check "and are the driver's" jq -e -n --slurpfile d s.dcb --slurpfile e s.ethtool '$d[0].pfc_prio3_requests == $e[0].tx_prio3_pause and $d[0].pfc_prio3_requests > 0'

sampled standard > s.standard
jq -s '(.[0][0].statistics | {tx_pause_frames, rx_pause_frames}) + (.[1][0] | (."eth-mac" // {}) + (."eth-ctrl" // {}))' pause groups > e.standard
compare "standard statistics equal ethtool -I -a and --groups" s.standard e.standard

sampled qdisc > s.qdisc
jq '.[] | select(.kind == "red") | {bytes, packets, drops, overlimits, requeues, backlog, qlen, early, pdrop, other, marked} |
    with_entries(.key |= "qdisc_red_" + .)' tc > e.qdisc
compare "red equals tc -s qdisc" s.qdisc e.qdisc
check "and packets have passed it" jq -e '.qdisc_red_packets > 0' s.qdisc

sampled link > s.link
jq -s '.[0][0] as $l | $l.stats64 as $s | {link_mtu: $l.mtu, link_carrier: 1, link_rx_packets: $s.rx.packets, link_tx_packets: $s.tx.packets,
    link_rx_bytes: $s.rx.bytes, link_tx_bytes: $s.tx.bytes, link_rx_errors: $s.rx.errors, link_tx_errors: $s.tx.errors,
    link_rx_dropped: $s.rx.dropped, link_tx_dropped: $s.tx.dropped}' before.link > e.link
jq 'del(.link_carrier_changes, .link_rx_missed, .link_rx_crc_errors) | with_entries(select(.key | startswith("link")))' s.link > s.link2
compare "the link equals ip -s link" s.link2 e.link

jq 'with_entries(select(.key | startswith("Ip6")))' s.link > s.six
awk '/^Ip6In.*(ECT|CE)/ {printf "{\"key\":\"%s\",\"value\":%s}\n", $1, $2}' before.six | jq -s 'from_entries' > e.six
compare "code points of IPv6 equal dev_snmp6" s.six e.six

sampled ip > s.ip
nstat_json() { awk '$1 !~ /^#/ && NF >= 2 {printf "{\"key\":\"%s\",\"value\":%s}\n", $1, $2}' "$1" | jq -s 'from_entries'; }
nstat_json before.nstat > before.ip
nstat_json after.nstat > after.ip
jq -n --slurpfile s s.ip --slurpfile b before.ip '$s[0] | with_entries(select(.key | test("ECT[01]|CE"))) | with_entries(.value = $b[0][.key])' > e.ip
jq 'with_entries(select(.key | test("ECT[01]|CE")))' s.ip > s.ip2
compare "code points equal nstat" s.ip2 e.ip
check "marked packets were counted" jq -e '.IpExtInCEPkts >= 3 and .IpExtInECT0Pkts >= 2' s.ip
check "what moves lies between two looks of nstat" jq -e -n --slurpfile s s.ip --slurpfile b before.ip --slurpfile a after.ip \
    '$b[0].IpExtInNoECTPkts <= $s[0].IpExtInNoECTPkts and $s[0].IpExtInNoECTPkts <= $a[0].IpExtInNoECTPkts'
cd "$ROOT" || exit 1

# ---- what changes while sampling
# A value of a column in the last sample, or in the one before event N...: rows with the header that applies.
rows() { jq -c -n 'foreach inputs as $l ({}; if $l | type == "array" then .row = $l elif $l.type == "header" then .columns = [$l.columns[].name] | .row = null else .row = null end;
    select(.row) | [.columns, .row[2:]] | transpose | map({key: .[0], value: .[1]}) | from_entries)' "$1"; }

guest 'cd /sys/module/testnic/parameters; echo rx_out_of_buffer=4294967290 > counter; echo rx_discards_phy=500 > counter
    nic-sampler --netdev data0 --every 50ms > /tmp/change.jsonl 2> /dev/null & pid=$!
    sleep 0.8; echo rx_out_of_buffer=5 > counter; echo outbound_pci_stalled_rd=90 > counter; sleep 0.3
    echo outbound_pci_stalled_rd=10 > counter; echo rx_discards_phy=20 > counter; sleep 0.3
    dcb pfc set dev data0 prio-pfc 3:off 4:on; sleep 0.5
    rdma link delete rxe0; sleep 1; rdma link add rxe0 type rxe netdev data0; sleep 2
    kill -TERM $pid; wait $pid; echo "exit $?" >&2; cat /tmp/change.jsonl' > "$SCRATCH/change" 2> "$SCRATCH/change.err"
check_says "a signal ends it with exit code 0" '^exit 0$' "$SCRATCH/change.err"
check_says "and the last line says so" '"reason":"signal"' <(tail -n 1 "$SCRATCH/change")
rows "$SCRATCH/change" > "$SCRATCH/rows"
check "a 32-bit wrap is unwrapped" jq -e -s '[.[].rx_out_of_buffer] | unique == [4294967290, 4294967301]' "$SCRATCH/rows"
check "a gauge is shown as read" jq -e -s '[.[].outbound_pci_stalled_rd] | (index([90]) and index([10]))' "$SCRATCH/rows"
check "a counter that is reset counts on" jq -e -s '[.[].rx_discards_phy] | unique == [500, 520]' "$SCRATCH/rows"
check "and the reset is reported" grep -q '"what":"reset".*rx_discards_phy' "$SCRATCH/change"
check "PFC that moves to another priority brings a new header" jq -e -s \
    '(.[0] | has("rx_prio3_pause") and (has("rx_prio4_pause") | not)) and (.[-1] | has("rx_prio4_pause") and (has("rx_prio3_pause") | not))' "$SCRATCH/rows"
check "an RDMA device that goes is reported, with nulls" jq -e -s 'any(.[]; has("sent_pkts") and .sent_pkts == null)' "$SCRATCH/rows"
check_says "as gone" '"source":"rdma","what":"gone"' "$SCRATCH/change"
check_says "and picked up again" '"source":"rdma","what":"back"' "$SCRATCH/change"
check "with values again" jq -e -s '.[-1].sent_pkts != null' "$SCRATCH/rows"

# ---- a driver that is reloaded
guest 'nic-sampler --netdev data0 --every 50ms > /tmp/change.jsonl 2> /dev/null & pid=$!
    sleep 0.5; rmmod testnic; sleep 1; insmod /tmp/testnic.ko netdev=data0 channels=20; sleep 2
    kill -TERM $pid; wait $pid; cat /tmp/change.jsonl' > "$SCRATCH/change"
rows "$SCRATCH/change" > "$SCRATCH/rows"
check_says "a driver that loses its DCB is reported" '"source":"dcb","what":"gone"' "$SCRATCH/change"
check_says "and picked up again" '"source":"dcb","what":"back"' "$SCRATCH/change"
check "its statistics meanwhile are the other driver's" jq -e -s '(.[0] | has("outbound_pci_stalled_rd")) and any(.[]; has("outbound_pci_stalled_rd") | not) and (.[-1] | has("outbound_pci_stalled_rd") and .pfc_prio0_requests != null)' "$SCRATCH/rows"

# ---- optional counters: Soft-RoCE has none, which is not an error
check "missing optional counters are not an error" guest 'nic-sampler --rdma rxe0 --optional-counters --count 1 > /dev/null 2>&1'
guest 'nic-sampler --netdev data0 --rdma rxe7 --count 1' > /dev/null 2> "$SCRATCH/err"
check "no such RDMA device ends with 3" [ $? = 3 ]
check_says "and names those that exist" 'no RDMA device rxe7 .*rxe0/1 \(data0\)' "$SCRATCH/err"

# ---- what the NIC receives and what the GPU takes, with a stand-in for NVML
if compile_preload "$SCRATCH/libnvidia-ml.so.1" "$ROOT/tests/data/nvml/standin.c" 2> /dev/null; then
    guest 'cat > /tmp/libnvidia-ml.so.1' < "$SCRATCH/libnvidia-ml.so.1"
    guest 'cd /sys/module/testnic/parameters; (n=0; while [ -e /tmp/libnvidia-ml.so.1 ]; do n=$((n + 100000000)); echo rx_vport_rdma_unicast_bytes=$n > counter; sleep 0.1; done) &
        LD_LIBRARY_PATH=/tmp host-facts --netdev data0 --measure --gpu 0; rm /tmp/libnvidia-ml.so.1; wait' > "$SCRATCH/facts"
    check "throughput of NIC and GPU is measured" jq -e '.traffic | .gpu_rx_bytes_per_s == 2893000000 and .rdma_rx_bytes_per_s > 1e8 and .rdma_rx_bytes_per_s < 1.3e9' "$SCRATCH/facts"
fi

# ---- pace: every source at 100 Hz, with a witness (pace.bash) in the guest
if pace_witness && softlab_put a "$SCRATCH/witness"; then
    pace_begin 10000000
    for _ in 1 2 3 4 5; do
        guest 'witness 10000000 /tmp/away nic-sampler --netdev data0 --every 10ms --count 200 --realtime' > "$SCRATCH/pace" 2> /dev/null
        guest 'cat /tmp/away' > "$SCRATCH/away"
        pace_try "$SCRATCH/pace" "$SCRATCH/away" && break
    done
    pace_verdict "100 Hz of all sources in an emulated guest, without overruns"
    check "every deadline is accounted for, and none drifts" pace_accounted "$SCRATCH/pace" "$SCRATCH/away"
else
    skip "100 Hz of all sources in an emulated guest, without overruns" no-compiler
fi

# Its CPU time compared with that of the usual commands, including process start in both. What else the machine does makes either look
# more expensive, also within the guest, so the least of some rounds counts, and the limit is far below what a quiet machine shows (about
# 100 times): the bench has the figure.
least() { printf '%s\n' "$@" | sort -n | head -n 1; }
costs=()
rounds=()
for _ in 1 2 3; do
    guest 'nic-sampler --netdev data0 --every 10ms --count 200' > "$SCRATCH/cost" 2> /dev/null
    costs+=("$(tail -n 1 "$SCRATCH/cost" | jq '.cpu_ns / .samples / 1000 | floor')")
    guest "$(timed_rounds 2 "ethtool -S data0" "rdma -j statistic" "dcb -j -s pfc show dev data0" "tc -s -j qdisc show dev data0")" > "$SCRATCH/times" 2> "$SCRATCH/why" || nok "the usual commands work" "$(cat "$SCRATCH/why")"
    rounds+=("$(children_us "$SCRATCH/times" 2)")
done
cost=$(least "${costs[@]}")
processes=$(least "${rounds[@]}")
echo "# one sample of $(head -n 1 "$SCRATCH/cost" | jq '.columns | length') columns: $cost us of CPU; the same by ethtool, rdma, dcb and tc: $processes us, $((processes / cost)) times as much"
check "at least 20 times less CPU than the processes take" [ "$processes" -ge $((20 * cost)) ]

# ---- host-facts
guest 'dcb pfc set dev data0 prio-pfc all:off 2:on; host-facts --netdev data0' > "$SCRATCH/facts" 2> "$SCRATCH/facts.err"
check "host-facts names the guest's NIC and its Soft-RoCE" jq -e '.nics[0] | .netdev == "data0" and .driver == "virtio_net" and .rdma.device == "rxe0"' "$SCRATCH/facts"
check "its GIDs with types" jq -e 'any(.nics[0].rdma.gids[]; .type == "RoCE v2" and .address == "10.0.0.1" and .netdev == "data0")' "$SCRATCH/facts"
check "PFC as configured" jq -e '.nics[0].settings.pfc == [2]' "$SCRATCH/facts"
every=$("$BUILD/host-facts" | jq -c "[.checks[].check] | unique") # on any machine, even without a NIC
check "a verdict on every check" jq -e --argjson every "$every" '($every | length > 10) and $every - [.checks[].check] == []' "$SCRATCH/facts"
check "no GPU is unknown, not failure" jq -e 'any(.checks[]; .check == "peer-memory" and .verdict == "unknown")' "$SCRATCH/facts"
guest 'host-facts --netdev data0 --nccl-env' > "$SCRATCH/nccl" 2>&1
check_says "NCCL settings follow" '^export NCCL_IB_HCA==rxe0:1$' "$SCRATCH/nccl"

# ---- without privilege
guest 'chmod 755 /usr/local/bin/nic-sampler; su -s /bin/sh nobody -c "nic-sampler --netdev data0 --count 2"' > "$SCRATCH/nobody" 2> "$SCRATCH/nobody.err"
check "counters need no privilege" jq -e -s '.[0].columns | map(.source) | unique | contains(["dcb", "ethtool", "ip", "link", "qdisc", "rdma", "standard"])' "$SCRATCH/nobody"
finish
