# shellcheck shell=bash
# bash completion for harness: commands and options are asked of the program itself, so they cannot differ from it.

_harness_commands() { "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'; }
_harness_options() { "$1" "$2" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
_harness_names() { "$1" list "$2" 2>/dev/null | sed -n 's/^  \([^ ]*\) .*/\1/p'; }

_harness() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_harness_commands "$program")" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_harness_options "$program" "$command") --help" -- "$word")
    elif [[ $before == --lab || $before == -l ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_harness_names "$program" labs)" -- "$word"; compgen -f -- "$word")
    elif [[ $before == --out || $before == -o || $command == report ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    elif [[ $command == run || $command == check || $before == --for ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_harness_names "$program" scenarios)" -- "$word"; compgen -f -- "$word")
    elif [[ $command == schema ]]; then
        mapfile -t COMPREPLY < <(compgen -W "scenario lab settings counters" -- "$word")
    elif [[ $command == list ]]; then
        mapfile -t COMPREPLY < <(compgen -W "scenarios labs" -- "$word")
    fi
}
complete -o filenames -F _harness harness ./harness
