#!/usr/bin/env bash
# harness trace: what is in the trace is what the result's own files say, decoded by protoc with Perfetto's published field numbers.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/trace/trace.bash
source "$(dirname "$0")/trace.bash"
cd "$BUILD" || exit 2
skip_unless "a trace is decoded" protoc
write_schema

run() { # NAME OPTION...
    local name=$1
    shift
    ./harness run "scenarios/$name.json" --quiet --no-report --out "$SCRATCH/results" "$@" >"$SCRATCH/run.log" 2>&1
    readlink -f "$SCRATCH/results/$name/latest"
}

# What passes prints nothing; a line is what is wrong.
nothing() { # what, FILE
    if [ -s "$2" ]; then nok "$1" "$(head -n 5 "$2")"; else ok "$1"; fi
}

equal() { # what, found, wanted
    if [ -n "$3" ] && [ "$2" = "$3" ]; then ok "$1"; else nok "$1" "found \"$2\", expected \"$3\""; fi
}

# Lines "time value" of two files; values may differ in their last digits.
same_values() { # what, FILE found, FILE wanted
    paste -d ' ' "$2" "$3" | awk '{ d = $2 - $4; most = 1e-5 * ($4 < 0 ? -$4 : $4) + 1e-9; n++; if (NF != 4 || $1 != $3 || d > most || -d > most) print }
        END { if (n < 10) print n + 0 " lines were compared" }' >"$SCRATCH/wrong"
    nothing "$1" "$SCRATCH/wrong"
}

# ---- what holds for every trace
every_trace() { # name, folder of the run
    local name=$1 run=$2
    check_exit 0 "$name: a trace is written" ./harness trace "$run"
    equal "$name: its path is printed" "$(cat "$SCRATCH/out")" "$run/trace.pftrace"
    check_says "$name: what never changed is named as left out" 'left out: [0-9]+ counters and gauges that never changed' "$SCRATCH/err"
    equal "$name: flows without intervals are counted" "$(sed -nE 's/.*left out: ([0-9]+) flows or patterns .*/\1/p' "$SCRATCH/err" | grep . || echo 0) of $(jq '.flows | length' "$run/result.json")" "$(
        jq -r --slurpfile lines <(jq -c 'select(.type == "interval").flow' "$run/flows.jsonl" | sort -u) \
            '.flows as $all | [$all | keys[] | select(. as $f | ($lines | index($f) | not) and ($all | has($f + "/0") | not))] | length | "\(.) of \($all | length)"' "$run/result.json")"
    if decode "$run/trace.pftrace" >"$SCRATCH/events" 2>"$SCRATCH/why"; then
        ok "$name: protoc knows every field, tracks and names come first, slices nest and end"
    else
        nok "$name: protoc knows every field, tracks and names come first, slices nest and end" "$(cat "$SCRATCH/why")"
    fi
    equal "$name: as many events as it says" "$(awk -F '\t' '$1 == "slice" { n += 2 } $1 == "instant" || $1 == "counter" { n++ } END { print n }' "$SCRATCH/events")" \
        "$(sed -nE 's/^harness: ([0-9]+) events on .*/\1/p' "$SCRATCH/err")"
    awk -F '\t' -v end="$(jq '.phases[-1].end_ns' "$run/result.json")" '$1 != "track" && ($2 < 0 || $3 > end || $3 < $2)' "$SCRATCH/events" >"$SCRATCH/wrong"
    nothing "$name: all times are within the run" "$SCRATCH/wrong"
    awk -F '\t' '$1 == "track" && $4 !~ / \/ / && $4 !~ /\(simulated\)$/' "$SCRATCH/events" >"$SCRATCH/wrong"
    nothing "$name: every group says simulated" "$SCRATCH/wrong"
    equal "$name: a slice for each flow" "$(awk -F '\t' '$1 == "slice" && $4 ~ /^flows \(simulated\) \/ / && split($4, part, " / ") == 2' "$SCRATCH/events" | wc -l)" \
        "$(jq -r 'select(.type == "interval").flow' "$run/flows.jsonl" | sort -u | wc -l)"
    equal "$name: the phases" "$(awk -F '\t' '$1 == "slice" && $4 ~ / \/ phases$/ { print $5, $2, $3 }' "$SCRATCH/events")" \
        "$(jq -r '.phases[] | "\(.name) \(.start_ns) \(.end_ns)"' "$run/result.json")"
    [ -s "$run/pauses.jsonl" ] || return
    every_pause "$name" "$run"
}

