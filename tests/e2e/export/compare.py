"""Compare an export with the results that it was made from: compare.py DATABASE CSV-FOLDER RESULT...  Prints what differs."""
import collections
import csv
import json
import os
import sqlite3
import sys

database, folder, results = sys.argv[1], sys.argv[2], sys.argv[3:]
db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
csv.field_size_limit(1 << 24)
wrong = []


def check(what, holds, detail=""):
    if not holds:
        wrong.append(f"{what}: {detail}")


def read_csv(table):
    with open(f"{folder}/{table}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    return None if text == "" else int(text) if text.lstrip("-").isdigit() else float(text)


def shown(text):
    """What a text of the database is in CSV."""
    text = "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in text)
    return "'" + text if text[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20") else text


def runs():
    for result in results:
        for cell in sorted(os.listdir(result)) if os.path.exists(f"{result}/index.json") else [None]:
            path = f"{result}/{cell}" if cell else result
            if os.path.exists(f"{path}/result.json"):
                yield result, cell, path


# ---- every table of one is that of the other, with the same columns
tables = [name for (name,) in db.execute("SELECT DISTINCT table_name FROM columns")]
check("number of tables", len(tables) == 23, tables)
for table in tables:
    rows = db.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in rows.description]
    described = [name for (name,) in db.execute("SELECT column_name FROM columns WHERE table_name = ?", (table,))]
    check(f"columns of {table}", names == described, (names, described))
    rows, lines = rows.fetchall(), read_csv(table)
    check(f"rows of {table}", len(rows) == len(lines), (len(rows), len(lines)))
    if table == "samples":
        rows.sort()
        lines.sort(key=lambda r: (int(r["run"]), r["host"], r["counter"], int(r["time_ns"]), int(r["value"])))
    for row, line in zip(rows, lines):
        check(f"header of {table}.csv", list(line) == names, list(line))
        for name, value in zip(names, row):
            same = line[name] == "" if value is None else line[name] == shown(value) if isinstance(value, str) else number(line[name]) == value
            check(f"{table}.{name}", same, (value, line[name]))
            if isinstance(value, int):
                check(f"{table}.{name} is whole", line[name] == str(value) or line[name] == f"{value}", line[name])

# ---- the database has what the results have
number_of = constants = 0
for result, cell, path in runs():
    number_of += 1
    run = number_of
    document = json.load(open(f"{path}/result.json"))
    row = db.execute("SELECT result, folder, scenario, lab, verdict, seed, repeat, complete, started, measure_start_ns, measure_end_ns, goodput_bps FROM runs WHERE run = ?", (run,)).fetchone()
    measure = next(p for p in document["phases"] if p["name"] == "measure")
    check("run", row and row[:11] == (result, cell, document["scenario"]["name"], document["lab"]["name"], document["verdict"], document["seed"],
          document["repeat"], int(document["complete"]), document["started"], measure["start_ns"], measure["end_ns"]), row)
    check("choices", dict(db.execute("SELECT path, value FROM choices WHERE run = ?", (run,))) == document["cell"], document["cell"])

    samples, columns = collections.defaultdict(list), {}
    for line in open(f"{path}/samples.jsonl", encoding="utf-8"):
        line = json.loads(line)
        if isinstance(line, list):
            for column, value in zip(columns[line[0]], line[3:]):
                if value is not None:
                    samples[line[0], column["name"]].append((line[1], value))
        elif line["type"] == "header":
            columns[line["host"]] = line["columns"]
    exported = collections.defaultdict(list)
    for host, counter, time_ns, value in db.execute("SELECT host, counter, time_ns, value FROM samples WHERE run = ?", (run,)):
        check("a sample is whole", isinstance(time_ns, int) and isinstance(value, int), (time_ns, value))
        exported[host, counter].append((time_ns, value))
    check("samples of which counters", set(samples) == set(exported), set(samples) ^ set(exported))
    for key, values in samples.items():
        constant = len({value for _, value in values}) == 1
        check(f"what series says of {key}", db.execute("SELECT samples, constant FROM series WHERE run = ? AND host = ? AND counter = ?", (run, *key)).fetchall() == [(len(values), int(constant))], len(values))
        if constant and len(values) > 2: # the first and the last of them
            values, exported[key] = [values[0], values[-1]], sorted(exported[key])
            constants += 1
        check(f"samples of {key}: each, their count and their sum", values == exported[key] and sum(v for _, v in values) == sum(v for _, v in exported[key]), len(values))
    for host, of in columns.items():
        for c in of:
            check("series", db.execute("SELECT unit, kind, source, counter_group FROM series WHERE run = ? AND host = ? AND counter = ?",
                  (run, host, c["name"])).fetchall() == [(c["unit"], c["kind"], c["source"], c["group"])], c)

    counters = 0
    for host, of in document["hosts"].items():
        for name, c in of.get("counters", {}).items():
            counters += 1
            row = db.execute("SELECT unit, kind, delta, rate_per_s, first_value, last_value, total, duration_ns, min, mean, max FROM counters WHERE run = ? AND host = ? AND counter = ?",
                             (run, host, name)).fetchall()
            check("counter", row == [tuple(c.get(k) for k in ("unit", "kind", "delta", "rate_per_s", "first", "last", "total", "duration_ns", "min", "mean", "max"))], (row, c))
    check("counters", db.execute("SELECT count(*) FROM counters WHERE run = ?", (run,)).fetchone()[0] == counters and counters, counters)

    for name, flow in document["flows"].items():
        row = db.execute("SELECT from_host, to_host, bytes, messages, duration_ns, goodput_bps, latency_p99_ns, completion_max_ns FROM flows WHERE run = ? AND flow = ?", (run, name)).fetchall()
        check("flow", row == [(flow.get("from"), flow.get("to"), flow["bytes"], flow["messages"], flow["duration_ns"], flow["goodput_bps"],
              flow.get("latency_ns", {}).get("p99"), flow.get("completion_ns", {}).get("max"))], (row, flow))
    lines = [json.loads(line) for line in open(f"{path}/flows.jsonl")]
    wanted = [(l["flow"], l["time_ns"], l["duration_ns"], l["bytes"], l["messages"]) for l in lines if l["type"] == "interval"]
    check("intervals", wanted and wanted == db.execute("SELECT flow, time_ns, duration_ns, bytes, messages FROM intervals WHERE run = ? ORDER BY rowid", (run,)).fetchall(), len(wanted))
    pauses = [(*(p + [False])[:4], int(len(p) > 4)) for p in map(json.loads, open(f"{path}/pauses.jsonl"))] if os.path.exists(f"{path}/pauses.jsonl") else []
    check("pauses", pauses == db.execute("SELECT host, priority, start_ns, duration_ns, lasts FROM pauses WHERE run = ? ORDER BY rowid", (run,)).fetchall(), len(pauses))
    wanted = [(x["name"], x["check"], x["verdict"], x.get("left"), x.get("right"), x.get("reason")) for x in document["expectations"] + document.get("verify", [])]
    check("expectations", wanted == db.execute("SELECT name, rule, verdict, left_side, right_side, reason FROM expectations WHERE run = ? ORDER BY rowid", (run,)).fetchall(), wanted)
    wanted = [(x["name"], x["published"], x.get("value")) for x in document["published"]]
    check("published", wanted == db.execute("SELECT name, published, value FROM published WHERE run = ? ORDER BY rowid", (run,)).fetchall(), wanted)
    settings = json.load(open(f"{path}/settings.json"))
    for host, of in settings.items():
        check("settings", db.execute("SELECT value FROM settings WHERE run = ? AND host = ? AND kind = 'wanted' AND path = 'mtu'", (run, host)).fetchall() ==
              ([(of["wanted"]["mtu"],)] if "mtu" in of["wanted"] else []), of["wanted"])
    check("scenario", db.execute("SELECT value FROM scenario WHERE run = ? AND path = 'name'", (run,)).fetchall() == [(document["scenario"]["name"],)], "")
check("runs", db.execute("SELECT count(*) FROM runs").fetchone()[0] == number_of and number_of, number_of)
check("there are counters that never change", constants)
check("whole", db.execute("PRAGMA integrity_check").fetchone() == ("ok",), "")
print("\n".join(wrong[:20]))
print(f"{number_of} runs compared, {db.execute('SELECT count(*) FROM samples').fetchone()[0]} samples")
sys.exit(bool(wrong))
