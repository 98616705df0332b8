#!/usr/bin/python3
"""The plain baseline beside Strongroom: SQLite FTS5 (porter unicode61), any of the words, stop words dropped, bm25 order.
usage: baselines.py [facts] [unique] [locomo --data DIR] [--set first|held|all] [--out FILE.json]; without a name: all there is data for.
The LoCoMo figures need the path of a folder with memories.jsonl and queries.jsonl; nothing of it is kept here."""
import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

from metrics import FACTS, facts_queries, grouped, percentiles, read_jsonl, table, write_jsonl
from unique_tokens import generate

STOP = set("""a about above after again all also am an and any are as at be because been before being between both but by can could did do does doing
done down during each few for from further get got had has have having he her here hers him his how i if in into is it its just may me might more most
must my no nor not now of off on once one only or other our out over own same shall she should so some such than that the their them then there these
they this those through to too under until up us very was we were what when where which while who whom whose why will with would you your""".split())


class Fts:
    def __init__(self, rows):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create virtual table t using fts5(id unindexed, body, tokenize='porter unicode61')")
        self.db.executemany("insert into t values (?, ?)", rows)

    def ask(self, text, limit=50):
        words = list(dict.fromkeys(re.findall(r"\w+", text.lower())))
        words = [w for w in words if w not in STOP] or words
        if not words:
            return []
        match = " OR ".join('"' + w + '"' for w in words)
        return [r[0] for r in self.db.execute("select id from t where t match ? order by bm25(t), rowid limit ?", (match, limit))]


def answer(indexes, queries, key, limit=50):
    runs, ms = {}, []
    for q in queries:
        t = time.perf_counter()
        runs[q["qid"]] = indexes[q[key]].ask(q["question"], limit)
        ms.append((time.perf_counter() - t) * 1000)
    return runs, ms


def build(rows, key, text="content"):
    groups = {}
    for r in rows:
        groups.setdefault(r[key], []).append((r["id"], r[text]))
    return {k: Fts(v) for k, v in groups.items()}


def facts(which):
    queries = facts_queries(which)
    runs, ms = answer(build(read_jsonl(f"{FACTS}/memories.jsonl"), "project"), queries, "project")
    result = grouped(queries, runs, ["kind", "style", "project"])
    result["ms"] = percentiles(ms)
    print(table(f"facts ({which}), FTS5 baseline", result))
    return result


def unique():
    memories, queries = generate()
    index = Fts([(m["id"], m["content"]) for m in memories])
    runs, ms = answer({"": index}, [dict(q, bank="") for q in queries], "bank")
    result = grouped(queries, runs, ["kind", "form"])
    result["ms"] = percentiles(ms)
    print(table(f"unique tokens, 100 of {len(memories)}, FTS5 baseline", result))
    return result


def locomo(data, score_py):
    queries = [q for q in read_jsonl(f"{data}/queries.jsonl") if q["evidence"]]
    runs, ms = answer(build(read_jsonl(f"{data}/memories.jsonl"), "conv"), queries, "conv")
    real = [q for q in queries if q["category"] in (1, 2, 3, 4)]
    result = grouped(real, runs, ["category"])
    result["ms"] = percentiles(ms)
    print(table("LoCoMo, categories 1-4, FTS5 baseline", result))
    if score_py:
        with tempfile.TemporaryDirectory() as tmp:
            run = f"{tmp}/fts5.jsonl"
            write_jsonl(run, [{"qid": q["qid"], "ranked": runs[q["qid"]], "ms": t} for q, t in zip(queries, ms)])
            subprocess.run([sys.executable, score_py, run, "--data", data, "--out", f"{tmp}/out.json"], check=True)
            result["score_py"] = json.load(open(f"{tmp}/out.json"))
            result["score_py"].pop("run", None)
    return result


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", nargs="*", help="facts, unique, locomo")
    ap.add_argument("--data", help="folder with LoCoMo's memories.jsonl and queries.jsonl")
    ap.add_argument("--score-py")
    ap.add_argument("--set", default="first", choices=["first", "held", "all"])
    ap.add_argument("--out")
    a = ap.parse_args()
    unknown = set(a.what) - {"facts", "unique", "locomo"}
    if unknown:
        ap.error(f"unknown: {', '.join(sorted(unknown))}")
    what = a.what or ["facts", "unique"] + (["locomo"] if a.data else [])
    if "locomo" in what and not a.data:
        ap.error("locomo needs --data DIR")
    out = {}
    if "facts" in what:
        out["facts"] = facts(a.set)
    if "unique" in what:
        out["unique"] = unique()
    if "locomo" in what:
        out["locomo"] = locomo(a.data, a.score_py)
    if a.out:
        with open(a.out, "w") as f:
            json.dump({"system": "SQLite FTS5 " + sqlite3.sqlite_version + ", porter unicode61, OR, stop words dropped", "results": out}, f, indent=1)


if __name__ == "__main__":
    main()
