#!/bin/bash
# The domains of the repository's own labs: libvirt's schema takes them, and the published machine's are as they were published.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../lib.sh"

VP=$BUILD/virt-provision
XML=$SCRATCH/domain.xml
xpath() { xmllint --xpath "$1" "$XML"; }
same() { check "$1" test "$(xpath "$2")" = "$3"; }

for lab in "$ROOT"/labs/*.json; do
    [ "$(jq -r .driver "$lab")" = libvirt ] || continue
    name=$(basename "$lab" .json)
    # ranges written out; NICs of one guest are of its name
    for host in $("$BUILD/harness" lab show "$lab" | jq -r '[.hosts | to_entries[] | select(.value.domain) | .value.machine // .key] | unique[]'); do
        "$VP" --quiet --lab "$lab" xml "$host" > "$XML" 2> "$SCRATCH/err"
        check "$name: the domain of $host is valid by libvirt's schema" virt-xml-validate "$XML" domain
    done
done

# cpus FIRST-LAST,...: one a line
cpus() { for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done; }

# The published guests: domain, NIC, GPU, memory nodes, vCPUs (28 of the isolated CPUs 2-29,34-61, those of the guest's nodes).
while read -r host domain nic gpu nodes vcpus; do
    "$VP" --quiet --lab "$ROOT/labs/geforce-pair.json" xml "$host" > "$XML"
    same "$domain: its name" 'string(/domain/name)' "$domain"
    same "... 28 virtual CPUs" 'string(/domain/vcpu)' 28
    check "the virtual CPUs are pinned to one CPU each, in order" test \
        "$(xpath '/domain/cputune/vcpupin/@cpuset' | tr -dc '0-9\n' | paste -sd,)" = "$(cpus "$vcpus" | paste -sd,)"
    check "the pinned CPUs are 28, and all are isolated" test "$(cpus "$vcpus" | awk '($1 >= 2 && $1 <= 29) || ($1 >= 34 && $1 <= 61)' | sort -u | wc -l)" = 28
    same "... 32 GiB" 'string(/domain/memory)' $((32 << 20))
    same "... in pages of 1 GiB" 'string(/domain/memoryBacking/hugepages/page/@size)' $((1 << 20))
    same "... strictly from its nodes" 'concat(/domain/numatune/memory/@mode, " ", /domain/numatune/memory/@nodeset)' "strict $nodes"
    same "... three functions passed through" 'count(//hostdev)' 3
    same "... the NIC's port" "count(//hostdev/source/address[@bus='0x$nic' and @slot='0x00' and @function='0x0'])" 1
    same "... and both functions of the GPU" "count(//hostdev/source/address[@bus='0x$gpu' and (@function='0x0' or @function='0x1')])" 2
done << 'END'
a vm00 41 06 0,2 2-7,16-23,34-39,48-55
b vm01 61 21 1,3 8-15,24-29,40-47,56-61
END
finish
