"""What the scripts here share: reading jsonl, retrieval metrics, tables. stdlib only."""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
FACTS = os.path.join(HERE, "facts")


def read_jsonl(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def write_jsonl(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        for r in rows:
            f.write(json.dumps(r, ensure_ascii=False) + "\n")


def facts_queries(which):
    """which: first (the 300), held (never tuned on) or all."""
    rows = [] if which == "held" else read_jsonl(f"{FACTS}/queries.jsonl")
    if which in ("held", "all"):
        rows += read_jsonl(f"{FACTS}/queries_held.jsonl")
    return rows


def one(evidence, ranked):
    """R@k is the share of the evidence in the first k; any@k and all@k are 0 or 1."""
    gold = set(evidence)
    out = {f"R@{k}": len(gold & set(ranked[:k])) / len(gold) for k in (1, 5, 10, 30, 50)}
    out["MRR@10"] = next((1 / (i + 1) for i, d in enumerate(ranked[:10]) if d in gold), 0.0)
    for k in (10, 20, 30, 50):
        out[f"any@{k}"] = float(bool(gold & set(ranked[:k])))
        out[f"all@{k}"] = float(gold <= set(ranked[:k]))
    return out


def mean(rows):
    return {k: round(sum(r[k] for r in rows) / len(rows), 4) for k in rows[0]} if rows else {}


def grouped(queries, runs, keys):
    """queries with "evidence"; runs: qid -> ranked ids (a missing one counts as empty). keys: fields to group by."""
    per = [(q, one(q["evidence"], runs.get(q["qid"], []))) for q in queries]
    out = {"n": len(per), "overall": mean([m for _, m in per])}
    for key in keys:
        out["by_" + key] = {str(v): {"n": sum(q[key] == v for q, _ in per), **mean([m for q, m in per if q[key] == v])}
                            for v in sorted({q[key] for q in queries}, key=str)}
    return out


def table(title, result):
    cols = ["R@1", "R@5", "R@10", "MRR@10", "any@10", "all@10"]
    lines = [title, f"{'':<22}{'n':>6}" + "".join(f"{c:>9}" for c in cols)]
    rows = [("overall", {"n": result["n"], **result["overall"]})]
    for key, groups in result.items():
        if key.startswith("by_"):
            rows += [(f"{key[3:]} {name}", m) for name, m in groups.items()]
    for name, m in rows:
        lines.append(f"{name:<22}{m['n']:>6}" + "".join(f"{m.get(c, 0):>9.3f}" for c in cols))
    return "\n".join(lines)


def percentiles(ms):
    ms = sorted(x for x in ms if x is not None)
    if not ms:
        return None
    return {"n": len(ms), "p50": round(ms[len(ms) // 2], 3), "p95": round(ms[min(len(ms) - 1, int(len(ms) * .95))], 3), "max": round(ms[-1], 3)}


def auc(positive, negative):
    """Chance that a positive score is above a negative one; ties count half."""
    if not positive or not negative:
        return None
    marked = sorted([(s, 1) for s in positive] + [(s, 0) for s in negative])
    total, i = 0.0, 0
    while i < len(marked):
        j = i
        while j < len(marked) and marked[j][0] == marked[i][0]:
            j += 1
        total += sum(m for _, m in marked[i:j]) * (i + 1 + j) / 2
        i = j
    return round((total - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative)), 4)
