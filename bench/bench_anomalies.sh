#!/bin/bash
# `harness search` with "find" against random search on faults that are hidden in a simulated lab. A search has what somebody asks who sees
# the symptom (losses, an uplink that is paused a third of the time, a watchdog that fires), two counters that lead to it, and is told
# no cause. A draw has one or two of the causes below, each of which harms only where several values meet (a short headroom, a long cable
# and a deep incast), the incast's three parameters, and 5 to 8 that are not to blame. Random search has the same, and tells what matters
# in the same way.
#   bench_anomalies.sh                DRAWS=20 SEED=3 RUNS=500 RANDOM_RUNS=800 JOBS=2 change what is run; with KEPT=FOLDER the figures
#                                     are kept there, and what it has is not run again
# A cause is found with the first finding that has a parameter of it and none of another cause, after all runs until then, those that tell
# which parameters matter among them. Settings left are those of a reduced scenario that are neither at their defaults nor as in the lab and
# scenario below. Exit code 1 if fewer than nine of ten draws have all causes found within RUNS and at most three settings left, or if
# random search does not take three times the runs in the median of the draws: RANDOM_RUNS where it has not found all, which makes the ratio
# too small; 0 times where the search itself has not found all.
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
PATH=$ROOT/build:$PATH
DRAWS=${DRAWS:-20} SEED=${SEED:-3} RUNS=${RUNS:-500} RANDOM_RUNS=${RANDOM_RUNS:-800}
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-anomalies.XXXXXX")
trap 'rm -rf "$work"' EXIT
KEPT=${KEPT:-$work/kept}
mkdir -p "$KEPT"

cat >"$work/lab.json" <<'EOF'
{"schema": 1, "name": "anomalies", "driver": "sim", "topology": {"kind": "dumbbell", "hosts": 3, "uplink": "50Gb/s"}, "hosts": {"h[0-1]": {"nic": {"model": "ideal"}}},
 "defaults": {"link": {"rate": "25Gb/s", "delay": "200ns"}, "switch": {"buffer": "1100KB", "headroom": "40KB", "xon_offset": "4KB", "watchdog": {"detect": "2ms"},
    "ecn": {"kmin": "50KB", "kmax": "200KB", "pmax": 0.2, "reference": "25Gb/s"}}}}
EOF
cat >"$work/base.json" <<'EOF'
{"schema": 1, "name": "anomaly", "lab": "lab.json", "roles": ["h[0-5]", "s0", "s1"], "phases": {"warmup": "200us", "measure": "300us", "cooldown": "1us"},
 "settings": {"mtu": 4200, "pfc": [3], "trust": "dscp", "ecn": [3], "dcqcn": {"np": {"min_time_between_cnps": 4}}}, "settings_of": {"s0": {"pfc": [3]}},
 "flows": [{"name": "victim", "from": "h2", "to": "h5", "message": "64KiB", "priority": 3, "rate": "20Gb/s"},
           {"name": "incast-{}", "from": "h[0-1]", "to": "h3", "message": "16KiB", "depth": 2, "priority": 3, "rate": "5Gb/s"}],
 "sample": {"every": "50us", "groups": ["pfc", "queue", "drops"]}, "expect": []}
