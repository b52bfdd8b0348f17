#!/bin/bash
# A lab from elsewhere: whatever reads it refuses the same values, with the same sentence, before anything is reached, run or written.
# shellcheck disable=SC2016 # the attacks are written as they are; $run is jq's
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "labs from elsewhere" jq
cd "$SCRATCH" || exit 1

# what an attack would run says so
printf '#!/bin/sh\necho "$0 $*" >>%s\n' "$SCRATCH/ran" >run
chmod +x run

# The commands that read a lab: the program, words before the lab and after it.
readers=("harness check|" "harness lab get|name" "harness restore --lab|" "harness doctor --lab|" "harness install --lab|"
    "virt-provision rebuild --dry-run --lab|" "virt-provision status --lab|" "virt-provision destroy --lab|")

attack() { # WHAT PATTERN JQ_FILTER
    local reader words status wrong=''
    jq --arg run "$SCRATCH/run" "$3" "$ROOT/labs/soft-pair.json" >lab.json || exit 1
    for reader in "${readers[@]}"; do
        read -ra words <<<"${reader%|*} lab.json ${reader#*|}"
        timeout 20 "$BUILD/${words[0]}" "${words[@]:1}" >out 2>err </dev/null
        status=$?
        [ "$status" = 2 ] || wrong+="${reader%|*}: exit status $status; "
        grep -qE -- "lab.json: $2" err || wrong+="${reader%|*}: $(head -n 1 err); "
    done
    if [ -z "$wrong" ]; then ok "$1"; else nok "$1" "$wrong"; fi
}
uri() { attack "a URI $1" 'uri: ".*" is not a URI of libvirt.s QEMU driver that a lab may have: expected one such as qemu:///system' ".uri = \"$2\""; }

# ---- where libvirt is
uri "with a command for ssh" 'qemu+ssh://localhost/system?command=\($run)'
uri "with a command behind a harmless parameter" 'qemu+ssh://localhost/system?no_tty=1&command=\($run)'
uri "with an escaped name of a parameter" 'qemu+ssh://localhost/system?%63ommand=\($run)'
uri "with a separator that libvirt also takes" 'qemu+ssh://localhost/system?no_tty=1;command=\($run)'
uri "of the transport ext" 'qemu+ext:///system?command=\($run)'
uri "with a netcat" 'qemu+ssh://localhost/system?netcat=\($run)'
uri "with a key file" 'qemu+ssh://localhost/system?keyfile=/root/.ssh/id_rsa'
uri "with a way to log in" 'qemu+libssh2://localhost/system?sshauth=none'
uri "that trusts every machine" 'qemu+ssh://localhost/system?no_verify=1'
uri "without encryption" 'qemu+tcp://localhost/system'
uri "of a hypervisor in this process" 'qemu:///embed?root=\($run)'
uri "with an option as the machine" 'qemu+ssh://-oProxyCommand=\($run)/system'
uri "with a command as the user" 'qemu+ssh://$(id)@localhost/system'
uri "with a socket on another machine" 'qemu+ssh://localhost/system?socket=/x'
uri "of a test driver with a file" 'test:///etc/passwd'
uri "of another hypervisor" 'lxc:///system'
uri "with a line break" 'qemu:///system\n'

# ---- names
attack "a host name that is a path" 'hosts: "../../x" is not a valid name' '.hosts["../../x"] = (.hosts.a | .domain = "x")'
attack "a host name with a line break" 'hosts: "a\\nb" is not a valid name' '.hosts["a\nb"] = (.hosts.a | .domain = "x")'
attack "a host name with a command" 'hosts: ".*" is not a valid name' '.hosts["$(\($run))"] = (.hosts.a | .domain = "x")'
attack "a host name that is an option" 'hosts: "-x" is not a valid name' '.hosts["-x"] = (.hosts.a | .domain = "x")'
attack "a host name of 65 letters" 'hosts: "b+" is not a valid name: expected at most 64' '.hosts["b" * 65] = (.hosts.a | .domain = "x")'
attack "a lab name with lines for a file that is read at boot" 'name: "x\\nb" is not a valid name' '.name = "x\nb"'
attack "a domain with a line break" 'hosts.a.domain: "x\\ny" is not a valid name' '.hosts.a.domain = "x\ny"'
attack "a profile that is a path" 'hosts.a.profile: "../x" is not a valid name' '.hosts.a.profile = "../x"'
attack "a bundle that is a path" 'hosts.a.bundle: "../x" is not a valid name' '.hosts.a.bundle = "../x"'
attack "a network with a line break" 'management.network: "d\\n" is not a valid name' '.management = {network: "d\n"}'
attack "a role with a line break" 'roles: "a\\n" is not a valid name' '.roles = {"a\n": "a"}'
attack "a title with a terminal escape" 'title: ".*" is not text of one line' '.title = "\u001b]0;x\u0007"'
attack "a title with a control character of two bytes" 'title: ".*" is not text of one line' '.title = "x\u009b31m"'

# ---- what stands in the guests'"'"' files
attack "an address with lines for NetworkManager" 'hosts.a.nic.address: "10.0.1.1/24\\n.*" is not an IPv4 or IPv6 address' '.hosts.a.nic.address = "10.0.1.1/24\n[connection]"'
attack "an address that is none" 'hosts.a.nic.address: "10.0.1.300/24" is not an IPv4 or IPv6 address' '.hosts.a.nic.address = "10.0.1.300/24"'
attack "a prefix length behind a line break" 'hosts.a.nic.address: "10.0.1.1/.n24" is not an IPv4 or IPv6 address' '.hosts.a.nic.address = "10.0.1.1/\n24"'
attack "a MAC address with a line" 'hosts.a.nic.mac: ".*" is not a MAC address' '.hosts.a.nic.mac = "52:54:00:00:00:01\nx"'
attack "a device that is a path" 'hosts.a.nic.netdev: "../x" is not a valid name' '.hosts.a.nic.netdev = "../x"'
attack "a PCI address that is none" 'hosts.a.nic.pci: "41:00" is not a PCI address' '.hosts.a.nic.pci = "41:00"'
attack "a folder of programs with a line break" 'hosts.a.programs: ".*" is not text of one line' '.hosts.a.programs = "/usr\n/bin"'

