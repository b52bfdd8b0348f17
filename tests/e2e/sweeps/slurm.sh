#!/bin/bash
# A sweep as a job of Slurm, on a real controller and two nodes: the results are those of a sweep that runs here, byte for byte but for times.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/slurm.bash
. "$ROOT/tests/e2e/slurm.bash"
slurm_enter "sweeps on a cluster with Slurm" "$0"
cd "$SCRATCH" || exit 2
# shellcheck source=tests/e2e/sweeps/same.bash
. "$ROOT/tests/e2e/sweeps/same.bash"
H=$BUILD/harness
mkdir -p config/harness
cat > config/harness/config.json << END
{ "schema": 1, "slurm": { "default": { "partition": "main" },
                          "side": { "partition": "main", "cpus": 3, "time": "90s", "memory": "100MiB", "sbatch": ["--comment=of the test"] },
                          "elsewhere": { "results": "$SCRATCH/elsewhere" },
                          "nowhere": { "partition": "nowhere" },
                          "absent": { "program": "$SCRATCH/no such/harness" },
                          "other": { "program": "$SCRATCH/other/harness" } } }
END

# ---- what is refused before there is a job
check_exit 2 "without Slurm's commands" env PATH=/nowhere "$H" run wide.json --on slurm --out none
check_says "... the one that is missing is named" 'error: sbatch is not on PATH' err
check_exit 2 "a profile that there is not" "$H" run wide.json --on slurm:fast --out none
check_says "... with those that there are" 'slurm:fast: no such profile; .* has default, side, elsewhere, nowhere' err
check_exit 2 "another scheduler" "$H" run wide.json --on pbs --out none
check_exit 2 "--detach here" "$H" run wide.json --detach --out none
check_exit 2 "a single run" "$H" run wide.json --set sweep={} --on slurm --out none
check_says "... is run here" 'this is a single run' err
check_exit 2 "more tasks than an array may have" "$H" run wide.json --repeat 200 --on slurm --cells-per-task 1 --out none
check_says "... with the least number of runs" 'give at least 2' err
check "none has made a folder" test ! -e none
cp config/harness/config.json kept.json
echo '{"schema": 1, "slurm": {"default": {"sbatch": ["exclusive"]}}}' > config/harness/config.json
check_exit 2 "a profile with a word that is no option" "$H" run wide.json --on slurm --out none
check_says "... names it" 'config.json: slurm.default.sbatch\[0\]' err
mv kept.json config/harness/config.json

slurm_start || { nok "a controller and two nodes" && finish; } # not by check: what it sets is needed here
check_exit 3 "a partition that there is not" "$H" run wide.json --on slurm:nowhere --cells-per-task 5 --out none
check_says "... in sbatch's words" 'error: sbatch: error: .*[Ii]nvalid partition' err
check "... leaves no folder" test ! -e none/wide

# ---- the same bytes
"$H" run wide.json --no-report --repeat 4 --out here --jobs 2 > here.out 2> /dev/null
undisturbed=$(only here)
check_exit 1 "24 runs in five tasks, two at a time" "$H" run wide.json --no-report --repeat 4 --out five --on slurm --cells-per-task 5 --jobs 2
check_says "... by the job's name" '^harness: job harness-wide-[a-z]*: 24 runs in 5 tasks of up to 5$' err
check "... has the same bytes" same "$(only five)"
check "... prints the same" diff <(grep -v '^result\|^all runs' here.out) <(grep -v '^result\|^all runs' out)
check "... is the latest" test "$(readlink five/wide/latest)" = "$(basename "$(only five)")"
check "... leaves nothing of the job in the folder" test ! -e "$(only five)/slurm"
check_exit 0 "its status" "$H" status "$(only five)"
check_says "... is that all are whole" '^ *24 whole: 12 passed, 12 failed$' out

