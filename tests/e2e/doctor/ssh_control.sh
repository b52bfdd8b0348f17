#!/bin/bash
# harness doctor on two hosts over ssh: is DCQCN in control where the scenario wants it, and has the switch the scenario's PFC? The hosts' NICs are a cable
# between namespaces, so host-facts' document is edited on its way: what a ConnectX-6 Dx and its switch would say.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
"$H" install --lab "$LAB" >"$SCRATCH/out"
mkdir "$SCRATCH/edited"
cp "$SCRATCH"/bin/* "$SCRATCH/edited"
cat >"$SCRATCH/edited/host-facts" <<END
#!/bin/bash
case " \$* " in *" --version "*) exec $SCRATCH/bin/host-facts --version ;; esac
$SCRATCH/bin/host-facts --netdev data0 "\$@" | jq -f \$HOME/../edit
END
jq --arg at "$SCRATCH/edited" '.hosts[].programs = $at' "$LAB" >"$SCRATCH/edited.json"
jq '.settings.pfc = [3] | .settings.trust = "dscp" | .flows[].priority = 3 | .settings.mtu = 1400 | .sweep = {} | .expect = [] | .published = [] | .flows[].memory = "host"' "$ROOT/scenarios/pfc-bidir.json" >"$SCRATCH/pfc.json"
jq '.settings.ecn = [3]' "$SCRATCH/pfc.json" >"$SCRATCH/ecn.json"
nic() { # HOST EDIT: of what host-facts says of its NIC
    echo "(.nics[] | select(.netdev == \"data0\")) |= (.pci = {address: \"0000:41:00.0\"} | $2)" >"$SCRATCH/$1/edit"
}
control() { echo ".congestion_control = {control: $1, why: \"a test says so\", slots: null}"; }
doctor() { "$H" doctor --lab "$SCRATCH/edited.json" --for "$SCRATCH/$1.json" --json >"$SCRATCH/out" 2>"$SCRATCH/err"; }
# shellcheck disable=SC2016 # jq's
verdicts() { jq -r --arg check "$1" '[.[] | select(.check == $check) | "\(.verdict) \(.host)"] | join(", ")' "$SCRATCH/out"; }

# ---- NICs whose settings and counters are not those of the flows: refused, before anything is set
mv "$SCRATCH/edited/nic-config" "$SCRATCH/edited/real"
cat >"$SCRATCH/edited/nic-config" <<END
#!/bin/bash
case " \$* " in *" get "*) $SCRATCH/edited/real "\$@" | jq -c --slurpfile facts \$HOME/../facts '.facts.data0 += \$facts[0]' ;; *) exec $SCRATCH/edited/real "\$@" ;; esac
END
chmod +x "$SCRATCH/edited/nic-config"
refused() { # WHAT FACTS SENTENCE
    echo . | tee "$SCRATCH"/{a,b}/edit >/dev/null
    echo '{}' >"$SCRATCH/b/facts"
    echo "$2" >"$SCRATCH/a/facts"
    "$H" doctor --lab "$SCRATCH/edited.json" --for "$SCRATCH/pfc.json" >"$SCRATCH/out" 2>"$SCRATCH/err"
    check_says "$1: doctor" "^failure +a +nic +host a: data0 $3" "$SCRATCH/out"
    check_exit 3 "$1: a run" "$H" run "$SCRATCH/pfc.json" --lab "$SCRATCH/edited.json" --no-report --out "$SCRATCH/refused"
    check_says "... is refused" "host a: data0 $3" "$SCRATCH/err"
}
refused "a bond (RoCE LAG)" '{"kind": "bond", "lower": ["eth0", "eth1"], "rdma": "mlx5_bond_0"}' 'is a bond upon eth0, eth1: PFC, buffers, DCQCN and pause counters are those of each of its ports'
refused "a port of a bond" '{"bond": "bond0"}' 'is a port of bond0, whose traffic goes through all its ports'
refused "a macvlan upon a NIC" '{"kind": "macvlan", "lower": ["eth2"], "rdma": "mlx5_0", "rdma_below": true}' 'is a macvlan upon eth2: PFC, buffers, DCQCN and pause counters are those of the NIC.s own interface'
refused "an InfiniBand port" '{"link_layer": "InfiniBand", "rdma": "mlx5_0"}' 'is an InfiniBand port'
mv "$SCRATCH/edited/real" "$SCRATCH/edited/nic-config"

nic a "$(control '"dcqcn"')"
nic b "$(control '"negotiated"')"
doctor ecn
check "who is in control, at both ends" test "$(verdicts dcqcn)" = "ok a, warning b"
check "... with what to do" jq -e 'any(.[]; .check == "dcqcn" and .host == "b" and .fix == "mstconfig -d 0000:41:00.0 set ROCE_CC_LEGACY_DCQCN=1, and reboot")' "$SCRATCH/out"
doctor pfc
check "a scenario without DCQCN does not mind" test -z "$(verdicts dcqcn)"
nic a "$(control '"rtt"')"
nic b "$(control null)"
doctor ecn
check "RTTCC is a failure, and what is not known is unknown" test "$(verdicts dcqcn)" = "failure a, unknown b"
"$H" doctor --lab "$SCRATCH/edited.json" --for "$SCRATCH/ecn.json" >"$SCRATCH/out" 2>"$SCRATCH/err"
check_says "... in words" '^failure +a +dcqcn +RTTCC of Zero Touch RoCE is in control, not DCQCN: a test says so' "$SCRATCH/out"
check_says "... with how to find out" 'mstconfig -d 0000:41:00.0 -e query' "$SCRATCH/out"

nic a '.lldp = {name: "leaf-1", port: "Ethernet8", pfc: [3]}'
nic b '.lldp = {name: "leaf-1", port: "Ethernet12", pfc: []}'
doctor pfc
check "the switch's PFC beside the scenario's" test "$(verdicts peer-pfc)" = "ok a, warning b"
check "... names the switch and its port" jq -e 'any(.[]; .check == "peer-pfc" and .host == "b" and (.reason | test("on priorities \\[3\\]; the other end of the cable .leaf-1 Ethernet12. has \\[\\]")))' "$SCRATCH/out"

# ---- documents of a host that was taken over
nic a '.lldp = {name: ("x" * 5000), port: {}, pfc: [{}, "3", 99999999999]} | .congestion_control = {control: ["dcqcn"], why: "\u001b[31m"} | .firmware_config = 5'
nic b '.congestion_control = [] | .lldp = {pfc: {"3": 3}} | .dcbx = 7'
doctor ecn
check "odd facts are judged too" test "$(verdicts dcqcn)" = "unknown a"
check "... and nothing in them reaches the terminal as it is" bash -c "! grep -q \$'\\x1b' '$SCRATCH/out'"
echo '.nics = {"data0": 5}' >"$SCRATCH/a/edit"
echo '5' >"$SCRATCH/b/edit"
doctor ecn
check "no list of NICs, no document" test -z "$(verdicts dcqcn)"

close_hosts
finish
