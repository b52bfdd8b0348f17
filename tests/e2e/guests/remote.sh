#!/bin/bash
# libvirt on another machine (qemu+ssh://): an sshd of the test's own on loopback is that machine. Its sentences when it cannot be
# reached; a guest is built through it, reached through it, and removed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
# shellcheck source=tests/e2e/guests/home.bash
. "$(dirname "$0")/home.bash"
skip_unless "libvirt on another machine" sshd virt-ssh-helper

softlab_home
LAB=$SCRATCH/far.json
jq '.name = "far" | .uri = "qemu+ssh://rack7/system" | .management.subnet = "203.0.113.0/26" | .hosts = {a: (.hosts.a + {domain: "far-a"})} | .links = []' \
    "$ROOT/labs/soft-pair.json" > "$LAB"
vp() { "$BUILD/virt-provision" --lab "$LAB" "$@"; }

# ---- the machine: it accepts no key yet
ssh-keygen -q -t ed25519 -N '' -f "$SCRATCH/machine"
: > "$SCRATCH/authorized"
printf '%s\n' 'Port 2222' 'ListenAddress 127.0.0.1' "HostKey $SCRATCH/machine" "PidFile $SCRATCH/sshd.pid" "AuthorizedKeysFile $SCRATCH/authorized" \
    'StrictModes no' 'UsePAM no' 'PasswordAuthentication no' 'KexAlgorithms curve25519-sha256' 'MaxSessions 64' "SetEnv HOME=$SCRATCH/home" > "$SCRATCH/sshd_config"
mkdir -p /run/sshd "$SCRATCH/home"

told() { # WHAT PATTERN
    check_exit 3 "$1" vp status
    check_says "... is told" "libvirt at qemu\+ssh://rack7/system cannot be reached: $2.*: .ssh rack7 virsh version. must work without asking for anything" "$SCRATCH/err"
}
told "a machine that is not known" 'ssh: Could not resolve hostname rack7'
printf 'Host rack7\n    HostName 127.0.0.1\n    Port 2222\n' > "$DOT_SSH/config"
told "a machine where nobody listens" 'ssh: connect to host 127.0.0.1 port 2222: Connection refused'
/usr/sbin/sshd -f "$SCRATCH/sshd_config"
at_exit eval "kill \$(cat '$SCRATCH/sshd.pid')"
at_exit vp --quiet destroy
told "a machine whose key nobody knows" 'Host key verification failed'
echo "[127.0.0.1]:2222 $(cut -d' ' -f1,2 "$SCRATCH/machine.pub")" > "$DOT_SSH/known_hosts"
told "a machine that refuses the login" '.*Permission denied'
cp "$DOT_SSH/id_ed25519.pub" "$SCRATCH/authorized"
check_exit 0 "a machine that takes the key" vp status
check_says "... says what is there" 'a  domain far-a  absent' "$SCRATCH/out"
check_exit 3 "devices of another machine are not looked for on this one" vp devices check
check_says "... it is said" "the devices of lab far are on another machine \(qemu\+ssh://rack7/system\): run this command there" "$SCRATCH/err"

# ---- a guest there
check_exit 0 "a guest is built" vp rebuild
check "it is in that libvirt" test "$(virsh -q -c qemu+ssh://rack7/system domstate far-a)" = running
check "it is reached through that machine" test "$(vp -q ssh a -- hostname)" = a
vp -q ssh-config > "$SCRATCH/ssh_config"
check "... by the file for ssh, too" test "$(ssh -F "$SCRATCH/ssh_config" -o BatchMode=yes a hostname)" = a
check_exit 0 "status asks it" vp status --check
check_says "... and its steps hold" '10-programs +done +nic-sampler' "$SCRATCH/out"
check_exit 0 "harness reaches it" "$BUILD/harness" install --lab "$LAB"
: > "$SCRATCH/authorized"
check_exit 3 "the machine refuses, all of a sudden" "$BUILD/harness" restore --lab "$LAB"
cp "$DOT_SSH/id_ed25519.pub" "$SCRATCH/authorized"
check_exit 0 "it is removed" vp destroy
check "nothing is left" test -z "$(virsh -q list --all --name | grep far-)$(virsh -q net-list --all --name | grep far-)$(virsh -q pool-list --all --name | grep far)"
finish
