#!/bin/bash
# A sweep on Slurm that is disturbed: its tasks, the nodes' daemons, the controller, this program, the disk. What has ended stays whole, nothing is
# half, and --resume, here or on Slurm, gives what an undisturbed sweep gives. DISTURBED=N: N faults at random instead of one of each kind.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/slurm.bash
. "$ROOT/tests/e2e/slurm.bash"
RANDOM=${SWEEP_SEED:=$RANDOM}
export SWEEP_SEED
slurm_enter "disturbed sweeps on a cluster with Slurm" "$0"
echo "# SWEEP_SEED=$SWEEP_SEED"
cd "$SCRATCH" || exit 2
# shellcheck source=tests/e2e/sweeps/same.bash
. "$ROOT/tests/e2e/sweeps/same.bash"
H=$BUILD/harness
mkdir -p config/harness
echo '{ "schema": 1, "slurm": { "short": { "time": "1min" } } }' > config/harness/config.json
slurm_start || { nok "a controller and two nodes" && finish; }

# ---- the time limit: at the end, since it takes its time
"$H" run wide.json --set phases.measure=600s --repeat 4 --on slurm:short --cells-per-task 24 --no-report --out limit > limit.out 2>&1 &
limit=$!

"$H" run wide.json --no-report --quiet --repeat 4 --out one
undisturbed=$(only one)
check "an undisturbed sweep has 24 results" test "$(results_in one)" = 24

nothing_half() { # FOLDER
    local run
    for run in "$1"/[0-9]*; do
        [ ! -d "$run" ] || jq -e .complete "$run/result.json" > /dev/null || { echo "$run" && return 1; }
    done
}
tasks_of() { pgrep -f "^$H task $SCRATCH/$1/"; }
# A task of this program's job that runs, as scancel and scontrol name it
a_task() { squeue --noheader --states=RUNNING --array --format='%j %F_%K' | sed -n 's/^harness-wide-[a-z]* //p' | grep -v "^$limit_job" | shuf -n 1 --random-source=<(yes "$RANDOM"); }
a_node() { echo n$((1 + RANDOM % 2)); }
ended() { ! kill -0 "$1" 2> /dev/null; }

# The faults. Each is given the process of the sweep.
strike_scancel() { scancel "$(a_task)" 2> /dev/null; }
strike_signal() { scancel --batch --signal=TERM "$(a_task)" 2> /dev/null; } # as before a time limit
strike_requeue() { scontrol requeue "$(a_task)" 2> /dev/null; }
strike_task() {
    local task
    task=$(tasks_of by | shuf -n 1) # and the process of its run ends with it
    kill -KILL "${task:-$$$$$$}" 2> /dev/null
}
strike_node() {
    local node
    node=$(a_node)
    kill -KILL "${slurm_node_pid[$node]}"
    wait "${slurm_node_pid[$node]}" 2> /dev/null
    slurm_node "$node"
}
strike_controller() {
    kill -KILL "$slurm_controller_pid"
    wait "$slurm_controller_pid" 2> /dev/null
    slurm_controller
}
strike_program() { kill -KILL "$1" 2> /dev/null; }
strike_interrupt() { kill -INT "$1" 2> /dev/null; }

