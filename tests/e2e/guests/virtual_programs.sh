#!/bin/bash
# What uses RDMA elsewhere, between two guests with a virtual ConnectX: UCX, libfabric, qperf, librdmacm's programs, Open MPI, NVMe, NFS and iSCSI
# over RDMA, RDS; XDP; queue pairs and memory regions that come and go, and clients that are killed, both in traffic. A program succeeds, what
# it moved is what was sent, and the driver of the NIC counts it as RDMA and not as Ethernet. (perftest, pingpongs, rping, udaddy, cmtime:
# virtual_peers.sh; UCX with buffers at any address: virtual_tools.sh.)
# shellcheck disable=SC2016 # what is quoted is for the guests
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$(dirname "$0")/softlab.bash"
softlab_image debian-12-virtual-programs
softlab_require "$0" "$@"
softlab_module "guests with a virtual ConnectX"
softlab_begin virtual-programs
B=10.0.5.2
if softlab_ofed a; then
    skip "NVMe, NFS, iSCSI and RDS over RDMA, and programs" guest-loads-no a nvme_rdma
    finish
fi

# ---- on the guests: `counted COMMAND...` says what the NIC's driver counted meanwhile, both ways; `device` and `gid` are RoCE v2's over IPv4
cat > "$SCRATCH/counted" << 'END'
#!/bin/bash
count() { ethtool -S roce0 | awk '/ [rt]x_vport_rdma_(unicast|multicast)_bytes:/ { rdma += $2 } / [rt]x_vport_unicast_bytes:/ { other += $2 } END { printf "%d %d", rdma, other }'; }
before=($(count))
"$@"
status=$?
after=($(count))
echo "counted: $((after[0] - before[0])) bytes of RDMA, $((after[1] - before[1])) of Ethernet"
exit $status
END
chmod 755 "$SCRATCH/counted"
for host in a b; do
    check "$host is ready" softlab_put $host "$SCRATCH/counted"
    softlab_ssh $host 'echo virtual_programs begins > /dev/kmsg' < /dev/null
done
on() { softlab_ssh "$1" "${@:2}" < /dev/null; }
resources() { for host in a b; do on $host 'rdma resource show' | sed "s/^[0-9]*: /$host: /"; done; }
# at least so many bytes, by RDMA: a program that took TCP has them as Ethernet
# shellcheck disable=SC2317 # called through check
by_rdma() { # BYTES FILE
    local rdma other
    read -r rdma other < <(sed -n 's/^counted: \(-*[0-9]*\) bytes of RDMA, \(-*[0-9]*\) of Ethernet$/\1 \2/p' "$2")
    echo "$rdma bytes of RDMA and $other of Ethernet, expected $1 or more of RDMA and fewer of Ethernet"
    [ "${rdma:-0}" -ge "$1" ] && [ "$other" -lt "$1" ]
}
# A client on a, whose bytes are counted, and with a server on b; LISTENS is a command on b that succeeds when the server waits for it.
between() { # WHAT BYTES LISTENS SERVER CLIENT
    local server status
    on b "timeout 200 $4" > "$SCRATCH/server" 2>&1 &
    server=$!
    until_true 60 on b "$3" || echo "# $1: its server does not listen"
    on a "timeout 200 counted $5" > "$SCRATCH/client" 2>&1
    status=$?
    if [ $status = 0 ]; then ok "$1"; else nok "$1" "exit code $status: $(tail -n 8 "$SCRATCH/client") server: $(tail -n 8 "$SCRATCH/server")"; fi
    check "... by RDMA" by_rdma "$2" "$SCRATCH/client"
    wait $server
    status=$?
    if [ $status = 0 ]; then ok "... and its server ends well"; else nok "... and its server ends well" "exit code $status: $(tail -n 5 "$SCRATCH/server")"; fi
}
listens() { echo "ss -Hltn | grep -q ':$1 '"; }
listens_cm() { echo "rdma resource show cm_id | grep -q 'LISTEN.* comm $1'"; }
resources > "$SCRATCH/resources"
sed 's/^/# /' "$SCRATCH/resources"

