#!/bin/bash
# Bytes that are not text, and text that is more than text: from peers, in paths, in documents and in results. A peer cannot end a
# server, a run keeps its result, no terminal or page gets a control character, drawings have words; and what cannot be written (the
# reader of a pipe has gone, files may not grow) costs no cell that is whole.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1
H=$BUILD/harness
TRAFFIC=$BUILD/roce-traffic
# shellcheck disable=SC2016 # expanded when the test ends
at_exit eval 'kill -9 $(jobs -p) 2>/dev/null'

# Control characters (but \n and \t), C1 controls, controls of direction, and bytes that are not UTF-8.
raw_controls() { LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$@" || ! iconv -f UTF-8 -t UTF-8 "$@" >/dev/null 2>&1; }
clean() { # WHAT FILE...
    local what=$1
    shift
    if raw_controls "$@"; then nok "$what" "$(cat -v "$@" | head -n 20)"; else ok "$what"; fi
}

# ---- a peer ----
serve() {
    : >serve
    # shellcheck disable=SC2094 # "serve" is a word and a file
    "$TRAFFIC" serve --port 0 --listen 127.0.0.1 "$@" >serve 2>serve.err </dev/null &
    SERVER=$!
    for _ in $(seq 200); do
        PORT=$(grep -oE 'port [0-9]+' serve | grep -oE '[0-9]+')
        [ -z "$PORT" ] || return 0
        kill -0 $SERVER 2>/dev/null || return 1
        sleep 0.05
    done
}
attack() { # BYTES: its answer is in answer
    exec 3<>"/dev/tcp/127.0.0.1/$PORT"
    # shellcheck disable=SC2059 # the bytes are a format of printf
    printf "$1" >&3
    timeout 20 cat <&3 >answer
    exec 3>&-
}
# without a secret anyone may say hello; nothing else of a stranger is looked into (traffic/cli.sh)
hello="{\"type\":\"hello\",\"protocol\":$(sed -n 's/^#define WIRE_PROTOCOL *//p' "$ROOT/traffic/connection/wire.h"),\"version\":\"0\"}"
serve --output json
exec 4<>"/dev/tcp/127.0.0.1/$PORT" # another session
echo "$hello" >&4
read -r -t 20 greeting <&4
attack "$hello\n\xff\n"
check_says "two bytes that are not UTF-8 are answered with an error" '"type":"error".*not a control message.*xff' answer
check "the server's line says it, too" grep -q '"status":"REFUSED".*xff' serve
check "the server goes on" kill -0 "$SERVER"
check "the other session was greeted" grep -q '"type":"hello"' <<<"$greeting"
printf 'words\n' >&4
read -r -t 20 answer <&4
check "and goes on" grep -q 'not a control message.*words' <<<"$answer"
exec 4>&-
attack "$hello\n\x1b]0;owned\x07\xe2\x80\xae\n"
clean "no terminal gets the controls of a peer: standard error" serve.err
kill "$SERVER"
wait "$SERVER"
check "the server ends with 0 when it is told to" test $? = 0
serve --output table
attack "$hello\n\x1b]0;owned\x07\xe2\x80\xae\n"
kill "$SERVER"
wait "$SERVER"
check_says "a table shows the controls of a peer as words" '# : REFUSED: .*x1b.*x07' serve
clean "... and no control" serve serve.err

# ---- a path that is not UTF-8 ----
odd=$SCRATCH/$(printf 'caf\xe9 \x1b[31m')
mkdir "$odd"
cp "$ROOT/scenarios/hpcc-two-to-one.json" "$ROOT/labs/sim-hpcc-star.json" "$odd"
check_exit 0 "a run from and into a folder whose name is not UTF-8" \
    "$H" run "$odd/hpcc-two-to-one.json" --lab "$odd/sim-hpcc-star.json" --out "$odd/results" --duration 1ms
clean "... prints no control" out err
result=$odd/results/hpcc-two-to-one/latest
check "... keeps its result" test "$(jq -r '.complete, .lab_file' "$result/result.json" | paste -sd ' ')" = "true ${SCRATCH}/caf\\xe9 $(printf '\033')[31m/sim-hpcc-star.json"
check "... has its drawings" test -s "$result/report/01-dcqcn.svg" -a -s "$result/report/index.html"
clean "... and a page without controls" "$result/report/index.html"
check_exit 0 "report works there" "$H" report "$result" --out "$odd/page"
check "... and draws" test -s "$odd/page/01-dcqcn.svg"

# ---- documents ----
# In JSON escapes: ESC, BEL, CSI as one character, an override of direction, a line separator, DEL.
evil='\u001b]0;owned\u0007\u009b31m\u202e\u2028\u007f'
evil=$(jq -rn "\"$evil\"")
jq --arg evil "$evil" '.title += $evil | .expect[0].name += $evil | .published[0].name += $evil | .published[0].source += $evil' \
    "$ROOT/scenarios/hpcc-two-to-one.json" >scenario.json
jq --arg evil "$evil" '.name += $evil' "$ROOT/labs/sim-hpcc-star.json" >lab.json
check_exit 2 "a scenario with escapes in its names is refused" "$H" run scenario.json --duration 1ms --out evil --lab "$ROOT/labs/sim-hpcc-star.json"
clean "... prints no control" out err
check_says "... but shows them as words" 'u001B\]0;owned.u0007.u009b31m.u202e.u2028.x7f' err
# a result from elsewhere can have them
"$H" run "$ROOT/scenarios/hpcc-two-to-one.json" --duration 1ms --out evil --lab "$ROOT/labs/sim-hpcc-star.json" >out 2>err
result=$(readlink -f evil/*/latest)
jq --arg evil "$evil" '.scenario.title += $evil | .expectations[].name += $evil' "$result/result.json" >result.json && mv result.json "$result/result.json"
check_exit 0 "a report of a result with escapes in its names" "$H" report "$result" --out evil-page
clean "... prints no control" out err
clean "... and has none in its page" evil-page/index.html
check_says "... which shows them as words" 'no pause.x1b\]0;owned.x07.u009b31m.u202e.u2028.x7f' evil-page/index.html
for words in "check scenario.json" "check lab.json" "run scenario.json --dry-run --lab $ROOT/labs/sim-hpcc-star.json" "run scenario.json --lab lab.json --out evil" \
    "doctor --lab lab.json" "restore --lab lab.json"; do
    # shellcheck disable=SC2086 # words
    "$H" $words >out 2>err
    clean "harness ${words/$ROOT/...}: no control" out err
done
mkdir -p home/scenarios
cp scenario.json home/scenarios
(cd home && "$H" list >../out 2>../err)
check_says "list shows the title" 'hpcc-two-to-one .*x1b' out
clean "... without controls" out err
"$H" run "$evil" --set "$evil=1" >out 2>err
clean "the command line's own words: no control" out err
printf '{"schema": 1, "name": "\033' >broken.json
"$H" check broken.json >out 2>err
clean "a document that is not JSON: no control" out err

# ---- labels ----
# Each would be markup, a format, a quotation or a line.
# shellcheck disable=SC1003,SC2016 # as they are
labels=('100% of %s%n' "it's" "''" "'" '"' 'back\' '{/=20 @x}' '# $x' "\`touch pwned\`" '\"; system("touch pwned"); "' $'two\nlines\tand\r' '<script>alert(1)</script>' "$evil"
    "$(printf '\303\244%.0s' {1..100})")
"$H" run "$ROOT/scenarios/hpcc-two-to-one.json" --lab "$ROOT/labs/sim-hpcc-star.json" --out plain --duration 1ms --no-report --quiet
plain=plain/hpcc-two-to-one/latest
mkdir labels
folders=()
for i in "${!labels[@]}"; do
    cp -r "$plain/" "labels/$i"
    rm -rf "labels/$i/report"
    jq --arg words "${labels[i]}" '.cell = {"phases.measure": $words}' "$plain/result.json" >"labels/$i/result.json"
    folders+=("labels/$i")
done
check_exit 0 "a page over runs whose labels are odd" "$H" report "${folders[@]}" --out page
clean "... has no controls" page/index.html
check "... and no markup of a label" test -z "$(grep -o '<script>alert' page/index.html)"
for i in 0 1 8 9 10 13; do
    check_exit 0 "a page about the run with label $i" "$H" report "labels/$i" --out "page-$i"
    clean "... has drawings that are text" "page-$i"/*.svg
done
for i in 0 1 2 3 4 5 6 7; do
    label=$(jq -rn --arg words "${labels[i]}" '$words | @html' | sed -E 's/&(#39|apos);/'"'"'/g; s/&quot;/"/g')
    check "the drawing shows ${labels[i]}" grep -qF "measure $label" page/sweep-goodput.svg
done
check "no label was executed" test -z "$(find . -name pwned)"
check_exit 0 "two labels drawn over time" "$H" report labels/0 labels/9 --out page-two
check_says "... the first as it is" 'measure 100% of %s%n<' page-two/01-dcqcn.svg

# ---- what cannot be written ----
sweep=(run "$ROOT/scenarios/hpcc-two-to-one.json" --lab "$ROOT/labs/sim-hpcc-star.json" --no-report)
"$H" "${sweep[@]}" --set 'sweep={"phases.measure":["1ms","2ms","3ms"]}' --set 'expect=[]' --out piped 2>err | true
check "a run whose reader has gone has not succeeded" test "${PIPESTATUS[0]}" = 3
check "... but has all cells and a whole index" test "$(jq -c '[.complete, (.cells | length)]' piped/*/latest/index.json)" = '[true,3]'
check_says "... and says so" 'standard output cannot be written: Broken pipe' err
# The first cell needs about 100 KiB, the second a megabyte.
(ulimit -f 300 && "$H" "${sweep[@]}" --set 'sweep={"phases.measure":["1ms","40ms","2ms"]}' --out limited) >out 2>err
check "a run whose files may not grow ends with 3, not by a signal" test $? = 3
check_says "... names the file and the limit" 'writing .*: File too large' err
check "... has the cell that is whole" test "$(jq .complete limited/*/latest/01/result.json)" = true
check "... and an index that says what is missing" \
    test "$(jq -c '[.complete, (.cells[:2] | map(.complete))]' limited/*/latest/index.json)" = '[false,[true,false]]'
check "... why" jq -e '.reason | test("File too large")' limited/*/latest/index.json
finish
