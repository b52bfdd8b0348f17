#!/bin/bash
# nccl-tests as the tool of collectives, on hosts without a GPU: a stand-in says what its programs and NCCL say (tests/e2e/traffic/stand_in_nccl_tests).
# mpirun is Open MPI's own, between two namespaces over ssh.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "nccl-tests on an ssh lab" python3
TOOL=$SCRATCH/nccl-tests
# shellcheck source=tests/e2e/traffic/tool_hosts.bash
. "$ROOT/tests/e2e/traffic/tool_hosts.bash"
# the host that is shown has a GPU; its NIC is not this host's
stand_in_facts "$SCRATCH/programs" dgx-like.tree
printf '# exactly this device\nexport NCCL_IB_HCA==mlx5_0:1\nexport NCCL_NET_GDR_LEVEL=PIX\n' > "$SCRATCH/nccl-env"
make_tool stand_in_nccl_tests all_reduce_perf alltoall_perf
# mpirun's ssh from a to b is by the experiment's network
for n in 1 2; do
    echo "10.9.0.$n $(cut -d' ' -f1,2 "$SCRATCH/host.pub")" >> "$SCRATCH/known_hosts"
done
echo "ListenAddress 10.9.0.2" >> "$SCRATCH/b/sshd_config"
ip netns pids b | head -n 1 | xargs kill -HUP
AGENT="ssh -i $SCRATCH/key -o UserKnownHostsFile=$SCRATCH/known_hosts -o BatchMode=yes -o ControlPath=none"
jq --arg folder "$TOOL" --arg agent "$AGENT" '.hosts[].gpu = {index: 0} | .hosts.b.gpu.index = 1 | .nccl_tests = {folder: $folder,
    mpirun: ["--mca", "plm_rsh_agent", $agent, "--mca", "oob_tcp_if_include", "data0", "--mca", "btl_tcp_if_include", "data0"]}' \
    "$SCRATCH/stand-in.json" > "$SCRATCH/lab.json"
LAB=$SCRATCH/lab.json
jq -n '{schema: 1, name: "collectives", roles: ["a", "b"], phases: {warmup: "100ms", measure: "300ms", cooldown: "0"},
    collectives: [{name: "x", op: "all-reduce", min: "8B", max: "1MiB", factor: 2, iterations: 10, warmup_iterations: 2}],
    sample: {every: "100ms", groups: ["throughput"]},
    expect: [{name: "no value is wrong", check: "sum(collectives.*.wrong) == 0"}, {name: "it is fast", check: "max(collectives.x.avg_busbw_GBps) > 0.1"}]}' \
    > "$SCRATCH/collectives.json"
jq '.collectives[0] |= . + {roles: ["a"], gpus: 4}' "$SCRATCH/collectives.json" > "$SCRATCH/one.json"
R=$OUT/collectives/latest/result.json

