#!/bin/bash
# The command blocks of README.md, docs/tutorial.md, docs/sweeps.md and docs/geforce-lab.md, run as they are written, in a fresh copy of the
# tree with its build; and the index of documents.
#   ```sh        commands; each must succeed
#   ```console   "$ command" lines ("> " continues one), each followed by what it prints; "..." in a line stands for anything, a
#                line of "..." for any lines; lines of output after the last one shown are not compared
# A comment on the line above a block, which a reader does not see, says what a plain run would get wrong:
#   <!-- not run: REASON: why -->      REASON is one of reasons()
#   <!-- run: exit N[|N...] -->        the exit status of the block's last command
#   <!-- run: machine WHAT -->         prepare finds the published machine (tests/e2e/rocky/machine.bash): bare, bridge, reboots, as-is
# What is not run is still read: shell syntax, files of the tree, subcommands and options of our programs, targets of make.
# shellcheck disable=SC2015,SC2317 # "a && b || c" ends the branch on purpose; functions are called by name
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/e2e/rocky/machine.bash
source "$(dirname "$0")/../rocky/machine.bash"
skip_unless "the commands in the documents" git jq python3

COPY=$SCRATCH/copy
BLOCKS=$SCRATCH/blocks
reasons() {
    cat <<'END'
nics      it needs NICs, GPUs or both
guests    it needs libvirt and builds or uses guests
machine   it changes this machine: packages, groups, /usr/local, devices, a reboot
network   it fetches from the network
tests     it runs the tests, of which this is one
user      it needs what only the reader has: an address, a name, a web browser
END
}

# A file's blocks: folder BLOCKS/NAME/NNN with `kind`, `mark`, `line`, `text`. Fails on what is neither fenced nor prose.
extract() { # FILE FOLDER
    python3 - "$1" "$2" <<'END'
import os, re, sys
path, folder = sys.argv[1:]
lines = open(path).read().split("\n")
number, at, bad = 0, 0, []
while at < len(lines):
    line = lines[at]
    if line.startswith("    ") and line.strip() and not lines[at - 1].strip():
        bad.append(f"{at + 1}: an indented block; fence it")
    fence = re.match(r"^ *```(.*)$", line)
    if not fence:
        at += 1
        continue
    end = at + 1
    while end < len(lines) and not re.match(r"^ *```$", lines[end]):
        end += 1
    if end == len(lines):
        bad.append(f"{at + 1}: the block has no end")
    if fence[1] not in ("sh", "console", "json", "text"):
        bad.append(f"{at + 1}: a block of kind \"{fence[1]}\": expected sh, console, json or text")
    mark = re.match(r"^<!-- ((?:not )?run: .*) -->$", lines[at - 1]) if at else None
    if fence[1] in ("sh", "console"):
        place = os.path.join(folder, f"{number:03}")
        os.makedirs(place)
        for name, text in (("kind", fence[1]), ("mark", mark[1] if mark else "run:"), ("line", str(at + 1)),
                           ("text", "\n".join(lines[at + 1:end]))):
            open(os.path.join(place, name), "w").write(text + "\n")
        number += 1
    elif mark:
        bad.append(f"{at}: a mark at a block that has no commands")
    at = end + 1
for at, line in enumerate(lines):
    if re.match(r"^<!-- *(not )?run", line) and not (re.match(r"^<!-- (not )?run: .* -->$", line) and lines[at + 1].startswith("```")):
        bad.append(f"{at + 1}: a mark that is not above a block")
print("\n".join(bad))
sys.exit(bool(bad))
END
}

