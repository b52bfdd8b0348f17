#!/bin/bash
# roce-traffic compared with perftest's ib_write_bw, between the same two guests with Soft-RoCE, in alternating runs: the medians of
# message rate (2 B), bandwidth (64 KiB) and the sending process's CPU time per message. The guests are emulated: only the
# ratios are meaningful, because outside load affects both. ROUNDS runs of each (default 9).
# Baseline: a ratio of at least 0.95, and no more CPU time per message.
here=$(cd "$(dirname "$0")/../tests/e2e" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/e2e/guests/softlab.bash
. "$here/guests/softlab.bash"
softlab_require "$0" "$@"
ROUNDS=${ROUNDS:-9}

# shellcheck disable=SC2317 # called at the end
clean_up() {
    softlab_ssh b 'touch /tmp/enough; pkill ib_write_bw; pkill -x roce-traffic' >/dev/null 2>&1 </dev/null
    softlab_down soft-pair
}

# On guest a: rounds of both programs in alternating order; one line "NAME rate cpu_seconds" for each run.
# shellcheck disable=SC2016 # for the guest's shell
rounds='
TIMEFORMAT="%U %S"
perftest() {
    { time ib_write_bw -d rxe0 -x 1 -n $count -s $size 10.0.0.2 >/tmp/lines 2>/dev/null; } 2>/tmp/times
    echo "perftest $(awk -v s=$size "\$1 == s { print \$5 * 1000000 }" /tmp/lines) $(awk "{ print \$1 + \$2 }" /tmp/times)"
}
ours() {
    { time roce-traffic drive 10.0.0.2 -n $count -s ${size}B >/tmp/lines 2>/dev/null; } 2>/tmp/times
    echo "roce-traffic $(sed -n "s/.*summary.*\"messages_per_s\":\([0-9]*\).*/\1/p" /tmp/lines) $(awk "{ print \$1 + \$2 }" /tmp/times)"
}
for round in $(seq $rounds); do
    if [ $((round % 2)) = 0 ]; then perftest; sleep 0.3; ours; else ours; sleep 0.3; perftest; fi
    sleep 0.3
done'

median() { sort -n | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2; else print 0 }'; }
column() { awk -v n="$1" -v c="$2" '$1 == n && NF == 3 { print $c }' "$SCRATCH/runs" | median; }

compare() { # SIZE COUNT WHAT
    softlab_ssh a "rounds=$ROUNDS size=$1 count=$2; $rounds" </dev/null >"$SCRATCH/runs"
    local program
    for program in perftest roce-traffic; do # one that fails prints no rate: the medians are of all rounds or of none
        [ "$(awk -v n=$program '$1 == n && NF == 3 && $2 > 0 && $3 > 0' "$SCRATCH/runs" | wc -l)" = "$ROUNDS" ] ||
            { echo "$3: $program gave no figure in some of $ROUNDS rounds: $(grep "^$program" "$SCRATCH/runs" | tail -n 1)"; return 1; }
    done
    awk -v what="$3" -v size="$1" -v n="$2" -v ours="$(column roce-traffic 2)" -v theirs="$(column perftest 2)" \
        -v cpu="$(column roce-traffic 3)" -v their_cpu="$(column perftest 3)" -v rounds="$ROUNDS" 'BEGIN {
        printf "%s: roce-traffic %.1f, perftest %.1f messages/s, median of %d: ratio %.3f (at least 0.95)\n", what, ours, theirs, rounds, ours / theirs
        printf "%s: CPU time per message: roce-traffic %.1f us, perftest %.1f us: ratio %.3f (at most 1)\n", what, cpu / n * 1e6, their_cpu / n * 1e6, cpu / their_cpu
        exit !(ours / theirs >= 0.95 && cpu / their_cpu <= 1) }'
}

at_exit clean_up
softlab_up soft-pair || exit 3
softlab_put a "$BUILD/roce-traffic"
softlab_put b "$BUILD/roce-traffic"
# perftest's server serves one client; its count and size options must equal the client's
serve_perftest() {
    softlab_ssh b "touch /tmp/enough; pkill ib_write_bw; sleep 0.5; rm /tmp/enough
        (while [ ! -e /tmp/enough ]; do ib_write_bw -d rxe0 -x 1 -n $2 -s $1; done >/dev/null 2>&1 </dev/null &)" </dev/null
}
softlab_ssh b '(roce-traffic serve --listen 10.0.0.2 >/dev/null 2>&1 </dev/null &)' </dev/null
status=0
serve_perftest 2 4000
compare 2 4000 "2 B writes" || status=1
serve_perftest 65536 200
compare 65536 200 "64 KiB writes" || status=1
exit $status
