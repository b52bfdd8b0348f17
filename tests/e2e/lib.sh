# shellcheck shell=bash
# Helpers for end-to-end tests: source this first. A test prints TAP, works in $SCRATCH, and leaves nothing behind.
#   ok "what holds"                    a passed check          nok "what should hold" ["why"]   a failed one
#   skip "what" REASON [WORD...]       a check that cannot be made here; REASON is one of skip_reason's, and must hold
#   skip_unless "what" COMMAND...      ends the test with a skip when one of these programs is not installed
#   check "what" COMMAND ARG...        passes when the command succeeds; its output is shown when it does not
#   check_exit CODE "what" COMMAND...  passes on that exit code; output is kept in $SCRATCH/out and $SCRATCH/err
#   check_says "what" PATTERN FILE     passes when the extended regular expression is found in FILE
#   until_true SECONDS COMMAND...      waits until the command succeeds; fails when it has not in that time
#   forget_files RESULT...            these folders of runs get a result.json without the list of their files, which then may be changed
#   shorten_cells SCENARIO            CELLS: options of a run that take from its choices the phases, and when flows begin and end, so that all cells are short
#   at_exit COMMAND ARG...             run when the test ends, however it ends (last first)
#   finish                             the plan line; the test's last command
# With STOP_AT_FAILURE set, the first failed check ends the test.
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}") # sanitized programs: BUILD=build/sanitize
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/harness-test.XXXXXX")
TAP_COUNT=0
TAP_FAILED=0
AT_EXIT=()
export ROOT BUILD SCRATCH
# Tests never see the user's own configuration or choice of lab.
export XDG_CONFIG_HOME=$SCRATCH/config XDG_STATE_HOME=$SCRATCH/state
unset HARNESS_LAB

run_at_exit() {
    local status=$? i
    for ((i = ${#AT_EXIT[@]} - 1; i >= 0; i--)); do
        eval "${AT_EXIT[i]}" || true
    done
    rm -rf "$SCRATCH"
    exit "$status"
}
trap run_at_exit EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

at_exit() { AT_EXIT+=("$(printf '%q ' "$@")"); }

forget_files() {
    local run
    for run; do
        jq 'del(.files)' "$run/result.json" >"$SCRATCH/.result.json" && cat "$SCRATCH/.result.json" >"$run/result.json"
    done
}

shorten_cells() {
    CELLS=()
    # shellcheck disable=SC2034 # for who calls it
    ! grep -q '"phases[.]measure": \[' "$1" ||
        CELLS=(--set "sweep=$(jq -c '.sweep | del(.zip[]["phases.measure", "phases.warmup"]) | walk(if type == "object" then del(.start, .stop) else . end)' "$1")")
}

ok() {
    TAP_COUNT=$((TAP_COUNT + 1))
    echo "ok $TAP_COUNT - $1"
}

nok() {
    TAP_COUNT=$((TAP_COUNT + 1))
    TAP_FAILED=$((TAP_FAILED + 1))
    echo "not ok $TAP_COUNT - $1"
    [ -z "${2:-}" ] || printf '%s\n' "$2" | tail -n 25 | sed 's/^/#   /'
    [ -z "${STOP_AT_FAILURE:-}" ] || exit 1
}

# The C compiler may be several words ("ccache cc").
has_compiler() { local cc=${CC:-cc}; command -v "${cc%% *}" >/dev/null; }
compile() { ${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$@"; }
compile_preload() { compile -shared -fPIC -o "$@"; } # LIBRARY SOURCE [WORD...]

# The only reasons for which a check may be left out: prints the sentence, and fails when the reason does not hold here.
skip_reason() { # REASON [WORD...]
    local reason=$1
    shift
    case $reason in
    no-root) echo "it needs root" && [ "$(id -u)" != 0 ] ;;
    root) echo "root may read everything" && [ "$(id -u)" = 0 ] ;;
    no-user) echo "there is no user $1" && ! id "$1" ;;
    no-namespaces) echo "namespaces cannot be made here" && ! unshare --mount --net --pid --fork true ;;
    no-nf-tables) echo "the kernel has no nf_tables with the family netdev" && ! unshare --net nft add table netdev x ;;
    no-overlayfs) echo "the kernel has no overlayfs" && ! grep -qw overlay /proc/filesystems ;;
    no-command) echo "$1 is not installed (deps/install-packages check lint soft-lab rocky-lab)" && ! PATH=$PATH:/usr/sbin:/sbin command -v "$1" ;;
    no-module) echo "Python has no module $1" && ! python3 -c "import $1" ;;
    no-compiler) echo "there is no C compiler" && ! has_compiler ;;
    no-file) echo "$1 is missing${2:+ ($2)}" && [ ! -e "$1" ] ;;
    no-browser) echo "there is no Chromium here (deps/install-packages browser)" && ! (source "$ROOT/tests/e2e/reports/browser.bash" && find_browser) ;;
    no-page-library) cat "$1/not-fetched" && [ ! -e "$1/version" ] ;;
    no-soft-lab) why=$("$ROOT/guest-setup/soft-lab" --check) && echo "no soft lab can be made here: $why" && [ -n "$why" ] ;;
    no-rdma-device) echo "there is no RDMA device here" && [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] ;;
    no-gpu) echo "there is no NVIDIA GPU here" && [ ! -e /dev/nvidia0 ] ;;
    # what a GPU's driver offers is the driver's choice; the test shows what it said
    gpu) echo "there is an NVIDIA GPU here${1:+: $1}" && [ -e /dev/nvidia0 ] ;;
    kernel-has-red) echo "this kernel has sch_red" && unshare --net tc qdisc add dev lo root red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10mbit ;;
    guest-kernel-lacks) echo "the guest's kernel has no $1" && ! softlab_ssh sw "modprobe -nq $1" </dev/null ;;
    guest-loads-no) echo "$2 of the guest's kernel does not load beside the drivers of HARNESS_MLX5_MODULES" && ! softlab_ssh "$1" "modprobe $2" </dev/null ;;
    sanitized) echo "nothing can be preloaded into sanitized programs" && grep -q __asan_init "$1" ;;
    # the witness beside the program (collectors/pace.bash) lost the processor too
    busy) echo "this machine was too busy: $2" && [ "$1" -gt 0 ] ;;
    *) echo "\"$reason\" is not one of the reasons in tests/e2e/lib.sh" && false ;;
    esac 2>/dev/null
}

