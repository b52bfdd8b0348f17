#!/usr/bin/env bash
# What `harness search` says of its values: which are as good as the best, and what is written where a range of flows has its own name.
# shellcheck disable=SC2016 # what is quoted is for jq
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
PATH=$BUILD:$PATH
cat >star.json <<'END2'
{"schema": 1, "name": "star", "driver": "sim", "topology": {"kind": "star", "hosts": 4}, "defaults": {"link": {"rate": "25Gb/s", "length": "2m"}}}
END2
cat >claims.json <<'END2'
{"schema": 1, "name": "claims", "lab": "star.json", "roles": ["h[0-3]", "s0"],
 "phases": {"warmup": "20us", "measure": "200us", "cooldown": "1us"}, "settings": {"mtu": 4200, "pfc": [3], "trust": "dscp"},
 "flows": [{"name": "f-{}", "from": "h[0-1]", "to": "h3", "message": "16KiB", "depth": 4, "priority": 3, "rate": "2Gb/s"},
           {"name": "v", "from": "h2", "to": "h3", "message": "4KiB", "depth": 1, "priority": 3}],
 "sample": {"every": "20us", "groups": ["pfc", "drops", "queue"]},
 "search": {"over": {"flows.f-*.rate": {"from": "1Gb/s", "to": "8Gb/s"}, "flows.*.depth": [1, 2, 4, 8, 16, 32]},
            "objectives": [{"name": "goodput", "max": "sum(flows.f-*.delivered_bps)"}, {"name": "latency", "min": "max(flows.v.latency_p50_ns)"}],
            "runs": 60, "seeds": 1, "strategy": "random"}}
END2
answer() { jq -c "$2" "$1/claims/latest/search.json"; }

# ---- values that are as good as the best, of those that were tried
cat >flat.py <<'END2'
"""flat.py SEARCH: each value that it says is not told from the best was tried, and one with it is as good as the best."""
import json, math, sys
d = json.load(open(sys.argv[1]))
number = lambda value: float(str(value).rstrip("GKMibB/s")) * (1000 if "Gb" in str(value) else 1)
said = 0
for entry in d["importance"]:
    if "flat" not in entry:
        continue
    sign = -1 if next(o for o in d["objectives"] if o["name"] == entry["objective"])["goal"] == "max" else 1
    tried = [(number(c["values"][entry["path"]]), c["objectives"][entry["objective"]]) for c in d["tried"]
             if c["feasible"] and c["runs"] == d["seeds"]]
    best = min(tried, key=lambda at: sign * at[1]["mean"])[1]
    low, high = map(number, entry["flat"])
    assert low < high and {low, high} <= {value for value, _ in tried}, entry
    for value in {value for value, _ in tried if low <= value <= high}:
        error = lambda is_: 2 * math.sqrt((is_["stddev"] or 0) ** 2 / is_["count"] + (best["stddev"] or 0) ** 2 / best["count"])
        assert any(abs(is_["mean"] - best["mean"]) <= error(is_) * 1.000001 for at, is_ in tried if at == value), (entry, value)
    said += 1
print(said)
END2
check_exit 0 "a search of which a range of values is as good as the best" harness search claims.json --no-report --out flat --jobs 1
cp out told
check "it says so of values that are, where seeds change nothing" python3 flat.py flat/claims/latest/search.json
check_says "in the terminal" '^  flows\.\*\.depth for latency: .*; tried, and not told from the best: from 1 to [248]$' told
check "of a rate of which each tenth counts it says nothing" [ "$(answer flat '[.importance[] | select(.path == "flows.f-*.rate" and .objective == "goodput") | .told, has("flat")]')" = '[true,false]' ]
check_exit 0 "where seeds differ" harness search claims.json --set 'faults=[{"link": ["h0", "s0"], "kind": "loss", "loss": 1e-2}]' --set search.seeds=3 --set search.runs=120 --no-report --out noise --jobs 1
check "it says so of what they do not tell" python3 flat.py noise/claims/latest/search.json

# ---- what is written where a range has its own name, a flow its number, and where flows differ
jq '.search |= (.over = {"flows.f-{}.depth": [1, 2, 4, 8], "flows.1.message": ["4KiB", "16KiB"], "flows.*.priority": [3, 4], "flows.*.rate": {from: "1Gb/s", to: "8Gb/s"}}
    | .baselines = {all: {"flows.*.depth": 8}, "but one": {"flows.*.depth": 8, "flows.v.depth": 1}} | .runs = 12)' claims.json >written.json
