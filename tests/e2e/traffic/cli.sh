#!/bin/bash
# roce-traffic's command line and server without any RDMA device: usage, the ready line, what is refused, how it ends.
# shellcheck disable=SC2181 # the exit codes are what is tested
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../lib.sh"
traffic=$BUILD/roce-traffic

# A server on a free port of loopback: its pid in $SERVER, its port in $PORT, its lines in $SCRATCH/serve.
serve() {
    : >"$SCRATCH/serve"
    "$traffic" serve --port 0 --listen 127.0.0.1 "$@" >"$SCRATCH/serve" 2>"$SCRATCH/serve.err" <&0 &
    SERVER=$!
    for _ in $(seq 100); do
        PORT=$(jq -r 'select(.what == "ready") | .port' "$SCRATCH/serve")
        [ -z "$PORT" ] || return 0
        sleep 0.05
    done
    return 1
}

# Send standard input to the server, and what it answers to $SCRATCH/answer.
say() {
    exec 3<>"/dev/tcp/127.0.0.1/$PORT"
    cat >&3
    timeout 5 cat <&3 >"$SCRATCH/answer"
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
serve
check "serve says that it is ready, with the port it took" test "${PORT:-0}" -gt 0
printf 'GET / HTTP/1.1\r\n\r\n' | say
check_says "garbage is refused in words" '"type":"error","text":"from 127.0.0.1: not a control message' "$SCRATCH/answer"
head -c 400000 /dev/zero | tr '\0' x | say 2>/dev/null
check_says "a line without end is refused" 'a line of more than' "$SCRATCH/answer"
printf '%s\n' '{"type":"hello","protocol":99,"version":"9"}' | say
check_says "another protocol version is refused by name" 'uses control protocol 99' "$SCRATCH/answer"
printf '%s\n' '{"type":"hello","protocol":2,"version":"0"}' '{"type":"start","start_in_ns":0,"warmup_ns":0,"duration_ns":0,"count":0}' | say
check_says "a message out of turn is refused" 'sent \\"start\\": expected \\"offer\\"' "$SCRATCH/answer"
check_exit 3 "a second server on the same port ends with 3" "$traffic" serve --port "$PORT" --listen 127.0.0.1
check "the server is still there" kill -0 "$SERVER"
if ! compgen -G '/sys/class/infiniband/*' >/dev/null; then
    check_exit 3 "without an RDMA device drive ends with 3" "$traffic" drive --port "$PORT" 127.0.0.1
    check_says "and says what to do" 'no RDMA device.*rdma link add' "$SCRATCH/err"
fi
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
wait "$SERVER"
check "--once ends the server after the first driver" test $? = 0

mkfifo "$SCRATCH/stdin"
sleep 30 >"$SCRATCH/stdin" &
sleeper=$!
serve --while-stdin <"$SCRATCH/stdin"
check "with --while-stdin the server runs while standard input is open" kill -0 "$SERVER"
kill "$sleeper"
wait "$SERVER"
check "and ends with 0 when it is closed" test $? = 0

# ---- GPU routes where there is no GPU ----
if [ -e /dev/nvidiactl ]; then
    skip "routes: no GPU ends with 4" gpu "traffic/gpu.sh tests it"
else
    check_exit 4 "routes: no GPU ends with 4" "$traffic" routes --output json
    check_says "and says why" 'this host has no NVIDIA GPU: /dev/nvidiactl is missing' "$SCRATCH/out"
fi
finish
