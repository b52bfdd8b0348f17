# shellcheck shell=bash
# Runs of harness on the soft pair that a test disturbs. Source it after lib.sh and softlab.bash, inside the soft lab:
#   start 30s                  a run in the background: its process is $RUN, its folder $R
#   reach measure              waits until it is in that phase
#   ended WHAT CODE REASON     it ends so, with its samples, the reason (a pattern), and host a as before
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$ROOT/labs/soft-pair.json
# little traffic: emulated guests send as fast as two processors compute, and these tests are not about that
ONE=(pfc-bidir --lab "$LAB" --set 'sweep={}' --set 'flows.*.memory=host' --set 'flows.*.message=4KiB' --set 'flows.*.rate=2Mb/s' --set settings.mtu=4000 --set phases.warmup=1s
    --set phases.cooldown=200ms --set sample.every=50ms --no-report --out "$OUT")

mtu() { softlab_ssh "$1" cat /sys/class/net/data0/mtu; }
MTU=$(mtu a)

# A test that is ended leaves no run behind, nor its settings to the parts that follow.
RUN=
# shellcheck disable=SC2317 # at_exit calls it
end_run() {
    [ -z "$RUN" ] || ! kill -TERM "$RUN" 2>/dev/null || wait "$RUN"
}
at_exit end_run

# start DURATION: a run in the background; its folder is $R
start() {
    local before
    before=$(find "$OUT" -name run.log 2>/dev/null | wc -l)
    "$H" run "${ONE[@]}" --duration "$1" >"$SCRATCH/out" 2>"$SCRATCH/err" &
    RUN=$!
    for _ in $(seq 100); do
        [ "$(find "$OUT" -name run.log 2>/dev/null | wc -l)" -le "$before" ] || break
        sleep 0.1
    done
    R=$(find "$OUT" -mindepth 2 -maxdepth 2 -type d -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
}
reach() { # PHASE
    for _ in $(seq 600); do
        ! grep -q "phase $1" "$R/run.log" || return 0
        kill -0 "$RUN" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}
# ended WHAT CODE REASON: the run ended so, with its samples and a reason
ended() {
    local code began=$SECONDS
    wait "$RUN"
    code=$?
    if [ $code = "$2" ]; then ok "$1: exit code $2"; else nok "$1: exit code $2" "exit code $code; $(cat "$SCRATCH/err")"; fi
    check "$1: the result is incomplete" jq -e '(.complete | not) and .verdict == "incomplete"' "$R/result.json"
    jq -r .reason "$R/result.json" >"$SCRATCH/reason"
    check_says "$1: ... and says why" "$3" "$SCRATCH/reason"
    check "$1: samples before it are there and whole" jq -es '[.[] | select(type == "array")] | length > 10' "$R/samples.jsonl"
    echo "# $1: ended after $((SECONDS - began)) s; $(cat "$SCRATCH/reason")"
    check "$1: host a is as before" test "$(mtu a)" = "$MTU"
}
