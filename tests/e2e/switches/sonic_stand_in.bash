# shellcheck shell=bash
# A stand-in for a SONiC switch's databases: a real redis-server, on a Unix socket, with entries in SONiC's format (CONFIG_DB is database 4,
# COUNTERS_DB 2). The host tor of an ssh lab (tests/e2e/harness/ssh_hosts.bash) has it. It is no switch: nothing forwards, and counters move
# when a test moves them. Source this after tests/e2e/lib.sh.
skip_unless "a stand-in of a switch's databases" redis-server redis-cli jq
# shellcheck source=tests/e2e/harness/ssh_hosts.bash
. "$ROOT/tests/e2e/harness/ssh_hosts.bash"
REDIS=$SCRATCH/redis.sock
db() { redis-cli -s "$REDIS" -n "$@"; }
start_databases() {
    redis-server --port 0 --unixsocket "$REDIS" --save '' --dir "$SCRATCH" --daemonize no > "$SCRATCH/redis.log" 2>&1 &
    local pid=$!
    at_exit kill "$pid"
    until [ -S "$REDIS" ] && db 0 PING 2> /dev/null | grep -q PONG; do kill -0 "$pid" || return 1; sleep 0.1; done
}
# A config_db.json, as SONiC writes it into CONFIG_DB: TABLE|KEY is a hash.
load_config() { # FILE
    jq -r 'to_entries[] | .key as $t | .value | to_entries[] | .key as $k | .value | to_entries[] | ["HSET", "\($t)|\($k)", .key, .value] | map("\"" + . + "\"") | join(" ")' "$1" | db 4 > /dev/null
}
# COUNTERS_DB of Ethernet0 and Ethernet4, with all counters at this value.
load_counters() { # VALUE
    local port field i
    for port in 0 4; do
        {
            echo "HSET COUNTERS_PORT_NAME_MAP Ethernet$port oid:0x10000000000$port"
            for i in 0 1 2 3 4 5 6 7; do
                for field in RX_PKTS TX_PKTS; do echo "HSET COUNTERS:oid:0x10000000000$port SAI_PORT_STAT_PFC_${i}_$field $1"; done
                echo "HSET COUNTERS_QUEUE_NAME_MAP Ethernet$port:$i oid:0x150000000${port}0$i"
                for field in PACKETS BYTES WRED_ECN_MARKED_PACKETS WRED_DROPPED_PACKETS; do echo "HSET COUNTERS:oid:0x150000000${port}0$i SAI_QUEUE_STAT_$field $1"; done
                echo "HSET USER_WATERMARKS:oid:0x150000000${port}0$i SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES $1"
                echo "HSET COUNTERS_PG_NAME_MAP Ethernet$port:$i oid:0x1a0000000${port}0$i"
                echo "HSET USER_WATERMARKS:oid:0x1a0000000${port}0$i SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES $1"
            done
        } | db 2 > /dev/null
    done
}
# A configuration with which nothing is wrong between hosts that have PFC on 3 and 4, 100 Gb/s, and cables of up to 5 m.
write_config() { # FILE
    jq -n '{DEVICE_METADATA: {localhost: {hwsku: "Stand-In", platform: "x86_64-stand_in"}},
        PORT: (["Ethernet0", "Ethernet4"] | map({(.): {speed: "100000", mtu: "9100", admin_status: "up"}}) | add),
        CABLE_LENGTH: {AZURE: {Ethernet0: "5m", Ethernet4: "5m"}},
        PORT_QOS_MAP: ({global: {dscp_to_tc_map: "AZURE"}} + (["Ethernet0", "Ethernet4"] | map({(.): {pfc_enable: "3,4", tc_to_pg_map: "AZURE", tc_to_queue_map: "AZURE"}}) | add)),
        DSCP_TO_TC_MAP: {AZURE: ([range(64) | {(tostring): (. / 8 | floor | tostring)}] | add)},
        TC_TO_PRIORITY_GROUP_MAP: {AZURE: ([range(8) | {(tostring): tostring}] | add)},
        TC_TO_QUEUE_MAP: {AZURE: ([range(8) | {(tostring): tostring}] | add)},
        BUFFER_POOL: {ingress_lossless_pool: {size: "8000000", type: "ingress", mode: "dynamic"}},
        BUFFER_PROFILE: {pg_lossless_100000_5m_profile: {pool: "ingress_lossless_pool", xon: "18432", xoff: "65536", size: "18432", dynamic_th: "0"}},
        BUFFER_PG: {"Ethernet0|3-4": {profile: "pg_lossless_100000_5m_profile"}, "Ethernet4|3-4": {profile: "pg_lossless_100000_5m_profile"}},
        QUEUE: (["Ethernet0|3", "Ethernet0|4", "Ethernet4|3", "Ethernet4|4"] | map({(.): {wred_profile: "AZURE_LOSSLESS"}}) | add),
        WRED_PROFILE: {AZURE_LOSSLESS: {ecn: "ecn_all", wred_green_enable: "true", green_min_threshold: "250000", green_max_threshold: "2097152", green_drop_probability: "5"}},
        FLEX_COUNTER_TABLE: {PORT: {FLEX_COUNTER_STATUS: "enable", POLL_INTERVAL: "100"}, QUEUE: {FLEX_COUNTER_STATUS: "enable", POLL_INTERVAL: "200"}},
        PFC_WD: {GLOBAL: {POLL_INTERVAL: "200"}, Ethernet0: {action: "drop", detection_time: "200", restoration_time: "400"}}}' > "$1"
}

make_host tor 192.0.2.13
"$H" install --lab "$LAB" > "$SCRATCH/out"
write_config "$SCRATCH/config_db.json"
start_databases || nok "the stand-in's databases start" "$(cat "$SCRATCH/redis.log")"
load_config "$SCRATCH/config_db.json"
load_counters 1000