check_exit 0 "a search over names that are in the scenario alone" harness search written.json --out written --jobs 1
check "has what is written there" [ "$(answer written '[.parameters[] | .as_written?]')" = '[4,"4KiB",3,null]' ]
check "but where flows differ" [ "$(answer written '.parameters[3] | has("as_written")')" = false ]
check_says "as the page has it" '>as written</a>.*<td class=number>4<td class=number>4KiB<td class=number>3<td class=number>differs</tr>' written/claims/latest/index.html
check_says "with what known settings set by other paths" '>all</a>.*<td class=number>8<td class=number>4KiB<td class=number>3<td class=number>differs</tr>' written/claims/latest/index.html
check "and files that set the best of them are made" [ "$(answer written '[.use.files[].file, .use.not_made]')" = '["winner.json","winner-lab.json","winner-nic-config.json",{}]' ]
check "settings that differ by such a path are not the same ones" [ "$(answer written '[.known[].folders[0]] | unique | length')" = 3 ]

# ---- the same search by any name: one kind, reduced
jq '.search = {over: {"flows.f-*.rate": {from: "1Gb/s", to: "20Gb/s"}, "flows.f-*.depth": {from: 1, to: 32, scale: "log"}},
    find: "mean(flows.v.latency_p50_ns) > 15us", runs: 30, seeds: 1, findings: 2}' claims.json >find.json
kinds() { answer "$1" '[.findings[] | {sentence, differs}]'; }
check_exit 0 "a search for a kind" harness search find.json --no-report --quiet --jobs 1 --out glob
check "finds it" [ "$(answer glob '.findings | length')" = 1 ]
sed 's/f-\*/f-{}/g' find.json >range.json
check_exit 0 "by the own name of the range" harness search range.json --no-report --quiet --jobs 1 --out range
check "it is the same kind, with what it passes with" [ "$(kinds range)" = "$(kinds glob)" ]
sed 's/f-\*/0/g' find.json >number.json
check_exit 0 "by its number" harness search number.json --no-report --quiet --jobs 1 --out number
check "it passes with what is written at each flow" [ "$(jq -c '[.complete, .passes_with."flows.f-0.rate", .passes_with."flows.f-1.rate"]' number/claims/latest/finding-1/finding.json)" = '[true,"2Gb/s","2Gb/s"]' ]
jq '.search.over = {"flows.*.depth": {from: 1, to: 32, scale: "log"}} | .flows[0].rate = "20Gb/s" | .flows[0].depth = 1 | .flows[1].depth = 2' find.json >differ.json
check_exit 0 "over flows that differ" harness search differ.json --no-report --quiet --jobs 1 --out differ
check "it passes with what each of them has" [ "$(jq -c '[.complete, .passes_with]' differ/claims/latest/finding-1/finding.json)" = '[true,{"flows.f-0.depth":1,"flows.f-1.depth":1}]' ]

# ---- a kind that cannot be reduced, as what is written makes it with some of the seeds
jq '.faults = [{link: ["h0", "s0"], kind: "loss", loss: 5e-3}] | .flows[0].rate = "10Gb/s" | .phases.measure = "1ms" | del(.sample.groups)
    | .expect = [{name: "few", check: "total(s0.crc_errors) <= 2"}]' claims.json >some.json
harness run some.json --set search=null --repeat 4 --no-report --quiet --out some >log 2>&1
check "what is written makes it with some of the seeds" [ "$(jq -s -c '[.[].expectations[0].verdict]' some/claims/latest/0*/result.json)" = '["passed","passed","failed","failed"]' ]
jq '.expect = [] | .search = {over: {"faults.0.loss": [5e-2, 6e-2]}, find: "total(s0.crc_errors) > 2", runs: 6, seeds: 4, findings: 1}' some.json >search.json
check_exit 1 "a search for it does not end as if it were reduced" harness search search.json --no-report --jobs 1 --out unreduced
check_says "it is told with its values, and why not" '^  finding-1: "total\(s0.crc_errors\) > 2" holds with faults.0.loss = 0.0[56]; it is not reduced: .* does not pass with ' out
check "in the answer, too" [ "$(answer unreduced '.findings[0] | [(.sentence | test(" holds with faults.0.loss = ")), (.not_reduced | test("does not pass with"))]')" = '[true,true]' ]
check "and not in the place of a scenario" [ ! -e unreduced/claims/latest/finding-1/scenario.json ]

# ---- what --set changes by the own name of a range is no longer what a figure was published for
jq 'del(.search) | .published = [{name: "goodput", of: "sum(flows.f-*.delivered_bps)", value: 4e9, unit: "b/s", source: "a paper"}]' claims.json >published.json
for path in 'flows.f-*' 'flows.f-{}' flows.0; do
    check_exit 4 "a run with another rate of $path" harness run published.json --set "$path.rate=5Gb/s" --quiet --no-report --out published
    check "compares nothing" [ "$(jq -r --arg path "$path" '.published[0] | .reason == "\($path).rate is 5Gb/s" and .difference_percent == null' published/claims/latest/result.json)" = true ]
done
finish
