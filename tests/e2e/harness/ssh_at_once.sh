#!/bin/bash
# A run works on its hosts side by side: each of two hosts is described, set, waited for and restored while the other is. A failure of one
# does not stop the other, and both are restored; a failure is named and reported in the lab's order. Two roles of one host take turns.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
MET=$SCRATCH/met
STAND_IN=$SCRATCH/stand-in
NOTED="$MET/all"

check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"

# ---- stand-ins: nic-config and host-facts go on when they run on as many hosts as $MET/together says, or fail by $MET/fail.HOST; they note
# when they begin and end. roce-traffic sends nothing.
mkdir "$STAND_IN"
ln "$SCRATCH/bin/nic-sampler" "$STAND_IN/"
cat > "$STAND_IN/nic-config" << END
#!/bin/bash
program=\${0##*/}
[ "\$1" != --version ] || exec $SCRATCH/bin/\$program --version
host=a
! ip -4 addr show data0 | grep -q 10.9.0.2/ || host=b
step=\$program.\$1
[ \$program = nic-config ] || step=host-facts
echo "begin \$step \$host" >> $NOTED
touch "$MET/\$step.\$host"
if grep -qsx "\$step" $MET/together; then
    for ((i = 0; i < 600; i++)); do [ ! -e "$MET/\$step.a" ] || [ ! -e "$MET/\$step.b" ] || break; sleep 0.1; done
    [ \$i -lt 600 ] || touch "$MET/alone.\$step.\$host"
fi
if [ "\$step" = nic-config.set ] && [ -e $MET/fail.\$host ]; then
    echo '{"ok": false, "error": "refused at '\$host'"}'
    status=1
else
    sleep 0.2
    $SCRATCH/bin/\$program "\$@"
    status=\$?
fi
echo "end \$step \$host" >> $NOTED
exit \$status
END
cp "$STAND_IN/nic-config" "$STAND_IN/host-facts"
chmod +x "$STAND_IN"/*
stand_in_traffic "$STAND_IN"
jq 'del(.sweep, .expect, .published) | .phases = {warmup: "0s", measure: "500ms", cooldown: "100ms"}' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/short.json"
RUN[1]=$SCRATCH/short.json
STEPS=(host-facts nic-config.set nic-config.settle nic-config.restore)

# run_with FILE...: each FILE is made in $MET, and the hosts meet at every step
run_with() {
    local file
    rm -rf "$MET" && mkdir "$MET"
    for file; do touch "$MET/$file"; done
    printf '%s\n' "${STEPS[@]}" > "$MET/together"
    "$H" "${RUN[@]}" --lab "$SCRATCH/stand-in.json" > "$SCRATCH/out" 2> "$SCRATCH/err"
    STATUS=$?
}
RESULT=$OUT/pfc-bidir/latest
noted() { grep -c "^$1\$" "$NOTED"; }
says() { jq -e "$1" "$2"; }

# ---- all goes well
run_with
check "a run is complete" says .complete "$RESULT/result.json"
for step in "${STEPS[@]}"; do
    check "... $step runs on both hosts, each while the other does" test -e "$MET/$step.a" -a -e "$MET/$step.b" -a ! -e "$MET/alone.$step.a" -a ! -e "$MET/alone.$step.b"
done
check "... settings are restored" test "$(mtus)" = "1500 1500"
check "... and were set on both" says 'all(.[]; .read_back.data0.mtu == 1400 and .restored and .after == .before)' "$RESULT/settings.json"
check "... what is said of hosts is in the lab's order" test "$(sed -nE 's/.* ([ab]): host .*/\1/p' "$RESULT/run.log" | xargs)" = "a b"
warned() { jq -r '.warnings[]' "$RESULT/result.json" | sed -nE 's/^([ab]): settings? .*left out.*/\1/p' | uniq | xargs; }
check "... so are warnings" test "$(warned)" = "a b"

# ---- one host refuses
for host in a b; do
    run_with fail.$host
    check "$host refuses its settings: the run ends with exit status 3" test $STATUS = 3
    reason
    check_says "... says why" "^host $host: nic-config set: refused at $host\$" "$SCRATCH/reason"
    other=$([ $host = a ] && echo b || echo a)
    check "... the other host finishes its own" says ".$other.read_back.data0.mtu == 1400" "$RESULT/settings.json"
    check "... both are restored" says 'all(.[]; .restored and .after == .before)' "$RESULT/settings.json"
    check "... which the hosts show" test "$(mtus)" = "1500 1500"
done
run_with fail.a fail.b
reason
check_says "both refuse: the first in the lab's order is the reason" 'refused at a$' "$SCRATCH/reason"
check "... the log has both" test "$(sed -nE 's/.*refused at ([ab])$/\1/p' "$RESULT/run.log" | sort | xargs)" = "a b"

# ---- two roles of one host: without settings, which nic-config takes once
jq '.roles += ["c"] | del(.settings)' "$SCRATCH/short.json" > "$SCRATCH/three.json"
jq '.roles = {c: "a"}' "$SCRATCH/stand-in.json" > "$SCRATCH/two-roles.json"
rm -rf "$MET" && mkdir "$MET"
check_exit 4 "a run with two roles of one host" "$H" run "$SCRATCH/three.json" --set 'flows.*.memory=host' --set sample.every=50ms --no-report --out "$OUT" --lab "$SCRATCH/two-roles.json"
check "... asks the host once: it is one machine" test "$(noted 'begin host-facts a')" = 1
# shellcheck disable=SC2016 # awk expands it
check "... one after the other, like all that is done there" awk '$3 == "a" { open += $1 == "begin" ? 1 : -1; if (open > 1) exit 1 }' "$NOTED"
close_hosts
finish
