# shellcheck shell=bash
# For tests of packages, after tests/e2e/lib.sh:
#   lay_out_stage           what `make install` installs, of the programs in build/, as $STAGE
#   packages KIND OUT [REVISION [COMMAND...]]     packaging/build over it, run by COMMAND
#   newest_entries          how many entries CHANGELOG.md's newest section with entries has
#   program_of_packages ROOT WHAT...      the main jobs of the programs that were installed in ROOT
#   tree ROOT               its files and folders, without those of the package manager itself
STAGE=$SCRATCH/stage
# shellcheck disable=SC2153 # lib.sh sets ROOT
VERSION=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")
# The last commit is of the day of the last release, later: packages name both.
RELEASED=$(sed -nE 's/^## [^ ]+ - ([0-9-]{10})$/\1/p' "$ROOT/CHANGELOG.md" | head -n 1)
SOURCE_DATE_EPOCH=$(date -u -d "$RELEASED 00:26:40" +%s)
export SOURCE_DATE_EPOCH
DAY=${RELEASED//-/}
UNRELEASED=$VERSION
! awk '/^## / { n = $2 } /^- / { exit n != "Unreleased" }' "$ROOT/CHANGELOG.md" || UNRELEASED=$VERSION+$DAY

lay_out_stage() {
    build_apart "$SCRATCH/build"
    make --no-print-directory -s -C "$ROOT" stage B="$SCRATCH/build" PREFIX=/usr STAGE="$STAGE" >"$SCRATCH/make.log" 2>&1
}

packages() {
    local kind=$1 out=$2 revision=${3:-1}
    "${@:4}" "$ROOT/packaging/build" "$kind" "$STAGE" "$VERSION" "$revision" "$out"
}

newest_entries() { awk '/^## / && n { exit } /^- / { n++ } END { print n }' "$ROOT/CHANGELOG.md"; }

# Another time, folder, umask, locale, time zone and home than the first build's.
otherwise() {
    (
        umask 077
        mkdir -p "$SCRATCH/other/folder/of/another/length"
        find "$STAGE" -exec touch -h -d '2001-02-03' {} +
        chmod -R go-rwx "$STAGE"
        export TMPDIR=$SCRATCH/other/folder/of/another/length LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 TZ=Asia/Tokyo HOME=$SCRATCH/other/home
        "$@"
    )
}

program_of_packages() {
    local root=$1 program
    for program in harness virt-provision nic-config nic-sampler host-facts roce-traffic; do
        check "$program runs" "$root/usr/bin/$program" --version
        check "$program has its manual" test -s "$root/usr/share/man/man1/$program.1.gz"
        check "$program has its completion" test -s "$root/usr/share/bash-completion/completions/$program"
        check "... in zsh" test -s "$root/usr/share/zsh/site-functions/_$program" -o -s "$root/usr/share/zsh/vendor-completions/_$program"
        check "... in fish" test -s "$root/usr/share/fish/vendor_completions.d/$program.fish"
        check "$program has no symbols" sh -c "nm '$root/usr/bin/$program' 2>&1 | grep -q 'no symbols'"
    done
    cd "$SCRATCH" || exit
    check_exit 0 "harness runs a scenario that was installed" timeout 120 "$root/usr/bin/harness" run pfc-bidir --duration 200ms --no-report --quiet --out "$SCRATCH/results"
    check_exit 0 "nic-sampler samples" "$root/usr/bin/nic-sampler" --netdev lo --every 10ms --count 3
    check "so many samples" test "$(grep -c "^\[" "$SCRATCH/out")" = 3
    check_exit 0 "virt-provision finds its profiles" "$root/usr/bin/virt-provision" rebuild --lab soft-pair --dry-run
    check "nothing of the build is there" test -z "$(find "$root" -name '*.o' -o -name '*.debug' -o -name .debug -o -name installed-files)"
}

tree() { (cd "$1" && find . \( -path ./var/lib/dpkg -o -path ./var/lib/rpm -o -path ./usr/lib/sysimage \) -prune -o -printf '%y %p\n' | LC_ALL=C sort); }
