#!/usr/bin/python3
"""Evaluates recall through the shipped binary, in a vault that is made for it and thrown away. stdlib only.

  run.py facts                                   our own memories of six projects
  run.py unique                                  100 unique tokens in 20,000 texts
  run.py long                                    a fact at the end of 200 KB
  run.py locomo --data DIR [--out run.jsonl] [--score-py FILE] [--flat] [--option KEY=VALUE ...]
  run.py abstain [--data DIR]                    when to answer and when not
  run.py fusion [--data DIR]                     all arms against each one alone; exit code 1 when one alone is better
  run.py ablation [--data DIR] [--out FILE.json] what each arm and each part of the ranking brings
  run.py links [--data DIR]                      what explicit links bring, and what wrong ones cost
  run.py all --out FILE.json [--data DIR]        everything, for machines

Options of a search, as in the recall tool, are given by --option: --option 'arms=["keyword"]', --option budget=high."""
import argparse
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from metrics import FACTS, auc, facts_queries, grouped, percentiles, read_jsonl, table, write_jsonl
from unique_tokens import generate, sentence

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LISTS = ("arms", "types", "type_filter", "tags")
FULL = {"limit": 50, "max_tokens": 1000000, "min_score": 0, "detail": "full"}
DEFAULT = {"detail": "full"}  # what is shown, not what is found: results and scores are those of the defaults
REAL = (1, 2, 3, 4)  # LoCoMo's categories that have an answer
HINTS = ("unknown", "unrecognized", "not expected", "no such", "no command", "not recognised", "invalid choice", "does not know", "RequiredError")


ARMS = ("keyword", "semantic", "temporal", "graph")
PARTS = ("previous", "next", "further", "session", "speaker", "priors", "links", "copies")  # of the ranking; they change the order
ABLATION = ("R@1", "R@10", "R@30", "R@50", "MRR@10", "any@10", "all@10", "all@20", "all@30", "all@50")
MULTI = {"facts": ("kind", "multi"), "LoCoMo": ("category", "1")}  # where the questions with several hops are


def levers():
    """Name of a run -> options."""
    runs = {"everything": {}}
    runs.update({f"{arm} alone": {"arms": [arm]} for arm in ("keyword", "semantic")})
    runs.update({f"without {arm}": {"arms": [a for a in ARMS if a != arm]} for arm in ARMS})
    runs.update({f"without {part}": {"without": [part]} for part in PARTS})
    runs.update({f"budget {depth}": {"budget": depth} for depth in ("low", "mid", "high")})
    return runs


class Stop(Exception):
    pass


def say(text):
    print(text, file=sys.stderr, flush=True)


def share(part, whole):
    return round(part / whole, 4) if whole else None


# ---- the binary

