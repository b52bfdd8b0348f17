#!/bin/bash
# host-facts asks what tools a host has: mstconfig or mlxconfig, mstreg or mlxreg, lldpctl. Stand-ins print what the real ones print (mstflint:
# mlxconfig/mlxcfg_ui.cpp, mlxreg/mlxreg_ui.cpp; lldpd's json0) for the NIC of a laid-out tree that is mounted over /sys. Its interface is the
# loopback: no other one lets the tree say which driver it has.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
if [ -z "${TOOLS_INSIDE:-}" ]; then
    skip_unless "tools of a NIC" unshare ip
    unshare --mount --net true 2>"$SCRATCH/null" || { skip "tools of a NIC" no-namespaces && finish; }
    rm -rf "$SCRATCH"
    TOOLS_INSIDE=1 exec unshare --mount --net "$0"
fi
FACTS=$BUILD/host-facts
TREE=$SCRATCH/tree
TOOLS=$SCRATCH/tools
mkdir "$TREE" "$TOOLS"
"$ROOT/tests/data/hosts/lay-out" "$ROOT/tests/data/hosts/connectx-6dx.tree" "$TREE"
ip link set lo name eth2
mount --bind "$TREE/sys" /sys
stand_in() { # NAME: its script on standard input
    { echo '#!/bin/bash' && cat; } >"$TOOLS/$1"
    chmod 755 "$TOOLS/$1"
}
facts() { # WHAT FILTER
    env PATH="${TOOLS_PATH-$TOOLS:$PATH}" "$FACTS" --netdev eth2 >"$SCRATCH/out" 2>"$SCRATCH/err"
    check "$1" jq -e "$2" "$SCRATCH/out"
}

# ---- the firmware's settings
TOOLS_PATH=$TOOLS facts "without a tool nothing is known" '.nics[0] | .driver == "mlx5_core" and (.firmware_config.missing | test("neither mstconfig .mstflint. nor mlxconfig .MFT. is installed here")) and .congestion_control.control == null'
stand_in mlxconfig <<END
[ "\$*" = "-d 0000:41:00.0 -e query" ] || exit 9
cat "$TREE/mlxconfig/0000:41:00.0"
END
facts "mlxconfig is asked where there is no mstconfig" '.nics[0] | .firmware_config.from == "mlxconfig -d 0000:41:00.0 query" and .firmware_config.values.LLDP_NB_DCBX_P1.current == 1 and .congestion_control.control == "negotiated"'
stand_in mstconfig <<END
[ "\$*" = "-d 0000:41:00.0 query" ] || { echo '-E- Unknown flag: -e'; exit 1; }
printf 'Configurations:    Next Boot\n   ROCE_CC_LEGACY_DCQCN   True(1)\n'
END
facts "an old mstconfig is asked without -e" '.nics[0] | .firmware_config == {from: "mstconfig -d 0000:41:00.0 query", values: {ROCE_CC_LEGACY_DCQCN: {current: null, next_boot: 1}}} and .congestion_control.control == "dcqcn"'
stand_in mstconfig <<'END'
echo "-E- Failed to open the device" >&2
exit 3
END
facts "a tool that fails is said with its reason, and no other one is asked" '.nics[0].firmware_config.missing == "mstconfig exited with 3: -E- Failed to open the device"'
stand_in mstconfig <<'END'
head -c 40000000 /dev/zero
END
facts "a tool that prints other things" '.nics[0].firmware_config.missing | length > 10'
rm "$TOOLS/mstconfig"