skip() {
    local what=$1 why
    shift
    if why=$(skip_reason "$@" | head -n 1; exit "${PIPESTATUS[0]}"); then
        TAP_COUNT=$((TAP_COUNT + 1))
        echo "ok $TAP_COUNT - $what # SKIP $why"
    else
        nok "$what" "skipped for a reason that does not hold here: $* (${why:-no sentence})"
    fi
}

skip_unless() {
    local what=$1 tool
    shift
    for tool in "$@"; do
        [ -n "$(PATH=$PATH:/usr/sbin:/sbin command -v "$tool")" ] || { skip "$what" no-command "$tool" && finish; }
    done
}

# A copy of what make built in build/, as FOLDER, for a make with another PREFIX and B=FOLDER: the programs in build/ stay as they are.
build_apart() { # FOLDER
    mkdir -p "$1"
    (cd "$ROOT/build" && find . -maxdepth 1 -type f -print0 && find .debug o -type f ! -path 'o/tests/*' -print0) |
        flock "$ROOT/build" tar -C "$ROOT/build" --null --no-recursion -T - -cf - | tar -C "$1" -xf -
}

check() {
    local what=$1
    shift
    # into a file: the pipe of a substitution is waited for until processes that the command leaves have ended too. A subshell in its place
    # would have no coprocess.
    if _=$(exec >"$SCRATCH/.checked" 2>&1 && "$@"); then
        ok "$what"
    else
        nok "$what" "$* -> $? : $(cat "$SCRATCH/.checked")"
        said_last
    fi
}
# The end of what was kept of the latest program, which may be why a check of its files failed.
said_last() {
    local of
    for of in out err; do
        [ ! -s "$SCRATCH/$of" ] || tail -n 4 "$SCRATCH/$of" | cut -c 1-300 | sed "s/^/#   ($of) /"
    done
}

check_exit() {
    local wanted=$1 what=$2 code
    shift 2
    "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    code=$?
    if [ "$code" = "$wanted" ]; then
        ok "$what"
    else
        nok "$what" "exit code $code, expected $wanted: $*
$(tail -n 10 "$SCRATCH/out" "$SCRATCH/err")"
    fi
}

check_says() {
    local what=$1 pattern=$2 file=$3
    if grep -qE -- "$pattern" "$file"; then ok "$what"; else nok "$what" "no /$pattern/ in: $(tail -n 15 "$file")"; fi
}

until_true() { # SECONDS COMMAND...
    local tries=$(($1 * 20))
    shift
    while [ $tries -gt 0 ]; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
        tries=$((tries - 1))
    done
    return 1
}

finish() {
    echo "1..$TAP_COUNT"
    exit $((TAP_FAILED > 0 || TAP_COUNT == 0)) # a test that makes no check says nothing
}
