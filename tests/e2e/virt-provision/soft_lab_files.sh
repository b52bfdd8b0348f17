#!/bin/bash
# guest-setup/soft-lab runs as root and keeps its files below /var/tmp and /run, where others may have laid links: none is followed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
why=$("$ROOT/guest-setup/soft-lab" --check)
[ -z "$why" ] || { skip "files of the soft lab" no-soft-lab && finish; }

# soft-lab with an image that is not built: its command starts no guest
TREE=$SCRATCH/tree
mkdir -p "$TREE" "$SCRATCH/image" "$SCRATCH/tmp"
cp "$ROOT/guest-setup/soft-lab" "$TREE/"
[ ! -f "$ROOT/guest-setup/scratch.bash" ] || cp "$ROOT/guest-setup/scratch.bash" "$TREE/"
touch "$SCRATCH/image/complete"
printf '#!/bin/sh\necho %s\n' "$SCRATCH/image" >"$TREE/build-image"
chmod +x "$TREE/build-image"
chmod 1777 "$SCRATCH/tmp"
echo precious >"$SCRATCH/precious"

# what another user may lay: a lock in /run/lock, and folders that look like a killed lab's
mkdir -p "$SCRATCH/tmp/soft-lab.evil" "$SCRATCH/tmp/soft-lab.killed" "$SCRATCH/elsewhere"
chmod 700 "$SCRATCH/tmp/soft-lab.killed"
ln -s "$SCRATCH/precious" "$SCRATCH/tmp/soft-lab.evil/lock"
chown -R nobody "$SCRATCH/tmp/soft-lab.evil"
ln -s "$SCRATCH/elsewhere" "$SCRATCH/tmp/soft-lab.link"
# shellcheck disable=SC2016,SC2317 # the inner shell expands it; check_exit calls it
lab() {
    TMPDIR=$SCRATCH/tmp timeout 100 unshare --mount bash -c 'mount -t tmpfs -o mode=755 tmpfs /run && mkdir -m 1777 /run/lock &&
        ln -s "$1/precious" /run/lock/soft-lab && exec "$1/tree/soft-lab" true' - "$SCRATCH"
}
check_exit 0 "a lab is made beside what others laid" lab
check "nothing was written through a link" test "$(cat "$SCRATCH/precious")" = precious
check "another user's folder is left alone" test -L "$SCRATCH/tmp/soft-lab.evil/lock"
check "what a link leads to is left alone" bash -c "[ -d '$SCRATCH/elsewhere' ] && [ ! -e '$SCRATCH/elsewhere/lock' ]"
check "what a killed lab left is removed" test ! -e "$SCRATCH/tmp/soft-lab.killed"
chmod 777 "$SCRATCH/tmp"
check_exit 3 "a folder in which others could exchange the lab's is refused" lab
check_says "... with a sentence" 'tmp is not safe to keep files in: other users may write to .*set TMPDIR' "$SCRATCH/err"
finish
