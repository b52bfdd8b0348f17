#!/bin/bash
# `harness search --on slurm`: the answer is that of a search which runs here, also after Ctrl-C and a kill.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/slurm.bash
. "$ROOT/tests/e2e/slurm.bash"
slurm_enter "searches on a cluster with Slurm" "$0"
cd "$SCRATCH" || exit 2
H=$BUILD/harness
mkdir -p config/harness
echo '{ "schema": 1, "slurm": { "default": { "partition": "main" } } }' > config/harness/config.json
cat > star.json << 'END'
{"schema": 1, "name": "star", "driver": "sim", "topology": {"kind": "star", "hosts": 3}, "defaults": {"link": {"rate": "25Gb/s", "length": "2m"}, "switch": {"buffer": "1MiB"}}}
END
# Two flows to one host: its queue is long if both are fast.
cat > rates.json << 'END'
{"schema": 1, "name": "rates", "lab": "star.json", "roles": ["h[0-2]", "s0"],
 "phases": {"warmup": "20us", "measure": "200us", "cooldown": "1us"}, "settings": {"mtu": 4200, "pfc": [3], "trust": "dscp"},
 "flows": [{"name": "a", "from": "h0", "to": "h2", "message": "16KiB", "depth": 8, "priority": 3, "rate": "1Gb/s"},
           {"name": "b", "from": "h1", "to": "h2", "message": "16KiB", "depth": 8, "priority": 3, "rate": "10Gb/s"}],
 "sample": {"every": "20us", "groups": ["pfc", "drops", "queue"]},
 "search": {"over": {"flows.a.rate": {"from": "1Gb/s", "to": "24Gb/s"}, "flows.b.rate": {"from": "5Gb/s", "to": "15Gb/s"}},
            "find": "max(s0.port2_prio3_queue_bytes) > 100KB", "led_by": ["mean(s0.port2_prio3_queue_bytes)"], "runs": 12, "seeds": 1, "at_once": 4}}
END
same() { jq -S '{findings, runs, tried: [.tried[].values]}' "$1"/rates/2*/search.json && cat "$1"/rates/2*/finding-*/scenario.json; }
check_exit 0 "a search that runs here" "$H" search rates.json --out here --no-report --quiet
slurm_start || { nok "a controller and two nodes" && finish; }
check_exit 0 "one whose rounds run on the cluster" "$H" search rates.json --on slurm --out there --no-report
kinds=$(jq '.findings | length' here/rates/2*/search.json)
check "a kind is found" test "$kinds" -ge 1
check_says "... as many on the cluster" "^$kinds kinds? of " out
check "... which is the same" diff <(same here) <(same there)
check "... there is no job any more" test -z "$(squeue --noheader)"

# ---- Ctrl-C, and going on
setsid "$H" search rates.json --on slurm --out cut --no-report > cut.log 2>&1 &
run=$!
until_true 120 sh -c 'squeue --noheader | grep -q harness-' || kill -0 $run
kill -INT $run
wait $run
check "Ctrl-C ends it with 130" test $? = 130
check "... and its job" test -z "$(squeue --noheader)"
check_says "... says how it goes on" 'harness search --resume ' cut.log
"$H" search --resume cut/rates/2* --on slurm --no-report --quiet > cut.log 2>&1 &
run=$!
until_true 120 sh -c 'squeue --noheader | grep -q harness-' || kill -0 $run
kill -KILL $run
wait $run 2> /dev/null
check_exit 0 "it goes on after a kill, with or without its job" "$H" search --resume cut/rates/2* --on slurm --no-report
check "... and ends the same" diff <(same here) <(same cut)
finish