# ---- UCX: RC and UD, by verbs (_v) and by the device's own queues (_x); RC's connections are made by UD (rc_verbs alone has no such transport)
for transport in rc_v rc_x ud_v ud_x; do
    ucx="env UCX_TLS=$transport UCX_NET_DEVICES=mlx5_0:1 ucx_perftest -p 18610"
    between "UCX's tags of 64 bytes, $transport" $((64 * 2 * 200)) "$(listens 18610)" "$ucx" "$ucx $B -t tag_lat -s 64 -n 200 -w 2"
    case $transport in rc_*) between "UCX's puts of 64 KiB, $transport" $((65536 * 40)) "$(listens 18610)" "$ucx" "$ucx $B -t ucp_put_bw -s 65536 -n 40 -w 2" ;; esac
done

# ---- libfabric; fi_pingpong -c compares the data
for kind in "verbs msg" "verbs;ofi_rxm rdm"; do
    fabric="fi_pingpong -p '${kind% *}' -e ${kind#* } -I 50 -S 16384 -c"
    between "libfabric's $kind" $((2 * 50 * 16384)) "$(listens 47592)" "$fabric" "$fabric $B"
done

# ---- qperf, one server for all
on b 'setsid qperf > /tmp/qperf.out 2>&1 < /dev/null &'
until_true 60 on b "$(listens 19765)"
# two seconds each; those of atomics compare what they find; by librdmacm (-cm) a test's server ends in a NULL pointer of qperf's own when the client has gone
for name in rc_bw rc_lat rc_rdma_write_bw rc_rdma_read_bw ver_rc_compare_swap ver_rc_fetch_add; do
    check_exit 0 "qperf's $name" on a "timeout 200 counted qperf $B -cm 1 $name"
    check "... by RDMA" by_rdma 4000 "$SCRATCH/out"
    echo "# $(paste -sd ' ' "$SCRATCH/out")"
done
on b 'pkill -x qperf'

# ---- librdmacm's: connections, streams of sockets, a file, a multicast group
between "ucmatose, four connections" $((4 * 20 * 2048)) "$(listens_cm ucmatose)" "ucmatose -c 4 -C 20 -S 2048" "ucmatose -s $B -c 4 -C 20 -S 2048"
between "rstream" $((65536 * 10)) "$(listens_cm rstream)" "rstream -S 65536 -C 10 -T v" "rstream -s $B -S 65536 -C 10 -T v"
between "mckey, a multicast group" $((20 * 512)) "rdma resource show qp | grep -q 'comm mckey'" "mckey -m 239.1.5.9 -b $B -c 1 -C 20 -S 512" "mckey -m 239.1.5.9 -s -b 10.0.5.1 -c 1 -C 20 -S 512"
on a 'head -c 1000003 /dev/urandom > /tmp/file'
on b 'setsid rcopy > /tmp/rcopy.out 2>&1 < /dev/null &'
until_true 60 on b "$(listens_cm rcopy)"
check_exit 0 "rcopy, a file" on a "timeout 200 counted rcopy /tmp/file $B:/tmp/file"
check "... by RDMA" by_rdma 1000003 "$SCRATCH/out"
on b 'pkill -x rcopy'
# shellcheck disable=SC2317 # called through check
sums() { [ "$(on a "md5sum < $1")" = "$(on b "md5sum < ${2:-$1}")" ]; }
check "... whose copy is the same" sums /tmp/file

# ---- Open MPI over UCX, by ssh from a to b; NetPIPE's -i compares what came with what was sent
on a 'ssh-keygen -q -t ed25519 -N "" -f /tmp/key && cat /tmp/key.pub' > "$SCRATCH/key.pub"
softlab_ssh b 'cp ~/.ssh/authorized_keys /tmp/keys-before && cat >> ~/.ssh/authorized_keys' < "$SCRATCH/key.pub"
for transport in rc_v rc_x; do
    check_exit 0 "Open MPI over UCX's $transport" on a "timeout 240 counted mpirun --allow-run-as-root -np 2 --host 10.0.5.1,$B --mca oob_tcp_if_include roce0 \
        --mca plm_rsh_args '-i /tmp/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR' \
        --mca pml ucx --mca btl self --mca osc ucx -x UCX_TLS=$transport,self -x UCX_NET_DEVICES=mlx5_0:1 NPopenmpi -i -n 5 -l 4096 -u 65536"
    check "... its data came as sent, in nine sizes" test "$(cat "$SCRATCH/out" "$SCRATCH/err" | grep -c 'Integrity check passed$')" = 9
    check "... by RDMA" by_rdma 500000 "$SCRATCH/out"
