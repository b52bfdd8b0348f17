#!/bin/bash
# The frame of all programs: every option stands in --help, in the manual and in the completion; wrong usage ends with 2 and names what
# was meant.
# shellcheck disable=SC2016 # the shell that is started expands it
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

# Options of a help text, one a line.
options() { sed -nE 's/^ +(-[a-zA-Z], )?--([a-z-]+).*/\2/p' "$1" | sort -u; }

# What bash offers for the last word.
complete_words() { # PROGRAM WORD...
    bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}; name=_${1##*/}; "${name//-/_}"
        printf "%s\n" "${COMPREPLY[@]}"' - "$SCRATCH/${1##*/}.completion" "$@"
}
# What a shell that was really started passes to harness when keys are typed, tab (\t) among them: once for each line of keys.
# shellcheck disable=SC2317 # called by its name
typed_in() { # SHELL KEYS...
    local shell=$1 load
    shift
    rm -f "$SCRATCH/typed"
    case $shell in
    bash) load=". $SCRATCH/harness.completion" shell='bash --norc --noprofile -i' ;;
    zsh) load="setopt interactivecomments; fpath=($SCRATCH/zsh \$fpath); autoload -U compinit; compinit -u -D" shell='zsh -f -i' ;;
    fish) load="source $SCRATCH/harness.fish" shell='fish --no-config -i' ;;
    esac
    printf '%s\n' "$load" "$(printf '%b\n' "$@")" exit |
        HOME=$SCRATCH/home PATH=$SCRATCH/typing:$PATH TERM=xterm timeout 60 script -qec "$shell" /dev/null >"$SCRATCH/terminal" 2>&1
    cat "$SCRATCH/typed"
}

compare_command() { # PROGRAM COMMAND: its options are in all three; COMMAND may be empty
    local program=$1 command=$2 missing='' option
    check_exit 0 "$program $command --help" "$BUILD/$program" ${command:+"$command"} --help
    cp "$SCRATCH/out" "$SCRATCH/help"
    check_says "... begins with the usage" "^usage: $program ?$command" "$SCRATCH/help"
    [ -z "$command" ] || check_exit 0 "$program help $command says the same" cmp <("$BUILD/$program" help "$command") "$SCRATCH/help"
    complete_words "$BUILD/$program" ${command:+"$command"} -- > "$SCRATCH/offered"
    while read -r option; do
        grep -qE "^\.It .*Fl -$option( |\$)" "$ROOT/docs/$program.1" || missing+=" --$option (manual)"
        grep -qxe "--$option" "$SCRATCH/offered" || [ "$option" = version ] || missing+=" --$option (completion)"
    done < <(options "$SCRATCH/help")
    check "$program $command: every option is in the manual and the completion${missing:+:$missing}" test -z "$missing"
    while read -r option; do
        grep -qE -- "$option( |\$)" "$SCRATCH/help" || missing+=" $option"
    done < "$SCRATCH/offered"
    check "... and --help has what the completion offers${missing:+:$missing}" test -z "$missing"
}

# Paragraphs of a rendered page with quotes or parentheses that do not close, quotes within quotes, commas at the end of parentheses, and
# quotes around several words with commas between them, each of which was meant to be quoted.
# shellcheck disable=SC1112,SC2317 # the quotes are those of pages; it is called by its name
unbalanced() { # FILE
    awk -v RS= '{
        gsub(/[ \n]+/, " "); opened = text = $0
        depth = gsub(/[(]/, "", opened) - gsub(/[)]/, "", opened)
        if (depth || text ~ /“[^”]*(“|$)|‘[^’]*(‘|$)|,[)]|“[a-z]+(, [a-z]+)+”|‘[^ ’]+(, [^ ’]+)+’/) print
    }' "$1"
}

