#!/bin/bash
# Jobs: schedules that simulated hosts play. What is refused, closed forms of all-reduce by ring and by tree, both forms of files, several
# NICs, links that fail, and threads, on which nothing depends.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness

# hosts without limits on a switch, 100 Gb/s and 1 us a link
cat >lab.json <<'E1'
{ "schema": 1, "name": "star", "driver": "sim", "topology": { "kind": "star", "hosts": 16 },
  "defaults": { "link": { "rate": "100Gb/s", "delay": "1us" } } }
E1
scenario() { # NAME SCHEDULE RANKS [KEYS]
    cat >"$1.json" <<E2
{ "schema": 1, "name": "$1", "title": "A job", "lab": "lab.json", "roles": ["h[0-$(($3 - 1))]"], "settings": { "pfc": [3] }${4-},
  "phases": { "warmup": "0", "measure": "20ms" }, "jobs": [ { "name": "job", "schedule": "$2", "priority": 3 } ],
  "expect": [ { "name": "all ends", "check": "sum(jobs.job.unfinished) == 0" } ] }
E2
}
play() { # NAME [OPTION...]: $result
    "$H" run "$1.json" --out "out-$1" --no-report -q "${@:2}" >"$1.said" 2>&1
    code=$?
    result=$(echo out-"$1"/*/latest/result.json)
}
is() { check "$1" jq -e "$2" "$result"; }
# near WHAT FILTER NUMBER: to 1 %
near() { check "$1: $(jq "$2" "$result") for $3" jq -e "$2 / $3 - 1 | fabs < 0.01" "$result"; }

# ---- closed forms: a message takes its bytes at the line's rate, less headers, and the way
# 16 ranks, all-reduce of 16 MB in 2 (n - 1) steps of an n-th, each as soon as the one before has arrived
awk 'BEGIN { n = 16; print "num_ranks", n; for (r = 0; r < n; r++) { print "rank", r, "{"; for (s = 0; s < 2 * n - 2; s++) {
    printf "s%d: send 1000000b to %d tag %d\nr%d: recv 1000000b from %d tag %d\n", s, (r + 1) % n, s, s, (r + n - 1) % n, s
    if (s) printf "s%d requires r%d\n", s, s - 1 } print "}" } }' >ring.goal
scenario ring ring.goal 16
play ring
# 977 packets of 1024 bytes, with 82 bytes around each; the last packet follows on the second link
step=$(awk 'BEGIN { print (1000000 + 977 * 82 + 1106) * 8 / 100 + 2000 }')
near "all-reduce by ring has its closed form" .jobs.job.end_ns "$(awk -v s="$step" 'BEGIN { print 30 * s }')"
is "each rank waited for messages all the time" '.jobs.job.ranks | all(.calc_ns == 0 and .exposed_ns == .end_ns and .sent_bytes == 30000000)'
"$H" explain "$(dirname "$result")" >explained 2>&1
check_says "a job alone has no flow that could be explained" '^there is no flow whose rate could be explained$' explained
# reduce and broadcast over a binomial tree of 16: 4 levels each, up with a reduction of 30 us; down one child after the other, when the
# message before is complete, which an ACK on 2 us says
awk 'BEGIN { n = 16; print "num_ranks", n; for (r = 0; r < n; r++) { print "rank", r, "{"; last = ""
    for (b = 1; b < n; b *= 2) if (r % (2 * b) == 0) { printf "u%d: recv 1000000b from %d tag 1\nc%d: calc 30000\nc%d requires u%d\n", b, r + b, b, b, b
            if (last != "") printf "c%d requires %s\n", b, last; last = "c" b }
        else { printf "up: send 1000000b to %d tag 1\n", r - b; if (last != "") print "up requires " last
            printf "down: recv 1000000b from %d tag 2\n", r - b; last = "down"; break }
    for (b = (r ? b : n) / 2; b >= 1; b /= 2) { printf "d%d: send 1000000b to %d tag 2\nd%d requires %s\n", b, r + b, b, last; last = "d" b } print "}" } }' >tree.goal
scenario tree tree.goal 16
play tree
near "all-reduce by tree has its closed form" .jobs.job.end_ns "$(awk -v s="$step" 'BEGIN { print 4 * (s + 30000) + 4 * s + 3 * 2010 }')"
is "the root computed four times" '.jobs.job.ranks[0].calc_ns == 120000'

# ---- the same job, in both forms, by any number of threads
"$H" import goal ring.goal -o imported -q --lab lab.json
# shellcheck disable=SC2046
check "what import writes is the same schedule" diff <(sed 's/[a-z0-9]*: //; /requires/d; /^$/d' ring.goal) <(sed 's/[a-z0-9]*: //; /requires/d; /^$/d; s/[}].*/}/' imported/schedule.goal)
plain() { jq -S 'del(.files, .simulator, .started, .finished, .scenario_file)' "$result"; }
play ring --threads 1
plain >one
play ring --threads 2
check "two threads give the same" cmp one <(plain)
# as LogGOPSim's txt2bin has it: magic, 2 ranks, places, then of each rank one operation of 39 bytes
le() { local v=$1 n; for ((n = $2; n > 0; n--, v >>= 8)); do printf "\\x$(printf %02x $((v & 255)))"; done; }
{ le 4223 8; le 2 4; le 0 2; le 38 8; le 89 8; le 89 8; le 140 8
    for r in 0 1; do le 1 4; le 1 4; le 0 4; le 0 4; le $((1 + r)) 1; le $((1 - r)) 4; le 4096 8; le 7 4; le 0 2; le 0 16; done; } >two.bin
scenario binary two.bin 2
play binary
is "a binary schedule is played" '.jobs.job.ranks | .[0].sent_bytes == 4096 and .[1].received_bytes == 4096'
head -c 100 two.bin >cut.bin
check_exit 2 "a cut one is refused" "$H" check binary.json --set jobs.job.schedule=cut.bin
check_says "and says where" 'job job: cut.bin: rank 1 is at 89 to 140 of 92 bytes' "$SCRATCH/err"

# ---- several NICs, and computations of one CPU in any order
printf 'num_ranks 2\nrank 0 {\na: calc 4000\nb: calc 3000\nc: calc 2000 cpu 1\nsend 1000000b to 1\nsend 1000000b to 1 tag 1 nic 1\n}\nrank 1 {\nrecv 1000000b from 0\nrecv 1000000b from 0 tag 1 nic 1\n}\n' >nics.goal
cat >nics.json <<'E3'
{ "schema": 1, "name": "nics", "title": "Rails", "lab": "sim-rails", "roles": ["a", "b"], "settings": { "pfc": [0] },
  "phases": { "warmup": "0", "measure": "1ms" }, "jobs": [ { "name": "job", "schedule": "nics.goal" } ],
  "expect": [ { "name": "all ends", "check": "sum(jobs.job.unfinished) == 0" } ] }
E3
play nics
is "computations share a CPU, or have one each" '.jobs.job.ranks[0].calc_ns == 7000 and .verdict == "passed"'
two=$(jq .jobs.job.end_ns "$result")
sed 's/ nic 1//' nics.goal >one.goal
play nics --set jobs.job.schedule=one.goal
check "two NICs take half the time" jq -e ".jobs.job.end_ns / $two | . > 1.8 and . < 2.1" "$result"

# ---- pages and exports have them
"$H" report out-ring/ring/latest >said 2>&1
check "a page has a row for each rank" test "$(grep -c '<tr><td>.*<td>h[0-9]*</td><td class=number>' out-ring/ring/latest/report/index.html)" -ge 16
"$H" export out-ring/ring/latest --format=csv --tables jobs -o exported >said 2>&1
check "an export has each rank" test "$(grep -c ',30000000,30000000,0' exported/jobs.csv)" = 16

# ---- faults: a job ends later, or what never ends is told
play ring --set 'faults=[{"link": ["h3", "s0"], "kind": "down", "start": "200us", "stop": "1200us"}]'
is "a link that is down for a time delays it" '.jobs.job | .unfinished == 0 and .end_ns > 3400000'
play ring --set 'faults=[{"link": ["h3", "s0"], "kind": "down", "start": "200us"}]' --duration 2s
check "with a link that stays down it fails" test "$code" = 1
is "operations that did not end are counted" '.jobs.job | .unfinished > 100 and (has("end_ns") | not)'
is "and those that wait are named" '.jobs.job.not_ended[0] | test("^(send|recv) of 1000000 B (to|from) rank [0-9]+, tag [0-9]+ of rank [0-9]+, line [0-9]+: begun at ")'
is "a warning says so" 'any(.warnings[]; test("^job job: [0-9]+ of 960 operations did not end, such as a "))'
play ring --set 'faults=[{"link": ["h3", "s0"], "kind": "down", "start": "200us"}]' --duration 2s --set 'expect=[{"name":"x","check":"delta(h0.tx_prio3_bytes) > 0"}]'
is "also where nothing is expected of it" 'any(.warnings[]; test("^job job: "))'

# ---- what is refused
refused() { # WHAT PATTERN OPTION...
    check_exit 2 "refused: $1" "$H" check ring.json "${@:3}"
    check_says "... $1" "$2" "$SCRATCH/err"
}
refused "a schedule that is not there" 'job job: opening nowhere.goal: No such file' --set jobs.job.schedule=nowhere.goal
refused "fewer roles than ranks" 'job job: ring.goal has 16 ranks, and 2 roles play it' --set 'jobs.job.roles=["h0","h1"]'
refused "a role twice" 'jobs\[0\].roles\[1\]: "h0" occurs twice' --set 'jobs.job.roles=["h0","h0"]'
refused "a NIC that hosts do not have" 'job job: nics.goal, line 7, is of nic 1: role h0, rank 0, has 1 in lab star' --set 'jobs.job={"schedule": "nics.goal", "roles": ["h0", "h1"]}'
refused "a switch as a rank" 'job job: role "s0" is a switch in lab star' --set 'roles=["h0","s0"]' --set 'jobs.job={"schedule": "two.bin", "roles": ["h0", "s0"]}'
refused "captures" 'captures are of flows, not of jobs' --set 'capture={}'
refused "a job that is not there" 'there is no job "jib"' --set 'expect=[{"name":"x","check":"max(jobs.jib.end_ns) < 1ms"}]'
refused "a value that ranks do not have" 'there is no value of jobs "ends_ns"' --set 'expect=[{"name":"x","check":"max(jobs.job.ends_ns) < 1ms"}]'
finish