# ---- the algorithms of PPCC
ppcc() { # ENABLED of RTTCC, of DCQCN
    stand_in mstreg <<END
case "\$*" in
"-d 0000:41:00.0 --reg_name PPCC --get --op cmd_type="*" --indexes local_port=1,pnat=0,lp_msb=0,algo_slot="*",algo_param_index=0,target_app=0") ;;
*) echo "-E- Missing index: target_app" >&2; exit 1 ;;
esac
printf 'Sending access register...\n\nField Name | Data\n===\n'
asked="\$*"
slot=\${asked#*algo_slot=}
slot=\${slot%%,*}
case "\$*" in
*cmd_type=0x10*) printf 'text[0]  | 0x00010100\ntext[1]  | 0x00000000\ntext[15]  | 0x00020000\n' ;;
*cmd_type=0x3*) [ \$slot = 0 ] && echo "value   | 0x0000000$1" || echo "value   | 0x0000000$2" ;;
*cmd_type=0x0*) [ \$slot = 0 ] && printf 'text[0] | 0x5a54525f\ntext[1] | 0x52545443\ntext[2] | 0x432c2061\n' || printf 'text[0] | 0x44435143\ntext[1] | 0x4e2c0000\n' ;;
esac
END
}
ppcc 1 1
facts "both algorithms are enabled: connections decide" '.nics[0].congestion_control | .control == "negotiated" and .slots == [{slot: 0, name: "ZTR_RTTCC", enabled: true}, {slot: 15, name: "DCQCN", enabled: true}]'
ppcc 1 0
facts "RTTCC alone" '.nics[0].congestion_control | .control == "rtt" and (.why | test("PPCC"))'
facts "... is said" 'any(.checks[]; .check == "congestion-control" and (.reason | test("settings of DCQCN do nothing")))'
ppcc 0 1
facts "DCQCN alone" '.nics[0].congestion_control.control == "dcqcn"'
ppcc 0 0
facts "none of them" '.nics[0].congestion_control.control == "negotiated"'

# ---- LLDP
stand_in lldpctl <<END
[ "\$*" = "-f json0 eth2" ] && cat "$TREE/lldpctl"
END
facts "lldpctl is asked what the switch says" '.nics[0].lldp | .name == "leaf-1" and .pfc == [3]'
stand_in lldpctl <<'END'
printf '{"lldp": [{"interface": ['
head -c 3000000 /dev/zero | tr '\0' '['
END
facts "what lldpctl prints may be anything" '.nics[0].lldp == null'

# ---- about one interface alone
PATH=$TOOLS:$PATH "$FACTS" --tools eth2 >"$SCRATCH/out"
check "an interface whose tools are asked" jq -e '.nics[0] | .firmware_config.values and .lldp == null' "$SCRATCH/out"
ln -s eth2 "$TREE/sys/class/net/eth3"
PATH=$TOOLS:$PATH "$FACTS" --netdev eth2 --tools eth3 >"$SCRATCH/out"
rm "$TREE/sys/class/net/eth3"
check "... and one whose are not" jq -e '.nics[0] | .firmware_config.missing == "no tool was asked (--tools)" and .congestion_control.control == null' "$SCRATCH/out"
check_exit 2 "no such interface" "$FACTS" --tools nosuch0

# ---- this namespace is not the first one: interfaces of the tree that are not here
rm "$TREE/sys/class/net/eth2"
ip link set eth2 name lo
PATH=$TOOLS:$PATH "$FACTS" >"$SCRATCH/out" 2>"$SCRATCH/err"
check "the NIC's interface is in another namespace" jq -e '.nics == [] and .elsewhere[0] == {rdma: "mlx5_0", port: "1", netdev: "eth2", counters: true, pci: null}' "$SCRATCH/out"
check "... is said" jq -e 'any(.checks[]; .check == "counters" and .verdict == "unknown" and (.reason | test("eth2 belongs to another network namespace")) and (.fix | test("nsenter")))' "$SCRATCH/out"
rm -r "$TREE/sys/class/infiniband/mlx5_0/ports/1/counters" "$TREE/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
PATH=$TOOLS:$PATH "$FACTS" >"$SCRATCH/out" 2>"$SCRATCH/err"
check "... and its counters are not shown here" jq -e 'any(.checks[]; .check == "counters" and .verdict == "warning" and (.fix | test("rdma system set netns exclusive")))' "$SCRATCH/out"
umount /sys
finish
