#!/bin/bash
# roce-traffic's command line and server without any RDMA device: usage, the ready line, what is refused, how it ends.
# shellcheck disable=SC2181 # the exit codes are what is tested
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
traffic=$BUILD/roce-traffic

# A server on a free port of loopback ($WHERE): its pid in $SERVER, its port in $PORT, its lines in $SCRATCH/serve.
WHERE=(--listen 127.0.0.1)
serve() {
    : >"$SCRATCH/serve"
    LD_PRELOAD=${PRELOAD:-} "$traffic" serve --port 0 "${WHERE[@]}" "$@" >"$SCRATCH/serve" 2>"$SCRATCH/serve.err" <&0 &
    SERVER=$!
    for _ in $(seq 100); do
        PORT=$(jq -r 'select(.what == "ready") | .port' "$SCRATCH/serve")
        [ -z "$PORT" ] || return 0
        sleep 0.05
    done
    return 1
}

stop() {
    kill "$SERVER"
    wait "$SERVER"
}

# Send standard input to the server, and what it answers to $SCRATCH/answer.
say() {
    exec 3<>"/dev/tcp/127.0.0.1/$PORT"
    cat >&3
    timeout 5 cat <&3 >"$SCRATCH/answer"
    exec 3>&-
}

# The same, until the first line of the answer.
say_first() {
    exec 3<>"/dev/tcp/127.0.0.1/$PORT"
    cat >&3
    timeout 5 head -n 1 <&3 >"$SCRATCH/answer"
    exec 3>&-
}

# shellcheck disable=SC2016 # expanded when the test ends
at_exit eval 'kill -9 $(jobs -p) 2>/dev/null'

# ---- usage ----
check_exit 0 "--help lists the subcommands" "$traffic" --help
check_says "routes among them" 'routes +Try every route' "$SCRATCH/out"
check_exit 2 "without arguments: usage" "$traffic"
check_exit 2 "an unknown subcommand is refused" "$traffic" drvie
check_says "with the nearest known one" 'did you mean "drive"' "$SCRATCH/err"
check_exit 2 "an unknown option is refused" "$traffic" drive --mesage 64KiB host
check_says "with the nearest known one" 'did you mean --message' "$SCRATCH/err"
check_exit 2 "drive without a host is refused" "$traffic" drive
check_says "... with what is missing" 'needs HOST' "$SCRATCH/err"
check_exit 2 "a size without a unit is refused" "$traffic" drive -s 64 host
check_exit 2 "a sweep without an end is refused" "$traffic" drive -s 2B..8B host
check_exit 2 "serve takes no argument" "$traffic" serve host
for option in $("$traffic" drive --help | sed -n 's/^ .*--\([a-z-]*\).*/\1/p' | sort -u); do
    grep -qE -- "^\.It .*(Fl -|Fl . , -)$option( |\$)" "$ROOT/docs/roce-traffic.1" || undocumented="${undocumented:-} --$option"
done
check "every option is in the manual page${undocumented:-}" test -z "${undocumented:-}"

# ---- jobs ----
# A job of 64 flows that is refused by its last one is read whole; nobody listens at port 1.
many() { # COUNT [MORE-OF-THE-LAST]
    jq -cn --argjson n "$1" --argjson more "${2:-{\}}" '{schema: 1, host: "127.0.0.1", process: {port: 1, output: "json"},
        common: {duration: "1s", local: {gid_index: 3}},
        flows: [range($n) as $i | {name: "flow-\($i)", from: "a", to: "b", depth: 16} + if $i == $n - 1 then $more else {} end]}'
}
many 64 > "$SCRATCH/job"
check_exit 3 "a job of 64 flows is run" "$traffic" drive --job - < "$SCRATCH/job"
check "... all of it" test "$(grep -c '"type":"error".*Connection refused' "$SCRATCH/out")" = 64
check_exit 3 "... from a file as well" "$traffic" drive --job "$SCRATCH/job" --depth 8
many 64 '{"depth": 20000}' > "$SCRATCH/job"
check_exit 2 "a limit is said" "$traffic" drive --job "$SCRATCH/job"
check_says "... with the flow and the range" 'flows\[63\]: depth: .*1 to 16384' "$SCRATCH/err"
many 65 > "$SCRATCH/job"
check_exit 2 "a job of 65 flows is refused" "$traffic" drive --job "$SCRATCH/job"
check_says "... by the limit" '65 flows: expected at most 64' "$SCRATCH/err"
echo '{"schema": 1, "comon": {}}' > "$SCRATCH/job"
check_exit 2 "an unknown name in a job is refused" "$traffic" drive --job "$SCRATCH/job" host
check_says "... with the nearest known one" 'did you mean "common"' "$SCRATCH/err"
check_exit 2 "a job that is not there is refused" "$traffic" drive --job "$SCRATCH/nothing" host

