#!/bin/bash
# A recorded config_db.json of a SONiC switch: what doctor reads of it, value by value, and that what it says of marks is what the simulator
# does with the same values. No host and no switch is reached.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "config_db.json files" jq
H=$BUILD/harness
cd "$SCRATCH" || exit 1
# it is not tried again then
mkdir bin && printf '#!/bin/sh\necho "Permission denied: no host is reached" >&2\nexit 255\n' > bin/ssh && chmod +x bin/ssh
PATH=$SCRATCH/bin:$PATH

# A switch of 100 Gb/s ports with ECN on priorities 3 and 4, and a lab of as many hosts at it.
configure() { # PORTS DYNAMIC_TH
    jq -n --argjson n "$1" --arg th "$2" '[range($n) | "Ethernet\(.)"] as $ports |
        def each(f): $ports | map({(.): f}) | add;
        {DEVICE_METADATA: {localhost: {hwsku: "Recorded", platform: "x86_64-recorded"}},
         PORT: each({speed: "100000", mtu: "9100", admin_status: "up"}), CABLE_LENGTH: {AZURE: each("5m")},
         PORT_QOS_MAP: ({global: {dscp_to_tc_map: "AZURE"}} + each({pfc_enable: "3,4"})),
         DSCP_TO_TC_MAP: {AZURE: ([range(64) | {(tostring): (. / 8 | floor | tostring)}] | add)},
         BUFFER_POOL: {pool: {size: "10443264", type: "ingress", mode: "dynamic"}},
         BUFFER_PROFILE: {lossless: {pool: "pool", xon: "18432", xoff: "165888", size: "1248", dynamic_th: $th}},
         BUFFER_PG: ($ports | map({(. + "|3-4"): {profile: "lossless"}}) | add),
         QUEUE: ($ports | map({(. + "|3"): {wred_profile: "W"}, (. + "|4"): {wred_profile: "W"}}) | add),
         WRED_PROFILE: {W: {wred_green_enable: "true", ecn: "ecn_all", green_min_threshold: "1048576", green_max_threshold: "2097152", green_drop_probability: "5"}}}' > config_db.json
    jq -n --argjson n "$1" '{schema: 1, name: "recorded", driver: "ssh", hosts: {"h[0-\($n - 1)]": {ssh: "x{}@127.0.0.1", port: 1, nic: {netdev: "eth0"}}},
        switches: {tor: {config: "config_db.json"}},
        links: [{between: ["h[0-\($n - 1)]", "tor"], ports: {tor: "Ethernet{}"}, rate: "100Gb/s", length: "5m"}]}' > lab.json
}
change() { jq "$1" config_db.json > changed.json && mv changed.json config_db.json; }
doctor() { "$H" doctor --json --lab lab.json "$@" > said 2> err; }
# VERDICT of each entry of a check, and whether a reason says something
verdicts() { jq -r --arg check "$1" '[.[] | select(.host == "tor" and .check == $check) | .verdict] | join(" ")' said; }
says() { jq -ne --arg check "$1" --arg words "$2" 'any(input[]; .host == "tor" and .check == $check and (.reason | contains($words)))' said; }

# ---- a value that is not understood costs that value
configure 2 -4
change '.DSCP_TO_TC_MAP.AZURE["33"] = "8" | .WRED_PROFILE.W.green_min_threshold = " 166912 " | .BUFFER_PROFILE.lossless.xon = "0   "'
doctor
check "traffic class 8 and blanks around numbers are read" test "$(verdicts config-db) $(verdicts wred)" = "ok ok ok ok ok"
check "... as the numbers that they are" says wred "marks from 166912 to 2097152 bytes"
change '.WRED_PROFILE.W.ecn = "sometimes" | .PORT.Ethernet1.speed = "100G"'
doctor
check "two values that SONiC does not know are two warnings" test "$(verdicts config-db)" = "ok warning warning"
check "... with table, key and field" says config-db 'WRED_PROFILE|W: ecn is "sometimes": expected'
check "... and what depends on them is unknown" test "$(verdicts wred) $(verdicts port)" = "unknown unknown unknown unknown ok unknown"
check "... also the headroom at a speed that is not known" test "$(verdicts headroom)" = "ok ok unknown unknown"
check "... which is said" says headroom "the port's speed was not understood (PORT)"
for length in -5m 5 far; do
    configure 2 -4
    change ".CABLE_LENGTH.AZURE.Ethernet1 = \"$length\""
    doctor
    check "a cable of $length: the headroom is unknown, not that of the lab's cable" test "$(verdicts config-db): $(verdicts headroom)" = "ok warning: ok ok unknown unknown"
    check "... which is said" says headroom "the length of the port's cable was not understood (CABLE_LENGTH)"
