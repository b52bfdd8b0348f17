#!/bin/bash
# What the programs of a run on an ssh lab share, and what does not disturb it: the run's secret is seen by nobody else; clocks that are set do
# not change phases; what has got the process id of a program that ended is not killed; another controller is refused by the hosts, and
# settings that others change, or that are not in force, are named. A stand-in for roce-traffic, as there is no RDMA.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
if skip_reason sanitized "$H" >/dev/null; then
    skip "a clock that is set" sanitized "$H" && finish
elif ! has_compiler; then
    skip "a clock that is set" no-compiler && finish
fi
check "the library that sets a clock is built" compile_preload "$SCRATCH/clock.so" "$ROOT/tests/e2e/harness/clock_step.c"

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
sed -i -e "s|NOTES|$SCRATCH/notes|" -e "s|DONE|$SCRATCH/done|" -e "s|VERSION|$("$H" --version | cut -d' ' -f2)|" "$SCRATCH/bin/roce-traffic"
chmod +x "$SCRATCH/bin/roce-traffic"
jq -n '{schema: 1, name: "session", roles: ["a", "b"], flows: [{name: "f", from: "a", to: "b"}], phases: {warmup: "100ms", measure: "3s", cooldown: "0"},
    sample: {every: "100ms", groups: ["throughput", "link"]}, expect: [{name: "something is sent", check: "sum(flows.f.goodput_bps) > 0"}]}' > "$SCRATCH/session.json"
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

# ---- another controller: of another user, to whom this user's locks say nothing, and by other names
jq '.hosts[].ssh |= sub("root@"; "")' "$LAB" > "$SCRATCH/alias.json"
# shellcheck disable=SC2317 # it is called by name
other() { XDG_STATE_HOME=$SCRATCH/other "$H" "$@"; }
IN_USE="host a is in use by harness \(process $run, run session of lab pair, by root on $(uname -n), since 20[-0-9T:]+Z\): wait for it or stop it \(the lock is /run/harness/lock there\)"
for lab in "$LAB" "$SCRATCH/alias.json"; do
    check_exit 3 "another user's restore during the run" other restore --lab "$lab"
    check_says "... is refused, and told by whom" "$IN_USE" "$SCRATCH/err"
done
check_exit 3 "another user's doctor during the run" other doctor --lab "$LAB" --json
check "... reaches the host, and says what to do about the lock" jq -e '[.[] | select(.host == "a") | [.check, .verdict]] == [["connection", "ok"], ["lock", "failure"]] and
    (.[] | select(.host == "a" and .check == "lock") | .fix == "wait for the program that has the lock, or stop it, and look again" and (.reason | test("^host a is in use by harness")))' "$SCRATCH/out"
check_exit 3 "this user's restore by another name" "$H" restore --lab "$SCRATCH/alias.json"
check_says "... is refused in the same way" "$IN_USE" "$SCRATCH/err"
check_exit 3 "another user's run" other "${RUN[@]}" --out "$SCRATCH/other-results" --lab "$SCRATCH/alias.json"
check_says "... too" "$IN_USE" "$SCRATCH/err"
check "... before anything is set" test "$(mtus)" = "1500 1500"
# the same address in one number, which only the machine itself can tell
jq '.hosts.b.ssh = "root@3221225995" | .hosts.b.nic = .hosts.a.nic | .hosts.a.nic = {netdev: "lo"} | del(.links)' "$LAB" > "$SCRATCH/twice.json"
ip -n a link set data0 mtu 1450
touch "$SCRATCH/done"
wait $run
check "... and the run ends well" test $? = 0
check "settings that another program changed are named, of the host where they were" jq -e '[.warnings[] | select(test("another program changed"))] == ["a: another program changed mtu of data0 during the run: it was 1500, and is 1450 at the end; figures may be those of either"]' "$OUT/session/latest/result.json"
ip -n a link set data0 mtu 1500
check_exit 0 "... the hosts are free when it has ended" other restore --lab "$SCRATCH/alias.json"
check_exit 3 "a lab that names a machine twice" "$H" run "$SCRATCH/session.json" --lab "$SCRATCH/twice.json" --out "$SCRATCH/other-results"
check_says "... is told so" '(a and b|b and a) of lab pair are one machine: a lab names each machine once' "$SCRATCH/err"
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

# ---- a host that says more than anybody reads: 12 MB on stderr before its samples
mv "$SCRATCH/bin/nic-sampler" "$SCRATCH/nic-sampler"
cat > "$SCRATCH/bin/nic-sampler" << END
#!/bin/bash
[ "\$1" = --version ] || yes "nic-sampler: warning: $(printf '%080d' 1)" | head -c 12000000 >&2
exec $SCRATCH/nic-sampler "\$@"
END
chmod +x "$SCRATCH/bin/nic-sampler"
begin
touch "$SCRATCH/done"
wait $run
check "a run whose samplers say 12 MB each ends well" test $? = 0
check "... run.log has 8 MiB of each" test "$(($(stat -c %s "$OUT/session/latest/run.log") >> 20))" = 16
check "... and the result says what was left out" jq -e '[.warnings[] | select(test("left out .* lines .* of what its programs said: run.log takes 8 MiB of a host"))] | length == 2' "$OUT/session/latest/result.json"
mv "$SCRATCH/nic-sampler" "$SCRATCH/bin/nic-sampler"

