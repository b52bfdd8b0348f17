#!/bin/bash
# perftest as the tool of flows, on hosts without RDMA: a stand-in says what its programs say (tests/e2e/traffic/stand_in_perftest). Real ones run in
# tests/e2e/guests/virtual_tools.sh.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "perftest on an ssh lab" python3
TOOL=$SCRATCH/perftest
# shellcheck source=tests/e2e/traffic/tool_hosts.bash
. "$ROOT/tests/e2e/traffic/tool_hosts.bash"
ln "$SCRATCH/bin/host-facts" "$SCRATCH/programs/"
make_tool stand_in_perftest ib_write_bw ib_write_lat ib_read_bw ib_send_lat
for host in a b; do set_environment $host "PATH=$TOOL:$PATH PERFTEST=$TOOL"; done
# GIDs are given: there is no RDMA device whose table could be read
jq '.hosts.a.nic.gid_index = 3 | .hosts.b.nic.gid_index = 5 | .hosts.a.nic.ack_timeout = 18' "$SCRATCH/stand-in.json" > "$SCRATCH/lab.json"
LAB=$SCRATCH/lab.json
jq -n '{schema: 1, name: "tools", roles: ["a", "b"], phases: {warmup: "100ms", measure: "1s", cooldown: "0"}, settings: {trust: "dscp"},
    flows: [{name: "x", from: "a", to: "b", tool: "perftest", message: "64KiB", queue_pairs: 2, depth: 16, priority: 3}],
    sample: {every: "100ms", groups: ["throughput"]}, expect: [{name: "something is sent", check: "sum(flows.*.bytes) > 0"}]}' > "$SCRATCH/tools.json"
R=$OUT/tools/latest/result.json

ran() { cat "$TOOL/commands"; }

# ---- a run
mode good
go 0 "a run with perftest" tools
check "... its messages are the result's" holds '.flows.x | .messages == 50000 and .bytes == 50000 * 65536 and .complete and .errors == 0'
check "... its average is the result's" holds '.flows.x | .goodput_MiBps - 3125 | fabs < 0.005'
check "... the time follows from both" holds '.flows.x.duration_ns == 1000000000'
check "... the tool and its versions are in the result" holds '.flows.x | .tool == "perftest" and .tool_used.version_from == "6.06" and .tool_used.version_to == "6.06"'
check "... and what it does not measure" holds '.flows.x | (.tool_used.cannot | test("latencies")) and (has("latency_ns") | not)'
both="--CPU-freq --port=18530 --size=65536 --duration=3 --margin=1 --qp=2 --tx-depth=16 --noPeak --sl=3 --tclass=96"
same "the server has the flow's options" "$(ran | head -n 1)" "ib_write_bw $both --gid-index=5"
same "the client has them too, with its host's" "$(ran | tail -n 1)" "ib_write_bw 10.9.0.2 $both --qp-timeout=18 --gid-index=3"
same "... the command lines are in the result" "$(jq -r '.flows.x.tool_used | .server, .client' "$R")" "$(ran)"
check "flows.jsonl has one summary, at a time of the run" holds '.type == "summary" and .flow == "x" and (.time_ns | . > 1700000000000000000)' "$OUT/tools/latest/flows.jsonl"
check "a report shows it" "$H" report "$OUT/tools/latest"

first=$(realpath "$OUT/tools/latest")
go 0 "the same with roce-traffic" tools --set 'flows.*.tool=roce'
check "a report of both" "$H" report "$first" "$OUT/tools/latest"
page=$(find "$OUT" -path '*report-with-*' -name index.html)
check_says "... has the tools in a table" '<h2>Other traffic tools beside roce-traffic</h2>' "$page"
# goodput of the stand-ins: 65536 messages of a byte in 1 ns are 8 Gb/s
check_says "... with the ratio of perftest's goodput" '<td[^>]*>perftest</td>.*<td[^>]*>8(\.0+)?</td>.*<td[^>]*>26\.2[0-9]*</td>.*<td[^>]*>3\.2[78]' "$page"
check_says "... and the setting that differs" 'flows\.x\.tool' "$page"
go 0 "a sweep over tools" tools --set 'sweep={"flows.*.tool": ["roce", "perftest"]}'
check "... has a report" "$H" report "$OUT/tools/latest"
check_says "... with a table of both" '<h2>Other traffic tools beside roce-traffic</h2>' "$OUT/tools/latest/report/index.html"
go 0 "... twice" tools --set 'sweep={"flows.*.tool": ["roce", "perftest"]}' --repeat 2
same "... takes the tools in turns" "$(jq -r '"\(.started) \(.flows.x.tool) \(.repeat)"' "$OUT"/tools/latest/0*/result.json | sort | cut -d' ' -f2- | xargs)" \
    "roce-traffic 1 perftest 1 roce-traffic 2 perftest 2"
same "... each run in its cell's folder" "$(cd "$OUT/tools/latest" && jq -r '"\(.flows.x.tool) \(.repeat)"' 0*/result.json | xargs)" \
    "roce-traffic 1 roce-traffic 2 perftest 1 perftest 2"
