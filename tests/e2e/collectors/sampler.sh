#!/bin/bash
# nic-sampler on this machine's own kernel: a veth pair in a network namespace of the test's own, a stand-in for NVML, and everything
# that can go wrong. Whether it keeps its deadlines is in pace.sh.
# shellcheck disable=SC2016,SC2317 # jq, awk and the guest expand what stands in single quotes; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
if [ -z "${SAMPLER_NAMESPACE:-}" ]; then
    if ! unshare --net true 2> /dev/null; then
        skip "nic-sampler on a veth pair" no-namespaces
        finish
    fi
    rm -rf "$SCRATCH"
    SAMPLER_NAMESPACE=1 exec unshare --net --mount "$0" "$@"
fi
mount -t sysfs sysfs /sys 2> /dev/null # of the new namespace
SAMPLER=$BUILD/nic-sampler
ip link set lo up
ip link add v0 type veth peer name v1
ip link set v0 up && ip link set v1 up && ip address add 192.0.2.1/24 dev v0
tc qdisc add dev v0 root handle 1: htb default 1 2> /dev/null
tc class add dev v0 parent 1: classid 1:1 htb rate 1mbit 2> /dev/null

run() { timeout 100 "$SAMPLER" "$@"; }
# every line of the file is one whole JSON value
whole_lines() { [ -s "$1" ] && [ -z "$(tail -c 1 "$1" | tr -d '\n')" ] && jq -e -s 'length > 0' "$1"; }
# value of a column in sample N (from 0) of a file with one header
value() { jq -s --arg c "$2" --argjson n "$3" '(first(.[] | select(.type? == "header")).columns | map(.name) | index($c)) as $i | [.[] | arrays][$n][$i + 2]' "$1"; }
samples_of() { grep -c '^\[' "$1"; }
has_samples() { [ "$(samples_of "$1")" -ge "$2" ]; } # file, how many
last_is() { [ "$(grep '^\[' "$1" | tail -n 1 | jq ".[$2]")" = "$3" ]; } # file, place in the line, value
place() { head -n 1 "$1" | jq --arg c "$2" '.columns | map(.name) | index($c) + 2'; } # of a column in the lines of a file

# ---- values
for _ in 1 2 3; do echo x > /dev/udp/192.0.2.9/4791; done 2> /dev/null # nobody answers: ARP frames leave v0
sleep 0.3
htb_bytes() { tc -s -j qdisc show dev v0 | jq '.[0].bytes'; }
before=$(htb_bytes)
run --netdev v0 --count 2 > "$SCRATCH/lines" 2> "$SCRATCH/err"
check "lines are whole, header first, end last" jq -e -s '.[0].type == "header" and ([.[] | arrays] | length) == 2 and .[-1].type == "end" and .[-1].samples == 2' "$SCRATCH/lines"
check "a value for each column, with unit, kind, source and group" jq -e -s '(.[0].columns | length) == (first(.[] | arrays) | length) - 2 and all(.[0].columns[]; .name != "" and .unit != "" and .source != "" and .group != "" and (.kind == "counter" or .kind == "gauge"))' "$SCRATCH/lines"
check "names are unique" jq -e -s '.[0].columns | map(.name) | length == (unique | length)' "$SCRATCH/lines"
for source in rdma dcb standard dcqcn; do
    check_says "$source, which a veth lacks, is named with the reason" "not read: $source: .{15}" "$SCRATCH/err"
