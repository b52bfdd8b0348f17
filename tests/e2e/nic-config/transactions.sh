#!/usr/bin/env bash
# nic-config's transactions on this machine's kernel: interfaces in a network namespace, mlx5's places in a tree laid out after
# MLNX_OFED (drivers/net/ethernet/mellanox/mlx5/core/en_sysfs.c) at one, upstream's at the other. Every write fails once with each error, and is followed once by
# SIGKILL; the machine must be as before.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "${1:-}" != --inside ]; then
    if ! unshare --net --mount true 2> /dev/null; then
        skip "transactions" no-namespaces
        finish
    fi
    trap - EXIT
    rm -rf "$SCRATCH"
    exec unshare --net --mount --fork --kill-child "$0" --inside
fi

nic_config() { "$BUILD/nic-config" --journal "$SCRATCH/state/journal" --root "$SCRATCH/root" "$@"; }
# The same; one change of the machine is answered with an error, or followed by SIGKILL (fault.c).
faulty() { # N:WHAT ARGUMENT...
    FAULT=$1 LD_PRELOAD=$SCRATCH/fault.so nic_config "${@:2}"
}

# ---- the machine ------------------------------------------------------------------------------------------------------

put() { # PATH VALUE
    mkdir -p "$(dirname "$SCRATCH/root/$1")"
    echo "$2" >"$SCRATCH/root/$1"
}

lay_out_tree() {
    local net=sys/class/net/mlx0 point priority pair
    rm -rf "$SCRATCH/root"
    for point in roce_rp roce_np; do
        for priority in 0 1 2 3 4 5 6 7; do put $net/ecn/$point/enable/$priority 1; done
    done
    for pair in clamp_tgt_rate=0 clamp_tgt_rate_after_time_inc=1 rpg_time_reset=300 rpg_byte_reset=32767 rpg_threshold=1 \
        rpg_ai_rate=5 rpg_hai_rate=50 rpg_max_rate=0 rpg_min_dec_fac=50 rpg_min_rate=1 rpg_gd=11 rate_to_set_on_first_cnp=0 \
        dce_tcp_g=1019 dce_tcp_rtt=1 rate_reduce_monitor_period=4 initial_alpha_value=1023; do
        put "$net/ecn/roce_rp/${pair%=*}" "${pair#*=}"
    done
    for pair in min_time_between_cnps=4 cnp_dscp=48 cnp_802p_prio=6; do put "$net/ecn/roce_np/${pair%=*}" "${pair#*=}"; done
    mkdir -p "$SCRATCH/root/sys/devices/0000:41:00.0" "$SCRATCH/root/sys/bus/pci/drivers/mlx5_core"
    ln -s ../../../devices/0000:41:00.0 "$SCRATCH/root/$net/device"
    ln -s ../../bus/pci/drivers/mlx5_core "$SCRATCH/root/sys/devices/0000:41:00.0/driver"
    put sys/class/net/mlx1/speed 25000
    lay_out_upstream
}

# The other interface as upstream's drivers show it: linux drivers/infiniband/hw/mlx5/cong.c, drivers/infiniband/core/cma_configfs.c.
lay_out_upstream() {
    local net=sys/class/net/mlx1 pair
    mkdir -p "$SCRATCH/root/sys/devices/0000:61:00.0/infiniband/mlx5_1"
    ln -s ../../../devices/0000:61:00.0 "$SCRATCH/root/$net/device"
    ln -s ../../bus/pci/drivers/mlx5_core "$SCRATCH/root/sys/devices/0000:61:00.0/driver"
    for pair in rp_clamp_tgt_rate=0 rp_clamp_tgt_rate_ati=1 rp_time_reset=300 rp_byte_reset=32767 rp_threshold=1 rp_ai_rate=5 rp_hai_rate=50 \
        rp_max_rate=0 rp_min_dec_fac=50 rp_min_rate=1 rp_gd=11 rp_rate_to_set_on_first_cnp=0 rp_dce_tcp_g=1019 rp_dce_tcp_rtt=1 \
        rp_rate_reduce_monitor_period=4 rp_initial_alpha_value=1023 np_min_time_between_cnps=2 np_cnp_dscp=48 np_cnp_prio_mode=0 np_cnp_prio=6; do
        put "sys/kernel/debug/mlx5/0000:61:00.0/cc_params/${pair%=*}" "${pair#*=}"
    done
    put sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_tos 0
}