done
on b 'cat /tmp/keys-before > ~/.ssh/authorized_keys'

# ---- storage: disks in b's memory, by NVMe and by iSCSI (iSER). fio reads all that it wrote, by crc32c; then both ends see the same disk
on b 'modprobe configfs; modprobe brd rd_nr=2 rd_size=12288; mount -t configfs configfs /sys/kernel/config'
# shellcheck disable=SC2317 # called through check
appears() { until_true 60 on a "test -b $1 && blockdev --getsize64 $1 | grep -qx $((12 << 20))"; }
disk() { # WHAT DISK_OF_A DISK_OF_B
    check "$1 is there" appears "$2"
    check_exit 0 "... fio writes and verifies it" on a "timeout 300 counted fio --filename=$2 --direct=1 --ioengine=libaio --iodepth=8 --verify=crc32c --verify_fatal=1 \
        --name=small --rw=randwrite --bs=4k --size=1M --name=large --stonewall --rw=write --bs=1M --offset=1M --size=8M"
    check "... by RDMA" by_rdma $((2 * 9 << 20)) "$SCRATCH/out"
    check "... b's disk has what a reads" sums "$2" "$3"
}
check "b offers a disk by NVMe" on b 'modprobe nvmet-rdma && cd /sys/kernel/config/nvmet && mkdir subsystems/disk && echo 1 > subsystems/disk/attr_allow_any_host &&
    mkdir subsystems/disk/namespaces/1 && echo /dev/ram0 > subsystems/disk/namespaces/1/device_path && echo 1 > subsystems/disk/namespaces/1/enable &&
    mkdir ports/1 && cd ports/1 && echo rdma > addr_trtype && echo ipv4 > addr_adrfam && echo 10.0.5.2 > addr_traddr && echo 4420 > addr_trsvcid &&
    ln -s /sys/kernel/config/nvmet/subsystems/disk subsystems/disk'
check "a connects" on a "modprobe nvme-rdma && nvme connect -t rdma -a $B -s 4420 -n disk -i 1 -Q 16"
disk "the NVMe disk" /dev/nvme0n1 /dev/ram0
check "... and a disconnects" on a 'nvme disconnect -n disk && modprobe -r nvme-rdma'
check "... b too" on b 'cd /sys/kernel/config/nvmet && rm ports/1/subsystems/disk && rmdir ports/1 subsystems/disk/namespaces/1 subsystems/disk && modprobe -r nvmet-rdma'

NAME=iqn.2003-01.org.example:disk
check "b offers a disk by iSCSI" on b "modprobe -a iscsi_target_mod ib_isert target_core_iblock && cd /sys/kernel/config/target && mkdir -p core/iblock_0/disk &&
    echo udev_path=/dev/ram1 > core/iblock_0/disk/control && echo 1 > core/iblock_0/disk/enable && mkdir -p iscsi/$NAME/tpgt_1/lun/lun_0 && cd iscsi/$NAME/tpgt_1 &&
    ln -s /sys/kernel/config/target/core/iblock_0/disk lun/lun_0/disk && mkdir np/$B:3260 && echo 1 > np/$B:3260/iser && echo 0 > attrib/authentication &&
    echo 1 > attrib/generate_node_acls && echo 0 > attrib/demo_mode_write_protect && echo 1 > enable"
check "a logs in" on a "modprobe -a ib_iser sd_mod && mkdir -p /run/lock/iscsi && echo InitiatorName=\$(iscsi-iname) > /etc/iscsi/initiatorname.iscsi && iscsid &&
    iscsiadm -m node -o new -T $NAME -p $B:3260,1 -I iser && iscsiadm -m node -T $NAME -p $B:3260 --login"
