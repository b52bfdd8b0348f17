#!/bin/bash
# burn-in on hosts over ssh: the stage of nvbandwidth, which is a stand-in that prints what version 0.8 printed of two H200.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
cd "$SCRATCH" || exit 2
TOOL=$SCRATCH/nvbandwidth-stand-in
answer() { # HOST TO-GPU-0 TO-GPU-1 [STATUS]: what the host's program prints
    jq -n --arg zero "$2" --arg one "$3" --arg status "${4:-Passed}" '{nvbandwidth: {"Driver Version": "580.159.04", version: "v0.8",
        "GPU Device list": ["0: NVIDIA H200 (00000000:00:06): (\("x"))", "1: NVIDIA H200 (00000000:00:07): (x)"],
        testcases: [{name: "host_to_device_memcpy_ce", status: $status, bandwidth_matrix: [[$zero, $one]]},
                    {name: "device_to_device_memcpy_read_ce", status: "Waived"}]}}' > "$SCRATCH/$1.answer"
}
cat > "$TOOL" << END
#!/bin/bash
host=a
! ip -4 addr show data0 | grep -q 10.9.0.2/ || host=b
echo "\$host \$*" >> $SCRATCH/asked
cat $SCRATCH/\$host.answer
END
chmod +x "$TOOL"
jq --arg tool "$TOOL" '.name = "two" | .hosts.a.gpu = {} | .hosts.b.gpu = {} | .nvbandwidth = $tool' "$LAB" > two.json
go() { # STATUS WHAT ARGUMENT...
    check_exit "$1" "$2" "$H" burn-in two.json --stages nvbandwidth --no-report --out "$OUT" "${@:3}"
    D=$OUT/burn-in-two/latest/burn-in.json
}
holds() { jq -e "$1" "$D"; }
answer a 54.5587 54.6406
answer b 54.2 54.4
go 0 "four GPUs that copy the same"
check "... each machine was asked once, for all tests" test "$(sort asked)" = "$(printf '%s -j -t host_to_device_memcpy_ce device_to_host_memcpy_ce device_to_device_memcpy_read_ce\n' a b)"
check "... their figures are in the document" holds '.nvbandwidth.a.tests.host_to_device_memcpy_ce == [[54.5587, 54.6406]] and .nvbandwidth.b.version == "v0.8"'
check "... what was waived too" holds '.nvbandwidth.a.waived == ["device_to_device_memcpy_read_ce"]'
check "... which its schema knows" "$H" burn-in two.json -n --baseline "$OUT/burn-in-two/latest"
cp -rL "$OUT/burn-in-two/latest" accepted
answer b 27.1 54.4
go 1 "one has half of its lanes"
check "... is named" holds '[.findings[] | .kind + " " + .culprit] == ["gpu-slow b GPU 0"]'
check_says "... and printed, with the figure" '^b GPU 0: host_to_device_memcpy_ce 27.1 GB/s, and others like it 54' out
go 1 "the same beside a baseline" --baseline accepted
answer b "54.4" "54.4" ERROR
go 1 "a test that could not be run"
check "... is not a figure, and not good" holds '.verdict == "failed" and (.nvbandwidth.b | has("tests") | not) and (.unknown | any(test("copies of b.s GPUs: .*has status .ERROR")))'
echo "Segmentation fault" > b.answer
go 1 "a program that says something else"
check "... is told of" holds '.unknown | any(test("copies of b.s GPUs: "))'
jq '.nvbandwidth = "/nowhere/nvbandwidth"' two.json > none.json && mv none.json two.json
go 4 "hosts without it"
check "... are skipped by name" holds '(.stages[] | select(.name == "nvbandwidth") | .verdict + ": " + .reason) == "skipped: no host has it"'
check "... and told of" holds '.notes | map(test("nvbandwidth is not on the host")) == [true, true]'
finish