# Lines "place priority start end" of the file and of the slices; a place is found by its tracks.
pauses_of_trace() {
    awk -F '\t' '$1 == "slice" && $5 ~ /^XOFF/ {
        split($4, part, " / ")
        place = part[1]; sub(/ \(simulated\)$/, "", place)
        if (part[2] ~ /^port /) { port = part[2]; sub(/^port /, "", port); sub(/,.*/, "", port); place = place ":" port }
        priority = $4; sub(/.*priority /, "", priority); sub(/:.*/, "", priority)
        print place, priority, $2, $3, ($5 ~ /lasts/)
    }' "$SCRATCH/events" | sort
}

every_pause() { # name, folder
    local name=$1 run=$2
    pauses_of_trace >"$SCRATCH/drawn"
    jq -r '"\(.[0]) \(.[1]) \(.[2]) \(.[2] + .[3]) \(if .[4] then 1 else 0 end)"' "$run/pauses.jsonl" | sort >"$SCRATCH/paused"
    diff "$SCRATCH/drawn" "$SCRATCH/paused" >"$SCRATCH/wrong"
    nothing "$name: a slice for each of $(wc -l <"$SCRATCH/paused") pauses, with its port, priority and times" "$SCRATCH/wrong"
    awk -F '\t' '
        $6 != "" { begins[$6]++; from[$6] = $4; to[$6] = $5; at[$6] = $2; if ($1 != "instant") print "begins on no instant: " $0 }
        $7 != "" { arrives[$7]++; track[$7] = $4; start[$7] = $2; n++; if ($1 != "slice") print "arrives on no slice: " $0 }
        $5 ~ /^XOFF/ && $1 == "slice" && $7 == "" { print "without an arrow: " $0 }
        END {
            for (a in begins) if (begins[a] != 1 || arrives[a] != 1 || at[a] != start[a]) print "arrow " a ": " begins[a] " ends, " arrives[a]
            for (a in arrives) {
                if (!(a in begins)) print "arrow " a " begins nowhere"
                # the port that it begins at says where it leads, and so does its name
                split(track[a], part, " / "); place = part[1]; sub(/ \(simulated\)$/, "", place)
                if (part[2] ~ /^port /) { port = part[2]; sub(/^port /, "", port); sub(/,.*/, "", port); place = place ":" port }
                if (to[a] != "XOFF to " place) print "arrow " a " to " place " begins at " to[a]
                if (from[a] ~ / \/ port / && index(from[a], ", to " place " / ") == 0) print "arrow " a " to " place " begins on " from[a]
            }
            if (!n) print "no arrow"
        }' "$SCRATCH/events" >"$SCRATCH/wrong"
    nothing "$name: an arrow to each pause, from the port at the other end of the link" "$SCRATCH/wrong"
    held "$run" >"$SCRATCH/held"
    awk -v start="$(jq '.phases[] | select(.name == "measure").start_ns' "$run/result.json")" -v end="$(jq '.phases[] | select(.name == "measure").end_ns' "$run/result.json")" '
        NR == FNR { from = $3 > start ? $3 : start; to = $4 < end ? $4 : end; if (to > from) sum[$1 " " $2] += to - from; n[$1 " " $2]++; next }
        { key = $1 " " $2; ends++; d = sum[key] - $3; if (d > n[key] + 1 || -d > n[key] + 1) print key ": slices " sum[key] " ns, the result " $3 " ns"; total += $3 }
        END { if (!ends || !total) print "nothing was compared" }' "$SCRATCH/drawn" "$SCRATCH/held" >"$SCRATCH/wrong"
    nothing "$name: the slices of a port and priority add up to the result's pause time" "$SCRATCH/wrong"
}