done
ethtool -S v0 | sed -n 's/^ *\(.*\): \(.*\)$/{"key":"\1","value":\2}/p' | jq -s 'from_entries' > "$SCRATCH/ethtool"
jq -s '.[0].columns as $c | first(.[] | arrays) as $v | [range($c | length) | select($c[.].source == "ethtool") | {key: $c[.].name, value: $v[. + 2]}] | from_entries' "$SCRATCH/lines" > "$SCRATCH/sampled"
check "driver statistics equal ethtool -S" [ "$(jq -S . "$SCRATCH/ethtool")" = "$(jq -S . "$SCRATCH/sampled")" ]
check "packets on the link were counted" [ "$(value "$SCRATCH/lines" link_tx_packets 0)" -gt 0 ]
bytes=$(value "$SCRATCH/lines" qdisc_htb_bytes 0)
check "htb lies between two looks of tc -s qdisc" [ "$before" -le "$bytes" -a "$bytes" -le "$(htb_bytes)" -a "$bytes" -gt 0 ]
check "the MTU is ip link's" [ "$(value "$SCRATCH/lines" link_mtu 0)" = "$(ip -j link show v0 | jq '.[0].mtu')" ]
ip -6 address add 2001:db8::1/64 dev v0 nodad
until_true 30 grep -q '^Ip6OutMcastOctets *[[:space:]]*[1-9]' /proc/net/dev_snmp6/v0 # neighbours are looked for
six() { grep -E '^Ip6In(NoECT|ECT1|ECT0|CE)Pkts' /proc/net/dev_snmp6/v0 | awk '{print $1, $2}' | sort; }
sampled_six() { run --netdev v0 --count 1 > "$SCRATCH/six" 2> /dev/null && for c in Ip6InCEPkts Ip6InECT0Pkts Ip6InECT1Pkts Ip6InNoECTPkts; do echo "$c $(value "$SCRATCH/six" "$c" 0)"; done; }
same_six() { # the kernel's own packets may come meanwhile: only counts that stood still are compared
    local before sampled
    before=$(six) && sampled=$(sampled_six) && [ "$before" = "$(six)" ] && [ "$sampled" = "$before" ]
}
check "code points of IPv6 are the kernel's, whose order in netlink differs" until_true 60 same_six
# every name is known to `harness check`
jq -s '{schema: 1, name: "names", roles: ["a", "b"], flows: [{name: "f", from: "a", to: "b"}],
    expect: [.[0].columns[] | {name, check: "last(a.\(.name)) >= 0"}]}' "$SCRATCH/lines" > "$SCRATCH/names.json"
check "harness check takes every name" "$BUILD/harness" check "$SCRATCH/names.json" --lab "$ROOT/labs/sim-geforce-pair.json"
run --netdev v0 --count 1 --groups link,ecn > "$SCRATCH/lines" 2> /dev/null
check "--groups chooses columns" jq -e -s '.[0].columns | map(.group) | unique == ["ecn", "link"]' "$SCRATCH/lines"

