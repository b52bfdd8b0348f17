#!/bin/bash
# A report's page in a browser: values where the pointer is, zoom, series, keyboard, colours, narrow windows, print, no script, odd names.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/reports/browser.bash
. "$(dirname "$0")/browser.bash"
skip_unless "a page in a browser" python3 jq
H=$BUILD/harness
cd "$BUILD" || exit 2

# ---- the library: only what the tree names is taken
printf 'another package' >"$SCRATCH/other.tgz"
check_exit 1 "a package with another checksum is refused" "$ROOT/deps/fetch-page-library" "$SCRATCH/library" "$SCRATCH/other.tgz"
check_says "... with a sentence" 'has the SHA-512 [0-9a-f]{128}, expected [0-9a-f]{128}: it is not used' "$SCRATCH/err"
check "... and none of it is kept" test ! -e "$SCRATCH/library"
export npm_config_registry=http://127.0.0.1:9/ # nobody listens there
check_exit 0 "without npm or its registry, make goes on" "$ROOT/deps/fetch-page-library" --once "$SCRATCH/library"
check "... and says nothing" test ! -s "$SCRATCH/out" -a ! -s "$SCRATCH/err"
check_exit 1 "who asks for the library is told why" "$ROOT/deps/fetch-page-library" "$SCRATCH/library"
check_says "... in a sentence" 'npm.* (is not installed|does not get uplot [0-9.]+ from its registry): pages of .harness report. have pictures alone' "$SCRATCH/err"
unset npm_config_registry
needs_browser "a page in a browser"

# shellcheck disable=SC2317 # called through check
run() { "$H" run "$@" --no-report --quiet --set expect=null; }
check_exit 4 "a run with a queue" run scenarios/incast-dcqcn.json --out "$SCRATCH/results"
result=$(readlink -f "$SCRATCH/results/incast-dcqcn/latest")
check_exit 0 "its report" "$H" report "$result"
mkdir "$SCRATCH/alone"
page=$SCRATCH/alone/page.html # the one file, without those beside it
cp "$result/report/index.html" "$page"

# ---- it is drawn
browse open "$page" 1280 900
quiet "the page"
page_is "each figure with data can be worked with" \
    'document.querySelectorAll(".interactive").length === document.querySelectorAll("script.plot").length && document.querySelectorAll(".interactive").length > 5'
page_is "no table is cut off" 'Array.from(document.querySelectorAll(".scroll:not(.picture)")).every(s => s.scrollWidth <= s.clientWidth) || Array.from(document.querySelectorAll(".scroll:not(.picture)")).map(s => s.textContent.slice(0, 30) + s.scrollWidth).join()'
page_is "its picture is not shown beside it" '!Array.from(document.querySelectorAll("script.plot")).some(s => s.closest("figure").querySelector(".picture").offsetParent)'
page_is "all senders can be shown, not only those of the picture" 'document.querySelectorAll(".legend")[0].querySelectorAll("button").length > 15'

# ---- the value at the pointer is the sample's
# shellcheck disable=SC2016 # jq's
read -r time value < <(jq -rc --argjson start "$(jq '.phases[] | select(.name == "measure").start_ns' "$result/result.json")" '
    if type == "object" then if .type == "header" and .host == "s0" then "column \(.columns | map(.name) | index("port16_prio3_queue_bytes"))" else empty end
    elif .[0] == "s0" then "sample \(.[1] - $start) \(.[3:] | map(tostring) | join(" "))" else empty end' "$result/samples.jsonl" |
    awk '$1 == "column" { c = $2 } $1 == "sample" && $2 > 6500000 && $(c + 3) > 0 { printf "%.9g %.6g\n", $2 / 1e6, $(c + 3) / 1024; exit }')
