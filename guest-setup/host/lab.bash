# shellcheck shell=bash disable=SC2154 # the script that sources this sets here and lab, and has fail
# Values of a lab, for the scripts of this folder, which source this file. Scripts read labs only through `harness lab get`: it
# checks the whole lab first, each value is one line, and the shell evaluates nothing that stands in a document.

# The programs: those that HARNESS_PROGRAMS names, those of the source tree, or the installed ones.
for programs in "${HARNESS_PROGRAMS:-}" "$here/../../build" "$here/../../../../bin"; do
    [[ -z $programs || ! -x $programs/harness ]] || { PATH=$programs:$PATH && break; }
done

# lab_get PATH...: values of the lab $lab. To be used as VARIABLE=$(lab_get ...), so that the script ends when the lab is wrong.
lab_get() {
    local status=0
    command -v harness >/dev/null || fail 2 "the program harness is missing: build it (make)"
    harness lab get "$lab" "$@" || status=$?
    [[ $status == 0 ]] || exit 2
}

# is_number WORD: digits, which shell arithmetic may use.
is_number() { [[ $1 =~ ^[0-9]{1,15}$ ]]; }
