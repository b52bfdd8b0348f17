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
AT_US=0
record() { # HEX
    local bytes=$((${#1} / 2))
    AT_US=$((AT_US + 5))
    printf '%s%s%s%s%s' "$(le32 1000)" "$(le32 $AT_US)" "$(le32 $bytes)" "$(le32 $bytes)" "$1"
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
check_says "... is ok, with what was looked at" '^ok +go-back-n +9 packets sent, 6 ACKs, 1 NAKs, 1 times gone back, 1 of these for NAKs$' out
check_says "... by both" '^ok +ecn +16 packets' out
check_says "... and counted" '^16 packets: 2 ok, 0 warnings, 0 failures, 0 unknown$' out
# shellcheck disable=SC2317 # called through check_exit
from_a_pipe() { "$H" verify - go-back-n --host 10.0.0.0 < <(cat good.pcap); }
check_exit 0 "... from a pipe" from_a_pipe
check_exit 4 "without --host nobody's port is known: nothing is judged" "$H" verify good.pcap go-back-n
check_says "... which is said" 'not judged: 16 packets of hosts that are not at the port' out
check_exit 1 "all checkers" "$H" verify good.pcap --host 10.0.0.0 --json
check "... as JSON: the ICRCs are wrong, in all packets" test "$(jq '.packets == 16 and ([.checks[].check] == ["go-back-n", "cnp", "dcqcn", "pfc", "ecn", "icrc"]) and
    (.checks[5] | .verdict == "failure" and .count == 16 and (.findings[0].packets | length == 10 and .[0].packet == 1))' out)" = true

{ cat good.hex && record "$(write_only 5)"; } | raw >skip.pcap
check_exit 1 "a PSN that is left out" "$H" verify skip.pcap go-back-n --host 10.0.0.0
check_says "... is found at its packet" 'packet 17 at 1000\.[0-9]+ s: PSN 5 follows PSN 3: 1 skipped' out
{ cat good.hex && record "$(frame 0 1c 4 2 "$(zeros 20)")" && record "$(frame 0 1d 5 2 "$(zeros 16)")" && record "$(write_only 6)"; } | raw >flush.pcap
check_exit 0 "FLUSH and ATOMIC WRITE take a PSN each" "$H" verify flush.pcap go-back-n --host 10.0.0.0
check_says "... as packets that were sent" '^ok +go-back-n +12 packets sent' out
{ cat good.hex && record "$(frame 0 0a 4 3 "$(zeros 12)00000010")"; } | raw >marked.pcap
check_exit 1 "a packet that its sender marks" "$H" verify marked.pcap ecn --host 10.0.0.0
check_says "... is found" 'packet 17 at .*ECN bits are 3' out
cat >settings.json <<'END'
{ "schema": 1, "hosts": ["10.0.0.0"], "ack_timeout": "1ms" }
END
{ cat good.hex && record "$(write_only 4)" && record "$(write_only 4)"; } | raw >early.pcap
check_exit 1 "a retransmission before its time" "$H" verify early.pcap go-back-n --settings settings.json
check_says "... is found, with the time that is set" 'packet 18 .*PSN 4 is sent again 5.000 us after the last progress, without a NAK; the time-out is 1000.000 us' out
check_exit 0 "... and without the time it is not judged" "$H" verify early.pcap go-back-n --host 10.0.0.0
check_says "... which is said" 'not judged: when the sender went back without a NAK, 1 times' out

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
refused "a folder" . 'neither a file nor a pipe'
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
check_exit 0 "a file that is cut short is judged as far as it goes" "$H" verify cut.pcap go-back-n --host 10.0.0.0
check_says "... and that is said" 'warning: cut.pcap is cut short: a packet at byte [0-9]+ has [0-9]+ of [0-9]+ bytes' err
mkfifo pipe
(cat good.pcap >pipe) &
check_exit 0 "a named pipe is read" timeout 20 "$H" verify pipe go-back-n --host 10.0.0.0
wait

# ---- the command line and the settings
check_exit 2 "no such checker" "$H" verify good.pcap go-bak-n
check_says "... names the nearest" '"go-bak-n" is not a checker; did you mean go-back-n\?' err
check_exit 2 "no address" "$H" verify good.pcap --host host-a
check_says "... is said" '"host-a" is not an IP address' err
echo '{"ack_timeut": "1ms"}' >wrong.json
check_exit 2 "settings with a wrong key" "$H" verify good.pcap --settings wrong.json
check_says "... name the nearest" 'wrong.json.*ack_timeut.*ack_timeout' err
finish
