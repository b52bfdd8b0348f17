#!/bin/bash
# make install, into a folder of its own: programs find what was installed with them, wherever that is; uninstall leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "make install" make tar

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
    check "$program runs" "$there/bin/$program" --version
    check "$program has its completion" bash -c "source '$there/share/bash-completion/completions/$program' && complete -p $program"
    check "$program has its manual" test -s "$there/share/man/man1/$program.1"
done
check "the exporter's unit starts the installed program" grep -q '^ExecStart=/opt/lab/bin/nic-sampler ' "$there/lib/systemd/system/nic-sampler@.service"
while read -r document; do
    check "a document that manuals cite: $document" test -s "$TO$document"
done < <(cat "$there"/share/man/man?/*.[15] | grep -oE '/opt/lab/share/doc/harness/[a-z-]+[.]md' | sort -u)
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