make_machine() {
    lay_out_tree
    ip link add mlx0 type veth peer name far0
    ip link add mlx1 type veth peer name far1
    ip link set mlx0 mtu 1600
    # an interface that was never up has no qdisc yet
    ip link set mlx0 up
    ip link set mlx0 down
    ip link set mlx1 up
}

# With a carrier, nic-config looks at a link for 100 ms after each change that may let it flap; without one it has nothing to wait for.
carrier() { # up or down
    ip link set far0 "$1"
    ip link set far1 "$1"
}

# Everything that a set may change, as other programs see it. A file and what is written to it differ by a newline.
picture() {
    ip -j -d link show | jq -S '[.[] | select(.ifname | startswith("far") | not) | {ifname, mtu, up: (.flags | index("UP") != null), master,
        kind: .linkinfo.info_kind, stp: .linkinfo.info_data.stp_state}] | sort_by(.ifname)'
    tc qdisc show | sed '/ dev far[01] /d; s/refcnt [0-9]*//'
    (cd "$SCRATCH/root" && find . -type f -printf '%p\n' -exec grep -H '' {} + | LC_ALL=C sort)
}

document() {
    cat <<'JSON'
{ "schema": 1, "interfaces": {
    "br-cp": { "kind": "bridge", "mtu": 4200, "up": true },
    "mlx0": { "mtu": 4200, "up": true, "bridge": "br-cp", "ecn": [0],
              "dcqcn": { "rp": { "clamp_tgt_rate": true, "rpg_ai_rate": 40, "rpg_min_rate": 100 },
                         "np": { "min_time_between_cnps": 50, "cnp_dscp": 40 } } },
    "mlx1": { "mtu": 4200, "traffic_class": 106,
              "dcqcn": { "rp": { "rpg_ai_rate": 20, "dce_tcp_g": 1000 }, "np": { "min_time_between_cnps": 0, "cnp_802p_prio": 7 } } } } }
JSON
}

same_picture() { picture | diff "$SCRATCH/first" -; }

# ---- the walks --------------------------------------------------------------------------------------------------------

# Every write in turn answered with an error.
walk_errors() { # ERROR
    local step=0 status bad=""
    while :; do
        step=$((step + 1))
        faulty "$step:$1" set "$SCRATCH/doc.json" >"$SCRATCH/out" 2>"$SCRATCH/err"
        status=$?
        [ $status = 0 ] && break
        [ $status = 3 ] && [ "$(jq .undone "$SCRATCH/out")" = true ] || bad+="step $step: exit $status, $(cat "$SCRATCH/err"); "
        same_picture >"$SCRATCH/diff" || bad+="step $step: $(cat "$SCRATCH/diff"); "
        [ ! -e "$SCRATCH/state/journal" ] || bad+="step $step: the journal is left; "
        [ $step -lt 60 ] || break
    done
    nic_config restore >"$SCRATCH/out" 2>&1 || bad+="the restore after the walk failed; "
    same_picture >"$SCRATCH/diff" || bad+="the restore after the walk left: $(cat "$SCRATCH/diff")"
    STEPS=$((step - 1))
    if [ -z "$bad" ] && [ $STEPS -ge 10 ]; then ok "$1 at each of $STEPS writes leaves the machine as it was"; else nok "$1 at each write leaves the machine as it was" "$STEPS steps; $bad"; fi
}

# SIGKILL after every write; then restore, which is killed after its first write, and run again.
walk_kills() {
    local step status bad=""
    for ((step = 1; step <= STEPS; step++)); do
        (faulty "$step:kill" set "$SCRATCH/doc.json") >"$SCRATCH/out" 2>&1
        status=$?
        [ $status = 137 ] || bad+="step $step: exit $status; "
        nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err" || bad+="step $step: restore: $(cat "$SCRATCH/err"); "
        same_picture >"$SCRATCH/diff" || bad+="step $step: $(cat "$SCRATCH/diff"); "
    done
    if [ -z "$bad" ]; then ok "SIGKILL after each of $STEPS writes, then restore: as it was"; else nok "SIGKILL after each write, then restore: as it was" "$bad"; fi
}

