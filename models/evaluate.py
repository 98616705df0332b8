"""What a model is worth to recall: alone, and added to the ranking that the binary makes without it."""
import json
import os

import numpy as np

REAL = (1, 2, 3, 4)  # LoCoMo's categories that have an answer


def read_jsonl(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


class Bench:
    """memories: id -> text, by bank; queries: (qid, bank, text, evidence); base: qid -> {id: score} of the binary."""

    def __init__(self, name, banks, order, queries, base):
        self.name, self.banks, self.order, self.queries, self.base = name, banks, order, queries, base
        self.dense_base = {}

    @classmethod
    def locomo(cls, folder, run=None):
        banks, order = {}, {}
        for m in read_jsonl(f"{folder}/memories.jsonl"):
            banks.setdefault(m["conv"], []).append((m["id"], m["content"]))
            order.setdefault(m["conv"], []).append(m["session"])
        queries = [(q["qid"], q["conv"], q["question"], set(q["evidence"])) for q in read_jsonl(f"{folder}/queries.jsonl")
                   if q["category"] in REAL and q["evidence"]]
        return cls("locomo", banks, order, queries, read_base(run))

    @classmethod
    def facts(cls, folder, run=None, files=("queries.jsonl",)):
        banks = {}
        for m in read_jsonl(f"{folder}/memories.jsonl"):
            banks.setdefault(m["project"], []).append((m["id"], m["content"]))
        queries = [(q["qid"], q["project"], q["question"], set(q["evidence"])) for f in files for q in read_jsonl(f"{folder}/{f}")]
        return cls("facts", banks, {}, queries, read_base(run))

    def cosines(self, encode, encode_query=None):
        """qid -> (ids, cosines) over its bank."""
        out = {}
        for bank, memories in self.banks.items():
            vectors = encode([text for _, text in memories])
            asked = [q for q in self.queries if q[1] == bank]
            questions = (encode_query or encode)([q[2] for q in asked])
            ids = [i for i, _ in memories]
            for q, row in zip(asked, questions @ vectors.T):
                out[q[0]] = (ids, row, self.order.get(bank))
        return out

    def score(self, ranked):
        total = {"R@1": 0, "R@5": 0, "R@10": 0, "R@20": 0, "MRR": 0, "any@10": 0, "all@10": 0}
        for qid, _, _, gold in self.queries:
            ids = ranked[qid]
            for k in (1, 5, 10, 20):
                total[f"R@{k}"] += len(gold & set(ids[:k])) / len(gold)
            hits = len(gold & set(ids[:10]))
            total["any@10"] += hits > 0
            total["all@10"] += hits == len(gold)
            total["MRR"] += next((1 / n for n, i in enumerate(ids[:10], 1) if i in gold), 0)
        return {k: v / len(self.queries) for k, v in total.items()}

    def dense(self, cosines):
        return self.score({q: [ids[i] for i in np.argsort(-row, kind="stable")[:50]] for q, (ids, row, _) in cosines.items()})

    def fused(self, cosines, weight, smooth=0.0, floor=0.0):
        """The binary's score + weight * cosine above the floor; smooth lends a turn a part of its neighbours' cosine."""
        ranked = {}
        for qid, (ids, row, sessions) in cosines.items():
            if qid not in self.dense_base:
                self.dense_base[qid] = np.array([self.base[qid].get(i, 0.0) for i in ids])
            if smooth and sessions is not None:
                row = neighbours(row, sessions, smooth)
            score = self.dense_base[qid] + weight * np.maximum(row - floor, 0)
            ranked[qid] = [ids[i] for i in np.argsort(-score, kind="stable")[:50]]
        return self.score(ranked)

    def statistics(self, cosines):
        """Cosines of a question with its evidence and with everything else in its bank."""
        near, far, best = [], [], []
        for qid, _, _, gold in self.queries:
            ids, row, _ = cosines[qid]
            hit = np.array([i in gold for i in ids])
            near += list(row[hit])
            far += list(row[~hit])
            best.append(row[~hit].max())
        near, far = np.array(near), np.array(far)
        marks = (1, 5, 10, 25, 50, 75, 90, 95, 99)
        return {"relevant_mean": float(near.mean()), "other_mean": float(far.mean()), "best_other_mean": float(np.mean(best)),
                "marks": marks, "relevant": [round(float(x), 3) for x in np.percentile(near, marks)],
                "other": [round(float(x), 3) for x in np.percentile(far, marks)]}


def neighbours(row, sessions, share):
    out = row.copy()
    for step in (-1, 1):
        other = np.roll(row, step)
        same = np.roll(sessions, step) == np.asarray(sessions)
        same[-1 if step == -1 else 0] = False
        out += share * np.where(same, other, 0)
    return out


def read_base(path):
    return {r["qid"]: dict(r["scores"]) for r in read_jsonl(path)} if path and os.path.exists(path) else {}


WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0)


def best_fusion(bench, cosines, smooths=(0.0,), weights=WEIGHTS):
    """(R@10, weight, smoothing, all figures) of the best weight: it flatters, so compare with equal care."""
    runs = [(f["R@10"] + 0.2 * f["MRR"], w, s, f) for s in smooths for w in weights for f in [bench.fused(cosines, w, s)]]
    return max(runs, key=lambda r: r[0])[1:]
