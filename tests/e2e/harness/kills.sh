#!/bin/bash
# Runs that end by SIGKILL at random moments leave nothing: no process, ssh folder, setting or lock that hinders the next, no partial file; the
# next run works. Simulated runs, and runs on an ssh lab without guests. KILLS=SIMULATED:SSH is how many (tests/kills: many more), KILLS_SEED
# repeats the moments of an earlier test.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
KILLS=${KILLS:-25:5}
jq 'del(.sweep, .expect, .published)' "$ROOT/scenarios/pfc-bidir.json" > "$SCRATCH/short.json"
RUN[1]=$SCRATCH/short.json
RANDOM=${KILLS_SEED:=$RANDOM}
echo "# KILLS=$KILLS KILLS_SEED=$KILLS_SEED"
export XDG_RUNTIME_DIR=$SCRATCH/runtime
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_STATE_HOME"

now_us() { echo "${EPOCHREALTIME//./}"; }
# Start a command in a session of its own, and kill its process after a random part of LONGEST microseconds. Fails where it had ended.
kill_one() { # LONGEST COMMAND...
    local moment=$((RANDOM * $1 / 32768))
    shift
    setsid "$@" > "$SCRATCH/out" 2> "$SCRATCH/err" &
    local run=$!
    sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
    sessions+=("$run")
    kill -KILL $run 2> /dev/null
    wait $run 2> /dev/null
    [ $? = 137 ] # 128 + SIGKILL
}
# As often as it takes to kill it. One that had ended says that runs are shorter now than when they were measured: the longest moment shrinks.
kill_it() { # LONGEST COMMAND...
    local longest=$1
    shift
    until kill_one "$longest" "$@"; do longest=$((longest * 3 / 4)) ended=$((ended + 1)); done
}
# Processes of killed runs that are still there, after those that end by themselves had time.
survivors() {
    local session
    for _ in $(seq 150); do
        for session in "${sessions[@]}"; do pgrep -s "$session" > "$SCRATCH/survivors" && sleep 0.1 && continue 2; done
        break
    done
    xargs -r ps -o pid=,args= -p < "$SCRATCH/survivors"
}
# Files and folders that a run writes under another name first.
partial() { find "$OUT" "$XDG_STATE_HOME" -name '.*' -o -regextype posix-extended -regex '.*\.[a-z]+\.[A-Za-z0-9]{6}'; }
# Its time in microseconds is in $SCRATCH/took (check runs it in a shell of its own).
whole_run() { # COMMAND...
    local began
    began=$(now_us)
    "$@" > "$SCRATCH/out" 2> "$SCRATCH/err"
    [ $? = 4 ] || { cat "$SCRATCH/out" "$SCRATCH/err" && return 1; } # whole, and nothing judged it
    echo $(($(now_us) - began)) > "$SCRATCH/took"
    jq -e '.complete' "$OUT"/pfc-bidir/latest/result.json
}

# ---- simulated runs
SIMULATED=("$H" run "$SCRATCH/short.json" --set phases.warmup=0s --set phases.measure=1ms --set phases.cooldown=0s --set sample.every=100us
    --lab sim-geforce-pair --out "$OUT")
ended=0 sessions=()
check "a simulated run before" whole_run "${SIMULATED[@]}" --no-report
bare=$(<"$SCRATCH/took")
check "... and one with a report" whole_run "${SIMULATED[@]}"
took=$(<"$SCRATCH/took")
for ((i = 0; i < ${KILLS%:*}; i++)); do
    if ((i % 8)); then kill_it "$bare" "${SIMULATED[@]}" --no-report; else kill_it "$took" "${SIMULATED[@]}"; fi
done
echo "# $i simulated runs were killed, $ended others had ended"
check "... no process is left" test -z "$(survivors)"
check "... the next run works" whole_run "${SIMULATED[@]}"
check "... no partial file is left" test -z "$(partial)"
check "... and every result that is there is whole" jq -es 'length > 0 and all(.complete)' "$OUT"/pfc-bidir/2*/result.json
rm -rf "$OUT"

# ---- runs on the ssh lab, with a stand-in for roce-traffic that sends nothing
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
mkdir "$SCRATCH/stand-in"
ln "$SCRATCH/bin"/{nic-sampler,host-facts,nic-config} "$SCRATCH/stand-in/"
stand_in_traffic "$SCRATCH/stand-in"
REAL=("$H" "${RUN[@]}" --set phases.warmup=0s --set phases.measure=500ms --set phases.cooldown=100ms --lab "$SCRATCH/stand-in.json")
links() { for host in a b; do ip -n $host -j link | jq -c '[.[] | {ifname, mtu, flags}]'; done; }
links > "$SCRATCH/links"
ended=0 sessions=()
check "a run on hosts before" whole_run "${REAL[@]}"
took=$(<"$SCRATCH/took")
for ((i = 0; i < ${KILLS#*:}; i++)); do kill_it "$took" "${REAL[@]}"; done
echo "# $i runs on hosts were killed, $ended others had ended"
check "... no process is left here" test -z "$(survivors)"
left() { for host in a b; do ip netns pids $host; done | xargs -r ps -o comm= -p | grep -v '^sshd$'; }
for _ in $(seq 150); do [ -n "$(left)" ] || break; sleep 0.1; done
check "... none of our programs runs on either host" test -z "$(left)"
check "... the next run works" whole_run "${REAL[@]}"
check "... its hosts are as before the first" diff "$SCRATCH/links" <(links)
check_exit 0 "... nothing is to be restored" "$H" restore --lab "$SCRATCH/stand-in.json"
check "... no journal is left" test -z "$(find "$SCRATCH"/{a,b}/journal -type f -size +0)"
check "... no folder of a connection is left" test -z "$(ls "$XDG_RUNTIME_DIR")"
check "... no partial file is left" test -z "$(partial)"
close_hosts
finish
