#!/usr/bin/python3
"""Compiles the hand-written sources (source/*.txt) into memories.jsonl, queries.jsonl, queries_held.jsonl
and off_topic.jsonl.
Nothing is invented here: the script only mixes the order, gives dates and ids, and picks which questions form the first set.

Source format, a line each:
  tags [label] | text            a memory ("+ " in front: a later one on the same matter as the line before)
  ? kind style | question        a question answered by the memory above; style: * paraphrase, ~ typing errors
  ?? kind | labels | question    a question that needs several memories
  == name ... ==                 a document: its memories keep their order and their day
"""
import calendar, datetime as dt, json, os, random, re, sys
HERE = os.path.dirname(os.path.abspath(__file__))
PROJECTS = ["shop", "heron", "wake", "quern", "tansy", "basalt"]
QUOTA = {"multi": 10, "fact": 9, "identifier": 7, "decision": 6, "command": 6, "error": 6, "preference": 6}
MONTHS = {m: i for i, m in enumerate(calendar.month_name) if m}
START, END = dt.datetime(2025, 10, 6, 7), dt.datetime(2026, 4, 10, 17)
FUTURE = re.compile(r"\b(planned|until|ends?|relaunch|target|will|runs until|switched off in|by the|final|expires?)\b", re.I)
DATE = re.compile(r"(?:(\d{1,2}) )?(%s) (20\d\d)" % "|".join(MONTHS))


def parse(path):
    units, queries, cur, doc = [], [], None, None
    for n, raw in enumerate(open(path, encoding="utf-8"), 1):
        line = raw.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line.startswith("=="):
            name = line[2:].strip()
            if name:
                doc = {"doc": name, "mems": []}
                units.append(doc)
            else:
                doc = None
            continue
        if line.startswith("?"):
            parts = [p.strip() for p in line.lstrip("?").split(" | ")]
            head = parts[0].split()
            style = {"*": "paraphrase", "~": "typo"}.get(head[1] if len(head) > 1 else "", "plain")
            q = {"kind": head[0], "style": style, "question": parts[-1], "line": n}
            if line.startswith("??"):
                q["labels"] = parts[1].split()
            else:
                q["mem"] = cur
            queries.append(q)
            continue
        later = line.startswith("+ ")
        head, text = (line[2:] if later else line).split(" | ", 1)
        m = re.match(r"(\S+)(?: \[(\w+)\])?$", head.strip())
        if not m:
            sys.exit(f"{path}:{n}: cannot read {head!r}")
        cur = {"tags": m[1].split(","), "label": m[2], "content": text.strip(), "line": n}
        if doc:
            doc["mems"].append(cur)
        elif later:
            units[-1]["mems"].append(cur)
        else:
            units.append({"doc": None, "mems": [cur]})
    return units, queries


def mentioned(text):
    """The latest date a text speaks of as past, with the room a month leaves."""
    best = None
    if FUTURE.search(text):
        return None
    for d, m, y in DATE.findall(text):
        y, m = int(y), MONTHS[m]
        day = dt.datetime(y, m, int(d) if d else 3, 8)
        room = 2 if d else 24
        if START <= day <= END and (best is None or day > best[0]):
            best = (day, room)
    return best


def moment(rng, text):
    m = mentioned(text)
    if m:
        t = m[0] + dt.timedelta(days=rng.uniform(0, m[1]))
    else:
        t = START + (END - START) * rng.random()
    t = min(t, END)
    return t.replace(hour=rng.randint(7, 17), minute=rng.randint(0, 59), second=0, microsecond=0)


def main():
    memories, first, held = [], [], []
    for p in PROJECTS:
        units, queries = parse(f"{HERE}/source/{p}.txt")
        rng = random.Random(f"strongroom facts {p}")
        placed = []
        for u in units:
            times = sorted(moment(rng, m["content"]) for m in u["mems"])
            if u["doc"]:
                dated = [mentioned(m["content"]) for m in u["mems"]]
                base = times[-1] if any(dated) else times[0]
                times = [base + dt.timedelta(minutes=2 * i) for i in range(len(u["mems"]))]
            for i, (t, m) in enumerate(zip(times, u["mems"])):
                m["date"], m["document"] = t, u["doc"]
                placed.append((times[0] if u["doc"] else t, u["doc"] or "", i, m))
        placed.sort(key=lambda x: x[:2] + ((x[2],) if x[1] else (x[3]["line"],)))
        labels = {}
        for i, (_, _, _, m) in enumerate(placed, 1):
            m["id"] = f"{p}/{i:04d}"
            if m["label"]:
                if m["label"] in labels:
                    sys.exit(f"{p}: label {m['label']} twice")
                labels[m["label"]] = m["id"]
            row = {"id": m["id"], "project": p, "content": m["content"], "date": m["date"].strftime("%Y-%m-%dT%H:%M:%SZ"), "tags": m["tags"]}
            if m["document"]:
                row["document"] = m["document"]
            memories.append(row)
        for q in queries:
            q["evidence"] = [q["mem"]["id"]] if "mem" in q else [labels[x] for x in q["labels"]]
            if q["kind"] == "identifier" and len(q["question"].split()) <= 3:
                q["style"] = "token"
        chosen = []
        for kind, n in QUOTA.items():
            pool = [q for q in queries if q["kind"] == kind]
            rng.shuffle(pool)
            good = [q for q in pool if len(q["question"].split()) >= 5 or kind in ("identifier", "error", "multi")] or pool
            typo = [q for q in good if q["style"] == "typo"]
            para = [q for q in good if q["style"] == "paraphrase"]
            rest = [q for q in good if q["style"] in ("plain", "token")]
            want = -(-(n + 1) // 2) if kind not in ("multi", "identifier") else min(len(para), 1)
            take = typo[:1] if kind == "fact" else typo[:2]
            take += para[:want]
            take = (take + rest + para[want:])[:n]
            if len(take) < n:
                take += [q for q in pool if q not in take][:n - len(take)]
            if len(take) < n:
                sys.exit(f"{p}: only {len(take)} questions of kind {kind}")
            chosen += take
        picked = {id(q) for q in chosen}
        for target, name, prefix in ((first, True, "q"), (held, False, "h")):
            rows = [q for q in queries if (id(q) in picked) == name]
            for i, q in enumerate(rows, 1):
                target.append({"qid": f"{p}_{prefix}{i:02d}" if name else f"{p}_{prefix}{i:03d}", "project": p, "kind": q["kind"], "style": q["style"],
                               "question": q["question"], "evidence": q["evidence"]})
    for name, rows in (("memories", memories), ("queries", first), ("queries_held", held)):
        with open(f"{HERE}/{name}.jsonl", "w", encoding="utf-8") as f:
            for r in rows:
                f.write(json.dumps(r, ensure_ascii=False) + "\n")
    off = [l.strip() for l in open(f"{HERE}/source/off_topic.txt", encoding="utf-8") if l.strip()]
    with open(f"{HERE}/off_topic.jsonl", "w", encoding="utf-8") as f:
        for i, q in enumerate(off, 1):
            f.write(json.dumps({"qid": f"off_{i:02d}", "question": q}, ensure_ascii=False) + "\n")
    ids = {m["id"] for m in memories}
    assert len(ids) == len(memories) == len({m["content"] for m in memories})
    assert all(e in ids for q in first + held for e in q["evidence"])
    assert len({q["qid"] for q in first + held}) == len(first + held)
    print(f"{len(memories)} memories ({sum('document' in m for m in memories)} in documents), {len(first)} questions, {len(held)} held back")


if __name__ == "__main__":
    main()