class Vault:
    def __init__(self, binary, keep, model=()):
        """`model`: what `model add` is given; every bank then uses it."""
        self.binary = os.path.abspath(binary)
        if not os.access(self.binary, os.X_OK):
            raise Stop(f"there is no program at {binary}; build it or say --bin PATH")
        self.dir = tempfile.mkdtemp(prefix="strongroom-eval-")
        self.keep = keep
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("STRONGROOM_")}
        for name in ("DATA", "STATE", "CONFIG"):
            self.env[f"XDG_{name}_HOME"] = os.path.join(self.dir, name.lower())
            os.mkdir(self.env[f"XDG_{name}_HOME"])
        self.env["STRONGROOM_VAULT"] = os.path.join(self.dir, "data", "eval.vault")
        key = os.path.join(self.dir, "key")
        self.call(["init", "--keyfile", key])
        self.env["STRONGROOM_KEYFILE"] = key
        self.model = json.loads(self.call(["model", "add", *model, "--json"]))["id"] if model else None
        self.banks = {}      # name -> what was stored
        self.same = {}       # (bank, memory id) -> eval ids that were stored as that memory
        self.retained = {"items": 0, "seconds": 0.0, "duplicates": 0, "rejected": 0, "quarantined": 0}

    def close(self):
        if self.keep:
            say(f"the vault is kept in {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def call(self, arguments, ok=(0,)):
        done = subprocess.run([self.binary, *arguments], env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace").strip()
        if done.returncode in ok:
            return out
        words = " ".join(arguments[:2])
        why = err.splitlines()[0] if err else f"exit code {done.returncode}"
        text = f"`strongroom {' '.join(arguments)}` failed with exit code {done.returncode}: {err[-2000:] or out[-2000:]}"
        if done.returncode == 2 and any(h.lower() in err.lower() for h in HINTS):
            text = f"this binary does not take `{words}` as the evaluation calls it ({why}). Is {self.binary} older than this folder? Build it again."
        elif done.returncode < 0:
            text = f"`strongroom {' '.join(arguments)}` was ended by signal {-done.returncode}: {err[-2000:]}"
        raise Stop(text)

    def version(self):
        return self.call(["--version"]).strip().splitlines()[0]

    def bytes(self):
        total = 0
        for folder, _, files in os.walk(os.path.join(self.dir, "data")):
            total += sum(os.stat(os.path.join(folder, f)).st_blocks * 512 for f in files)
        return total

    def bank(self, name):
        """True when it is new."""
        if name in self.banks:
            return False
        self.call(["bank", "create", name])
        if self.model:
            self.call(["--bank", name, "model", "use", self.model, "--no-fill"])
        self.banks[name] = 0
        return True

    def retain(self, bank, items):
        """items carry metadata.eval_id."""
        path = os.path.join(self.dir, "items.jsonl")
        write_jsonl(path, items)
        start = time.monotonic()
        out = self.call(["retain", "--jsonl", path, "--json", "--bank", bank])
        self.retained["seconds"] += time.monotonic() - start
        self.retained["items"] += len(items)
        self.banks[bank] += len(items)
        bad = []
        for line in out.splitlines():
            row = json.loads(line) if line.startswith("{") else {}
            if "status" not in row or not row.get("line"):
                continue
            eval_id = items[row["line"] - 1]["metadata"]["eval_id"]
            if row["status"] == "duplicate":
                self.retained["duplicates"] += 1
            elif row["status"] in ("rejected", "quarantined"):
                self.retained[row["status"]] += 1
                bad.append(f"{eval_id}: {row['status']}: {row.get('reason', '')}")
            if row.get("id") and row["status"] in ("stored", "duplicate"):
                self.same.setdefault((bank, row["id"]), []).append(eval_id)
        for line in bad[:10]:
            say(f"  {bank}: {line}")
        if len(bad) > 10:
            say(f"  {bank}: {len(bad) - 10} more were not stored")

    def retain_file(self, bank, path, eval_id):
        start = time.monotonic()
        self.call(["retain", "--file", path, "--metadata", f"eval_id={eval_id}", "--bank", bank])
        self.retained["seconds"] += time.monotonic() - start
        self.retained["items"] += 1
        self.banks[bank] += 1

    def recall(self, bank, lines):
        """lines: {"qid", "query", options}. Returns the answers in their order."""
        if not lines:
            return []
        path = os.path.join(self.dir, "batch.jsonl")
        write_jsonl(path, lines)
        out = self.call(["recall", "--batch", path, "--json", "--bank", bank], ok=(0, 1, 2, 4))
        answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        for a in answers:
            if "error" in a:
                raise Stop(f"question {a.get('qid')} in bank {bank} was refused: {a['error'].get('text')}")
        if [a.get("qid") for a in answers] != [l["qid"] for l in lines]:
            # Nothing came back: the options were refused before any question ran.
            self.call(["recall", "--batch", path, "--json", "--bank", bank])
            raise Stop(f"bank {bank}: {len(answers)} answers to {len(lines)} questions, or in another order")
        return answers

    def ranked(self, bank, answer):
        """Eval ids in order, each once; those stored as one memory stand together."""
        ids = []
        for r in answer["results"]:
            own = (r.get("metadata") or {}).get("eval_id")
            ids += [own] if own else []
            ids += self.same.get((bank, r.get("id")), [])
        return list(dict.fromkeys(ids))


# ---- what is evaluated

class Evaluation:
    def __init__(self, options):
        self.o = options
        self.vault = Vault(options.bin, options.keep, options.model.split("|") if options.model else ())
        self.extra = read_options(options.option)
        self.answers = {}

    # banks

    def load_facts(self):
        memories = read_jsonl(f"{FACTS}/memories.jsonl")
        for project in dict.fromkeys(m["project"] for m in memories):
            bank = "facts-" + project
            if not self.vault.bank(bank):
                continue
            items, place = [], {}
            for m in memories:
                if m["project"] != project:
                    continue
                item = {"content": m["content"], "timestamp": m["date"], "tags": m["tags"], "metadata": {"eval_id": m["id"]}}
                if "document" in m and not self.o.flat:
                    place[m["document"]] = place.get(m["document"], 0) + 1
                    item.update(document_id=m["document"], update_mode="append", position=place[m["document"]])
                items.append(item)
            say(f"storing {len(items)} memories in {bank}")
            self.vault.retain(bank, items)
        return memories

    def load_locomo(self):
        memories = read_jsonl(f"{self.o.data}/memories.jsonl")
        for conv in dict.fromkeys(m["conv"] for m in memories):
            bank = "locomo-" + conv
            if not self.vault.bank(bank):
                continue
            items = []
            for m in memories:
                if m["conv"] != conv:
                    continue
                when = m["date"] if m["date"].endswith("Z") or "+" in m["date"] else m["date"] + "Z"
                item = {"content": m["content"], "timestamp": when, "metadata": {"eval_id": m["id"]}}
                if not self.o.flat:
                    item.update(document_id=f"{conv}/{m['session']}", update_mode="append", position=m["turn"], speaker=m["speaker"])
                items.append(item)
            say(f"storing {len(items)} turns in {bank}")
            self.vault.retain(bank, items)
        return memories

    def questions(self, which):
        """Each with "bank"."""
        if which == "facts":
            return [dict(q, bank="facts-" + q["project"]) for q in facts_queries(self.o.set)]
        return [dict(q, bank="locomo-" + q["conv"]) for q in read_jsonl(f"{self.o.data}/queries.jsonl")]

    def ask(self, queries, options, name=None, bank=None):
        """qid -> answer. A named run is asked once."""
        if name and name in self.answers:
            return self.answers[name]
        groups = {}
        for q in queries:
            groups.setdefault(bank(q) if bank else q["bank"], []).append(q)
        out = {}
        for b, group in groups.items():
            lines = [{"qid": q["qid"], "query": q["question"], **options, **self.extra} for q in group]
            for q, a in zip(group, self.vault.recall(b, lines)):
                a["bank"] = b
                a["ranked"] = self.vault.ranked(b, a)
                out[q["qid"]] = a
        if name:
            self.answers[name] = out
        return out

    # the sets

    def facts(self):
        self.load_facts()
        queries = self.questions("facts")
        answers = self.ask(queries, FULL, "facts")
        result = grouped(queries, {k: a["ranked"] for k, a in answers.items()}, ["kind", "style", "project"])
        shipped = self.ask(queries, DEFAULT, "facts default")
        result["default_options"] = grouped(queries, {k: a["ranked"] for k, a in shipped.items()}, ["kind"])
        result["ms"] = percentiles([a.get("ms") for a in shipped.values()])
        print(table(f"facts ({self.o.set})", result))
        print("with default options: " + brief(result["default_options"]["overall"]) + f", ms {result['ms']}")
        return result

    def unique(self):
        memories, queries = generate()
        if self.vault.bank("unique"):
            say(f"storing {len(memories)} texts in unique")
            self.vault.retain("unique", [{"content": m["content"], "metadata": {"eval_id": m["id"]}} for m in memories])
        answers = self.ask([dict(q, bank="unique") for q in queries], DEFAULT)
        result = grouped(queries, {k: a["ranked"] for k, a in answers.items()}, ["kind", "form"])
        result["in_first_five"] = result["overall"]["R@5"]
        result["missed"] = [{"qid": q["qid"], "question": q["question"]} for q in queries if q["evidence"][0] not in answers[q["qid"]]["ranked"][:5]]
        result["ms"] = percentiles([a.get("ms") for a in answers.values()])
        print(table(f"unique tokens, 100 of {len(memories)}, default options", result))
        print(f"in the first five: {result['in_first_five']:.3f}, ms {result['ms']}")
        return result

    def long(self):
        if self.vault.bank("long"):
            for i, (fact, _, _) in enumerate(LONG):
                text = long_text(i, fact)
                meta = {"eval_id": f"long/{i}"}
                if i < 2:
                    path = os.path.join(self.vault.dir, f"long{i}.txt")
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(text)
                    say(f"storing a file of {len(text.encode())} bytes")
                    self.vault.retain_file("long", path, meta["eval_id"])
                else:
                    item = {"content": text, "metadata": meta}
                    if i < 4:
                        item["document_id"] = f"long-{i}"
                    say(f"storing a line of {len(text.encode())} bytes")
                    self.vault.retain("long", [item])
        rows = []
        answers = self.ask([{"qid": f"long_{i}", "question": q, "bank": "long"} for i, (_, q, _) in enumerate(LONG)], DEFAULT)
        for i, (_, question, key) in enumerate(LONG):
            found = answers[f"long_{i}"]["results"]
            rank = next((n for n, r in enumerate(found, 1) if key in r.get("text", "")), None)
            rows.append({"form": "file" if i < 2 else "document" if i < 4 else "content", "question": question, "rank": rank, "results": len(found)})
        result = {"n": len(rows), "in_first_three": share(sum(r["rank"] is not None and r["rank"] <= 3 for r in rows), len(rows)), "texts": rows}
        print(f"long texts: in the first three {result['in_first_three']:.2f}; ranks " + ", ".join(f"{r['form']} {r['rank']}" for r in rows))
        return result

    def locomo(self, out=None):
        self.load_locomo()
        queries = self.questions("locomo")
        answers = self.ask(queries, FULL, "locomo")
        run = [{"qid": q["qid"], "ranked": answers[q["qid"]]["ranked"][:50], "ms": answers[q["qid"]].get("ms")} for q in queries]
        real = [q for q in queries if q["category"] in REAL and q["evidence"]]
        result = grouped(real, {r["qid"]: r["ranked"] for r in run}, ["category"])
        result["ms"] = percentiles([r["ms"] for r in run])
        print(table("LoCoMo, categories 1-4", result))
        print(f"ms {result['ms']}")
        path = out or os.path.join(self.vault.dir, "run.jsonl")
        write_jsonl(path, run)
        if self.o.score_py:
            scored = os.path.join(self.vault.dir, "scored.json")
            done = subprocess.run([sys.executable, self.o.score_py, path, "--data", self.o.data, "--out", scored])
            if done.returncode != 0:
                raise Stop(f"{self.o.score_py} failed with exit code {done.returncode}")
            with open(scored) as f:
                result["score_py"] = json.load(f)
            result["score_py"].pop("run", None)
        return result

    # answering or not

    def abstain(self):
        sets = ["facts"] + (["locomo"] if self.o.data else [])
        if not self.o.data:
            say("without --data only our own set is asked")
        self.load_facts()
        if self.o.data:
            self.load_locomo()
        off = read_jsonl(f"{FACTS}/off_topic.jsonl")
        result = {"off_topic": {}, "answered": {}, "auc": {}, "bins": {}, "examples": {}}
        for name in sets:
            queries = self.questions(name)
            if name == "locomo":
                queries = [q for q in queries if q["category"] in REAL and q["evidence"]]
            banks = list(dict.fromkeys(q["bank"] for q in queries))
            per, wrong = {}, []
            for b in banks:
                answers = self.ask([dict(q, bank=b) for q in off], DEFAULT)
                per[b] = share(sum(not a["results"] for a in answers.values()), len(off))
                wrong += [{"bank": b, "question": q["question"], "best_score": top(answers[q["qid"]]),
                           "text": answers[q["qid"]]["results"][0].get("text", "")[:100] if name == "facts" else None}
                          for q in off if answers[q["qid"]]["results"]]
            result["off_topic"][name] = {"asked": len(off) * len(banks), "abstained": round(sum(per.values()) / len(per), 4), "by_bank": per}
            result["examples"][name] = {"off_topic_answered": sorted(wrong, key=lambda w: -(w["best_score"] or 0))[:20]}
            shipped = self.ask(queries, DEFAULT, name + " default" if name == "facts" else None)
            silent = [q for q in queries if not shipped[q["qid"]]["results"]]
            result["answered"][name] = {"n": len(queries), "share": share(len(queries) - len(silent), len(queries)),
                                        "default_options": grouped(queries, {k: a["ranked"] for k, a in shipped.items()}, [])["overall"]}
            result["examples"][name]["real_unanswered"] = [{"qid": q["qid"], "best_score": shipped[q["qid"]].get("best_score"),
                                                            "question": q["question"] if name == "facts" else None} for q in silent][:20]
            own = self.ask(self.questions(name), FULL, name)
            after = {b: banks[(i + 1) % len(banks)] for i, b in enumerate(banks)}
            other = self.ask(queries, dict(FULL, limit=1), bank=lambda q: after[q["bank"]]) if len(banks) > 1 else {}
            positive = [top(own[q["qid"]]) or 0.0 for q in queries]
            negative = [top(a) or 0.0 for a in other.values()]
            offs = []
            for b in banks:
                offs += [top(a) or 0.0 for a in self.ask([dict(q, bank=b) for q in off], dict(FULL, limit=1)).values()]
            result["auc"][name] = {"own_against_other_bank": auc(positive, negative), "own_against_off_topic": auc(positive, offs),
                                   "median_top": {"own": median(positive), "other": median(negative), "off_topic": median(offs)}}
            result["bins"][name] = bins(queries, own, self.vault)
        everything = result["off_topic"].values()
        result["off_topic_abstained"] = share(sum(r["abstained"] * r["asked"] for r in everything), sum(r["asked"] for r in everything))
        real = result["answered"].values()
        result["real_answered"] = share(sum(r["share"] * r["n"] for r in real), sum(r["n"] for r in real))
        for name in sets:
            print(f"{name}: off-topic questions that abstain {result['off_topic'][name]['abstained']:.3f}, real questions that answer "
                  f"{result['answered'][name]['share']:.3f}, AUC {result['auc'][name]}")
            print("  score      results  hit rate   first results  hit rate")
            for row in result["bins"][name]:
                print(f"  {row['from']:.1f}-{row['to']:.1f}  {row['results']:>10}{rate(row['hit_rate']):>10}{row['first']:>16}{rate(row['first_hit_rate']):>10}")
        print(f"all: off-topic abstains {result['off_topic_abstained']}, real answers {result['real_answered']}")
        return result

    # all arms together against each one

    def real_sets(self):
        """Name -> questions that have an answer."""
        sets, kept = {}, self.o.set
        self.load_facts()
        for which in ("first", "held"):
            self.o.set = which
            sets["facts, " + which] = self.questions("facts")
        self.o.set = kept
        if self.o.data:
            self.load_locomo()
            sets["LoCoMo"] = [q for q in self.questions("locomo") if q["category"] in REAL and q["evidence"]]
        return sets

    def ablation(self):
        """Each arm and each part of the ranking left out, by category; and the three budgets."""
        result = {}
        for name, queries in self.real_sets().items():
            print(f"{name} ({len(queries)}); multi-hop: {MULTI[name.split(',')[0]][1]}")
            print(f"  {'':22s}" + "".join(f"{c:>8}" for c in ABLATION) + f"{'mh all@20':>11}{'ms':>7}")
            key, multi = MULTI[name.split(",")[0]]
            result[name] = {}
            for run, options in levers().items():
                answers = self.ask(queries, dict(FULL, **options))
                metrics = grouped(queries, {k: a["ranked"] for k, a in answers.items()}, [key])
                metrics["ms"] = percentiles([a.get("ms") for a in answers.values()])
                result[name][run] = metrics
                some = metrics["by_" + key].get(multi)
                print(f"  {run:22s}" + "".join(f"{metrics['overall'][c]:8.3f}" for c in ABLATION)
                      + (f"{some['all@20']:11.3f}" if some else f"{'-':>11}") + f"{metrics['ms']['p50']:7.2f}", flush=True)
        return result

    def links(self):
        """Questions with several memories before and after these are linked, and with three wrong links for each right one."""
        result = {}
        for name, queries in self.real_sets().items():
            several = [q for q in queries if len(q["evidence"]) > 1]
            if not several:
                continue
            ids = {(b, e): i for (b, i), evals in self.vault.same.items() for e in evals}
            right = sorted({(q["bank"], ids[q["bank"], q["evidence"][0]], ids[q["bank"], e]) for q in several for e in q["evidence"][1:]
                            if ids[q["bank"], e] != ids[q["bank"], q["evidence"][0]]})
            rng = random.Random("links")
            stored = {b: sorted(i for bank, i in self.vault.same if bank == b) for b in {q["bank"] for q in queries}}
            wrong = [(b, *rng.sample(stored[b], 2)) for b, _, _ in right for _ in range(3)]
            print(f"{name}: {len(several)} questions with several memories, {len(right)} right links")
            result[name] = {"right": len(right), "wrong": len(wrong)}
            for step, added in (("no links", []), ("wrong links", wrong), ("right and wrong links", right)):
                for bank, a, b in added:
                    self.vault.call(["link", a, b, "goes_with", "--bank", bank])
                answers = self.ask(queries, FULL)
                runs = {k: a["ranked"] for k, a in answers.items()}
                result[name][step] = {"all": grouped(queries, runs, [])["overall"], "several": grouped(several, runs, [])["overall"]}
                for which, m in result[name][step].items():
                    print(f"  {step:22s}{which:8s} " + brief({k: m[k] for k in ("R@1", "R@10", "MRR@10", "all@10", "all@20")}), flush=True)
        return result

    def fusion(self):
        """R@10 with all arms and with one; fails when one alone finds more."""
        runs = {"all arms": {}, "without meaning": {"arms": ["keyword", "temporal", "graph"]}}
        runs.update({arm: {"arms": [arm]} for arm in ("keyword", "semantic")})
        runs["without structure"] = {"arms": ["keyword", "semantic", "temporal"]}
        runs["without time"] = {"arms": ["keyword", "semantic", "graph"]}
        sets = self.real_sets()
        result, worse = {}, []
        for name, queries in sets.items():
            print(f"{name} ({len(queries)})")
            result[name] = {}
            for run, options in runs.items():
                answers = self.ask(queries, dict(FULL, **options))
                metrics = grouped(queries, {k: a["ranked"] for k, a in answers.items()}, [])["overall"]
                result[name][run] = metrics
                print(f"  {run:18s} {brief({k: metrics[k] for k in ('R@1', 'R@10', 'MRR@10', 'any@10', 'all@10')})}", flush=True)
                if len(options.get("arms", [])) == 1 and metrics["R@10"] > result[name]["all arms"]["R@10"]:
                    worse.append(f"{name}: {run} alone finds more")
        if worse:
            raise Stop("; ".join(worse))
        return result

    def everything(self):
        start = time.monotonic()
        results = {"facts": self.facts()}
        if self.o.data:
            results["locomo"] = self.locomo()
        else:
            say("without --data LoCoMo is left out")
        results["abstain"] = self.abstain()
        results["long"] = self.long()
        results["unique"] = self.unique()
        return self.report(results, time.monotonic() - start)

    def report(self, results, seconds):
        v = self.vault
        return {"binary": {"name": os.path.basename(v.binary), "version": v.version(), "bytes": os.path.getsize(v.binary)},
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "seconds": round(seconds, 1),
                "options": self.extra, "flat": self.o.flat, "set": self.o.set,
                "corpus": {"banks": v.banks, "vault_bytes": v.bytes(), **v.retained, "seconds": round(v.retained["seconds"], 2)}, "results": results}


def rate(value):
    return "-" if value is None else f"{value:.3f}"


def brief(metrics):
    return ", ".join(f"{k} {v:.3f}" for k, v in metrics.items())


def top(answer):
    if answer["results"]:
        return answer["results"][0].get("score")
    return answer.get("best_score")


def median(values):
    return round(sorted(values)[len(values) // 2], 4) if values else None


def bins(queries, answers, vault):
    rows = [{"from": i / 10, "to": (i + 1) / 10, "results": 0, "hits": 0, "first": 0, "first_hits": 0} for i in range(10)]
    for q in queries:
        gold, a = set(q["evidence"]), answers[q["qid"]]
        for n, r in enumerate(a["results"]):
            if r.get("score") is None:
                continue
            row = rows[min(9, max(0, int(r["score"] * 10)))]
            hit = bool(gold & set(vault.ranked(a["bank"], {"results": [r]})))
            row["results"] += 1
            row["hits"] += hit
            row["first"] += n == 0
            row["first_hits"] += hit and n == 0
    for row in rows:
        row["hit_rate"], row["first_hit_rate"] = share(row["hits"], row["results"]), share(row["first_hits"], row["first"])
    return rows


def read_options(pairs):
    out = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise Stop(f"--option {pair}: must be KEY=VALUE")
        try:
            out[key] = json.loads(value)
        except ValueError:
            out[key] = value
        if key in LISTS and isinstance(out[key], str):
            out[key] = [w for w in out[key].split(",") if w]
    return out


# ---- long texts: the fact, a question, what the found passage must hold

LONG = [
    ("The emergency contact for the observatory dome is Walburga Teske, and she keeps the spare crank in locker 41.",
     "who keeps the spare crank for the observatory dome?", "Walburga Teske"),
    ("We agreed to freeze the tariff importer at revision 7714 until the customs office publishes its new code table.",
     "at which revision is the tariff importer frozen", "revision 7714"),
    ("To silence the hydrophone array during maintenance, run reefctl mute --array south --hours 3 from the pier computer.",
     "command to silence the hydrophone array", "reefctl mute"),
    ("Choir rehearsals were moved from the chapel to the old tannery because the organ is being restored until Easter.",
     "why were choir rehearsals moved to the tannery?", "organ is being restored"),
    ("The error QX-5580 on the seed sorter means that the vibration tray is empty, not that the camera is dirty.",
     "QX-5580 seed sorter", "vibration tray is empty"),
]


def long_text(i, fact, size=200 * 1024):
    rng = random.Random(f"long {i}")
    parts, length = [], 0
    while length < size - len(fact) - 200:
        paragraph = " ".join(sentence(rng) for _ in range(rng.randint(3, 7)))
        parts.append(paragraph)
        length += len(paragraph) + 2
    return "\n\n".join(parts + [fact]) + "\n"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=["facts", "unique", "long", "locomo", "abstain", "fusion", "ablation", "links", "all"])
    ap.add_argument("--bin", default=os.path.join(ROOT, "build/release/cli/strongroom"), help="the binary (build/release/cli/strongroom)")
    ap.add_argument("--data", help="folder with LoCoMo's memories.jsonl and queries.jsonl; never copied here")
    ap.add_argument("--score-py", help="LoCoMo's scorer, run over the run file")
    ap.add_argument("--out", help="locomo: the run file; else the results as JSON")
    ap.add_argument("--results", help="locomo: the results as JSON")
    ap.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="added to every search; may be repeated")
    ap.add_argument("--flat", action="store_true", help="store without document, position and speaker")
    ap.add_argument("--set", default="first", choices=["first", "held", "all"], help="questions of facts: the 300, those held back, or both")
    ap.add_argument("--model", metavar="PATH|OPTION|...", help="what `strongroom model add` is given, parts divided by |: every bank uses that model")
    ap.add_argument("--keep", action="store_true", help="keep the vault")
    a = ap.parse_args()
    evaluation = None
    try:
        if a.what == "locomo" and not a.data:
            raise Stop("locomo needs --data DIR")
        if a.what == "all" and not a.out:
            raise Stop("all needs --out FILE.json")
        for path in [f"{a.data}/{n}.jsonl" for n in ("memories", "queries")] if a.data else []:
            if not os.path.exists(path):
                raise Stop(f"there is no {path}")
        if a.score_py and not os.path.exists(a.score_py):
            raise Stop(f"there is no {a.score_py}")
        start = time.monotonic()
        evaluation = Evaluation(a)
        if a.what == "all":
            report = evaluation.everything()
        else:
            result = evaluation.locomo(a.out) if a.what == "locomo" else getattr(evaluation, a.what)()
            report = evaluation.report({a.what: result}, time.monotonic() - start)
        kept = report["corpus"]
        say(f"{kept['items']} items stored in {kept['seconds']} s ({kept['duplicates']} duplicates, {kept['rejected']} rejected, "
            f"{kept['quarantined']} quarantined); the vault takes {kept['vault_bytes'] // 1024} KiB")
        path = a.results if a.what == "locomo" else a.out
        if path:
            with open(path, "w", encoding="utf-8") as f:
                json.dump(report, f, indent=1, ensure_ascii=False)
                f.write("\n")
    except Stop as problem:
        sys.exit(f"run.py: {problem}")
    finally:
        if evaluation:
            evaluation.vault.close()


if __name__ == "__main__":
    main()
