#!/usr/bin/env python3
"""The table of candidates in README.md: figures alone and added to the binary's ranking.

  compare.py --work DIR --base DIR [--locomo DIR] [--sts DIR] [--teachers] [blob ...]

--work is distil.py's folder, --base the output of base_scores.py, --sts a folder
of .tsv files with lines "score TAB sentence TAB sentence"."""
import argparse
import glob
import json
import os
import struct

import numpy as np
from tokenizers import Tokenizer

import distil
import vocabulary
from evaluate import Bench, best_fusion
from fit import sif
from static_model import StaticModel
from teacher import vocabulary as tokens_of

FACTS = os.path.join(distil.HERE, "..", "bench", "recall_eval", "facts")


class WordLlama:
    """The published static model, as its package uses it: the mean of the tokens' vectors."""

    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(f"{folder}/wordllama/tokenizers/l2_supercat_tokenizer_config.json")
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        with open(f"{folder}/wordllama/weights/l2_supercat_256.safetensors", "rb") as f:
            (size,) = struct.unpack("<Q", f.read(8))
            about = next(v for k, v in json.loads(f.read(size)).items() if k != "__metadata__")
            kind = {"F16": np.float16, "F32": np.float32}[about["dtype"]]
            self.table = np.frombuffer(f.read(), kind).reshape(about["shape"]).astype(np.float32)

    def encode(self, texts):
        out = np.array([self.table[e.ids].sum(0) for e in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)])
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


def plain(work, name, dims=256):
    """model2vec's own way: BERT's vocabulary, one teacher, the principal components of the tokens, SIF weights."""
    bert = tokens_of(f"{work}/all-minilm-l6-v2/all-minilm-l6-v2-tokenizer.json")
    have = {t: i for i, t in enumerate(distil_tokens(work, bert))}
    tokens = [t for t in bert if t in have]
    x = np.load(f"{work}/tokens-{name}.npy").astype(np.float32)[[have[t] for t in tokens]]
    x = x - x.mean(0)
    _, axes = np.linalg.eigh(x.T @ x)
    vectors = x @ axes[:, ::-1][:, :dims] * sif(len(tokens))[:, None]
    vectors[[i for i, t in enumerate(tokens) if t in vocabulary.SPECIAL]] = 0
    return StaticModel.from_vectors(tokens, vectors)


def distil_tokens(work, bert):
    """The rows of tokens-*.npy begin with what is kept of BERT's vocabulary."""
    return [t for t in bert if vocabulary.useful(t)]


def spearman(x, y):
    ranks = []
    for values in (np.asarray(x, float), np.asarray(y, float)):
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        ranks.append((ends - (counts - 1) / 2)[inverse])
    return float(np.corrcoef(*ranks)[0, 1])


def sts(folder, encode):
    """The mean over the files of Spearman's correlation with the judges."""
    found = []
    for path in sorted(glob.glob(f"{folder}/*.tsv")):
        with open(path, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t")[:3] for line in f]
        a, b = encode([r[1] for r in rows]), encode([r[2] for r in rows])
        found.append(spearman([float(r[0]) for r in rows], (a * b).sum(1)))
    return float(np.mean(found))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--work", required=True)
    ap.add_argument("--base", required=True)
    ap.add_argument("--locomo")
    ap.add_argument("--sts")
    ap.add_argument("--teachers", action="store_true", help="also the teachers themselves, which is slow")
    ap.add_argument("--statistics", action="store_true", help="also the cosines of relevant and of other memories")
    ap.add_argument("blobs", nargs="*")
    a = ap.parse_args()
    benches = [Bench.locomo(a.locomo, f"{a.base}/locomo.jsonl")] if a.locomo else []
    benches += [Bench.facts(FACTS, f"{a.base}/facts.jsonl"), Bench.facts(FACTS, f"{a.base}/facts.jsonl", ("queries_held.jsonl",))]
    models = [("nothing", None)]
    models += [(os.path.basename(p), StaticModel.read(p).encode) for p in a.blobs]
    models += [("wordllama 256", WordLlama(f"{a.work}/wordllama").encode)] if os.path.isdir(f"{a.work}/wordllama") else []
    models += [(f"{n}, plain", plain(a.work, n).encode) for n in distil.TEACHERS]
    if a.teachers:
        models += [(f"{n}, the teacher itself", distil.teacher(a.work, n).encode) for n in distil.TEACHERS]
    print("| model |" + "".join(f" {b.name}: alone | + ranking, weight | R@10 | MRR | any | all |" for b in benches) + (" STS |" if a.sts else ""))
    for name, encode in models:
        cells = []
        for bench in benches:
            if encode is None:
                figures = bench.fused({q[0]: ([i for i, _ in bench.banks[q[1]]], np.zeros(len(bench.banks[q[1]])), None) for q in bench.queries}, 0)
                alone, weight = "-", "-"
            else:
                cosines = bench.cosines(encode)
                alone = f"{bench.dense(cosines)['R@10']:.3f}"
                weight, _, figures = best_fusion(bench, cosines)
                if a.statistics:
                    print(f"  {name} {bench.name} {json.dumps(bench.statistics(cosines))}")
            cells += [alone, str(weight)] + [f"{figures[k]:.3f}" for k in ("R@10", "MRR", "any@10", "all@10")]
        if a.sts:
            cells.append("-" if encode is None else f"{sts(a.sts, encode):.3f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
