#!/usr/bin/env bash
# nic-config makes, changes and removes VLAN interfaces: on this machine's kernel, or with macvlans that stand in for VLANs (vlan.c)
# where the kernel makes none. Every change fails once, and is followed once by SIGKILL; the machine must be as before.
# shellcheck disable=SC2317  # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${1:-}" != --inside ]; then
    if ! unshare --net --mount true 2>/dev/null; then
        skip "VLAN interfaces" no-namespaces
        finish
    fi
    trap - EXIT
    rm -rf "$SCRATCH"
    exec unshare --net --mount --fork --kill-child "$0" --inside
fi
if skip_reason sanitized "$BUILD/nic-config" >/dev/null; then
    skip "VLAN interfaces" sanitized "$BUILD/nic-config" && finish
elif ! has_compiler; then
    skip "VLAN interfaces" no-compiler && finish
fi
library() { compile_preload "$SCRATCH/$1.so" "$(dirname "$0")/$1.c" "${@:2}"; }
check "the libraries are built" eval 'library fault && library vlan -lmnl -ldl'
export VLANS=$SCRATCH/vlans
STANDIN=$SCRATCH/vlan.so
mkdir -p "$VLANS" "$SCRATCH/root/sys" "$SCRATCH/state"
mount -t tmpfs tmpfs "$SCRATCH/state"
at_exit umount "$SCRATCH/state"
ip link add mlx0 type veth peer name mlx1
ip link set mlx0 up
ip link set mlx1 up
if ip link add link mlx0 name mlx0.9 type vlan id 9 2>/dev/null; then
    ip link delete mlx0.9
    STANDIN=
fi

nic_config() { LD_PRELOAD="$STANDIN $FAULTS" "$BUILD/nic-config" --journal "$SCRATCH/state/journal" --root "$SCRATCH/root" "$@"; }
faulty() { FAULT=$1 FAULTS=$SCRATCH/fault.so nic_config "${@:2}"; } # N:WHAT ARGUMENT...
FAULTS=
picture() { ip -j address show | jq -S '[.[] | {ifname, mtu, link, up: (.flags | index("UP") != null), addresses: [.addr_info[] | select(.scope == "global") | .local]}] | sort_by(.ifname)'; }
same_picture() { picture | diff "$SCRATCH/first" -; }
as_read() { nic_config get "$1" | jq -cS ".interfaces[\"$1\"] | {kind, vlan, mtu, up, addresses}"; }

cat >"$SCRATCH/doc.json" <<'JSON'
{ "schema": 1, "interfaces": {
    "mlx0": { "mtu": 4200 },
    "mlx0.100": { "kind": "vlan", "vlan": { "of": "mlx0", "id": 100, "egress": { "0": 3, "3": 3 } },
                  "mtu": 4200, "up": true, "addresses": ["10.0.1.1/24"] } } }
JSON
picture >"$SCRATCH/first"

# ---- made and removed
check_exit 0 "plan" nic_config plan "$SCRATCH/doc.json"
check "plan lists the VLAN" jq -e '.changes | any(.setting == "vlan" and .to.id == 100)' "$SCRATCH/out"
check "plan makes nothing" same_picture
check_exit 0 "set" nic_config set "$SCRATCH/doc.json"
check "the interface is read back with its map, address and MTU" test "$(as_read mlx0.100)" = \
    '{"addresses":["10.0.1.1/24"],"kind":"vlan","mtu":4200,"up":true,"vlan":{"egress":{"0":3,"3":3},"id":100,"of":"mlx0"}}'
check "ip sees it upon mlx0" bash -c "ip -j link show mlx0.100 | jq -e '.[0].link == \"mlx0\" and .[0].mtu == 4200'"
check_exit 0 "diff says that there is no difference" nic_config diff "$SCRATCH/doc.json"
check_exit 0 "restore" nic_config restore
check "restore removes it" same_picture