# ---- ssh
attack "an ssh destination that is an option" 'hosts.c.ssh: ".*" is not a destination of ssh' '.hosts.c = {ssh: "-oProxyCommand=\($run)"}'
attack "an ssh destination with a command" 'hosts.c.ssh: ".*" is not a destination of ssh' '.hosts.c = {ssh: "root@$(id)"}'
attack "an ssh destination with an option behind the user" 'hosts.c.ssh: ".*" is not a destination of ssh' '.hosts.c = {ssh: "root@-oX"}'
attack "a file of host keys with a line break" 'hosts.c.known_hosts: ".*" is not text of one line' '.hosts.c = {ssh: "x", known_hosts: "x\ny"}'

# ---- what only the rebuild refused
attack "pins that do not fit" 'hosts.a.pin.vcpus: "0-2" has 3 CPUs: expected 4' '.hosts.a += {vcpus: 4, pin: {vcpus: "0-2"}}'
attack "nodes that are none" 'hosts.a.pin.memory: "0;2" is not a list of CPUs' '.hosts.a.pin = {memory: "0;2"}'
attack "a pool that is no absolute path" 'pool: "images" is not an absolute path' '.pool = "images"'
attack "a subnet that is none" 'management.subnet: "198.51.100.1/26" is not an IPv4 network' '.management.subnet = "198.51.100.1/26"'
attack "a subnet without room" 'management.subnet: 198.51.100.0/28 has no address left for host h5 \(number 5\)' \
    '.management.subnet = "198.51.100.0/28" | .hosts += ([range(3; 6) as $i | {key: "h\($i)", value: (.hosts.a | .domain = "d\($i)")}] | from_entries)'
attack "switches with two links between them" 'links\[1\]: a and b are joined already, and frames would go round' \
    '(.hosts.a, .hosts.b).switch = {headroom: "64KiB"} | .links = [.links[0], .links[0]]'
attack "switches in a ring" 'links\[2\]: c and a are joined already, and frames would go round' \
    '.hosts.c = (.hosts.a | .domain = "c") | .hosts[].switch = {headroom: "64KiB"} | .links = [(["a", "b"], ["b", "c"], ["c", "a"]) as $ends | .links[0] | .between = $ends]'
attack "more links than a guest has ports" 'hosts.a: has 66 links: a guest has at most 65' '.links = [range(66) as $i | .links[0]]'

check "nothing of a lab was run" test ! -e ran
check "nothing was written" test ! -e "$XDG_STATE_HOME"
for lab in "$ROOT"/labs/*.json; do
    check_exit 0 "$(basename "$lab") is good" "$BUILD/harness" check "$lab"
done
for good in qemu:///session 'qemu+unix:///system?socket=/run/libvirt/libvirt-sock' 'qemu+ssh://root@rack7.example.org:2222/system?mode=direct&no_tty=1' \
    'qemu+ssh://[2001:db8::1]/system?proxy=native' 'qemu+tls://rack7/system' test:///default; do
    jq --arg uri "$good" '.uri = $uri' "$ROOT/labs/soft-pair.json" >lab.json
    check_exit 0 "$good is good" "$BUILD/harness" check lab.json
done

# ---- values for scripts
got() { # WHAT EXPECTED PATH...
    local what=$1 expected=$2
    shift 2
    "$BUILD/harness" lab get "$ROOT/labs/geforce-bridge.json" "$@" >out 2>err
    if [ "$(cat out)" = "$expected" ]; then ok "$what"; else nok "$what" "$(cat out err)"; fi
}
not_got() { # WHAT PATTERN PATH
    check_exit 2 "$1" "$BUILD/harness" lab get "$ROOT/labs/geforce-bridge.json" "$3"
    check_says "... $3" "$2" "$SCRATCH/err"
}
got "the names of hosts, in their order" $'a\nswitch\nb' hosts
got "quantities are whole numbers of their unit" $'34359738368\n1073741824\n25000000000' hosts.a.memory hosts.a.pin.hugepage links.0.rate
got "a value that is not set is an empty line" $'\n2-7,16-23,34-39,48-55' hosts.switch.domain hosts.a.pin.vcpus
got "... also in an object that is not there" $'\n/usr/local/bin' hosts.a.gpu.pci hosts.a.programs
got "... and is left out behind a star" $'vm00\nvm01' 'hosts.*.domain'
got "lists have indices and stars" $'0000:61:00.0\n0000:61:00.0' 'hosts.switch.extra_nics.*.pci' hosts.switch.extra_nics.0.pci
got "a list of words" $'a\nswitch' links.0.between
not_got "an unknown key" 'hosts.a.memroy: there is no key "memroy"; did you mean "memory"' hosts.a.memroy
not_got "an unknown host" 'hosts.c.memory: there is no "c" among 3 hosts' hosts.c.memory
not_got "a part of a value" 'driver is one value, which has no parts' driver.x
not_got "an empty path" 'there is no key ""' ''
check_exit 2 "an unknown word" "$BUILD/harness" lab put x y
finish