# Links of documents to files, and to headings, outside of blocks of commands.
links() { # FILE...
    python3 - "$@" <<'END'
import os, re, sys
def prose(path):
    return re.sub(r"^ *```.*?^ *```$", lambda m: "\n" * m[0].count("\n"), open(path).read(), flags=re.M | re.S)
def anchors(path):
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose(path), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w -]", "", heading).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found
bad = []
for path in sys.argv[1:]:
    for at, line in enumerate(prose(path).split("\n")):
        for target in re.findall(r"\]\(([^)]*)\)", re.sub(r"`[^`]*`", "", line)):
            name, _, anchor = target.partition("#")
            other = os.path.join(os.path.dirname(path), name) if name else path
            if re.match("[a-z]+:", target):
                continue
            if not os.path.exists(other):
                bad.append(f"{path}:{at + 1}: there is no {target}")
            elif anchor and anchor not in anchors(other):
                bad.append(f"{path}:{at + 1}: {target}: no such heading")
print("\n".join(bad))
sys.exit(bool(bad))
END
}

# The commands of a block, and what each should print: BLOCK/N.command, BLOCK/N.expected (console only).
split_block() { # BLOCK
    local kind line text='' n=0 expected=
    kind=$(cat "$1/kind")
    while IFS= read -r line; do
        if [ "$kind" = console ]; then
            case $line in
            '$ '*) n=$((n + 1)) && echo "${line#'$ '}" >"$1/$n.command" && expected=$1/$n.expected ;;
            '> '* | '>') line=${line#>} && echo "${line# }" >>"$1/$n.command" ;;
            *) [ $n -gt 0 ] || { echo "the block begins with output: $line" && return 1; } && echo "$line" >>"$expected" ;;
            esac
            continue
        fi
        text+=$line$'\n'
        # a command goes on while the shell says so: a backslash, a quote, a here-document
        [ -n "${text//[[:space:]]/}" ] && [[ $line != *\\ ]] && [ -z "$(bash -n <<<"$text" 2>&1)" ] || continue
        n=$((n + 1))
        printf '%s' "$text" >"$1/$n.command"
        text=''
    done <"$1/text"
    [ $n -gt 0 ] && [ -z "${text//[[:space:]]/}" ] || { echo "no whole commands: $text" && return 1; }
}

# Does the output contain the expected lines, in their order?
prints() { # EXPECTED OUTPUT
    python3 - "$1" "$2" <<'END'
import re, sys
expected, found = [open(path).read().rstrip("\n").split("\n") for path in sys.argv[1:]]
at, anywhere = 0, False
for line in expected:
    if line.strip() == "...":
        anywhere = True
        continue
    pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")) + r"\s*$")
    while anywhere and at < len(found) and not pattern.match(found[at]):
        at += 1
    if at == len(found) or not pattern.match(found[at]):
        print(f"expected: {line}\nfound:    {found[at] if at < len(found) else '(the end)'}")
        sys.exit(1)
    at, anywhere = at + 1, False
END
}

# ---- what is run -----------------------------------------------------------------------------------------------------

tree_files() {
    git -C "$ROOT" ls-files -z --cached --others --exclude-standard 2>/dev/null ||
        (cd "$ROOT" && find . \( -path ./build -o -path ./results -o -path ./.git \) -prune -o ! -type d -print0)
}
# The tree's files as they are now, with this build; the build's times stay, so that make finds it finished.
copy_tree() {
    rm -rf "$COPY"
    mkdir -p "$COPY/build"
    tree_files | tar -C "$ROOT" --null --files-from - --ignore-failed-read -cf - 2>/dev/null | tar -C "$COPY" -xf -
    tar -C "$BUILD" --exclude=./tests --exclude=./fuzz --exclude=./sanitize --exclude=./libfuzzer --exclude=./results -cf - . | tar -C "$COPY/build" -xf -
}