disk "the iSER disk" /dev/sda /dev/ram1
check "... and a logs out" on a "iscsiadm -m node -T $NAME -p $B:3260 --logout && pkill -x iscsid; modprobe -r ib_iser"
check "... b too" on b "cd /sys/kernel/config/target && echo 0 > iscsi/$NAME/tpgt_1/enable && rmdir iscsi/$NAME/tpgt_1/np/* && rm iscsi/$NAME/tpgt_1/lun/lun_0/disk &&
    rmdir iscsi/$NAME/tpgt_1/lun/lun_0 iscsi/$NAME/tpgt_1 iscsi/$NAME iscsi core/iblock_0/disk core/iblock_0 && modprobe -r ib_isert"

# ---- NFS
check "b exports a folder by NFS" on b 'mkdir -p /srv/nfs && mount -t tmpfs tmpfs /srv/nfs && modprobe -a nfsd rpcrdma && mount -t nfsd nfsd /proc/fs/nfsd &&
    echo 10 > /proc/fs/nfsd/nfsv4gracetime && echo 10 > /proc/fs/nfsd/nfsv4leasetime && exportfs -i -o rw,no_root_squash,fsid=1,insecure 10.0.5.1:/srv/nfs &&
    rpc.mountd -N 3 && rpc.nfsd -N 3 --rdma=20049 1'
check "a mounts it" on a "modprobe -a nfsv4 rpcrdma && mount -t nfs4 -o vers=4.2,proto=rdma,port=20049 $B:/srv/nfs /mnt && grep -q ' /mnt nfs4 .*proto=rdma' /proc/mounts"
check_exit 0 "... writes a file" on a 'head -c 4000003 /dev/urandom > /tmp/file && counted sh -c "cp /tmp/file /mnt/written && sync -f /mnt"'
check "... by RDMA" by_rdma 4000003 "$SCRATCH/out"
check "... which b has" sums /tmp/file /srv/nfs/written
on b 'head -c 4000003 /dev/urandom > /srv/nfs/read'
check_exit 0 "... reads a file" on a 'counted cp /mnt/read /tmp/file'
check "... by RDMA" by_rdma 4000003 "$SCRATCH/out"
check "... which is b's" sums /tmp/file /srv/nfs/read
check "... and lets it go" on a 'umount /mnt'
check "... b too" on b 'rpc.nfsd 0; exportfs -ua; pkill -x rpc.mountd; umount /srv/nfs /proc/fs/nfsd'

# ---- RDS, whose tools Debian has not; its addresses are IP's
cat > "$SCRATCH/rds.py" << 'END'
import hashlib, select, socket, sys
here, there = (sys.argv[1], 18621), (sys.argv[2], 18621)
rds = socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, 0, socket.socket(21, socket.SOCK_SEQPACKET).detach())
rds.setsockopt(276, 8, 0)  # SO_RDS_TRANSPORT: InfiniBand's verbs, not TCP
rds.bind(here)
messages = [bytes([i]) * 8000 for i in range(100)]
if here < there:
    for message in messages:
        rds.sendto(message, there)
    sys.exit(rds.recv(8000)[:16] != hashlib.md5(b"".join(messages)).digest())
open("/tmp/rds-waits", "w")
seen = hashlib.md5()
for _ in messages:
    seen.update(rds.recv(9000))
rds.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
room = rds.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 2
rds.sendto(seen.digest().ljust(room), there)
select.select([], [rds], [])  # there is room again: it was acknowledged, and is not lost when the socket is closed
END
for host in a b; do check "$host has RDS" softlab_ssh $host 'cat > /tmp/rds.py && modprobe rds_rdma' < "$SCRATCH/rds.py"; done
between "RDS, messages whose digest comes back" 800000 "test -e /tmp/rds-waits" "python3 /tmp/rds.py $B 10.0.5.1" "python3 /tmp/rds.py 10.0.5.1 $B"
for host in a b; do check "... $host lets its connections go" until_true 60 on $host 'modprobe -r rds_rdma rds'; done