# ---- a nic-config that reads back another value than it was to set
mv "$SCRATCH/bin/nic-config" "$SCRATCH/nic-config"
printf '#!/bin/sh\n%s "$@" | sed s/1400/1500/\n' "$SCRATCH/nic-config" > "$SCRATCH/bin/nic-config"
chmod +x "$SCRATCH/bin/nic-config"
check_exit 3 "a setting that is not in force ends a run" "$H" run "$SCRATCH/session.json" --set settings.mtu=1400 --lab "$LAB" --out "$OUT" --no-report
check_says "... and is named" '^harness: error: host [ab]: mtu of data0 is not in force: nic-config was to set 1400, and read back 1500$' "$SCRATCH/err"
check "... the settings are restored" test "$(mtus)" = "1500 1500"
mv "$SCRATCH/nic-config" "$SCRATCH/bin/nic-config"

# ---- a controller that is killed holds nothing; a host without flock(1) cannot be locked
begin
kill -KILL "$run"
wait "$run" 2> /dev/null
check_exit 0 "hosts of a controller that was killed are free at once" other restore --lab "$SCRATCH/alias.json"

# ---- anything in the place of the lock, and anything in it
at_a() { ssh -Fnone -i "$SCRATCH/key" -o UserKnownHostsFile="$SCRATCH/known_hosts" root@192.0.2.11 "$@" < /dev/null; }
in_place() { # WHAT COMMAND... SENTENCE: what the commands put there, in /run/harness
    at_a "rm -rf /run/harness && mkdir /run/harness && cd /run/harness && $2"
    check_exit 3 "$1 in the place of the lock" timeout 30 "$H" restore --lab "$LAB"
    check_says "... is refused" "^harness: error: host a cannot be locked: $3: remove it$" "$SCRATCH/err"
}
in_place "a link to a file" 'echo mine > /run/mine && ln -s ../mine lock' '/run/harness/lock there is a link, which may lead anywhere'
check "... which is not followed" test "$(at_a cat /run/mine)" = mine
in_place "a link that leads to itself" 'ln -s lock lock' '/run/harness/lock there is a link, which may lead anywhere'
in_place "a folder" 'mkdir lock' '/run/harness/lock there is not a file'
in_place "a pipe" 'mkfifo lock' '/run/harness/lock there is not a file'
in_place "a folder that is a link" 'cd / && rm -r /run/harness && ln -s /run/elsewhere /run/harness' '/run/harness there is a link, which may lead anywhere'
in_place "a folder of another user" 'chown 1 .' '/run/harness there belongs to another user than root'
mkfifo "$SCRATCH/hold"
held_with() { # WHAT COMMAND SENTENCE: another holds the lock, whose file has what the command prints
    at_a "rm -rf /run/harness && mkdir /run/harness && { $2; } > /run/harness/lock"
    ssh -Fnone -i "$SCRATCH/key" -o UserKnownHostsFile="$SCRATCH/known_hosts" root@192.0.2.11 'flock /run/harness/lock cat' < "$SCRATCH/hold" &
    exec 7> "$SCRATCH/hold"
    until ! at_a flock -n /run/harness/lock true; do sleep 0.1; done
    check_exit 3 "a lock with $1" timeout 30 "$H" restore --lab "$LAB"
    check_says "... is that of another, in one line" "^harness: error: host a is in use by $3: wait for it or stop it \(the lock is /run/harness/lock there\)$" "$SCRATCH/err"
    exec 7>&-
    wait $!
}
held_with "nothing in it" : 'another program'
held_with "empty lines before it" 'printf "\n\n\nx 7 a\nme\n\n"' me
held_with "bytes that steer terminals" 'printf "x 7 a\n\033[2Jme\a\r\0\n"' '.x1b\[2Jme.x07.x0d'
held_with "10 MB in one line" 'head -c 10000000 /dev/zero | tr "\000" x' 'another program'
held_with "10 MB of anything" 'head -c 10000000 /dev/urandom' '.*'
check "... of which no byte steers the terminal" test -z "$(LC_ALL=C grep -a $'[\x01-\x08\x0b-\x1f\x7f]' "$SCRATCH/err")"
at_a rm -r /run/harness
at_a 'mkdir /run/harness && mount -t tmpfs -o ro tmpfs /run/harness'
rm -f "$SCRATCH/done"
begin
sleep 0.3 # at least one of its samples
ip -n a link set data0 mtu 1450
touch "$SCRATCH/done"
wait $run
check "a setting that changes in the measure phase is named" jq -e '[.warnings[] | select(test("within the measured"))] == ["a: its link or its settings changed within the measured phase (link_mtu from 1450 to 1500): the figures are of before and after"]' "$OUT/session/latest/result.json"
ip -n a link set data0 mtu 1500
check "a /run that is read-only is a warning" jq -e '[.warnings[] | select(test("not locked"))] | length == 1 and (.[0] | test("^host a is not locked against .*/run/harness/lock: Read-only file system"))' "$OUT/session/latest/result.json"
at_a umount /run/harness
mkdir "$SCRATCH/few"
ln -s /usr/bin/* /usr/sbin/* "$SCRATCH/few/" 2> /dev/null
rm "$SCRATCH/few/flock"
set_environment b "PATH=$SCRATCH/few"
sleep 0.5
begin
touch "$SCRATCH/done"
wait $run
check "a run on a host that cannot be locked" jq -e '[.warnings[] | select(test("not locked"))] | length == 1 and (.[0] | test("^host b is not locked against controllers of other users and machines: .*flock: command not found"))' "$OUT/session/latest/result.json"
check_exit 0 "harness restore there" "$H" restore --lab "$LAB"
check_says "... says so, too" '^harness: warning: host b is not locked against controllers of other users and machines: .*flock: command not found$' "$SCRATCH/err"
close_hosts
finish
