#!/bin/bash
# harness verify over small captures that are written here: verdicts, packet numbers, exit codes, and files that are none.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
H=$BUILD/harness
cd "$SCRATCH" || exit 2

# ---- captures as hexadecimal digits
raw() { printf '%b' "$(sed 's/../\\x&/g')"; }
le32() { printf '%02x%02x%02x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)); }
zeros() { [ "$1" = 0 ] || printf '%0*d' $((2 * $1)) 0; }

# A frame of RC between 10.0.0.0 and 10.0.0.1, with 16 bytes of payload if its opcode has some; the ICRC is not right.
frame() { # FROM OPCODE PSN ECN [EXTENSION-HEADER]
    local to=$((1 - $1)) extension=${5:-} payload=0
    case $2 in 06 | 07 | 08 | 0a | 1d) payload=16 ;; esac
    local udp=$((8 + 12 + ${#extension} / 2 + payload + 4))
    printf '02000000000%d02000000000%d0800' "$to" "$1"
    printf '45%02x%04x00014000401100000a00000%d0a00000%d' $((26 << 2 | $4)) $((20 + udp)) "$1" "$to"
    printf 'c00012b7%04x0000' "$udp"
    printf '%s00ffff00%06x00%06x%s%s11223344' "$2" $((to + 1)) "$3" "$extension" "$(zeros $payload)"
}
pcap() { printf 'd4c3b2a1020004000000000000000000ffff000001000000'; }
AT_S=1000 AT_US=0
record() { # HEX [CAPTURED-BYTES]
    local bytes=$((${#1} / 2))
    local captured=${2:-$bytes}
    [ "$captured" -lt $bytes ] || captured=$bytes
    AT_US=$((AT_US + 5))
    le32 $AT_S && le32 $AT_US && le32 "$captured" && le32 $bytes && printf %s "${1:0:captured*2}"
}
write_only() { frame 0 0a "$1" 2 "$(zeros 12)00000010"; }
ack() { frame 1 11 "$1" 2 "$(printf '1f%06x' "$2")"; }
nak() { frame 1 11 "$1" 2 "$(printf '60%06x' "$2")"; }

{
    pcap
    for i in 0 1 2 3 4; do
        record "$(write_only $((16777213 + i & 0xffffff)))"
        record "$(ack $((16777213 + i & 0xffffff)) $((i + 1)))"
    done
    record "$(write_only 2)"
    record "$(write_only 3)"
    record "$(nak 2 5)"
    record "$(write_only 2)"
    record "$(write_only 3)"
    record "$(ack 3 7)"
} >good.hex
raw <good.hex >good.pcap
check_exit 0 "a sequence without fault" "$H" verify good.pcap go-back-n ecn --host 10.0.0.0
check_says "... is ok, with what was looked at" '^ok +go-back-n +9 packets sent, 6 ACKs, 1 NAK, 1 time gone back, 1 of these for NAKs$' out
check_says "... by both" '^ok +ecn +16 packets' out
check_says "... and counted" '^16 packets: 2 ok, 0 warnings, 0 failures, 0 unknown$' out
# shellcheck disable=SC2317 # called through check_exit
from_a_pipe() { "$H" verify - go-back-n --host 10.0.0.0 < <(cat good.pcap); }
check_exit 0 "... from a pipe" from_a_pipe
check_exit 4 "without --host nobody's port is known: nothing is judged" "$H" verify good.pcap go-back-n
check_says "... which is said" 'not judged: 16 packets of hosts that are not at the port' out
check_exit 4 "all checkers" "$H" verify good.pcap --host 10.0.0.0 --json
check "... as JSON: the ICRCs are wrong, in all packets, which is rather the capture's than the network's" test "$(jq '.packets == 16 and ([.checks[].check] == ["go-back-n", "cnp", "dcqcn", "pfc", "ecn", "icrc"]) and
    (.checks[5] | .verdict == "unknown" and (.open | test("not one ICRC is right")) and .count == 16 and (.findings[0].packets | length == 10 and .[0].packet == 1))' out)" = true

# ---- a file that has packets twice, or not in the order of time, proves nothing by their order
twice() { # APART-US
    pcap
    for i in 1 2 3 4 5 6; do
        for frame in "$(write_only "$i")" "$(ack "$i" "$i")"; do
            record "$frame"
            AT_US=$((AT_US + $1 - 5))
            record "$frame"
        done
    done
}
twice 1 | raw >twice.pcap
cat >strict.json <<'END'
{ "schema": 1, "hosts": ["10.0.0.0"], "ack_timeout": "1ms", "recovery": [], "complete": true }
END
echo '{ "schema": 1, "hosts": ["10.0.0.0"], "complete": true }' >complete.json
check_exit 4 "a mirror of both directions, which has packets twice, leaves open what follows from their order" "$H" verify twice.pcap go-back-n --settings strict.json
check_says "... with what to do" '6 of 12 requests come again at once: the capture has packets twice\..*editcap -w 0\.00001' out
twice 5 | raw >again.pcap
check_exit 1 "packets that come again later were sent again" "$H" verify again.pcap go-back-n --settings strict.json
late() { # US by which packets 3 and 5 are late
    pcap
    for i in 1 2 3 4 5 6; do
        AT_US=$((AT_US + (i == 3 || i == 5 ? -$1 : i == 4 || i == 6 ? $1 : 0)))
        record "$(write_only $((i == 2 ? 3 : i == 3 ? 2 : i)))"
    done
}
late 7 | raw >late.pcap
check_exit 4 "a file that is not in the order of time leaves it open, too" "$H" verify late.pcap go-back-n --host 10.0.0.0
check_says "... with what to do" 'what follows from the order of packets: packet 3 of interface 0 is earlier than one before it \(reordercap' out
late 0 | raw >late.pcap
check_exit 1 "... which is judged where it is" "$H" verify late.pcap go-back-n --settings complete.json

{ cat good.hex && record "$(write_only 5)"; } | raw >skip.pcap
check_exit 1 "a PSN that is left out" "$H" verify skip.pcap go-back-n --settings complete.json
check_says "... is found at its packet" 'packet 17 at 1000\.[0-9]+ s: PSN 5 follows PSN 3: 1 skipped' out
{ AT_S=1700000000 AT_US=3 && pcap && for i in 1 3; do record "$(write_only $i)"; done; } | raw >recent.pcap
check_exit 1 "... in a recent capture" "$H" verify recent.pcap go-back-n --settings complete.json
check_says "... at its microsecond" 'packet 2 at 1700000000\.000013000 s' out
check_exit 4 "... but may be missing from the capture, unless that is said to have all" "$H" verify skip.pcap go-back-n --host 10.0.0.0
check_says "... which is shown" 'packet 17 at 1000\.[0-9]+ s: PSN 5 follows PSN 3: 1 skipped' out
check_says "... with what makes it sure" 'not judged: whether 1 finding is a fault: a packet that is missing .* \(complete: it has all; a capture with the ports of both ends' out
{ cat good.hex && record "$(frame 0 1c 4 2 "$(zeros 20)")" && record "$(frame 0 1d 5 2 "$(zeros 16)")" && record "$(write_only 6)"; } | raw >flush.pcap
check_exit 0 "FLUSH and ATOMIC WRITE take a PSN each" "$H" verify flush.pcap go-back-n --host 10.0.0.0
check_says "... as packets that were sent" '^ok +go-back-n +12 packets sent' out
{ cat good.hex && record "$(frame 0 0a 4 3 "$(zeros 12)00000010")"; } | raw >marked.pcap
check_exit 1 "a packet that its sender marks" "$H" verify marked.pcap ecn --host 10.0.0.0
check_says "... is found" 'packet 17 at .*ECN bits are 3' out
cat >settings.json <<'END'
{ "schema": 1, "hosts": ["10.0.0.0"], "ack_timeout": "1ms", "recovery": [], "complete": true }
END
{ cat good.hex && record "$(write_only 4)" && record "$(write_only 4)"; } | raw >early.pcap
check_exit 1 "a retransmission before its time" "$H" verify early.pcap go-back-n --settings settings.json
check_says "... is found, with the time that is set" 'packet 18 .*PSN 4 is sent again 5.000 us after the last progress, without a NAK; the time-out is 1000.000 us' out
check_exit 4 "... and without the time it is not judged" "$H" verify early.pcap go-back-n --host 10.0.0.0
check_says "... which is said" 'not judged: when the sender went back without a NAK, 1 time' out

# ---- a capture that lost packets and does not say so: a PSN that was left out, and acknowledged
{ cat good.hex && record "$(write_only 5)" && record "$(ack 5 9)"; } | raw >silent.pcap
check_exit 4 "a PSN that is left out and acknowledged is missing from the capture" "$H" verify silent.pcap go-back-n --host 10.0.0.0
check_says "... which is said" 'not judged: packets are missing from the capture, which does not say so \(1 sign, the first: packet 18 answers PSN 5, and PSN 4 was not sent before\)' out
check_exit 4 "... by any checker" "$H" verify silent.pcap cnp ecn --host 10.0.0.0
check_says "... also of what is right" '^unknown +ecn +18 packets' out
{ cat good.hex && record "$(write_only 5)" && record "$(nak 4 8)"; } | raw >asked.pcap
check_exit 4 "... and asked for it may have been lost behind the port, too" "$H" verify asked.pcap go-back-n --host 10.0.0.0
check_exit 1 "... but where the capture has all packets it was left out" "$H" verify asked.pcap go-back-n --settings complete.json
check_exit 1 "... and so it was where the capture has all packets" "$H" verify silent.pcap go-back-n --settings complete.json
# ---- and one with a queue pair number that is used again
{ cat good.hex && for i in 1 2 3; do record "$(write_only $((0x300000 + i)))" && record "$(ack $((0x300000 + i)) $i)"; done; } | raw >reused.pcap
check_exit 0 "a new connection with the number of one before is no fault" "$H" verify reused.pcap go-back-n --host 10.0.0.0
check_says "... and counted" '^ok +go-back-n +12 packets sent, 9 ACKs, 1 NAK, 1 time gone back, 1 of these for NAKs, 1 queue pair number used again$' out

# ---- a pcapng whose capture lost packets itself: a gap proves nothing, a packet does
le16() { printf '%02x%02x' $(($1 & 255)) $(($1 >> 8)); }
block() { # TYPE BODY
    local bytes=$((12 + ${#2} / 2))
    le32 "$1" && le32 $bytes && printf %s "$2" && le32 $bytes
}
packet_at() { # TIME FRAME: its block
    local captured=$((${#2} / 2)) pad=$((-${#2} / 2 & 3))
    local bytes=$((32 + captured + pad))
    le32 6 && le32 $bytes && le32 0 && le32 $(($1 >> 32 & 0xffffffff)) && le32 $(($1 & 0xffffffff)) && le32 $captured && le32 $captured
    printf %s "$2" && zeros $pad && le32 $bytes
}
packets_of() { # FRAME...
    local one at=0
    printf '0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c0000000100000014000000010000000000000014000000'
    for one in "$@"; do
        at=$((at + 5))
        packet_at $at "$one"
    done
}
lost() { block 5 "$(le32 0)$(le32 0)$(le32 1000)$(le16 5)$(le16 8)$(le32 "$1")$(le32 0)$(le32 0)"; } # NUMBER
beside() { # LINK-TYPE: a pcapng with a packet of another interface between two
    packets_of "$(write_only 1)"
    block 1 "$(le16 "$1")$(le16 0)$(le32 0)"
    block 6 "$(le32 1)$(le32 0)$(le32 7)$(le32 4)$(le32 4)00000000"
    packet_at 10 "$(write_only 2)"
}
beside 113 | raw >any.pcapng
check_exit 4 "a packet of another interface, which is not Ethernet, leaves open what it may be" "$H" verify any.pcapng ecn --host 10.0.0.0
check_says "... and is counted" '^unknown +ecn +2 packets, 2 data' out
check_says "... with the link type, and what to do" 'not judged: 1 packet of interface 1, whose link type is 113 \(Linux "any"\): only Ethernet is read: capture the interface itself' out
beside 253 | raw >netlink.pcapng
check_exit 0 "... one that is certainly not of RDMA does not" "$H" verify netlink.pcapng ecn --host 10.0.0.0
check_says "... and is counted, too" '1 packet of interface 1, whose link type is 253 \(Linux netlink\)' out
gap=("$(write_only 1)" "$(write_only 3)")
packets_of "${gap[@]}" | raw >gap.pcapng
check_exit 4 "a gap in a pcapng that does not count what it lost" "$H" verify gap.pcapng go-back-n --host 10.0.0.0
{ packets_of "${gap[@]}" && lost 1; } | raw >lost.pcapng
check_exit 4 "... whose capture lost a packet is no proof" "$H" verify lost.pcapng go-back-n --host 10.0.0.0
check_says "... it is shown" 'packet 2 at .*PSN 3 follows PSN 1: 1 skipped' out
check_says "... with the reason" 'the capture itself lost 1 packet of interface 0' out
{ packets_of "${gap[@]}" && lost 0; } | raw >whole.pcapng
check_exit 1 "... where it lost none, it is one" "$H" verify whole.pcapng go-back-n --host 10.0.0.0
check_exit 4 "... and what is right may have missed something" "$H" verify lost.pcapng ecn --host 10.0.0.0
{ packets_of "$(frame 0 0a 1 3 "$(zeros 12)00000010")" && lost 1; } | raw >proved.pcapng
check_exit 1 "... but a packet that its sender marks is a fault" "$H" verify proved.pcapng ecn --host 10.0.0.0

# ---- Wireshark numbers packets alike
if command -v tshark >/dev/null; then
    check "Wireshark's number of the packet that was left out is the same" test "$(tshark -r skip.pcap -T fields -e frame.number -Y 'infiniband.bth.psn == 5' 2>/dev/null)" = 17
else
    skip "Wireshark's numbers are the same" no-command tshark
fi

# ---- files that are none, or not whole
refused() { # WHAT FILE PATTERN
    check_exit 2 "$1 is refused" timeout 20 "$H" verify "$2" --host 10.0.0.0
    check_says "... with a reason" "$3" err
}
: >empty
refused "an empty file" empty 'it is empty'
printf '\x89PNG\r\n\x1a\n' >picture.png
refused "a picture" picture.png 'neither pcap nor pcapng: it begins with 89 50'
refused "a folder" . 'has no capture.pcapng: name a run.s folder'
refused "a file that is not there" missing 'No such file'
refused "a device" /dev/zero 'neither a file nor a pipe'
gzip -c good.pcap >good.pcap.gz
refused "a compressed one" good.pcap.gz 'gunzip'
{ pcap && printf '%s%s%s%s' "$(le32 1)" "$(le32 1)" ffffffff ffffffff; } | raw >huge.pcap
refused "a packet of four gigabytes" huge.pcap 'byte 24: packet 1 has 4294967295 bytes'
section=0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000
interface=0100000014000000010000000000000014000000
printf '%s%s%s' $section $interface 0600000000000000000000000000 | raw >zero.pcapng
refused "a block of no bytes" zero.pcapng 'type 0x6 at byte 48 says it has 0 bytes'
printf '%s%s%s' $section $interface 06000000fcffffff000000000000 | raw >block.pcapng
refused "a block of four gigabytes" block.pcapng 'says it has 4294967292 bytes, expected at most'
printf 'd4c3b2a1020004000000000000000000ffff000071000000' | raw >cooked.pcap
refused "another link type" cooked.pcap 'link type 113'
if [ "$(id -u)" = 0 ]; then
    skip "a file that may not be read is refused" root
else
    cp good.pcap secret.pcap && chmod 0 secret.pcap
    refused "a file that may not be read" secret.pcap 'Permission denied'
fi
head -c -7 skip.pcap >cut.pcap
# a file that is cut short is never ok: good.pcap ends with an ACK of 62 bytes, behind packet 15
cut_short() { # WHAT FILE PATTERN
    check_exit 4 "$1 is judged as far as it goes, and not ok" "$H" verify "$2" go-back-n ecn --host 10.0.0.0
    check_says "... by any checker" '^unknown +go-back-n +9 packets sent, 5 ACKs' out
    check_says "... which is said" 'not judged: what came after packet 15 at 1000.000075000 s: .* is cut short: '"$3" out
    check_says "... also where verdicts are counted" '^15 packets of a file that is cut short: 0 ok, .* 2 unknown$' out
}
head -c -7 good.pcap >cut.pcap
cut_short "a packet that is cut" cut.pcap 'a packet at byte [0-9]+ has 71 of 78 bytes'
head -c -66 good.pcap >cut.pcap
cut_short "... within its header" cut.pcap 'the header of a packet at byte [0-9]+ has 12 of 16 bytes'
check_exit 1 "what is found before the end stays found" "$H" verify <(cat skip.pcap && head -c 44 good.pcap | tail -c 20) go-back-n --settings complete.json
check_exit 4 "... and behind a header alone all is open" "$H" verify <(head -c 30 good.pcap) ecn
check_says "... from the first packet on" 'not judged: all packets: .* is cut short: the header of a packet' out
{ head -c -78 good.pcap && head -c 4096 /dev/zero; } >cut.pcap
cut_short "zeros in place of a packet" cut.pcap 'there are zeros from byte [0-9]+ on'
# a pcapng: an unfinished block, of a packet or of any other kind, and a section that says that it has more
{ packets_of "${gap[@]}" && lost 0; } | raw | head -c -4 >torn.pcapng
ends_open() { # WHAT FILE PATTERN
    check_exit 4 "$1 leaves open what came then" "$H" verify "$2" ecn --host 10.0.0.0
    check_says "... with the place" "not judged: what came after packet 2 .*is cut short: $3" out
}
ends_open "an unfinished block" torn.pcapng 'a block at byte [0-9]+ has [0-9]+ of [0-9]+ bytes'
{ packets_of "${gap[@]}" && printf '0a0000002000000000000000'; } | raw >torn.pcapng
ends_open "an unfinished block of another kind" torn.pcapng 'a block at byte [0-9]+ has 12 of 32 bytes'
{ packets_of "${gap[@]}" | raw && head -c 100 /dev/zero; } >torn.pcapng
ends_open "zeros in place of blocks" torn.pcapng 'there are zeros from byte [0-9]+ on'
packets_of "${gap[@]}" | sed '1s/ffffffffffffffff/0010000000000000/' | raw >torn.pcapng
ends_open "a section that ends early" torn.pcapng 'a section at byte 28 has [0-9]+ of 4096 bytes'
mkfifo pipe
"$H" verify pipe go-back-n --host 10.0.0.0 >pipe.out 2>pipe.err &
reader=$!
until grep -q waiting pipe.err 2>/dev/null || ! kill -0 $reader 2>/dev/null; do sleep 0.1; done
check "a named pipe waits for its writer, and says so" grep -q '^harness: pipe is a pipe: waiting until a program writes into it' pipe.err
cat good.pcap >pipe
wait $reader
check "... and is read" test $? = 0
# Ctrl-C, which ends tcpdump and verify: tcpdump then writes its last packets
mkfifo live
{ exec 9>live && head -c 300 good.pcap >&9 && until [ -e stopped ]; do sleep 0.05; done && tail -c +301 good.pcap >&9; } &
"$H" verify live go-back-n --host 10.0.0.0 >live.out 2>live.err &
reader=$!
until grep -q '^SigBlk:.*4003$' /proc/$reader/status || ! kill -0 $reader 2>/dev/null; do sleep 0.1; done # it reads
kill -INT $reader && touch stopped
wait $reader
check "after Ctrl-C a pipe is read until its writer ends" test $? = 0
check "... and judged" grep -q '^16 packets: 1 ok' live.out

# ---- PFC in a file that says neither whose port it is nor its rate: who pauses whom follows from the hosts' addresses
# pfc FROM PRIORITY QUANTA: from the host 10.0.0.0 (0) or its switch (9)
pfc() { printf '0180c20000010200000000%02x88080101%04x%s%s' "$1" $((1 << $2)) "$(for i in {0..7}; do [ "$i" = "$2" ] && printf %04x "$3" || printf 0000; done)" "$(zeros 26)"; }
lossless() { # JQ: settings of a lossless priority 3, DSCP 26
    jq "$1" <<<'{ "schema": 1, "hosts": ["10.0.0.0"], "link_rate": "100Gb/s", "storm": "100us", "settings": { "pfc": [3], "trust": "dscp" } }' >pfc.json
}
storm_of() { # FROM: 150 us; each pause is 307 us
    local pause
    pause=$(pfc "$1" 3 60000)
    for _ in {1..30}; do record "$pause"; done
}
{ pcap && storm_of 9 && record "$(write_only 1)"; } | raw >storm.pcap
{ pcap && record "$(pfc 9 3 60000)" && record "$(pfc 9 3 0)" && record "$(write_only 1)"; } | raw >pause.pcap
{ pcap && record "$(pfc 9 3 60000)" && record "$(write_only 1)"; } | raw >paused.pcap
lossless .
check_exit 1 "a pause storm in a pcap" "$H" verify storm.pcap pfc --settings pfc.json
check_says "... is found" 'packet 21 at .*priority 3 has been paused for 0.100 ms without a break, since packet 1' out
lossless '.complete = true'
check_exit 1 "a frame that is sent while the port is paused, by a pause before the first packet of the host" "$H" verify paused.pcap pfc --settings pfc.json
check_says "... is found" 'packet 2 at .*a frame of priority 3 is sent 5.000 us after packet 1 paused it' out
lossless .
check_exit 4 "... unless an XON between them may be missing from the capture" "$H" verify paused.pcap pfc --settings pfc.json
check_exit 0 "... after XON it may" "$H" verify pause.pcap pfc --settings pfc.json
check_says "... which is ok" '^ok +pfc +2 PFC frames' out
# what is not known leaves something open: that is not ok, whatever the others say
open() { # WHAT FILE JQ PATTERN [CHECKER...]
    lossless "$3"
    check_exit 4 "$1: the verdict is unknown" "$H" verify "$2" "${@:5}" --settings pfc.json
    check_says "... with the reason" "not judged: .*$4" out
}
open "pauses of a link whose host is not known" paused.pcap 'del(.hosts)' 'whether the other end obeys 1 PFC frame.*\(hosts: whose port it is\)' pfc
open "... of hosts at both ends" paused.pcap '.hosts += ["10.0.0.1"]' '1 packet whose direction is not known' pfc
open "... on a link of no known rate" paused.pcap 'del(.link_rate)' 'rate is not known \(link_rate\)' pfc ecn
open "... with packets of no known priority" pause.pcap 'del(.settings.trust)' '1 packet whose priority is not known' pfc
open "... of priorities that may or may not be lossless" pause.pcap 'del(.settings.pfc)' 'pfc is not set' pfc

# ---- the same storm with times that are not those of the wire: what needs them is unknown, what does not is judged
le64() { printf '%s%s' "$(le32 $(($1 & 0xffffffff)))" "$(le32 $(($1 >> 32 & 0xffffffff)))"; }
timed() { # RESOLUTION OFFSET-S TIME: an expression of i, in units, of 60 packets
    local i frames=("$(pfc 9 3 60000)" "$(write_only 1)") options
    options="09000100$(printf %02x "$1")0000000e000800$(le64 "$2")00000000"
    printf '0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000%s' "$(block 1 "0100000000000000$options")"
    for ((i = 0; i < 60; i++)); do packet_at $(($3)) "${frames[i == 59]}"; done
}
storm_at() { # EXIT WHAT RESOLUTION OFFSET-S TIME PATTERN
    timed "$3" "$4" "$5" | raw >timed.pcapng
    check_exit "$1" "$2" "$H" verify timed.pcapng pfc ecn --settings pfc.json
    check_says "... is said" "$6" out
    check_says "... what needs no time is judged" '^ok +ecn +1 packet' out
}
storm_at 1 "a storm in the year 2044" 6 0 '2335219200 * 1000000 + 5 * i' 'paused for 0.100 ms without a break, since packet 1'
storm_at 1 "... and in 2106, in nanoseconds" 9 0 '4294967200 * 1000000000 + 5000 * i' 'paused for 0.100 ms without a break, since packet 1'
storm_at 4 "a storm behind 2116" 6 0 '4702444800 * 1000000 + 5 * i' 'not judged: times of 60 packets of interface 0: they are not from 1970 to 2116'
storm_at 4 "... and before 1970" 6 -1000 '5 * i' 'not judged: times of 60 packets of interface 0: they are not from 1970'
storm_at 4 "a storm in units of 10 us" 5 0 'i / 2' 'not judged: times of 60 packets of interface 0: they are in units of 10us, and what is judged needs 1us'
storm_at 4 "... in units of 2^-10 s" 138 0 'i' 'they are in units of 976562ns'
storm_at 4 "... of times that were rounded" 6 0 '5 * i / 20 * 20' 'not judged: times of 60 packets of interface 0: they come in steps of 20us'
storm_at 4 "... of one time" 6 0 7 'not judged: times of 60 packets of interface 0: all are the same'
storm_at 4 "... backwards" 6 0 '1000000 - 5 * i' 'not judged: times of 59 packets of interface 0: packet 2 is 5.000 us before one that came earlier'
storm_at 1 "a clock that is set back does not hide what was before" 6 0 '1000000 + 5 * i - (i > 30) * 1000' 'not judged: times of 29 packets of interface 0: packet 32 is 995.000 us before'
storm_at 1 "a clock that is set forward" 6 0 '5 * i + (i > 30) * 20000' 'not judged: whether 1 pause went on from those before \(the first at packet 32\)'
{
    pcap
    storm_of 9
    AT_US=$((AT_US + 20000))
    record "$(write_only 1)"
    storm_of 9
} | raw >forward.pcap
lossless .
check_exit 1 "... which data is captured after first" "$H" verify forward.pcap pfc --settings pfc.json
check_says "... is said" 'not judged: whether 1 pause went on from those before \(the first at packet 32\)' out
{ pcap && record "0180c200000102000000000988080001ffff$(zeros 42)"; } | raw >global.pcap
open "a pause of all priorities on a link without PFC" global.pcap 'del(.settings.pfc)' '1 pause frame of IEEE 802.3x' pfc
lossless '.settings.pfc = []'
check_exit 1 "... where none is lossless it is a fault" "$H" verify pause.pcap pfc --settings pfc.json
lossless 'del(.hosts)'
check_exit 1 "a storm is one whoever sends it" "$H" verify storm.pcap pfc --settings pfc.json
{ pcap && record "$(frame 1 0a 7 3 "$(zeros 12)00000010")"; } | raw >ce.pcap
open "a marked packet whose sender is elsewhere" ce.pcap . 'who marked 1 packet or sent without ECN' ecn
open "... whose receiver has no interval of CNPs" ce.pcap . 'min_time_between_cnps is not set' cnp
open "... of hosts of which none is known" ce.pcap 'del(.hosts)' '1 CNP and marked packets of hosts that are not at the port' cnp
{ pcap && record "$(frame 1 81 0 0 "$(zeros 16)")"; } | sed 's/8100ffff00/8100ffff40/' | raw >cnp.pcap
open "a CNP whose queue pair sends at an unknown rate" cnp.pcap 'del(.link_rate)' 'rate is not known \(link_rate\)' dcqcn
open "... to a host that is elsewhere" cnp.pcap 'del(.hosts)' '1 CNP to hosts that are not at the port' dcqcn

# ---- packets that are cut: faultless ones stay so
cut_to() { # BYTES FRAME...: records of WRITEs of three packets and their ACKs
    pcap
    for i in 0 3 6; do
        record "$(frame 0 06 $i 2 "$(zeros 12)00000030")" "$1"
        record "$(frame 0 07 $((i + 1)) 2)" "$1"
        record "$(frame 0 08 $((i + 2)) 2)" "$1"
        record "$(ack $((i + 2)) $((i / 3 + 1)))" "$1"
    done
}
for host in 0 1; do
    cut_to 64 | raw >cut64.pcap
    check_exit 0 "headers that are cut behind the transport header are no fault, at host $host" "$H" verify cut64.pcap go-back-n --host 10.0.0.$host
    check_says "... they are counted" '^ok +go-back-n +9 packets .*3 packets with cut headers$' out
    check_says "... and what holds them all is said" 'not judged: headers behind the transport header of 3 packets, .*at most 64 bytes were captured; 114 hold all' out
    cut_to 56 | raw >cut56.pcap
    check_exit 4 "cut ACKs leave open what they say, at host $host" "$H" verify cut56.pcap go-back-n --host 10.0.0.$host
    check_says "... which is counted" 'not judged: 3 cut answers' out
done
{ pcap && for i in 1 2; do record "$(frame 0 0c $i 2 "$(zeros 12)00000010")" 60 && record "$(frame 1 10 $i 2 1f000001)"; done; } | raw >reads.pcap
check_exit 4 "reads whose lengths are cut leave open which answers are theirs" "$H" verify reads.pcap go-back-n --host 10.0.0.0
check_says "... which is counted" 'not judged: which PSNs are of the answers of 2 reads' out
cut_to 50 | raw >cut50.pcap
check_exit 4 "cut transport headers leave all open" "$H" verify cut50.pcap --host 10.0.0.0
check_says "... which is counted" 'not judged: 12 packets cut before the end of the transport header \(at most 50 bytes' out

# ---- what NICs do beside go-back-N: as it is set, or as the capture shows
rules() { # EXIT WHAT FILE HOST RECOVERY PATTERN
    jq -n --arg host "10.0.0.$4" --argjson recovery "$5" '{schema: 1, hosts: [$host], ack_timeout: "1ms", complete: true} + ($recovery | if . then {recovery: .} else {} end)' >rules.json
    check_exit "$1" "$2" "$H" verify "$3" go-back-n --settings rules.json
    check_says "... with the reason" "$6" out
}
begun() { pcap && for i in 0 1 2; do record "$(write_only $i)"; done && record "$(ack 2 3)"; }
{ begun && for i in 3 4 5; do record "$(write_only $i)"; done && record "$(nak 3 3)" && record "$(write_only 3)" && record "$(write_only 6)" && record "$(ack 6 7)"; } | raw >selective.pcap
rules 0 "selective repeat" selective.pcap 0 null '^ok .*the rules are those of selective-repeat, since PSN 6 follows PSN 3, which was sent again .*packet 10'
rules 0 "... as it is set" selective.pcap 0 '["selective-repeat"]' '^ok .*the rules are those of selective-repeat \(set by recovery\)'
rules 1 "... where the NIC does not do that" selective.pcap 0 '["adaptive-retransmission"]' 'packet 10 at .*PSN 6 follows PSN 3: 2 skipped'
{ begun && for i in 4 5; do record "$(write_only $i)"; done && record "$(nak 3 3)" && record "$(write_only 3)" && record "$(write_only 6)" && record "$(ack 6 7)"; } | raw >kept.pcap
rules 0 "a responder that keeps what came before an earlier one" kept.pcap 1 null '^ok .*selective-repeat, since what is before PSN 7 is acknowledged, and came in another order \(packet 10\)'
rules 0 "... by out-of-order placement" kept.pcap 1 '["out-of-order-placement"]' '^ok .*out-of-order-placement \(set by recovery\)'
rules 1 "... where the NIC does not do that" kept.pcap 1 '[]' 'packet 10 at .*acknowledges PSN 6, but not all before it has arrived in order: PSN 4 is expected'
{ begun && for i in 4 3 6 5; do record "$(write_only $i)"; done && record "$(ack 6 7)"; } | raw >reordered.pcap
rules 0 "packets that came in another order, and none was asked for" reordered.pcap 1 null '^ok .*out-of-order-placement, since what is before PSN 7 is acknowledged'
{ begun && for i in 3 5 6; do record "$(write_only $i)"; done && record "$(ack 6 7)"; } | raw >missing.pcap
rules 1 "what never arrived is not acknowledged by any rule" missing.pcap 1 '["selective-repeat", "out-of-order-placement"]' 'packet 8 at .*acknowledges PSN 6, but not all before it has arrived in order: PSN 4 is expected'
{ begun && for i in 3 4 4 5; do record "$(write_only $i)"; done && record "$(ack 5 6)"; } | raw >adaptive.pcap
rules 0 "adaptive retransmission: the last packet again, before the time-out" adaptive.pcap 0 null '^ok .*adaptive-retransmission, since PSN 4 is sent again 10.000 us after the last progress'
rules 0 "... as it is set" adaptive.pcap 0 '["adaptive-retransmission"]' '^ok .*adaptive-retransmission \(set by recovery\)'
rules 1 "... where the NIC does not do that" adaptive.pcap 0 '[]' 'packet 7 at .*PSN 4 is sent again 10.000 us after the last progress, without a NAK; the time-out is 1000'

AT_US=100
{ begun && record "$(write_only 3)" && AT_US=9100 && record "$(write_only 3)" && record "$(ack 3 4)"; } | raw >late.pcap
rules 0 "a time-out that is shorter than NICs take" late.pcap 0 null '^ok .*adaptive-retransmission, since PSN 3 is sent again only [0-9.]+ us after the last progress, more than four time-outs'
rules 1 "... where the NIC takes it" late.pcap 0 '[]' 'PSN 3 is sent again [0-9.]+ us after the last progress; the time-out is 1000.000 us, and at most 4000.000 us'

# ---- captures without RoCEv2: what they have, and what to do
other() { # WHAT HEX PATTERN
    { pcap && record "$2" && record "$2"; } | raw >other.pcap
    check_exit 4 "$1: nothing can be judged" "$H" verify other.pcap
    check_says "... what was seen is counted" "not judged: $3" out
    check_says "... and that it is not RoCEv2" 'not judged: RoCE v2: there is none among 2 packets' out
}
ip=020000000001020000000000 # Ethernet addresses
other "RoCE v1" "${ip}8915$(zeros 60)" '2 packets of RoCE v1 \(Ethernet type 0x8915\): .*GID'
# udp PORT HEX, gre HEX: in IPv4
udp() { printf '%s080045000%03x00014000401100000a0000000a000001c000%04x%04x0000%s' $ip $((28 + ${#2} / 2)) "$1" $((8 + ${#2} / 2)) "$2"; }
gre() { printf '%s080045000%03x00014000402f00000a0000000a000001%s' $ip $((20 + ${#1} / 2)) "$1"; }
inner=$(write_only 1)
other "VXLAN" "$(udp 4789 "0800000000000100$inner")" '2 packets of VXLAN, 2 with RoCE v2 inside \(editcap -L -C 50'
other "ERSPAN" "$(gre "100088be000000010000000000000000$inner")" '2 packets of ERSPAN, 2 with RoCE v2 inside \(editcap -L -C 50'
other "NVGRE" "$(gre "20006558000001$(printf 00)$inner")" '2 packets of GRE, 2 with RoCE v2 inside \(editcap -L -C 42'
other "another UDP port" "$(udp 4790 "$(zeros 40)")" '2 packets of UDP to other ports than 4791 \(the first to 4790\)'
other "TCP" "${ip}0800450000280001400040060000$(zeros 40)" '2 packets of protocols without RDMA'
{ pcap && record "$(udp 4789 "0800000000000100$inner")" && record "$(write_only 1)"; } | raw >mixed.pcap
check_exit 4 "RoCE in a tunnel beside other RoCE leaves that open" "$H" verify mixed.pcap ecn --host 10.0.0.0
check_says "... which is counted" 'not judged: 1 packet of VXLAN, 1 with RoCE v2 inside' out
# PSN 4 within what is not read, in a capture that has all packets
unread() { # WHAT STATUS HEX [PATTERN]
    { cat good.hex && record "$3" && record "$(write_only 5)"; } | raw >unread.pcap
    check_exit "$2" "PSN 4 is left out, beside $1" "$H" verify unread.pcap go-back-n --settings complete.json
    [ -z "${4:-}" ] || check_says "... which is counted" "not judged: 1 packet of $4" out
}
four=$(write_only 4)
v6() { printf '%s86dd60000000%04x%s40%s%s%s' $ip $((${#2} / 2)) "$1" "$(zeros 16)" "$(zeros 16)" "$2"; } # NEXT-HEADER HEX
unread "a fragment to RoCE's port" 4 "${four:0:40}2000${four:44}" 'fragments of UDP in IPv4, 1 that may be RoCE v2: '
unread "a later fragment, which has no port" 4 "${four:0:40}2001${four:44}" 'fragments of UDP in IPv4, 1 that may be RoCE v2: '
unread "a fragment to another port" 1 "${four:0:40}2000${four:44:28}12b6${four:76}"
unread "IPv6 with options" 4 "$(v6 00 "1100010400000000${four:68}")" 'IPv6 with extension headers, 1 that may be RoCE v2: '
unread "a report of multicast listeners" 1 "$(v6 00 "3a00050200000000$(zeros 28)")"
unread "IP in GRE" 4 "$(gre "00000800${four:28}")" 'GRE, 1 that may be RoCE v2: '
unread "TCP in GRE" 1 "$(gre "00000800450000280001400040060000$(zeros 28)")"
unread "IP in IP" 4 "${four:0:46}04${four:48:20}${four:28}" 'MPLS or IP in IP, 1 that may be RoCE v2: '
unread "labels before IP" 4 "${ip}88470000014000000240${four:28}" 'MPLS or IP in IP, 1 that may be RoCE v2: '
unread "RoCE in VXLAN" 4 "$(udp 4789 "0800000000000100$four")" 'VXLAN, 1 with RoCE v2 inside'
unread "ARP in VXLAN" 1 "$(udp 4789 "0800000000000100${ip}0806$(zeros 46)")"
unread "a length that lies" 4 "${four:0:76}ffff${four:80}" 'malformed frames'
unread "ARP" 1 "${ip}0806$(zeros 46)"
pcap | raw >none.pcap
check_exit 4 "a capture of no packets" "$H" verify none.pcap
check_says "... says so" 'there is none among 0 packets' out
printf 'd4c3b2a1020004000000000000000000ffff0000f7000000' | raw >infiniband.pcap
refused "a capture of an InfiniBand port" infiniband.pcap 'link type 247 \(InfiniBand\).*not RoCE'
if command -v editcap >/dev/null; then
    { pcap && record "$(udp 4789 "0800000000000100$inner")"; } | raw >vxlan.pcap
    editcap -F pcap -L -C 50 vxlan.pcap taken.pcap
    check_exit 0 "the command that it names makes RoCE readable" "$H" verify taken.pcap ecn --host 10.0.0.0
else
    skip "the command that it names makes RoCE readable" no-command editcap
fi

# ---- the command line and the settings
check_exit 2 "no such checker" "$H" verify good.pcap go-bak-n
check_says "... names the nearest" '"go-bak-n" is not a checker; did you mean go-back-n\?' err
check_exit 2 "no address" "$H" verify good.pcap --host host-a
check_says "... is said" '"host-a" is not an IP address' err
echo '{"ack_timeut": "1ms"}' >wrong.json
check_exit 2 "settings with a wrong key" "$H" verify good.pcap --settings wrong.json
check_says "... name the nearest" 'wrong.json.*ack_timeut.*ack_timeout' err
finish
