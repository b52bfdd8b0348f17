#!/bin/bash
# Training jobs in files of other tools, written for this test: which messages become of their collectives, how long these take against closed
# forms, and what is refused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "training jobs of other tools" python3
cd "$SCRATCH" || exit 1
H=$BUILD/harness

# imported FORMAT ARGUMENT...: into `case`, a new one
imported() {
    rm -rf case
    check_exit 0 "import $*" "$H" import "$@" -o case
}
# pairs: who sends how many bytes to whom, in sum
pairs() {
    awk '$1 == "rank" { rank = $2 } $2 == "send" { pair[rank "-" $5] += $3 } END { for (p in pair) print p ":" pair[p] }' case/schedule.goal | LC_ALL=C sort
}
pairs_are() { # WHAT PAIR...
    check "$1" diff <(pairs) <(printf '%s\n' "${@:2}" | LC_ALL=C sort)
}
# ends_at WHAT NS: the case's run, to 1 %
# shellcheck disable=SC2016 # $ns is jq's
ends_at() {
    "$H" run case/scenario.json --out case/results --no-report -q >run.out 2>&1
    check "$1" jq -e --argjson ns "$2" '.jobs.job | .unfinished == 0 and (.end_ns / $ns - 1 | fabs < 0.01)' case/results/*/latest/result.json
}
refused() { # WHAT SENTENCE FORMAT ARGUMENT...
    local what=$1 sentence=$2
    shift 2
    check_exit 2 "refused: $what" "$H" import "$@" -o refused
    check_says "... and says why" "$sentence" err
}

# ---- Chakra
cat >chakra.py <<'E1'
def varint(v):
    out = b''
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])
def field(n, v):
    return varint(n << 3 | 2) + varint(len(v)) + v if isinstance(v, bytes) else varint(n << 3) + varint(v)
# the schema's fields of values
KINDS = {'comm_type': 9, 'comm_size': 9, 'comm_src': 7, 'comm_dst': 11, 'comm_tag': 7, 'pg_name': 29, 'is_cpu_op': 27, 'num_ops': 13, 'root': 17, 'involved_dim': 28}
def node(id, type, after=(), us=0, **attributes):
    out = field(1, id) + field(2, b'a name') + field(3, type) + (field(7, us) if us else b'')
    out += field(4, b''.join(map(varint, after))) if len(after) > 1 else b''.join(field(5, i) for i in after)
    for name, value in attributes.items():
        value = value.encode() if isinstance(value, str) else value
        out += field(10, field(1, name.encode()) + field(KINDS[name], value))
    return out
def write(folder, rank, nodes, cut=0):
    data = b''.join(varint(len(m)) + m for m in [field(1, b'0.0.4')] + nodes)
    open('%s/job.%d.et' % (folder, rank), 'wb').write(data[:len(data) - cut])
COMP, SEND, RECV, COLL = 4, 5, 6, 7
E1
traces() { # FOLDER RANKS: the list of nodes that python's standard input makes for each rank r of n
    mkdir -p "$1"
    { cat chakra.py && echo "n = $2" && echo "for r in range(n):" && sed 's/^/    /' && echo "    write('$1', r, nodes)"; } | python3 -
}
traces ring 8 <<'E1'
nodes = [node(9, COMP, us=5), node(10, COLL, [9], us=777, comm_type=0, comm_size=8000000), node(11, COMP, [10, 9], us=3, num_ops=7)]
E1
imported chakra ring --algorithm ring
# computations; 14 steps of 1 MB in frames of 4096 + 82 bytes, two links of 1 us and a switch that stores a frame; the last ACK
steps=$(jq -n '8000 + 2000 + 14 * (1e6 * 8 / 100 * 4178 / 4096 + 2000 + 334)')
ends_at "8 ranks: a ring's all-reduce takes 2 (n - 1) / n of the bytes, and its steps ($steps ns)" "$steps"
pairs_are "... and goes around" {0-1,1-2,2-3,3-4,4-5,5-6,6-7,7-0}:14000000
imported chakra ring/job.{1,0,2,3,4,5,6,7}.et --algorithm halving-doubling --rate 400Gb/s
ends_at "halving and doubling: 6 steps" "$(jq -n '8000 + 2000 + 14e6 * 8 / 400 * 4178 / 4096 + 6 * (2000 + 84)')"
imported chakra ring --algorithm tree --channels 2
check "two trees carry the same bytes" test "$(pairs | awk -F: '{ sum += $2 } END { print sum }')" = 112000000

traces mixed 4 <<'E1'
group, first, peer = '12'[r // 2], r // 2 * 2, r ^ 2
nodes = [node(1, COMP, us=1, is_cpu_op=1), node(2, COLL, [1], comm_type=2, comm_size=1001, pg_name=group), node(3, COLL, [1], comm_type=9)]
nodes += [node(4, SEND, [2, 3], comm_dst=peer, comm_size=70000, comm_tag=3) if r < 2 else node(4, RECV, [2], comm_src=peer, comm_dst=r, comm_size=70000, comm_tag=3)]
nodes += [node(5, COLL, [4], comm_type=5, comm_size=500, pg_name=group, root=2 * (first + 1))] # in zigzag
E1
imported chakra mixed
# all-gather: each rank's bytes to the other; barrier: a byte to the next and the one after it
pairs_are "groups by name, messages, and a broadcast from its root" 0-1:1002 0-2:70001 1-0:1501 1-2:1 1-3:70001 2-0:1 2-3:1002 3-0:1 3-1:1 3-2:1501
check_says "what is not simulated is said" 'note: collectives and messages take the time that the network needs' out

traces bad 2 <<'E1'
nodes = [node(1, COMP, [7], us=1)]
E1
refused "a node that is not there" 'bad/job.0.et: node 1: it depends on node 7, which is not there' chakra bad
traces bad 2 <<'E1'
nodes = [node(5, COLL, [6], comm_type=0, comm_size=9), node(6, COMP, [5], us=1)]
E1
refused "nodes that wait for themselves" 'requires itself' chakra bad
traces bad 2 <<'E1'
nodes = [node(5, COLL, comm_type=0, comm_size=9 + r)]
E1
refused "collectives that differ" 'job.1.et: node 5: collective 1 of group "" has comm_type 0 and comm_size 10 here, 0 and 9 in node 5 of rank 0' chakra bad
traces bad 3 <<'E1'
nodes = [node(5, COLL, comm_type=0, comm_size=9)] * (r != 2)
E1
refused "a rank without the collective" 'node 5: collective 1 of group "": rank 2 has no such one' chakra bad
rm bad/job.2.et
traces bad 2 <<'E1'
nodes = [node(5, COLL, comm_type=0, comm_size=9, involved_dim=field(1, bytes([1, 0])))]
E1
refused "a collective of some dimensions" 'involved_dim names some dimensions' chakra bad
traces bad 2 <<'E1'
nodes = [node(5, SEND, comm_dst=1 - r, comm_size=9)]
E1
refused "a message that nobody receives" 'no recv of rank' chakra bad
python3 - <<<"$(cat chakra.py; echo "write('bad', 0, [node(1, COMP, us=1)], 1)")"
refused "a file that ends early" 'bad/job.0.et: at byte [0-9]+: the file ends before' chakra bad
gzip -c ring/job.0.et >bad/job.0.et
refused "a compressed file" 'gunzip it' chakra bad
refused "a name without a rank" 'expected a name NAME.RANK.et' chakra chakra.py ring/job.0.et
refused "a rank that is missing" 'with a rank from 0 to 1' chakra ring/job.0.et ring/job.2.et
mkdir -p empty
refused "a folder without traces" 'no file NAME.RANK.et' chakra empty

# ---- AICB
workload() { # RANKS TP EP LAYER...
    printf 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %s ep: %s pp: 1 vpp: 1 ga: 1 all_gpus: %s checkpoints: 0 checkpoint_initiates: 0\n%s\n' "$2" "$3" "$1" $(($# - 3))
    printf '%s\n' "${@:4}"
}
workload 8 2 2 "mlp -1 100 ALLREDUCE 1000 1 ALLTOALL_EP 2000 1 ALLREDUCE 4000 100" "norm -1 1 NONE 0 1 NONE 0 1 ALLGATHER_DP_EP 8000 100" >groups.txt
imported aicb groups.txt --algorithm ring
# DP of ranks 0 2 4 6, a ring of 3/4 of 4000 bytes twice; EP of 0 and 2: half of 2000 each; DP_EP of 0 and 4: half of 8000
pairs_are "groups are those of SimAI" {0-1,1-0,2-3,3-2,4-5,5-4,6-7,7-6}:1000 \
    {0-2,1-3,4-6,5-7}:7000 {2-0,3-1,6-4,7-5}:1000 {2-4,3-5,6-0,7-1}:6000 {0-4,1-5,2-6,3-7,4-0,5-1,6-2,7-3}:4000
workload 8 8 1 "embedding_layer -1 556000 ALLREDUCE 8000000 1 NONE 0 1 NONE 0 1" >micro.txt
imported aicb micro.txt --algorithm ring
ends_at "the all-reduce of SimAI's example" "$((556000 - 8000 + ${steps%.*}))"
imported aicb micro.txt --algorithm ring --iterations 2
ends_at "... twice" "$((2 * (556000 - 8000 + ${steps%.*})))"
workload 8 2 2 "mlp -1 100 GATHERALL 1000 1 NONE 0 1 NONE 0 100" >bad.txt
refused "a collective that is unknown" 'bad.txt:3: "GATHERALL": expected NONE, ALLREDUCE' aicb bad.txt
workload 8 3 1 "mlp -1 100 NONE 0 1 NONE 0 1 NONE 0 100" >bad.txt
refused "groups that do not divide the ranks" 'bad.txt:1: model_parallel_NPU_group is 3: expected a divisor of all_gpus, 8' aicb bad.txt
workload 8 2 2 >bad.txt
refused "no layers" 'the number of layers is' aicb bad.txt
sed 's/^1$/2/' micro.txt >bad.txt
refused "fewer layers than it says" 'the file ends here: expected the name of a layer' aicb bad.txt
finish