begin_or_resume() {
    scontrol update nodename="n[1-2]" state=resume 2> /dev/null # of one that has lost a task Slurm thinks the worst
    local folder where=(--on slurm --cells-per-task 4)
    folder=$(only by)
    if [ -f "$folder/request.json" ]; then
        [ $((RANDOM % 4)) != 0 ] || where=()
        set -- --resume "$folder"
    else
        rm -rf by # it was ended before there was a sweep
        set -- wide.json --repeat 4 --out by
    fi
    setsid "$H" run "$@" --no-report --quiet "${where[@]}" > by.out 2>&1 &
    run=$!
}
# Waits for a random number of results; fails if the sweep ended before.
await_moment() {
    local there enough
    there=$(results_in by)
    enough=$((there + RANDOM % (24 - there)))
    while [ "$(results_in by)" -lt $enough ] || [ -z "$(tasks_of by)" ]; do
        ended "$run" && return 1
        sleep 0.02
    done
}
wait_for_end() {
    until_true 100 ended "$run" || { squeue --array; cat by.out; kill -KILL "$run"; }
    wait "$run"
}
kinds=(scancel signal requeue task node controller program interrupt)
disturb() { # KIND...
    local kind
    for kind; do
        until
            [ "$(results_in by)" -lt 20 ] || rm -rf by
            begin_or_resume
            await_moment
        do
            wait_for_end
        done
        "strike_$kind" "$run"
        wait_for_end
        nothing_half "$(only by)" || { echo "after $kind"; return 1; }
    done
    # on a busy machine Slurm may fail to start a task, and hold it: the sweep ends then, and says so
    for _ in 1 2 3; do
        begin_or_resume
        wait_for_end
        [ "$(results_in by)" != 24 ] || break
    done
    [ "$(results_in by)" = 24 ] || { cat by.out; return 1; }
    "$H" run --resume "$(only by)" --no-report --quiet # also after a last resume that a job of before was still in the way of
    [ $? = 1 ] && same "$(only by)"
}

# Not in a process of its own, as `check` has it: the daemons are children of this one.
disturbed() { # WHAT KIND...
    local what=$1
    shift
    if disturb "$@" > said 2>&1; then ok "$what"; else nok "$what" "$(cat said)"; fi
}

limit_job=$(until_true 30 sh -c 'squeue --noheader --format=%F | grep .' && squeue --noheader --format=%F | head -n 1)
if [ -n "${DISTURBED:-}" ]; then
    kinds_at_random=()
    for ((i = 0; i < DISTURBED; i++)); do kinds_at_random+=("${kinds[RANDOM % ${#kinds[@]}]}"); done
    disturbed "$DISTURBED faults at random, then the results of an undisturbed sweep" "${kinds_at_random[@]}"
else
    for kind in "${kinds[@]}"; do
        rm -rf by
        disturbed "$kind: then the results of an undisturbed sweep" "$kind"
    done
fi

# ---- a full disk
mkdir full && mount -t tmpfs -o size=600k tmpfs full
check_exit 3 "a disk that is full" "$H" run wide.json --repeat 4 --out full --on slurm --cells-per-task 24 --no-report
check "... has whole results" test "$(results_in full)" -gt 0
check "... and nothing half" nothing_half "$(only full)"
mount -o remount,size=64m full
check_exit 1 "with space again it is resumed on Slurm" "$H" run --resume "$(only full)" --on slurm --cells-per-task 6 --no-report
check "... to the same bytes" same "$(only full)"
umount full

# ---- two tasks on the same runs at once
check_exit 0 "a job whose runs" "$H" run wide.json --repeat 4 --out twice --on slurm --cells-per-task 24 --detach --quiet
twice=$(only twice)
"$H" task "$twice" 1 1 > /dev/null 2>&1 &
one=$!
check_exit 0 "... others make at the same time" "$H" task "$twice" 1 1
wait $one
check "... without harm to these" test $? = 0
check_exit 1 "... is ended" "$H" run --resume "$twice" --no-report --quiet
check "... to the same bytes" same "$twice"

# ---- the time limit
wait "$limit"
check "a task that comes to its time limit ends the sweep with 3" test $? = 3
check_says "... which says so" 'error: 24 of 24 runs are missing: task 1, on node n[12], (ended before its runs did; the last line of .*ended by a signal|reached its time limit)' limit.out
check "... leaves nothing half" nothing_half "$(only limit)"
check_exit 1 "... and has 24 runs missing" "$H" status "$(only limit)"
check_says "... as its status says" '^ *24 missing' out
finish
