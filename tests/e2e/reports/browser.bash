# shellcheck shell=bash
# A page in a browser, for tests that source tests/e2e/lib.sh: needs_browser or start_browser first, then browse.
#   browse COMMAND WORD...     a command of tests/e2e/reports/browser; sets $answer
#   page_is WHAT EXPRESSION    passes when the JavaScript expression is true in the page
#   quiet WHAT                 passes when the page has said nothing on the console and asked for nothing

BROWSERS="chromium-headless-shell chromium chromium-browser headless_shell google-chrome"

find_browser() {
    local name
    for name in $BROWSERS /usr/lib*/chromium-browser/headless_shell; do
        command -v "$name" && return
    done
    return 1
}

start_browser() {
    coproc BROWSER { "$ROOT/tests/e2e/reports/browser" "$(find_browser)" "$SCRATCH/profile" 2>"$SCRATCH/browser.err"; }
    browser_in=${BROWSER[1]} browser_out=${BROWSER[0]}
    at_exit end_browser "$BROWSER_PID"
}

# Ends the test with a skip where there is no browser, or no library for it to run: that it was not to be had, not that it was refused.
needs_browser() { # WHAT
    local folder=$ROOT/build/page-library
    find_browser >/dev/null || { skip "$1" no-browser && finish; }
    "$ROOT/deps/fetch-page-library" "$folder" 2>"$SCRATCH/fetch" || { skip "$1" no-page-library "$folder" && finish; }
    start_browser
}

# shellcheck disable=SC2317 # called at the end
end_browser() { # it ends when its input does, and removes nothing of its folder until then
    exec {browser_in}>&-
    while kill -0 "$1"; do sleep 0.05; done 2>/dev/null
}

browse() {
    local IFS=$'\t'
    printf '%s\n' "${*//$'\n'/ }" >&"$browser_in"
    IFS= read -r -t 120 answer <&"$browser_out" || { nok "the browser answers to $1" "$(tail -n 5 "$SCRATCH/browser.err")" && finish; }
}

page_is() {
    browse eval "$2"
    if [ "$answer" = true ]; then ok "$1"; else nok "$1" "$2: $answer"; fi
}

quiet() {
    local said
    browse errors
    said=$answer
    browse requests
    if [ "$said $answer" = "[] []" ]; then ok "$1: nothing on the console, and no request"; else nok "$1: nothing on the console, and no request" "$said $answer"; fi
}