# What would change this machine comes first in PATH and refuses, but for commands on the machine that is laid out.
guard() {
    local name path=$PATH
    machine_stand_ins "$SCRATCH/on-machine" "$SCRATCH/asked"
    # the programs look at /sys: there is the machine's
    # shellcheck disable=SC2016
    echo '#!/bin/sh
unshare --mount true 2>/dev/null || exec "$@"
exec unshare --mount sh -c '\''mount --bind "$0" /sys && exec "$@"'\'' "${HARNESS_ROOT:?}/sys" "$@"' >"$SCRATCH/on-machine/sudo"
    printf '#!/bin/sh\nexec "%s/on-machine/sudo" "%s/virt-provision" "$@"\n' "$SCRATCH" "$BUILD" >"$SCRATCH/on-machine/virt-provision"
    chmod +x "$SCRATCH"/on-machine/*
    mkdir -p "$SCRATCH/guard"
    for name in sudo apt-get dnf reboot systemctl update-grub grubby modprobe; do
        # shellcheck disable=SC2016
        printf '#!/bin/sh\necho "a document'\''s block would run on this machine: %s $*" >&2\nexit 99\n' "$name" >"$SCRATCH/guard/$name"
        chmod +x "$SCRATCH/guard/$name"
    done
    PATH=$SCRATCH/guard:$path
}

lay_out_machine() { # WHAT
    export HARNESS_ROOT=$SCRATCH/machine
    case $1 in
    bare) machine_bare ;;
    bridge) machine_bridge ;;
    reboots) machine_reboots ;;
    as-is) ;;
    *) return 1 ;;
    esac
}

# The block's commands in this shell, so that cd and export last for the document. Sets WHY on failure.
run_block() { # BLOCK MARK
    local block=$1 mark=$2 n=1 wanted=0 code last
    last=$(find "$block" -name '*.command' | wc -l)
    WHY=
    if [[ $mark =~ machine\ ([a-z-]+) ]]; then
        lay_out_machine "${BASH_REMATCH[1]}" || { WHY="unknown machine: $mark" && return 1; }
        PATH=$SCRATCH/on-machine:$PATH
    fi
    while [ -z "$WHY" ] && [ "$n" -le "$last" ]; do
        [ "$n" != "$last" ] || [[ ! $mark =~ exit\ ([0-9|]+) ]] || wanted=${BASH_REMATCH[1]}
        eval "$(cat "$block/$n.command")" >"$block/$n.out" 2>&1 </dev/null
        code=$?
        if [[ ! $code =~ ^($wanted)$ ]]; then
            WHY="exit status $code, expected $wanted: $(cat "$block/$n.command")
$(tail -n 15 "$block/$n.out")"
        elif [ -e "$block/$n.expected" ]; then
            WHY=$(prints "$block/$n.expected" "$block/$n.out") || WHY="$(cat "$block/$n.command"): $WHY"
        fi
        n=$((n + 1))
    done
    PATH=${PATH//"$SCRATCH/on-machine:"/} # the block may have put folders before it
    unset HARNESS_ROOT
    [ -z "$WHY" ]
}

# ---- what is only read -----------------------------------------------------------------------------------------------

# The options and subcommands that a command line gives to one of our programs are in its help.
in_help() { # PROGRAM WORD...
    local program=$1 command='' word help
    shift
    for word in "$@"; do [[ $word == -* ]] || { command=$word && break; }; done
    [[ $program == nic-sampler || $program == host-facts ]] && command=''
    # shellcheck disable=SC2086 # none is no word
    help=$("$BUILD/$program" $command --help 2>&1) || { echo "$program has no subcommand $command" && return 1; }
    for word in "$@"; do
        [ "$word" != -- ] || break
        case $word in
        --?*) grep -qwF -- "${word%%=*}" <<<"$help" || { echo "$program $command has no option $word" && return 1; } ;;
        esac
    done
}

# Each simple command of a line: words that name files of the tree exist, our programs take the words.
readable() { # COMMAND FILE
    local line word words program
    bash -n "$1" 2>&1 | grep . && return 1
    while read -r line; do
        read -ra words <<<"${line%%#*}"
        for word in "${words[@]}"; do
            case $word in
            labs/* | ../labs/* | scenarios/* | guest-setup/* | ../guest-setup/* | deps/* | patches/* | docs/* | build/*)
                [ -e "$COPY/${word#../}" ] || [ -e "$word" ] || { echo "there is no $word" && return 1; }
                ;;
            esac
        done
        [ "${words[0]:-}" != sudo ] || words=("${words[@]:1}")
        program=${words[0]:-}
        [ "$program" != make ] || make -C "$COPY" -n "${words[@]:1}" >/dev/null 2>&1 || { echo "make has no ${words[*]:1}" && return 1; }
        program=${program#./} && program=${program#build/}
        [ ! -f "$BUILD/$program" ] || [ -z "$program" ] || in_help "$program" "${words[@]:1}" || return 1
    done < <(sed -E ':a; /\\$/ { N; s/\\\n/ /; ba }; s/(\&\&|\|\||[|;])/\n/g; s/[<>].*//' "$1")
}

