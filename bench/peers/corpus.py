"""The made texts and questions of the comparison. Deterministic: the same bytes on every machine. stdlib only."""
import hashlib
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recall_eval"))
from unique_tokens import LINKS, sentence  # noqa: E402

FORMS = ["what do we know about {t}", "where did {t} come up?", "is there a note that mentions {t}"]


def texts(first, count):
    """Sentences of 8 to 20 English words; text i is the same in every corpus."""
    return [{"id": f"t{i:07d}", "text": sentence(random.Random(f"peer text {i}"))}
            for i in range(first, first + count)]


def query_of(text, rng):
    """3 to 5 of a text's words in their order, none of the frequent ones."""
    words = [w for w in text.lower().rstrip(".").split() if w not in LINKS]
    keep = sorted(rng.sample(range(len(words)), min(len(words), rng.randint(3, 5))))
    return " ".join(words[i] for i in keep)


def queries(size, count, seed="queries"):
    """Questions about texts that are spread over the first `size`."""
    rng = random.Random(f"peer {seed} {size}")
    rows = []
    for i in rng.sample(range(size), count):
        text = texts(i, 1)[0]
        rows.append({"qid": f"q{i}", "question": query_of(text["text"], rng), "gold": text["id"]})
    return rows


def tokens(count=100):
    """Texts that each hold one token of 40 hexadecimal digits, and two questions for each."""
    rows, asked = [], []
    for i in range(count):
        token = hashlib.sha1(f"peer token {i}".encode()).hexdigest()
        rng = random.Random(f"peer token text {i}")
        rows.append({"id": f"k{i:03d}", "text": sentence(rng, token)})
        asked.append({"qid": f"k{i:03d}a", "form": "token", "question": token, "gold": f"k{i:03d}"})
        asked.append({"qid": f"k{i:03d}b", "form": "sentence", "question": FORMS[i % 3].format(t=token),
                      "gold": f"k{i:03d}"})
    return rows, asked


def small_bank(count=50):
    rows = [{"id": f"s{i:03d}", "text": sentence(random.Random(f"peer small {i}"))} for i in range(count)]
    rng = random.Random("peer small queries")
    return rows, [{"qid": r["id"], "question": query_of(r["text"], rng), "gold": r["id"]} for r in rows]


def pairs(count=50):
    """New texts with one new word each, and a question for each."""
    rows = []
    for i in range(count):
        rng = random.Random(f"peer pair {i}")
        word = "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(5))
        text = sentence(rng, word)
        words = [w for w in text.lower().rstrip(".").split() if w not in LINKS and w != word]
        rows.append({"id": f"p{i:03d}", "text": text, "question": " ".join([word, *words[:5]])})
    return rows
