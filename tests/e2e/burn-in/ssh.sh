#!/bin/bash
# `harness burn-in` on two hosts over ssh, network namespaces whose roce-traffic sends nothing: doctor's checks, versions of one host that
# differ, stages that follow one another, settings that are put back.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
STAND_IN=$SCRATCH/stand-in
check_exit 0 "programs are installed on hosts" "$H" install --lab "$LAB"
mkdir "$STAND_IN"
ln "$SCRATCH/bin/nic-sampler" "$SCRATCH/bin/nic-config" "$SCRATCH/bin/host-facts" "$STAND_IN/"
stand_in_traffic "$STAND_IN"
# host b says that it has another kernel
rm "$STAND_IN/host-facts"
cat > "$STAND_IN/host-facts" << END
#!/bin/bash
[ "\$1" != --version ] || exec $SCRATCH/bin/host-facts --version
! ip -4 addr show data0 | grep -q 10.9.0.2/ || { $SCRATCH/bin/host-facts "\$@" | jq -c 'if type == "object" and .versions then .versions.kernel = "9.9.9" else . end' && exit; }
exec $SCRATCH/bin/host-facts "\$@"
END
chmod +x "$STAND_IN/host-facts"
FOLDER=$OUT/burn-in-pair/latest
before=$(mtus)
check_exit 0 "the plan of hosts has times" "$H" burn-in "$SCRATCH/stand-in.json" -n
check_says "of a run with what is around it" '^  nics +1 run, about 11 s: ' "$SCRATCH/out"
jq '.hosts[].gpus = {"gpu[0-3]": {"index": "{}"}}' "$SCRATCH/stand-in.json" > "$SCRATCH/gpus.json"
check_exit 0 "hosts with four GPUs" "$H" burn-in "$SCRATCH/gpus.json" -n
check_says "measure each of them at each NIC, and host memory" '^  gpus +5 runs, about 55 s: ' "$SCRATCH/out"
check_exit 1 "doctor's failures are findings" "$H" burn-in "$SCRATCH/stand-in.json" --out "$OUT" --no-report --set settings.mtu=1400
cp "$SCRATCH/out" "$SCRATCH/said"
check_says "with host and reason" '^a: nic: network device data0, RDMA device none' "$SCRATCH/said"
check_says "who is right of two hosts that differ is not known" 'hosts differ in kernel: a has .*, b has 9.9.9; which is right is not known' "$SCRATCH/said"
check "doctor's document is kept" jq -e 'length > 0' "$FOLDER/1-doctor/doctor.json"
check "facts of both hosts are there" [ "$(jq -r '.facts | keys | join(" ")' "$FOLDER/burn-in.json")" = "a b" ]
check "stages ran after it" [ "$(jq -r '[.stages[] | select(.runs) | .name] | join(" ")' "$FOLDER/burn-in.json")" = "nics pairs" ]
check "settings were made for each, and put back" [ "$(cat "$FOLDER"/2-nics/2*/{,*/}settings.json 2> /dev/null | jq -r '.a.wanted.mtu') $(mtus)" = "1400 $before" ]

# ---- NICs without counters of losses are not good; what others send while one of two ends is not read yet was not lost
mv "$STAND_IN/nic-sampler" "$STAND_IN/nic-sampler.bin"
cat > "$STAND_IN/nic-sampler" << END
#!/bin/bash
[ "\$1" != --version ] || exec $SCRATCH/bin/nic-sampler --version
! ip -4 addr show data0 | grep -q 10.9.0.1/ || sleep 2
exec $SCRATCH/bin/nic-sampler "\$@" > >(exec sed -u 's/"name":"link_\([rt]x\)_bytes"/"name":"\1_prio0_bytes"/g')
END
chmod +x "$STAND_IN/nic-sampler"
ip netns exec b bash -c 'while sleep 0.1; do echo x > /dev/udp/10.9.0.1/9; done' 2> /dev/null &
other=$!
check_exit 4 "NICs of which nothing tells of losses" "$H" burn-in "$SCRATCH/stand-in.json" --out "$OUT" --no-report --stages nics
kill $other
check_says "are not known to be good" 'not known: no counter of 2 NICs tells of frames that were damaged or lost: a, b' "$SCRATCH/out"
check "others' frames were sent before both were read" jq -es '.[0].hosts | .b.counters.tx_prio0_bytes.total > .a.counters.rx_prio0_bytes.total' "$FOLDER"/2-nics/latest/01/result.json
check "... and accuse no link" jq -e '.findings == []' "$FOLDER/burn-in.json"
close_hosts
finish
