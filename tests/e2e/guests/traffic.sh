#!/bin/bash
# roce-traffic between two guests with Soft-RoCE: real verbs, real rdma_cm, the kernel's own counters.
# Guests are slow and noisy: completed work, counters and exit codes are asserted, never a bandwidth.
# shellcheck disable=SC2016 # what is quoted is for the guests' shells
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$here/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/traffic.bash
. "$here/traffic.bash"

# Every operation over both connection managers, both directions at once, sweeps, validated.
every_operation() {
    local how operation pairs=1 want got
    for how in tcp rdma; do
        for operation in write write-imm read send; do
            drive "-c $how -o $operation -b -v -n 24 -q $pairs -s 2B,3000B..12000B --slots 3 --post-list 2"
            got="$? $(summaries flow '"\(.message_bytes):\(.messages):\(.errors):\(.complete)"' | xargs) / $(summaries flow-reverse .messages | xargs)"
            want="0 2:24:0:true 3000:24:0:true 6000:24:0:true 12000:24:0:true / 24 24 24 24"
            if [ "$got" = "$want" ]; then
                ok "$operation over $how, both ways, $pairs queue pairs, four sizes, every byte checked"
            else
                nok "$operation over $how, both ways, $pairs queue pairs" "$got, expected $want: $(shown)"
            fi
            pairs=$((pairs == 16 ? 1 : pairs * 2))
        done
    done
}

whole_sweep() {
    drive "-s 2B..8KiB,64KiB,1MiB,8MiB -n 1 -v"
    if [ "$? $(summaries flow '.message_bytes' | wc -l) $(summaries flow '.message_bytes' | tail -n 1) $(summaries flow .errors | sort -u)" = \
        "0 16 8388608 0" ]; then
        ok "a sweep from 2 B to 8 MiB: a checked summary for each of 16 sizes"
    else
        nok "a sweep from 2 B to 8 MiB" "$(shown)"
    fi
}

# Options that change how work is posted and where memory comes from, not what arrives.
ways_to_post() {
    local options
    softlab_ssh b 'sysctl -qw vm.nr_hugepages=4' </dev/null
    softlab_ssh a 'sysctl -qw vm.nr_hugepages=4' </dev/null
    for options in '--inline 64B -s 64B' '--post-list 8 --depth 32 --moderation 16 -s 2B' '--depth 1 -s 1KiB' '--relaxed-ordering -s 1KiB' \
        '--numa-node 0 -s 1KiB' '--huge-pages -s 1KiB' '-o send --receive-depth 1 -s 1KiB'; do
        drive "$options -v -b -n 50"
        if [ "$? $(summaries flow .messages)/$(summaries flow-reverse .messages) $(summaries flow .errors)" = "0 50/50 0" ]; then
            ok "with $options every message arrives whole"
        else
            nok "with $options every message arrives whole" "$(shown)"
        fi
    done
    softlab_ssh b 'sysctl -qw vm.nr_hugepages=0' </dev/null
    softlab_ssh a 'sysctl -qw vm.nr_hugepages=0' </dev/null
    drive '--huge-pages -n 1'
    check_says "huge pages that are not there are named, with how to reserve them" 'sysctl vm.nr_hugepages=1' "$SCRATCH/err"
    drive '-n 3 -s 1KiB --output table'
    check_says "a table for people" '^flow +1024 +[0-9.]+ +3 .* total$' "$SCRATCH/out"
}

flipped_bytes() {
    local operation
    for operation in write write-imm read send; do
        drive "-o $operation -v -n 8 -q 2 -s 1KiB --flip 1100"
        if [ $? = 1 ] && grep -q '"status":"VALIDATION".*1 of 2048 checked bytes are wrong in host memory; the first is byte 76 of connection 1' \
            "$SCRATCH/out"; then
            ok "$operation: a flipped byte is found, with its connection and offset"
        else
            nok "$operation: a flipped byte is found" "$(shown)"
        fi
    done
}

