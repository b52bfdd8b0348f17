#!/bin/bash
# What a run leaves: is its result where it says when it ends, does it fit, and what is `latest`?
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
cat >own.json <<'END'
{ "schema": 1, "name": "own", "title": "t", "lab": "./lab.json", "roles": ["h[0-1]"],
  "phases": { "warmup": "1ms", "measure": "1ms" }, "settings": { "pfc": [3] },
  "flows": [ { "name": "f", "from": "h0", "to": "h1", "priority": 3 } ], "sample": { "every": "100us" },
  "expect": [ { "name": "x", "check": "sum(flows.*.goodput_bps) > 1Gb/s" } ] }
END
cat >lab.json <<'END'
{ "schema": 1, "name": "l", "driver": "sim", "topology": { "kind": "star", "hosts": 20 }, "defaults": { "link": { "rate": "25Gb/s", "delay": "1us" } } }
END
own() { "$H" run own.json --no-report "$@"; }

# ---- a result that somebody removes or replaces while it runs
gone() { # WHAT COMMAND OPTION...: the command is run in results/own while a run has written a part of its result
    local what=$1 command=$2 pid measure=200
    shift 2
    while :; do
        rm -rf results
        own --set "phases.measure=${measure}ms" --set sample.every=1ms "$@" >out 2>err &
        pid=$!
        until [ -n "$(find results -name samples.jsonl -size +0 2>/dev/null)" ]; do kill -0 $pid || break; done
        kill -STOP $pid
        [ -z "$(find results -name 'index.json' -o -path '*Z/result.json' 2>/dev/null)" ] && break
        kill -CONT $pid # it was through before
        wait $pid
        measure=$((2 * measure))
    done
    (cd results/own && eval "$command")
    kill -CONT $pid
    wait $pid
    local status=$?
    if [ $status = 3 ] && grep -q 'the result is gone: .*results/own/20' err; then ok "$what: exit status 3"; else nok "$what: exit status 3" "status $status, $(cat err)"; fi
}
gone "a result that was removed" 'rm -rf 20*'
gone "a sweep that was removed" 'rm -rf 20*' --set 'sweep={"settings.pfc":[[],[3]]}'
# shellcheck disable=SC2016 # it is for the eval
gone "a sweep in whose place a link is" 'f=$(ls -d 20*); mv "$f" ../aside; ln -s ../aside "$f"' --set 'sweep={"settings.pfc":[[],[3]]}'

# ---- latest
rm -rf results
own >out 2>err
check "latest is a link" test -L results/own/latest
cp -rL results/own/latest copy && rm results/own/latest && mv copy results/own/latest
check_exit 0 "a folder of that name, as copies have" own
check_says "... is told" 'results/own/latest is no link, and is left as it is: it does not lead to the newest result, 20' err
check "... and stays" test -d results/own/latest -a ! -L results/own/latest
rm -rf results/own/latest && echo mine >results/own/latest
check_exit 0 "a file of that name" own
check "... stays" grep -qx mine results/own/latest

# ---- what a run writes
check_exit 0 "a run that writes much" "$H" run -n own.json --set phases.cooldown=200s --set sample.every=10us
check_says "... is told" '1 run writes at least [0-9.]+ GB; less with a longer sample.every' err
check_exit 2 "a run that writes more than there is room for" "$H" run -n own.json --set phases.cooldown=1h --set sample.every=1us --repeat 10000
check_says "... is refused" '10000 runs write at least [0-9.]+ GB, and the disk of folder results has [0-9.]+ GB free: expected a longer sample.every' err
jq '.traffic = [{name: "p", pattern: "incast", from: ["h0"], to: [.flows[0].to], size: null, message: "64KiB"} | del(.size)] | del(.flows) | .sample.groups = ["link"]' own.json >pattern.json
check_exit 0 "flows of a pattern" "$H" run -n pattern.json --set phases.cooldown=200s --set sample.every=10us
written=$(sed -n 's/.*writes at least \([0-9.]*\) GB.*/\1/p' err)
"$H" run -n pattern.json --set phases.cooldown=200s --set sample.every=10us --set traffic.p.size=64KiB >out 2>err
check "... are counted, as far as they have no end: $written GB" eval '[ "$written" ] && ! grep -q "writes at least" err'
check_exit 0 "captures that may take more than there is" "$H" run -n own.json --set 'capture={"ports":["h0"],"limit":"1TB"}' --repeat 1000
check_says "... are told" 'captures of 1000 runs may take 1000000.0 GB, and the disk of folder results has [0-9.]+ GB free: set a smaller capture.limit' err
check_exit 0 "a run that writes little" "$H" run -n own.json
check "... is not" eval '! grep -q writes err'

# ---- roles of a lab
warned() { # WHAT ROLES PATTERN; the pattern is empty: of nothing
    jq --argjson roles "$2" '.roles = $roles' lab.json >lab && mv lab lab.json
    check_exit 0 "$1" "$H" check own.json
    if [ -n "$3" ]; then check_says "... is told" "$3" err; else check "... is not" eval '! grep -q "no such role" err'; fi
}
jq '.roles = ["h0", "server1"] | .flows[0].to = "server1"' own.json >own && mv own own.json
warned "a role of the lab with a letter for a digit" '{"ho":"h5","server1":"h6"}' 'roles.ho of lab l: the scenario has no such role; did you mean "h0"'
warned "a role of other scenarios" '{"h16":"h5","s0":"h7","server12":"h8","client":"h9","server1":"h6"}' ''
jq '.roles = ["h0", "h1"] | .flows[0].to = "h1"' own.json >own && mv own own.json
warned "a role in capitals" '{"H1":"h6"}' 'roles.H1 of lab l: .*did you mean "h1"'
finish