# "place priority held_ns" of result.json's topology: ports count in the order of the links.
held() { # folder
    jq -r '(.topology.nodes | map({(.name): .kind}) | add) as $kind | reduce .topology.links[] as $l ({ports: {}, out: []};
        (.ports[$l.a] // 0) as $a | .ports[$l.a] = $a + 1 | (.ports[$l.b] // 0) as $b | .ports[$l.b] = $b + 1 |
        .out += [[$l.a, $a, $l.a_held], [$l.b, $b, $l.b_held]]) | .out[] | select(.[2]) |
        (if $kind[.[0]] == "host" then .[0] else "\(.[0]):\(.[1])" end) as $place | .[2] | to_entries[] | "\($place) \(.key) \(.value.held_ns)"' "$1/result.json"
}

# ---- host to host
result=$(run pfc-bidir --duration 20ms)
check_exit 0 "of a sweep each run gets a trace" ./harness trace "$result"
equal "their paths are printed" "$(cat "$SCRATCH/out")" "$result/01/trace.pftrace
$result/02/trace.pftrace"
every_trace "host memory" "$result/01"
every_trace "GPU memory" "$result/02"

# A rate stands from the sample before the increase on; where it stays, nothing is written.
# shellcheck disable=SC2016 # jq expands it
changes='(if length > 0 then .[0] else empty end), (range(1; length) as $i | select(.[$i][1] != .[$i - 1][1]) | .[$i]) | "\(.[0]) \(.[1])"'
column=$(grep -m 1 '"header".*"host":"a"' "$result/02/samples.jsonl" | jq '.columns | map(.name) | index("tx_prio0_bytes")')
grep '^\["a"' "$result/02/samples.jsonl" | jq -rs "[range(1; length) as \$i | [.[\$i - 1][1], (.[\$i][$column + 3] - .[\$i - 1][$column + 3]) * 8 / (.[\$i][1] - .[\$i - 1][1]) | . * 1000000 | round | . / 1000000]] | $changes" >"$SCRATCH/wanted"
awk -F '\t' '$1 == "counter" && $4 == "a (simulated) / tx_prio0_bytes" { print $2, $8 }' "$SCRATCH/events" >"$SCRATCH/found"
same_values "a rate in Gb/s is the counter's increase between two samples" "$SCRATCH/found" "$SCRATCH/wanted"
share=$(awk -F '\t' '$1 == "counter" && $4 == "a (simulated) / rx_prio0_pause_duration" { if (n++) sum += value / 100 * ($2 - time) / 1000; value = $8; time = $2 } END { printf "%.0f", sum }' "$SCRATCH/events")
equal "the share of the time in which a was paused is the counter's increase in us" "$share" "$(jq '.hosts.a.counters.rx_prio0_pause_duration.total' "$result/02/result.json")"
awk -F '\t' '$1 == "counter" && $4 == "b (simulated) / rx_buffer1_bytes" { print $8 + 0 }' "$SCRATCH/events" | sort -n | tail -n 1 >"$SCRATCH/found"
column=$(grep -m 1 '"header".*"host":"b"' "$result/02/samples.jsonl" | jq '.columns | map(.name) | index("rx_buffer1_bytes")')
equal "the largest value of a gauge is that of the samples" "$(cat "$SCRATCH/found")" "$(grep '^\["b"' "$result/02/samples.jsonl" | jq ".[$column + 3]" | sort -n | tail -n 1)"
equal "bytes are a counter's unit, rates are Gb/s" "$(awk -F '\t' '$1 == "track" && ($4 == "b (simulated) / rx_buffer1_bytes" || $4 == "a (simulated) / tx_prio0_bytes") { print $5 }' "$SCRATCH/events" | sort)" "$(printf 'Gb/s\nbytes')"
awk -F '\t' '$1 == "counter" && $4 == "flows (simulated) / a-to-b / goodput" { print $2, $8 }' "$SCRATCH/events" >"$SCRATCH/found"
jq -r 'select(.type == "interval" and .flow == "a-to-b") | "\(.time_ns - .duration_ns) \(.goodput_bps / 1e9)"' "$result/02/flows.jsonl" >"$SCRATCH/wanted"
jq -rs 'map(select(.type == "interval" and .flow == "a-to-b"))[-1] | "\(.time_ns) 0"' "$result/02/flows.jsonl" >>"$SCRATCH/wanted"
same_values "goodput stands from the beginning of its interval on" "$SCRATCH/found" "$SCRATCH/wanted"
check_says "settings are an instant on their host" '^instant	0	0	a \(simulated\)	settings.*mtu=4200' "$SCRATCH/events"
check_says "what was left out is in the trace too" '	left out	.*never changed' "$SCRATCH/events"
./harness trace "$result/02" -o - >"$SCRATCH/stdout.pftrace" 2>"$SCRATCH/err"
check "standard output gets the same bytes, and nothing else" cmp "$SCRATCH/stdout.pftrace" "$result/02/trace.pftrace"
check_exit 0 "a file may be named" ./harness trace "$result/02" --out "$SCRATCH/named.pftrace"
check "it has the same bytes" cmp "$SCRATCH/named.pftrace" "$result/02/trace.pftrace"

