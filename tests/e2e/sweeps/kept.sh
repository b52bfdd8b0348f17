#!/bin/bash
# Runs of a sweep that want the same settings set them once: a run keeps them for the next one, and the last restores them. They are restored
# as well when they differ, were changed between two runs, when the next run cannot begin or is interrupted or killed, and when nothing follows.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
MET=$SCRATCH/met
STAND_IN=$SCRATCH/stand-in
NOTED=$SCRATCH/noted

check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"

# ---- stand-ins: nic-config notes what it is asked, and calls $MET/hook STEP HOST TIMES before it does it. roce-traffic sends nothing.
mkdir "$STAND_IN" "$MET"
ln "$SCRATCH/bin/nic-sampler" "$SCRATCH/bin/host-facts" "$STAND_IN/"
cat > "$STAND_IN/nic-config" << END
#!/bin/bash
host=a
! ip -4 addr show data0 | grep -q 10.9.0.2/ || host=b
echo "\$1 \$host" >> $NOTED
[ ! -x $MET/hook ] || $MET/hook \$1 \$host \$(grep -c "^\$1 \$host\$" $NOTED) || { echo '{"ok": false, "error": "refused at '\$host'"}'; exit 1; }
exec $SCRATCH/bin/nic-config "\$@"
END
chmod +x "$STAND_IN/nic-config"
stand_in_traffic "$STAND_IN"
jq 'del(.sweep, .expect, .published) | .phases = {warmup: "0s", measure: "200ms", cooldown: "100ms"}' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/short.json"
RUN[1]=$SCRATCH/short.json
RESULT=$OUT/pfc-bidir/latest
times() { echo "$(grep -c "^$1 a$" "$NOTED") $(grep -c "^$1 b$" "$NOTED")"; }
settings() { jq -e "$2" "$RESULT/$1/settings.json"; }
warned() { jq -r '.warnings[]' "$RESULT/$1/result.json"; }
# hook TEXT: a hook of this text, or none
hook() {
    rm -f "$MET"/*
    : > "$NOTED"
    [ -z "$1" ] || { printf '#!/bin/bash\n%s\n' "$1" > "$MET/hook"; chmod +x "$MET/hook"; }
}
# sweep HOOK ARG...: run with this hook
sweep() {
    hook "$1"
    "$H" "${RUN[@]}" --lab "$SCRATCH/stand-in.json" "${@:2}" > "$SCRATCH/out" 2> "$SCRATCH/err"
    STATUS=$?
}

# ---- three runs that want the same
sweep '' --repeat 3
check "three runs with the same settings: all are whole" test $STATUS = 4
check "... they are set once" test "$(times set)" = "1 1"
check "... and restored once" test "$(times restore)" = "1 1"
check "... which the hosts show" test "$(mtus)" = "1500 1500"
check "... the first two say that they keep them" settings 01 'all(.[]; .kept and (has("restored") | not) and (has("after") | not))'
check "... so does the second" settings 02 'all(.[]; .kept and .read_back.data0.mtu == 1400)'
check "... the last says that it has restored them" settings 03 'all(.[]; .restored and .after == .before and .before.data0.mtu == 1500 and (has("kept") | not))'
check "... all have the same before, wanted and read_back" test "$(jq -Sc 'map_values({before, wanted, read_back})' "$RESULT"/0?/settings.json | uniq | wc -l)" = 1
check "... and the same warnings of what the hosts cannot set" test "$(for run in 01 02 03; do warned $run | grep -c 'left out'; done | xargs)" = "2 2 2"
check "... none of which says that something was changed" test -z "$(warned 02 | grep -E 'changed|earlier run')"

# ---- a sampler whose lines are damaged: before its header, and at its end. It says what it skipped, and dies without a last line.
rm "$STAND_IN/nic-sampler"
cat > "$STAND_IN/nic-sampler" << END
#!/bin/bash
[ "\$1" = --version ] && exec $SCRATCH/bin/nic-sampler --version
echo '[1700000000000000000,1'
echo '[1700000000000000000,1,2]'
$SCRATCH/bin/nic-sampler "\$@" &
trap 'kill -KILL \$!; printf "[17"; exit 0' TERM
sleep 0.3
echo '{"type":"event","time_ns":1700000000000000000,"source":"timer","what":"overrun","text":"7 samples skipped","overruns":7}'
wait
END
chmod +x "$STAND_IN/nic-sampler"
sweep ''
check "a run with damaged lines is whole" test $STATUS = 4
said() { jq -r '.warnings[]' "$RESULT/result.json"; }
for words in '^[ab]: 3 lines were left out, the first: [ab]: a line of the sampler: a sample line is damaged' "^[ab]: the sampler skipped [1-9][0-9]* of [0-9]+ samples \(overruns\)" \
    "^[ab]: the sampler's last line is missing"; do
    check "... it warns: $words" test "$(said | grep -cE "$words")" = 2
    check "... also on the terminal" test "$(grep -cE "^  warning: ${words#^}" "$SCRATCH/out")" = 2
done
check "... run.log has each line" test "$(grep -cE 'a sample came without a header|a sample line is damaged|the last line of nic-sampler is incomplete: "\[17"' "$OUT/pfc-bidir/latest/run.log")" = 6
rm "$STAND_IN/nic-sampler"
ln "$SCRATCH/bin/nic-sampler" "$STAND_IN/nic-sampler"

# ---- settings that differ
sweep '' --set 'sweep={"settings.mtu":[1400,1420]}'
check "two cells with different MTUs: both are whole" test $STATUS = 4
check "... settings are set for each" test "$(times set)" = "2 2"
check "... and restored after each" settings 01 'all(.[]; .restored and (has("kept") | not))'
check "... the second has its own" settings 02 'all(.[]; .restored and .read_back.data0.mtu == 1420 and .before.data0.mtu == 1500)'
check "... the hosts have their old ones" test "$(mtus)" = "1500 1500"

# ---- somebody else changes them between two runs
# shellcheck disable=SC2016 # the hook expands it
sweep '[ "$1 $2 $3" != "get a 3" ] || ip link set data0 mtu 1480' --repeat 2
check "a setting is changed between two runs: both are whole" test $STATUS = 4
check "... the host's settings are set again, the other's are not" test "$(times set)" = "2 1"
check "... the second run warns of it" test "$(warned 02 | grep -c '^a: the settings that the last run kept for this one were changed meanwhile')" = 1
check "... it measures with those it wants" settings 02 'all(.[]; .read_back.data0.mtu == 1400)'
check "... and restores them" test "$(mtus)" = "1500 1500"

# ---- the next run does not begin
# shellcheck disable=SC2016
sweep '[ "$1 $2 $3" != "get b 3" ]' --repeat 2
check "a host fails when the second run begins: exit status 3" test $STATUS = 3
check_says "... the reason is said" 'nic-config get: refused at b' "$SCRATCH/err"
check "... what the first run kept is restored" test "$(mtus)" = "1500 1500"
check_exit 0 "... so that nothing is left to restore" "$H" restore --lab "$SCRATCH/stand-in.json"
check "... on either host" test "$(grep -c 'nothing to restore' "$SCRATCH/out")" = 2

# ---- Ctrl-C when the second run begins, and kill -9
# shellcheck disable=SC2016
for signal in INT KILL; do
    hook '[ "$1 $2 $3" != "get a 3" ] || { touch '"$MET/reached"'; while [ -e '"$MET/reached"' ]; do sleep 0.1; done; }'
    "$H" "${RUN[@]}" --lab "$SCRATCH/stand-in.json" --repeat 2 > "$SCRATCH/out" 2> "$SCRATCH/err" &
    pid=$!
    until [ -e "$MET/reached" ] || ! kill -0 $pid; do sleep 0.1; done
    kill -$signal $pid
    rm "$MET/reached"
    wait $pid 2> /dev/null
    STATUS=$?
    if [ $signal = INT ]; then
        check "Ctrl-C when the second run begins: exit status 130" test $STATUS = 130
        check "... what the first run kept is restored" test "$(mtus)" = "1500 1500"
    else
        check "kill -9 when the second run begins: the hosts keep their settings" test "$(mtus)" = "1400 1400"
        sweep ''
        check "... the next run restores them first" test "$(warned . | grep -c 'settings that an earlier run had left were restored first')" = 2
        check "... and its own at the end" test "$(mtus)" = "1500 1500"
    fi
done

close_hosts
finish
