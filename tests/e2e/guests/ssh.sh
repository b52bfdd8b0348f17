#!/bin/bash
# An ssh lab on real hosts: the soft pair's guests as somebody's machines, reached with his own key, one by a name of his ssh
# configuration, the other by address. The programs are put there, and a scenario runs. (What is wrong with hosts and how it is
# told: tests/e2e/harness/ssh.sh.)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/home.bash
. "$(dirname "$0")/home.bash"
softlab_begin soft-pair
H=$BUILD/harness
OUT=$SCRATCH/results
LAB=$SCRATCH/rack.json
PROGRAMS=/opt/lab/bin

# ---- the user's own: key, known hosts, configuration
softlab_home
address() { softlab_provision --quiet status --json | jq -r ".hosts[] | select(.host == \"$1\").address"; }
A=$(address a)
B=$(address b)
for host in a b; do
    softlab_ssh $host 'cp /root/.ssh/authorized_keys /root/.ssh/kept; cat >> /root/.ssh/authorized_keys' < "$DOT_SSH/id_ed25519.pub"
    at_exit softlab_ssh $host "mv /root/.ssh/kept /root/.ssh/authorized_keys; rm -rf /opt/lab"
done
echo "$A $(softlab_ssh a cat /etc/ssh/ssh_host_ed25519_key.pub)" > "$DOT_SSH/known_hosts"
echo "$B $(softlab_ssh b cat /etc/ssh/ssh_host_ed25519_key.pub)" > "$SCRATCH/known_b"
printf 'Host rack-a\n    HostName %s\n    User root\n' "$A" > "$DOT_SSH/config"
cp "$DOT_SSH/id_ed25519" "$SCRATCH/key_b"
jq --arg b "root@$B" --arg key "$SCRATCH/key_b" --arg known "$SCRATCH/known_b" --arg programs "$PROGRAMS" '{schema, name: "rack", driver: "ssh",
    links: [{between: ["a", "b"]}], hosts: (.hosts | {a: {ssh: "rack-a", programs: $programs, nic: .a.nic},
    b: {ssh: $b, identity: $key, known_hosts: $known, programs: $programs, nic: {address: .b.nic.address}}})}' \
    "$ROOT/labs/soft-pair.json" > "$LAB"
RUN=(run pfc-bidir --lab "$LAB" --set 'sweep={}' --set 'flows.*.memory=host' --set settings.mtu=4000 --set phases.warmup=500ms
    --duration 2s --set sample.every=50ms --no-report --out "$OUT")
mtus() { for host in a b; do softlab_ssh $host cat /sys/class/net/data0/mtu; done; }
BEFORE=$(mtus)

# ---- the programs are not there yet
check_exit 3 "a run on hosts without our programs" "$H" "${RUN[@]}"
check_says "... names the program, and what puts it there" "host a has no $PROGRAMS/nic-config .*harness install" "$SCRATCH/err"
check "... and leaves no result" test -z "$(find "$OUT" -name '*.json')"
check_exit 3 "doctor on such hosts" "$H" doctor --lab "$LAB"
check_says "... names all that is missing" "failure +b +programs +host b has no nic-sampler, host-facts, nic-config, roce-traffic in $PROGRAMS" "$SCRATCH/out"
check_exit 0 "harness install" "$H" install --lab "$LAB"
check_says "... puts them there" "^b: nic-sampler, host-facts, nic-config, roce-traffic [0-9.]+ in $PROGRAMS" "$SCRATCH/out"
softlab_ssh a mv /lib/x86_64-linux-gnu/libmnl.so.0 /root/
softlab_ssh b "printf '#!/bin/sh\necho host-facts 0.0.9\n' > $PROGRAMS/host-facts"
check_exit 3 "doctor on hosts where they do not fit" "$H" doctor --lab "$LAB"
softlab_ssh a mv /root/libmnl.so.0 /lib/x86_64-linux-gnu/
check_says "... names the library that one lacks" 'failure +a +programs .*nic-sampler does not start on the host: .*libmnl' "$SCRATCH/out"
check_says "... and the version that is another" 'warning +b +programs +host b has host-facts 0\.0\.9, but this is harness' "$SCRATCH/out"
check_exit 0 "one host's programs are put there again" "$H" install b --lab "$LAB"
check_exit 0 "doctor finds nothing wrong then" "$H" doctor --lab "$LAB" --for pfc-bidir

# ---- a run
check_exit 0 "a scenario runs" "$H" "${RUN[@]}"
R=$OUT/pfc-bidir/latest
# shellcheck disable=SC2317 # called through check
holds() { [ -s "$2" ] && jq -e "$1" "$2"; }
check "it was the ssh lab's, to its end" holds '.lab.driver == "ssh" and .complete and (.simulated | not)' "$R/result.json"
check "traffic flowed both ways" holds '[.flows[] | select(.bytes > 0 and .complete)] | length == 2' "$R/result.json"
check "both were sampled" holds '[.hosts[] | select(.sampling.samples > 5 and .counters.rdma_sends)] | length == 2' "$R/result.json"
check "clocks are aligned, with a bound" holds '[.hosts[].clock | select(.error_ns > 0 and (.offset_ns | type == "number") and (.drift_ns | type == "number"))] | length == 2' "$R/result.json"
check "facts were gathered" holds '[.hosts[].facts.system] | length == 2' "$R/result.json"
check "settings were applied and put back" holds '[.[] | select(.read_back.data0.mtu == 4000 and .after.data0.mtu == .before.data0.mtu and .restored)] | length == 2' "$R/settings.json"
check "... and are so on the hosts" test "$(mtus)" = "$BEFORE"
left() { softlab_ssh a 'pgrep -x nic-sampler; pgrep -x roce-traffic; pgrep -x cat'; }
check "nothing of ours runs there any more" test -z "$(left)"

# ---- as somebody who may not be root there at once
jq '.hosts.b.sudo = true' "$LAB" > "$SCRATCH/sudo.json"
check_exit 3 "a host without sudo" "$H" doctor --lab "$SCRATCH/sudo.json"
check_says "... is told" 'on host b: .*sudo: .*not found' "$SCRATCH/out"
finish