# shellcheck disable=SC2016
queue='Array.from(document.querySelectorAll(".panel")).find(p => p.getAttribute("aria-label").startsWith("Queues: "))'
browse eval "$queue.closest('figure').scrollIntoView(), 1"
browse eval "(r => [r.left + r.width * $time / 20, r.top + r.height / 2, r.left + 60, r.left + r.width / 2].map(Math.round).join(' '))($queue.querySelector('.u-over').getBoundingClientRect())"
read -r x y left middle <<<"${answer//\"/}"
browse move "$x" "$y"
# shellcheck disable=SC2317 # called through check
shown() { browse eval "$queue.parentNode.querySelector('.legend .value').textContent.replace(/\\u202f/g, '')" && [ "$answer" = "\"$1\"" ]; }
check "the queue of $value KiB that samples.jsonl has at $time ms is shown there" shown "$value"
page_is "all plots over time have their cursor there" "(parts => parts.length > 8 && parts.every(part => Math.abs(part - $time / 20) < 0.002))(
    Array.from(document.querySelectorAll('.panel')).filter(p => !p.getAttribute('aria-label').startsWith('Length')).map(function (p) {
        const box = p.querySelector('.u-over').getBoundingClientRect();
        return (p.querySelector('.u-cursor-x').getBoundingClientRect().right - box.left) / box.width;
    }))"

# ---- zoom: by dragging, keys, wheel and buttons, and back
pixels="$queue.querySelector('canvas').toDataURL()"
# shellcheck disable=SC2317 # called through check
range() { browse eval "$queue.closest('figure').querySelector('.range').textContent" && [[ $answer =~ $1 ]]; }
browse move 5 5
browse eval "window.whole = $pixels, 1"
browse drag "$left" "$y" "$middle" "$y"
page_is "dragging zooms: other pixels" "$pixels !== whole"
check "... and the page says what is shown" range '^"[0-9.]+ to [0-9.]+ ms"$'
page_is "... in all figures over time" 'new Set(Array.from(document.querySelectorAll(".range")).map(r => r.textContent).filter(Boolean)).size === 1'
browse eval "$queue.focus(), 1"
browse key 0
page_is "the key 0 shows all again" "$pixels === whole"
browse key +
check "the key + zooms" range ' to '
browse key shift+ArrowRight
browse key Escape
browse wheel "$x" "$y" -120
check "the wheel zooms a plot that has the focus" range ' to '
browse eval "document.querySelector('.tools button:last-child').click(), 1"
check "the button reset shows all" range '^""$'
browse eval "document.activeElement.blur(), 1"
browse wheel "$x" "$y" -120
check "without the focus, the wheel scrolls" range '^""$'
browse eval "$queue.closest('figure').scrollIntoView(), $queue.focus(), 1"
browse key Home
browse key ArrowRight
page_is "arrow keys move the cursor and say the values" "/^time 0\\.[0-9]+ ms: s0 port16_prio3_queue_bytes [0-9]/.test($queue.parentNode.querySelector('.unseen').textContent)"

# ---- series
browse move 5 5
browse eval "window.button = $queue.parentNode.querySelector('.legend button'), window.before = $pixels, button.focus(), 1"
browse key ' '
page_is "a series is hidden by its button" "button.getAttribute('aria-pressed') === 'false' && $pixels !== before"
browse key ' '
page_is "... and shown again" "button.getAttribute('aria-pressed') === 'true' && $pixels === before"
page_is "all series of a panel" "(p => (p.querySelector('.choices button').click(), !p.querySelector('.legend [aria-pressed=false]')))(document.querySelector('.legend-box'))"

# ---- pauses: a row for each port and priority, and what the pointer is at
pauses='Array.from(document.querySelectorAll(".panel")).find(p => p.getAttribute("aria-label").startsWith("Pauses, queues and rates: bars"))'
# shellcheck disable=SC2016 # jq's
rows=$(jq -s --argjson phase "$(jq '.phases[] | select(.name == "measure")' "$result/result.json")" \
    'map(select(.[2] < $phase.end_ns and .[2] + .[3] > $phase.start_ns) | [.[0], .[1]]) | unique | length' "$result/pauses.jsonl")
page_is "pauses are bars in a row for each of $rows ports" "$pauses.getAttribute('aria-label').includes('bars in $rows rows')"
# shellcheck disable=SC2016
read -r at name long < <(jq -r --argjson start "$(jq '.phases[] | select(.name == "measure").start_ns' "$result/result.json")" \
    'select(.[2] - $start > 1000000 and .[3] > 3000) | "\((.[2] - $start + .[3] / 2) / 1e6) \(.[0]) \(.[3] / 1000)"' "$result/pauses.jsonl" | head -n 1)
