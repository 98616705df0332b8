#!/usr/bin/env python3
"""Puts the figures of a report into docs/comparison.md, between its marks.

    tables.py bench/results/peers.json [--precision bench/results/precision.json] [--into docs/comparison.md]
"""
import argparse
import json
import re

NAMES = {"ours": "Strongroom", "ours-texts": "Strongroom, texts alone", "ours-wide": "Strongroom, 50 results, `min_score` 0",
         "fts5": "SQLite FTS5", "compartment": "Compartment", "compartment-adaptive": "Compartment, its own number of results",
         "citadel": "Citadel", "mem0": "mem0", "lancedb": "LanceDB", "chroma": "Chroma"}
FORMS = {"contract": "text and user alone", "scoped": "and the scope, as a tag",
         "informed": "and what is replaced or resolved, invalidated"}


def number(value, digits=3):
    if value is None:
        return "-"
    if isinstance(value, float):
        text = f"{value:.{digits}f}"
        return text[1:] if text.startswith("0.") else text
    return str(value)


def ms(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def grid(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    out += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(out)


def locomo(rows):
    found = rows.get("locomo")
    if not found:
        return "Not measured in this run."
    head = ["", "n", "R@1", "R@5", "R@10", "MRR@10", "any@10", "all@10", "p50 ms", "p95 ms", "CPU ms", "results", "load s"]
    body, kinds = [], []
    for name, f in found.items():
        if "quality" not in f:
            continue
        q = f["quality"]
        body.append([NAMES[name], f["n"], *(number(q[k]) for k in ("R@1", "R@5", "R@10", "MRR@10", "any@10", "all@10")),
                     ms(f["ms"]["p50"]), ms(f["ms"]["p95"]), ms(f.get("cpu_ms")), f["results"], ms(f["load_seconds"])])
        by = f["by_category"]
        kinds.append([NAMES[name], *(number(by.get(c, {}).get("R@10")) for c in "1234")])
    n = next(iter(found.values()))["by_category"]
    return (grid(head, body) + "\n\nR@10 by category:\n\n" +
            grid(["", *(f"{c} ({w}, {n.get(k, {}).get('n', 0)})" for k, c, w in (
                ("1", "1", "several turns"), ("2", "2", "time"), ("3", "3", "open"), ("4", "4", "one turn")))], kinds))


def scale(rows):
    out = []
    for row, found in rows.items():
        if not row.startswith("scale-"):
            continue
        size = row.split("-")[1]
        loads = rows.get("load-" + size, {})
        body = []
        for name, f in found.items():
            load = loads.get(name, {})
            rate = load.get("per_second")
            stop = f" (stopped: {load['stopped']})" if load.get("stopped") else ""
            body.append([NAMES[name], f"{f.get('texts', 0):,}{stop}", f"{rate:,.0f}" if rate else "-", ms(f["cold_ms"]),
                         ms(f["ms"]["p50"]), ms(f["ms"]["p99"]), ms(f.get("cpu_ms")), f["ms"]["n"], number(f["found_in_10"]), f["rss_mb"],
                         f["anonymous_mb"], f["disk_mb"]])
        for name, load in loads.items():
            if name not in found:
                body.append([NAMES[name], f"{load['texts'] + load['first']:,} ({load['stopped']})", f"{load['per_second']:,.0f}",
                             *["-"] * 9])
        out.append(f"**{int(size):,} texts**\n\n" + grid(
            ["", "texts", "loaded a second", "cold ms", "p50 ms", "p99 ms", "CPU ms", "questions", "its text in 10", "RSS MB",
             "of it anonymous", "disk MB"], body))
    return "\n\n".join(out) or "Not measured in this run."


def tokens(rows):
    out = []
    for row, found in rows.items():
        if row.startswith("tokens-"):
            out.append(grid(["", "asked", "token alone @1", "@5", "in a sentence @1", "@5"], [
                [NAMES[n], f["asked"], *(number(f.get(k)) for k in ("token @1", "token @5", "sentence @1", "sentence @5"))]
                for n, f in found.items()]))
    return "\n\n".join(out) or "Not measured in this run."


def pairs(rows):
    out = []
    for row, found in rows.items():
        if row.startswith("pairs-"):
            out.append(grid(["", "pairs", "store", "recall after", "both, p50 / p99", "forget", "recall after", "both, p50 / p99",
                             "seen", "gone"], [
                [NAMES[n], f["pairs"], ms(f["store"]["p50"]), ms(f["after_store"]["p50"]),
                 f"{ms(f['store_and_recall']['p50'])} / {ms(f['store_and_recall']['p99'])}", ms(f["forget"]["p50"]),
                 ms(f["after_forget"]["p50"]), f"{ms(f['forget_and_recall']['p50'])} / {ms(f['forget_and_recall']['p99'])}",
                 number(f["seen"]), number(f["gone"])] for n, f in found.items()]))
    return "\n\n".join(out) or "Not measured in this run."


def small(rows):
    out = []
    for row, found in rows.items():
        if row.startswith("small-"):
            out.append(f"Beside {int(row.split('-')[1]):,} texts:\n\n" + grid(
                ["", "its text first, alone", "beside the big one", "first ten kept", "results", "p50 ms"], [
                    [NAMES[n], number(f["gold_at_1_alone"]), number(f["gold_at_1"]), number(f["kept_of_alone"]), f["results"],
                     ms(f["ms"]["p50"])] for n, f in found.items()]))
    return "\n\n".join(out) or "Not measured in this run."


def writes(rows):
    found = rows.get("writes")
    if not found:
        return "Not measured in this run."
    return grid(["", "a store", "on disk before the answer"], [
        [NAMES[n], ", ".join(f"{v:g} {k}" for k, v in f["a_store"].items()) or "nothing is synced",
         "yes" if f["durable"] else "**no**"] for n, f in found.items()])


def machine(report):
    m, v = report["machine"], report["versions"]
    peers = ", ".join(f"{k} {x}" for k, x in v.items() if x)
    seconds = report["seconds"]
    return (f"Measured {report['date'][:10]} with {report['ours']}{' (' + report['label'] + ')' if report['label'] else ''}; "
            f"{m['cpus']} processors ({m['cpu']}), {m['memory_gb']} GB, Linux {m['kernel']}; one-minute load "
            f"{m['load_before'][0]:.1f} before and {m['load_after'][0]:.1f} after, {seconds // 60} minutes. "
            f"Python {report['python']}; {peers}.")


def problems(report):
    if not report["problems"]:
        return "Nothing failed in this run."
    return "\n".join(f"- {NAMES.get(p['system'], p['system'])}, {p['row']}: {p['why']}" for p in report["problems"])


def precision(report):
    rows = []
    for form, f in report["forms"].items():
        kinds = f["pass_types"] or {}
        rows.append([FORMS[form], f"{f['passed']} of {f['cases']}", kinds.get("activeRetrieval", "-"), number(f["mean_precision"], 2),
                     number(f["mean_recall"], 2), len(f["superseded_shown"]), len(f["other_user_shown"]),
                     f"{f['session_passed']} of {f['session_turns']}"])
    return (f"Measured {report['date'][:10]} with {report['ours']}; harness at {(report['harness_commit'] or 'unknown')[:12]}.\n\n" +
            grid(["what Strongroom is told", "passed", "by finding", "precision", "recall", "replaced shown", "another user's shown",
                  "session turns"], rows))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("report")
    ap.add_argument("--precision")
    ap.add_argument("--into", help="a file with marks; else everything is printed")
    o = ap.parse_args()
    with open(o.report, encoding="utf-8") as f:
        report = json.load(f)
    parts = {name: make(report["rows"]) for name, make in (
        ("locomo", locomo), ("scale", scale), ("tokens", tokens), ("pairs", pairs), ("small", small), ("writes", writes))}
    parts["machine"], parts["problems"] = machine(report), problems(report)
    if o.precision:
        with open(o.precision, encoding="utf-8") as f:
            parts["precision"] = precision(json.load(f))
    if not o.into:
        for name, text in parts.items():
            print(f"## {name}\n\n{text}\n")
        return
    with open(o.into, encoding="utf-8") as f:
        page = f.read()
    for name, text in parts.items():
        marked = f"<!-- {name} -->\n\n{text}\n\n<!-- end -->"
        page, count = re.subn(rf"<!-- {name} -->.*?<!-- end -->", lambda m: marked, page, flags=re.S)
        if count != 1:
            ap.error(f"{o.into} has {count} places for {name}")
    with open(o.into, "w", encoding="utf-8") as f:
        f.write(page)


if __name__ == "__main__":
    main()