done
configure 2 -4
change '.BUFFER_PROFILE.lossless.size = "some" | .PORT.Ethernet1.speed = "100G"'
doctor
check "a size that is not understood, or a speed: whether there are marks is unknown" test "$(verdicts wred)" = "unknown unknown unknown unknown"
configure 2 -4
change '.DEVICE_METADATA.localhost.platform = "x\nok  tor  all is well" | .PORT.Ethernet0.mtu = "1\n2"'
"$H" doctor --lab lab.json > said 2> err
check "a value with a line feed makes no line of its own" test "$(grep -c "all is well" said) $(grep -c "^warning  tor .*x.x0aok  tor  all is well" said)" = "1 1"
check_says "... and is shown" 'warning +tor +config-db +PORT\|Ethernet0: mtu is "1\\x0a2"' said

# ---- ECN that is not enabled, line cards
configure 2 -4
change 'del(.WRED_PROFILE.W.wred_green_enable)'
doctor
check "without wred_green_enable nothing is marked" test "$(verdicts wred)" = "warning warning warning warning"
check "... is said" says wred "wred_green_enable of its WRED profile is not true"
configure 2 -4
change '.DEVICE_METADATA.localhost += {hostname: "lc1", asic_name: "Asic0"} | .QUEUE = {"lc1|asic0|Ethernet0|3-4": {wred_profile: "W"}, "lc2|asic0|Ethernet0|3-4": {wred_profile: "OTHER"}} | .WRED_PROFILE.OTHER = {}'
doctor
check "a line card's port is not that of another card" says wred "Ethernet0 (to h0), priority 3: profile W of queue 3 marks from 1048576"
change 'del(.DEVICE_METADATA.localhost.asic_name)'
doctor
check "... without the card's name it is unknown" test "$(verdicts wred)" = "unknown unknown warning warning"

# ---- marks before PFC: what is said is what the simulator does with these values
jq -n '{schema: 1, name: "incast", roles: ["h[0-16]"], phases: {warmup: "100us", measure: "2ms", cooldown: "10us"},
    settings: {mtu: 4200, pfc: [3], ecn: [3], trust: "dscp"}, sample: {every: "50us", groups: ["ecn"]},
    traffic: [{name: "incast", pattern: "incast", from: ["h[0-1]"], to: ["h16"], message: "64KiB", depth: 64, priority: 3}],
    sweep: {"traffic.incast.from": [["h[0-1]"], ["h[0-3]"], ["h[0-7]"], ["h[0-15]"]]}}' > scenario.json
jq '.roles += ["s0"]' scenario.json > simulated.json
agree() { # DYNAMIC_TH VERDICTS MARKS: with 2, 4, 8 and 16 senders
    configure 17 "$1"
    doctor --for scenario.json
    check "a threshold of 2^$1, 2, 4, 8 and 16 senders: doctor says $2" test "$(jq -r '[.[] | select(.check == "wred" and (.reason | startswith("Ethernet16 (to h16), priority 3:"))) | .verdict] | join(" ")' said)" = "$2"
    jq -n --argjson th "$1" '{schema: 1, name: "same", driver: "sim", topology: {kind: "star", hosts: 17},
        defaults: {host: {nic: {model: "ideal", ack_every: 16}}, link: {rate: "100Gb/s", length: "5m"},
            switch: {buffer: "\(10443264 + 17 * (165888 + 1248))B", reserve: "1248B", xoff_alpha: pow(2; $th), xon_offset: "3KiB",
                ecn: {kmin: "1048576B", kmax: "2097152B", pmax: 0.05}, headroom: "165888B"}}}' > same.json
    "$H" run simulated.json --lab same.json --out runs -q --no-report > log 2>&1
    check "... with the same values the simulator marks: $3" test "$(jq -s 'map(.hosts.s0.counters.ecn_marked.delta > 0)' -c runs/incast/latest/*/result.json)" = "$3"
}
agree -4 "ok ok ok ok" "[true,true,true,true]"
agree -6 "failure warning ok ok" "[false,false,true,true]" # warning: with what the headroom takes after XOFF the queue could be so long
finish
