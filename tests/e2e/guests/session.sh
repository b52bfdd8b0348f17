#!/bin/bash
# An ordinary user's own libvirt (qemu:///session): guests without root, bridges or libvirtd of the system.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"

# short: libvirt puts sockets below the home, and a path of a socket has 108 bytes at most
MINE=$(mktemp -d /tmp/hs.XXXXXX)
chmod 755 "$MINE"
mkdir -m 700 "$MINE/run" "$MINE/h"
jq '.name = "mine" | .uri = "qemu:///session"' "$ROOT/labs/soft-pair.json" > "$MINE/mine.json"
mkdir -p "$MINE/tree/build"
cp "$BUILD"/{virt-provision,nic-sampler,roce-traffic,nic-config,host-facts} "$MINE/tree/build/"
cp -r "$ROOT/guest-setup" "$MINE/tree/"
chown -R 65534:65534 "$MINE/run" "$MINE/h"
as_user() {
    setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CONFIG_HOME -u LIBVIRT_DEFAULT_URI HOME="$MINE/h" XDG_RUNTIME_DIR="$MINE/run" \
        XDG_STATE_HOME="$MINE/h/state" HARNESS_IMAGES="$("$ROOT/guest-setup/build-image" --cache)" "$@"
}
vp() { as_user "$MINE/tree/build/virt-provision" --lab "$MINE/mine.json" "$@"; }
# shellcheck disable=SC2317 # at_exit calls it
put_away() {
    vp -q destroy
    as_user virsh -q -c qemu:///session list --name 2> /dev/null | grep -q . && echo "# a guest is left"
    rm -rf "$MINE"
}
at_exit put_away

check_exit 0 "guests are built without root" vp rebuild
check "they are the user's" test "$(pgrep -c -u 65534 qemu-system)" -ge 2
check "and not the system's" test -z "$(virsh -q -c qemu:///system list --name | grep mine)"
check "ssh goes through a port of the machine's loopback" test "$(vp status --json 2> /dev/null | jq -r '.hosts[0].address')" = 127.0.0.1
check "the link between them carries packets" vp -q ssh a -- ping -c 2 -W 5 10.0.0.2
check "large ones too" vp -q ssh a -- ping -c 2 -W 5 -M 'do' -s 4000 10.0.0.2
check_exit 0 "they are removed" vp destroy
check "nothing is left" test -z "$(find "$MINE/h" -name '*.qcow2' -o -name 'id_ed25519')"
finish