walk_killed_restores() {
    local step=0 status bad=""
    while :; do
        step=$((step + 1))
        nic_config set "$SCRATCH/doc.json" >/dev/null 2>&1 || bad+="step $step: the set failed; "
        (faulty "$step:kill" restore) >"$SCRATCH/out" 2>&1
        status=$?
        [ $status = 0 ] && break
        [ $status = 137 ] || bad+="step $step: exit $status; "
        nic_config restore >"$SCRATCH/out" 2>"$SCRATCH/err" || bad+="step $step: $(cat "$SCRATCH/err"); "
        same_picture >"$SCRATCH/diff" || bad+="step $step: $(cat "$SCRATCH/diff"); "
        [ $step -lt 60 ] || break
    done
    if [ -z "$bad" ] && [ $step -gt 10 ]; then ok "SIGKILL after each of $((step - 1)) writes of a restore, then restore again: as it was"; else nok "a killed restore is run again" "$bad"; fi
}

# ---- one by one -------------------------------------------------------------------------------------------------------

say() { echo "{\"schema\":1,\"interfaces\":$1}"; }

test_applies() {
    check_exit 1 "diff says that the machine differs" nic_config diff "$SCRATCH/doc.json"
    check_exit 0 "plan" nic_config plan "$SCRATCH/doc.json"
    check "plan writes nothing" same_picture
    check_exit 0 "set" nic_config set "$SCRATCH/doc.json"
    # shellcheck disable=SC2016  # jq's variables
    check "every value is read back as wanted" jq -e '. as $o | [$o.wanted.interfaces | paths(scalars)] |
        all(. as $p | ($o.wanted.interfaces | getpath($p)) == ($o.read_back.interfaces | getpath($p)))' "$SCRATCH/out"
    check "OFED's and upstream's places are named" jq -e '[.changes[] | select(.setting == "dcqcn") | .interface + " " + .place] | length == 2 and
        any(test("mlx0 .*MLNX_OFED")) and any(test("mlx1 .*debug/mlx5/0000:61:00.0/cc_params .upstream"))' "$SCRATCH/out"
    check "upstream's files hold it" test "$(cd "$SCRATCH/root/sys/kernel" &&
        grep -h '' debug/mlx5/0000:61:00.0/cc_params/{rp_ai_rate,rp_dce_tcp_g,np_min_time_between_cnps,np_cnp_prio} \
            config/rdma_cm/mlx5_1/ports/1/default_roce_tos | paste -sd,)" = 20,1000,0,7,106
    check "the bridge forwards at once" bash -c "ip -j -d link show br-cp | jq -e '.[0].linkinfo.info_data.stp_state == 0'"
    check "ip sees port and MTU" bash -c "ip -j link show mlx0 | jq -e '.[0].mtu == 4200 and .[0].master == \"br-cp\"'"
    check "ECN is on for priority 0 alone" test "$(cat "$SCRATCH"/root/sys/class/net/mlx0/ecn/roce_np/enable/? | tr -d '\n')" = 10000000
    check_exit 0 "diff says that there is no difference" nic_config diff "$SCRATCH/doc.json"
    check_exit 3 "another set is refused while the journal is open" nic_config set "$SCRATCH/doc.json"
    check_says "the error names restore, keep and --continue" "restore .*or keep.* --continue" "$SCRATCH/err"
}

test_continues() {
    say '{"mlx0":{"mtu":2000,"dcqcn":{"rp":{"rpg_ai_rate":80}}},"mlx1":{"up":false}}' >"$SCRATCH/cell.json"
    check_exit 0 "set --continue for a second cell" nic_config set --continue "$SCRATCH/cell.json"
    check_exit 3 "a third that fails" faulty 2:EIO set --continue "$SCRATCH/doc.json"
    check "a failed set returns to the settings of the second set" bash -c "ip -j link show mlx0 | jq -e '.[0].mtu == 2000' && grep -qx 80 '$SCRATCH/root/sys/class/net/mlx0/ecn/roce_rp/rpg_ai_rate'"
    check_exit 0 "restore" nic_config restore
    check "restore returns to the first state" same_picture
    check "restore lists what it restored" jq -e '.restored | length > 5 and all(has("interface") and has("setting") and has("found") and has("put_back"))' "$SCRATCH/out"
    check_exit 0 "restore again has nothing to do" nic_config restore
    check "restore without a journal restores nothing" jq -e '.restored == [] and (has("since_ns") | not)' "$SCRATCH/out"
}

