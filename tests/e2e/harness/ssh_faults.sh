#!/bin/bash
# Connections that are cut, a program that is killed, a host that falls silent, during runs on an ssh lab without guests: the run ends
# with the cause, and settings are restored.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"

check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"

# ---- a copy of which only a part arrives
mkdir "$SCRATCH/cut"
cat > "$SCRATCH/cut/ssh" << END
#!/bin/bash
case "\$*" in *ControlMaster=yes*) exec $(command -v ssh) "\$@" ;; esac
head -c 1000 | $(command -v ssh) "\$@"
END
chmod +x "$SCRATCH/cut/ssh"
installed() { jq -r ".hosts[].programs" "$LAB" | sort -u | xargs -I{} find {} -type f | sort | xargs sha256sum; }
installed > "$SCRATCH/installed"
check "... their files are there" grep -q roce-traffic "$SCRATCH/installed"
check_exit 3 "a copy that is cut is refused" env PATH="$SCRATCH/cut:$PATH" "$H" install --lab "$LAB"
check_says "... says how much came" 'copying .* to host [ab].*1000 of [0-9]{4,} bytes came' "$SCRATCH/err"
check "... the file there is as before, and no part of it" diff "$SCRATCH/installed" <(installed)

# ---- connections that are cut, and a program that is killed: a stand-in for roce-traffic serves and drives for ever, and fails when the
# server of its peer ends, as roce-traffic does
mkdir "$SCRATCH/stand-in"
ln "$SCRATCH/bin"/{nic-sampler,host-facts,nic-config} "$SCRATCH/stand-in/"
cat > "$SCRATCH/stand-in/roce-traffic" << 'END'
#!/bin/bash
servers=${0%/*}/servers
echo '{"type":"hello"}'
[ "$1" = drive ] || { echo $$ >> "$servers"; exec sleep 1000; }
read -r _ # the run's secret
read -r job
echo "$job" > "${0%/*}/job.$$"
echo '{"type":"event","time_ns":1,"source":"roce-traffic","what":"ready","text":"stand-in"}'
while :; do
    for server in $(cat "$servers"); do
        [ -d "/proc/$server" ] || { echo "roce-traffic: error: the peer closed the connection" >&2; exit 3; }
    done
    sleep 0.01
done
END
chmod +x "$SCRATCH/stand-in/roce-traffic"
jq --arg programs "$SCRATCH/stand-in" '.hosts[].programs = $programs' "$LAB" > "$SCRATCH/stand-in.json"
begin() { # ends in the measure phase
    rm -rf "$OUT" "$SCRATCH/stand-in/servers"
    "$H" "${RUN[@]}" --set phases.measure=30s --lab "$SCRATCH/stand-in.json" > "$SCRATCH/out" 2> "$SCRATCH/err" &
    run=$!
    until grep -qs 'phase measure' "$OUT"/pfc-bidir/2*/run.log || ! kill -0 $run 2> /dev/null; do sleep 0.05; done
    sleep 0.2
}
ended() { # WHAT PATTERN
    wait $run
    check "$1: exit code 3" test $? = 3
    reason
    check_says "... says why" "$2" "$SCRATCH/reason"
    check "... settings are restored" test "$(mtus)" = "1500 1500"
}
served() { for p in $(ip netns pids b); do grep -qsz '^sshd[^/]*: root' "/proc/$p/cmdline" && echo "$p"; done; } # b's end of the connection
begin
pkill -KILL -P $run -f ControlMaster=yes
ended "both connections are cut on this side" 'the ssh connection to host [ab] .* has ended: was killed'
begin
master=$(pgrep -P $run -f 'ControlMaster=yes.*192.0.2.12')
kill -STOP "$master"
served | xargs kill -KILL
sleep 1.5
kill -CONT "$master"
ended "a connection is cut, and the other host reports the consequence first" 'the ssh connection to host b .* has ended'
# either end of either connection, at any moment of the measure phase: CUTS times, moments by CUTS_SEED
RANDOM=${CUTS_SEED:=$RANDOM}
cut_one() { # HOST ADDRESS
    local p
    if ((RANDOM % 2)); then
        pkill -KILL -P "$run" -f "ControlMaster=yes.*$2"
    else
        for p in $(ip netns pids "$1"); do grep -qsz '^sshd[^/]*: root' "/proc/$p/cmdline" && kill -KILL "$p"; done
    fi
}
causes() {
    local i wrong=0 host
    for ((i = 0; i < ${CUTS:-3}; i++)); do
        begin
        sleep 0.$((RANDOM % 9))
        if ((RANDOM % 2)); then host=a && cut_one a 192.0.2.11; else host=b && cut_one b 192.0.2.12; fi
        wait "$run"
        reason
        grep -qE "the ssh connection to host $host .* has ended" "$SCRATCH/reason" || { wrong=$((wrong + 1)) && echo "cut $i of $host: $(cat "$SCRATCH/reason")"; }
    done
    return $((wrong > 0))
}
echo "# CUTS=${CUTS:-3} CUTS_SEED=$CUTS_SEED"
check "a cut is told as the cause, whatever was noticed first" causes
check "... settings are restored" test "$(mtus)" = "1500 1500"
# more flows than fit on a command line
jq '.flows = [range(64) as $i | {name: "flow-\($i)", from: "a", to: "b", depth: ($i + 1)}] | del(.sweep, .expect, .published)' \
    "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/many.json"
