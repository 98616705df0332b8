#!/usr/bin/env python3
"""Writes models/reference: lines of text with the token ids that the `tokenizers` library gives for the blob's vocabulary, and some vectors.

  reference.py --model static.bin --wordnet DIR --out reference

lines.txt    10,000 lines (split at LF only)
ids.txt      a line's token ids, separated by blanks; an empty line where there are none
vectors.txt  number of a line (from 0), TAB, the components of its vector in units of 1e-5"""
import argparse
import glob
import os
import random
import sys
import unicodedata

import babel
from babel import Locale

from static_model import StaticModel

LINES, VECTORS, LONGEST = 10000, 200, 200


def cut(text):
    return text.strip("\n\r")[:LONGEST]


def glosses(folder, rng, count):
    lines = []
    for name in sorted(glob.glob(f"{folder}/data.*")):
        with open(name, encoding="utf-8") as f:
            lines += [line.split(" | ", 1)[1].strip() for line in f if " | " in line and not line.startswith("  ")]
    return rng.sample(lines, count)


def code(rng, count):
    """Python's own library: code, comments, long identifiers, escapes."""
    lines = []
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py"))):
        with open(path, encoding="utf-8", errors="replace") as f:
            # Some files name the folder that this very Python was built into.
            lines += [cut(line) for line in f if len(line.strip()) > 8 and sys.prefix not in line]
    return rng.sample(lines, count)


def names(rng, count):
    """Countries and languages in many scripts, from the CLDR."""
    found = []
    for name in sorted(babel.localedata.locale_identifiers()):
        locale = Locale.parse(name)
        found += sorted(set(locale.territories.values()) | set(locale.languages.values()))
    found = sorted(set(found))
    return [cut(", ".join(rng.sample(found, rng.randint(1, 3)))) for _ in range(count)]


def agreed(tokenizer, c, kind):
    """The library has the character classes of an older Unicode; characters that it classes otherwise than today are of no use to a test."""
    words = [w for w, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(f"a{c}a"))]
    if kind[0] == "P":
        return len(words) == 3
    if kind == "Mn" or (kind[0] == "C" and not c.isspace()):
        return words == ["aa"]
    return kind[0] in "ZC" or words != ["aa"]


def characters(tokenizer):
    """Assigned characters of the lower planes by kind, so that every rule of the tokeniser is met."""
    kinds = {}
    for c in [*range(1, 0x3000), *range(0x3000, 0x10000, 7), *range(0x1F000, 0x1FA00), *range(0x20000, 0x2A000, 997)]:
        kind = unicodedata.category(chr(c))
        if c not in (10, 13) and kind not in ("Cn", "Cs") and agreed(tokenizer, chr(c), kind):
            kinds.setdefault(kind[0] if kind != "Mn" else "Mn", []).append(chr(c))
    return kinds


def odd(rng, count, tokens, tokenizer):
    kinds = characters(tokenizer)
    whole = [t for t in tokens if t.isalpha() and len(t) > 2]
    accents = [c for c in kinds["Mn"] if "\u0300" <= c <= "\u036f"]
    lines = []
    for _ in range(count):
        words = []
        for _ in range(rng.randint(2, 9)):
            pick, word = rng.random(), rng.choice(whole)
            if pick < 0.2:
                word = "".join(rng.choice(kinds[rng.choice(sorted(kinds))]) for _ in range(rng.randint(1, 6)))
            elif pick < 0.35:
                word = "".join(c + (rng.choice(accents) if rng.random() < 0.3 else "") for c in word)
            elif pick < 0.5:
                at = rng.randrange(len(word))
                word = word[:at] + rng.choice(kinds[rng.choice(sorted(kinds))]) + word[at:]
            elif pick < 0.6:
                word = word.upper() if rng.random() < 0.5 else word.title()
            elif pick < 0.7:
                word = "".join(rng.choices(whole, k=rng.randint(2, 4)))
            elif pick < 0.78:
                word = f"{rng.getrandbits(rng.choice([16, 32, 128])):x}"
            elif pick < 0.84:
                word = rng.choice([f"/{word}/{rng.choice(whole)}.tar.gz", f"{word}_{rng.choice(whole)}()", f"https://{word}.example/?q={rng.randint(0, 9999)}",
                                   f"{word}@{rng.choice(whole)}.example", f"${{{word.upper()}}}", f"--{word}={rng.random():.4f}", f"#{rng.randint(1, 99999)}"])
            words.append(word)
        lines.append(cut(rng.choice([" ", " ", " ", "  ", "\t", "\u00a0", "\u3000"]).join(words)))
    return lines


def long_words(rng, count, tokens):
    """Around the limit of 100 characters a word."""
    letters = "abcdefghijklmnopqrstuvwxyzé中0"
    lines = []
    for i in range(count):
        size = rng.choice([98, 99, 100, 101, 102, 120])
        word = "".join(rng.choices(letters if i % 2 else letters[:26], k=size))
        lines.append(f"{rng.choice(tokens)} {word} end")
    return lines


FIXED = ["", " ", "\t", "a", ".", "...", "[UNK]", "[CLS] text [SEP]", "[MASK]", "##ing", "don't", "I'm", "naïve café", "Ångström", "İstanbul", "straße",
         "ﬁne ligature", "１２３", "日本語のテキスト", "한국어", "русский", "العربية", "हिन्दी", "ไทย", "👩‍👩‍👧‍👦 family", "🇩🇪", "e\u0301", "\u200bzero\u200bwidth", "soft\u00adhyphen",
         "x" * 100, "x" * 101, "a" * 200, "snake_case_name", "kebab-case-name", "CamelCaseName", "3.14", "1,000", "$5.00", "50%", "C++", "v1.2.3", "2026-11-22"]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--model", default="static.bin")
    ap.add_argument("--wordnet", required=True, help="folder with WordNet's data.noun and the others")
    ap.add_argument("--out", default="reference")
    a = ap.parse_args()
    rng = random.Random("strongroom reference")
    model = StaticModel.read(a.model)
    lines = FIXED + glosses(a.wordnet, rng, 4000) + code(rng, 2000) + names(rng, 1400) + long_words(rng, 60, model.tokens)
    lines += odd(rng, LINES - len(lines), model.tokens, model.tokenizer)
    lines = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    os.makedirs(a.out, exist_ok=True)
    with open(f"{a.out}/lines.txt", "w", encoding="utf-8", newline="\n") as f:
        f.writelines(line + "\n" for line in lines)
    ids = model.ids(lines)
    with open(f"{a.out}/ids.txt", "w", encoding="ascii", newline="\n") as f:
        f.writelines(" ".join(map(str, row)) + "\n" for row in ids)
    chosen = sorted([*range(len(FIXED)), *rng.sample(range(len(FIXED), LINES), VECTORS - len(FIXED))])
    vectors = model.encode([lines[i] for i in chosen])
    with open(f"{a.out}/vectors.txt", "w", encoding="ascii", newline="\n") as f:
        for i, vector in zip(chosen, vectors):
            f.write(f"{i}\t" + " ".join(str(round(float(x) * 1e5)) for x in vector) + "\n")
    print(f"{len(lines)} lines, {sum(map(len, ids))} tokens, {len(chosen)} vectors", file=sys.stderr)


if __name__ == "__main__":
    main()