EOF
# What somebody asks, and the parameters of each cause.
cat >"$work/asked.json" <<'EOF'
{"loss": "total(s*.buffer_discards) > 0", "spread": "rate(s0.port3_rx_prio*_pause_duration) > 0.33", "storm": "total(s*.watchdog_storms) > 0"}
EOF
cat >"$work/causes.json" <<'EOF'
{"headroom too short for the cable": {"asked": "loss", "over": {"lab.defaults.switch.headroom": {"from": "9KB", "to": "60KB", "scale": "log"}, "lab.defaults.link.delay": {"from": "50ns", "to": "4us", "scale": "log"}}},
 "PFC on one end": {"asked": "loss", "over": {"settings_of.s0.pfc": [[3], [2, 3], [3, 4], [1, 3], [3, 5], [3, 6], [3, 7], [4]]}},
 "DSCP of a priority without PFC": {"asked": "loss", "over": {"flows.incast-*.priority": [3, 2, 4, 5, 1]}, "with": {"settings": {"pfc": [2, 3, 4, 5], "ecn": [2, 3, 4, 5]}, "settings_of": {"s0": {"pfc": [2, 3, 4, 5]}}}},
 "Kmin above XOFF": {"asked": "spread", "over": {"lab.defaults.switch.ecn.kmin": {"from": "10KB", "to": "110KB", "scale": "log"}, "lab.defaults.switch.ecn.kmax": {"from": "100KB", "to": "320KB", "scale": "log"}}},
 "CNPs too far apart": {"asked": "spread", "over": {"settings.dcqcn.np.min_time_between_cnps": {"from": 2, "to": 24, "scale": "log"}}},
 "NICs that a CNP does not slow": {"asked": "spread", "over": {"lab.hosts.h0.nic.model": ["ideal", "connectx-4-lx", "connectx-5", "connectx-7"], "lab.hosts.h1.nic.model": ["ideal", "connectx-4-lx", "connectx-5", "connectx-7"]}},
 "watchdog shorter than a legal pause": {"asked": "storm", "over": {"lab.defaults.switch.watchdog.detect": {"from": "10us", "to": "2ms", "scale": "log"}, "lab.defaults.switch.xon_offset": {"from": "1KB", "to": "80KB", "scale": "log"}}}}
EOF
cat >"$work/stress.json" <<'EOF'
{"flows.incast-*.message": {"from": "64B", "to": "128KiB", "scale": "log"}, "flows.incast-*.rate": {"from": "1Gb/s", "to": "25Gb/s", "scale": "log"}, "flows.incast-*.depth": {"from": 1, "to": 32, "scale": "log"}}
EOF
cat >"$work/others.json" <<'EOF'
{"settings.dcqcn.rp.rpg_time_reset": {"from": 250, "to": 350}, "settings.dcqcn.rp.rpg_ai_rate": {"from": 3, "to": 8}, "settings.dcqcn.rp.rpg_hai_rate": {"from": 30, "to": 70},
 "lab.defaults.host.nic.ack_timeout": {"from": "30ms", "to": "120ms"}, "settings.mtu": [4200, 1500], "settings.dcqcn.rp.rpg_threshold": {"from": 4, "to": 6},
 "lab.defaults.switch.lossy_alpha": {"from": 0.8, "to": 1.5}, "lab.defaults.switch.pause_refresh_percent": {"from": 30, "to": 70}, "lab.defaults.switch.watchdog.restore": {"from": "1ms", "to": "4ms"}}
EOF

