"""The model's vocabulary: BERT's without what English notes never meet, with whole words that BERT would cut into pieces.

A sum of pieces ("wal", "##rus") says little without the attention of the teacher; a word of its own gets the teacher's vector."""
import os
import re
import unicodedata

from static_model import make_tokenizer

SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
LEVELS = (10, 20, 35, 40, 50)


def scowl(folder, levels=LEVELS):
    """Words by commonness: the smaller the level, the commoner."""
    found = {}
    for level in levels:
        for kind in ("english-words", "american-words"):
            with open(f"{folder}/{kind}.{level}", encoding="latin-1") as f:
                for line in f:
                    word = line.strip().lower()
                    if re.fullmatch(r"[a-z]{3,}", word):
                        found.setdefault(word, level)
    return found


def proper_names(folder, levels=LEVELS):
    """Words that are written with a capital and are no common word as well: people, places, days."""
    common, found = scowl(folder, levels), set()
    for level in levels:
        for kind in ("english-upper", "english-proper-names", "american-upper", "american-proper-names"):
            path = f"{folder}/{kind}.{level}"
            if os.path.exists(path):
                with open(path, encoding="latin-1") as f:
                    found.update(line.strip().lower() for line in f)
    return {w for w in found if len(w) > 2 and w not in common}


def useful(token):
    """BERT's [unusedN] and its single letters of scripts other than Latin are left out: the teachers are English."""
    if token in SPECIAL:
        return True
    if re.fullmatch(r"\[unused\d+\]", token):
        return False
    text = token.removeprefix("##")
    return all(ord(c) < 0x250 or unicodedata.category(c)[0] in "PS" for c in text)


def build(bert, words, limit):
    """bert: tokens in BERT's order, which is about that of frequency. words: in order of preference."""
    kept = [t for t in bert if useful(t)]
    old, known, added = make_tokenizer(bert), set(kept), []
    for word in words:
        if len(kept) + len(added) >= limit:
            break
        if word not in known and len(old.encode(word, add_special_tokens=False).ids) > 1:
            known.add(word)
            added.append(word)
    return kept + added
