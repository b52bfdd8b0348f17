#!/bin/bash
# virt-provision on a guest of its own: steps with failure, interruption, power cut and reboot, snapshot, trust, foreign domains, errors.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"

# A tree of its own: the soft profile with two steps more. The image is the same, so it comes from the cache.
TREE=$SCRATCH/tree
STEPS=$TREE/guest-setup/profiles/debian-12-softroce/steps
mkdir -p "$TREE/build" "$TREE/guest-setup/profiles"
cp "$BUILD"/{virt-provision,nic-sampler,roce-traffic,nic-config,host-facts} "$TREE/build/"
cp -r "$ROOT/guest-setup/profiles/debian-12-softroce" "$TREE/guest-setup/profiles/"
cp "$ROOT"/guest-setup/{build-image,scratch.bash} "$TREE/guest-setup/"
LAB=$SCRATCH/one.json
jq '.name = "one" | .management.subnet = "198.51.100.128/26" | .hosts = {a: (.hosts.a + {domain: "one-a"})} | .links = []' \
    "$ROOT/labs/soft-pair.json" > "$LAB"
STATE=$XDG_STATE_HOME/harness/labs/one
vp() { "$TREE/build/virt-provision" --lab "$LAB" "$@"; }
guest() { vp --quiet ssh a -- sh -c "$1"; }
# The words of a domain's XML that both libvirt and we write, in order.
virsh_words() { sed "/<backingStore/,/<.backingStore>/d" | grep -oE "<name>.*</name>|<uuid>.*</uuid>|mac address=.*/>|source (file|network)=.*/>|<(kernel|initrd|cmdline)>.*<" | tr -d "'\""; }
# shellcheck disable=SC2317 # at_exit calls it
put_away() { vp --quiet --adopt destroy 2> /dev/null || virsh -q destroy one-a; }
at_exit put_away