# ---- a task that has three runs at a time, of its own number; detached
scontrol update partitionname=main state=down # its tasks wait, however slow this test is
check_exit 0 "submitted, and not waited for" "$H" run wide.json --no-report --repeat 4 --out later --on slurm:side --detach --json
later=$(only later)
job=$(jq -r .job_name out)
check "... says where" test "$(jq -r .result out)" = "$later"
check "... as the profile says" test "$(squeue --name="$job" --array --noheader --states=all --format='%P %C %l %m %k')" = "main 3 2:00 100M of the test"
check_exit 1 "its status" "$H" status "$later"
check_says "... has the first run, which was made here" '^ *1 whole' out
check_says "... and the others by Slurm's word" '^ *23 in tasks that wait, by Slurm.s word' out
check_exit 0 "a report of what is there" "$H" report "$later"
reported() { tail -n +2 "$1/report/sweep.csv" | wc -l; }
check "... has it" test "$(reported "$later")" = 1
scontrol update partitionname=main state=up
# shellcheck disable=SC2016 # the inner shell expands it
until_true 60 bash -c 'shopt -s nullglob; set -- "$1"/*/result.json; [ $# = 24 ]' _ "$later"
check_exit 0 "a report before the sweep is ended" "$H" report "$later"
check "... has all" test "$(reported "$later")" = 24
check_exit 1 "--resume ends it" "$H" run --resume "$later" --no-report
check_says "... as it was found" '24 of 24 runs are kept|waiting for them' err
check "... to the same bytes" same "$later"

# ---- Ctrl-C
setsid "$H" run wide.json --quiet --set phases.measure=600s --repeat 4 --out cancelled --on slurm:elsewhere --cells-per-task 6 --no-report 2> cancelled.err &
run=$!
check "tasks run" until_true 60 sh -c 'squeue --noheader --states=RUNNING --array | grep -q harness-'
kill -INT $run
wait $run
check "Ctrl-C ends it with 130" test $? = 130
check "... and its tasks" test -z "$(squeue --noheader)"
check "... with an index that says so" jq -e '(.complete | not) and .reason == "interrupted"' cancelled/wide/2*/index.json
check "... and nothing half" test "$(find cancelled -path '*/[0-9]*/run.log' ! -path '*/slurm/*' | wc -l)" = 0

# ---- progress: one line that never wraps
check_progress 24 '[0-9]+ tasks run' --repeat 4 --on slurm --cells-per-task 12

# ---- nodes that cannot
mkdir other && printf '#!/bin/sh\nexec env HARNESS="%s" "%s/other.sh" "$@"\n' "$H" "$SCRATCH" > other/harness && chmod +x other/harness
cat > other.sh << 'END'
#!/bin/sh
# The folder is that of another version of the program when the task reads it.
sed -i 's/"version": "[^"]*"/"version": "0.0.9"/' "$2/request.json"
exec "$HARNESS" "$@"
END
chmod +x other.sh
check_exit 3 "a program that the nodes do not have" "$H" run wide.json --repeat 4 --on slurm:absent --cells-per-task 24 --no-report --out absent
check_says "... is named" 'error: task 1: node .* has no program .*/no such/harness' err
check_exit 1 "... the sweep is run here then" "$H" run --resume "$(only absent)" --no-report --quiet
check "... to the same bytes" same "$(only absent)"
check_exit 3 "a program of another version on the nodes" "$H" run wide.json --repeat 4 --on slurm:other --cells-per-task 24 --no-report --out other-out
check_says "... both are named" 'error: task 1, on node .*: .*/request.json was written by harness 0.0.9, and this is [0-9]' err

