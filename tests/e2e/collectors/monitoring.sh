#!/usr/bin/env bash
# collectors/grafana/: the dashboard and the alerts of what nic-sampler --prometheus serves, checked by promtool and against a real scrape.
# tests/unit/collectors/test_monitoring.c compares the names of counters with the catalogue.
# shellcheck disable=SC2016 # variables of jq and Grafana
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "dashboard and alerts" jq curl
cd "$ROOT/collectors/grafana" || exit 2
PATH=$PATH:$ROOT/build/tools

# ---- the dashboard: each panel, target and variable asks the data source that is chosen, and nothing else
check "every panel and target has the chosen data source" jq -e '
    [.panels[] | select(.type != "row")] as $panels | ($panels | length) > 8 and
    all($panels[]; .datasource.uid == "${datasource}" and .datasource.type == "prometheus" and (.targets | length) > 0 and
        all(.targets[]; .datasource.uid == "${datasource}" and (.expr | length) > 0 and (.legendFormat | length) > 0))' dashboard.json
check "variables are defined, and ask it too" jq -e '
    (.templating.list | map(.name)) as $names | $names[0] == "datasource" and .templating.list[0].type == "datasource" and
    all(.templating.list[1:][]; .datasource.uid == "${datasource}") and
    ([.. | strings | scan("\\$\\{?([a-z]+)\\}?")[0]] | unique - $names) == []' dashboard.json
check "panels have numbers of their own, fit the width, and do not lie over each other" jq -e '
    [.panels[] | {id, x: .gridPos.x, y: .gridPos.y, w: .gridPos.w, h: .gridPos.h}] as $p |
    ($p | map(.id) | unique | length) == ($p | length) and all($p[]; .x + .w <= 24) and
    all($p[] as $a | $p[] | select(.id > $a.id) | . as $b | {$a, $b};
        .a.x + .a.w <= .b.x or .b.x + .b.w <= .a.x or .a.y + .a.h <= .b.y or .b.y + .b.h <= .a.y)' dashboard.json

# ---- a real scrape
"$BUILD/nic-sampler" --netdev lo --prometheus 127.0.0.1:0 >/dev/null 2>"$SCRATCH/sampler" &
server=$!
at_exit kill $server
until grep -q 'port [1-9]' "$SCRATCH/sampler" || ! kill -0 $server 2>/dev/null; do sleep 0.1; done
port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$SCRATCH/sampler")
check "nic-sampler is scraped" curl -sf -o "$SCRATCH/metrics" "http://127.0.0.1:$port/metrics"
missing=$(grep -oh 'nic_\(sampler\|link\)_[a-z0-9_]*' ./*.json ./*.yml | sort -u | while read -r name; do grep -q "^$name{" "$SCRATCH/metrics" || echo "$name"; done)
if [ -s "$SCRATCH/metrics" ] && [ -z "$missing" ]; then ok "it has what every interface has"; else nok "it has what every interface has" "$missing"; fi
job=$(sed -n 's/.*up{job="\([^"]*\)"}.*/\1/p' alerts.yml)
check_says "the job of the alerts is that of the documented scrape" "job_name: $job\$" "$ROOT/docs/monitoring.md"

# ---- promtool
if ! command -v promtool >/dev/null; then
    skip "queries, alerts and their tests" no-command promtool
    finish
fi
check "promtool takes the scrape" bash -c "promtool check metrics <'$SCRATCH/metrics'"
check "promtool takes the alerts" promtool check rules alerts.yml
check "each alert is raised by its values, and not by others" promtool test rules alerts_test.yml
grep -o 'alert: .*' alerts.yml | cut -d ' ' -f 2 | sort >"$SCRATCH/alerts"
sed -n 's/^  - name: \(.*\) raised$/\1/p' alerts_test.yml | sort >"$SCRATCH/raised"
sed -n 's/^  - name: \(.*\) quiet$/\1/p' alerts_test.yml | sort >"$SCRATCH/quiet"
check "every alert has both tests" bash -c "cmp '$SCRATCH/alerts' '$SCRATCH/raised' && cmp '$SCRATCH/alerts' '$SCRATCH/quiet'"
# the tests notice a change of any alert, in both directions
cp alerts_test.yml "$SCRATCH"
unnoticed=
for change in 's|> 0$|> 1000000|' 's|> 0\.5|> 0.1|; s|> 10000|> 1000|; s|> 1$|> 0.1|' 's|> 0\.5|> 5|' 's|>= 3|>= 1|' 's|== 0|== 2|'; do
    sed "/expr:/ { $change }" alerts.yml >"$SCRATCH/alerts.yml"
    cmp -s alerts.yml "$SCRATCH/alerts.yml" && unnoticed+=" nothing to change by $change;"
    promtool test rules "$SCRATCH/alerts_test.yml" >/dev/null 2>&1 && unnoticed+=" $change;"
done
if [ -z "$unnoticed" ]; then ok "other thresholds are noticed"; else nok "other thresholds are noticed" "$unnoticed"; fi
# the queries as rules, with what Grafana puts in
jq -r '"groups: [{name: dashboard, rules: " + ([.panels[] | .targets // [] | .[] | .expr | gsub("\\$__rate_interval"; "1m")] |
    to_entries | map({record: "panel:query:\(.key)", expr: .value}) | tojson) + "}]"' dashboard.json >"$SCRATCH/queries.yml"
check "promtool takes the dashboard's queries" promtool check rules "$SCRATCH/queries.yml"
finish
