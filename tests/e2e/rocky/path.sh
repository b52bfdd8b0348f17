#!/bin/bash
# The proof of the GPUDirect path: which checks and runs it needs, what is stored, when it becomes invalid. virt-provision and harness are
# stand-ins here that answer as real hosts would; nothing of this ran on a GPU.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "proof of the GPUDirect path" jq

PROVE=$ROOT/guest-setup/host/prove-path
LAB=$ROOT/labs/geforce-pair.json
EVIDENCE=$XDG_STATE_HOME/harness/labs/geforce-pair/gpudirect-path.json
export HARNESS_PROGRAMS=$SCRATCH/programs

# What host-facts on a host prints: driver version and NIC firmware of $1's file, one check.
host_answers() {
    jq -n --arg nvidia "$2" --arg firmware "$3" --arg verdict "${4:-ok}" '{program: "host-facts",
        versions: {kernel: "5.14.0-503.14.1.el9_5.x86_64", mlnx_ofed: "24.10-4.1.4.0", nvidia: $nvidia, cuda: null},
        modules: {nvidia: {version: $nvidia, srcversion: "ABC"}}, nics: [{firmware: $firmware}, {firmware: null}],
        gpus: [{model: "NVIDIA GeForce RTX 3090", vbios: "94.02"}],
        checks: [{check: "bar1", subject: "gpu", verdict: $verdict, reason: "BAR1 has 256 MiB, registration needs 300 MiB", fix: "resize it"}]}' \
        >"$SCRATCH/host-$1.json"
}
# What a run leaves: verdict of the receiver's PCIe expectation, simulated or not, origin.
run_leaves() {
    mkdir -p "$SCRATCH/result"
    jq --arg verdict "$1" --argjson simulated "$2" --arg origin "${3:-measured}" '{simulated: $simulated, origin: $origin, flows: {"a-to-b": {memory: "gpu", memory_used: {kind: "gpu", route: "rm-dmabuf"}}},
        expectations: [.expect[] | {name, verdict: (if .name | startswith("the receiving GPU receives over PCIe") then $verdict else "passed" end)}]}' \
        "$ROOT/scenarios/gpudirect-path.json" >"$SCRATCH/result/result.json"
}
stand_ins() {
    mkdir -p "$HARNESS_PROGRAMS"
    cat >"$HARNESS_PROGRAMS/virt-provision" <<END
#!/bin/bash
[[ "\$1 \$3 \$5 \$6" == "ssh --lab -- host-facts" ]] || exit 2
cat "$SCRATCH/host-\$2.json"
END
    cat >"$HARNESS_PROGRAMS/harness" <<END
#!/bin/bash
[[ \$1 != lab ]] || exec "$BUILD/harness" "\$@"
echo "\$*" >>"$SCRATCH/asked"
[[ ! -d "$SCRATCH/result" ]] || echo '{"result": "$SCRATCH/result"}'
END
    chmod +x "$HARNESS_PROGRAMS"/*
}

stand_ins
host_answers a 570.133.20 14.23.1000
host_answers b 570.133.20 14.23.1000
check_exit 1 "no proof yet" "$PROVE" check --lab "$LAB"
check_says "and how to get one" 'has not been proved yet: prove-path run' "$SCRATCH/err"
run_leaves passed true
check_exit 1 "a simulation proves nothing" "$PROVE" run --lab "$LAB"
run_leaves passed false virtual
check_exit 1 "virtual NICs prove nothing" "$PROVE" run --lab "$LAB"
check "and is not kept" test ! -e "$EVIDENCE"
run_leaves skipped false
check_exit 1 "PCIe counters that were not read prove nothing" "$PROVE" run --lab "$LAB"
check_says "by name" 'skipped: the receiving GPU receives over PCIe at the rate of the wire' "$SCRATCH/err"
run_leaves failed false
check_exit 1 "a path through host memory is not proved" "$PROVE" run --lab "$LAB"
rm -r "$SCRATCH/result"
check_exit 3 "a run without a result" "$PROVE" run --lab "$LAB"
run_leaves passed false
check_exit 0 "a real run with the counters is the proof" "$PROVE" run --lab "$LAB"
check_says "of that scenario on that lab" "run .*scenarios/gpudirect-path.json --lab $LAB" "$SCRATCH/asked"
check_says "with the route that the memory took" 'a-to-b by rm-dmabuf' "$SCRATCH/err"
check "it is kept with versions and expectations" jq -e '.versions.a.nvidia == "570.133.20" and .versions.b.firmware == ["14.23.1000"] and (.expectations | length > 5)' "$EVIDENCE"
check_exit 0 "it holds" "$PROVE" check --lab "$LAB"
check_exit 0 "labs go by name too" "$PROVE" check --lab geforce-pair
host_answers b 570.144 14.23.1000
check_exit 1 "another driver: a new proof is needed" "$PROVE" check --lab "$LAB"
check_says "with what changed" 'now: .*570.144' "$SCRATCH/err"
host_answers b 570.133.20 14.32.1010
check_exit 1 "another firmware: a new proof is needed" "$PROVE" check --lab "$LAB"
host_answers b 570.133.20 14.23.1000 failure
: >"$SCRATCH/asked"
check_exit 1 "a failed check of a host" "$PROVE" run --lab "$LAB"
check_says "is said with its fix" 'host b: bar1: gpu: BAR1 has 256 MiB.*resize it' "$SCRATCH/err"
check "and nothing is run" test ! -s "$SCRATCH/asked"
rm "$SCRATCH/host-b.json"
check_exit 3 "a host that does not answer" "$PROVE" run --lab "$LAB"
check_exit 2 "a lab without GPUs" "$PROVE" run --lab "$ROOT/labs/soft-pair.json"
check_exit 2 "a lab that is not there" "$PROVE" check --lab none
check_exit 2 "no lab" "$PROVE" check
check_exit 2 "no command" "$PROVE"

# the names that the proof stands on are the scenario's
# shellcheck disable=SC2016 # $name is jq's
while read -r name; do
    check "the scenario expects: $name" jq -e --arg name "$name" '[.expect[].name] | index($name) != null' "$ROOT/scenarios/gpudirect-path.json"
done < <(sed -n '/^must=(/,/)$/p' "$PROVE" | grep -o '"[^"]*"' | tr -d '"')
if [[ -x $BUILD/harness ]]; then
    for name in path sweep; do
        check_exit 0 "gpudirect-$name in the simulated lab" timeout 120 "$BUILD/harness" run "$ROOT/scenarios/gpudirect-$name.json" \
            --no-report --quiet --out "$SCRATCH/results" --duration 200ms
    done
fi
finish
