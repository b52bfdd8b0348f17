# shellcheck shell=bash
# A cluster with Slurm for a test: munged, slurmctld and the nodes n1 and n2 on this machine, in namespaces of the test's own. Source after lib.sh.
#   slurm_enter "what" "$0" "$@"   first of all: the test goes on in namespaces, as root, or is skipped where that cannot be
#   slurm_start                    the cluster; SLURM_CONF says where it is
#   slurm_controller, slurm_node n1   (again) its parts, whose numbers are in $slurm_controller_pid, ${slurm_node_pid[n1]}
# shellcheck disable=SC2034 # the numbers are for tests
declare -A slurm_node_pid

slurm_leave() { kill -KILL "$inside" 2> /dev/null; }
slurm_enter() { # WHAT SCRIPT ARG...
    local what=$1
    shift
    [ -z "${SLURM_TEST_INSIDE:-}" ] || return 0
    [ "$(id -u)" = 0 ] || { skip "$what" no-root && finish; }
    unshare --mount --net --pid --fork true 2> /dev/null || { skip "$what" no-namespaces && finish; }
    skip_unless "$what" slurmctld slurmd sbatch squeue scancel scontrol munged jq
    # a signal would not reach what unshare has started; the end of its first process ends all
    SLURM_TEST_INSIDE=1 TMPDIR=$SCRATCH unshare --mount --net --pid --mount-proc --fork --kill-child=KILL bash "$@" &
    inside=$!
    at_exit slurm_leave
    wait "$inside"
    exit $?
}

# shellcheck disable=SC2034
slurm_controller() {
    slurmctld -D > "$slurm/controller.out" 2>&1 < /dev/null &
    slurm_controller_pid=$!
}

# shellcheck disable=SC2034
slurm_node() { # NAME
    slurmd -D -N "$1" > "$slurm/$1.out" 2>&1 < /dev/null &
    slurm_node_pid[$1]=$!
}

slurm_idle() { [ "$(sinfo --noheader --format=%T:%D 2> /dev/null)" = idle:2 ]; }

slurm_start() {
    slurm=$SCRATCH/slurm
    mkdir -p "$slurm/munge" "$slurm/state"
    chmod 755 "$SCRATCH" "$slurm" "$slurm/munge" # others may reach munge's socket
    chmod 755 "$(dirname "$SCRATCH")" 2> /dev/null
    # names are not resolved on a machine with no address but loopback's
    ip link set lo up && ip address add 192.0.2.1/32 dev lo
    (umask 077 && head -c 1024 /dev/urandom > "$slurm/key")
    munged --foreground --force --key-file="$slurm/key" --socket="$slurm/munge/socket" --pid-file="$slurm/munge/pid" \
        --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed" > "$slurm/munged.out" 2>&1 < /dev/null &
    until_true 20 test -S "$slurm/munge/socket" || return 1
    export SLURM_CONF=$slurm/slurm.conf PATH=$PATH:/usr/sbin:/sbin
    cat > "$SLURM_CONF" << END
ClusterName=test
SlurmctldHost=localhost
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket,cred_expire=5
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=6817
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool-%n
SlurmctldPidFile=$slurm/controller.pid
SlurmdPidFile=$slurm/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MailProg=/bin/true
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
KillWait=2
SlurmdTimeout=10
SlurmdParameters=config_overrides
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[7001-7002] CPUs=4 RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    slurm_controller
    slurm_node n1
    slurm_node n2
    until_true 60 slurm_idle || { cat "$slurm"/*.out >&2; return 1; }
}
