#!/bin/bash
# Guests with mlx5 drivers of a folder that the user names (HARNESS_MLX5_MODULES): here the kernel's own, with a version that tells them from
# those, on host a; b keeps what it has. Without the folder a has the former ones again.
# shellcheck disable=SC2016,SC2317 # what stands in single quotes is the guest's; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
skip_unless "drivers of a folder" objcopy jq

softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-pair

FOLDER=$SCRATCH/drivers
VERSION=99.1-of-a-folder
loaded() { softlab_ssh "$1" 'cat /sys/module/mlx5_core/version 2> /dev/null || echo of the kernel' < /dev/null; }
serves() { # the drivers of a talk to those of b
    softlab_ssh b '(exec roce-traffic serve --listen :: --address 10.0.2.2 > /tmp/serve.out 2>&1 < /dev/null &)
        until grep -qs ready /tmp/serve.out; do sleep 0.2; done' < /dev/null
    softlab_ssh a 'roce-traffic drive 10.0.2.2 --address 10.0.2.1 --depth 4 -o write -s 16KiB -n 8 --validate' < /dev/null > "$SCRATCH/drive"
    softlab_ssh b 'pkill -INT -x roce-traffic; rm /tmp/serve.out' < /dev/null
    jq -se 'map(select(.type == "summary")) | length == 1 and (.[0] | .complete and .errors == 0 and .messages == 8)' "$SCRATCH/drive"
}
# The module as it is, but for its version: modinfo's strings end with a zero.
copy() { # NAME
    softlab_ssh a "cat \$(find /lib/modules/*/kernel -name $1.ko)" < /dev/null > "$FOLDER/$1.ko" &&
        objcopy --dump-section .modinfo="$SCRATCH/strings" "$FOLDER/$1.ko" && printf 'version=%s\0' "$VERSION" >> "$SCRATCH/strings" &&
        objcopy --update-section .modinfo="$SCRATCH/strings" "$FOLDER/$1.ko"
}

before=$(loaded a)
echo "# before: $before"
mkdir "$FOLDER"
for name in mlx5_core mlx5_ib; do check "$name of the guests' kernel, with a version" copy $name; done
check_exit 0 "the folder is named" env HARNESS_MLX5_MODULES="$FOLDER" "$ROOT/guest-setup/build-module"
check_exit 0 "a is rebuilt from its step on" softlab_provision rebuild --quiet --from virtual-connectx a
check "... and has loaded the folder's driver" test "$(loaded a)" = $VERSION
check "... for InfiniBand too" test "$(softlab_ssh a cat /sys/module/mlx5_ib/version < /dev/null)" = $VERSION
check "... its console says which, and from where" grep -qE "lab: roce0's driver is mlx5_core .* of /lib/modules/.*/updates/mlx5/mlx5_core.ko" \
    "/var/lib/libvirt/images/harness-$SOFTLAB/a.console"
softlab_provision status --json > "$SCRATCH/status"
check "... status too" grep -q 'over data0, mlx5_core ' "$SCRATCH/status"
softlab_ssh a host-facts < /dev/null > "$SCRATCH/facts"
check "... host-facts has a driver with a version" jq -e '.nics[] | select(.netdev == "roce0") | .driver == "mlx5_core" and (.driver_version | length > 0)' "$SCRATCH/facts"
check "... b has what it had" test "$(loaded b)" = "$before"
check "... RDMA works between them" serves
check_exit 0 "no folder of this test is named" "$ROOT/guest-setup/build-module"
check_exit 0 "a is rebuilt from its step on" softlab_provision rebuild --quiet --from virtual-connectx a
check "... and has its former driver" test "$(loaded a)" = "$before"
finish
