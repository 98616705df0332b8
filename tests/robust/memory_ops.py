"""Changes to memories that are broken off at one of their system calls: what kill9.py and
full_disk.py share."""
import shutil

from harness import LONG, Memories, calls_of, injected, jsonl

KEPT = 239  # rows before: one more, and the newest rows become a segment
TURNS = ["opening words uniqopen", "second turn uniqturn", "closing words uniqclose"]
LINES = [{"content": f"line number {n} uniqline{n} of many", "tags": [f"t{n % 7}"]}
         for n in range(1500)]
FILE = "\n\n".join(f"# Part {n}\n\nparagraph uniqpart{n} " + "some more words " * 60
                   for n in range(6))


def base(vault):
    """A bank with plain memories, a document, an invalid memory, a replaced one and a link."""
    items = [{"content": f"memory {n} uniqmem{n}"} for n in range(KEPT - len(TURNS))]
    items += [{"content": text, "document_id": "talk", "position": n, "update_mode": "append"}
              for n, text in enumerate(TURNS)]
    stored = vault.must("retain", "--jsonl", "-", "--json", stdin=jsonl(items)).lines()
    ids = [line["id"] for line in stored]
    vault.must("edit", ids[5], "--invalidate", "--yes")
    vault.must("link", ids[0], ids[1], "precedes")
    (vault.work / "lines.jsonl").write_bytes(jsonl(LINES))
    (vault.work / "notes.md").write_text(FILE)
    return ids


def operations(ids):
    """Name -> (arguments, words to ask for, exit codes of a repeat)."""
    return {
        "retain": (["retain", "a fresh one uniqfresh"], ["uniqfresh", "uniqmem3"], (0,)),
        "retain file": (["retain", "--file", "notes.md"], ["uniqpart0", "uniqpart5"], (0,)),
        "retain jsonl": (["retain", "--jsonl", "lines.jsonl"],
                         ["uniqline0", "uniqline999", "uniqline1000", "uniqline1499"], (0,)),
        "edit": (["edit", ids[3], "--content", "changed uniqchanged", "--tag", "new"],
                 ["uniqchanged", "uniqmem3"], (0,)),
        "edit labels": (["edit", ids[3], "--importance", "1", "--tag", "x"], ["uniqmem3"], (0,)),
        "forget": (["edit", ids[3], "--forget", "--yes"], ["uniqmem3", "uniqmem4"], (1,)),
        "invalidate": (["edit", ids[3], "--invalidate", "--replacement", ids[4], "--yes"],
                       ["uniqmem3", "uniqmem4"], (0,)),
        "restore": (["edit", ids[5], "--restore"], ["uniqmem5"], (0,)),
        "link": (["link", ids[0], ids[2], "causes"], ["uniqmem0"], (0,)),
        "delete a document": (["documents", "--delete", "talk", "--yes"],
                              ["uniqopen", "uniqclose"], (1,)),
    }


def whole_state(vault):
    memories = Memories(vault)
    return memories, (memories.state, sorted(memories.links()))


def some(calls, count):
    """All of them, or the first, the last and some between."""
    if LONG or len(calls) <= count:
        return list(enumerate(calls))
    at = sorted({round(i * (len(calls) - 1) / (count - 1)) for i in range(count)})
    return [(i, calls[i]) for i in at]


def sweep(test, name, faults, count, traced, check):
    """One operation, again and again, each time with a fault at another call.

    `faults` are strace injections, taken in turn; `check(done, before, now, after)` judges.
    """
    origin = test.new_vault("base")
    ids = base(origin)
    args, words, repeat = operations(ids)[name]
    before = whole_state(origin)[1]
    whole = origin.copy(test.new_folder("whole"))
    calls = calls_of(whole, *args, calls=traced)
    after_memories, after = whole_state(whole)
    after_memories.check_recall(words)
    shutil.rmtree(whole.folder)
    test.assertNotEqual(before, after)
    test.assertGreater(len(calls), 2)
    # Parts of a long list are committed one by one.
    between = []
    if name == "retain jsonl":
        half = origin.copy(test.new_folder("half"))
        half.must("retain", "--jsonl", "-", stdin=jsonl(LINES[:1000]))
        between.append(whole_state(half)[1])
        shutil.rmtree(half.folder)
    outcomes = []
    for number, (index, place) in enumerate(some(calls, count)):
        folder = test.new_folder(f"at{index}")
        vault = origin.copy(folder)
        fault = faults[number % len(faults)]
        done = vault.run(*args, wrap=injected(fault, place))
        with test.subTest(name, call=index, place=place, fault=fault):
            vault.check_clean(orphans=True)
            memories, now = whole_state(vault)
            test.assertIn(now, [before, *between, after], "between before and after")
            memories.check_recall(words)
            check(done, before, now, after)
            outcomes.append([before, *between, after].index(now))
            again = vault.run(*args)
            test.assertIn(again.code, repeat if now == after else (0,), again)
            memories, now = whole_state(vault)
            test.assertEqual(now, after, "not whole after a second try")
            memories.check_recall(words)
            test.assertEqual(vault.run("retain", "later uniqlater").code, 0)
            Memories(vault).check_recall(["uniqlater"])
        shutil.rmtree(folder, ignore_errors=True)
    return outcomes
