# shellcheck shell=bash
# Two hosts of an ssh lab (tests/e2e/harness/ssh_hosts.bash) with a stand-in for a traffic tool, whose programs are in the folder $TOOL. The
# stand-in does what $TOOL/mode says, and writes its command lines to $TOOL/commands. Source this after tests/e2e/lib.sh, with TOOL set; set R,
# the result.json that `holds` looks at.
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
check_exit 0 "programs are installed" "$H" install --lab "$LAB"
mkdir -p "$SCRATCH/programs" "$TOOL"
stand_in_traffic "$SCRATCH/programs"
ln "$SCRATCH/bin"/{nic-sampler,nic-config} "$SCRATCH/programs/"
make_tool() { # STAND-IN PROGRAM...
    local name
    for name in "${@:2}"; do cp "$ROOT/tests/e2e/traffic/$1" "$TOOL/$name"; done
}

mode() { echo "$*" > "$TOOL/mode"; }
# go CODE WHAT FILE [OPTION...]: a run of $SCRATCH/FILE.json
go() {
    rm -f "$TOOL/commands"
    check_exit "$1" "$2" "$H" run "$SCRATCH/$3.json" --out "$OUT" --no-report --lab "$LAB" "${@:4}"
}
# shellcheck disable=SC2317 # called through check
holds() { jq -e "$1" "${2:-$R}"; }
same() { if [ "$2" = "$3" ]; then ok "$1"; else nok "$1" "$2, expected $3"; fi; }
fails() { # WHAT MODE REASON FILE: the run ends with exit code 3 and this reason
    mode "$2"
    go 3 "$1" "$4"
    jq -r .reason "$R" > "$SCRATCH/reason"
    check_says "... the reason" "$3" "$SCRATCH/reason"
}
# begin FILE: a run that lasts, in the background, process $run; two processes of the tool have begun
begin() {
    mode long
    rm -f "$TOOL/commands"
    "$H" run "$SCRATCH/$1.json" --lab "$LAB" --out "$OUT" --no-report --set phases.measure=60s > "$SCRATCH/out" 2> "$SCRATCH/err" &
    # shellcheck disable=SC2034 # the tests use it
    run=$!
    for _ in $(seq 200); do [ "$(grep -c . "$TOOL/commands" 2> /dev/null)" != 2 ] || break; sleep 0.1; done
}
refused() { # FILE PATTERN OPTION...: what the tool cannot do is said before a host is reached
    check_exit 2 "refused: ${*:3}" "$H" check "$SCRATCH/$1.json" --lab "$LAB" "${@:3}"
    check_says "... says why" "$2" "$SCRATCH/err"
}
