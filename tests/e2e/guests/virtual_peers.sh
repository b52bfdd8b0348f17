#!/bin/bash
# The virtual ConnectX held against others: perftest, the pingpongs of libibverbs and the tests of librdmacm between two guests; Soft-RoCE
# as its peer in both directions; what was on the wire, read by tshark, its invariant CRCs computed again.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
FRAMES=$ROOT/tests/e2e/guests/roce-frames

softlab_module "peers of a virtual ConnectX"
softlab_begin virtual-pair
for host in a b; do softlab_ssh $host 'echo virtual_peers begins > /dev/kmsg'; done

# holds FILTER FILE [OPTION...]: the file is there, is JSON, and the filter holds (jq takes an empty file for well).
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "${@:3}" "$1" "$2"; }

# ---- programs: NAME|server's command|client's command|what the client prints. Both GIDs 1 are RoCE v2 over IPv4. Each has a port of its own,
# so that all servers wait before the first client starts. The pingpongs' -c and rping's -V compare what arrived with what was sent.
port=18600
server_device=mlx5_0
client_device=mlx5_0
qp_timeout=12 # 4.096 us * 2^12, and as many times longer as the line is slower
perftest() { # ADDRESS NAME OPTION...
    local address=$1 command="$2 -x 1 -F -n 8 -u $qp_timeout -p $((++port)) ${*:3}"
    # else each end takes what its device has, and Soft-RoCE has more
    case $2 in ib_read* | ib_atomic*) command="$command -o 4" ;; esac
    # a line of the table: size and count of what is done (this line's rates would be 0.00)
    echo "$2${3:+ ${*:3}}|$command -d $server_device|$command -d $client_device $address|^ *[0-9]+ +8 +[0-9]"
}
pingpong() { # ADDRESS NAME OPTION...
    local address=$1 command="ibv_$2_pingpong -g 1 -p $((++port)) ${*:3}" says='^8 iters in '
    case $2 in xsrq) says='^success$' ;; esac
    echo "ibv_$2_pingpong|$command -d $server_device|$command -d $client_device $address|$says"
}
managed() { # ADDRESS: by the connection manager
    echo "rping|rping -s -a $1 -C 8 -S 3000 -V|rping -c -a $1 -C 8 -S 3000 -V -v|^ping data: rdma-ping-7"
    echo "udaddy|udaddy -c 2 -C 8|udaddy -s $1 -c 2 -C 8|^data transfers complete"
}
# What both directions of a pair of kinds run: SEND, WRITE, READ, atomics; with data that is compared.
operations() { # ADDRESS
    local name
    for name in ib_write_bw ib_read_bw ib_send_bw; do perftest "$1" $name -s 3000; done
    perftest "$1" ib_atomic_bw -A FETCH_AND_ADD
    perftest "$1" ib_atomic_bw -A CMP_AND_SWAP
    pingpong "$1" uc -s 3000 -n 8 -r 8 -c
    pingpong "$1" ud -s 900 -n 8 -r 8 -c
    managed "$1"
}
everything() { # ADDRESS
    local name
    operations "$1"
    for name in ib_write_lat ib_read_lat ib_send_lat; do perftest "$1" $name -s 64; done
    perftest "$1" ib_send_bw -c UD -s 900
    pingpong "$1" rc -s 3000 -n 8 -r 8 -c
    pingpong "$1" srq -s 3000 -q 2 -n 8 -r 16 -c
    pingpong "$1" xsrq -s 3000 -n 8
    # its server waits for ever, and is judged by its client
    echo "cmtime|timeout 600 cmtime|cmtime -s $1 -c 2|^connect"
}

# Both scripts run in a guest, in a folder with programs; they leave NAME.out and NAME.rc.
# shellcheck disable=SC2016 # the guest expands them
serve_script='mkdir -p /tmp/serve && cd /tmp/serve && rm -f ./*
count=0; managed=0; i=0
while IFS="|" read -r name server client says; do
    i=$((i + 1))
    case $server in *" -p "*) count=$((count + 1)) ;; *) managed=$((managed + 1)) ;; esac
    { $server > $i.out 2>&1; echo $? > $i.rc; } < /dev/null > /dev/null 2>&1 &
    echo $! > $i.pid
