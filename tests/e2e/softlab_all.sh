#!/bin/bash
# Every softlab_*.sh part, one after another on the same guests: namespaces, libvirtd and guests are made once. One TAP stream.
# softlab_all.sh [PART...] runs the named parts only (softlab_all.sh softlab_sampler.sh); softlab_all.sh guests runs those about
# guests and runs that are upset, softlab_all.sh programs the others: two labs beside each other, for much of it is waiting.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/softlab.sh
. "$here/softlab.sh"
softlab_require "$here/softlab_all.sh" "$@"
export SOFTLAB_DIR SOFTLAB_SHARED=1

guests=("$here"/softlab_{ssh,faults,interrupts,virt,session,remote}.sh)
case ${1:-} in
'') set -- "$here"/softlab_*.sh ;;
guests) set -- "${guests[@]}" ;;
programs)
    set --
    for part in "$here"/softlab_*.sh; do
        case " ${guests[*]} " in *" $part "*) ;; *) set -- "$@" "$part" ;; esac
    done
    ;;
esac
count=0
failed=0
for part in "$@"; do
    name=$(basename "$part" .sh)
    [ "$name" != softlab_all ] || continue
    started=$SECONDS
    output=$SOFTLAB_DIR/$name.tap
    timeout 600 bash "$here/$name.sh" > "$output" 2> >(sed "s/^/# $name: /" >&2)
    status=$?
    # the part's lines under one numbering
    while IFS= read -r line; do
        case $line in
        "ok "* | "not ok "*)
            count=$((count + 1))
            case $line in "not ok "*) failed=$((failed + 1)) ;; esac
            rest=$(sed -E 's/^(not )?ok [0-9]+( - )?//' <<< "$line")
            echo "${line%%ok *}ok $count - ${name#softlab_}: $rest"
            ;;
        "#"*) echo "$line" ;;
        esac
    done < "$output"
    if [ $status -ne 0 ] && ! grep -q '^not ok' "$output"; then
        count=$((count + 1))
        failed=$((failed + 1))
        echo "not ok $count - ${name#softlab_}: ended with status $status before its plan was done"
    fi
    echo "# $name took $((SECONDS - started)) s"
done
echo "1..$count"
[ $failed -eq 0 ]