# ---- nodes that do not see the results, or may not write there
blind() { # NODE COMMAND: in the node's own mounts
    kill "${slurm_node_pid[$1]}"
    wait "${slurm_node_pid[$1]}" 2> /dev/null
    unshare --mount sh -c "$2 && exec slurmd -D -N $1" > "$slurm/$1.out" 2>&1 < /dev/null &
    slurm_node_pid[$1]=$!
    until_true 60 slurm_idle
}
mkdir shared
check "the results are read-only on n1" blind n1 "mount --bind shared shared && mount -o remount,ro,bind shared"
check_exit 1 "a sweep goes on on the other node" "$H" run wide.json --no-report --repeat 4 --out shared --on slurm --cells-per-task 1
check_says "... the node is named, with the reason" 'warning: node n1 cannot work on this sweep: it cannot write in .*/shared/wide/.*: Read-only file system; no more tasks of it are begun there' err
check "... it took a few tasks, and not one after the other" test "$(squeue --states=FAILED --array --noheader --nodelist=n1 | wc -l)" -le 8
check "... and the runs are whole, with the same bytes" same "$(only shared)"
rm -r shared/wide
check "n2 does not see them" blind n2 "mount -t tmpfs none shared"
check_exit 3 "a sweep that no node can make ends" timeout 60 "$H" run wide.json --no-report --repeat 4 --out shared --on slurm --cells-per-task 1
check_says "... and says so" 'tasks of job .* could not be started: Slurm says .*; these nodes cannot work on the sweep: (n1,n2|n2,n1)$' err
check_exit 1 "its status" "$H" status "$(only shared)"
check_says "... has the first node with its reason" 'node n1: it cannot write in .*: Read-only file system' out
check_says "... and the second" 'node n2: it does not see ' out
for node in n1 n2; do check "$node is as it was" blind $node true; done

# ---- a job that somebody cancels; a clock that is off
setsid "$H" run wide.json --quiet --set phases.measure=600s --repeat 4 --out ended --on slurm --cells-per-task 12 --no-report 2> ended.err &
run=$!
# shellcheck disable=SC2016 # the inner shell expands it
check "both tasks run" until_true 60 sh -c '[ "$(squeue --noheader --states=RUNNING --array | grep -c harness-)" = 2 ]'
scancel --name="$(squeue --noheader --states=RUNNING --format=%j | head -n 1)"
wait $run
check "a job that was cancelled fails its sweep" test $? = 3
check_says "... and is called cancelled" '24 of 24 runs are missing: task 1, on node n[12], was cancelled' ended.err
if ! skip_reason sanitized "$H" >/dev/null && has_compiler; then
    compile_preload clock.so "$ROOT/tests/e2e/harness/clock_step.c"
    printf '#!/bin/sh\ntouch "%s/step"\nLD_PRELOAD=%s/clock.so CLOCK_STEP=%s/step exec "%s" "$@"\n' "$SCRATCH" "$SCRATCH" "$SCRATCH" "$H" > other/harness
    check_exit 1 "a sweep on nodes whose clocks are an hour slow" "$H" run wide.json --repeat 4 --on slurm:other --cells-per-task 24 --no-report --out slow
    check_says "... says so" 'warning: the clock of node n[12] is off by 3[56][0-9][0-9] s at least: by it task 1 began before it was submitted' err
fi

# ---- real hosts: one task, which Slurm does not begin again
cat > far.json << 'END'
{ "schema": 1, "name": "far", "driver": "ssh", "hosts": { "a": { "ssh": "nowhere.invalid", "nic": { "address": "10.0.0.1/24" } },
                                                           "b": { "ssh": "elsewhere.invalid", "nic": { "address": "10.0.0.2/24" } } } }
END
check_exit 2 "a lab of hosts has no runs side by side" "$H" run wide.json --lab far.json --on slurm --jobs 2 --out far
check_exit 2 "... and one task" "$H" run wide.json --lab far.json --on slurm --cells-per-task 2 --out far
check_says "... and says why" '^harness: error: --cells-per-task: all runs of lab far are one task' err
check_exit 0 "its six runs" "$H" run wide.json --lab far.json --on slurm --detach --json --out far
job=$(jq -r .job_name out)
check "... are one task that is not begun again" test "$(squeue --name="$job" --array --states=all --noheader --Format=ArrayTaskID:2,Requeue:5 | tr -s ' ')" = "1 0 "
check "... which says why it could not go on" until_true 60 test -s "$(only far)/slurm/1/failed"
check_exit 1 "... as the status does" "$H" status "$(only far)"
check_says "... by node and host" '^task 1, on node .*nowhere.invalid' out
finish
