#!/bin/bash
# Captures of real hosts: two network namespaces with an sshd each and stand-ins for roce-traffic and tcpdump. A capturer that is not there, one
# that sends what is not a pcap, one that ends, one that sends more than it may; nothing stays on the hosts.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
STAND_IN=$SCRATCH/stand-in

check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
mkdir "$STAND_IN" "$SCRATCH/paths"
ln "$SCRATCH"/bin/{nic-sampler,nic-config,host-facts} "$STAND_IN/"
stand_in_traffic "$STAND_IN"
for host in a b; do set_environment $host "PATH=$SCRATCH/paths:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"; done
jq 'del(.sweep, .expect, .published) | .phases = {warmup: "0s", measure: "500ms", cooldown: "100ms"} | .flows[].memory = "host"' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/short.json"

# A capturer that says that it listens, sends the file $SCRATCH/pcap.HOST, and ends when it is told to.
tcpdump_that() { # COMMAND: what it does instead of waiting
    cat > "$SCRATCH/paths/tcpdump" << END
#!/bin/bash
host=a
! ip -4 addr show data0 | grep -q 10.9.0.2/ || host=b
echo "\$*" > $SCRATCH/said.\$host
trap 'echo "3 packets captured" >&2; echo "2 packets dropped by kernel" >&2; exit 0' TERM
echo "tcpdump: listening on data0, link-type EN10MB (Ethernet), snapshot length 80 bytes" >&2
cat $SCRATCH/pcap.\$host
${1:-while :; do sleep 0.05; done}
END
    chmod +x "$SCRATCH/paths/tcpdump"
}
# A pcap of COUNT frames of 60 bytes from one MAC address, at times of this machine's clock.
pcap() { # FILE COUNT MAC
    python3 - "$@" << 'END'
import struct, sys, time
file, count, mac = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3].replace(":", ""))
with open(file, "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 80, 1))
    for i in range(count):
        out.write(struct.pack("<IIII", int(time.time()) + 60, i, 60, 60) + b"\2" * 6 + mac + b"\x88\x08" + b"\0" * 46)
END
}
mac() { ip -n "$1" -j link show data0 | jq -r '.[0].address'; }
run() { # OPTION...
    rm -rf "$OUT"
    "$H" run "$SCRATCH/short.json" --lab "$SCRATCH/stand-in.json" --no-report --yes --out "$OUT" "$@" > "$SCRATCH/out" 2> "$SCRATCH/err"
    STATUS=$?
    RESULT=$OUT/pfc-bidir/latest
}
result() { jq -e "$1" "$RESULT/result.json"; }

# ---- as it should be
for host in a b; do pcap "$SCRATCH/pcap.$host" 3 "$(mac a)"; done
tcpdump_that
run --set 'capture={"ports": ["a", "b:0"]}'
check "the frames of both hosts are in one file" result '.complete and .capture.frames == 6 and (.capture.ports | map([.port, .interface, .frames, .drops]) == [["a:0", "data0", 3, 2], ["b:0", "data0", 3, 2]])'
check "... what a capturer lost is a warning" result '[.warnings[] | select(. == "capture of a:0: its capturer lost 2 frames")] | length == 1'
check "... tcpdump is told what to keep, and to leave the device as it is" grep -qE -- '^-n -p -i data0 -w - -B 16384 --time-stamp-precision=nano -s 114 udp dst port 4791 or' "$SCRATCH/said.a"
if [ -n "$(command -v tshark)" ]; then
    check "... with the direction of each" test "$(tshark -r "$RESULT/capture.pcapng" -T fields -e frame.interface_name -e frame.packet_flags_direction 2> /dev/null | sort | uniq -c | awk '{ print $1, $2, $3 }' | xargs)" = "3 a:0 0x00000002 3 b:0 0x00000001"
else
    skip "... with the direction of each" no-command tshark
fi
run --set 'capture={"ports": ["b"]}'
check "a port that is not named is not captured" result '.capture.ports | map(.port) == ["b:0"]'
run --set 'capture={"phase": "measure"}'
check "frames of other times are left out" result '.complete and .capture.frames == 0'

# ---- more than it may
pcap "$SCRATCH/pcap.a" 100000 "$(mac a)"
run --set 'capture={"limit": "100KB"}'
check "a limit is not exceeded by what a host sends" test "$STATUS" != 3 -a "$(stat -Lc %s "$RESULT/capture.pcapng")" -le 100000
check "... and said" result '.complete and .capture.left_out_from_ns > 0 and any(.warnings[]; startswith("capture.pcapng ends at its limit of 100kB (capture.limit): it covers the run from 0 to "))'

# ---- what is not a pcap, nothing, and one that is cut
head -c 300000 /dev/urandom > "$SCRATCH/pcap.a"
: > "$SCRATCH/pcap.b"
run --set 'capture={}' --set 'verify=["go-back-n"]'
check "what is not a pcap is left out, and said" result '.complete and .capture.frames == 0 and all(.capture.ports[]; .lacks | length > 10)'
check "... nothing is judged" result '.verify[0].verdict == "skipped"'
pcap "$SCRATCH/pcap.b" 3 "$(mac b)"
truncate -s -7 "$SCRATCH/pcap.b"
run --set 'capture={}'
check "one that is cut short is taken as far as it goes" result '.capture.ports[1] | .frames == 2 and (.lacks | test("is cut short"))'

# ---- ends
for host in a b; do pcap "$SCRATCH/pcap.$host" 3 "$(mac $host)"; done
# shellcheck disable=SC2016 # the stand-in expands it
tcpdump_that 'sleep 0.3; [ $host = b ] || { echo "tcpdump: data0: That device is gone" >&2; exit 1; }; while :; do sleep 0.05; done'
run --set 'capture={}' --duration 5s
check "a capturer that ends by itself ends the run" test "$STATUS" = 3
check "... which names it" result '(.complete | not) and (.reason | test("host a: tcpdump .*That device is gone"))'
check "... what it had captured is there, and that its losses are not known" result '.capture.ports[0] | .frames == 3 and (has("drops") | not) and (.lacks | test("is not known"))'
tcpdump_that 'trap "" TERM; sleep 12'
run --set 'capture={}'
check "one that does not end is not waited for, and said" result '.capture.ports | all(.frames > 0 and (.lacks | test("is not known")))'
rm "$SCRATCH/paths/tcpdump"
if [ -z "$(PATH=$PATH:/usr/sbin:/sbin command -v tcpdump)" ]; then
    run --set 'capture={}'
    check "without tcpdump nothing begins" test "$STATUS" = 3
    check_says "... the reason" 'capture: .*tcpdump is not there' "$SCRATCH/err"
    check "... before anything was changed" test ! -s "$RESULT/settings.json"
fi
tcpdump_that
rm -rf "$OUT"
"$H" run "$SCRATCH/short.json" --lab "$SCRATCH/stand-in.json" --no-report --yes --out "$OUT" --set 'capture={}' --duration 20s > "$SCRATCH/out" 2> "$SCRATCH/err" &
RUNS=$!
for _ in $(seq 300); do [ -z "$(find "$OUT" -name run.log -exec grep -l 'phase measure' {} + 2> /dev/null)" ] || break; sleep 0.1; done
sleep 0.5
ip netns pids b | xargs kill -KILL
wait $RUNS
check "a host that dies: what both had captured is there" result '(.complete | not) and (.capture.ports | map(.frames) == [3, 3])'
check "... and that losses there are not known" result '.capture.ports[1].lacks | test("is not known")'
check "nothing is left in the results' folders" test -z "$(find "$OUT" -name '.capture*')"
close_hosts
finish
