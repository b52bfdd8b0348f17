#!/bin/bash
# check --lab, run --dry-run and run give one verdict on a scenario and a lab, with the same sentence: for every scenario on its simulated
# lab, on an ssh lab and on a libvirt lab, and for what each kind of lab refuses. No host is reached: ssh is refused, and libvirt's test
# driver has none of the guests. A run that gets as far as that was accepted. No scenario has a warning on its own lab, nor a finding of doctor.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "verdicts" jq
H=$BUILD/harness
cd "$SCRATCH" || exit
mkdir path
printf '%s\n' '#!/bin/sh' 'echo "ssh: Permission denied (publickey)" >&2' 'exit 255' > path/ssh
chmod +x path/ssh
PATH=$SCRATCH/path:$PATH

# Labs of real hosts with the scenario's roles for names.
make_labs() { # SCENARIO
    jq -c '[.roles[] | (capture("^(?<name>.*)\\[(?<from>[0-9]+)-(?<to>[0-9]+)\\]$") | "\(.name)\(range(.from | tonumber; (.to | tonumber) + 1))") // .] | to_entries
        | {schema: 1, name: "real", driver: "ssh", hosts: (map({key: .value, value: {ssh: "h\(.key).invalid", nic: {address: "10.9.\(.key / 200 | floor).\(.key % 200 + 1)/16"}}}) | from_entries)},
          {schema: 1, name: "real", driver: "libvirt", uri: "test:///default",
              hosts: (map({key: .value, value: {domain: "no-\(.value)", profile: "debian-12-softroce", nic: {address: "10.9.\(.key / 200 | floor).\(.key % 200 + 1)/16"}}}) | from_entries)}' "$1" |
        { read -r lab && echo "$lab" > ssh.json && read -r lab && echo "$lab" > libvirt.json; }
}

# The verdicts of the three commands on one scenario and one lab. What runs is over after microseconds, in each cell.
SHORT=(--set phases.warmup=0ns --set phases.cooldown=0ns --set phases.measure=2us)
error_of() { while IFS= read -r line; do [[ $line != "harness: error: "* ]] || echo "${line#harness: error: }"; done < "$1"; } # FILE
verdict() { # SCENARIO LAB ARG...: sets CHECK; fails and says what differs
    local scenario=$1 lab=$2
    shift 2
    "$H" check "$scenario" --lab "$lab" "$@" > /dev/null 2> check.said
    CHECK=$?
    "$H" run "$scenario" --lab "$lab" --dry-run "$@" > /dev/null 2> dry.said
    local dry=$?
    shorten_cells "$scenario"
    timeout 120 "$H" run "$scenario" --lab "$lab" --out runs --no-report --quiet "${SHORT[@]}" "${CELLS[@]}" "$@" > /dev/null 2> run.said
    local ran=$?
    for said in check dry run; do error_of $said.said > $said.error; done
    if [ "$CHECK" != "$dry" ] || ! cmp -s check.error dry.error; then
        echo "check says $CHECK, dry-run $dry: $(cat check.error dry.error)"
        return 1
    fi
    if [ "$CHECK" != 0 ]; then
        [ "$ran" = "$CHECK" ] && cmp -s check.error run.error && return
    elif [[ $lab == *.json ]]; then
        [ "$ran" = 3 ] && grep -qE 'connecting to host .*Permission denied|host [a-z0-9-]+: there is no domain|domain no-' run.error && return
    else
        [ "$ran" != 2 ] && [ "$ran" -lt 5 ] && [ ! -s run.error ] && return
    fi
    echo "check says $CHECK, run $ran: $(cat run.error)"
    return 1
}
same() { # WHAT EXIT_CODE SCENARIO LAB ARG...
    local what=$1 wanted=$2
    shift 2
    verdict "$@" > differs.said || { nok "$what: one verdict" "$(cat differs.said)" && return; }
    if [ "$CHECK" = "$wanted" ]; then ok "$what: one verdict, $CHECK"; else nok "$what: verdict $wanted" "$CHECK: $(cat check.said)"; fi
}

for scenario in "$ROOT"/scenarios/*.json; do
    name=${scenario##*/}
    name=${name%.json}
    check "$name says in a comment why" test "$(jq '[.. | objects | keys[] | select(startswith("//"))] | length' "$scenario")" -ge 1
    make_labs "$scenario"
    # collectives are for real hosts alone, and name no lab
    case $name in
    nccl-*) same "$name, simulated" 2 "$scenario" sim-geforce-pair ;;
    *)
        lab=$(sed -nE 's|^ *"lab": *"labs/([^"]*)[.]json".*|\1|p' "$scenario")
        same "$name, simulated" 0 "$scenario" "$lab"
        cat dry.said >> warned
        check_exit 0 "doctor finds nothing wrong with $name on its own lab" "$H" doctor --for "$scenario"
        ;;
    esac
    case $name in
    adaptive-routing | congestion-controls | dcqcn-choices | ecmp-failover | headroom-sweep | link-flap | lossy-link | pfc-bidir-rails | pfc-deadlock | pfc-deadlock-failover | pfc-storm-victim | pfc-storm-watchdog | rails-ring | ring-all-reduce | selective-repeat | silicon-checks | silicon-latency | silicon-loss | silicon-step | silicon-timeout | tune-timers | web-search) wanted=2 ;; # they change or need what only simulated labs have, or hosts with several NICs
    *) wanted=0 ;;
    esac
    for kind in ssh libvirt; do same "$name, $kind" $wanted "$scenario" $kind.json; done