# ---- connecting ----
check_exit 3 "an unknown host ends with 3" "$traffic" drive no.such.host.invalid
check_exit 3 "a port without a listener ends with 3" "$traffic" drive --port 1 127.0.0.1
check_says "and says so" 'connecting to roce-traffic serve at 127.0.0.1 port 1: Connection refused' "$SCRATCH/err"
check_says "as an error line too" '"type":"error".*"status":"ERROR"' "$SCRATCH/out"

# ---- the server ----
protocol=$(sed -n 's/^#define WIRE_PROTOCOL *//p' "$ROOT/traffic/connection/wire.h")
hello() { jq -cn --argjson protocol "$protocol" --arg secret "${1:-}" '{type: "hello", protocol: $protocol, version: "0", secret: $secret}'; }
serve
check "serve says that it is ready, with the port it took" test "${PORT:-0}" -gt 0
check_says "... and that there is no secret" 'warning: no secret was given .*whoever can connect to 127.0.0.1' "$SCRATCH/serve.err"
printf 'GET / HTTP/1.1\r\n\r\n' | say
check_says "garbage is refused in words" '"type":"error","text":"127.0.0.1 did not say hello as roce-traffic does' "$SCRATCH/answer"
printf '\xff\n' | say
check_says "... bytes that are no text as well" '"type":"error","text":"127.0.0.1 did not say hello as roce-traffic does' "$SCRATCH/answer"
head -c 400000 /dev/zero | tr '\0' x | say 2>/dev/null
check_says "a line without end is refused" 'a line of more than 512 bytes' "$SCRATCH/answer"
printf '%s\n' '{"type":"hello","protocol":99,"version":"9"}' | say
check_says "another protocol version is refused by name" 'uses control protocol 99' "$SCRATCH/answer"
printf '%s\n' '{"type":"error","text":"x"}' | say
check_says "a message before hello is refused" 'did not say hello' "$SCRATCH/answer"
printf '%s\n' "$(hello)" '{"type":"start","start_in_ns":0,"warmup_ns":0,"duration_ns":0,"count":0}' | say
check_says "a message out of turn is refused" 'sent \\"start\\": expected \\"offer\\"' "$SCRATCH/answer"
check_exit 3 "a second server on the same port ends with 3" "$traffic" serve --port "$PORT" --listen 127.0.0.1
check "the server is still there" kill -0 "$SERVER"
if ! compgen -G '/sys/class/infiniband/*' >/dev/null; then
    check_exit 3 "without an RDMA device drive ends with 3" "$traffic" drive --port "$PORT" 127.0.0.1
    check_says "and says what to do" 'no RDMA device.*rdma link add' "$SCRATCH/err"
fi
# more connections than sessions and places, which say nothing
idle=()
for _ in $(seq 100); do exec {fd}<>"/dev/tcp/127.0.0.1/$PORT" && idle+=("$fd"); done
hello | say_first
check_says "silent connections keep no driver out" '^{"type":"hello"' "$SCRATCH/answer"
for fd in "${idle[@]}"; do exec {fd}>&-; done
check "... and are mentioned a few times only" test "$(grep -c REFUSED "$SCRATCH/serve")" -lt 20
if [ "$(jq -s 'all(.type) and all(.time_ns > 0) and (map(.type) | unique - ["event", "error", "end"] == [])' "$SCRATCH/serve")" = true ]; then
    ok "every line of the server is JSON with a type and a time"
else
    nok "every line of the server is JSON with a type and a time" "$(cat "$SCRATCH/serve")"
fi
kill -INT "$SERVER"
wait "$SERVER"
check "SIGINT ends the server with 0" test $? = 0
check_says "and a last line" '"type":"end".*"reason":"signal"' "$SCRATCH/serve"

serve --once
printf 'x\n' | say
check "--once does not count a stranger" kill -0 "$SERVER"
hello | say_first
wait "$SERVER"
check "--once ends the server after the first driver" test $? = 0