# ---- switches: a ring with a deadlock
result=$(run pfc-deadlock)
./harness trace "$result" >/dev/null 2>&1
every_trace "a ring that deadlocks" "$result/01"
equal "the deadlock is there" "$(awk -F '\t' '$1 == "instant" && $5 ~ /^deadlock/ { print $5, $2 }' "$SCRATCH/events")" \
    "$(jq -r '.deadlocks[] | "deadlock begins \(.since_ns)\ndeadlock found \(.found_ns)"' "$result/01/result.json")"
# the simulator counts picoseconds, whose fractions of a nanosecond are cut off
equal "pauses that last end with the run" "$(awk -F '\t' '$1 == "slice" && $5 ~ /lasts/ { print $3 }' "$SCRATCH/events" | sort -u)" "$(jq '.phases[-1].end_ns - 1' "$result/01/result.json")"
check_says "warnings are there" '	warnings	.*warning=deadlock on priority 3' "$SCRATCH/events"
check_says "counters of a port are below the port" '^counter	.*	s0 \(simulated\) / port 1, to s1:1 / port1_prio3_queue_bytes	' "$SCRATCH/events"

# ---- faults, storms, and expectations that failed
result=$(run pfc-storm-watchdog)
every_trace "a storm" "$result/01"
check_says "the storm is a slice" '^slice	1000000	9000000	.* / storm from h31, priority 3	storm' "$SCRATCH/events"
result=$(run ecmp-failover)
every_trace "a link that fails" "$result/02"
start=$(jq '.phases[] | select(.name == "measure").start_ns' "$result/02/result.json")
check_says "the fault is a slice" "^slice	$((start + 2000000))	$((start + 6000000))	.* / fault of leaf0 - spine0	down" "$SCRATCH/events"
result=$(run link-flap)
run=$(find "$result" -name result.json -printf '%h\n' | sort | head -n 1)
every_trace "a link that flaps" "$run"
equal "each flap is a slice" "$(awk -F '\t' '$1 == "slice" && $4 ~ /fault of h4 - leaf1/ { print $3 - $2 }' "$SCRATCH/events")" "$(printf '600000\n600000')"
result=$(run ring-all-reduce)
every_trace "flows that end" "$result"
equal "they begin and end when the result says" "$(awk -F '\t' '$1 == "slice" && $4 ~ /^flows .* \/ ring\/3$/ { print $2, $3 }' "$SCRATCH/events")" \
    "$(jq -r '.flows["ring/3"].completion_ns | "\(.begin | floor) \(.end | floor)"' "$result/result.json")"
result=$(run web-search)
check_exit 0 "flows of a large pattern: a trace is written" ./harness trace "$result"
check_says "that they have no times of their own is said" 'left out: 1 flows or patterns of flows without intervals' "$SCRATCH/err"
result=$(run pfc-bidir --duration 5ms --set flows.0.memory=host --set 'expect.0.check="sum(flows.*.bytes) < 0"' --set 'expect.0.when=null')
[ -e "$result/result.json" ] || result=$result/01
./harness trace "$result" >/dev/null 2>&1
decode "$result/trace.pftrace" >"$SCRATCH/events"
check_says "expectations that failed are named" '	failed, 1 expectation failed	.*GPU memory causes pauses=' "$SCRATCH/events"
finish