for program in harness virt-provision nic-config nic-sampler host-facts roce-traffic; do
    "$BUILD/$program" --completion > "$SCRATCH/$program.completion"
    check "$program: the completion is bash" bash -n "$SCRATCH/$program.completion"
    mapfile -t commands < <("$BUILD/$program" --commands)
    for command in "${commands[@]}"; do
        compare_command "$program" "$command"
        [ -z "$command" ] || check_says "$program: the manual has a section for $command" "^\.Ss $command( |\$)" "$ROOT/docs/$program.1"
        # in one section the choices of an argument are those that the help has; "lab get" and "lab show" have one each
        choices=$("$BUILD/$program" help ${command:+"$command"} 2> /dev/null | sed -n '1s/.*[ []\([a-z-]*|[a-z|-]*\).*/\1/p')
        [ -z "$choices" ] || [ "$(grep -c "^\.Ss $command " "$ROOT/docs/$program.1")" != 1 ] ||
            check "... with its choices" grep -qF "$choices" <(grep "^\.Ss $command " "$ROOT/docs/$program.1")
    done
    "$ROOT/docs/fill-manual" "$BUILD/$program" "$ROOT/docs/$program.1" > "$SCRATCH/page"
    check "$program: the manual is up to date (else: make docs)" diff "$ROOT/docs/$program.1" "$SCRATCH/page"
    if command -v mandoc > /dev/null; then
        check "$program: the manual is correct mdoc" mandoc -T lint -W warning "$ROOT/docs/$program.1"
        mandoc -T utf8 "$ROOT/docs/$program.1" | col -b > "$SCRATCH/rendered"
        check "... whose quotes and parentheses close before others of their kind open, each around one thing" eval '! unbalanced "$SCRATCH/rendered" | grep .'
    fi
    check_exit 0 "$program --version" "$BUILD/$program" --version
    check_says "... prints name and version" "^$program [0-9]+\.[0-9]+" "$SCRATCH/out"
    check_exit 2 "$program: an unknown option is refused" "$BUILD/$program" "${commands[0]:-}" --hepl
    check_says "... with a hint" 'unknown option --hepl' "$SCRATCH/err"
    check_exit 3 "$program: help that cannot be written ends with 3" bash -c '"$0" --help > /dev/full' "$BUILD/$program"
done
if command -v mandoc > /dev/null; then
    for kind in scenario lab; do
        "$BUILD/harness" schema "$kind" --manual | mandoc -T utf8 | col -b > "$SCRATCH/rendered"
        check "the manual of a $kind: quotes and parentheses close" eval '! unbalanced "$SCRATCH/rendered" | grep .'
    done
fi
for program in harness virt-provision nic-config roce-traffic; do
    check_exit 2 "$program without a command is wrong usage" "$BUILD/$program"
    check_says "... which is shown" "^usage: $program COMMAND" "$SCRATCH/err"
    check_exit 0 "$program help lists the commands" "$BUILD/$program" help
    check_exit 2 "$program help of an unknown command" "$BUILD/$program" help nothing-like-it
    check_says "... is refused" 'unknown command "nothing-like-it"' "$SCRATCH/err"
done
check_exit 2 "a command with a typing error" "$BUILD/harness" chekc
check_says "... names the nearest" 'unknown command "chekc"; did you mean "check"\?' "$SCRATCH/err"
check_exit 2 "an option with a typing error" "$BUILD/harness" run --duratoin 1s pfc-bidir
check_says "... names the nearest" 'unknown option --duratoin; did you mean --duration\?; see harness run --help' "$SCRATCH/err"
check_exit 2 "an option out of range" "$BUILD/harness" run --repeat 0 pfc-bidir
check_says "... tells the range" '--repeat: 0 is out of range: expected a whole number from 1 to 10000' "$SCRATCH/err"
check_exit 2 "an argument too many" "$BUILD/harness" run pfc-bidir write-latency
check_says "... is named, with the usage" '"write-latency" is one argument too many; usage: harness run \[OPTION...\] \[SCENARIO\]' "$SCRATCH/err"
check_exit 0 "options may stand before the command" "$BUILD/harness" --lab sim-geforce-pair check pfc-bidir