cat > "$STEPS/30-reboot" << 'END'
#!/bin/sh
case $1 in
check) [ -e /etc/lab/before ] && [ "$(cat /etc/lab/before)" != "$(cat /proc/sys/kernel/random/boot_id)" ] && echo "booted again" ;;
apply) cat /proc/sys/kernel/random/boot_id > /etc/lab/before; exit 100 ;;
esac
END
cat > "$STEPS/40-late" << 'END'
#!/bin/sh
case $1 in
check) [ -e /etc/lab/late ] ;;
apply) echo "working on it"; echo "the part is missing" >&2; exit 7 ;;
esac
END
chmod +x "$STEPS"/*

# ---- a rebuild that fails in a step
check_exit 3 "a step that fails ends the rebuild" vp rebuild
check_says "it is named with its host, exit status and last line" 'step 40-late failed on host a \(exit status 7\): the part is missing' "$SCRATCH/err"
check_says "a step that asks for it gets its reboot" '30-reboot: done .*: booted again' "$SCRATCH/err"
check_says "the host's log has all of the step's output" 'working on it' "$STATE/hosts/a/log"
check_exit 3 "there is no snapshot for reset yet" vp reset
check_says "it is said" 'host a has no snapshot because its rebuild was not finished' "$SCRATCH/err"

# ---- killed in the middle of the next step, then continued
sed -i 's/^apply.*/apply) touch \/etc\/lab\/began; sleep 600 ;;/' "$STEPS/40-late"
"$TREE/build/virt-provision" --lab "$LAB" rebuild 2> "$SCRATCH/killed" &
victim=$!
tries=0
until grep -q '40-late apply' <(tail -n 3 "$STATE/hosts/a/log") || [ $tries -gt 900 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
kill -9 $victim
wait $victim 2> /dev/null
check_says "an interrupted rebuild continues" 'a: continuing the interrupted rebuild' "$SCRATCH/killed"

# ---- continued, and the connection is lost in the middle of the step (only the connection: the guest continues)
cat > "$STEPS/40-late" << 'END'
#!/bin/sh
case $1 in
check) [ -e /etc/lab/late ] && echo "late indeed" ;;
apply) mkdir /etc/lab/alone && sleep 5 && echo once >> /etc/lab/late && rmdir /etc/lab/alone ;;
esac
END
: > "$STATE/hosts/a/log"
"$TREE/build/virt-provision" --lab "$LAB" rebuild 2> "$SCRATCH/continued" &
victim=$!
tries=0
until grep -q '40-late apply' "$STATE/hosts/a/log" || [ $tries -gt 900 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
sleep 1
pkill -P $victim -f ControlMaster=yes
wait $victim
check_says "also after kill -9" 'a: ready after' "$SCRATCH/continued"
check_says "a lost connection is made again" '40-late apply: connection lost .*connecting and running it again' "$SCRATCH/continued"
check "what it left running was waited for" test "$(guest 'cat /etc/lab/late | tr -d "\n"; ls /etc/lab/alone' 2> /dev/null)" = onceonce
check "what kill -9 left running was ended" guest '! grep -qsx sleep /proc/[0-9]*/comm'
check "steps that were done are not done again" test -z "$(grep -E '10-programs|20-links|30-reboot' "$SCRATCH/continued")"

# ---- status
vp status --json > "$SCRATCH/status" 2> /dev/null
check "status tells the state and every step" jq -e '.hosts[0] | .complete and .state == "running" and .address == "198.51.100.139"
    and ([.steps[] | select(.done)] | length) == 4 and (.steps[3].found == "late indeed")' "$SCRATCH/status"
check "the domain is what xml prints" test "$(virsh dumpxml one-a --inactive | virsh_words)" = "$(vp -q xml a | virsh_words)"

# ---- words, and reset
# shellcheck disable=SC2016 # they are not to be expanded
check "words arrive as they are" test "$(vp -q ssh a -- printf '%s|' "it's" 'a  b' '$HOME')" = "it's|a  b|\$HOME|"
guest 'touch /etc/lab/dirt; sync'
began=$(date +%s%N)
check_exit 0 "a guest is reset" vp reset
echo "# reset took $((($(date +%s%N) - began) / 1000000)) ms"
check "what was written since the snapshot is gone" test "$(guest 'ls /etc/lab/dirt /etc/lab/late' 2> /dev/null)" = /etc/lab/late

# ---- trust
cp "$STATE/known_hosts" "$SCRATCH/known_hosts"
ssh-keygen -q -t ed25519 -N '' -f "$SCRATCH/other"
echo "one-a $(cut -d' ' -f1,2 "$SCRATCH/other.pub")" > "$STATE/known_hosts"
check_exit 255 "a guest with another host key is refused" vp -q ssh a -- true
check_says "by ssh itself" 'Host key verification failed' "$SCRATCH/err"
cp "$SCRATCH/known_hosts" "$STATE/known_hosts"
check "no password would do" test "$(ssh -F none -o BatchMode=yes -o UserKnownHostsFile="$STATE/known_hosts" -o HostKeyAlias=one-a \
    -o PreferredAuthentications=password,keyboard-interactive root@198.51.100.139 true 2>&1 | grep -c 'Permission denied')" = 1

# ---- one at a time
exec 8< "$XDG_STATE_HOME/harness/locks/libvirt_qemu____system_one-a"
flock 8
check_exit 3 "a second program must wait" vp stop
check_says "it is said" 'host a is in use by' "$SCRATCH/err"
exec 8<&-

# ---- one step again
vp rebuild --from late 2> "$SCRATCH/from"
check_says "--from runs that step again" '40-late: done' "$SCRATCH/from"
check "and none before it" test -z "$(grep 30-reboot "$SCRATCH/from")"
check_exit 2 "--from an unknown step is refused" vp rebuild --from lat
check_says "with the available ones" 'has no step "lat": it has 10-programs, 20-links, 30-reboot, 40-late' "$SCRATCH/err"

# ---- the power fails in the middle of a step
cat > "$STEPS/40-late" << 'END'
#!/bin/sh
case $1 in
check) [ -e /etc/lab/after ] && echo "after the power failed" ;;
apply)
    [ ! -e /etc/lab/cut ] || exec touch /etc/lab/after
    touch /etc/lab/cut
    sync
    touch /etc/lab/ready
    sleep 250
    ;;
