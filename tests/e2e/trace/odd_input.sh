#!/usr/bin/env bash
# harness trace of what is not a whole result of this program, and into places that take nothing. What it cannot draw it counts.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/trace/trace.bash
source "$(dirname "$0")/trace.bash"
cd "$BUILD" || exit 2

./harness run scenarios/pfc-deadlock.json --quiet --no-report --out "$SCRATCH/results" >"$SCRATCH/run.log" 2>&1
sweep=$(readlink -f "$SCRATCH/results/pfc-deadlock/latest")
good=$sweep/01
[ -s "$good/pauses.jsonl" ] || { nok "a result with pauses" "$(cat "$SCRATCH/run.log")" && finish; }
forget_files "$good"

fresh() { # a copy of the result in $run, with an older trace
    run=$SCRATCH/run
    rm -rf "$run"
    cp -R "$good" "$run"
    printf '\n\x04P\x01h\x01\nold\n' >"$run/trace.pftrace"
}

refused() { # what, PATTERN
    check_exit 2 "$1" ./harness trace "$run"
    check_says "  and the sentence says why" "$2" "$SCRATCH/err"
    if grep -aqx old "$run/trace.pftrace"; then ok "  and the older trace is still there"; else nok "  and the older trace is still there"; fi
    left=$(find "$run" -name '.*.new-*')
    if [ -z "$left" ]; then ok "  and nothing is left"; else nok "  and nothing is left" "$left"; fi
}

# ---- not a result
mkdir "$SCRATCH/empty"
check_exit 2 "an empty folder is no result" ./harness trace "$SCRATCH/empty"
check_says "  and the sentence says so" 'empty is not a result.*result\.json' "$SCRATCH/err"
check_exit 2 "a missing folder is no result" ./harness trace "$SCRATCH/missing"
check_exit 2 "a result is needed" ./harness trace
check_exit 2 "one result is taken" ./harness trace "$good" "$good"
check_exit 2 "a sweep has no single trace" ./harness trace "$sweep" --out "$SCRATCH/x"
check_says "  and the sentence says what to name" "is a sweep.*$sweep/01" "$SCRATCH/err"

# ---- what is damaged is left out, with the file and the line
damaged() { # what, PATTERN
    check_exit 1 "$1" ./harness trace "$run"
    check_says "  the sentence says why" "$2.*: the run is not whole" "$SCRATCH/err"
    if grep -aqx old "$run/trace.pftrace"; then nok "  and the rest is drawn"; else ok "  and the rest is drawn"; fi
}
for file in pauses samples flows; do
    fresh
    sed -i '3s/.*/["a",3,/' "$run/$file.jsonl"
    damaged "a damaged line of $file.jsonl" "run: $file\\.jsonl:3: "
    fresh
    truncate -s -9 "$run/$file.jsonl"
    check_exit 0 "a last line of $file.jsonl without its end is no line" ./harness trace "$run"
done
fresh
echo '["h0",9,1,2]' >>"$run/pauses.jsonl"
damaged "a priority that does not exist" 'pauses\.jsonl:66: a pause is damaged'
fresh
echo '{' >"$run/settings.json"
damaged "settings that are no document" 'settings\.json'
fresh
rm "$run/pauses.jsonl"
ln -s /etc/passwd "$run/pauses.jsonl"
damaged "a link in the result is not followed" 'pauses\.jsonl is not a regular file'

# ---- what cannot be drawn is counted
fresh
printf '%s\n' '["h0",3,100,50]' '["h0",3,120,10]' '["nowhere",3,5,1]' '["h1",3,-5,1]' >"$run/pauses.jsonl"
check_exit 0 "pauses that overlap, come from nowhere or are before 0 are no failure" ./harness trace "$run"
check_says "  those that overlap are counted" 'left out: 1 pauses that overlap' "$SCRATCH/err"
check_says "  those before 0 are counted" 'left out: 1 events before the time 0' "$SCRATCH/err"
check_says "  arrows without a peer are counted" 'left out: 1 arrows' "$SCRATCH/err"
fresh
jq '.topology.links += [{"a": "h0", "b": "s1", "rate_bps": 1}]' "$good/result.json" >"$run/result.json"
check_exit 0 "a host with two links is no failure" ./harness trace "$run"
check_says "  its pauses have no arrow, as it is unknown on which link they were" "left out: $(grep -c '^\["h0",' "$run/pauses.jsonl") arrows" "$SCRATCH/err"
fresh
rm "$run/pauses.jsonl" "$run/flows.jsonl" "$run/samples.jsonl" "$run/settings.json"
check_exit 0 "a result without its lines has a trace" ./harness trace "$run"
if command -v protoc >/dev/null; then
    write_schema
    fresh
    # as of virtual NICs: no single pauses, no topology
    rm "$run/pauses.jsonl"
    jq '.origin = "virtual" | .simulated = false | del(.topology) | .hosts |= map_values(.origin = "virtual")' "$good/result.json" >"$run/result.json"
    check_exit 0 "a virtual result without single pauses has a trace" ./harness trace "$run"
    decode "$run/trace.pftrace" >"$SCRATCH/events"
    check_says "  it has the share of time that was paused" '^counter	.*	h0 \(virtual\) / rx_prio3_pause_duration	.*	9[0-9.]+$' "$SCRATCH/events"
    awk -F '\t' '$1 == "track" && $4 !~ / \/ / && $4 !~ /\(virtual\)$/' "$SCRATCH/events" >"$SCRATCH/wrong"
    if [ -s "$SCRATCH/events" ] && ! [ -s "$SCRATCH/wrong" ]; then ok "  and every group says virtual"; else nok "  and every group says virtual" "$(cat "$SCRATCH/wrong")"; fi
    fresh
    sed -i '1s/"h0"/"h\xff\x1b[31m"/' "$run/pauses.jsonl"
    check_exit 0 "a name of any bytes has a track" ./harness trace "$run"
    decode "$run/trace.pftrace" >"$SCRATCH/events"
    check_says "  in visible words" '^track	.*	h.*xff.*x1b\[31m \(simulated\)' "$SCRATCH/events"
