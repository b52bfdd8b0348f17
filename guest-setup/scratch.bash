# shellcheck shell=bash
# Folders that a script keeps files in, at places where other users may write too (/tmp, /var/tmp, a cache); source this file. Root
# must not open a file there that somebody else laid, or may exchange: a link would let it write to any file.

# Could another user exchange what lies in folder $1? Prints why, or nothing.
exchangeable() {
    local at=$1 owner mode
    while :; do
        read -r owner mode < <(stat -c '%u %a' -- "$at") || { echo "$at cannot be read" && return; }
        if [[ $owner != 0 && $owner != "$EUID" ]]; then
            echo "$at belongs to user $(stat -c %U -- "$at")" && return
        elif ((8#$mode & 8#002 && !(8#$mode & 8#1000))) || { ((EUID == 0 && 8#$mode & 8#020 && !(8#$mode & 8#1000))) && [[ $(stat -c %g -- "$at") != 0 ]]; }; then
            echo "other users may write to $at (mode $mode)" && return
        fi
        [[ $at != / ]] || return 0
        at=$(dirname -- "$at")
    done
}

# Is folder $1 ours alone: no link, of this user, and writable by nobody else?
is_own_folder() {
    local owner mode kind
    read -r owner mode kind < <(stat -c '%u %a %F' -- "$1" 2>/dev/null) || return 1
    [[ $kind == directory && $owner == "$EUID" ]] && ((!(8#$mode & 8#022)))
}

# own_folder FOLDER: make it if it is not there, and print it with links resolved; fails with a sentence when others could write there.
own_folder() {
    local folder why
    folder=$(readlink -m -- "$1")
    [[ -d $folder ]] || (umask 022 && mkdir -p -- "$folder") || return 1
    why=$(exchangeable "$folder")
    if [[ -n $why ]] || ((8#$(stat -c %a -- "$folder") & 8#002)); then
        echo "${0##*/}: $folder is not safe to keep files in: ${why:-other users may write to it}; name another folder, or run this as that user" >&2
        return 1
    fi
    echo "$folder"
}

# scratch_folder PARENT NAME: make PARENT/NAME.XXXXXX for this user alone, and print it; nobody else can exchange it.
scratch_folder() {
    local parent why
    parent=$(readlink -m -- "$1")
    why=$(exchangeable "$parent")
    if [[ -n $why ]]; then
        echo "${0##*/}: $parent is not safe to keep files in: $why; set TMPDIR to another folder" >&2
        return 1
    fi
    mktemp -d "$parent/$2.XXXXXX"
}

# lock_file FILE: may FILE in an own folder be opened as a lock? Not a link, another kind of file, or one with a second name.
lock_file() {
    local owner links kind
    [[ -e $1 || -L $1 ]] || return 0
    read -r owner links kind < <(stat -c '%u %h %F' -- "$1")
    [[ $owner == "$EUID" && $links == 1 && $kind == regular* ]] && return
    echo "${0##*/}: $1 is not a lock of this user: remove it" >&2
    return 1
}