esac
END
: > "$STATE/hosts/a/log"
vp rebuild --from late 2> "$SCRATCH/cut" &
victim=$!
until grep -q '40-late apply' "$STATE/hosts/a/log" || ! kill -0 $victim 2> /dev/null; do sleep 0.1; done
in_the_step() { timeout 20 "$TREE/build/virt-provision" --lab "$LAB" --quiet ssh a -- test -e /etc/lab/ready 2> /dev/null; }
until in_the_step || ! kill -0 $victim 2> /dev/null; do sleep 0.2; done
virsh -q destroy one-a
wait $victim
check "a rebuild goes on when the power of a guest failed in a step" test $? = 0
check_says "... the step is run again" '40-late apply: connection lost .*connecting and running it again' "$SCRATCH/cut"
check_says "... to its end" '40-late: done .*after the power failed' "$SCRATCH/cut"
check_exit 0 "... and status finds it so" vp status --check
guest 'rm /etc/lab/after'
check_exit 1 "a step whose check fails now" vp status --check
check_says "... is shown" '40-late +DRIFTED' "$SCRATCH/out"

# ---- libvirtd restarted under a running guest
daemon=$(cat /run/libvirtd.pid)
kill "$daemon"
while kill -0 "$daemon" 2> /dev/null; do sleep 0.1; done
libvirtd -d -p /run/libvirtd.pid
tries=0
until virsh -q list > /dev/null 2>&1 || [ $tries -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
check_exit 0 "a guest survives a restart of libvirtd" vp -q ssh a -- true

# ---- a domain of somebody else's
put_away
virsh -q define /dev/stdin << 'END'
<domain type='qemu'><name>one-a</name><memory unit='MiB'>64</memory><os><type arch='x86_64'>hvm</type></os></domain>
END
uuid=$(virsh domuuid one-a)
check_exit 3 "a foreign domain is not rebuilt" vp rebuild
check_says "it is said, with the way out" 'domain one-a was not created by virt-provision and is not changed; --adopt replaces it' "$SCRATCH/err"
check_exit 3 "nor destroyed" vp destroy
check "it is as it was" test "$(virsh domuuid one-a)" = "$uuid"
virsh -q undefine one-a

# ---- no room, no permission
mkdir "$SCRATCH/small"
mount -t tmpfs -o size=100m tmpfs "$SCRATCH/small"
at_exit umount "$SCRATCH/small"
jq ".pool = \"$SCRATCH/small\"" "$LAB" > "$SCRATCH/small.json"
check_exit 3 "a pool that is too small is noticed" vp --lab "$SCRATCH/small.json" rebuild
check_says "before the copy, with numbers" 'has 1?[0-9][0-9] MiB free, [0-9]+ MiB are needed: free some space' "$SCRATCH/err"
vp --lab "$SCRATCH/small.json" -q destroy
chmod 700 /run/libvirt
check_exit 3 "a user without permission is told" setpriv --reuid=65534 --clear-groups env HOME=/tmp XDG_STATE_HOME=/tmp/nobody "$BUILD/virt-provision" --lab soft-pair status
check_says "what to do" 'no permission to use libvirt at qemu:///system .*: become a member of the group libvirt' "$SCRATCH/err"
chmod 755 /run/libvirt

# ---- nothing is left
check_exit 0 "what is not there can be destroyed" vp destroy
check "no domain, network or pool is left" test -z "$(virsh -q list --all --name | grep one-)$(virsh -q net-list --all --name | grep one-)$(virsh -q pool-list --all --name | grep one)"
check "no disk is left" test ! -e /var/lib/libvirt/images/harness-one
check "no key is left" test -z "$(ls -A "$STATE")"
finish
