"""The texts that the teachers read: WordNet, manuals under permissive licences, a BSD dialogue corpus, and our own sentence frames.

Only the teachers' vectors of them are learnt from; no text gets into the model."""
import glob
import html
import os
import random
import re

import wordlists

DOCS = {  # package -> where its pages are
    "python3.11-doc": "usr/share/doc/python3.11/html/_sources/**/*.txt",
    "sqlite3-doc": "usr/share/doc/sqlite3/**/*.html",
    "postgresql-doc-15": "usr/share/doc/postgresql-doc-15/html/*.html",
    "nodejs-doc": "usr/share/doc/nodejs/api/*.html",
    "rust-doc": "usr/share/doc/rust-doc/html/*/*.html",
}
SLOT = re.compile(r"\{([^{}]*)\}")


class WordNet:
    """Lemmas by lexicographer file, the frequent ones only, and the glosses with their examples."""

    FILES = {"act": 4, "animal": 5, "artifact": 6, "body": 8, "cognition": 9, "communication": 10, "event": 11, "feeling": 12, "food": 13, "group": 14,
             "place": 15, "object": 17, "person": 18, "phenomenon": 19, "plant": 20, "state": 26, "substance": 27}

    def __init__(self, folder, common):
        self.glosses, self.examples, self.words = [], [], {}
        for part in ("noun", "verb", "adj", "adv"):
            with open(f"{folder}/data.{part}", encoding="utf-8") as f:
                for line in f:
                    if line.startswith("  "):
                        continue
                    data, gloss = line.split(" | ", 1)
                    fields = data.split()
                    file, count = int(fields[1]), int(fields[3], 16)
                    lemmas = [fields[4 + 2 * i].split("(")[0].replace("_", " ") for i in range(count)]
                    self.take(part, file, lemmas, gloss.strip(), common)
        self.words = {k: sorted(set(v)) for k, v in self.words.items()}

    def take(self, part, file, lemmas, gloss, common):
        definition = gloss.split('; "')[0].strip('" ')
        self.glosses.append((", ".join(lemmas[:3]), definition))
        self.examples += [e for e in re.findall(r'"([^"]{12,160})"', gloss)]
        known = [w for w in lemmas if w.lower() in common]
        names = [k for k, n in self.FILES.items() if n == file] if part == "noun" else []
        for name in names + [part if part != "noun" else "noun"]:
            self.words.setdefault(name, []).extend(known)


def sentences(text, low=25, high=220):
    text = html.unescape(re.sub(r"\s+", " ", text))
    for s in re.split(r"(?<=[.!?:])\s+(?=[A-Z`\"'])", text):
        s = re.sub(r":\w+:`([^`]*)`", r"\1", s).replace("``", "").strip(" *-.#|")
        letters = sum(c.isalpha() or c == " " for c in s)
        if low <= len(s) <= high and letters > 0.8 * len(s):
            yield s


def manual(folder, pattern):
    found = set()
    for path in sorted(glob.glob(os.path.join(folder, pattern), recursive=True)):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read(2_000_000)
        if path.endswith(".html"):
            text = re.sub(r"(?s)<(script|style|pre|nav|head)\b.*?</\1>", " ", text)
            blocks = re.findall(r"(?s)<(?:p|li|dd)\b[^>]*>(.*?)</(?:p|li|dd)>", text)
            text = "\n\n".join(re.sub(r"<[^>]*>", "", b) for b in blocks)
        for paragraph in text.split("\n\n"):
            if not paragraph.lstrip().startswith((".. ", ">>>", "=", "-")):
                found.update(sentences(paragraph))
    return sorted(found)


def dialogues(folder):
    """Questions and answers of the chatterbot corpus; one text each."""
    lines = set()
    for path in sorted(glob.glob(f"{folder}/chatterbot_corpus/data/english/*.yml")):
        with open(path, encoding="utf-8") as f:
            for line in f:
                text = re.sub(r"^[\s-]+", "", line).strip().strip("'\"")
                if len(text) > 12 and ":" not in text[:14]:
                    lines.add(text[:220])
    return sorted(lines)


def frames(path, wordnet, rng, count):
    with open(path, encoding="utf-8") as f:
        patterns = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    lists = {**wordlists.LISTS, "verb": wordnet.words["verb"], "adj": wordnet.words["adj"], "noun": wordnet.words["noun"]}
    lists.update({k: wordnet.words[k] for k in WordNet.FILES})

    def fill(match):
        slot = match.group(1)
        if slot == "n":
            return str(rng.choice([rng.randint(2, 30), rng.randint(30, 9000)]))
        return rng.choice(lists[slot] if slot in lists else slot.split("|"))

    out = []
    for _ in range(count):
        text = rng.choice(patterns)
        while SLOT.search(text):  # a slot may stand inside a choice
            text = SLOT.sub(fill, text)
        out.append(text)
    return out


def assemble(inputs, here, common, sizes, seed="strongroom corpus"):
    """inputs: folder with the unpacked packages. Returns shuffled texts, so that any beginning of the list is a fair sample."""
    rng = random.Random(seed)
    wordnet = WordNet(f"{inputs}/wordnet-base/usr/share/wordnet", common)
    some = lambda items, n: rng.sample(items, min(n, len(items)))
    glosses = [rng.choice([f"{lemma}: {text}", text]) for lemma, text in some(wordnet.glosses, sizes["glosses"])]
    texts = glosses + some(sorted(set(wordnet.examples)), sizes["examples"]) + dialogues(f"{inputs}/chatterbot-corpus")
    for package, pattern in DOCS.items():
        texts += some(manual(f"{inputs}/{package}", pattern), sizes["manual"])
    texts += frames(f"{here}/frames.txt", wordnet, rng, sizes["frames"])
    texts = [t[:220] for t in dict.fromkeys(texts)]
    rng.shuffle(texts)
    return texts
