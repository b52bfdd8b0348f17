#!/bin/bash
# Commands reach the hosts of a lab side by side, and report in the lab's order. ssh is a stand-in: each of 16 hosts answers only when all
# have been asked, and then the last host first; it refuses the login.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
skip_unless "hosts side by side" jq
H=$BUILD/harness
LAB=$SCRATCH/rack.json
MET=$SCRATCH/met
cd "$SCRATCH" || exit
mkdir path
cat > path/ssh << 'STANDIN'
#!/bin/bash
number=${!#}
number=${number#h}
touch MET/begun.$number
for ((i = 0; i < 600; i++)); do
    [ "$(ls MET | grep -c begun)" = 16 ] && [ ! -e MET/wait ] && { [ "$number" = 15 ] || [ -e MET/ended.$((number + 1)) ]; } && break
    sleep 0.1
done
[ $i -lt 600 ] || touch MET/alone
touch MET/ended.$number
echo "h$number: Permission denied (publickey)." >&2
exit 255
STANDIN
sed -i "s|MET|$MET|g" path/ssh
chmod +x path/ssh
PATH=$SCRATCH/path:$PATH
jq -n '{schema: 1, name: "rack", driver: "ssh", hosts: ([range(16) | {key: "h\(.)", value: {ssh: "h\(.)", nic: {address: "10.9.0.\(. + 1)/24"}}}] | from_entries)}' > "$LAB"
jq -n '{schema: 1, name: "rack", roles: ["h[0-15]"], traffic: [{name: "t", pattern: "ring-all-reduce", from: ["h[0-15]"]}]}' > rack-run.json

meet() { rm -rf "$MET" && mkdir "$MET"; }
together() { # WHAT COMMAND...: it asks all hosts before one has answered
    local what=$1
    shift
    meet
    check_exit 3 "$what with 16 hosts that refuse" "$@"
    check "... has asked all of them at once" test "$(find "$MET" -name 'begun.*' | wc -l)" = 16 -a ! -e "$MET/alone"
}
in_order() { # WHAT PATTERN FILE: the names that the pattern captures are those of the lab, in its order
    local got
    got=$(sed -nE "s/$2/\\1/p" "$3" | xargs)
    if [ "$got" = "$(echo h{0..15})" ]; then ok "$1"; else nok "$1" "$got: $(cat "$3")"; fi
}
refusal='connecting to host h[0-9]+ \(h[0-9]+\): h[0-9]+: Permission denied'

together doctor "$H" doctor --lab "$LAB"
in_order "... and lists them in the lab's order" "^failure +(h[0-9]+) +connection +$refusal.*" out
together install "$H" install --lab "$LAB"
in_order "... and names each failure, in the lab's order" '^harness: error: connecting to host (h[0-9]+) .*Permission denied.*' err
together restore "$H" restore --lab "$LAB"
in_order "... and names each failure, in the lab's order" '^harness: error: connecting to host (h[0-9]+) .*Permission denied.*' err
together "a run" "$H" run rack-run.json --lab "$LAB" --out results
check_says "... names the first in the lab's order" '^harness: error: connecting to host h0 \(h0\): h0: Permission denied' err

# ---- a run that is interrupted while it connects
meet
touch "$MET/wait"
"$H" run rack-run.json --lab "$LAB" --out results 2> err &
run=$!
for ((i = 0; i < 300; i++)); do [ "$(find "$MET" -name 'begun.*' | wc -l)" = 16 ] && break; sleep 0.1; done
kill -TERM $run
wait $run
code=$?
check "a run that is interrupted while hosts do not answer ends at once, with exit status 130" test "$code" = 130 -a ! -e "$MET/alone" -a ! -e "$MET/ended.15"
check_says "... and says so" 'interrupted while connecting to host h0' err
check "... and leaves no result" test -z "$(find results -name '*.json' 2> /dev/null)"
finish