ping_pong() {
    local operation
    for operation in write write-imm read send; do
        drive "-o $operation --mode latency -n 30 -s 2B,1KiB"
        if [ "$(summaries flow '.messages == 30 and .latency_ns.count == 30 and .latency_ns.min > 0 and
            .latency_ns.p50 <= .latency_ns.p99 and .latency_ns.p99 <= .latency_ns.p99_99 and .latency_ns.p99_99 <= .latency_ns.max' | xargs)" \
            = "true true" ]; then
            ok "latency of ${operation}s: a latency for each of 30 messages, two sizes"
        else
            nok "latency of ${operation}s" "$(shown)"
        fi
    done
}

several_flows() {
    local start seconds ended
    for seconds in 1 4 16; do # a guest that waits for a processor may move no message of a flow in a second
        start=$(softlab_ssh a 'echo $(($(date +%s%N) + 3000000000))' </dev/null)
        drive "-D ${seconds}s -i 300ms --warmup 200ms --latency --start-at $start --flow 'name=x op=read message=1KiB' \
            --flow 'name=y op=send bidirectional queue-pairs=4 message=512B' --flow 'name=z rate=1Mb/s message=1000B'"
        ended=$?
        [ "$(summaries z '.messages >= 1')" != true ] || break
    done
    check "three flows in one process end well" test $ended = 0
    if [ "$(jq -s --argjson start "$start" '[.[] | select(.type == "summary") | .flow] | sort == ["x","y","y-reverse","z"]' "$SCRATCH/out")" \
        = true ]; then
        ok "one summary a direction, each line names its flow"
    else
        nok "one summary a direction" "$(shown)"
    fi
    # no interval can end before the start, warm-up and interval have passed
    if [ "$(jq -s --argjson start "$start" '[.[] | select(.type == "interval") | .time_ns] | length > 3 and min >= $start + 400000000' \
        "$SCRATCH/out")" = true ]; then
        ok "traffic starts at the time that was asked for, the warm-up is left out"
    else
        nok "traffic starts at the time that was asked for" "$start: $(shown)"
    fi
    if [ "$(jq -s '[.[] | select(.flow == "z")] | (map(select(.type == "interval") | .messages) | add) == (map(select(.type == "summary"))[0].messages)' \
        "$SCRATCH/out")" = true ]; then
        ok "intervals add up to the summary"
    else
        nok "intervals add up to the summary" "$(shown)"
    fi
    # 1 Mb/s of 1000-byte messages is 125 a second; a slow guest may do less, never more
    if [ "$(summaries z '.messages >= 1 and .messages <= 130 * .duration_ns / 1e9 + 3')" = true ]; then
        ok "the rate limit is kept"
    else
        nok "the rate limit is kept" "$(shown)"
    fi
}

# Standard input says when to start, once all flows are connected; without that nothing is sent.
told_when_to_start() {
    softlab_ssh a 'rm -f /tmp/told*; mkfifo /tmp/told; (roce-traffic drive '"$SERVER"' --await-start -n 5 -s 1KiB --flow name=x --flow name=y \
            < /tmp/told > /tmp/told.out 2> /tmp/told.err; echo $? > /tmp/told.code) & exec 5> /tmp/told
        for i in $(seq 600); do grep -qs "\"what\":\"ready\"" /tmp/told.out && break; sleep 0.1; done
        grep -q summary /tmp/told.out && echo early; echo soon >&5; start=$(($(date +%s%N) + 500000000)); echo $start >&5; wait
        echo $start; cat /tmp/told.code; cat /tmp/told.err' >"$SCRATCH/told" </dev/null
    softlab_ssh a 'cat /tmp/told.out' </dev/null >"$SCRATCH/out"
    check "told when to start: both flows are done, and none began earlier" test "$(sed -n 2p "$SCRATCH/told")" = 0 -a \
        "$(jq -s --argjson start "$(head -n 1 "$SCRATCH/told")" '[.[] | select(.type == "summary" and .messages == 5 and .time_ns > $start)] | length' "$SCRATCH/out")" = 2
    check_says "... a line that is not a time is named" '"soon" is not a time in nanoseconds since 1970' "$SCRATCH/told"
    softlab_ssh a 'roce-traffic drive '"$SERVER"' --await-start -n 5' >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    check "... standard input that ends before: stopped, with 130" test $? = 130
}

# IpExt counters of b by name.
ip_counter() {
    softlab_ssh b 'grep ^IpExt: /proc/net/netstat' </dev/null |
        awk -v name="$1" 'NR == 1 { for (i = 2; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }'
}

traffic_class() {
    local how before ect0 counted
    softlab_ssh b 'modprobe -a cls_flower sch_ingress act_gact; tc qdisc add dev data0 clsact' </dev/null
    for how in tcp rdma; do
        softlab_ssh b 'tc filter del dev data0 ingress 2>/dev/null
            tc filter add dev data0 ingress protocol ip pref 1 flower ip_proto udp dst_port 4791 ip_tos 0x68/0xfc action pass' </dev/null
        before=$(ip_counter InECT0Pkts)
        drive "-c $how --dscp 26 --ecn ect0 -s 4KiB -n 20 -q 2"
        ect0=$(($(ip_counter InECT0Pkts) - before))
        counted=$(softlab_ssh b 'tc -s filter show dev data0 ingress' </dev/null | sed -n 's/.* bytes \([0-9]*\) pkt.*/\1/p')
        if [ "$ect0" -ge 80 ] && [ "$ect0" = "$counted" ]; then
            ok "traffic class over $how: the kernel saw $ect0 packets with ECT(0), all of them DSCP 26"
        else
            nok "traffic class over $how" "ECT(0) $ect0, DSCP 26 ${counted:-none}, expected the same number, at least 80: $(shown)"
        fi
    done
    before=$(ip_counter InECT0Pkts)
    drive "--traffic-class 104 -s 4KiB -n 20"
    ect0=$(($(ip_counter InECT0Pkts) - before))
    check "traffic class 104 is not ECN-capable: no ECT(0) seen" test "$ect0" = 0
    softlab_ssh b 'tc qdisc del dev data0 clsact' </dev/null
}

both_ends_in_one_process() {
    if softlab_ssh a 'roce-traffic loop -b -v -n 10 -q 2 -s 8KiB' >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null &&
        [ "$(summaries flow .messages)/$(summaries flow-reverse .messages)" = 10/10 ]; then
        ok "loop: both ends in one process"
    else
        nok "loop: both ends in one process" "$(shown)"
    fi
}

# The guests have IPv6 turned off; it is on for this only.
ipv6() { # on | off
    local host off
    off=$([ "$1" = on ] && echo 0 || echo 1)
    for host in a:2001:db8::1 b:2001:db8::2; do
        softlab_ssh "${host%%:*}" "sysctl -qw net.ipv6.conf.data0.disable_ipv6=$off
            [ $off = 1 ] || ip -6 addr add ${host#*:}/64 dev data0 nodad" </dev/null
    done
}

over_ipv6() {
    local how
    softlab_ssh b 'pkill -x roce-traffic' </dev/null
    ipv6 on
    softlab_ssh a 'for i in $(seq 50); do ping -c1 -W1 2001:db8::2 >/dev/null 2>&1 && break; sleep 0.1; done' </dev/null
    serve 2001:db8::2
    SERVER=2001:db8::2
    for how in tcp rdma; do
        drive "-c $how -b -v -n 10 -s 4KiB"
        if [ "$? $(jq -r 'select(.type == "header") | .gid + ">" + .peer_gid' "$SCRATCH/out" | sort | xargs) $(summaries flow .messages)" = \
            "0 2001:db8::1>2001:db8::2 2001:db8::2>2001:db8::1 10" ]; then
            ok "over IPv6 and $how: the GIDs are the IPv6 addresses"
        else
            nok "over IPv6 and $how" "$(shown)"
        fi
    done
    SERVER=10.0.0.2
    softlab_ssh b 'pkill -x roce-traffic' </dev/null
    ipv6 off
    serve 10.0.0.2
}

every_operation
whole_sweep
ways_to_post
flipped_bytes
ping_pong
several_flows
told_when_to_start
traffic_class
both_ends_in_one_process
over_ipv6
nothing_left_behind
finish
