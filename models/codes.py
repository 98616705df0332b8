#!/usr/bin/env python3
"""How many of the exact ten nearest vectors are among those with the best sign codes, by how many of these are compared in full.

    codes.py --model static.bin --texts FILE [--questions FILE] [--queries 240]

FILE has a sentence a line; the more, the better (the figures in README.md are of 607,952 sentences from manual pages, Python's
documentation strings and package notes). Questions are a line each; others are made of six words from the middle of a sentence. Codes with
and without the turn before them (docs/format.md, "Vector codes") are compared."""
import argparse

import numpy as np

from static_model import StaticModel

COUNTS = (200, 300, 500, 700, 1000, 2000)
MASK = (1 << 64) - 1


def splitmix64(state):
    z = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def turn(dimensions):
    """The matrix for a power of two of dimensions."""
    signs = np.array([-1.0 if splitmix64(1 << 32 | i // 64) >> i % 64 & 1 else 1.0 for i in range(dimensions)])
    matrix = np.array([[1.0]])
    while len(matrix) < dimensions:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return (matrix * signs).astype(np.float32)


def int8(vectors):
    scale = np.abs(vectors).max(1, keepdims=True) / 127
    return np.rint(vectors / np.maximum(scale, 1e-12)), scale


def found(query, sentences, matrix):
    """Share of the ten nearest that COUNTS codes hold."""
    q = int8(query)[0]
    turned = q if matrix is None else q @ matrix.T
    largest = np.abs(turned).max(1, keepdims=True)
    levels = np.trunc((turned * 14 + np.sign(turned) * largest) / (2 * largest))
    exact, coarse = [], []
    for at in range(0, len(sentences), 50000):
        rows, scale = int8(sentences[at:at + 50000])
        exact.append((q @ rows.T) * scale.T)
        coarse.append(levels @ ((rows if matrix is None else rows @ matrix.T) > 0).astype(np.float32).T)
    exact, coarse = np.concatenate(exact, 1), np.concatenate(coarse, 1)
    hits = dict.fromkeys(COUNTS, 0)
    for e, c in zip(exact, coarse):
        nearest = np.argpartition(-e, 10)[:10]
        least = np.sort(np.partition(-c, max(COUNTS))[:max(COUNTS)])
        for n in COUNTS:
            hits[n] += int((-c[nearest] <= least[n - 1]).sum())
    return {n: round(h / len(query) / 10, 4) for n, h in hits.items()}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--model", default="static.bin")
    ap.add_argument("--texts", required=True)
    ap.add_argument("--questions")
    ap.add_argument("--queries", type=int, default=240)
    a = ap.parse_args()
    model = StaticModel.read(a.model)
    texts = open(a.texts, encoding="utf-8").read().splitlines()
    asked = open(a.questions, encoding="utf-8").read().splitlines()[:a.queries // 2] if a.questions else []
    for i in np.random.default_rng(1).permutation(len(texts)):
        words = texts[i].split()
        if len(words) > 10 and len(asked) < a.queries:
            asked.append(" ".join(words[3:9]))
    parts = [model.encode(texts[at:at + 20000]).astype(np.float32) for at in range(0, len(texts), 20000)]
    sentences, query = np.concatenate(parts), model.encode(asked).astype(np.float32)
    query = query[np.abs(query).max(1) > 0]
    print(f"{len(sentences)} sentences, {len(query)} questions")
    for name, matrix in (("plain", None), ("turned", turn(query.shape[1]))):
        print(name, found(query, sentences, matrix), flush=True)


if __name__ == "__main__":
    main()
