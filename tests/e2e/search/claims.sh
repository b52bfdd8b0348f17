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
finish