# ---- XDP in the driver of b
# shellcheck disable=SC2317 # called through check
pings() { on a "ping -c 5 -i 0.2 -W 2 -q $B; true" | grep -q " $1 received"; }
dropped() { on b 'ethtool -S roce0' | awk '/ rx_xdp_drop:/ { print $2 }'; }
check "XDP runs in b's driver" on b 'mount -t bpf bpf /sys/fs/bpf; xdp-filter load -m native -p allow -f ipv4 roce0 && ip link show roce0 | grep -q " xdp "'
check "... what it passes arrives" pings 5
before=$(dropped)
check "... it is told to drop" on b 'xdp-filter ip -m src 10.0.5.1'
check "... and what it drops does not arrive" pings 0
check "... the driver counts it" test $(($(dropped) - before)) -ge 5
between "RDMA, which does not pass by XDP," 24000 "$(listens_cm rping)" "rping -s -a $B -C 8 -S 3000 -V" "rping -c -a $B -C 8 -S 3000 -V"
check "XDP passes all again" on b 'xdp-filter ip -r -m src 10.0.5.1'
check "... and it arrives" pings 5
check "... without XDP too" on b 'xdp-filter unload roce0 && ! ip link show roce0 | grep -q " xdp "'
check "... it arrives" pings 5

# the kernel keeps completion queues that storage had, for the next
# shellcheck disable=SC2317 # called through until_true
as_before() { diff <(resources | sed "${1:-}") <(sed "${1:-}" "$SCRATCH/resources"); }
check "queue pairs, regions and the rest are as many as at the beginning" until_true 60 as_before 's/ cq [0-9]*//'
resources > "$SCRATCH/resources"

# ---- in traffic: what comes and goes, then kill -9. Clients poll, and take an emulated processor from what goes on beside them
cat > "$SCRATCH/churn.py" << 'END'
from pyverbs import cq, device, mr, pd, qp, enums as e
with device.Context(name="mlx5_0") as context:
    for i in range(100):
        with pd.PD(context) as domain, cq.CQ(context, 16 + i) as queue, mr.MR(domain, 4096 * (1 + i), e.IBV_ACCESS_LOCAL_WRITE):
            kind = (e.IBV_QPT_RC, e.IBV_QPT_UC, e.IBV_QPT_UD)[i % 3]
            wanted = qp.QPInitAttr(qp_type=kind, scq=queue, rcq=queue, cap=qp.QPCap(max_send_wr=16 + i, max_recv_wr=16))
            qp.QP(domain, wanted).close()
END
for host in a b; do softlab_ssh $host 'cat > /tmp/churn.py' < "$SCRATCH/churn.py"; done
CLIENTS=2
writes='for i in $(seq '$CLIENTS'); do setsid ib_write_bw -d mlx5_0 -x 1 -F -s 65536 --run_infinitely -p 1863$i $peer > /tmp/writes.$i 2>&1 < /dev/null & done'
on b "peer=; $writes"
until_true 60 on b '[ "$(ss -Hltn | grep -c ":1863[0-9] ")" = '$CLIENTS' ]'
on a "peer=$B; $writes"
# shellcheck disable=SC2317 # called through until_true
write_pairs() { [ "$(for host in a b; do on "$host" 'rdma resource show qp'; done | grep -c 'state RT[RS] .*comm ib_write_bw')" = $((2 * CLIENTS)) ]; }
check "$CLIENTS clients of ib_write_bw write" until_true 60 write_pairs
on b 'timeout 500 nice -n -15 python3 /tmp/churn.py' > "$SCRATCH/churn" 2>&1 &
check_exit 0 "... while 100 queue pairs, completion queues and regions of a come and go" on a 'timeout 500 counted nice -n -15 python3 /tmp/churn.py'
check "... and data move meanwhile" by_rdma 1000000 "$SCRATCH/out"
if wait $!; then ok "... and b's come and go"; else nok "... and b's come and go" "$(cat "$SCRATCH/churn")"; fi
check "... and the clients still write" write_pairs
on a 'pkill -KILL -x ib_write_bw'
check "clients killed in traffic are gone" until_true 60 on a '! pgrep -x ib_write_bw'
check "... their servers see it and end" until_true 60 on b '! pgrep -x ib_write_bw'
check "queue pairs, completion queues, regions are as many as before them" until_true 60 as_before
check "no kernel complained" test -z "$(for host in a b; do on $host dmesg | sed '1,/virtual_programs begins/d' | grep -vE 'qperf.*segfault' | grep -E 'BUG|WARNING|Oops|Call Trace|general protection|segfault|mlx5_(core|ib).*(timeout|failed|health|error)'; done)"
finish