# ---- who may connect ----
echo 0123456789abcdef0123456789abcdef >"$SCRATCH/secret" && chmod 644 "$SCRATCH/secret"
check_exit 2 "a secret that others can read is refused" "$traffic" serve --secret-file "$SCRATCH/secret"
check_says "... with what to do" 'can be used by others \(mode [0-7]+\): chmod 600' "$SCRATCH/err"
check_exit 2 "a short secret is refused" "$traffic" drive --secret-file - 127.0.0.1 <<<short
check_says "... with what is expected" 'first line of standard input is not a secret: expected 16 to 128' "$SCRATCH/err"
WHERE=()
serve
check_says "without a secret only loopback is listened on" '"listening on 127.0.0.1 port ' "$SCRATCH/serve"
check_says "... which is said" 'no secret was given .*only programs of this host' "$SCRATCH/serve.err"
stop
secret=0123456789abcdef0123456789abcdef
serve --secret-file - <<<"$secret"
check_says "with a secret all addresses are" '"listening on all addresses port ' "$SCRATCH/serve"
hello | say
check_says "a driver without the secret is refused" '^{"type":"error","text":"127.0.0.1 does not know this server.s secret' "$SCRATCH/answer"
hello "${secret%?}e" | say
check_says "a driver with another one is refused" '^{"type":"error","text":"127.0.0.1 knows another secret' "$SCRATCH/answer"
check "... and learns nothing else" test "$(wc -l <"$SCRATCH/answer")" = 1
hello "$secret" | say_first
check_says "a driver with the secret is greeted" '^{"type":"hello"' "$SCRATCH/answer"
check_exit 3 "drive without a secret" "$traffic" drive --port "$PORT" 127.0.0.1
check_says "... says what both sides need" 'does not know this server.s secret: both sides need the same --secret-file' "$SCRATCH/err"
# The server says how many sessions it had in its own time, not in the driver's.
sessions() { grep -c '"what":"session"' "$SCRATCH/serve"; }
# shellcheck disable=SC2317 # called through until_true
has_sessions() { [ "$(sessions)" -ge "$1" ]; }
# the secret comes before the job; sessions are counted only after a greeting
greeted=$(sessions)
{ echo "$secret" && many 3 '{"name": "last"}' | jq -c 'del(.process.port)'; } |
    "$traffic" drive --secret-file - --job - --port "$PORT" >"$SCRATCH/out" 2>"$SCRATCH/err"
until_true 30 has_sessions $((greeted + 3))
check "drive reads secret and job from standard input" test "$(($(sessions) - greeted))" = 3
stop
chmod 600 "$SCRATCH/secret"
serve --secret-file "$SCRATCH/secret"
exec {fd}<"$SCRATCH/secret"
"$traffic" drive --secret-file "/dev/fd/$fd" --port "$PORT" 127.0.0.1 >"$SCRATCH/out" 2>"$SCRATCH/err"
until_true 30 has_sessions 1
check_says "a secret may come from a file and an inherited descriptor" '"what":"session"' "$SCRATCH/serve"
stop

# ---- what an offer may take: a stand-in for an RDMA device that accepts all
offer() { # MESSAGE_BYTES: hello and offer
    hello
    jq -cn --argjson bytes "$1" '{type: "offer", flow: "x", reverse: "y", operation: "write", mode: "bandwidth", connection: "tcp", memory: "host",
        pacing: "auto", bidirectional: false, validate: false, latency: false, relaxed_ordering: false, max_message_bytes: $bytes, queue_pairs: 1,
        depth: 128, receive_depth: 1, moderation: 0, inline_bytes: 0, post_list: 1, slots: 1, traffic_class: 0, service_level: 0, mtu_bytes: 0,
        ack_timeout: 14, retries: 7, rnr_retries: 7, rnr_timer: 12, rate_bps: 0, burst: 1, interval_ns: 1000000000, peer_timeout_ns: 10000000000, flip: -1}'
}
make_offer() { # MESSAGE_BYTES: its connection stays open in $fd, the answer is in $SCRATCH/answer
    exec {fd}<>"/dev/tcp/127.0.0.1/$PORT"
    offer "$1" >&"$fd"
    timeout 20 head -n 2 <&"$fd" | tail -n 1 >"$SCRATCH/answer"
}
if skip_reason sanitized "$traffic" >/dev/null; then
    skip "what offers may take" sanitized "$traffic"
elif ! has_compiler; then
    skip "what offers may take" no-compiler