else
    skip "a virtual result is decoded" no-command protoc
fi

# ---- places
fresh
rm "$run/trace.pftrace"
echo mine >"$SCRATCH/target"
ln -s "$SCRATCH/target" "$run/trace.pftrace"
check_exit 0 "a link of the trace's name is replaced" ./harness trace "$run"
if [ "$(cat "$SCRATCH/target")" = mine ] && [ ! -L "$run/trace.pftrace" ]; then ok "  and its target is as it was"; else nok "  and its target is as it was"; fi
check_exit 0 "a trace" ./harness trace "$run" --out "$SCRATCH/again"
check_exit 0 "  is replaced by another" ./harness trace "$run" --out "$SCRATCH/again"
# what a trace is not: files of the run, of other kinds, and what is not a file
kept() { # WHAT FILE PATTERN
    local before
    before=$(stat -c '%F %i %s' "$2")
    check_exit 2 "$1 is not replaced by a trace" ./harness trace "$run" --out "$2"
    check_says "  which is said" "$3" "$SCRATCH/err"
    if [ "$(stat -c '%F %i %s' "$2")" = "$before" ]; then ok "  and stays"; else nok "  and stays" "$(ls -l "$2")"; fi
}
for name in samples.jsonl flows.jsonl settings.json result.json run.log; do
    kept "the run's $name" "$run/$name" "$name is a file of a result, which a trace may not replace"
done
ln -s target "$SCRATCH/link"
kept "a link that was named" "$SCRATCH/link" 'link is not a trace, and would be replaced'
kept "a text file" "$SCRATCH/target" 'target is not a trace, and would be replaced'
mkfifo "$SCRATCH/fifo"
kept "a FIFO" "$SCRATCH/fifo" 'fifo is a FIFO, which is not replaced'
kept "the folder of all runs" "$SCRATCH/results/pfc-deadlock/latest" 'latest is a link to a folder'
if [ -c "$SCRATCH/full" ] || mknod "$SCRATCH/full" c 1 7 2>/dev/null; then
    kept "a device" "$SCRATCH/full" 'full is a device, which is not replaced'
else
    skip "a device is not replaced" no-root
fi
check_exit 2 "a folder that is missing is said" ./harness trace "$good" --out "$SCRATCH/missing/x"
check_says "  with its name" "missing" "$SCRATCH/err"
check_exit 2 "a folder is no file" ./harness trace "$good" --out "$SCRATCH/"
mkdir "$SCRATCH/folder"
check_exit 2 "nor is one without a slash" ./harness trace "$good" --out "$SCRATCH/folder"
check_says "  with its name" "folder" "$SCRATCH/err"
./harness trace "$good" --out - >/dev/full 2>"$SCRATCH/err"
if [ $? = 2 ]; then ok "a full disk is a failure"; else nok "a full disk is a failure" "$(cat "$SCRATCH/err")"; fi
check_says "  with its reason" 'writing standard output: No space left on device' "$SCRATCH/err"
if script -qec "./harness trace $good --out -" /dev/null </dev/null >"$SCRATCH/out" 2>&1; then
    nok "a terminal gets no trace" "$(head -c 300 "$SCRATCH/out")"
else
    check_says "a terminal gets no trace" 'not text for a terminal' "$SCRATCH/out"
fi
if [ "$(id -u)" = 0 ]; then
    skip "a folder that may not be written to" root
    if unshare --mount true 2>/dev/null; then
        mkdir "$SCRATCH/small"
        check_exit 2 "a full file system is a failure" unshare --mount sh -c "mount -t tmpfs -o size=16k none '$SCRATCH/small' && ./harness trace '$good' --out '$SCRATCH/small/x'"
        check_says "  with the file and the reason" "small/x: No space left on device" "$SCRATCH/err"
    else
        skip "a full file system" no-namespaces
    fi
else
    fresh
    chmod a-w "$run"
    refused "a folder that may not be written to is a failure" 'creating .*: Permission denied'
    chmod u+w "$run"
    skip "a full file system" no-root
fi

# ---- the memory does not depend on the number of pauses
peak() { # lines
    fresh
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i += 5) for (h = 0; h < 5; h++) printf "[\"h%d\",3,%d,7]\n", h, i * 2 }' >"$run/pauses.jsonl"
    python3 -c 'import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], capture_output=True, text=True); assert r.returncode == 0, r.stderr; print(r.stderr.split()[1], resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' ./harness trace "$run"
}
read -r few_events few_kib <<<"$(peak 1000)"
read -r many_events many_kib <<<"$(peak 1000000)"
if [ "$((many_events - few_events))" = $((999000 * 3)) ] && [ "$many_kib" -lt $((few_kib + 20000)) ] && [ "$few_kib" -gt 0 ]; then
    ok "a million pauses take no more memory than a thousand"
else
    nok "a million pauses take no more memory than a thousand" "$few_events events in $few_kib KiB, $many_events in $many_kib KiB"
fi
finish
