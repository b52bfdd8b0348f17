#!/bin/bash
# Files that earlier versions wrote, kept in tests/data/kept/VERSION-DATE.tar.gz: a scenario and its lab, what `harness run two-into-one.json
# --no-report --out results` printed (said.txt) and the folder that it made (result); of 0.1.0 also the scenarios and labs that it came with.
# They open as docs/result.md says, with the figures that the older program printed; what does not open says why.
# A release adds what it writes: the scenario and lab of the newest one, run by it in an empty folder /home/lab.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
skip_unless "files of earlier versions" jq tar gzip

H=$BUILD/harness
VERSION=$("$H" --version | cut -d' ' -f2)
# The rows of a flow in said.txt, as "NAME MiB/s", and its words of expectations; both in order of name.
said() { grep -E '^  [a-z/0-9]+ +[0-9.]+ MiB/s' said.txt | awk '{ print $1, $2 + 0 }' | LC_ALL=C sort; }
exported() { # TABLE COLUMN COLUMN [FILTER]
    jq -R -s -r --arg a "$2" --arg b "$3" "split(\"\n\") | map(select(. != \"\") | split(\",\")) | .[0] as \$head | .[1:][] |
        [.[\$head | index(\$a)], .[\$head | index(\$b)]] | join(\" \")" "result/export-csv/$1.csv" | LC_ALL=C sort
}
verdicts() { grep -oE '^  (passed|failed) +(verify: )?[a-z][^(]*' "$1" | sed -E 's/ +$//' | LC_ALL=C sort; }

shopt -s nullglob
for archive in "$ROOT"/tests/data/kept/*.tar.gz; do
    name=$(basename "$archive" .tar.gz)
    of="of $name"
    mkdir "$SCRATCH/$name" && cd "$SCRATCH/$name" || exit
    tar -xzf "$archive"
    check_exit 0 "the scenario $of, its lab, and those that it came with are good" "$H" check two-into-one.json lab.json scenarios/*.json labs/*.json
    check_exit 1 "the scenario $of runs" "$H" run two-into-one.json --no-report --out new
    check "... with the verdicts that it had" diff <(verdicts said.txt) <(verdicts "$SCRATCH/out")

    check_exit 0 "a page of the result $of" "$H" report result
    check "... with what was published, and what came out" grep -qE '2&#8239;980(<[^>]*>)*[^n]*3&#8239;000' result/report/index.html
    check_exit 0 "an export of the result $of" "$H" export --format=csv result
    check "... has the rates that it printed" diff <(said) <(exported flows flow goodput_MiBps | awk '{ print $1, $2 + 0 }')
    check "... and the figure beside the published one" test "$(exported published published value | xargs)" = \
        "$(sed -nE 's/.*published .*: 2980.2 MiB.s, [a-z]+ ([0-9]+) .*/2980.2 \1/p' said.txt | LC_ALL=C sort | xargs)"
    check_exit 0 "a trace of the result $of" "$H" trace result/01
    check_exit 0 "a list with the result $of" "$H" browse --json result
    check "... has its verdicts" test "$(jq -r '.runs | sort_by(.folder) | map(.verdict) | join(" ")' "$SCRATCH/out")" = "failed passed"

    check_exit 0 "causes in the result $of" "$H" explain result/01
    check_says "... the receiver of the incast, for sure" '^  more is sent to h2 than its line carries \(an incast\) \(sure\)' "$SCRATCH/out"
    check_says "... with both senders, which it does not name" '2 hosts have flows through s1:0' "$SCRATCH/out"
    check_says "... and the victim" 'victims, which go elsewhere: victim' "$SCRATCH/out"
    check_exit 0 "the runs of the result $of compared" "$H" compare result/01 result/02
    check_says "... by the setting" '^settings.ecn +none +3$' "$SCRATCH/out"
    check_says "... and the rate" '^goodput of victim, Gb/s +7.8643 ' "$SCRATCH/out"
    check_exit 0 "the result $of compared with a new one" "$H" compare result new/two-into-one/latest
    check_says "... names both versions" "^harness version +${name%%-*}[.][0-9]+ +$VERSION$" "$SCRATCH/out"

    # what does not open, and what is left open
    why="was written by harness ${name%%-*}[.][0-9]+, and this is $VERSION, which reads the runs .report, browse. and counts or resumes none: take that version, or run the sweep anew"
    [ -e result/request.json ] || why='has no request.json, as sweeps of early versions 0.1: its runs can be read .report, browse., not counted or resumed; run the sweep anew'
    for command in status "run --resume"; do
        # shellcheck disable=SC2086 # two words
        check_exit 2 "$command of the sweep $of is refused" "$H" $command result
        check_says "... with what to do" "$why" "$SCRATCH/err"
    done
    case $name in
    0.1-2026-11-22)
        check_exit 2 "it captured nothing" "$H" verify result/01
        check_says "... which is said" 'result/01 has no capture.pcapng' "$SCRATCH/err"
        # who sends to whom was drawn
        jq '.scenario.traffic[0].pattern = "permutation"' result/01/result.json >drawn && mv drawn result/01/result.json
        check_exit 0 "causes where the result does not say who sends to whom" "$H" explain result/01
        check_says "... nothing is sure" '^  s1 pauses, and nothing that was sampled tells why \(possible\)' "$SCRATCH/out"
        check_says "... and why" 'does not say between which hosts flows of patterns are' "$SCRATCH/out"
        check "... nobody is accused" test "$(grep -cE '\((sure|likely|possible)\)$' "$SCRATCH/out")" = 1
        ;;
    0.1-2026-11-25)
        check_exit 4 "packets $of are judged without the settings of their run" "$H" verify result/01
        check_says "... what needs none" '^ok +go-back-n +71 packets' "$SCRATCH/out"
        check_says "... and it is said" 'the result has no settings to judge packets by: .* was made by an earlier version' "$SCRATCH/err"
        ;;
    *)
        check_exit 0 "packets $of are judged by the settings of their run" "$H" verify result/02 go-back-n cnp
        check_says "... as they were" '^ok +cnp +16 CNPs, 21 marked packets' "$SCRATCH/out"
        ;;
    esac
done
check "files of three versions are kept at least" test "$(find "$SCRATCH" -name said.txt | wc -l)" -ge 3

# ---- of a newer version: the same schema with further keys, and another schema
cd "$SCRATCH/$name" || exit
jq '.version = "9.0.0" | .added = {a: 1} | .flows.victim.added = 1' result/02/result.json >newer && mv newer result/02/result.json
check_exit 0 "a result of a newer version" "$H" report result/02
check_exit 0 "... is compared" "$H" compare result/01 result/02
check_says "... under its version" "^harness version +${name%%-*}[.][0-9]+ +9.0.0$" "$SCRATCH/out"
jq '.schema = 2' result/02/result.json >newer && mv newer result/02/result.json
check_exit 2 "a result of another schema" "$H" report result/02
check_says "... is refused" 'result.json has a schema other than 1: a newer harness wrote it' "$SCRATCH/err"
jq '.schema = 2' lab.json >newer && mv newer lab.json
check_exit 2 "a lab of another schema" "$H" check two-into-one.json
check_says "... is refused" 'lab.json: schema: 2 is' "$SCRATCH/err"
jq '.schema = 1 | .added = 1' lab.json >newer && mv newer lab.json
check_exit 2 "a lab with a key of a newer version" "$H" check two-into-one.json
check_says "... is refused" 'lab.json: "?added"?: unknown key|unknown key "added"' "$SCRATCH/err"
finish
