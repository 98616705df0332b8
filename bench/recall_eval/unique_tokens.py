#!/usr/bin/python3
"""Makes 20,000 texts, 100 of which hold one unique hash, path, UUID, ticket id or error code, and 100 queries for them.
Deterministic: the same seed gives the same bytes. usage: unique_tokens.py [--out DIR] [--texts N] [--seed N]"""
import argparse
import hashlib
import os
import random
import uuid

from metrics import write_jsonl

WORDS = """
account adapter agent alarm album answer archive area array arrow article asset author autumn backup balance balcony banner barrel basket battery
beacon bench bicycle board boiler bottle branch bridge bucket buffer builder button cabin cable camera candle canvas carbon cargo carpet castle
catalogue cellar chapter charger circle client clock cluster coast coffee colour column comet compass concert contract copper corner cottage counter
courier cursor curtain customer daemon dashboard deadline decoder default delay desert device diagram document domain drawer driver editor elbow
elevator engine entry envelope evening event fabric factory falcon feather ferry field figure filter finger flag forest format fountain frame
friction frontier funnel gallery garden gateway glacier graph gravel greenhouse grid guitar hallway hammer handle harbour header helmet holiday
horizon hotel icon index insect invoice island jacket journal junction kernel kettle keyboard ladder lagoon lamp lantern laundry layer ledger
lemon letter library lighthouse listener log machine magnet manual map margin market marker meadow melody member memory message meter migration
mirror module monitor mountain museum needle network notebook notice number object octave office orchard order organ outline packet page palette
panel parcel parser partner pasture pattern pebble pencil pepper phase piano picture pilot pipeline planet platform plugin pocket policy pond
portal poster printer process profile project protocol proxy pump quarter queue quota radio railway random receipt record region registry release
reminder report request reservoir resolver result river rocket roof router saddle sample satellite scale schedule schema screen script season
section segment sensor server session shadow shelf shuttle signal silver sketch socket spiral spring staircase station stream studio summary
summit sunset supplier surface switch symbol table tablet target teacher telescope template terminal theatre thread ticket timber timer toolbox
tower tractor traffic trail tunnel turbine umbrella valley valve vector velvet vendor version village violin volume wagon wallet warehouse
watermark weather widget window winter workshop worker yard zone
ancient bright broken busy calm careful cheap clean cold common cool dark deep dry dusty early empty exact fair famous fast final flat formal
fragile free fresh full gentle global golden green happy heavy hidden high hollow hot idle inner large late light little local long loud low
main major manual minor modern narrow native new noisy north old open outer pale partial plain private public quick quiet rare ready red remote
rough round safe sharp short simple single slow small smooth soft solid spare stable steep strict strong sweet tall thin tidy tiny upper urgent
warm weak western wide wild wooden yellow
accepts adds allows answers asks blocks breaks brings builds calls carries changes checks cleans closes collects compares contains copies counts
covers creates crosses delays deletes delivers draws drops enters expects explains exports fails feeds fetches fills finds finishes fits follows
gathers gives guards handles helps hides holds ignores imports improves includes joins jumps keeps leads leaves lifts limits links lists loads
locks loses makes marks matches measures merges misses mixes moves needs notes offers opens orders owns packs paints passes pauses plans points
prints protects proves publishes pulls pushes raises reaches reads rebuilds records reduces refuses removes renders renews repairs replaces reports
resets returns reviews rotates runs saves scans sells sends serves shares shows skips slows solves sorts splits starts stops stores supports tests
tracks trims turns updates uses waits warns watches writes
""".split()
LINKS = "the a this that each every our their some another and but while because before after until when near behind under over with without from into for".split()
QUESTIONS = ["what do we know about {t}", "where did {t} come up?", "is there a note that mentions {t}"]


def sentence(rng, insert=None):
    words = []
    for i in range(rng.randint(8, 20)):
        words.append(rng.choice(LINKS) if i % 3 == 0 else rng.choice(WORDS))
    if insert:
        words.insert(rng.randint(2, len(words) - 1), insert)
    return words[0].capitalize() + " " + " ".join(words[1:]) + "."


def token(rng, i):
    kind = ["hash", "path", "uuid", "ticket", "error"][i % 5]
    if kind == "hash":
        algo = hashlib.sha1 if i % 2 else hashlib.sha256
        return kind, algo(f"unique {i} {rng.random()}".encode()).hexdigest()
    if kind == "path":
        base = rng.choice(["/var/lib", "/srv", "src", "/etc", "packages", "/home/build"])
        return kind, f"{base}/{rng.choice(WORDS)}-{rng.randint(10, 99)}/{rng.choice(WORDS)}_{rng.choice(WORDS)}.{rng.choice(['cfg', 'rs', 'py', 'log', 'toml'])}"
    if kind == "uuid":
        return kind, str(uuid.UUID(int=rng.getrandbits(128), version=4))
    if kind == "ticket":
        return kind, f"{rng.choice(['OPS', 'WEB', 'CORE', 'DATA', 'QA'])}-{10000 + i * 37 + rng.randint(0, 30)}"
    return kind, f"{rng.choice(['E', 'ERR_', 'SYS-', '0x'])}{rng.getrandbits(20) | 0x80000:05X}"


def generate(texts=20000, unique=100, seed=20261122):
    """Two lists: {"id", "content"} and {"qid", "kind", "question", "evidence"}."""
    rng = random.Random(seed)
    places = sorted(rng.sample(range(texts), unique))
    memories, queries, seen = [], [], set()
    for n in range(texts):
        insert = None
        if len(queries) < unique and places[len(queries)] == n:
            i = len(queries)
            kind, insert = token(rng, i)
            while insert in seen:
                kind, insert = token(rng, i)
            seen.add(insert)
            queries.append({"qid": f"uniq_{i:03d}", "kind": kind, "form": "token" if (i // 5) % 2 == 0 else "question",
                            "question": insert if (i // 5) % 2 == 0 else QUESTIONS[i % 3].format(t=insert), "evidence": [f"uniq/{n:05d}"]})
        memories.append({"id": f"uniq/{n:05d}", "content": sentence(rng, insert)})
    return memories, queries


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default=".")
    ap.add_argument("--texts", type=int, default=20000)
    ap.add_argument("--seed", type=int, default=20261122)
    a = ap.parse_args()
    memories, queries = generate(a.texts, min(100, a.texts), a.seed)
    os.makedirs(a.out, exist_ok=True)
    write_jsonl(os.path.join(a.out, "unique_memories.jsonl"), memories)
    write_jsonl(os.path.join(a.out, "unique_queries.jsonl"), queries)
    print(f"{len(memories)} texts, {len(queries)} queries in {a.out}")


if __name__ == "__main__":
    main()