check "completion of commands" test "$(complete_words "$BUILD/harness" doc)" = doctor
check "completion of options" test "$(complete_words "$BUILD/harness" run --dur)" = --duration
check "completion of scenarios" test "$(complete_words "$BUILD/harness" run pfc-storm-v)" = pfc-storm-victim
check "completion of labs" test "$(complete_words "$BUILD/harness" doctor --lab sim-gef)" = sim-geforce-pair
check "completion of choices" test "$(complete_words "$BUILD/harness" list sc)" = scenarios
check_exit 0 "list counters: one that is named, of a family" "$BUILD/harness" list counters rx_prio3_pause
check_says "... with its unit and meaning" '^  rx_prio#_pause +frames: PFC frames received' "$SCRATCH/out"
check_exit 0 "list counters: one that does not move on every NIC" "$BUILD/harness" list counters local_ack_timeout_err
check_says "... says on which" 'on ConnectX-5 Ex \(16.32.2004\): Never moved' "$SCRATCH/out"
check "list counters: a group" test "$("$BUILD/harness" list counters buffer | grep -c '^  rx_buffer#_')" = 2
check_exit 2 "list counters: an unknown name" "$BUILD/harness" list counters np_cpn_sent
check_says "... with the nearest" 'np_cnp_sent' "$SCRATCH/err"
check_exit 2 "list: a name of what has none" "$BUILD/harness" list labs x
check "completion of an option's choices" test "$(complete_words "$BUILD/roce-traffic" drive --memory rm-d)" = rm-dmabuf
check "completion of choices that may be given several times" test "$(complete_words "$BUILD/harness" browse --verdict unf)" = unfinished
check "completion of files" test "$(cd "$SCRATCH" && touch seen.pcap && complete_words "$BUILD/harness" verify seen)" = seen.pcap
check "completion of what stands behind them" test "$(complete_words "$BUILD/harness" verify seen.pcap cn)" = cnp
check "completion of interfaces" test "$(complete_words "$BUILD/nic-sampler" --netdev lo)" = lo

# ---- values that the documents and results of the command line have

offers() { check "completion $1" test "$("$BUILD/harness" --complete "${@:3}" | cut -f 1 | sort | paste -sd ' ')" = "$2"; } # WHAT WORDS WORD...
cd "$SCRATCH" || exit
offers "of keys: those of the format" "phases.cooldown= phases.measure= phases.warmup=" run --set phases.
offers "... in an object" "settings.dcqcn.np. settings.dcqcn.rp." run pfc-bidir --set settings.dcqcn.
offers "... the scenario's flows, and all of them" "flows.*. flows.a-to-b. flows.b-to-a." run pfc-bidir --set flows.
offers "... of another scenario" "flows.*. flows.a-to-b." check write-latency --set flows.
offers "... below a wildcard" "flows.*.memory= flows.*.message=" run --set flows.*.me pfc-bidir --set flows.*.me
offers "... of the scenario that doctor is given" "flows.*. flows.a-to-b. flows.b-to-a." doctor --for pfc-bidir --set flows.
offers "... of the lab that the scenario names" "lab.hosts.*. lab.hosts.a. lab.hosts.b." run pfc-bidir --set lab.hosts.
offers "... of the lab that is given" "lab.hosts.*. lab.hosts.a. lab.hosts.b. lab.hosts.switch." run pfc-bidir --lab geforce-bridge --set lab.hosts.
offers "... of a NIC's settings" "settings_of.a.rail3.mtu=" run pfc-bidir-rails --set settings_of.a.rail3.mt
offers "of a key's choices" "flows.*.op=read flows.*.op=send flows.*.op=write flows.*.op=write-imm" run pfc-bidir --set flows.*.op=
offers "... of what it is now, and of its default" "phases.measure=10s phases.measure=2s" run write-latency --set phases.measure=
offers "in one word with the option" "--set=phases.measure=" run pfc-bidir --set=phases.m
mkdir -p results/mine/20260101-000000 home typing zsh config/harness/baselines/before config/harness/baselines/broken
ln -s 20260101-000000 results/mine/latest
mkdir results/mine/20260101-000000/{01,report} results/mine/cut && touch results/mine/20260101-000000/{index.json,01/result.json}
for command in explain report status; do offers "of results: $command" "results/mine/latest" "$command" res; done
offers "... of those of a scenario" "results/mine/20260101-000000 results/mine/latest" report results/mine/
offers "... of the runs of a sweep, and nothing else in it" "results/mine/latest/01" explain results/mine/latest/
offers "of baselines" "before broken results/mine/latest" compare ""
offers "... behind the first" "before" compare old be
offers "... of a run" "before broken results/mine/latest" run pfc-bidir --against ""
offers "of rules" "latency_p50 latency_p99 latency_p99_9" compare --fail-if lat
offers "of counters" "rx_buffer#_bytes rx_buffer#_peak_bytes" list counters rx_buffer#
offers "of scenarios and labs" ":files sim-geforce-pair" check sim-gef
offers "of nothing behind the last argument" "" run pfc-bidir ""
check "completion says what words are" grep -qP '^explain\tSay what happened in a run, and why$' <("$BUILD/harness" --complete ex)
check_exit 2 "a shell that is not known" "$BUILD/harness" --completion csh
check_says "... is refused with those that are" '--completion csh: expected bash, zsh or fish' "$SCRATCH/err"

