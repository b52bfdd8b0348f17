# shellcheck shell=bash
# Are two sweeps the same? Source after lib.sh, in $SCRATCH. Writes wide.json, a scenario of six cells.
cat > wide.json << 'END'
{ "schema": 1, "name": "wide", "title": "Three depths, two messages", "lab": "LAB", "roles": ["a", "b"],
  "phases": { "warmup": "1ms", "measure": "4ms", "cooldown": "1ms" },
  "flows": [ { "name": "f", "from": "a", "to": "b", "op": "write", "message": "64KiB", "depth": 16 } ],
  "sample": { "every": "1ms", "groups": ["throughput", "pfc"] },
  "sweep": { "flows.*.depth": [2, 4, 8], "flows.*.message": ["16KiB", "64KiB"] },
  "expect": [ { "name": "data moves", "check": "sum(flows.*.bytes) > 0" },
              { "name": "small messages", "when": { "flows.*.message": "64KiB" }, "check": "sum(flows.*.messages) < 0" } ] }
END
sed -i "s|\"LAB\"|\"$ROOT/labs/sim-geforce-pair.json\"|" wide.json

# All files of a sweep without times, and without the time that a run took
content() { # FOLDER
    python3 - "$1" << 'END'
import json, os, re, sys
for folder, folders, names in os.walk(sys.argv[1]):
    if folder == os.path.join(sys.argv[1], "report"):
        continue
    folders.sort()
    for name in sorted(names):
        path = os.path.join(folder, name)
        print("==", os.path.relpath(path, sys.argv[1]))
        text = open(path).read()
        if name.endswith(".json"):
            document = json.loads(text)
            for key in "started", "finished", "working_folder", "files":  # the log's size
                document.pop(key, None)
            document.get("simulator", {}).pop("wall_ns", None)
            text = json.dumps(document, sort_keys=True, indent=1)
        elif name == "run.log":
            text = re.sub(r"(?m)^[-0-9]+T[0-9:]+Z ", "", text)
        print(text)
END
}
undisturbed=
only() { echo "$1"/wide/2*; }
# With the sweep in $undisturbed, of 24 runs
same() { # FOLDER
    content "$undisturbed" > undisturbed.content
    content "$1" > other.content
    diff undisturbed.content other.content > differs && [ "$(grep -c '^== ' other.content)" -ge 98 ]
}
results_in() { find "$1" -path '*/[0-9]*/result.json' ! -path '*/slurm/*' 2> /dev/null | wc -l; }

# What a terminal was sent, line by line, without its cursor's movements.
lines_of() { tr '\r' '\n' < "$1" | sed -E 's/\x1b\[[0-9]*[AJK]//g'; } # TYPESCRIPT
# Runs wide.json on a terminal: `typescript` is what that was sent, `lines` its lines.
watched() { # COLUMNS ROWS ARGUMENT...
    script -qec "stty cols $1 rows $2; '$H' run wide.json --no-report --out watched ${*:3}" /dev/null < /dev/null > typescript 2>&1
    lines_of typescript > lines
}
was_sent() { # PATTERN...
    local pattern
    for pattern; do grep -qE "$pattern" typescript lines || return 1; done
}
# A terminal is drawn ten times a second, and the faster a machine is, the fewer times before a simulated run ends. So watches with a measure phase
# of FROM ms, then with one twice as long, and so on, until the terminal was sent all of $wanted, or the phase is LIMIT ms long. Judges nothing.
wanted=()
watched_until_drawn() { # FROM LIMIT COLUMNS ROWS ARGUMENT...
    local ms
    for ((ms = $1; ms <= $2; ms *= 2)); do
        watched "${@:3}" --set phases.measure=${ms}ms
        ! was_sent "${wanted[@]}" || return
    done
    echo "# the terminal was not sent all of: ${wanted[*]@Q}"
}
# The line of a sweep's progress on a terminal of 80 columns never wraps.
is_one_line() { # RUNS PATTERN ARGUMENT...
    wanted=("^[0-9]+ of $1 runs, [0-9]+ failed, $2")
    watched_until_drawn 4 1024 80 24 "${@:3}"
    was_sent "${wanted[@]}" && ! grep -E "^[0-9]+ of $1" lines | grep -E '.{80}'
}
check_progress() { # RUNS PATTERN ARGUMENT...
    if [ -n "$(command -v script)" ]; then
        check "progress is a line of at most 79 columns" is_one_line "$@"
    else
        skip "progress is a line of at most 79 columns" no-command script
    fi
}
