#!/bin/bash
# What the programs of a run on an ssh lab share, and what does not disturb it: the run's secret is seen by nobody else; clocks that are set do
# not change phases; what has got the process id of a program that ended is not killed. A stand-in for roce-traffic, as there is no RDMA.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
if [[ $(ldd "$H") == *asan* ]]; then
    skip "a clock that is set" sanitized "$H" && finish
elif ! command -v "${CC:-cc}" > /dev/null; then
    skip "a clock that is set" no-compiler && finish
fi
check "the library that sets a clock is built" "${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -shared -fPIC -o "$SCRATCH/clock.so" "$ROOT/tests/e2e/harness/clock_step.c"

# ---- the stand-in serves for ever and drives until the test says so; it notes what it was told
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
rm "$SCRATCH/bin/roce-traffic"
cat > "$SCRATCH/bin/roce-traffic" << 'STANDIN'
#!/bin/bash
[ "$1" != --version ] || { echo "roce-traffic VERSION"; exit; }
IFS= read -r secret
read -r job
echo "$$ $1 $secret $*" >> NOTES
echo '{"type":"event","source":"roce-traffic","what":"listening","text":"stand-in","time_ns":1}'
[ "$1" != serve ] || exec sleep 1000
echo '{"type":"event","time_ns":1,"source":"roce-traffic","what":"ready","text":"stand-in"}'
until [ -e DONE ]; do sleep 0.02; done
jq -c --argjson now "$(date +%s%N)" '.flows[] | {type: "summary", flow: .name, message_bytes: 65536, time_ns: $now, duration_ns: 1000000000, bytes: 65536,
    messages: 1, goodput_bps: 524288, messages_per_s: 1, errors: 0, complete: true, memory: {kind: "host", route: "host"}}' <<< "$job"
STANDIN
sed -i -e "s|NOTES|$SCRATCH/notes|" -e "s|DONE|$SCRATCH/done|" -e "s|VERSION|$("$H" --version | sed 's/.* //')|" "$SCRATCH/bin/roce-traffic"
chmod +x "$SCRATCH/bin/roce-traffic"
jq -n '{schema: 1, name: "session", roles: ["a", "b"], flows: [{name: "f", from: "a", to: "b"}], phases: {warmup: "100ms", measure: "3s", cooldown: "0"},
    sample: {every: "100ms", groups: ["throughput"]}, expect: [{name: "something is sent", check: "sum(flows.f.goodput_bps) > 0"}]}' > "$SCRATCH/session.json"
reached() { # PATTERN-IN-run.log: within 30 s, while the run goes on
    for _ in $(seq 300); do
        grep -qs "$1" "$OUT"/session/2*/run.log && return
        kill -0 "$run" 2> /dev/null || return
        sleep 0.1
    done
    return 1
}
begin() { # in the measure phase
    rm -rf "$OUT" "$SCRATCH/notes" "$SCRATCH/done"
    LD_PRELOAD=$SCRATCH/clock.so CLOCK_STEP=$SCRATCH/step "$H" run "$SCRATCH/session.json" --lab "$LAB" --out "$OUT" --no-report > "$SCRATCH/out" 2> "$SCRATCH/err" &
    run=$!
    reached 'phase measure' && return
    nok "a run reaches its measure phase" "$(cat "$SCRATCH/err" "$OUT"/session/2*/run.log)"
    close_hosts
    finish
}
noted() { awk -v what="$1" -v field="$2" '$2 == what { print $field }' "$SCRATCH/notes"; }

# b's sessions get a clock that can be set too, and a login shell that stays, as sudo may: the programs do not lead their session then, so
# that their process ids can be used again while the session goes on
# shellcheck disable=SC2016 # sshd's shell expands it
echo 'ForceCommand sh -c "$SSH_ORIGINAL_COMMAND"; exit $?' >> "$SCRATCH/b/sshd_config"
set_environment b "LD_PRELOAD=$SCRATCH/clock.so" "CLOCK_STEP=$SCRATCH/step-b"
sleep 0.5
begin
secret=$(noted serve 3)
echo "$secret" > "$SCRATCH/secret"
check "server and driver of a run have the same secret" test "${#secret}" -ge 32 -a "$secret" = "$(noted drive 3)"
check "... which is on no command line and in no environment" test -z "$(grep -lasFf "$SCRATCH/secret" /proc/[0-9]*/cmdline /proc/[0-9]*/environ)"
check "... and nowhere in the results" test -z "$(grep -rlasFf "$SCRATCH/secret" "$OUT")"
check_says "the server listens on the lab's address only" ' --listen=10.9.0.2( |$)' <(noted serve 0)

# ---- clocks that are set back by an hour, of this machine and of b
touch "$SCRATCH/step" "$SCRATCH/step-b"
if reached 'phase cooldown'; then
    ok "phases end although this machine's clock was set back"
else
    nok "phases end although this machine's clock was set back" "$(tail -n 1 "$OUT"/session/2*/run.log)"
    rm "$SCRATCH/step"
fi
touch "$SCRATCH/done"
wait $run
check "... and the run ends well" test $? = 0
R=$OUT/session/latest/result.json
check "... hosts whose clock was not set have not drifted" jq -e '.hosts.a.clock.drift_ns < 1e9' "$R"
check "... the one whose clock was set is named" jq -e '[.warnings[] | select(test("clock was set"))] | length == 1 and (.[0] | test("^b: its clock was set by -3600[.]0.* s during the run"))' "$R"
rm -f "$SCRATCH/step" "$SCRATCH/step-b"

# ---- the process id of a program that ended belongs to another
begin
check "another run has another secret" test "$(noted serve 3)" != "$secret"
server=$(noted serve 1)
watcher=$(pgrep -P "$server")
reader=$(pgrep -P "$watcher")
kill -STOP "$reader" # it has not noticed yet that the connection was closed
kill -KILL "$server"
wait $run
check "a run whose server is killed fails" test $? = 3
until [ ! -e "/proc/$server" ]; do sleep 0.05; done
for _ in $(seq 50); do
    echo $((server - 1)) > /proc/sys/kernel/ns_last_pid
    sleep 1000 &
    innocent=$!
    [ $innocent != "$server" ] || break
    kill $innocent
done
check "a process gets the server's process id" test "$innocent" = "$server"
kill -CONT "$reader"
while [ -e "/proc/$watcher" ]; do sleep 0.05; done
check "... and is not killed in its place" grep -qs '^State:.[RSD]' "/proc/$innocent/status"
kill "$innocent"
close_hosts
finish
