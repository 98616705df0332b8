#!/usr/bin/env python3
"""Makes static.bin: fetches the inputs, has the teachers read tokens and texts, fits the token vectors, writes the blob.

  distil.py --work DIR --out static.bin [--plain] [--texts N] [--curve C0 C1]

Everything slow is kept in DIR and not done again. Two cores need about an hour, most of it for the teachers."""
import argparse
import collections
import json
import os
import re
import sys

import numpy as np

import corpus
import inputs
import vocabulary
import wordlists
from fit import Space, carry_over, fit, sif
from static_model import make_tokenizer, write
from teacher import Teacher, vocabulary as tokens_of

HERE = os.path.dirname(os.path.abspath(__file__))
TEACHERS = {  # name -> (files in its package, how it is asked, its share in the targets)
    "minilm": ("all-minilm-l6-v2", "all-minilm-l6-v2", {}, 1.4),
    "bge": ("bge-small-en-v15-q", "bge-small-en-v1.5-q", {"pooling": "cls"}, 1.0),
    "e5": ("e5-small-v2-q", "e5-small-v2-q", {"prefix": "query: "}, 1.0),
}
SIZES = {"glosses": 24000, "examples": 14000, "manual": 3500, "frames": 36000}
MODEL_ID, DIMENSIONS, VOCABULARY, FLATNESS, CHUNK = "sr-static-1", 256, 42000, 5e-4, 4000
BLEND = 0.75  # share of the fitted vectors; the rest is the plain distillation
FREQUENT = 300  # so many of the texts' most frequent tokens keep the length they started with
NAMES = 0.7  # names are the keyword search's work: here they only draw everything about a person together


def say(text):
    print(text, file=sys.stderr, flush=True)


def kept(path, make):
    """What make() returns, from the file if it is there."""
    if not os.path.exists(path):
        np.save(path + ".part.npy", make())
        os.replace(path + ".part.npy", path)
    return np.load(path).astype(np.float32)


def teacher(folder, name):
    package, stem, how, _ = TEACHERS[name]
    return Teacher(f"{folder}/{package}/{stem}.onnx", f"{folder}/{package}/{stem}-tokenizer.json", **how)


def read(work, name, tokens, texts):
    """The teacher's vectors of the tokens and of the texts."""
    model = teacher(work, name)
    lone = kept(f"{work}/tokens-{name}.npy", lambda: model.encode_tokens(tokens))
    parts = []
    for at in range(0, len(texts), CHUNK):
        # Half precision halves the files; the loss is far below that of the fit.
        parts.append(kept(f"{work}/texts-{name}-{at:06d}.npy", lambda: model.encode(texts[at : at + CHUNK]).astype(np.float16)))
        say(f"{name}: {min(at + CHUNK, len(texts))} of {len(texts)} texts")
    return lone, np.concatenate(parts)


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


def settle(start, fitted, counts, blend):
    """Lengths that were learnt from manuals and glosses make punctuation and small words too loud for talk: those stay as they were.
    And a part of the start is kept, since the texts are few and of few kinds."""
    old, new = np.linalg.norm(start, axis=1), np.linalg.norm(fitted, axis=1)
    known = (counts > 20) & (old > 0)
    lengths = new / np.median(new[known] / old[known])
    frequent = np.argsort(-counts, kind="stable")[:FREQUENT]
    lengths[frequent] = old[frequent]
    return blend * unit(fitted) * lengths[:, None] + (1 - blend) * start


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--work", required=True, help="folder for packages and vectors; 3 GB")
    ap.add_argument("--out", default=os.path.join(HERE, "static.bin"))
    ap.add_argument("--plain", action="store_true", help="no fit: the lone tokens' vectors only")
    ap.add_argument("--teachers", default=",".join(TEACHERS))
    ap.add_argument("--texts", type=int, help="the first so many texts only")
    ap.add_argument("--blend", type=float, default=BLEND)
    ap.add_argument("--dims", type=int, default=DIMENSIONS)
    ap.add_argument("--flatness", type=float, default=FLATNESS)
    ap.add_argument("--vocabulary", type=int, default=VOCABULARY)
    ap.add_argument("--curve", type=float, nargs=2, default=(0.1, 0.8))
    a = ap.parse_args()
    os.makedirs(a.work, exist_ok=True)
    folders = inputs.fetch(a.work)
    scowl = folders["scowl"] + "/usr/share/dict/scowl"
    texts = corpus.assemble(a.work, HERE, set(vocabulary.scowl(scowl)), SIZES)
    bert = tokens_of(f"{folders['all-minilm-l6-v2']}/all-minilm-l6-v2-tokenizer.json")
    # Of the less common words those come first that the texts use: for them there is something to learn from.
    seen = collections.Counter(w for t in texts for w in re.findall("[a-z]+", t.lower()))
    common = vocabulary.scowl(scowl, (10, 20, 35))
    tokens = vocabulary.build(bert, wordlists.MODERN + sorted(common, key=lambda w: (common[w] > 20, -seen[w], w)), VOCABULARY)
    texts = texts[: a.texts]
    say(f"{len(tokens)} tokens, {len(texts)} texts")

    names = a.teachers.split(",")
    readings = [read(a.work, n, tokens, texts) for n in names]
    space = Space([r[1] for r in readings], [TEACHERS[n][3] for n in names], a.dims)
    tokens = tokens[: a.vocabulary]
    start = space.tokens([r[0] for r in readings])[: a.vocabulary] * sif(len(tokens), a.flatness)[:, None]
    special = [i for i, t in enumerate(tokens) if t in vocabulary.SPECIAL]
    start[special] = 0
    vectors = start
    if not a.plain:
        tokenizer = make_tokenizer(tokens)
        rows = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
        fitted, counts = fit(start, rows, space.targets, report=say)
        vectors = settle(start, carry_over(start, fitted, counts), counts, a.blend)
        names = vocabulary.proper_names(scowl)
        vectors[[i for i, t in enumerate(tokens) if t in names]] *= NAMES
        vectors[special] = 0
    write(a.out, tokens, vectors, MODEL_ID, a.curve)
    say(f"{a.out}: {os.path.getsize(a.out)} bytes, SHA-256 {inputs.sha256(a.out)}")


if __name__ == "__main__":
    main()