read_block() { # BLOCK MARK
    local reason command
    reason=$(sed -E 's/^not run: ([a-z]+): .+$/\1/' <<<"$2")
    reasons | grep -q "^$reason " || { WHY="\"$2\" is not \"not run: REASON: why\", with one of these reasons:
$(reasons)" && return 1; }
    for command in "$1"/*.command; do WHY=$(readable "$command") || return 1; done
}

# ---- the documents ---------------------------------------------------------------------------------------------------

document() { # FILE LEAST-RUN: how many blocks must be run at least
    local file=$1 block mark line ran=0
    check "$file: every block is fenced, marks are above blocks" extract "$ROOT/$file" "$BLOCKS/$file"
    copy_tree
    cd "$COPY" || exit
    for block in "$BLOCKS/$file"/*; do
        mark=$(cat "$block/mark") line=$(cat "$block/line")
        if ! WHY=$(split_block "$block"); then
            nok "$file line $line: commands" "$WHY"
        elif [[ $mark == not* ]]; then
            if read_block "$block" "$mark"; then ok "$file line $line: ${mark%%: *}: ${mark#not run: }"; else nok "$file line $line: what it names is there" "$WHY"; fi
        elif grep -q 'virt-provision devices' "$block/text" && ! unshare --mount true 2>/dev/null; then
            skip "$file line $line: run as written" no-namespaces
        else
            ran=$((ran + 1))
            if run_block "$block" "$mark"; then ok "$file line $line: run as written"; else nok "$file line $line: run as written" "$WHY"; fi
        fi
    done
    cd "$ROOT" || exit
    check "$file: at least $2 blocks are run" test "$ran" -ge "$2"
}

# ---- the index, and how long what a stranger reads first may be

mapfile -t all < <(cd "$ROOT" && find . -name '*.md' -not -path './build*' -not -path './.git/*' -not -path './results/*' | sort)
check "links of all ${#all[@]} documents lead somewhere" links "${all[@]/#./$ROOT}"
cp "$ROOT/docs/scenario.md" "$SCRATCH/scenario.md"
check "... which can fail" test "$(links "$SCRATCH/scenario.md" | grep -c 'there is no lab.md')" -gt 0
check "the index leads to every document, once" diff <(cd "$ROOT/docs" && printf '%s\n' [a-z]*.md) <(grep -oE '\]\([a-z][a-z-]*[.]md\)' "$ROOT/docs/README.md" | tr -d '[]()' | sort)
while read -r file most; do
    check "$file has at most $most words" test "$(wc -w <"$ROOT/$file")" -le "$most"
done <<'END'
README.md 700
docs/tutorial.md 1600
docs/README.md 500
END
all_words() { # of every document, CHANGELOG.md excepted
    (cd "$ROOT" && printf '%s\n' docs/*.md README.md CONTRIBUTING.md */README.md | sort -u | xargs cat | wc -w)
}
WORDS=$(all_words)
check "all documents together, which have $WORDS words, have at most 45000" test "$WORDS" -le 45000

# The documents say that the programs, the labs and the caches are where a first user has them.
export XDG_CACHE_HOME=$SCRATCH/cache HOME=$SCRATCH/home
mkdir -p "$HOME"
unset HARNESS_PACKAGES HARNESS_MIRROR
guard
BEFORE=$PATH
document README.md 2
PATH=$BEFORE
document docs/tutorial.md 11
PATH=$BEFORE
document docs/sweeps.md 3
PATH=$BEFORE
document docs/geforce-lab.md 8
finish
