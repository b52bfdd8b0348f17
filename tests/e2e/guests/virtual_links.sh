#!/bin/bash
# Links and limits of the virtual ConnectX: a port that goes down, flaps or loses its cable takes the link from its peer, and gives it back;
# data goes over a second function where the first has no link; 131 VLANs.
# shellcheck disable=SC2016,SC2317 # what stands in single quotes is the guest's; functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_require "$0" "$@"
DEBUG=/sys/kernel/debug/virtual-connectx/0
SETTINGS=/etc/lab/virtual-connectx

softlab_module "links of a virtual ConnectX"
softlab_begin virtual-pair

# comes_to HOST FILE VALUE: a file of the host has this value, at the latest after a minute
comes_to() { softlab_ssh "$1" "for _ in \$(seq 600); do [ \"\$(cat $2 2> /dev/null)\" != '$3' ] || exit 0; sleep 0.1; done; cat $2; exit 1" < /dev/null; }
has_link() { comes_to "$1" /sys/class/net/roce0/carrier "$2"; }
port_is() { comes_to "$1" /sys/class/infiniband/mlx5_0/ports/1/state "$2"; }
reaches() { softlab_ssh a "ping -c 1 -W 20 $1" < /dev/null; }
both() { softlab_ssh a "$1" < /dev/null; local status=$?; softlab_ssh b "$1" < /dev/null && return $status; }

# ---- the link of a's port, by what happens to b's
check "both have the link" has_link a 1
check "... and programs do" port_is a '4: ACTIVE'
softlab_ssh a 'stdbuf -oL ibv_asyncwatch -d mlx5_0 > /tmp/events 2>&1 < /dev/null & echo $! > /tmp/events.pid' < /dev/null
before=$(softlab_ssh a cat /sys/class/net/roce0/carrier_changes < /dev/null)
softlab_ssh b 'ip link set roce0 down' < /dev/null
check "b's port is taken down: a has no carrier" has_link a 0
check "... nor do programs see an active port" port_is a '1: DOWN'
softlab_ssh b 'ip link set roce0 up' < /dev/null
check "... it comes back" has_link a 1
check "... also for programs" port_is a '4: ACTIVE'
softlab_ssh b "echo 0 > $DEBUG/cable" < /dev/null
check "b's cable is pulled out: a has no carrier" has_link a 0
softlab_ssh b "echo 1 > $DEBUG/cable" < /dev/null
check "... it comes back" has_link a 1
softlab_ssh b "echo flap 1500 > $DEBUG/fault" < /dev/null
check "b's port flaps: a's goes down and up, three times now" comes_to a /sys/class/net/roce0/carrier_changes $((before + 6))
check "... and its programs" port_is a '4: ACTIVE'
softlab_ssh a 'kill $(cat /tmp/events.pid); grep -o "PORT_[A-Z]*" /tmp/events | uniq -c; rm /tmp/events /tmp/events.pid' < /dev/null > "$SCRATCH/events"
check "... by an event each" test "$(awk '{ print $1 $2 }' "$SCRATCH/events" | tr '\n' ' ')" = "1PORT_ERR 1PORT_ACTIVE 1PORT_ERR 1PORT_ACTIVE 1PORT_ERR 1PORT_ACTIVE "
check "data goes through again" reaches 10.0.2.2

# ---- what ethtool lists is accepted
softlab_ssh a ethtool roce0 < /dev/null | grep -oE '[0-9]+base' | sort -u > "$SCRATCH/speeds"
check "a speed is listed" test -s "$SCRATCH/speeds"
while read -r speed; do check "... ${speed%base} Mb/s is accepted" softlab_ssh a "ethtool -s roce0 speed ${speed%base} autoneg off" < /dev/null; done < "$SCRATCH/speeds"
check "... and negotiated again" softlab_ssh a 'ethtool -s roce0 autoneg on' < /dev/null
check "... the link is there" has_link b 1

# ---- 131 VLANs: the last one works as well
both 'echo virtual_links begins > /dev/kmsg; seq 2 132 | sed "s/.*/link add link roce0 name v& type vlan id &/" | ip -batch -' || nok "VLANs are made"
for host in a b; do softlab_ssh $host "ip link set v132 up; ip address add 10.0.132.$([ $host = a ] && echo 1 || echo 2)/24 dev v132" < /dev/null; done
check "131 VLANs, and data on the last one" reaches 10.0.132.2
check "... none is left out" test -z "$(both "dmesg | sed '1,/virtual_links begins/d'" | grep -E 'vlan|Call Trace|failed')"
both 'seq 2 132 | sed "s/.*/link delete v&/" | ip -batch -'

# ---- two functions on each host, two cables: the second is a VLAN of the interface that carries the first
# functions COUNT: the module anew with as many
functions() {
    both "[ $1 = 2 ] || [ -e $SETTINGS.kept ] || exit 0
        rmmod mlx5_ib mlx5_core; rmmod virtual_connectx
        if [ $1 = 2 ]; then
            cp $SETTINGS $SETTINGS.kept
            ip link add link data0 name data1 type vlan id 2
            sed -Ei 's/^address=.*/address=/; s/^rates=\"(.*)\"/rates=\"\1 \1\"/; s/^enclose=.*/enclose=1,1/' $SETTINGS
        else
            mv $SETTINGS.kept $SETTINGS; ip link delete data1
        fi
        /etc/lab/boot.d/20-virtual-connectx > /dev/null"
}
# Addresses that are reached over the first function, or over the second where the first has no link.
has_two_ways() { # OWN PEER: the last bytes of the addresses
    echo "sysctl -qw net.ipv4.conf.all.ignore_routes_with_linkdown=1
        ip address add 10.0.3.$1/24 dev roce0; ip address add 10.0.4.$1/24 dev roce1; ip address add 10.0.9.$1/32 dev lo
        ip route add 10.0.9.$2 via 10.0.3.$2 dev roce0 src 10.0.9.$1 metric 1
        ip route add 10.0.9.$2 via 10.0.4.$2 dev roce1 src 10.0.9.$1 metric 2"
}
goes_over() { softlab_ssh a "ip route get 10.0.9.2" < /dev/null | grep "dev $1 "; }
at_exit functions 1
check "two functions on each host" functions 2
check "... have links" has_link a 1
for host in a b; do
    # shellcheck disable=SC2046 # two words
    softlab_ssh $host "$(has_two_ways $([ $host = a ] && echo 1 2 || echo 2 1))" < /dev/null || nok "$host has two ways to the other"
done
check "... a's data goes over the first" goes_over roce0
check "... and arrives" reaches 10.0.9.2
softlab_ssh b 'ip link set roce0 down' < /dev/null
check "the first port of b goes down: a has no carrier there" has_link a 0
check "... its data goes over the second" goes_over roce1
check "... and arrives" reaches 10.0.9.2
both 'ip address del 10.0.9.1/32 dev lo 2> /dev/null || ip address del 10.0.9.2/32 dev lo; sysctl -qw net.ipv4.conf.all.ignore_routes_with_linkdown=0'
check "one function again" functions 1
check "... and its link" has_link a 1
check "... its address" reaches 10.0.2.2
finish