# ---- in the shells themselves

printf '#!/bin/sh\n[ "$1" != --complete ] || exec "%s" "$@"\nprintf "%%s\\n" "$*" >>"%s"\n' "$BUILD/harness" "$SCRATCH/typed" >typing/harness
chmod +x typing/harness
"$BUILD/harness" --completion zsh >zsh/_harness
"$BUILD/harness" --completion fish >harness.fish
# each ends its line with a comment and a quote: closed, whether the shell closed the first or not
printf '%s\n' '{"schema": 1, "name": "hostile", "expect": {"at most one": {}}, "settings": {"zz$(touch ran-1)": 1, "yy`touch ran-2`": 1,' \
    '"xx'\''$(touch ran-3)'\''": 1, "ww\"$(touch ran-4)\"": 1, "vv\n$(touch ran-5)": 1, "uu\t$(touch ran-6)": 1, "ss": "$(touch ran-7)"}}' >hostile.json
touch 'ff$(touch ran-8)' $'hh\ntwo' && mkdir 'config/harness/baselines/gg$(touch ran-9)'
check "completion of no name in two lines" test -z "$(complete_words "$BUILD/harness" verify hh)"
for key in zz yy xx ww vv uu ss=; do offers "of nothing hostile: $key" "" check hostile.json --set "settings.$key"; done
for shell in bash zsh fish; do
    command -v $shell >/dev/null || { skip "completion in $shell" no-command $shell && continue; }
    typed_in $shell 'harness doct\t --for pfc-bid\t' 'harness run pfc-bidir --set phases.mea\t2s' 'harness run pfc-bidir --set flows.a-to-b.op=write-\t' \
        'harness run pfc-bidir --lab=sim-gef\t -q' 'harness report resu\t' 'harness compare bef\t old' >seen
    printf '%s\n' 'doctor --for pfc-bidir' 'run pfc-bidir --set phases.measure=2s' 'run pfc-bidir --set flows.a-to-b.op=write-imm' 'run pfc-bidir --lab=sim-geforce-pair -q' \
        'report results/mine/latest' 'compare before old' >wanted
    check "completion in $shell: what is typed, with tabs" diff <(sed 's/ *$//' seen) wanted
    typed_in $shell 'harness run pfc-bidir --set "phases.mea\t2s #"' 'harness run pfc-bidir --set "flows.a-to-b.op=write-\t #"' \
        "harness check hostile.json --set 'expect.at\\t #'" 'harness check hostile.json --set expect.at\t' >seen
    check "... in quotes, and of a key with blanks" diff <(sed 's/[ #]*$//' seen) <(printf '%s\n' 'run pfc-bidir --set phases.measure=2s' \
        'run pfc-bidir --set flows.a-to-b.op=write-imm' 'check hostile.json --set expect.at most one.' 'check hostile.json --set expect.at most one.')
    lines=() && rm -f ran-*
    for word in zz yy xx ww vv uu ss=; do
        for quote in '' '"' "'"; do lines+=("harness check hostile.json --set ${quote}settings.$word\\t1 #$quote"); done
    done
    for quote in '' '"' "'"; do lines+=("harness compare ${quote}gg\\t #$quote" "harness verify ${quote}ff\\t #$quote"); done
    typed_in $shell "${lines[@]}" >seen
    check "... all of which were typed" test "$(wc -l <seen)" = ${#lines[@]}
    check "... nothing that a key, a value, a baseline or a file is named is run" eval '! compgen -G "ran-*"'
    [ $shell != fish ] || continue # it takes the wildcard for one of files
    typed_in $shell 'harness run pfc-bidir --set flows.*.mess\t4KiB' >seen
    check "... below a wildcard" grep -qxF 'run pfc-bidir --set flows.*.message=4KiB' seen
done
finish