# ---- one host: a process with all its GPUs
mode good
go 0 "a collective on one host" one
check_says "... is printed" 'x +all-reduce, 4 ranks: bus bandwidth 2\.56 GB/s on average, at most 12\.60 GB/s; path between hosts: none' "$SCRATCH/out"
check "... each size is in the result" holds '.collectives.x.sizes | length == 18 and .[0].bytes == 8 and .[17].bytes == 1048576'
check "... with its figures" holds '.collectives.x.sizes[17] | (.out_of_place | .time_ns == 124900 and .algbw_GBps == 8.4 and .busbw_GBps == 12.6 and .wrong == 0) and .in_place == .out_of_place'
check "... and the average" holds '.collectives.x | .complete and .ranks == 4 and .avg_busbw_GBps > 1 and .max_busbw_GBps == 12.6 and .wrong == 0 and .out_of_bounds == 0'
check "... the ranks and their GPUs" holds '.collectives.x.devices | length == 4 and .[3] == {rank: 3, host: .[0].host, device: 3, gpu: "NVIDIA H100 80GB HBM3"}'
check "... versions" holds '.collectives.x.tool_used | .version == "2.17.9" and .nccl_version == "2.21.5+cuda12.4" and .nccl_built_with == "2.21.5" and .launcher == "process"'
check "... the path" holds '.collectives.x | .path == "none" and .channels == {p2p: 8}'
command="env NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV NCCL_DEBUG_FILE=/dev/stderr $TOOL/all_reduce_perf --minbytes=8 --maxbytes=1048576 --stepfactor=2 --iters=10 --warmup_iters=2 --ngpus=4 --check=1 --datatype=float --op=sum --root=0"
same "... the command" "$(jq -r .collectives.x.tool_used.command "$R")" "$command"
same "... is what ran" "$(sed 's/.*: all_reduce/all_reduce/' "$TOOL/commands")" "${command#*nccl-tests/}"
check "... its variables are in the result" holds '.collectives.x.tool_used.env.a == {NCCL_DEBUG: "INFO", NCCL_DEBUG_SUBSYS: "INIT,ENV", NCCL_DEBUG_FILE: "/dev/stderr"}'
check "... NCCL's messages are in run.log" grep -q 'NCCL INFO Channel 00/0 : 0.0. -> 1.1. via P2P/CUMEM' "$OUT/collectives/latest/run.log"
check "... both expectations passed" holds '[.expectations[].verdict] == ["passed", "passed"]'
check "... there are no flows" holds '.flows == {}'
check "a trace has its phases" "$H" trace "$OUT/collectives/latest"
check "a report shows it" "$H" report "$OUT/collectives/latest"
check_says "... with each size" '1&#8239;048&#8239;576' "$OUT/collectives/latest/report/index.html"
check_says "... as nccl-tests prints it" '<td class=number>12\.60</td>' "$OUT/collectives/latest/report/index.html"
check_says "... with its largest bandwidth, without a goodput of flows" '<th>verdict<th class=number>largest busbw, GB/s<th class=number>PFC frames received' "$OUT/collectives/latest/report/index.html"
check "... and a curve over the sizes" grep -qP '^1048576\t12\.6' "$OUT/collectives/latest/report/sweep-busbw.tsv"
"$H" export "$OUT/collectives/latest" --format csv --out "$SCRATCH/csv" > "$SCRATCH/export" 2>&1
check "an export has a row for each size" test "$(grep -c '^1,x,' "$SCRATCH/csv/collective_sizes.csv")" = 18
check "... and one for the collective" grep -q '^1,x,all-reduce,nccl-tests,2.17.9,' "$SCRATCH/csv/collectives.csv"
mode old
go 0 "the format of 2.13" one --set 'collectives.*.env.NCCL_DEBUG=WARN'
check "... has no version" holds '.collectives.x | (.tool_used | has("version") or has("nccl_version") | not) and .path == null and (.sizes | length) == 18'
mode good
go 0 "without a check of the values" one --set 'collectives.*.validate=false' --set 'expect=[{"name": "fast", "check": "max(collectives.*.max_busbw_GBps) > 1"}]'
check "... none is wrong or right" holds '.collectives.x | (has("wrong") | not) and .sizes[0].in_place.wrong == null'
go 0 "one GPU is the lab's" one --set 'collectives.*.gpus=1' --set 'collectives.*.roles=["b"]' --set 'collectives.*.op=all-to-all' --set 'expect=[]' --set 'expect=[{"name": "x", "check": "min(collectives.x.min_time_ns) > 1us"}]'
check_says "... by its number" 'CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1 .*: alltoall_perf ' "$TOOL/commands"
mode reduced
go 0 "GPU memory without room for the largest size" one
check "... is a warning" holds '.warnings | any(test("collective x: its largest size is 1048576 bytes"))'
mode wrong
go 1 "wrong values" one
check "... are counted" holds '.collectives.x | .wrong == 576 and .out_of_bounds == 36 and .complete'
check "... and warned of" holds '.complete and (.warnings | any(test("36 of its checks found wrong values")))'

