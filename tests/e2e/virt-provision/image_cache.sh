#!/bin/bash
# The cache of built images: found by the recipe's content; the four that were used last stay, and any that is in use.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

export HARNESS_IMAGES=$SCRATCH/images
TREE=$SCRATCH/tree
RECIPE=$TREE/profiles/little/image
mkdir -p "$RECIPE"
cp "$ROOT"/guest-setup/{build-image,scratch.bash} "$TREE/"
# shellcheck disable=SC2016 # the recipe expands it
printf '#!/bin/sh\necho made >> "$MADE"\necho x > "$1/base.qcow2"\n' > "$RECIPE/build"
chmod +x "$RECIPE/build"
export MADE=$SCRATCH/made

image() { # NUMBER: the image of that recipe; its folder is printed
    echo "$1" > "$RECIPE/number"
    "$TREE/build-image" little 2> "$SCRATCH/err"
}
used_at() { touch -d "2026-01-01 00:00:0$2" "$1/complete"; }
there() { printf '%s' "$([ -d "$1" ] && echo there)"; }

if ! one=$(image 1); then
    nok "the image is made by its recipe" "$(cat "$SCRATCH/err")"
    finish
fi
check "the image is made by its recipe" test -s "$one/base.qcow2"
if ! compile_preload "$SCRATCH/order.so" "$ROOT/tests/e2e/sweeps/sync_order.c"; then
    skip "an image is on the disk before it has its name" no-compiler
else
    rm -rf "$one" "$MADE"
    SYNC_LOG=$SCRATCH/order LD_PRELOAD=$SCRATCH/order.so image 1 > /dev/null
    check "an image is on the disk before it has its name" test "$(sed -E "s,$HARNESS_IMAGES/\.build\.[^/]*,BUILD,; s,$HARNESS_IMAGES,IMAGES,g" "$SCRATCH/order" | tail -n 6 | paste -sd,)" = \
        "sync BUILD/out/base.qcow2,sync BUILD/out/complete,sync BUILD/out/sizes,sync BUILD/out,rename IMAGES/$(basename "$one"),sync IMAGES"
fi
check "the image is found in the cache the second time" test "$(image 1)" = "$one"
check "the image is not built again" test "$(wc -l < "$MADE")" = 1
# an image that is torn is not used
: > "$one/base.qcow2"
check "an image whose disk has lost its content is built again" test "$(image 1) $(wc -l < "$MADE") $(cat "$one/base.qcow2")" = "$one 2 x"
check_says "... which is said" "is not whole and is built again: base.qcow2 has 0 bytes of 2" "$SCRATCH/err"
rm "$one/base.qcow2"
check "... and one that has none" test "$(image 1) $(wc -l < "$MADE")" = "$one 3"
two=$(image 2)
three=$(image 3)
four=$(image 4)
used_at "$one" 1
used_at "$two" 2
used_at "$three" 3
used_at "$four" 4
image 1 > /dev/null # finding it is using it
exec 5< "$three/complete"
flock --shared 5
five=$(image 5)
check "of five recipes the least recently used one is removed" test -z "$(there "$two")"
check "the other images stay in the cache" test "$(there "$one")$(there "$three")$(there "$four")$(there "$five")" = theretheretherethere
image 6 > /dev/null
check "an image in use is not removed" test "$(there "$three")" = there
exec 5<&-
image 7 > /dev/null
check "an image that is no longer in use is removed" test -z "$(there "$three")"

# ---- a recipe that adds to another's image
mkdir -p "$TREE/profiles/more/image"
echo little > "$TREE/profiles/more/image/upon"
# shellcheck disable=SC2016 # the recipe expands it
printf '#!/bin/sh\necho "$3" > "$1/base.qcow2"\n' > "$TREE/profiles/more/image/build"
chmod +x "$TREE/profiles/more/image/build"
# shellcheck disable=SC2016 # the recipe expands it
printf '#!/bin/sh\necho made >> "$MADE"\necho x > "$1/base.qcow2"\necho "$KERNEL" > "$1/kernel-release"\n' > "$RECIPE/build"
more() { KERNEL=$1 "$TREE/build-image" "${@:2}" more 2> "$SCRATCH/err"; }
added=$(more 6.1)
little=$("$TREE/build-image" little)
check "a recipe that adds to another is given that one's image" test "$(cat "$added/base.qcow2")" = "$little"
check "... and its image is found the second time" test "$(more 6.1)" = "$added"
KERNEL=6.2 "$TREE/build-image" --fresh little > /dev/null 2>&1
other=$(more 6.1)
check "... and is another, with another kernel of that one" test -n "$other" -a "$other" != "$added"
image 9 > /dev/null
last=$(more 6.2)
check "... or another recipe" test -n "$last" -a "$last" != "$other"

printf '#!/bin/sh\necho no such package >&2\nexit 1\n' > "$RECIPE/build"
check_exit 3 "a recipe that fails" "$TREE/build-image" little
check_says "the last lines of the failed recipe's output are shown" 'no such package' "$SCRATCH/err"
check_says "the log file of the failed build is named" 'the image of little was not built; the log is .*/little.log' "$SCRATCH/err"
check "a failed build leaves no partial image" test -z "$(find "$HARNESS_IMAGES" -name '.build*')"

# ---- files that somebody else laid
echo precious > "$SCRATCH/precious"
refuses() { # WHAT PATTERN
    check_exit 3 "$1 is refused" "$TREE/build-image" little
    check_says "... with a sentence" "$2" "$SCRATCH/err"
    check "... and nothing is written through it" test "$(cat "$SCRATCH/precious")" = precious
}
ln -sf "$SCRATCH/precious" "$HARNESS_IMAGES/.lock"
refuses "a lock that is a link" '\.lock is not a lock of this user'
ln -f "$SCRATCH/precious" "$HARNESS_IMAGES/.lock"
refuses "a lock with a second name" '\.lock is not a lock of this user'
rm "$HARNESS_IMAGES/.lock"
chmod 777 "$HARNESS_IMAGES"
refuses "a cache that others may write to" 'images is not safe to keep files in: other users may write to .*images'
chmod 755 "$HARNESS_IMAGES"
if [ "$(id -u)" = 0 ]; then
    chown nobody "$HARNESS_IMAGES"
    refuses "another user's cache, as root" 'images is not safe to keep files in: .*images belongs to user nobody'
    mkdir "$HARNESS_IMAGES/mine"
    export HARNESS_IMAGES=$HARNESS_IMAGES/mine
    refuses "a folder in another user's folder, as root" 'images belongs to user nobody'
else
    skip "another user's cache" no-root
fi
finish