go 0 "strict ordering" tools --set 'flows.*.relaxed_ordering=false'
check "... is said to both ends" test "$(ran | grep -c -- ' --disable_pcie_relaxed ')" = 2
check "... and is in the result" holds '.flows.x.relaxed_ordering == false'
go 0 "... with a program of latency, whose help lacks the option" tools --set 'flows.*.relaxed_ordering=false' --set 'flows.*.mode=latency' --set 'flows.*.queue_pairs=1'
check "... that is said too" test "$(ran | grep -c -- '^ib_write_lat .* --disable_pcie_relaxed ')" = 2
go 4 "relaxed ordering where no NIC is seen to have it" tools --set 'flows.*.relaxed_ordering=true'
check_says "... is skipped by name" 'lacks relaxed-ordering: flow x has relaxed_ordering, and host a has no NIC whose PCIe configuration is seen to allow it' "$SCRATCH/out"
go 0 "two directions are two flows" tools --set 'flows=[{"name": "x", "from": "a", "to": "b", "tool": "perftest"}, {"name": "y", "from": "b", "to": "a", "tool": "perftest"}]'
same "... each has a port" "$(ran | grep -o -- '--port=[0-9]*' | sort | uniq -c | awk '{ print $1, $2 }' | xargs)" "2 --port=18530 2 --port=18531"
go 0 "beside roce-traffic" tools --set 'flows=[{"name": "x", "from": "a", "to": "b", "tool": "perftest"}, {"name": "y", "from": "a", "to": "b"}]'
check "... each flow names its tool" holds '.flows | .x.tool == "perftest" and .y.tool == "roce-traffic" and (.y | has("tool_used") | not)'

# ---- operations, sizes, latencies, memory
go 0 "a number of messages" tools --set 'flows.*.size=10MiB' --set 'flows.*.op=read'
check_says "... is that of each queue pair" '^ib_read_bw 10.9.0.2 .*--size=65536 --iters=80 --qp=2' "$TOOL/commands"
check "... the messages of both are counted" holds '.flows.x.messages == 160 and .flows.x.bytes == 10485760'
go 0 "latency for a time" tools --set 'flows.*.mode=latency' --set 'flows.*.op=send' --set 'flows.*.queue_pairs=1' --set 'flows.*.message=64B'
check "... the mean is all that perftest prints" holds '.flows.x.latency_ns == {"mean": 2500} and .flows.x.messages == 200000 and .flows.x.duration_ns == 1000000000'
go 0 "latency of a number of messages" tools --set 'flows.*.mode=latency' --set 'flows.*.queue_pairs=1' --set 'flows.*.message=2B' --set 'flows.*.size=2000B'
check "... typical is the median" holds '.flows.x.latency_ns == {"min": 1410, "mean": 1460, "p50": 1440, "p99": 1530, "p99_9": 5220, "max": 9250}'
check "... a rate is not invented" holds '.flows.x.messages == 1000 and (.flows.x | has("goodput_bps") | not)'

# a stand-in for host-facts shows the host of tests/data/hosts, which has a GPU
mkdir "$SCRATCH/with-gpu"
stand_in_facts "$SCRATCH/with-gpu" dgx-like.tree
ln "$SCRATCH/programs"/{nic-sampler,nic-config,roce-traffic} "$SCRATCH/with-gpu/"
jq --arg programs "$SCRATCH/with-gpu" '.hosts[] |= . + {programs: $programs, gpu: {index: 1}}' "$LAB" > "$SCRATCH/gpu.json"
LAB="$SCRATCH/gpu.json" go 3 "GPU memory, with a perftest without CUDA" tools --set 'flows.*.memory=gpu'
check_says "... nothing was started" 'host a: ib_write_bw 6.06 has no option --use_cuda, which flow x needs: it was built without CUDA' "$SCRATCH/err"
go 4 "... without a GPU it is skipped as with roce-traffic" tools --set 'flows.*.memory=gpu'
mode new
LAB="$SCRATCH/gpu.json" go 0 "GPU memory, and the format of 6.22" tools --set 'flows.*.memory=gpu'
check_says "... the lab's GPU" ' --use_cuda=1 ' "$TOOL/commands"
check "... as the result says" holds '.flows.x | .memory_used == {"kind": "gpu", "route": "cuda-peermem"} and .tool_used.version_to == "6.22"'

# ---- what it cannot do is said before the run
refused tools 'flow x.validate: tool perftest cannot check the data' --set 'flows.*.validate=true'
refused tools 'flow x.rate: tool perftest cannot' --set 'flows.*.rate=1Gb/s'
refused tools 'flow x.numa: tool perftest cannot choose a NUMA node' --set 'flows.*.numa=near'
refused tools 'flow x.stop: tool perftest cannot start and stop' --set 'flows.*.stop=500ms'
refused tools 'flow x.size: .* as many on each queue pair' --set 'flows.*.size=10241KiB'
refused tools 'flow x.size: .* 4 messages on a queue pair: expected 5 to' --set 'flows.*.size=512KiB'
refused tools 'flow x: .* whole seconds in phases.measure' --set phases.measure=1500ms
refused tools 'flow x.memory: .* expected host, gpu' --set 'flows.*.memory=rm-dmabuf'
refused tools 'flow x.depth: .* 15000' --set 'flows.*.depth=16000'
jq '.hosts.b.nic.address = "2001:db8::2/64"' "$LAB" > "$SCRATCH/six.json"
check_exit 2 "refused: an IPv6 address" "$H" check "$SCRATCH/tools.json" --lab "$SCRATCH/six.json"
check_says "... says why" 'flow x: tool perftest needs an IPv4 address, which nic.address of role b is not' "$SCRATCH/err"