elif compile_preload "$SCRATCH/verbs.so" "$ROOT/tests/e2e/traffic/verbs.c" 2>"$SCRATCH/cc"; then
    PRELOAD=$SCRATCH/verbs.so serve --max-memory 50MiB
    make_offer 20971520
    first=$fd
    check_says "an offer within --max-memory is accepted" '"type":"endpoint"' "$SCRATCH/answer"
    make_offer 1073741824
    check_says "an offer beyond it is refused before anything is allocated" 'needs 1024.* MiB of memory at the server, whose --max-memory of 50.0 MiB has 30.0 MiB left' "$SCRATCH/answer"
    make_offer 20971520
    check_says "another within what is left is accepted" '"type":"endpoint"' "$SCRATCH/answer"
    make_offer 20971520
    check_says "... until nothing is left" 'whose --max-memory of 50.0 MiB has 9.9 MiB left' "$SCRATCH/answer"
    peak_kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$SERVER/status")
    check "the server's memory (${peak_kb} KiB) stays within the limit and its own" test "$peak_kb" -lt 80000
    exec {first}>&-
    until grep -q session-end "$SCRATCH/serve" && [ "$(grep -c session-end "$SCRATCH/serve")" = 3 ]; do sleep 0.05; done
    make_offer 20971520
    check_says "a flow that ends gives its memory back" '"type":"endpoint"' "$SCRATCH/answer"
    stop

    # ---- completion errors, of a device that has them
    PRELOAD=$SCRATCH/verbs.so serve
    failing() { # FAILS [OPTION...]: to $SCRATCH/out and err; its error line in $SCRATCH/failed
        local fails=$1
        shift
        LD_PRELOAD=$SCRATCH/verbs.so STAND_IN_FAILS=$fails "$traffic" drive --port "$PORT" 127.0.0.1 -s 4KiB -q 1 --output json -D 60s "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
        check "error $fails ends the driver with 3" test $? = 3
        jq 'select(.type == "error")' "$SCRATCH/out" >"$SCRATCH/failed"
    }
    # shellcheck disable=SC2317 # called through check
    said() { [ -s "$SCRATCH/failed" ] && jq -e "$1" "$SCRATCH/failed"; }
    export STAND_IN_PART=4119 # ConnectX-5
    failing "10 0x88 64 0"
    check "... status, vendor error and their meaning" said '.status == "IBV_WC_REM_ACCESS_ERR" and (.completion | .status_number == 10 and .vendor_error == 136 and .look_at == "responder" and (.meaning | test("rkey")))'
    check_says "... which key" "vendor error 0x88: the responder refuses the memory access: .*queue pair 0x108, sending; the other side's key 0x17eedf for [0-9]+ bytes at 0x" "$SCRATCH/err"
    failing "4 0x52 64 0"
    check_says "... which local key" "completion error 4 .IBV_WC_LOC_PROT_ERR., vendor error 0x52: no local memory .*; local key 0x1de10 for " "$SCRATCH/err"
    failing "12 0x81 64 600" --interval 100ms
    check "... the peer is silent" said '.completion | .status_number == 12 and .vendor_error == 129 and (.meaning | test("silent"))'
    check "... since when" said '.silent_ns >= 450000000 and .silent_ns < 60000000000'
    check_says "... in words" 'vendor error 0x81: no acknowledgement after all retries: the peer is silent.*; no message was completed in the last [0-9.]+ s' "$SCRATCH/err"
    unset STAND_IN_PART
    failing "12 0x81 64 0"
    check "another vendor's byte has no meaning of mlx5" said '.completion | .status_number == 12 and (has("vendor_error") or has("likely") | not)'
    check_says "... and is said" 'completion error 12 .IBV_WC_RETRY_EXC_ERR.: no acknowledgement.*vendor error 0x81 of another NIC than mlx5' "$SCRATCH/err"
    # a queue that cannot be polled ends the flow at once, whichever it is
    overrun() { # QUEUE OPTION...
        LD_PRELOAD=$SCRATCH/verbs.so STAND_IN_OVERRUN=$1 timeout 20 "$traffic" drive --port "$PORT" 127.0.0.1 -s 4KiB -q 1 --output json -D 60s --op send "${@:2}" >"$SCRATCH/out" 2>"$SCRATCH/err"
        check "a completion queue (${*}) that cannot be polled ends the driver with 3" test $? = 3
        check_says "... in words" "the completion queue of ${1%e}ing cannot be read: it has overrun, or the device is gone" "$SCRATCH/err"
    }
    overrun send
    overrun receive --bidirectional
    overrun send --mode latency
    overrun receive --mode latency
    stop
else
    nok "the stand-in for an RDMA device builds" "$(cat "$SCRATCH/cc")"
fi

mkfifo "$SCRATCH/stdin"
sleep 30 >"$SCRATCH/stdin" &
sleeper=$!
serve --while-stdin <"$SCRATCH/stdin"
check "with --while-stdin the server runs while standard input is open" kill -0 "$SERVER"
kill "$sleeper"
wait "$SERVER"
check "and ends with 0 when it is closed" test $? = 0

# ---- what a subcommand does not use, it refuses ----
for words in 'routes --listen 127.0.0.1' 'routes --once' 'routes --secret-file secret' 'routes --huge-pages' 'loop --port 1' 'loop --secret-file secret'; do
    # shellcheck disable=SC2086 # several words
    check_exit 2 "$words" "$traffic" $words
    check_says "... by name" "unknown option $(cut -d' ' -f2 <<<"$words"); see roce-traffic ${words%% *} --help" "$SCRATCH/err"
done

# ---- GPU routes where there is no GPU ----
if [ -e /dev/nvidiactl ]; then
    skip "routes: no GPU ends with 4" gpu "traffic/gpu.sh tests it"
else
    check_exit 4 "routes: no GPU ends with 4" "$traffic" routes --output json
    check_says "and says why" 'this host has no NVIDIA GPU: /dev/nvidiactl is missing' "$SCRATCH/out"
fi
finish