done
# silicon-notification has a switch that never marks, for the CNPs that come without marks; of silicon-timeout's NICs one has no slow restart
check "the project's scenarios cause no warnings on their own labs but of what flows between real hosts have" \
    test "$(sed '/nothing on .* when packets are lost (nic.unmarked_cnps)/d; /flow request: nothing on its way .* at a never reduces/d; s/.*warning: flow a-to-b: //; s/ has no effect: simul.*//; s/ has no effect: the simulator does .*//' warned | xargs)" = "validate numa relaxed_ordering"

# ---- what real hosts run, and what they do not
on_hosts() { # WHAT EXIT_CODE PATTERN SCENARIO ARG...
    local what=$1 wanted=$2 pattern=$3 scenario=$ROOT/scenarios/$4.json
    shift 4
    make_labs "$scenario"
    same "$what" "$wanted" "$scenario" ssh.json "$@"
    [ -z "$pattern" ] || check_says "... says why" "$pattern" run.error
}
on_hosts "a default for switches" 2 'defaults.switch: the lab has no switches' headroom-sweep
on_hosts "bursts with gaps" 2 'sends in bursts, which only simulated flows do' write-sweep --set 'flows.*.gap=1us'
on_hosts "a ring without a size" 0 '' ring-all-reduce --set 'traffic=[{"name":"ring","pattern":"ring-all-reduce","from":["h[0-3]"]}]' --set 'expect=[]'
on_hosts "a ring whose steps wait" 2 'traffic ring: a ring whose steps wait for each other is simulated only' ring-all-reduce
on_hosts "Poisson arrivals" 2 'traffic web: Poisson arrivals are simulated only: lab real has real hosts' web-search
on_hosts "sizes by a distribution" 2 'traffic incast: distributions of flow sizes are simulated only' incast-pfc --set 'traffic.*.sizes=web-search'
on_hosts "a permutation to itself" 2 'traffic permutation: the permutation would send host 0 of "from" to itself' hpcc-leaf-spine --set 'traffic.*.shift=32'
on_hosts "more flows to a host than it takes" 2 'more than 64 flows to role h16' incast-pfc --set "traffic=[$(for i in {0..4}; do echo "{\"name\":\"t$i\",\"pattern\":\"incast\",\"from\":[\"h[0-15]\"],\"to\":[\"h16\"]},"; done | xargs -0 | sed '$ s/,$//' | tr -d '\n' | sed 's/,$//')]" --set 'expect=[]' --set 'published=[]'
on_hosts "jobs" 2 'jobs: job j runs on simulated labs: lab real has real hosts' write-sweep --set 'jobs=[{"name":"j","schedule":"j.goal"}]'
on_hosts "storms" 2 'storms: role "h31" pauses its peer without a reason, which only simulated hosts and virtual ConnectX do' pfc-storm-watchdog --set 'sweep={}' --set 'storms.*.start=0s' \
    --set 'traffic=[{"name":"permutation","pattern":"permutation","shift":8,"from":["h[0-31]"],"message":"64KiB","priority":3}]'
on_hosts "another congestion control than the NIC's" 2 'host a: settings.congestion_control: "none" is simulated only' pfc-bidir --set settings.congestion_control=none
on_hosts "parameters of a congestion control that NICs do not have" 2 'host a: settings.hpcc is simulated only' pfc-bidir --set settings.hpcc.u_target=0.9
on_hosts "an unnamed NIC" 2 'host a: the lab file does not identify the network device' write-latency --set lab.hosts.a.nic=null
on_hosts "GPU memory polled by the CPU" 2 "cannot access the GPU's" write-latency --set 'flows.*.memory=gpu'

# ---- and what the simulator does not
same "latency of reads, simulated" 2 "$ROOT/scenarios/write-latency.json" sim-geforce-pair --set 'flows.*.op=read'
check_says "... says why" 'the simulator measures latency of writes and sends, not of reads' run.error
same "a ring of less than a byte for each host, simulated" 2 "$ROOT/scenarios/ring-all-reduce.json" sim-incast --set 'traffic.*.size=8B'
check_says "... says why" 'traffic ring: workload: a ring needs a size of at least one byte for each host, or none' run.error
finish