# ---- code points of IPv4: with the interface's packets, and ten times a second those of others
ip link add p0 type veth peer name p1 && ip address add 198.51.100.1/24 dev p0 && ip link set p0 up
unshare --net sleep 120 &
peer=$!
apart() { [ "$(readlink "/proc/$peer/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
until_true 30 apart && ip link set p1 netns "/proc/$peer/ns/net"
nsenter --net="/proc/$peer/ns/net" bash -c 'sysctl -qw net.ipv6.conf.p1.disable_ipv6=1; ip address add 198.51.100.2/24 dev p1; ip link set p1 up' 2> /dev/null
until_true 30 ip -4 route get 198.51.100.2
rm -f "$SCRATCH/lines"
"$SAMPLER" --netdev p0 --groups ecn,throughput --every 5ms > "$SCRATCH/lines" 2> /dev/null &
pid=$!
until_true 30 has_samples "$SCRATCH/lines" 60
ecn=$(place "$SCRATCH/lines" IpExtInNoECTPkts)
nsenter --net="/proc/$peer/ns/net" bash -c 'for i in $(seq 100); do echo x > /dev/udp/198.51.100.1/4791; sleep 0.01; done' 2> /dev/null
grows() { [ "$(grep '^\[' "$SCRATCH/lines" | tail -n 1 | jq ".[$ecn]")" -gt "$1" ]; }
sleep 0.3 # the last of them is counted
after=$(grep '^\[' "$SCRATCH/lines" | tail -n 1 | jq ".[$ecn]")
echo x > /dev/udp/127.0.0.1/4791
taken=$(samples_of "$SCRATCH/lines")
until_true 30 grows "$after"
kill -TERM $pid && wait $pid
kill $peer && wait $peer 2> /dev/null
# the numbers of the samples in which a column rose
rises='def rises($name): (map(select(.columns?))[0].columns | map(.name) | index($name) + 2) as $i | [.[] | arrays | .[$i]] | [range(60; length) as $n | select(.[$n] > .[$n - 1]) | $n];'
check "packets that the interface receives show as they come" jq -e -s "$rises"' (rises("link_rx_packets") | length) as $n | $n >= 10 and (rises("IpExtInNoECTPkts") | length) * 3 >= $n' "$SCRATCH/lines"
check "packets of another interface show within a tenth of a second: 20 samples" jq -e -s --argjson taken "$taken" "$rises"' rises("IpExtInNoECTPkts")[-1] - $taken <= 20' "$SCRATCH/lines"

# ---- parameters of mlx5, from trees laid out after both kinds of driver
ip link add eth1 type veth peer name eth1p
ip link add enp1s0 type veth peer name enp1s0p
for host in geforce-guest no-gpu; do
    mkdir "$SCRATCH/$host" && "$ROOT/tests/data/hosts/lay-out" "$ROOT/tests/data/hosts/$host.tree" "$SCRATCH/$host"
done
ecn=$SCRATCH/geforce-guest/sys/class/net/eth1/ecn
rm -f "$SCRATCH/lines"
"$SAMPLER" --root "$SCRATCH/geforce-guest" --netdev eth1 --groups dcqcn,pcie,link --every 20ms > "$SCRATCH/lines" 2> /dev/null &
pid=$!
until_true 30 has_samples "$SCRATCH/lines" 1
check "DCQCN parameters of MLNX_OFED, the PCIe link and the port's speed" [ "$(for c in dcqcn_rp_rpg_byte_reset dcqcn_np_cnp_dscp dcqcn_rp_enable_prio0 pcie_link_speed pcie_link_width link_speed dcqcn_rp_rpg_ai_rate; do value "$SCRATCH/lines" $c 0; done | tr '\n' ' ')" = "32767 48 1 8000 8 25000 5 " ]
echo 9 > "$ecn/roce_rp/rpg_ai_rate"
taken=$(samples_of "$SCRATCH/lines")
until_true 30 last_is "$SCRATCH/lines" "$(place "$SCRATCH/lines" dcqcn_rp_rpg_ai_rate)" 9
kill -TERM $pid && wait $pid
check "a parameter that changes shows within a second: 50 samples" jq -e -s --argjson taken "$taken" '(.[0].columns | map(.name) | index("dcqcn_rp_rpg_ai_rate") + 2) as $i |
    [.[] | arrays | .[$i]] | index(9) != null and index(9) - $taken <= 50 and .[-1] == 9' "$SCRATCH/lines"
run --root "$SCRATCH/no-gpu" --netdev enp1s0 --groups dcqcn --count 1 > "$SCRATCH/lines" 2> /dev/null
check "DCQCN parameters of upstream, under the same names" [ "$(value "$SCRATCH/lines" dcqcn_rp_rpg_ai_rate 0) $(value "$SCRATCH/lines" dcqcn_rp_rpg_time_reset 0)" = "7 300" ]
ip link delete eth1
ip link delete enp1s0

# ---- time that is lost
"$SAMPLER" --netdev v0 --every 1ms > "$SCRATCH/stopped" 2> /dev/null &
pid=$!
until_true 30 has_samples "$SCRATCH/stopped" 50
kill -STOP $pid && sleep 0.3 && kill -CONT $pid
taken=$(samples_of "$SCRATCH/stopped")
until_true 30 has_samples "$SCRATCH/stopped" $((taken + 50))
kill -TERM $pid && wait $pid
check "samples that could not be taken are overruns" jq -e -s '.[-1].overruns >= 250 and any(.[]; .what? == "overrun")' "$SCRATCH/stopped"

# ---- what comes and goes
"$SAMPLER" --netdev v0 --every 20ms > "$SCRATCH/gone" 2> "$SCRATCH/err" &
pid=$!
until_true 30 has_samples "$SCRATCH/gone" 5
carrier=$(place "$SCRATCH/gone" link_carrier)
ip link set v0 down && until_true 30 last_is "$SCRATCH/gone" "$carrier" 0
ip link set v0 up && until_true 30 last_is "$SCRATCH/gone" "$carrier" 1
ip link delete v0
until_true 30 last_is "$SCRATCH/gone" "$carrier" null
ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up
until_true 30 grep -q '"source":"link","what":"back"' "$SCRATCH/gone"
until_true 30 last_is "$SCRATCH/gone" "$carrier" 1
kill -TERM $pid
wait $pid
code=$?
check "an interface that is removed does not end it, a signal does, with 0" [ $code = 0 ]
check "lines are whole" whole_lines "$SCRATCH/gone"
check_says "a link flap shows" '"link_carrier"' "$SCRATCH/gone"
check "link_carrier was 0 during the link flap" jq -e -s '(.[0].columns | map(.name) | index("link_carrier") + 2) as $i | [.[] | arrays | select(length > $i) | .[$i]] | index([0]) and index([1])' "$SCRATCH/gone"
check_says "removal is reported as gone" '"source":"link","what":"gone","text":".*v0' "$SCRATCH/gone"
check_says "the return of the interface is reported as back" '"source":"link","what":"back"' "$SCRATCH/gone"
check_says "the removal is also reported on standard error" 'warning: link: gone' "$SCRATCH/err"
check "values are null while the interface is gone and numbers afterwards" jq -e -s '(.[0].columns | map(.name) | index("link_mtu") + 2) as $i | [.[] | arrays | .[$i]] | (index([null]) != null) and (.[0] != null) and (.[-1] != null)' "$SCRATCH/gone"
check "counters never fall" jq -e -s '(.[0].columns | map(.name) | index("link_tx_packets") + 2) as $i | [.[] | arrays | .[$i] | numbers] | . == sort' "$SCRATCH/gone"
# more figures of queues than a line holds, also after the driver was away
queues() { ip link add q0 numrxqueues 2000 numtxqueues 2000 type veth peer name q1; }
queues
"$SAMPLER" --netdev q0 --every 50ms > "$SCRATCH/queues" 2> "$SCRATCH/err" &
pid=$!
until_true 30 has_samples "$SCRATCH/queues" 2
check_says "more counters than a line holds: those of the queues are left out" 'do not fit into a line, which has at most 16384: the group "other" is left out' "$SCRATCH/err"
ip link delete q0
until_true 30 grep -q '"source":"ethtool","what":"gone"' "$SCRATCH/queues"
queues
until_true 30 grep -q '"source":"ethtool","what":"back"' "$SCRATCH/queues"
taken=$(samples_of "$SCRATCH/queues")
until_true 30 has_samples "$SCRATCH/queues" $((taken + 2))
kill -TERM $pid && wait $pid
check "the queues' counters stay left out when the driver is back" jq -e -s '(.[0].columns | all(.group != "other") and length > 10) and ([.[] | arrays | length] | unique | length) == 1 and ([.[] | arrays][-1][2] != null)' "$SCRATCH/queues"
ip link delete q0
ip link set v0 down
run --netdev v0 --count 1 > "$SCRATCH/down" 2> "$SCRATCH/err"
check_says "an interface that is down is sampled, with a warning" 'v0 is down' "$SCRATCH/err"
ip link set v0 up

# ---- counters that go back, are reset, or have a name twice
if skip_reason sanitized "$SAMPLER" >/dev/null; then
    skip "driver statistics of the test's own" sanitized "$SAMPLER"
elif ! has_compiler; then
    skip "driver statistics of the test's own" no-compiler
elif check "the library of driver statistics is built" compile_preload "$SCRATCH/statistics.so" "$(dirname "$0")/statistics.c" -ldl; then
    export STATISTICS=$SCRATCH/statistics
    # what the driver has from now on; waits until the sampler shows the last one
    driver_has() { printf '%s\n' "$@" > "$STATISTICS.new" && mv "$STATISTICS.new" "$STATISTICS"; }
    shows() { until_true 30 last_is "$SCRATCH/lines" "$(place "$SCRATCH/lines" mark)" "$1"; }
    of_last() { grep '^\[' "$SCRATCH/lines" | tail -n 1 | jq -c "[.[$(place "$SCRATCH/lines" rx_bytes_phy)], .[$(place "$SCRATCH/lines" queue)], .[$(place "$SCRATCH/lines" ethtool_queue)]]"; }
    driver_has "rx_bytes_phy 1000000" "queue 7000" "queue 30" "mark 1"
    rm -f "$SCRATCH/lines"
    LD_PRELOAD=$SCRATCH/statistics.so "$SAMPLER" --netdev v0 --every 20ms > "$SCRATCH/lines" 2> /dev/null &
    pid=$!
    until_true 30 has_samples "$SCRATCH/lines" 2
    driver_has "rx_bytes_phy 999990" "queue 7001" "queue 31" "mark 2" && shows 2
    check "a counter that goes back by ten is not counted once more" test "$(of_last)" = "[1000000,7001,31]"
    driver_has "rx_bytes_phy 1000010" "queue 7001" "queue 31" "mark 3" && shows 3
    check "... and goes on from there" test "$(of_last)" = "[1000010,7001,31]"
    check_says "... which is said" '"what":"decreased","text":"rx_bytes_phy went back from 1000000 to 999990' "$SCRATCH/lines"
    # columns change: the driver is opened anew, and each of two of one name goes on from its own value
    driver_has "rx_bytes_phy 1000010" "queue 7002" "queue 32" "mark 4" "other 5"
    until_true 30 grep -q '"what":"changed"' "$SCRATCH/lines"
    shows 4
    check "two counters of one name are two, also when the driver is opened anew" test "$(of_last)" = "[1000010,7002,32]"
    driver_has "rx_bytes_phy 20" "queue 2" "queue 31" "mark 9" "other 5" && shows 9
    check "counters that are reset go on, also one that has nearly what it had: a driver resets them together" test "$(of_last)" = "[1000030,7004,63]"
    kill -TERM $pid && wait $pid
fi

# ---- readers
set +o pipefail
run --netdev v0 --every 1ms 2> "$SCRATCH/err" | head -n 3 > "$SCRATCH/head"
check "nic-sampler ends with 0 when its reader closes the pipe" [ "${PIPESTATUS[0]}" = 0 ]
set -o pipefail
check "it prints nothing about a closed pipe" bash -c "! grep -qi pipe '$SCRATCH/err'"
begun=$SECONDS
{ run --netdev v0 --every 60s 2> /dev/null; echo $? > "$SCRATCH/code"; } | head -n 2 > /dev/null
check "it ends at once when the reader goes, also between samples" [ $((SECONDS - begun)) -lt 20 ]
check "it ends with exit code 0 when the reader goes between samples" [ "$(cat "$SCRATCH/code")" = 0 ]
check_exit 3 "a full disk: exit code 3" bash -c "$SAMPLER --netdev v0 > /dev/full"
check_says "the full disk is named as the reason" 'standard output: No space left' "$SCRATCH/err"
mkfifo "$SCRATCH/fifo"
# shellcheck disable=SC2217 # it is there to hold, not to read
sleep 60 < "$SCRATCH/fifo" & # holds the pipe open and reads nothing
holder=$!
exec 9<> "$SCRATCH/fifo"
timeout 40 "$SAMPLER" --netdev v0 --every 100us > "$SCRATCH/fifo" 2> "$SCRATCH/full.err" &
full=$!

# meanwhile: NVML
if compile_preload "$SCRATCH/libnvidia-ml.so.1" "$ROOT/tests/data/nvml/standin.c" 2> "$SCRATCH/cc.err"; then
    gpu() { LD_LIBRARY_PATH=$SCRATCH NVML_STANDIN_LOST=$SCRATCH/lost timeout 20 "$SAMPLER" --gpu "$@"; }
    gpu 0 --count 10 --every 50ms > "$SCRATCH/gpu" 2> /dev/null
    check "GPU figures in bytes" [ "$(value "$SCRATCH/gpu" gpu0_pcie_rx 0)/$(value "$SCRATCH/gpu" gpu0_pcie_tx 0)/$(value "$SCRATCH/gpu" gpu0_bar1_used 0)" = 2893000000/1234000/67108864 ]
    check "a sample does not wait for the GPU's 20 ms" jq -e -s '[.[] | arrays | .[1]] | min < 15000000' "$SCRATCH/gpu"
    rm "$SCRATCH/gpu" # what it waits for must not be of the run before
    LD_LIBRARY_PATH=$SCRATCH NVML_STANDIN_LOST=$SCRATCH/lost "$SAMPLER" --gpu 0 --every 20ms > "$SCRATCH/gpu" 2> /dev/null &
    pid=$!
    until_true 30 has_samples "$SCRATCH/gpu" 2
    touch "$SCRATCH/lost"
    until_true 30 grep -q '"what":"gone"' "$SCRATCH/gpu"
    kill -TERM $pid && wait $pid
    check "its ECC errors since the driver was loaded, and microseconds of slowdown by heat" [ "$(value "$SCRATCH/gpu" gpu0_ecc_corrected 0)/$(value "$SCRATCH/gpu" gpu0_ecc_uncorrected 0)/$(value "$SCRATCH/gpu" gpu0_thermal_slowdown 0)" = 5/2/3000 ]
    check_says "a GPU that falls off is gone" '"source":"nvml","what":"gone","text":".*GPU is lost' "$SCRATCH/gpu"
    rm -f "$SCRATCH/lost"
    gpu 7 > /dev/null 2> "$SCRATCH/err"
    check "no such GPU: exit code 3" [ $? = 3 ]
    check_says "which is named, with how many there are" 'there is no GPU 7: NVML reports [0-9]+ GPUs, counted from 0' "$SCRATCH/err"
else
    nok "the stand-in for NVML builds" "$(cat "$SCRATCH/cc.err")"
fi
check_exit 3 "the NVML library is missing: exit code 3" "$SAMPLER" --netdev v0 --gpu 0
check_says "the missing library is named" 'libnvidia-ml.so.1' "$SCRATCH/err"

# ---- Prometheus
timeout 400 "$SAMPLER" --netdev v0 --prometheus 127.0.0.1:0 > "$SCRATCH/out" 2> "$SCRATCH/prometheus" &
server=$!
until_true 30 grep -q 'port [1-9]' "$SCRATCH/prometheus"
port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$SCRATCH/prometheus")
# request line: the whole answer. The request is one write: the server may hang up after its first line, or before.
http() {
    local request=$SCRATCH/request.$BASHPID
    printf '%s\r\nHost: localhost\r\n\r\n' "$1" > "$request"
    exec 8<> "/dev/tcp/127.0.0.1/$port" || return 1
    cat "$request" >&8
    timeout 100 cat <&8
    exec 8>&- 8<&-
}
exec 7<> "/dev/tcp/127.0.0.1/$port" # one that never asks must not hold up the others
http 'GET /metrics HTTP/1.1' | tr -d '\r' > "$SCRATCH/scrape"
check_says "a scrape is answered with 200" '^HTTP/1.1 200 OK$' "$SCRATCH/scrape"
check_says "the answer names the version of the format" '^Content-Type: text/plain; version=0.0.4' "$SCRATCH/scrape"
sed '1,/^$/d' "$SCRATCH/scrape" > "$SCRATCH/metrics"
check "Content-Length is the length of the body" [ "$(sed -n 's/^Content-Length: //p' "$SCRATCH/scrape")" = "$(wc -c < "$SCRATCH/metrics")" ]
check "every line is of the format" bash -c "! grep -vE '^(# (HELP|TYPE) nic_[a-z0-9_]+ .+|# (HELP|TYPE) process_cpu_seconds_total .+|[a-z0-9_]+(\{([a-z0-9_]+=\"[^\"]*\",?)*\})? -?[0-9.e+-]+)$' '$SCRATCH/metrics'"
check "the lines of a family are consecutive, HELP and TYPE before them, counters end in _total" awk '
    /^# HELP/ {if (seen[$3]++) exit 1; help = $3; next}
    /^# TYPE/ {if ($3 != help) exit 1; type = $4; family = $3; if (type == "counter" && family !~ /_total$/) exit 1; next}
    {name = $1; sub(/\{.*/, "", name); if (name != family) exit 1; if (series[$1]++) exit 1; n++}
    END {exit !(n > 30)}' "$SCRATCH/metrics"
check_says "names end in base units" '^nic_link_rx_bytes_total\{netdev="v0",counter="link_rx_bytes"\} [0-9]+$' "$SCRATCH/metrics"
check_says "names are in snake case" '^nic_link_carrier_changes_total\{netdev="v0",counter="link_carrier_changes"\}' "$SCRATCH/metrics"
check_says "what the host counts has no label of a NIC" '^nic_ip_ext_in_ce_packets_total\{counter="IpExtInCEPkts"\}' "$SCRATCH/metrics"
check_says "and HELP says what it is counted for" '^# HELP nic_ip_ext_in_ce_packets_total IPv4 packets received with CE\. Counted for the network namespace' "$SCRATCH/metrics"
check_says "HELP names the unit before a conversion, and only then" '^# HELP nic_link_rx_bytes_total Bytes that the interface received\. From link, group throughput\.$' "$SCRATCH/metrics"
check_says "the CPU time of nic-sampler is reported" '^process_cpu_seconds_total [0-9.e-]+$' "$SCRATCH/metrics"
check_says "HEAD has no body" 'Content-Length: [1-9]' <(http 'HEAD /metrics HTTP/1.1')
check "the answer to HEAD has no body" [ -z "$(http 'HEAD /metrics HTTP/1.1' | tr -d '\r' | sed '1,/^$/d')" ]
check_says "another path: 404" '^HTTP/1.1 404' <(http 'GET /metric HTTP/1.1')
check_says "another method: 405" '^HTTP/1.1 405' <(http 'POST /metrics HTTP/1.1')
check_says "a request that is not HTTP: 400" '^HTTP/1.1 400' <(http 'nonsense')
for _ in $(seq 40); do exec 6<> "/dev/tcp/127.0.0.1/$port"; done # more than it keeps: the oldest go
check_says "it still serves after many connections" '^HTTP/1.1 200' <(http 'GET /metrics HTTP/1.0')
exec 7>&- 6>&-
check_exit 3 "an address in use" "$SAMPLER" --netdev v0 --prometheus "127.0.0.1:$port"
check_says "the address in use is named" "127.0.0.1 port $port" "$SCRATCH/err"
kill -TERM $server 2> /dev/null
wait $server
check "a signal ends it with 0" [ $? = 0 ]
check "with --prometheus nothing goes to standard output" [ ! -s "$SCRATCH/out" ]
# few descriptors: more connections than it can take
rm "$SCRATCH/prometheus" # the port must not be that of the server before
(ulimit -n 24 && exec timeout 400 "$SAMPLER" --netdev v0 --prometheus :0) > "$SCRATCH/out" 2> "$SCRATCH/prometheus" &
server=$!
until_true 30 grep -q 'port [1-9]' "$SCRATCH/prometheus"
check_says "without an address it serves loopback, and says so" 'serving /metrics at 127.0.0.1 port [1-9]' "$SCRATCH/prometheus"
port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$SCRATCH/prometheus")
idle=()
for _ in $(seq 24); do exec {fd}<> "/dev/tcp/127.0.0.1/$port" && idle+=("$fd"); done
# one that waits in the kernel would let every poll return at once
readers=()
for fd in "${idle[@]}"; do timeout 2 cat <&"$fd" > /dev/null & readers+=($!); done
closed=0
for reader in "${readers[@]}"; do wait "$reader" && closed=$((closed + 1)); done
check "connections for which it has no descriptor are closed ($closed of 24)" [ "$closed" -gt 8 ]
# the first may be turned away; then the oldest connection is closed, and the second has its descriptor
served() { http 'GET /metrics HTTP/1.0' > "$SCRATCH/answer" 2> /dev/null && grep -q '^HTTP/1.1 200' "$SCRATCH/answer"; }
check "... and another is served" eval 'served || served'
for fd in "${idle[@]}"; do exec {fd}>&-; done
kill -TERM $server 2> /dev/null
check_exit 2 "options are checked: interval" "$SAMPLER" --netdev v0 --every 1us

# ---- wrong use
check_exit 2 "no such interface" "$SAMPLER" --netdev nosuch0
check_says "the unknown interface is named, with the existing ones" 'nosuch0; the interfaces are: .*v0' "$SCRATCH/err"
check_exit 2 "a name that is not a valid interface name" "$SAMPLER" --netdev ../v0
check_exit 2 "nothing to sample" "$SAMPLER"
check_exit 2 "no such group" "$SAMPLER" --netdev v0 --groups pfc,enc
check_says "the nearest is named" 'did you mean ecn' "$SCRATCH/err"
check "a group that only the simulator has is an error with a reason" bash -c "! '$SAMPLER' --netdev v0 --groups buffer --count 1 > '$SCRATCH/none' 2> '$SCRATCH/err' && [ ! -s '$SCRATCH/none' ] && grep -q 'none of the requested counters can be read' '$SCRATCH/err'"
check "all stands for every group" bash -c "'$SAMPLER' --netdev v0 --groups all --count 1 2> '$SCRATCH/err' | jq -e -s '.[0].columns | map(.group) | contains([\"ecn\", \"link\"])'"
check_exit 2 "an RDMA device with an invalid port" "$SAMPLER" --rdma mlx5_0/x
check_exit 3 "no such RDMA device" "$SAMPLER" --rdma nosuch_0
check_exit 3 "an invalid address to listen on" "$SAMPLER" --netdev v0 --prometheus 9100
check_exit 0 "help" "$SAMPLER" --help
if id nobody > /dev/null 2>&1 && command -v setpriv > /dev/null; then
    cp "$SAMPLER" "$SCRATCH/sampler" && chmod 755 "$SCRATCH" "$SCRATCH/sampler"
    unprivileged() { setpriv --reuid nobody --clear-groups --inh-caps=-all --bounding-set=-all "$SCRATCH/sampler" "$@"; }
    check_exit 0 "counters need no privilege" unprivileged --netdev v0 --count 2
    check_exit 3 "a port that needs privilege" unprivileged --netdev v0 --prometheus 127.0.0.1:80
    check_says "the refused port is named" '127.0.0.1 port 80: Permission denied' "$SCRATCH/err"
    check_exit 0 "--realtime without permission samples with normal priority" unprivileged --netdev v0 --count 2 --realtime
    check_says "the missing permission is a warning" 'realtime: no permission' "$SCRATCH/err"
else
    # shellcheck disable=SC2046 # a reason is words
    skip "without privilege" $(command -v setpriv > /dev/null && echo no-user nobody || echo no-command setpriv)
fi

# ---- a pipe that is not read
wait $full
check "a full pipe ends it with 3" [ $? = 3 ]
check_says "the reason is printed" 'standard output is full: it was not read for 10 s' "$SCRATCH/full.err"
timeout 5 cat <&9 > "$SCRATCH/full" &
reader=$!
sleep 1
exec 9>&-
kill $holder
wait $reader
check "the full pipe holds whole lines" bash -c "[ \$(wc -l < '$SCRATCH/full') -gt 100 ] && jq -s length '$SCRATCH/full'"
# ---- a bond counts no pauses
mkdir -p "$SCRATCH/bond/sys/class/net/lo/bonding"
echo 'eth8 eth9' >"$SCRATCH/bond/sys/class/net/lo/bonding/slaves"
check_exit 0 "a bond is sampled" "$BUILD/nic-sampler" --netdev lo --root "$SCRATCH/bond" --count 1
check_says "... and told what its ports count alone" 'lo is a bond upon eth8 eth9: pauses, buffers and bytes of each priority' "$SCRATCH/err"

# ---- several NICs in one process
for n in 0 1 2 3; do ip link add w$n type veth peer name x$n && ip link set w$n up && ip link set x$n up; done
run --nic w0 --nic w1 --count 3 --every 20ms > "$SCRATCH/lines" 2> "$SCRATCH/err"
check "two NICs: a header, three samples and an end for each" jq -e -s '[.[] | objects | select(.type != "event") | [.nic, .type]] == [["w0", "header"], ["w1", "header"], ["w0", "end"], ["w1", "end"]] and ([.[] | arrays | .[0]] == ["w0", "w1", "w0", "w1", "w0", "w1"])' "$SCRATCH/lines"
check "... an object begins with its NIC" test "$(grep -v '"type":"event"' "$SCRATCH/lines" | grep -c '^{"nic":"w[01]",')" = 4
check "... a sample has a value for each column of its NIC's header" jq -e -s '(map(objects | select(.type == "header")) | map({key: .nic, value: (.columns | length)}) | from_entries) as $of | all(.[] | arrays; length == $of[.[0]] + 3)' "$SCRATCH/lines"
check "... what the machine has once is in the lines of the first" jq -e -s 'map(select(.type? == "header") | [.columns[].name | select(. == "IpExtInCEPkts")] | length) == [1, 0]' "$SCRATCH/lines"
check_exit 3 "an RDMA device of one that is not there" "$SAMPLER" --nic w0 --nic w1:rdma=nosuch_0
check_says "... is named with its NIC" 'error: w1: ' "$SCRATCH/err"
for wrong in w0:mlx5_0 w0:gpu=x w0:rdma= nosuch0; do check_exit 2 "--nic $wrong" "$SAMPLER" --nic "$wrong"; done
check_exit 2 "one NIC twice" "$SAMPLER" --nic w0 --nic w0
rm -f "$SCRATCH/prometheus"
timeout 400 "$SAMPLER" --nic w0 --nic w1 --prometheus 127.0.0.1:0 > "$SCRATCH/out" 2> "$SCRATCH/prometheus" &
server=$!
until_true 30 grep -q 'port [1-9]' "$SCRATCH/prometheus"
port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$SCRATCH/prometheus")
http 'GET /metrics HTTP/1.1' | tr -d '\r' | sed '1,/^$/d' > "$SCRATCH/metrics"
kill -TERM $server
wait $server
check "two NICs are scraped together: each has its series, a family one HELP, and what the host counts is there once" awk '
    /^# HELP/ {if (seen[$3]++) exit 1; help = $3; next}
    /^# TYPE/ {if ($3 != help) exit 1; family = $3; next}
    {name = $1; sub(/\{.*/, "", name); if (name != family || series[$1]++) exit 1}
    /^nic_link_rx_bytes_total\{netdev="w[01]"/ || /^nic_sampler_samples_total\{netdev="w[01]"/ {nics++}
    /^nic_ip_ext_in_ce_packets_total\{counter=/ {host++}
    END {exit !(nics == 4 && host == 1)}' "$SCRATCH/metrics"
check_exit 2 "--nic beside --netdev" "$SAMPLER" --nic w0 --netdev w1
rm -f "$SCRATCH/lines" # what it waits for must not be of the run before
run --nic w0 --nic w1 --every 20ms > "$SCRATCH/lines" 2> "$SCRATCH/err" &
sampler=$!
until_true 30 has_samples "$SCRATCH/lines" 4
ip link delete w1
gone() { grep -q '"nic":"w1".*"what":"gone"' "$SCRATCH/lines"; }
until_true 30 gone
kill $sampler
wait $sampler 2> /dev/null
check "one of two goes: its events name it" gone
check "... the other goes on" jq -e -s '[.[] | arrays | select(.[0] == "w0")] | length > 2' "$SCRATCH/lines"
check "... and no event names it" test -z "$(grep '"nic":"w0".*"what":"gone"' "$SCRATCH/lines")"
finish