# ---- doctor, and what the hosts lack
mode good
"$H" doctor --lab "$LAB" --for "$SCRATCH/tools.json" > "$SCRATCH/doctor" 2>&1
check_says "doctor names the version" '^ok +a +tool +perftest 6.06 has what flow x needs' "$SCRATCH/doctor"
check_says "... tries its port" '^ok +a +port +TCP port 18530 of b' "$SCRATCH/doctor"
mode old
"$H" doctor --lab "$LAB" --for "$SCRATCH/tools.json" > "$SCRATCH/doctor" 2>&1
check_says "doctor names a missing option" '^failure +b +tool +host b: ib_write_bw 6.06 has no option --CPU-freq, which flow x needs' "$SCRATCH/doctor"
mtus > "$SCRATCH/before"
go 3 "a run with such a perftest" tools --set settings.mtu=1400
check_says "... ends before anything is started" 'has no option --CPU-freq, which flow x needs: a newer one is needed$' "$SCRATCH/err"
same "... or changed" "$(mtus)" "$(cat "$SCRATCH/before")"
mode no-version
go 3 "a perftest without a version" tools
check_says "... is none" 'host a has no ib_write_bw of perftest .flow x.: it says' "$SCRATCH/err"
mv "$TOOL/ib_write_bw" "$TOOL/gone"
PERFTEST_HERE=$(command -v ib_write_bw)
if [ -z "$PERFTEST_HERE" ]; then
    go 3 "no perftest" tools
    check_says "... the command that installs it" 'host a has no ib_write_bw of perftest .flow x.: it says .*ib_write_bw: not found"; to install it: apt-get install perftest, or dnf install perftest' "$SCRATCH/err"
else
    go 3 "perftest without an RDMA device" tools
    check_says "... ends with its own words" 'Unable to find the Infiniband/RoCE device' "$SCRATCH/err"
fi
mv "$TOOL/gone" "$TOOL/ib_write_bw"

# ---- output that is not perftest's
fails "output that ends early" truncated 'host a: perftest: its output ends before the end of its table' tools
fails "other columns" other-columns 'host a: perftest: its output has the line " #bytes .*Gb/sec.*": expected the columns that perftest' tools
fails "any bytes" hostile 'host a: perftest: its output has the line " 65536 \\x1b\[31m' tools
fails "output without end" endless 'host a: perftest: its output has more than 65536 bytes' tools
fails "a work request that is not acknowledged" failing-completion 'host a: perftest exited with 1: completion error 12 .IBV_WC_RETRY_EXC_ERR., vendor error 0x81: on mlx5 NICs no acknowledgement after all retries: the peer is silent; likely: .*it said:  ?Completion with error at client \|  ?Failed status 12: wr_id 0 syndrom 0x81 \| scnt=128' tools
check "... and its flow in the result has it" holds '.flows.x.completion | .status_number == 12 and .vendor_error == 129 and .look_at == "responder" and (.meaning | test("peer is silent"))'
check "... and the list of warnings" holds '[.warnings[] | select(test("^flow x: completion error 12 .IBV_WC_RETRY_EXC_ERR., vendor error 0x81: "))] | length == 1'
fails "memory that cannot be registered" failing-memory "host a: perftest exited with 1: host memory could not be registered with the NIC .errno 14, Bad address.*it said: Couldn.t allocate MR with error=14 \| failed to create mr" tools
mode 256-pairs
go 0 "256 queue pairs, each with its lines" tools --set 'flows.*.queue_pairs=256'
check "... are read as those of two" holds '.flows.x | .messages == 50000 and .complete'
check_says "... and are in the log" 'perftest:  local address: LID 0000 QPN 0x01ff' "$OUT/tools/latest/run.log"
mode good
fails "an error" failing "host a: perftest exited with 1:  ?Unable to Connect the HCA's through the link" tools
begin tools
ip netns pids a | xargs ps -o pid=,args= -p | awk '/python3 .*ib_write_bw/ { print $1 }' | xargs -r kill -9
wait $run
same "a program that is killed ends the run" $? 3
jq -r .reason "$R" > "$SCRATCH/reason"
check_says "... the reason" 'host a: perftest was killed' "$SCRATCH/reason"
begin tools
kill -INT $run
wait $run
same "Ctrl-C ends it" $? 130
begin tools
{ kill -9 $run && wait $run; } 2> /dev/null

close_hosts
finish