# Edit the journal's records with sed, and give each its checksum.
edit_journal() { # SCRIPT
    local journal=$SCRATCH/state/journal line body size
    size=$(stat -c %s "$journal")
    while IFS= read -r line; do
        body=$(sed "$1" <<<"${line:9}")
        printf '%s %s\n' "$(printf %s "$body" | gzip -c | tail -c 8 | od -An -tx4 -N4 | tr -d ' ')" "$body"
    done <"$journal" >"$SCRATCH/edited"
    printf '%*s' $((size - $(stat -c %s "$SCRATCH/edited"))) "" >>"$SCRATCH/edited"
    cp "$SCRATCH/edited" "$journal"
}

# The journal after a reboot, torn, of a device that went.
test_journals() {
    local journal=$SCRATCH/state/journal end
    nic_config set "$SCRATCH/doc.json" >/dev/null
    edit_journal 's/"boot":"[^"]*"/"boot":"of-another-time"/'
    end=$(grep -ab '"type":"done"' "$journal" | cut -d: -f1)
    printf '%-80s' '01234567 99 {"type":"write","interface":"mlx0","kn' | dd of="$journal" bs=1 seek="$end" conv=notrunc status=none
    check_exit 0 "restore after a reboot, with the last line torn" nic_config restore
    check "says that the machine was rebooted" jq -e '.rebooted == true' "$SCRATCH/out"
    check "all is as it was" same_picture
    nic_config set "$SCRATCH/doc.json" >/dev/null
    edit_journal 's/"pci":"0000:41:00.0"/"pci":"0000:61:00.0"/'
    check_exit 0 "restore when the name is another device's" nic_config restore
    check "restore leaves that device alone and lists it in gone" jq -e '.gone[0].interface == "mlx0" and (.restored | all(.interface != "mlx0"))' "$SCRATCH/out"
    ip link del mlx0
    ip link del mlx1
    make_machine
    check "(the machine is created again)" same_picture
    echo 'not a journal' >"$journal"
    check_exit 3 "a broken journal is refused" nic_config restore
    check_says "the error names the line of the broken journal" "journal.*line 1" "$SCRATCH/err"
    check_exit 0 "get works with another journal" nic_config --journal "$SCRATCH/none" get mlx0
    rm "$journal"
    mkdir -p "$SCRATCH/state"
    (flock 9 && check_exit 3 "two at a time are refused" nic_config set "$SCRATCH/doc.json") 9>"$journal"
    TAP_COUNT=$((TAP_COUNT + 1))
    rm "$journal"
    check_says "the error says that another nic-config is running" "another nic-config is running" "$SCRATCH/err"
}