done
for tries in $(seq 600); do
    listening=$(ss -Hltn "sport >= :18600 and sport < :18700" | wc -l)
    # one that listens on any address does so on each device
    [ "$listening" != "$count" ] || [ "$(rdma resource show cm_id | sed -n "s/.*LISTEN.* pid \([0-9]*\).*/\1/p" | sort -u | wc -l)" != "$managed" ] || exit 0
    sleep 0.1
done
echo "$listening of $count servers listen" && rdma resource show cm_id && tail -n 3 ./*.out && exit 1'
# shellcheck disable=SC2016
drive_script='mkdir -p /tmp/drive && cd /tmp/drive && rm -f ./*
i=0
while IFS="|" read -r name server client says; do
    i=$((i + 1))
    timeout 120 $client > $i.out 2>&1 < /dev/null
    echo $? > $i.rc
done
tar c .'
# shellcheck disable=SC2016
served_script='cd /tmp/serve
i=0
while IFS="|" read -r name server client says; do
    i=$((i + 1))
    case $name in cmtime) kill $(pidof cmtime) ;; esac
    for tries in $(seq 100); do [ ! -s $i.rc ] || break; sleep 0.1; done
    [ -s $i.rc ] || pkill -KILL -P $(cat $i.pid) # its client failed
done
tar c .'

judge() { # WHAT FOLDER OF_PROGRAMS
    local name says i=0
    while IFS='|' read -r name _ _ says; do
        i=$((i + 1))
        if [ "$(cat "$2/drive/$i.rc")" != 0 ] || { [ "$name" != cmtime ] && [ "$(cat "$2/serve/$i.rc")" != 0 ]; }; then
            nok "$1: $name" "client $(cat "$2/drive/$i.rc"), server $(cat "$2/serve/$i.rc"): $(tail -n 6 "$2"/{drive,serve}/$i.out)"
        elif ! grep -qE -- "$says" "$2/drive/$i.out" || grep -qiE 'invalid data|mismatch|failed|unexpected' "$2"/{drive,serve}/$i.out; then
            nok "$1: $name" "it prints: $(tail -n 12 "$2/drive/$i.out")"
        else
            ok "$1: $name"
        fi
    done < "$3"
}
# The programs of standard input, from one host to the other.
meet() { # WHAT CLIENT_HOST SERVER_HOST
    local folder=$SCRATCH/meet
    rm -rf "$folder" && mkdir -p "$folder"/{serve,drive} && cat > "$folder/programs"
    check "$1: the servers listen" softlab_ssh "$3" "$serve_script" < "$folder/programs"
    softlab_ssh "$2" "$drive_script" < "$folder/programs" | tar x -C "$folder/drive"
    softlab_ssh "$3" "$served_script" < "$folder/programs" | tar x -C "$folder/serve"
    judge "$1" "$folder" "$folder/programs"
}

# ---- captures
# shellcheck disable=SC2016,SC2317 # the guest expands it; called through check
capture() { # HOST: what data0 carries
    softlab_ssh "$1" 'tcpdump -i data0 -s 0 -B 8192 -w /tmp/wire.pcap > /tmp/tcpdump.log 2>&1 < /dev/null &
        for tries in $(seq 100); do grep -q "listening on" /tmp/tcpdump.log && exit 0; sleep 0.1; done; cat /tmp/tcpdump.log; exit 1'
}
captured() { # HOST FILE
    # shellcheck disable=SC2016 # the guest expands it
    softlab_ssh "$1" 'pid=$(pidof tcpdump) && kill -INT $pid && while kill -0 $pid 2> /dev/null; do sleep 0.1; done
        grep -q "^0 packets dropped by kernel" /tmp/tcpdump.log || cat /tmp/tcpdump.log >&2; cat /tmp/wire.pcap' > "$2"
}
# field FILE FILTER FIELD...: of the frames that the filter takes
field() {
    local file=$1 filter=$2 options=()
    shift 2
    for name; do options+=(-e "$name"); done
    tshark -r "$file" -Y "$filter" -T fields "${options[@]}" 2> /dev/null
}
malformed() { tshark -r "$1" -Y '_ws.malformed or _ws.expert.severity == error' 2> /dev/null | head -n 5; }
opcodes_of() { field "$1" infiniband infiniband.bth.opcode | sort -n | uniq | tr '\n' ' '; }
decoded() { # WHAT FILE OPCODES: tshark takes each RoCE frame for what it is
    if [ -z "$(command -v tshark)" ]; then
        skip "$1: tshark reads the frames" no-command tshark
        return
    fi
    check "$1: tshark finds nothing malformed" test -z "$(malformed "$2")"
    check "$1: ... reads each RoCE frame as such" test "$(field "$2" infiniband frame.number | wc -l)" = "$(jq .roce "$SCRATCH/counts")"
    check "$1: ... with these opcodes" test "$(opcodes_of "$2")" = "$3 "
}
rdma_packets() { # HOST: sent and received, by the driver
    softlab_ssh "$1" 'ethtool -S roce0' | awk '/ [rt]x_vport_rdma_unicast_packets:/ { n[substr($1, 1, 2)] = $2 } END { print n["tx"], n["rx"] }'
}

# ---- between two virtual ConnectX; on a faster line, at which the time-outs that the pingpongs and librdmacm choose are seconds, not minutes
line() { # MBIT HOST...
    local host
    for host in "${@:2}"; do softlab_ssh "$host" "echo $1 > /sys/kernel/debug/virtual-connectx/0/line_mbit"; done
}
line 200 a b
softlab_ssh a 'ping -c 1 -W 10 10.0.2.2' > /dev/null # addresses are known: librdmacm's programs wait 2 s for them
check "frames are captured" capture b
a_before=$(rdma_packets a)
b_before=$(rdma_packets b)
everything 10.0.2.2 > "$SCRATCH/list"
meet virtual a b < "$SCRATCH/list"
a_after=$(rdma_packets a)
b_after=$(rdma_packets b)
captured b "$SCRATCH/wire.pcap"
"$FRAMES" --enclosed "$SCRATCH/wire.pcap" "$SCRATCH/virtual.pcap" > "$SCRATCH/counts"
grown() { # BEFORE AFTER: by how much, both counters
    paste <(tr ' ' '\n' <<< "$1") <(tr ' ' '\n' <<< "$2") | awk '{ printf "%s%d", (NR > 1 ? " " : ""), $2 - $1 }'
}
a=$(grown "$a_before" "$a_after")
b=$(grown "$b_before" "$b_after")
check "what one driver counted as sent, the other counted as received" test "$a" = "${b#* } ${b% *}"
check "... and it was on the wire" test $((${a% *} + ${b% *})) = "$(jq .roce "$SCRATCH/counts")"
check "every invariant CRC is right" holds '.roce > 300 and .icrc_wrong == 0' "$SCRATCH/counts"
# by InfiniBand 1.2.1, 9.2.1: RC's (SEND, WRITE, READ and its responses, acknowledgements, atomics), UC's from 32, UD's from 96, XRC's
# (annex A14) from 160
decoded virtual "$SCRATCH/virtual.pcap" "0 1 2 4 6 7 8 10 12 13 14 15 16 17 18 19 20 32 33 34 100 101 160 161 162 177"

# ---- pauses, on the line as it was: b is slow, and has a buffer of priority 0 that PFC protects
settings='{"schema":1,"interfaces":{"roce0":{"mtu":4200,"pfc":[0],"prio_to_buffer":{"0":1},"buffer_bytes":[0,114944],"cable":"1m","trust":"pcp"}}}'
line 5 a b
for host in a b; do
    check "$host has PFC for priority 0" softlab_ssh $host "echo '$settings' > /tmp/pfc.json && nic-config set /tmp/pfc.json > /dev/null"
done
softlab_ssh b 'echo all write_bytes_per_s 100000 > /sys/kernel/debug/virtual-connectx/0/pace'
check "frames are captured" capture b
pauses() { softlab_ssh b 'ethtool -S roce0' | awk '/ tx_prio0_pause:/ { print $2 }'; }
before=$(pauses)
perftest 10.0.2.2 ib_write_bw -s 65536 > "$SCRATCH/list"
meet "slow receiver" a b < "$SCRATCH/list"
softlab_ssh b 'echo off > /sys/kernel/debug/virtual-connectx/0/pace'
pauses=$(($(pauses) - before))
captured b "$SCRATCH/wire.pcap"
"$FRAMES" --enclosed "$SCRATCH/wire.pcap" "$SCRATCH/pauses.pcap" > "$SCRATCH/counts"
# shellcheck disable=SC2016 # jq's $n
check "b's pauses were on the wire, as many as its driver counted" holds '.pauses > 1 and .pauses == $n' "$SCRATCH/counts" --argjson n "$pauses"
check "every invariant CRC is right" holds '.roce > 100 and .icrc_wrong == 0' "$SCRATCH/counts"
if [ -n "$(command -v tshark)" ]; then
    field "$SCRATCH/pauses.pcap" macc eth.dst macc.opcode macc.cbfc.enbv macc.cbfc.pause_time.c0 macc.cbfc.pause_time.c1 | sort | uniq > "$SCRATCH/macc"
    # MAC control, IEEE 802.1Q 36.1.3.4: opcode 0x0101, the class enable vector, a time for each class in quanta of 512 bit times
    check "tshark reads pauses of priority 0: XOFF of 65535 quanta, XON" test "$(cat "$SCRATCH/macc")" = "$(printf '01:80:c2:00:00:01\t0x0101\t0x0001\t%s\t0\n' 0 65535)"
    check "... nothing malformed" test -z "$(malformed "$SCRATCH/pauses.pcap")"
else
    skip "tshark reads pauses of priority 0" no-command tshark
fi

for host in a b; do check "$host: what PFC needed is restored" softlab_ssh $host 'nic-config restore > /dev/null'; done

no_complaint() { check "no driver complained" test -z "$(for host in a b; do softlab_ssh $host dmesg | sed '1,/virtual_peers begins/d' | grep -E 'BUG|WARNING|Call Trace|mlx5_core.*(timeout|failed|health)'; done)"; }
if softlab_ofed b; then
    skip "Soft-RoCE on one side" guest-loads-no b rdma_rxe
    no_complaint
    finish
fi

# ---- Soft-RoCE on b, with the MTU of a's roce0: Soft-RoCE takes its path MTU from data0, and librdmacm the client's. b's virtual ConnectX
# lets data0 go; a's sends frames as they are, for data0 of b takes them so
WIRE=/sys/kernel/debug/virtual-connectx/0/wire
# shellcheck disable=SC2016 # the guest expands it
soft_roce_script='cat /sys/class/net/data0/mtu > /tmp/data0.mtu && ip address delete 10.0.2.2/24 dev roce0 && ip link set roce0 down && echo none > '$WIRE' &&
    modprobe rdma_rxe && ip link set data0 mtu 1500 && ip address add 10.0.2.2/24 dev data0 && rdma link add rxe0 type rxe netdev data0 && rdma link show rxe0/1 | grep -q "state ACTIVE"'
check "b has Soft-RoCE in its place" softlab_ssh b "$soft_roce_script"
check "a sends frames as they are" softlab_ssh a "echo data0 plain > $WIRE && ip neigh flush dev roce0 && ping -c 4 -W 10 10.0.2.2 > /dev/null"
# Soft-RoCE's time-outs are those of the wall's clock: the same at both ends, and long
line 25000 a
qp_timeout=18
check "frames are captured" capture b
server_device=rxe0
operations 10.0.2.2 > "$SCRATCH/list"
meet "to Soft-RoCE" a b < "$SCRATCH/list"
server_device=mlx5_0
client_device=rxe0
operations 10.0.2.1 > "$SCRATCH/list"
meet "from Soft-RoCE" b a < "$SCRATCH/list"
captured b "$SCRATCH/soft.pcap"
"$FRAMES" "$SCRATCH/soft.pcap" > "$SCRATCH/counts"
check "every invariant CRC is right" holds '.roce > 300 and .icrc_wrong == 0' "$SCRATCH/counts"
decoded "Soft-RoCE" "$SCRATCH/soft.pcap" "0 1 2 4 6 7 8 12 13 14 15 17 18 19 20 32 33 34 100 101"
# shellcheck disable=SC2016 # the guest expands it
as_before_script='rdma link delete rxe0 && modprobe -r rdma_rxe && ip address delete 10.0.2.2/24 dev data0 && ip link set data0 mtu $(cat /tmp/data0.mtu) &&
    echo data0 enclosed > '$WIRE' && ip link set roce0 up && ip address add 10.0.2.2/24 dev roce0'
check "b has its virtual ConnectX again" softlab_ssh b "$as_before_script"
check "a has its end of the link again" softlab_ssh a "echo data0 enclosed > $WIRE && ip neigh flush dev roce0 && ping -c 4 -W 10 10.0.2.2 > /dev/null"
line 5 a
no_complaint
finish