RUN[1]=$SCRATCH/many.json
rm -f "$SCRATCH"/stand-in/job.*
begin
check "64 flows reach the program" jq -e '.flows | length == 64 and .[63].depth == 64' "$SCRATCH"/stand-in/job.*
RUN[1]=pfc-bidir
head -n 1 "$SCRATCH/stand-in/servers" | xargs kill -KILL
ended "a program is killed" 'host [ab]: roce-traffic (serve was killed on the host|drive exited with 3: the peer closed)'
begin
ip netns pids a | xargs ps -o pid=,comm= -p | awk '$2 == "nic-sampler" { print $1 }' | xargs kill -KILL
ended "a sampler is killed" 'host a: nic-sampler'
rm -rf "$OUT" "$SCRATCH/stand-in/servers"

"$H" "${RUN[@]}" --set phases.measure=60s --lab "$SCRATCH/stand-in.json" > "$SCRATCH/out" 2> "$SCRATCH/err" &
run=$!
until grep -qs 'b: .*roce-traffic serve' "$OUT"/pfc-bidir/2*/run.log; do
    kill -0 $run 2> /dev/null || break
    sleep 0.02
done
mapfile -t processes < <(ip netns pids b)
kill -STOP "${processes[@]}"
wait $run
check "a run in which a host falls silent: exit code 3" test $? = 3
kill -CONT "${processes[@]}"
reason
check_says "... says which" 'host b(: no output for 15 s| has sent nothing since|: .* was not ready within|.*not responding)' "$SCRATCH/reason"
jq -r '.warnings[]' "$OUT/pfc-bidir/latest/result.json" > "$SCRATCH/warnings"
check_says "... and that its settings are still to be restored" '^settings of b were not restored: .*harness restore' "$SCRATCH/warnings"
check "... the other's are" test "$(mtus)" = "1500 1400"
check "... nothing of ours runs on the other any more" test -z "$(ip netns pids a | xargs ps -o comm= -p | grep -xE 'nic-sampler|roce-traffic')"
check "... samples are complete lines" jq -es '[.[] | select(type == "array")] | length > 0' "$OUT/pfc-bidir/latest/samples.jsonl"
check_exit 0 "harness restore, once the host answers again" "$H" restore --lab "$LAB"
check_says "... prints what it did" 'b: data0 mtu is 1500 again' "$SCRATCH/out"
check "... and the settings are restored" test "$(mtus)" = "1500 1500"

# ---- a run after one that was killed
begin
kill -KILL $run
wait $run 2> /dev/null
check "kill -9: settings stay behind" test "$(mtus)" = "1400 1400"
ours() { for host in a b; do ip netns pids "$host"; done | xargs ps -o comm= -p | grep -xE 'nic-sampler|roce-traffic|nic-config'; }
# shellcheck disable=SC2016 # eval expands it
check "... no program of ours does" until_true 30 eval '[ -z "$(ours)" ]'
begin
kill -INT $run
wait $run
restored_first() { jq -r '.warnings[]' "$OUT/pfc-bidir/latest/result.json" | grep -c 'settings that an earlier run had left were restored first'; }
check "the next run restores them first, on both hosts" test "$(restored_first)" = 2
check "... and puts back what was there before either" test "$(mtus)" = "1500 1500"
close_hosts
finish