# An interface that was given another name, one of another network namespace, another machine's journal.
test_identities() {
    local journal=$SCRATCH/state/journal net=$SCRATCH/root/sys/class/net
    nic_config set "$SCRATCH/doc.json" >/dev/null
    ip link set mlx1 down
    ip link set mlx1 name roce1
    mv "$net/mlx1" "$net/roce1"
    cp "$journal" "$SCRATCH/kept"
    say '{"roce1":{"mtu":1800}}' >"$SCRATCH/more.json"
    check_exit 0 "set --continue under the new name" nic_config set --continue "$SCRATCH/more.json"
    check "... is of the interface that the journal knows" test "$(grep -a -c '"type":"before","interface":"roce1"' "$journal")" = 0
    cp "$journal" "$SCRATCH/kept"
    check_exit 0 "restore after an interface was renamed" nic_config restore
    check "... it was put back under its new name" jq -e '.gone == [] and (.restored | any(.interface == "roce1" and .setting == "mtu" and .put_back == 1500))' "$SCRATCH/out"
    check "... the kernel says so" test "$(ip -j link show roce1 | jq .[].mtu) $(cat "$SCRATCH/root/sys/kernel/debug/mlx5/0000:61:00.0/cc_params/rp_ai_rate")" = "1500 5"
    # names of others in settings: the bridge of a port was renamed, too
    ip link add br-was type bridge
    ip link set roce1 master br-was
    say '{"roce1":{"bridge":""},"br-was":{"mtu":1400}}' >"$SCRATCH/bridge.json"
    nic_config set "$SCRATCH/bridge.json" >"$SCRATCH/out" 2>&1
    ip link set br-was name br-now
    check_exit 0 "restore of a port whose bridge was renamed" nic_config restore
    check "... it is its port again" test "$(ip -j link show roce1 | jq -r '.[].master')" = br-now
    ip link del br-now
    # without a PCI function the index tells, and the address that it came back
    ip link add anew type bridge
    ip link set anew address 02:00:00:00:00:21
    say '{"anew":{"mtu":1400}}' >"$SCRATCH/anew.json"
    nic_config set "$SCRATCH/anew.json" >"$SCRATCH/out" 2>&1
    ip link del anew
    ip link add anew mtu 9000 address 02:00:00:00:00:22 type bridge
    cp "$journal" "$SCRATCH/of-anew"
    check_exit 0 "restore when the name is that of another interface without a PCI function" nic_config restore
    check "... it is left alone, and gone" test "$(ip -j link show anew | jq .[].mtu) $(jq -c '[.gone[].interface]' "$SCRATCH/out")" = '9000 ["anew"]'
    ip link set anew address 02:00:00:00:00:21
    cp "$SCRATCH/of-anew" "$journal"
    check_exit 0 "restore of one that came back" nic_config restore
    check "... has its MTU again" test "$(ip -j link show anew | jq .[].mtu)" = 1500
    ip link del anew
    # after a boot, when indexes are others', the PCI function tells
    ip link set roce1 mtu 4200
    cp "$SCRATCH/kept" "$journal"
    edit_journal 's/"boot":"[^"]*"/"boot":"of-another-time"/; s/"index":[0-9]*/"index":1/'
    nic_config restore >"$SCRATCH/out" 2>&1
    check "... after a boot, too" test "$(ip -j link show roce1 | jq .[].mtu)" = 1500
    mv "$net/roce1" "$net/mlx1"
    ip link set roce1 name mlx1
    ip link set mlx1 up
    check "all is as it was, with its old name" same_picture
    nic_config set "$SCRATCH/doc.json" >/dev/null
    picture >"$SCRATCH/set"
    cp "$journal" "$SCRATCH/kept"
    check_exit 3 "another network namespace's settings are not restored from here" unshare --net \
        "$BUILD/nic-config" --journal "$journal" --root "$SCRATCH/none" restore
    check_says "... it says where to" "another network namespace: run nic-config restore there" "$SCRATCH/err"
    check "... and the journal stays" cmp "$journal" "$SCRATCH/kept"
    edit_journal 's/"boot":"[^"]*"/"boot":"of-another-time"/; s/"machine":"[^"]*"/"machine":"00112233445566778899aabbccddeeff"/'
    if [[ $(cat /etc/machine-id 2>/dev/null) =~ ^[0-9a-f]{32}$ ]]; then
        check_exit 3 "another machine's journal is not restored" nic_config restore
        check_says "... the reason" "was written on another machine.*keep removes it" "$SCRATCH/err"
        check_exit 3 "... nor continued" nic_config set --continue "$SCRATCH/doc.json"
    fi
    check "nothing was changed" bash -c "diff '$SCRATCH/set' <($(declare -f picture); SCRATCH='$SCRATCH' picture)"
    cp "$SCRATCH/kept" "$journal"
    # a function that has a driver, and whose interface is elsewhere
    mkdir -p "$SCRATCH/root/sys/bus/pci/devices"
    ln -s ../../../devices/0000:61:00.0 "$SCRATCH/root/sys/bus/pci/devices/0000:61:00.0"
    ip netns add away 2>/dev/null && ip link set mlx1 netns away
    check_exit 3 "an interface that another namespace has" nic_config restore
    check_says "... its settings are not gone" "could not be restored.*all of mlx1: PCI function 0000:61:00.0 has a driver, but no interface here" "$SCRATCH/err"
    check "... and the journal stays" test -e "$journal"
    ip -n away link set mlx1 netns $$ && ip link set mlx1 up
    ip netns del away
    check_exit 0 "... when it is back they are restored" nic_config restore
    rm "$SCRATCH/root/sys/bus/pci/devices/0000:61:00.0"
    rmdir -p "$SCRATCH/root/sys/bus/pci/devices" 2>/dev/null
    check "all is as it was after all that" same_picture
}