# ---- several hosts: mpirun
if command -v mpirun > /dev/null; then
    mode good
    go 0 "a collective on two hosts" collectives --set 'collectives.*.env.NCCL_IB_QPS_PER_CONNECTION="4"'
    check "... is one of two ranks" holds '.collectives.x | .ranks == 2 and (.devices | length) == 2 and .tool_used.launcher == "mpirun" and (.tool_used.mpirun_version | test("^Open MPI [0-9]"))'
    check "... by GPUDirect RDMA" holds '.collectives.x | .path == "gdrdma" and .channels == {gdrdma: 8}'
    check_says "... with each host's GPU" '^1: CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1 .*NCCL_IB_QPS_PER_CONNECTION=4' "$TOOL/commands"
    check "... in the result" holds '.collectives.x.tool_used.env | .a.CUDA_VISIBLE_DEVICES == "0" and .b.CUDA_VISIBLE_DEVICES == "1"'
    check_says "... the command has both hosts" '^mpirun --allow-run-as-root .* -H 10.9.0.1:1 -np 1 env .* : -H 10.9.0.2:1 -np 1 env .*' <(jq -r .collectives.x.tool_used.command "$R")
    go 0 "two GPUs a host" collectives --set 'collectives.*.gpus=2' --set 'collectives.*.env_from_hosts=true'
    check "... are four processes" test "$(wc -l < "$TOOL/commands")" = 4
    check "... with the variables of host-facts" holds '.collectives.x | .ranks == 4 and .tool_used.env.b.NCCL_IB_HCA == "=mlx5_0:1" and .tool_used.env.a.NCCL_NET_GDR_LEVEL == "PIX"'
    go 0 "the three ways" collectives --set 'sweep={"collectives.*.env": [{"NCCL_NET_GDR_LEVEL": "PHB"}, {"NCCL_NET_GDR_LEVEL": "LOC"}, {"NCCL_IB_DISABLE": "1"}]}'
    same "... are taken" "$(jq -r .collectives.x.path "$OUT"/collectives/latest/0*/result.json | xargs)" "gdrdma ib socket"
    check "... a report of the sweep" "$H" report "$OUT/collectives/latest"
    check_says "... has the bandwidths" 'average bus bandwidth, GB/s' "$OUT/collectives/latest/report/sweep.csv"
    # shellcheck disable=SC2016 # as a host might say it
    echo 'export NCCL_IB_HCA=$(reboot)' > "$SCRATCH/nccl-env"
    go 3 "variables that are not host-facts'" collectives --set 'collectives.*.env_from_hosts=true'
    check_says "... are refused" 'host [ab]: host-facts --nccl-env says "export NCCL_IB_HCA=..reboot.": expected export NCCL_NAME=VALUE' "$SCRATCH/err"
    fails "a program that MPI does not know" without-mpi 'host a: nccl-tests: it printed more than one table: each process ran by itself' collectives
    fails "a rank that dies" die 'host a: nccl-tests exited with 137: .*rank 1 .*exited on signal 9' collectives
    check "... there are no figures, but the command" holds '.collectives.x | .complete == false and (has("sizes") | not) and (.tool_used.command | test("^mpirun")) and .tool_used.env.a.NCCL_DEBUG == "INFO"'
    begin collectives
    kill -INT $run
    wait $run
    same "Ctrl-C ends it" $? 130
    begin collectives
    { kill -9 $run && wait $run; } 2> /dev/null
    mode good
    jq '.nccl_tests.mpirun = ["--mca", "plm_rsh_agent", "false"]' "$LAB" > "$SCRATCH/no-ssh.json"
    LAB="$SCRATCH/no-ssh.json" go 3 "mpirun that does not reach the other host" collectives
    check_says "... is said before the run" 'host a: mpirun could not start a process on each host of collective x' "$SCRATCH/err"
    check "... nothing was started" test ! -e "$TOOL/commands"
    "$H" doctor --lab "$LAB" --for "$SCRATCH/collectives.json" > "$SCRATCH/doctor" 2>&1
    check_says "doctor starts it" '^ok +a +tool +nccl-tests has what collective x needs, and starts on its hosts by Open MPI [0-9]' "$SCRATCH/doctor"
    sed 's/MPI_Init/MPI/' "$ROOT/tests/e2e/traffic/stand_in_nccl_tests" > "$TOOL/all_reduce_perf"
    go 3 "a program without MPI" collectives
    check_says "... is said before the run" 'host [ab]: .*/all_reduce_perf was built without MPI, which collective x needs: make MPI=1' "$SCRATCH/err"
else
    skip "collectives on several hosts" no-command mpirun
fi