# draw, runs, strategy: its scenario, with the parameters of the causes in it; one that takes other settings ("with") is alone
draw() {
    RANDOM=$((1000 * SEED + $1))
    jq -n --argjson draw "$1" --argjson two "$RANDOM" --argjson second "$RANDOM" --argjson beside "$RANDOM" --argjson runs "$2" --arg strategy "$3" \
        --slurpfile base "$work/base.json" --slurpfile asked "$work/asked.json" --slurpfile causes "$work/causes.json" --slurpfile stress "$work/stress.json" --slurpfile others "$work/others.json" '
        ($causes[0] | to_entries) as $list | $list[$draw % ($list | length)] as $one
        | [$list[] | select(.value.asked == $one.value.asked and .key != $one.key and ((.value.with or $one.value.with) | not))] as $like
        | [$one] + (if $two % 4 == 0 and ($like | length) > 0 then [$like[$second % ($like | length)]] else [] end) | . as $taken
        | ($others[0] | to_entries | to_entries | sort_by((.key + 7) * ($beside + 13) % 101) | map(.value)[: 5 + $beside % 4] | from_entries) as $besides
        | ($stress[0] + ([$taken[].value.over] | add) + $besides) as $over
        | reduce $taken[] as $cause ($base[0]; . * ($cause.value.with // {})) | . + {causes: [$taken[] | {name: .key, paths: (.value.over | keys)}],
            search: {over: $over, find: $asked[0][$one.value.asked], led_by: ["max(s*.port*_prio*_queue_bytes)", "rate(s*.port*_rx_prio*_pause_duration)"],
                findings: (if ($taken | length) > 1 then 4 else 1 end), runs: $runs, seeds: 1, strategy: $strategy, reduce: ($strategy != "random")}}
        | if $over["lab.defaults.switch.ecn.kmin"] then .search.only = [{"lab.defaults.switch.ecn.kmin": "< lab.defaults.switch.ecn.kmax"}] else . end'
}

# strategy, draw, runs: the runs until all causes were found ("none": they were not), those that were had, the most settings that are left
# in a finding of a cause, and what was found
look() {
    rm -rf "$work/out"
    draw "$2" "$3" "$1" >"$work/drawn.json"
    jq 'del(.causes)' "$work/drawn.json" >"$work/scenario.json"
    harness search "$work/scenario.json" --seed "$((1000 * SEED + $2))" ${JOBS:+--jobs "$JOBS"} --no-report --quiet --out "$work/out" >/dev/null 2>"$work/error" ||
        { cat "$work/error" >&2 && return 1; }
    jq -r --slurpfile drawn "$work/drawn.json" --slurpfile lab "$work/lab.json" '$drawn[0].causes as $causes | .findings as $findings
        | def own($path): try (if $path | startswith("lab.") then $lab[0] | getpath($path[4:] / ".") else $drawn[0] | getpath($path / ".") end) catch null;
          def has_any($features; $paths): any($paths[]; in($features));
          [$causes[] | . as $cause | [$findings[] | .features as $f
            | select(has_any($f; $cause.paths) and all($causes[] | select(.name != $cause.name); has_any($f; .paths) | not))] | first] as $first
        | [if all($first[]; .) then [$first[].runs] | max else "none" end, .runs, ([$first[] | values | .differs // {} | [to_entries[] | select(.value != own(.key))] | length] | max // 0),
            ([$findings[] | .features | keys | map(split(".") | last) | join("+")] | join(" and "))] | map(tostring) | join("|")' "$work"/out/anomaly/latest/search.json
}

for draw in $(seq "$DRAWS"); do
    kept=$KEPT/$SEED-$draw
    [ -e "$kept" ] || { { draw "$draw" 1 model | jq -r '[.causes[].name] | join(" and ")' && look model "$draw" "$RUNS" && look random "$draw" "$RANDOM_RUNS"; } >"$work/figures" && mv "$work/figures" "$kept"; } || exit 2
    { read -r causes && IFS='|' read -r led had left what && IFS='|' read -r chance chance_had _ _; } <"$kept"
    [ "$led" != none ] || led="none in $had"
    [ "$chance" != none ] || chance="none in $chance_had"
    echo "   $draw: $causes: after $led runs, $left settings left ($what); random search: $chance"
done

for draw in $(seq "$DRAWS"); do
    sed -n '2,3p' "$KEPT/$SEED-$draw" | awk -F'|' '{ is[NR] = $1; had[NR] = $2; left[NR] = $3 } END { found = is[1] != "none"
        print found && left[1] <= 3, found ? (is[2] == "none" ? had[2] : is[2]) / is[1] : 0 }'
done | sort -k 2 -g | awk '{ good += $1; ratio[NR] = $2 } END { median = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
    printf "   %d of %d draws found and reduced to three settings; random search takes %.1f times the runs (median)\n", good, NR, median
    exit !(good >= 0.9 * NR && median >= 3) }' || { echo "   MISSED" && exit 1; }