# A machine that really refuses: no RED in this kernel or no privilege.
test_real_refusals() {
    say '{"mlx0":{"mtu":3000,"red":{"limit":"2MB","min":"50kB","max":"200kB"}}}' >"$SCRATCH/red.json"
    if nic_config set "$SCRATCH/red.json" >"$SCRATCH/out" 2>"$SCRATCH/err"; then
        nic_config restore >/dev/null
        skip "a qdisc that the kernel lacks" kernel-has-red
    else
        check "a qdisc that the kernel lacks: all is undone" jq -e '.undone == true and (.changes[0].setting == "mtu")' "$SCRATCH/out"
    fi
    check "nothing remains of the refused set" same_picture
    check_exit 3 "without privilege the first write is refused" setpriv --bounding-set -net_admin --inh-caps -net_admin \
        "$BUILD/nic-config" --journal "$SCRATCH/state/journal" --root "$SCRATCH/root" set "$SCRATCH/doc.json"
    check_says "the error contains the kernel's message" "Operation not permitted" "$SCRATCH/err"
    check "nothing is changed without privilege" same_picture
}

# With a carrier, a change of MTU is followed by a look at the link of some tenths of a second: time for a signal.
test_interrupt() {
    local pid
    carrier up
    ip link set mlx0 up
    say '{"mlx0":{"mtu":2000,"ecn":[3]},"mlx1":{"mtu":2000}}' >"$SCRATCH/slow.json"
    "$BUILD/nic-config" --journal "$SCRATCH/state/journal" --root "$SCRATCH/root" set "$SCRATCH/slow.json" \
        >"$SCRATCH/out" 2>"$SCRATCH/err" &
    pid=$!
    until grep -qs '"knob":"mtu"' "$SCRATCH/state/journal" || ! kill -0 $pid 2>/dev/null; do :; done
    kill -TERM $pid
    wait $pid
    check "SIGTERM in the middle: exit code 130, undone" test "$? $(jq .undone "$SCRATCH/out")" = "130 true"
    ip link set mlx0 down
    carrier down
    check "all is as before after SIGTERM" same_picture
}