# ---- what hosts lack
mode no-factor
go 3 "a program without an option" one
check_says "... is said before the run" 'host a: .*/all_reduce_perf has no option --stepfactor, which collective x needs: a newer one is needed' "$SCRATCH/err"
mode no-library
"$H" doctor --lab "$LAB" --for "$SCRATCH/one.json" > "$SCRATCH/doctor" 2>&1
check_says "doctor says that NCCL is missing" '^failure +a +tool +host a: .*/all_reduce_perf --help says ".*libnccl.so.2: cannot open' "$SCRATCH/doctor"
jq 'del(.nccl_tests.folder)' "$LAB" > "$SCRATCH/path.json"
mode good
LAB="$SCRATCH/path.json" go 3 "no nccl-tests" one
check_says "... where it is looked for" 'host a has no all_reduce_perf of nccl-tests .collective x. in its PATH, and the lab names no nccl_tests.folder; to install it: build https' "$SCRATCH/err"
cp "$ROOT/tests/e2e/traffic/stand_in_nccl_tests" "$TOOL/all_reduce_perf"
jq --arg programs "$SCRATCH/bin" '.hosts[].programs = $programs' "$LAB" > "$SCRATCH/no-gpu.json"
[ -e /dev/nvidia0 ] || {
    LAB="$SCRATCH/no-gpu.json" go 4 "hosts without a GPU are skipped" one
    check_says "... by name" 'lab pair lacks gpu: collective x uses GPU memory, and host a has no usable GPU memory' "$SCRATCH/out"
}

# ---- output that is not nccl-tests'
fails "output that ends early" truncated 'host a: nccl-tests: its output ends before the end of its table' one
fails "other columns" ancient 'host a: nccl-tests: its output has the line "#  .*error.*": expected the columns that nccl-tests 2.13 and later print' one
fails "any bytes" hostile 'host a: nccl-tests: its output has the line "  8 \\x1b\[31m' one
fails "an average of other rows" other-average 'its output has the line "# Avg bus bandwidth .*": expected the average of the rows above it' one
fails "a rank that is not listed" missing-rank 'expected the next rank' one
fails "output without end" endless 'host a: nccl-tests: its output has more than 1048576 bytes' one
fails "an error" failing "host a: nccl-tests exited with 3; NCCL warned: host0: socketStartConnect: connect to 192.0.2.11<49285> failed : Network is unreachable; its output ends with: .*Test NCCL failure common.cu:1279 'unhandled system error.* \| .*Test failure" one
fails "a peer that does not answer" failing-completion "host a: nccl-tests exited with 3: completion error 12 .IBV_WC_RETRY_EXC_ERR., vendor error 0x81: on mlx5 NICs no acknowledgement after all retries: the peer is silent; likely: .*; NCCL warned: host0: NET/IB : Got completion from peer .* with status=5 .*Test NCCL failure common.cu:1279" one
sed 's/GIVEN\["datatype"\], GIVEN/"float", GIVEN/' "$ROOT/tests/e2e/traffic/stand_in_nccl_tests" > "$TOOL/all_reduce_perf"
mode good
go 3 "a datatype that the program does not know" one --set 'collectives.*.datatype=float8'
check_says "... is not taken for another" 'its table is of datatype float: expected float8' "$SCRATCH/err"

# ---- refused before a host is reached
refused collectives 'launcher: one process has the GPUs of one host' --set 'collectives.*.launcher=process'
refused collectives 'LD_PRELOAD' --set 'collectives.*.env.LD_PRELOAD=/tmp/x.so'
refused collectives 'NCCL_NET_PLUGIN' --set 'collectives.*.env.NCCL_NET_PLUGIN=/tmp/x.so'
refused collectives 'there is no role "c"' --set 'collectives.*.roles=["c"]'
refused collectives 'max: it is smaller than min' --set 'collectives.*.max=4B'
refused collectives 'there is no value of collectives "busbw"' --set 'expect=[{"name": "x", "check": "max(collectives.x.busbw) > 1"}]'
refused collectives 'there is no collective "y"' --set 'expect=[{"name": "x", "check": "max(collectives.y.wrong) > 1"}]'
jq '.collectives[0].validate = false' "$SCRATCH/collectives.json" > "$SCRATCH/unchecked.json"
check_exit 2 "refused: wrong values that are not looked for" "$H" check "$SCRATCH/unchecked.json" --lab "$LAB"
check_says "... says why" 'no wrong elements, because validate is false' "$SCRATCH/err"
check_exit 2 "refused in a simulated lab" "$H" check "$SCRATCH/collectives.json" --lab "$ROOT/labs/sim-geforce-pair.json"
check_says "... by name" 'collective x: lab .* is simulated, and collectives run between GPUs of real hosts only' "$SCRATCH/err"

close_hosts
finish
