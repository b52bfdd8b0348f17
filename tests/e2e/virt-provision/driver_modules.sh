#!/bin/bash
# The mlx5 drivers that a user names for guests with a virtual ConnectX (HARNESS_MLX5_MODULES): what guest-setup/pack-modules packs and refuses.
# Modules here are no more than what modinfo reads. Guests that load them: tests/e2e/guests/virtual_modules.sh.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "the drivers of a folder" modinfo tar
has_compiler || { skip "the drivers of a folder" no-compiler && finish; }

RELEASE=6.1.0-99-amd64
FOLDER=$SCRATCH/drivers
ARCHIVE=$SCRATCH/mlx5-modules.tar
module() { # PATH RELEASE
    echo "const char magic[] __attribute__((section(\".modinfo\"))) = \"vermagic=$2 SMP preempt mod_unload modversions \";" > "$SCRATCH/module.c"
    compile -c -o "$1" -x c "$SCRATCH/module.c"
}
# shellcheck disable=SC2317 # called through check_exit
# What a run before this one left is not taken for this one's.
pack() { echo old > "$ARCHIVE" && HARNESS_MLX5_MODULES=$FOLDER "$ROOT/guest-setup/pack-modules" "$RELEASE" "$ARCHIVE"; }
refused() { # WHAT REASON
    check_exit 3 "refused: $1" pack
    check_says "... with the folder and the reason" "^pack-modules: HARNESS_MLX5_MODULES=$FOLDER: $2" "$SCRATCH/err"
    check "... and in one sentence" test "$(wc -l < "$SCRATCH/err")" = 1
    check "... nothing was packed" test ! -e "$ARCHIVE"
}

refused "a folder that is not there" 'there is no such folder$'
mkdir "$FOLDER"
refused "a folder without drivers" "it has no mlx5_core.ko; expected .*built for kernel $RELEASE$"
module "$FOLDER/mlx5_core.ko" $RELEASE
refused "one driver without the other" 'it has no mlx5_ib.ko'
module "$FOLDER/mlx5_ib.ko" $RELEASE
module "$FOLDER/ib_core.ko" 5.14.0-503.11.1.el9_5.x86_64
refused "a module for another kernel" "ib_core.ko was built for kernel 5.14.0-503.11.1.el9_5.x86_64, the guests have $RELEASE: "
module "$FOLDER/ib_core.ko" ${RELEASE}x
refused "a kernel whose name only begins the same" "ib_core.ko was built for kernel ${RELEASE}x, the guests have $RELEASE: "
echo "no module" > "$FOLDER/ib_core.ko"
refused "what is no module" 'ib_core.ko is not a kernel module$'

module "$FOLDER/ib_core.ko" $RELEASE
echo "notes" > "$FOLDER/README"
check_exit 0 "drivers for the guests' kernel" pack
check "... all modules are packed, and nothing else" test "$(tar -tf "$ARCHIVE" | tr '\n' ' ')" = "ib_core.ko mlx5_core.ko mlx5_ib.ko "
check "... whole" cmp "$FOLDER/mlx5_ib.ko" <(tar -xOf "$ARCHIVE" mlx5_ib.ko)
mv "$ARCHIVE" "$SCRATCH/first.tar"
touch "$FOLDER"/*
check_exit 0 "the same again, touched meanwhile" pack
check "... is the same archive" cmp "$ARCHIVE" "$SCRATCH/first.tar"
FOLDER=
check_exit 0 "no folder" pack
check "... an archive without a module" test -z "$(tar -tf "$ARCHIVE")"
finish
