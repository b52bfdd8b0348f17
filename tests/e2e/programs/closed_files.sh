#!/usr/bin/env bash
# Programs that are started with standard input, output or error closed: no file of theirs gets the number, so that no message is
# written into a journal or a document, and output that could not be printed is an error.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 2
H=$BUILD/harness
CLOSED='error: writing to standard output: '

# A program that prints: without standard output it has failed, and says so; without the others it has not.
prints() { # PROGRAM ARGUMENT...
    local bad='' how code got
    "$@" >usual 2>/dev/null
    code=$?
    for how in '<&-' '2>&-' '<&- 2>&-'; do
        eval '"$@" >out' "$how"
        got=$?
        [ $got = $code ] && [ -s out ] || bad+="$how: exit $got, $(wc -c <out) bytes; "
    done
    for how in '>&-' '<&- >&-'; do
        eval '"$@" 2>err' "$how"
        got=$?
        [ $got = 3 ] && grep -q "$CLOSED" err || bad+="$how: exit $got: $(tail -n 1 err); "
    done
    eval '"$@" <&- >&- 2>&-'
    got=$?
    [ $got = 3 ] || bad+="all: exit $got; "
    if [ -z "$bad" ] && [ $code = 0 ]; then ok "$(basename "$1") $2 with closed files"; else nok "$(basename "$1") $2 with closed files" "$code: $bad"; fi
}
prints "$H" list
prints "$BUILD/virt-provision" help
prints "$BUILD/nic-config" help
prints "$BUILD/nic-sampler" --netdev lo --every 1ms --count 2 2>/dev/null
prints "$BUILD/host-facts" --version
prints "$BUILD/roce-traffic" help

# ---- what the numbers are while a program runs that would end without standard output
numbers() { # WHAT PROGRAM ARGUMENT...
    local what=$1 bad='' closed fd is
    shift
    for closed in 0 2 '0 2'; do
        # shellcheck disable=SC2001 # all of the digits
        eval '"$@" >numbers.out 2>&1' "$(sed 's/[0-2]/&>\&-/g' <<<"$closed")" '&'
        until_true 20 eval "[ \$(readlink /proc/$!/exe) = $1 ] && [ \$(ls /proc/$!/fd | wc -l) -ge 5 ]"
        for fd in $closed; do
            is=$(readlink "/proc/$!/fd/$fd")
            [ "$is" = /dev/null ] || bad+="closed: $closed; $fd is $is; "
        done
        kill -9 $!
        wait $! 2>/dev/null
    done
    if [ -z "$bad" ]; then ok "$what"; else nok "$what" "$bad"; fi
}
numbers "a server's files are none of 0 to 2" "$BUILD/roce-traffic" serve --port 0 --listen 127.0.0.1
numbers "a sampler's files are none of 0 to 2" "$BUILD/nic-sampler" --netdev lo --every 10ms

# ---- a sweep whose table nobody gets is whole, and can be resumed
for how in '>&-' '2>&-' '<&- >&- 2>&-'; do
    rm -rf results
    eval '"$H" run incast-pfc --duration 1ms --no-report --out results --set "sweep={\"settings.mtu\":[4200,3000]}" >o 2>e' "$how"
    code=$?
    [[ $how == '2>&-' ]] && wanted=0 || wanted=3
    if [ $code = "$wanted" ]; then ok "run $how ends with $wanted"; else nok "run $how ends with $wanted" "exit $code: $(cat o e)"; fi
    if [ "$(jq -s length results/incast-pfc/2*/request.json)" = 1 ]; then
        ok "its request is a document ($how)"
    else
        nok "its request is a document ($how)" "$(head -c 300 results/incast-pfc/2*/request.json)"
    fi
    check_exit 0 "it can be resumed ($how)" "$H" run --resume results/incast-pfc/2*
done

# ---- refused settings leave the journal as it is
# shellcheck disable=SC2317 # called below, in a namespace
inside() {
    mount -t sysfs sysfs /sys
    ip link add v0 type veth peer name v1
    echo '{"schema":1,"interfaces":{"v0":{"mtu":1400}}}' >settings.json
    for how in '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
        "$BUILD/nic-config" set --journal journal settings.json >/dev/null || return
        cp journal before
        eval '"$BUILD/nic-config" set --journal journal settings.json >/dev/null' "$how" && echo "$how: set a second time" && return 1
        cmp before journal || return
        "$BUILD/nic-config" restore --journal journal >/dev/null || return
        [ "$(cat /sys/class/net/v0/mtu)" = 1500 ] || return
    done
}
export -f inside
if unshare --net --mount true 2>/dev/null; then
    check "a second set without standard error leaves the journal, and restore puts back" unshare --net --mount bash -c inside
else
    skip "a journal and closed files" no-namespaces
fi
finish