browse eval "$pauses.closest('figure').scrollIntoView(), (r => [r.left + r.width * $at / 20, r.top + 20].join(' '))($pauses.querySelector('.u-over').getBoundingClientRect())"
read -r x y <<<"${answer//\"/}"
browse move "$x" "$y"
page_is "the pause of $name at $at ms lasts $long us there" \
    "(w => w.includes('$name priority 3 (' + Number(Number($long).toPrecision(4)) + ' us)'))($pauses.parentNode.querySelector('.at').textContent)"
quiet "all of that"

# ---- a link to a view: zoom, time and series
browse open "$page" 1280 900
browse eval "$queue.focus(), 1"
browse key +
browse key Home
browse key ArrowRight
said="[$queue.closest('figure').querySelector('.range').textContent, $queue.parentNode.querySelector('.legend [aria-pressed=false]').textContent, Math.abs($queue.closest('figure').getBoundingClientRect().top) < 60].join()"
browse eval "$queue.parentNode.querySelector('.legend button').click(), Array.from($queue.closest('figure').querySelectorAll('.tools button')).find(b => b.textContent === 'link').click(), $queue.closest('figure').scrollIntoView(), $said"
before=$answer
page_is "a button says that the view is in a link" "/^(A link to this view is copied|The address of this page has this view now)\.$/.test($queue.closest('figure').querySelector('.at').textContent)"
browse eval "location.hash"
link=${answer//\"/}
check "the address has figure, zoom, time and series" grep -qE '^#at=[0-9]+-queues&t=[0-9.]+,[0-9.]+&x=[0-9.]+&s\.[0-9]+-queues\.0=0$' <<<"$link"
browse open "$page$link" 1280 900
browse eval "$said"
check "... which show the same on a new page: ${before//\"/}" test "$answer" = "$before"
page_is "... also the time" "(r => Math.abs($queue.querySelector('.u-cursor-x').getBoundingClientRect().right - r.left - r.width * (/&x=([0-9.]+)/.exec(location.hash)[1] - /&t=([0-9.]+)/.exec(location.hash)[1]) / (/,([0-9.]+)/.exec(location.hash)[1] - /&t=([0-9.]+)/.exec(location.hash)[1])) < 3)($queue.querySelector('.u-over').getBoundingClientRect())"
browse open "$page#at=nothing&t=9,x&x=-&s.1=z" 1280 900
page_is "a link that says nothing shows all" '!Array.from(document.querySelectorAll(".range")).some(r => r.textContent)'
browse eval "document.querySelector('.cause a').click(), 1"
page_is "the time of a cause is a link to it in the plots" "/^0 to [0-9.]+ ms$/.test($pauses.closest('figure').querySelector('.range').textContent) && Math.abs($pauses.closest('figure').getBoundingClientRect().top) < 60"
quiet "links to views"
browse open "$page" 1280 900

# ---- colours
page_is "the page is light" 'getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"'
browse eval "window.before = $pixels, document.getElementById('theme').value = 'dark', document.getElementById('theme').dispatchEvent(new Event('change')), 1"
page_is "the switch makes it dark" 'getComputedStyle(document.body).backgroundColor === "rgb(20, 23, 27)"'
browse move 5 5
page_is "... and its plots" "$pixels !== before"
browse open "$page" 390 800 dark
page_is "it is dark where the reader prefers that" 'getComputedStyle(document.body).backgroundColor === "rgb(20, 23, 27)"'
page_is "390 pixels are enough: the page does not scroll sideways" 'document.documentElement.scrollWidth <= 390 && Array.from(document.querySelectorAll(".interactive canvas")).every(c => c.getBoundingClientRect().right <= 390)'
quiet "a narrow page"

page_is "... nor does a table: each of its rows is a paragraph, with the titles of its columns" '(b => b.length > 2 && b.every(s => s.scrollWidth <= s.clientWidth + 1))(Array.from(document.querySelectorAll(".scroll:not(.picture)")).filter(s => s.checkVisibility())) && document.querySelector(".wide.labelled td:nth-child(5)").dataset.t === "MiB/s" || Array.from(document.querySelectorAll(".scroll:not(.picture)")).filter(s => s.scrollWidth > s.clientWidth + 1).map(s => s.textContent.slice(0, 30)).join()'
# Names that cannot be broken at a hyphen or a space
mkdir "$SCRATCH/long"
for name in results_of_the_first_experiment_with_firmware_22_41_1000 results_of_the_second_experiment_with_firmware_22_43_2026; do cp -r "$result" "$SCRATCH/long/$name"; done
check_exit 0 "two results with long names" "$H" report "$SCRATCH"/long/* --out "$SCRATCH/long-page"
for width in 1280 390; do
    browse open "$SCRATCH/long-page/index.html" $width 900
    page_is "... are not cut in any table at $width pixels" 'document.documentElement.scrollWidth <= innerWidth && Array.from(document.querySelectorAll(".scroll:not(.picture)")).every(s => s.scrollWidth <= s.clientWidth + 1)'
done
check_says "... and the end of a name, which tells them apart, is in the title of the map" 'Pauses in the network: [^<]*\.\.\.[^<]*firmware_22_41_1000<' "$SCRATCH/long-page/01-map.svg"

# ---- without script, and printed, there are the pictures
browse open "$page" 1280 900 noscript
page_is "without script each picture is there" '(i => i.length > 5 && i.every(p => p.naturalWidth > 100 && p.offsetParent && p.alt) && !document.querySelector(".interactive"))(Array.from(document.images))'
browse open "$page" 1280 900 print
page_is "printed, rules in tables are not larger than the words beside them" 'Array.from(document.querySelectorAll("td code, td .pill")).every(c => getComputedStyle(c).fontSize === getComputedStyle(c.closest("td")).fontSize)'
page_is "printed, each picture is there, and nothing else in its place" \
    'Array.from(document.images).every(p => p.naturalWidth > 100 && p.offsetParent) && !Array.from(document.querySelectorAll(".interactive, .theme")).some(i => i.offsetParent)'

# ---- keyboard and names, on a page with fewer controls
check_exit 4 "a run of two hosts" run scenarios/pfc-bidir.json --set sweep=null --duration 20ms --set sample.every=100us --out "$SCRATCH/results"
pair=$(readlink -f "$SCRATCH/results/pfc-bidir/latest")
check_exit 0 "its report" "$H" report "$pair"
browse open "$pair/report/index.html" 1280 900
# shellcheck disable=SC2016
browse eval 'window.controls = new Set(Array.from(document.querySelectorAll("a[href], button, select, input, summary, [tabindex]")).filter(c => c.checkVisibility())), controls.size'
controls=$answer
browse eval 'window.unseen = [], document.addEventListener("focusin", e => { controls.delete(e.target); if (getComputedStyle(e.target).outlineStyle === "none") unseen.push(e.target.outerHTML); }), 1'
for ((i = 0; i < controls + 2; i++)); do browse key Tab; done
page_is "the key Tab reaches each of $controls controls" 'controls.size === 0 || Array.from(controls).map(c => c.outerHTML.slice(0, 200)).join()'
page_is "... and shows where it is" 'unseen.length === 0 || unseen.join()'
page_is "each control has a name" 'Array.from(document.querySelectorAll("a[href], button, select, input, summary, [tabindex]"))
    .every(c => c.getAttribute("aria-label") || c.textContent.trim() || (c.labels && c.labels.length))' 
page_is "no two buttons of different figures have the same name" '(n => new Set(n).size === n.length)(Array.from(document.querySelectorAll(".tools button")).map(b => b.getAttribute("aria-label")))'
page_is "each table has headers, each picture a text" 'Array.from(document.querySelectorAll("table")).every(t => t.querySelector("th")) && Array.from(document.images).every(i => i.alt)'
page_is "the document has a language, a title and one heading of the first rank" 'document.documentElement.lang === "en" && document.title !== "" && document.querySelectorAll("h1").length === 1'

# ---- several runs
check_exit 4 "another run" run scenarios/pfc-bidir.json --set sweep=null --duration 20ms --set sample.every=100us --set settings.cable=7m --out "$SCRATCH/other"
check_exit 0 "both on a page" "$H" report "$pair" "$SCRATCH/other/pfc-bidir/latest" --out "$SCRATCH/both"
browse open "$SCRATCH/both/index.html" 1280 900
page_is "curves of both runs are in one plot, with another dash" '(b => b.some(e => e.includes("cable 1m: a tx_prio0_bytes solid")) && b.some(e => e.includes("cable 7m: a tx_prio0_bytes dashed")))(
    Array.from(document.querySelectorAll(".overlays .legend button")).map(e => e.textContent + " " + (e.querySelector(".sample").style.backgroundImage.includes("transparent") ? "dashed" : "solid")))'
page_is "... before those of each" '(s => s.querySelectorAll(".interactive").length * 2 === document.querySelectorAll("script.plot").length)(document.querySelector(".overlays"))'
quiet "a page about two runs"
page_is "where each run's measured time began in it is said" '(b => b.length === 2 && b.every(t => t.includes("which was 1000 ms after that of the run")))(
    Array.from(document.querySelectorAll("p.soft")).map(p => p.textContent).filter(t => t.startsWith("Times in the figures count from the beginning of the measure phase")))'
check_exit 4 "a run of which nobody was paused" run scenarios/pfc-bidir.json --set sweep=null --set 'flows.*.memory=host' --duration 2ms --set phases.warmup=0s --set sample.every=100us --out "$SCRATCH/calm"
check_exit 0 "its page" "$H" report "$SCRATCH/calm/pfc-bidir/latest"
check_says "has no drawing of lines at 0, but a sentence" '<figcaption>Wire rate at which each host sends[.] None of them received a PFC frame meanwhile[.]' "$SCRATCH/calm/pfc-bidir/latest/report/index.html"
check "... and no rate of PFC frames" test -z "$(grep -o '"label":"PFC frames/s' "$SCRATCH/calm/pfc-bidir/latest/report/index.html")"
check_exit 0 "a page of both" "$H" report "$SCRATCH/other/pfc-bidir/latest" "$SCRATCH/calm/pfc-bidir/latest" --out "$SCRATCH/mixed"
browse open "$SCRATCH/mixed/index.html" 1280 900
page_is "both in one plot have those of the one" 'document.querySelector(".overlays").textContent.includes("Throughput and PFC frames of all runs")'
check_exit 4 "four runs" run scenarios/pfc-bidir.json --set 'sweep={"settings.cable": ["1m", "3m", "5m", "7m"]}' --duration 2ms --set phases.warmup=0s --set sample.every=100us --out "$SCRATCH/four"
check_exit 0 "their page" "$H" report "$SCRATCH/four/pfc-bidir/latest" --out "$SCRATCH/four/page"
browse open "$SCRATCH/four/page/index.html" 1280 900
page_is "the names of curves have the dashes of their runs, four of them" 'new Set(Array.from(document.querySelector(".overlays .legend").querySelectorAll("button")).filter(e => e.textContent.includes(": a tx_prio0_bytes"))
    .map(e => e.querySelector(".sample").style.backgroundImage.replace(/rgb\([^)]*\)/g, "ink"))).size === 4'
page_is "two curves of a run that are one of the first run's have colours of their own" '(panel => (o => o.series.length === 14 && new Set(o.series.filter(s => s.label.startsWith("two: ")).map(s => s.colour)).size === 2)(overlayCurves("x",
    [{run: "one", number: 0, panel: panel(["h0"].concat(Array.from({length: 11}, (_, i) => "g" + i)))}, {run: "two", number: 1, panel: panel(["h0 tx_prio3_bytes", "h0 tx_prio4_bytes"])}], 2)))(
    labels => ({most: 0, note: "", kept: "", levels: [], series: labels.map((label, i) => ({label: label, colour: OVERLAY_COLOURS[i], x: [0], y: [1], more: false}))}))'
page_is "... and times that begin with the run" 'Array.from(document.querySelectorAll("p.soft")).filter(p => p.textContent === "Times in the figures count from the beginning of the measure phase.").length === 4'

# ---- what is said of a figure is what is drawn
mkdir "$SCRATCH/short"
cp "$result"/*.jsonl "$SCRATCH/short" # a measured time that is a tenth of the samples'
jq '.phases |= map(if .name == "measure" then .end_ns = .start_ns + 2000000 else . end)' "$result/result.json" >"$SCRATCH/short/result.json"
forget_files "$SCRATCH/short"
check_exit 0 "a report of a short part of a run" "$H" report "$SCRATCH/short"
check "its rates are those between samples, and not over shorter times" \
    test "$(grep -o 'Each rate is [a-z ]*' "$SCRATCH/short/report/index.html" | sort -u)" = "Each rate is that from a sample to the next"
# forty ports with a pause each, one with a long one, whose name is the last
for run in one two; do
    cp -r "$SCRATCH/short" "$SCRATCH/$run"
    rm -r "$SCRATCH/$run/report"
    jq --arg run $run '.cell = {"x": $run}' "$SCRATCH/short/result.json" >"$SCRATCH/$run/result.json"
    forget_files "$SCRATCH/$run"
    jq -nc --argjson start "$(jq '.phases[] | select(.name == "measure").start_ns' "$SCRATCH/short/result.json")" \
        'range(40) | ["h\(.)", 3, $start + . * 1000, 2000], ["z:99", 3, $start + . * 50000, 49000]' >"$SCRATCH/$run/pauses.jsonl"
done
check_exit 0 "two of them" "$H" report "$SCRATCH/one" "$SCRATCH/two" --out "$SCRATCH/bars"
check_says "a picture says how many pauses its bars are of" 'those paused for the longest time' "$SCRATCH/bars/01-timeline.svg"
check_says "... and so does what is below it" '55 pauses are 16 bars: those closer together than 5 us are one' "$SCRATCH/bars/index.html"
browse open "$SCRATCH/bars/index.html" 1280 900
bars='Array.from(document.querySelectorAll(".overlays .interactive")).find(b => b.textContent.startsWith("Pauses, queues and rates"))'
page_is "rows of both runs are those that were paused for the longest time, and the others are counted" \
    "/32 of 41 rows, those with the longest bars/.test($bars.textContent) && (f => overlayOf(f, f.map(x => x.run)).panels[0].rows.filter(r => r.includes('z:99')).length === 2)(
    readFigures().filter(f => f.kind === 'timeline'))"
page_is "a port with one pause has a curve of its length, and all begin at 0 and end at 100 %" "(c => c.length > 1 && c.every(s => new Set(s.x).size > 1 && s.y[0] === 0 && s.y[s.y.length - 1] === 100))(
    readFigures().find(f => f.kind === 'pause-cdf').panels[0].series)"
page_is "of curves that are not shown at first, there is the number" '/12 of [0-9]+ curves are shown at first/.test(document.querySelector(".overlays").textContent)'
quiet "that page"

# ---- names from elsewhere
cp -r "$result" "$SCRATCH/hostile"
rm -r "$SCRATCH/hostile/report"
evil='</script><img src=x onerror=alert(1)>'
sed -i "s|\"s0\"|\"$evil\"|; s|port16_prio3_queue_bytes|<!--<script>alert(2)</script>queue_bytes|" "$SCRATCH/hostile/samples.jsonl"
sed -i 's|\["h0",|["'$'\xe2\x80\xa8''</script><script>alert(3)</script>",|; s|\["h1",|["<b onclick=alert(4)>",|' "$SCRATCH/hostile/pauses.jsonl"
jq --arg evil "$evil" '.scenario.title = $evil | .cell = {"a": $evil}' "$result/result.json" >"$SCRATCH/hostile/result.json"
forget_files "$SCRATCH/hostile"
check_exit 0 "a report of a result with markup as names" "$H" report "$SCRATCH/hostile"
browse open "$SCRATCH/hostile/report/index.html" 1280 900
quiet "a page with markup as names"
page_is "they are shown as they are" 'Array.from(document.querySelectorAll(".legend button")).some(b => b.textContent.includes("</script><img src=x onerror=alert(1)>"))'
page_is "... as text" '!document.querySelector("img[src=x], b[onclick]") && document.querySelectorAll("script:not([type])").length === 2'

# ---- without the library
mkdir "$SCRATCH/bin"
cp "$H" "$SCRATCH/bin/harness"
check_exit 0 "a report by a program without the library" "$SCRATCH/bin/harness" report "$pair" --out "$SCRATCH/plain"
browse open "$SCRATCH/plain/index.html" 1280 900
page_is "its page has its pictures" 'document.images.length > 3 && Array.from(document.images).every(p => p.naturalWidth > 100 && p.offsetParent) && !document.querySelector(".interactive, script.plot")'
check "... and nothing of the library" test "$(grep -cE 'Licence of uPlot|var uPlot' "$SCRATCH/plain/index.html")" = 0
check "the other has its script and its licence" test "$(grep -cE 'Licence of uPlot|var uPlot' "$pair/report/index.html")" = 2
quiet "a page without the library"

# ---- 10^6 samples of 20 gauges: what is drawn is less, and has the extremes
mkdir "$SCRATCH/many"
jq '.phases |= map(if .name == "measure" then .start_ns = 0 | .end_ns = 10000000000 else empty end)' "$pair/result.json" >"$SCRATCH/many/result.json"
awk 'BEGIN {
    printf "{\"type\":\"header\",\"schema\":1,\"program\":\"x\",\"version\":\"1\",\"host\":\"a\",\"every_ns\":10000,\"columns\":["
    for (i = 0; i < 20; i++) printf "%s{\"name\":\"q%d_queue_bytes\",\"unit\":\"bytes\",\"kind\":\"gauge\",\"source\":\"x\",\"group\":\"queue\"}", i ? "," : "", i
    print "]}"
    for (i = 0; i < 20; i++) rest = rest ",20480"
    for (t = 0; t < 1000000; t++) print "[\"a\"," t "0000,0" (t == 345678 ? ",7168000" : t == 765432 ? ",1024" : "," 20480 + t % 7 * 1024) substr(rest, 7) "]"
}' >"$SCRATCH/many/samples.jsonl"
forget_files "$SCRATCH/many"
memory=350000
! skip_reason sanitized "$H" >/dev/null || memory=unlimited # it reserves terabytes
check_exit 0 "a report of 10^6 samples, within $memory KiB" sh -c "ulimit -v $memory && exec '$H' report '$SCRATCH/many'"
check "its page is below 10 MB: $(stat -c %s "$SCRATCH/many/report/index.html")" test "$(stat -c %s "$SCRATCH/many/report/index.html")" -lt 10000000
browse open "$SCRATCH/many/report/index.html" 1280 900
page_is "the page's data have both extremes at their times" '(s => s.y.indexOf(7000) >= 0 && s.x[s.y.indexOf(7000)] === 3.45678 && s.x[s.y.indexOf(1)] === 7.65432)(
    JSON.parse(Array.from(document.querySelectorAll("script.plot")).find(s => s.textContent.includes("q0_queue_bytes")).textContent).panels[0].series[0])'
check "and so does the picture" test "$(grep -cE '^(3\.45678	7000|7\.65432	1)$' "$SCRATCH/many/report/01-queues.tsv")" = 2
page_is "it says so" '/Down-sampled: of each [0-9]+ samples of a curve, the smallest and the largest are kept/.test(document.body.innerText)'
quiet "that page"
# ---- the list of runs (harness browse)
check_exit 0 "the runs as a page" "$H" browse "$SCRATCH/results" --html "$SCRATCH/runs.html"
browse open "$SCRATCH/runs.html" 1280 900
quiet "the list of runs"
rows='Array.from(document.querySelectorAll("tbody tr"))'
filter() { browse eval "(f => { f.value = '$1'; f.dispatchEvent(new Event('input')); return 1 })(document.getElementById('words'))"; }
page_is "... has lines" "$rows.length > 0 && $rows.every(r => !r.hidden)"
filter 'incast no-such-word'
page_is "... its filter hides those that lack a word" "$rows.every(r => r.hidden)"
filter 'INCAST dcqcn'
page_is "... and shows those that have all" "$rows.some(r => !r.hidden)"
check_exit 0 "a sweep in the list" "$H" browse "$SCRATCH/four" --html "$SCRATCH/four.html"
for width in 1200 390; do
    browse open "$SCRATCH/four.html" $width 900
    page_is "the list is not cut at $width pixels" 'document.documentElement.scrollWidth <= innerWidth && (s => s.scrollWidth <= s.clientWidth)(document.querySelector(".scroll"))'
    page_is "... and the sweep is one line" "$rows.filter(r => r.checkVisibility()).length === 1"
    filter 'cable 5m'
    page_is "... a word of one of its runs shows that run" "$rows.filter(r => r.checkVisibility()).length === 2 && ${rows}[3].checkVisibility()"
    filter ''
    browse eval 'document.querySelector("input[type=checkbox]").click(), 1'
    page_is "... which opens to its four runs" "$rows.filter(r => r.checkVisibility()).length === 5"
    page_is "... and is not cut" 'document.documentElement.scrollWidth <= innerWidth && (s => s.scrollWidth <= s.clientWidth)(document.querySelector(".scroll"))'
done
browse open "$SCRATCH/four.html" 1280 900 noscript
page_is "without script the sweep is one line, with its runs to be opened" "$rows.filter(r => r.checkVisibility()).length === 1 && document.querySelector('input[type=checkbox]').checkVisibility()"
finish