test_documents() {
    say '{"mlx0":{"mut":4200}}' >"$SCRATCH/bad.json"
    check_exit 2 "a misspelt key is refused" nic_config set "$SCRATCH/bad.json"
    check_says "with the nearest known one" 'interfaces.mlx0.*"mut".*mean "mtu"' "$SCRATCH/err"
    say '{"mlx0":{"pfc":[8]}}' >"$SCRATCH/bad.json"
    check_exit 2 "a priority out of range is refused" nic_config set "$SCRATCH/bad.json"
    say '{"no/such":{"mtu":4200}}' >"$SCRATCH/bad.json"
    check_exit 2 "a name that no interface can have is refused" nic_config set "$SCRATCH/bad.json"
    say '{"mlx9":{"mtu":4200}}' >"$SCRATCH/bad.json"
    check_exit 3 "an interface that is not there" nic_config set "$SCRATCH/bad.json"
    check_says "the missing interface is named" "there is no interface mlx9" "$SCRATCH/err"
    say '{"mlx0":{"mtu":4200,"pfc":[0]}}' >"$SCRATCH/bad.json"
    check_exit 3 "a setting without a place on this machine" nic_config set "$SCRATCH/bad.json"
    check_says "the setting is named with the reason" "mlx0: pfc cannot be set: .*Operation not supported.*--skip-missing" "$SCRATCH/err"
    check_exit 0 "--skip-missing leaves it out" nic_config set --skip-missing "$SCRATCH/bad.json"
    check "the skipped setting is listed in skipped" jq -e '.skipped == [.skipped[0]] and .skipped[0].setting == "pfc"' "$SCRATCH/out"
    nic_config restore >/dev/null
    say '{"mlx0":{"dcqcn":{"np":{"cnp_prio_mode":1}}}}' >"$SCRATCH/bad.json"
    check_exit 3 "a parameter that only upstream has" nic_config set "$SCRATCH/bad.json"
    check_says "the unsupported parameter is named" "dcqcn.np.cnp_prio_mode: the driver has no such parameter .*MLNX_OFED.*debugfs" "$SCRATCH/err"
    say '{"mlx0":{"mtu":65536}}' >"$SCRATCH/bad.json"
    check_exit 3 "an MTU that the device does not take" nic_config set "$SCRATCH/bad.json"
    check_says "is named with its range" "mlx0: mtu 65536: the device supports 68 to 65535" "$SCRATCH/err"
    echo broken >"$SCRATCH/root/sys/class/net/mlx0/ecn/roce_rp/rpg_gd"
    say '{"mlx0":{"dcqcn":{"rp":{"rpg_ai_rate":9}}}}' >"$SCRATCH/bad.json"
    check_exit 3 "a setting that cannot be read is not written" nic_config set --skip-missing "$SCRATCH/bad.json"
    check_says "the unreadable setting is named with the reason" 'dcqcn could not be read: .*rpg_gd: "broken" is not a number' "$SCRATCH/err"
    say '{"mlx0":{"mtu":1800}}' >"$SCRATCH/bad.json"
    check_exit 0 "other settings can be set while one cannot be read" nic_config set "$SCRATCH/bad.json"
    nic_config restore >/dev/null
    echo 11 >"$SCRATCH/root/sys/class/net/mlx0/ecn/roce_rp/rpg_gd"
    check_exit 2 "an unknown command" nic_config sett "$SCRATCH/bad.json"
    check_says "the nearest command is suggested" 'did you mean "set"' "$SCRATCH/err"
    nic_config get mlx0 >"$SCRATCH/got.json"
    check_exit 0 "diff accepts the output of get" nic_config diff "$SCRATCH/got.json"
    check "none of these changed anything" same_picture
}

# The kernel takes all bytes but blanks, / and :.
test_names() {
    ip link add $'n\303\274' type veth peer name odd1
    ip link add $'n\377' type veth peer name odd2
    check_exit 0 "one interface with an odd name does not keep the others from being read" nic_config get
    check "... one in UTF-8 is read, too" jq -e '.interfaces | has("mlx0") and has("n\u00fc") and has("odd2")' "$SCRATCH/out"
    check_exit 3 "a name that is no text is refused" nic_config get $'n\377'
    check_says "... with its bytes" 'n.xff" is not a valid interface name' "$SCRATCH/err"
    ip link del odd1
    ip link del odd2
}

test_keep() {
    say '{"mlx0":{"mtu":2500}}' >"$SCRATCH/keep.json"
    nic_config set "$SCRATCH/keep.json" >/dev/null
    check_exit 0 "keep" nic_config keep
    check_exit 0 "restore after keep has nothing to do" nic_config restore
    check "the setting stays" bash -c "ip -j link show mlx0 | jq -e '.[0].mtu == 2500'"
}

# the journal is synced often: a disk would only make that slow
mkdir -p "$SCRATCH/state"
mount -t tmpfs tmpfs "$SCRATCH/state"
at_exit umount "$SCRATCH/state"
make_machine
picture >"$SCRATCH/first"
document >"$SCRATCH/doc.json"
test_applies
if skip_reason sanitized "$BUILD/nic-config" >/dev/null; then
    skip "a fault at every write" sanitized "$BUILD/nic-config"
elif ! has_compiler; then
    skip "a fault at every write" no-compiler
elif check "the library of faults is built" compile_preload "$SCRATCH/fault.so" \
    "$(dirname "$0")/fault.c"; then
    test_continues
    # the links of one walk have a carrier
    carrier up
    walk_errors EOPNOTSUPP
    carrier down
    for error in EPERM EBUSY ERANGE; do walk_errors $error; done
    walk_kills
    walk_killed_restores
fi
test_journals
test_identities
test_real_refusals
test_interrupt
test_documents
test_names
test_keep
finish
