#!/bin/bash
# make install, into a folder of its own: programs find what was installed with them, wherever that is; uninstall leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "make install" make tar jq

VERSION=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")
PROGRAMS="harness virt-provision nic-config nic-sampler host-facts roce-traffic"
TO=$SCRATCH/image
# shellcheck disable=SC2317 # called through check_exit
installs() { make --no-print-directory -C "$ROOT" "$@" B="$SCRATCH/build" DESTDIR="$TO" PREFIX=/opt/lab; }
contents() { (cd "$TO" && find . | sort); }

build_apart "$SCRATCH/build"
mkdir -p "$TO/opt/lab/share/man/man1"
touch "$TO/opt/lab/share/man/man1/other.1"
contents >"$SCRATCH/before"
(umask 077 && installs install) >"$SCRATCH/out" 2>&1
check "make install DESTDIR=... PREFIX=..." test $? = 0
check "what was installed is readable whatever the umask was" test -z "$(find "$TO/opt/lab" ! -perm -0444 -o -type d ! -perm -0555)"
check "nothing goes beside the prefix" test "$(cd "$TO" && echo *)/$(cd "$TO/opt" && echo *)" = opt/lab

there=$TO/opt/lab
for program in $PROGRAMS; do
    check "$program says the Makefile's version" test "$("$there/bin/$program" --version | head -n 1 | cut -d' ' -f1,2)" = "$program $VERSION"
    check "$program has its completion" bash -c "source '$there/share/bash-completion/completions/$program' && complete -p $program"
    check "... in zsh and fish" test -s "$there/share/zsh/site-functions/_$program" -a -s "$there/share/fish/vendor_completions.d/$program.fish"
    check "$program has its manual" test -s "$there/share/man/man1/$program.1"
done
check "the exporter's unit starts the installed program" grep -q '^ExecStart=/opt/lab/bin/nic-sampler ' "$there/lib/systemd/system/nic-sampler@.service"
while read -r document; do
    check "a document that manuals cite: $document" test -s "$TO$document"
done < <(cat "$there"/share/man/man?/*.[15] | grep -oE '/opt/lab/share/doc/harness/[a-z-]+[.]md' | sort -u)
check "each manual says which version it is of" test "$(grep -lx "[.]Os harness $VERSION" "$there"/share/man/man?/*.[15] | wc -l)" = "$(find "$there/share/man" -name '*.[15]' ! -name other.1 | wc -l)"
release=$(sed -nE 's/^## ([0-9.]+) - [0-9-]{10}$/\1/p' "$ROOT/CHANGELOG.md" | head -n 1)
check "the newest release of the changelog is this version" test "$release" = "$VERSION"
for old in "$VERSION" 0.1.0; do
    check "no other file states $old" test -z "$(cd "$ROOT" && grep -rnE "(^|[^0-9.])${old//./[.]}([^0-9.]|\$)" --exclude-dir=__pycache__ bench collectors deps docs guest-setup harness labs lib \
        nic-config packaging/{build,debian,files,harness.spec,changelog} patches remote reports scenarios sim traffic verify virtual-connectx README.md CONTRIBUTING.md | tee /dev/stderr)"
done
check "no manual cites the source tree" bash -c "! grep -lE '(^|[^/])docs/[a-z-]+[.]md' '$there'/share/man/man?/*.[15]"

cd "$SCRATCH" || exit
check_exit 0 "virt-provision finds its profiles there" "$there/bin/virt-provision" rebuild --lab soft-pair --dry-run
sed -i 's/"title": "Rocky 9.5,/"title": "Installed: Rocky 9.5,/' "$there/share/harness/guest-setup/bundles/rocky-9.5-570.133.20.json"
for lab in geforce-pair geforce-bridge; do
    check_exit 0 "and bundles, for $lab" "$there/bin/virt-provision" rebuild --lab "$lab" --dry-run
    check_says "the installed ones" 'bundle +rocky-9.5-570.133.20: Installed: Rocky' "$SCRATCH/out"
done
library=$ROOT/build/page-library
if [ -e "$library/version" ]; then
    check "the library of report pages is installed, with its licence" \
        test -s "$there/share/harness/page-library/LICENSE" -a -s "$there/share/harness/page-library/uPlot.iife.min.js"
else
    skip "the library of report pages is installed" no-page-library "$library"
fi
check_exit 0 "harness finds its scenarios there" "$there/bin/harness" check pfc-bidir
check_exit 4 "... and runs one" "$there/bin/harness" run pfc-bidir --duration 1ms --set expect=null --set sweep=null --set published=null --no-report --quiet --out "$SCRATCH/results"
check "results, and the lines in them, are of this version" test "$(jq -r .version results/pfc-bidir/latest/result.json) $(head -n 1 results/pfc-bidir/latest/samples.jsonl | jq -r .version)" = "$VERSION $VERSION"
mkdir "$SCRATCH/copied"
cp "$there/bin/virt-provision" "$SCRATCH/copied"
"$SCRATCH/copied/virt-provision" rebuild --lab "$there/share/harness/labs/soft-pair.json" --dry-run >"$SCRATCH/out" 2>&1
check_says "a program copied from there looks in the prefix of this make, not in that of the make before" 'nor in /opt/lab/share/harness$' "$SCRATCH/out"
cp "$there/bin/harness" "$SCRATCH/copied"
mv "$there/share/harness/labs" "$SCRATCH/labs-away"
check_exit 2 "harness list where there are no labs" "$SCRATCH/copied/harness" list
check_says "says where it looked" 'there are no labs: no file ends in [.]json under labs/ in /.*/copied' "$SCRATCH/err"
check "and has no heading over nothing" bash -c "! grep -q '^labs' '$SCRATCH/out'"
mv "$SCRATCH/labs-away" "$there/share/harness/labs"
check "the programs of that make are as they were" grep -q /usr/local "$ROOT/build/harness"

touch "$there/share/harness/guest-setup/mine"
check_exit 0 "a second make install" installs install
check "keeps what is not its own" test -e "$there/share/harness/guest-setup/mine"
rm "$there/share/harness/guest-setup/mine"
check_exit 0 "make uninstall" installs uninstall
check "removes exactly what was installed" diff <(contents) "$SCRATCH/before"
check_exit 2 "make uninstall of nothing" installs uninstall
finish