# ---- one that was there
say() { echo "{\"schema\":1,\"interfaces\":$1}" >"$SCRATCH/$2.json"; }
say '{"mlx0.5":{"kind":"vlan","vlan":{"of":"mlx0","id":5,"egress":{"0":1,"2":2}},"up":true,"addresses":["10.0.5.1/24"]}}' own
nic_config set "$SCRATCH/own.json" >/dev/null && nic_config keep >/dev/null
before=$(as_read mlx0.5)
picture >"$SCRATCH/first"
say '{"mlx0.5":{"vlan":{"of":"mlx0","id":5,"egress":{"0":4,"2":0,"6":6}}}}' map
check_exit 0 "the egress map of an existing VLAN is changed" nic_config set "$SCRATCH/map.json"
check "... 0 is no entry" test "$(nic_config get mlx0.5 | jq -c '.interfaces["mlx0.5"].vlan.egress')" = '{"0":4,"6":6}'
check_exit 0 "restore" nic_config restore
check "restore returns to its map" test "$(as_read mlx0.5)" = "$before"
refused() { # WHAT SETTINGS PATTERN
    say "$2" wrong
    check_exit 3 "$1" nic_config set "$SCRATCH/wrong.json"
    check_says "... is named" "$3" "$SCRATCH/err"
}
refused "another identifier for an existing VLAN" '{"mlx0.5":{"vlan":{"of":"mlx0","id":6}}}' 'mlx0.5: it is VLAN 5 of mlx0, which cannot become VLAN 6'
refused "the removal of a VLAN that nic-config did not make" '{"mlx0.5":{"kind":"absent"}}' 'mlx0.5: a VLAN that nic-config did not create is not removed'
refused "a VLAN without an identifier" '{"mlx0.7":{"kind":"vlan"}}' 'mlx0.7: a VLAN interface needs "vlan": \{"of": INTERFACE, "id": NUMBER\}'
refused "a VLAN of no interface" '{"no.7":{"kind":"vlan","vlan":{"of":"no","id":7}}}' 'VLAN 7 of no: there is no interface no'
check "none of these changed anything" same_picture

# ---- errors and kills
walk() { # ERROR
    local step=0 status bad=""
    while :; do
        step=$((step + 1))
        (faulty "$step:$1" set "$SCRATCH/doc.json") >"$SCRATCH/out" 2>"$SCRATCH/err"
        status=$?
        [ $status != 0 ] || break
        [ "$1" != kill ] || nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err" || bad+="step $step: restore: $(cat "$SCRATCH/err"); "
        same_picture >"$SCRATCH/diff" || bad+="step $step: $(cat "$SCRATCH/diff"); "
        [ ! -e "$SCRATCH/state/journal" ] || bad+="step $step: the journal is left; "
        [ $step -lt 30 ] || break
    done
    nic_config restore >"$SCRATCH/out" 2>&1 || bad+="the last restore failed; "
    same_picture >"$SCRATCH/diff" || bad+="at last: $(cat "$SCRATCH/diff")"
    if [ -z "$bad" ] && [ $step -ge 4 ]; then ok "$1 at each of $((step - 1)) changes leaves the machine as it was"; else nok "$1 at each change leaves the machine as it was" "$step; $bad"; fi
}
walk EPERM
walk kill
walk_restore() {
    local step=0 bad=""
    while :; do
        step=$((step + 1))
        nic_config set "$SCRATCH/doc.json" >/dev/null 2>&1 || bad+="step $step: the set failed; "
        (faulty "$step:kill" restore) >"$SCRATCH/out" 2>&1 && break
        nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err" || bad+="step $step: $(cat "$SCRATCH/err"); "
        same_picture >"$SCRATCH/diff" || bad+="step $step: $(cat "$SCRATCH/diff"); "
        [ $step -lt 30 ] || break
    done
    if [ -z "$bad" ] && [ $step -ge 2 ]; then ok "a restore that was killed after each of $((step - 1)) changes is run again"; else nok "a killed restore is run again" "$step; $bad"; fi
}
walk_restore
finish
