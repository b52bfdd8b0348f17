#!/bin/bash
# The tests themselves: with programs and scripts that do nothing, ending with 0 or with 1, every end-to-end test fails. A test that
# passes, or that is skipped, would not see that the project is broken. broken.sh WORD... tries the tests whose file name contains one of WORDs.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

WORDS=$(IFS='|' && echo "$*")
TREE=$SCRATCH/tree
mkdir -p "$TREE/build" "$TREE/tests"
for part in "$ROOT"/*; do
    case ${part##*/} in
    build | tests | guest-setup | patches | results) ;;
    *) ln -s "$part" "$TREE/" ;;
    esac
done
cp -r "$ROOT/guest-setup" "$ROOT/patches" "$TREE/"
cp -r "$ROOT/tests/e2e" "$ROOT/tests/kmod" "$ROOT/tests/data" "$TREE/tests/"
mkdir "$TREE/path" # with a make, so that no test builds the programs anew
mapfile -t PROGRAMS < <(cd "$TREE" && echo path/make && find guest-setup patches -type f -perm -u+x && printf 'build/%s\n' harness virt-provision nic-config nic-sampler host-facts roce-traffic)

# helpers.sh runs no program of the project: it tests lib.sh. Those that first make packages for a minute are run once.
tests_without_guests() { # STATUS
    (cd "$TREE" && ls tests/e2e/*/*.sh) | grep -v "tests/e2e/guests/\|/broken.sh\$\|/programs/helpers.sh\$" | grep -E "${WORDS:-.}" | if [ "$1" = 0 ]; then grep -v '/packages.sh$\|/rehearsal.sh$'; else cat; fi
}

# What a skip would be right for anyway is left out: the test is not run on this machine.
skipped_here() { grep -qE '^1\.\.1$' "$1" && grep -qE '^ok 1 - .* # SKIP' "$1" && grep -qE '# SKIP .*(is not installed|cannot be made here|is missing|it needs root|no overlayfs|no NVIDIA GPU|preloaded)' "$1"; }

for status in 0 1; do
    for program in "${PROGRAMS[@]}"; do
        printf '#!/bin/sh\nexit %s\n' "$status" > "$TREE/$program"
        chmod +x "$TREE/$program"
    done
    for test in $(tests_without_guests $status); do
        log=$SCRATCH/log
        PATH=$TREE/path:$PATH STOP_AT_FAILURE=1 BUILD=$TREE/build timeout --kill-after=5 100 "$TREE/$test" > "$log" 2>&1 < /dev/null
        code=$?
        if skipped_here "$log"; then
            echo "# $test is not run here: $(grep -m 1 SKIP "$log")"
        elif [ $code = 0 ]; then
            nok "$test fails with programs that only end with $status" "$(cat "$log")"
        else
            ok "$test fails with programs that only end with $status"
        fi
    done
done
finish
