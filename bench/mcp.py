#!/usr/bin/env python3
"""The process figures: the real binary over pipes, beside @modelcontextprotocol/server-memory.

    mcp.py --bin build/release/cli/strongroom [--out results/mcp.json] [--entries 10000] [--quick]

Both servers hold the same number of entries with values of the same size, and the same memories in
a bank and a file of their own; rounds alternate between them. npm installs the other server into
${XDG_CACHE_HOME:-~/.cache}/strongroom-bench once; where it cannot, its rows are left out and that is
said.
"""
import argparse
import datetime
import itertools
import json
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time

PROTOCOL = "2025-11-25"
PEER = "@modelcontextprotocol/server-memory"


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "strongroom-bench"


def quantile(values, q):
    ordered = sorted(values)
    return ordered[round(q * (len(ordered) - 1))]


def name_of(i):
    return f"doc/{i:016x}"


def value_of(i, size):
    words = random.Random(i).choices(
        "the build uses a cache of objects keyed by source hash and flags".split(), k=size // 3)
    return " ".join(words)[:size]


class Texts:
    """Memories of 25 to 55 words, drawn by Zipf's law from 20,000 made-up ones; questions."""

    def __init__(self):
        draw = random.Random(7)
        starts = "b d f g k l m n p r s t v z br dr gr kl pl sk st tr sh th".split()
        words = {}
        while len(words) < 20_000:
            words["".join(draw.choice(starts) + draw.choice("aeiou")
                          for _ in range(2 if len(words) < 2000 else 3))] = None
        self.words = list(words)
        self.weights = list(itertools.accumulate(1 / (i + 1) for i in range(len(words))))

    def ranks(self, i):
        draw = random.Random(i)
        return draw.choices(range(len(self.words)), cum_weights=self.weights,
                            k=draw.randrange(25, 56))

    def text(self, i):
        return " ".join(self.words[rank] for rank in self.ranks(i)) + f" x{i:010x}"

    def query(self, i, count):
        """`count` words of a text in their order, none of the 30 most frequent."""
        return " ".join([self.words[rank] for rank in self.ranks(i) if rank >= 30][:count])


def dialogue():
    """30 turns about one subject, as two people write them."""
    subjects = ["the cabin by the lake", "Tom's violin lessons", "the marathon in May",
                "mother's birthday dinner", "the new job in Lyon", "the broken heating"]
    forms = [
        "I was just thinking about {}. Did you find the time to look into it over the weekend?",
        "Yes, about {}: I called them on Tuesday and they said it would take another two weeks.",
        "Honestly, {} has been on my mind all week, and I do not know what to tell the others.",
        "Let us talk about {} when you are back, there are some papers that we both must sign.",
        "My sister asked about {} again! I told her that nothing has been decided so far.",
    ]
    return [forms[i % 5].format(subjects[i // 5]) for i in range(30)]


class Server:
    """A server on pipes; one request at a time."""

    def __init__(self, argv, env):
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last_id = 0
        self.last_bytes = 0  # of the last answer, its line end left out

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.process.args[0]} ended during {method}")
            answer = json.loads(line)
            if answer.get("id") == self.last_id:
                break
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{method} failed: {line[:300]!r}")
        self.last_bytes = len(line) - 1
        return answer["result"]

    def start(self):
        self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {},
                                    "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def call(self, tool, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def timed(times, work, *arguments, **keywords):
    before = time.perf_counter()
    work(*arguments, **keywords)
    times.append(time.perf_counter() - before)


def time_to_tools(argv, env):
    before = time.perf_counter()
    server = Server(argv, env).start()
    server.request("tools/list", {})
    elapsed = time.perf_counter() - before
    server.close()
    return elapsed


def time_process(argv, env):
    before = time.perf_counter()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    os.close(null)
    if status != 0:
        raise RuntimeError(f"{argv} ended with {status}")
    return time.perf_counter() - before


def find_peer():
    """The command line of the other server, or None with the reason printed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        print("server-memory left out: node or npm is not installed")
        return None
    prefix = cache_folder() / "npm"
    package = prefix / "node_modules" / PEER
    if not package.is_dir():
        prefix.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([npm, "install", "--silent", "--prefix", str(prefix), PEER],
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            print("server-memory left out: npm could not install it:", done.stderr.strip()[-200:])
            return None
    version = json.loads((package / "package.json").read_text())["version"]
    return [node, str(package / "dist" / "index.js")], version


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.bin = str(pathlib.Path(options.bin).resolve())
        self.times = {}
        self.sizes = {}
        self.texts = Texts()
        self.env = {"PATH": os.environ["PATH"], "HOME": folder,
                    "STRONGROOM_VAULT": f"{folder}/memory.vault",
                    "STRONGROOM_KEYFILE": f"{folder}/key", "STRONGROOM_BANK": "bench"}
        self.peer, self.peer_version = None, None
        self.random = random.Random(1)

    def sample(self, name):
        return self.times.setdefault(name, [])

    def prepare(self):
        for command in (["init"], ["bank", "create", "notes"], ["bank", "create", "dialogue"]):
            subprocess.run([self.bin, "--vault", self.env["STRONGROOM_VAULT"], "--keyfile",
                            self.env["STRONGROOM_KEYFILE"], *command],
                           env=self.env, check=True, capture_output=True)
        server = self.ours()
        for i in range(self.options.entries):
            timed(self.sample("load: agent_remember"), server.call, "agent_remember",
                  key=name_of(i), value=value_of(i, self.options.value_bytes))
        for first in range(0, self.options.entries, 500):
            texts = [{"content": self.texts.text(i)}
                     for i in range(first, min(first + 500, self.options.entries))]
            timed(self.sample("load: retain, 500 a call"), server.call, "retain", items=texts,
                  bank="notes")
        server.close()
        found = None if self.options.no_peer else find_peer()
        if not found:
            return
        self.peer, self.peer_version = found
        memory = self.folder / "memory.jsonl"
        with memory.open("w") as out:
            for i in range(self.options.entries):
                out.write(json.dumps({
                    "type": "entity", "name": name_of(i), "entityType": "note",
                    "observations": [value_of(i, self.options.value_bytes)]}) + "\n")
        self.peer_env = dict(self.env, MEMORY_FILE_PATH=str(memory))
        notes = self.folder / "notes.jsonl"
        with notes.open("w") as out:
            for i in range(self.options.entries):
                out.write(json.dumps({"type": "entity", "name": name_of(i), "entityType": "note",
                                      "observations": [self.texts.text(i)]}) + "\n")
        self.notes_env = dict(self.env, MEMORY_FILE_PATH=str(notes))

    def ours(self):
        return Server([self.bin, "mcp"], self.env).start()

    def starts(self, rounds):
        get = [self.bin, "get", name_of(0)]
        for _ in range(rounds):
            self.sample("strongroom mcp: start to tools/list").append(
                time_to_tools([self.bin, "mcp"], self.env))
            if self.peer:
                self.sample("server-memory: start to tools/list").append(
                    time_to_tools(self.peer, self.peer_env))
            self.sample("strongroom get, whole process").append(time_process(get, self.env))
            self.sample("/bin/true, whole process").append(time_process(["/bin/true"], self.env))
            if self.peer:
                self.sample("node -e 0, whole process").append(
                    time_process([self.peer[0], "-e", "0"], self.env))

    def calls(self, rounds):
        ours = self.ours()
        ours.call("agent_recall", key=name_of(0))
        peer = Server(self.peer, self.peer_env).start() if self.peer else None
        size, entries = self.options.value_bytes, self.options.entries
        for turn in range(rounds):
            for _ in range(200):
                timed(self.sample("agent_recall"), ours.call, "agent_recall",
                      key=name_of(self.random.randrange(entries)))
            if peer:
                for _ in range(5):
                    timed(self.sample("open_nodes"), peer.call, "open_nodes",
                          names=[name_of(self.random.randrange(entries))])
            for i in range(50):
                timed(self.sample("agent_remember"), ours.call, "agent_remember",
                      key=f"new/{turn}-{i}", value=value_of(i, size))
            if peer:
                for i in range(5):
                    timed(self.sample("create_entities"), peer.call, "create_entities",
                          entities=[{"name": f"new/{turn}-{i}", "entityType": "note",
                                     "observations": [value_of(i, size)]}])
        ours.close()
        if peer:
            peer.close()


    def recalls(self, rounds):
        """The other server finds what contains the question as it stands; ours any of its words."""
        ours = self.ours()
        peer = Server(self.peer, self.notes_env).start() if self.peer else None
        ours.call("recall", query=self.texts.query(0, 3), bank="notes")
        bytes_of = {"recall": [], "search_nodes": []}
        for _ in range(rounds):
            for _ in range(50):
                text = self.random.randrange(self.options.entries)
                question = self.texts.query(text, self.random.randrange(3, 6))
                timed(self.sample("recall"), ours.call, "recall", query=question, bank="notes")
                bytes_of["recall"].append(ours.last_bytes)
            if peer:
                for _ in range(5):
                    text = self.random.randrange(self.options.entries)
                    timed(self.sample("search_nodes"), peer.call, "search_nodes",
                          query=self.texts.query(text, 1))
                    bytes_of["search_nodes"].append(peer.last_bytes)
        for tool, sizes in bytes_of.items():
            if sizes:
                self.sizes[f"{tool}: an answer, median"] = quantile(sizes, 0.5)
        ours.close()
        if peer:
            peer.close()

    def measure_sizes(self):
        for profile in ("default", "full"):
            server = Server([self.bin, "mcp", "--profile", profile], self.env).start()
            server.request("tools/list", {})
            self.sizes[f"tools/list, profile {profile}"] = server.last_bytes
            server.close()
        server = self.ours()
        server.call("retain", bank="dialogue", items=[
            {"content": text, "document_id": "session-1", "position": i, "speaker": "AB"[i % 2],
             "timestamp": f"2024-05-{1 + i // 2:02}T10:00:00Z"}
            for i, text in enumerate(dialogue())])
        question = ("what is the state of the cabin, the violin lessons, the marathon, "
                    "the birthday dinner, the new job and the broken heating?")
        server.call("recall", bank="dialogue", query=question, min_score=0)
        self.sizes["recall, min_score 0, 30 turns: the answer"] = server.last_bytes
        answer = server.call("recall", bank="dialogue", query=question)
        self.sizes["recall, default options, 30 turns: the answer"] = server.last_bytes
        text = "".join(part.get("text", "") for part in answer["content"])
        self.sizes["recall, default options, 30 turns: its text"] = len(text.encode())
        self.sizes["recall, default options, 30 turns: results"] = text.count("\n- ")
        server.close()


SIZE_TARGETS = [  # name, bytes at most
    ("tools/list, profile default", 12 * 1024),
    ("recall, default options, 30 turns: the answer", 16 * 1024),
]
TARGETS = [  # series, quantile, milliseconds at most
    ("strongroom mcp: start to tools/list", 0.5, 20),
    ("agent_recall", 0.5, 0.3),
    ("agent_recall", 0.99, 2),
    ("recall", 0.5, 1),
    ("strongroom get, whole process", 0.5, 8),
]


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def report(bench, load_before):
    rows = []
    print(f"\n{'':42} {'p25 ms':>9} {'p50 ms':>9} {'p99 ms':>9}      n")
    for name, times in bench.times.items():
        ms = {f"p{round(q * 100)}_ms": round(quantile(times, q) * 1e3, 4)
              for q in (0.25, 0.5, 0.99)}
        rows.append({"name": name, "operations": len(times), **ms})
        figures = "".join(f" {value:9.3f}" for value in ms.values())
        print(f"{name:42}{figures} {len(times):6}")
    targets = []
    for name, q, at_most in TARGETS:
        value = quantile(bench.times[name], q) * 1e3
        targets.append({"name": name, "quantile": q, "value_ms": round(value, 4),
                        "at_most_ms": at_most, "met": value <= at_most})
        print(f"{name}, p{q * 100:g}: {value:.3f} ms, target {at_most} ms:",
              "met" if value <= at_most else "NOT met")
    for name, value in bench.sizes.items():
        print(f"{name}: {value}")
    for name, at_most in SIZE_TARGETS:
        value = bench.sizes[name]
        targets.append({"name": name, "value_bytes": value, "at_most_bytes": at_most,
                        "met": value <= at_most})
        print(f"{name}: {value} bytes, target {at_most}:",
              "met" if value <= at_most else "NOT met")
    return {
        "program": "bench/mcp.py",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {"cpu": cpu_name(), "processors": os.cpu_count(),
                    "kernel": platform.release(), "python": platform.python_version()},
        "load": [load_before, os.getloadavg()[0]],
        "entries": bench.options.entries, "value_bytes": bench.options.value_bytes,
        "peer": f"{PEER} {bench.peer_version}" if bench.peer else None,
        "rows": rows, "sizes": bench.sizes, "targets": targets,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, help="the strongroom binary")
    parser.add_argument("--out", help="write the report there as JSON")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--value-bytes", type=int, default=200)
    parser.add_argument("--no-peer", action="store_true", help="measure ours alone")
    parser.add_argument("--quick", action="store_true", help="few rounds, 500 entries")
    options = parser.parse_args()
    if options.quick:
        options.entries = min(options.entries, 500)
    load = os.getloadavg()[0]
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        bench = Bench(options, folder)
        bench.prepare()
        bench.starts(3 if options.quick else 30)
        bench.calls(2 if options.quick else 20)
        bench.recalls(2 if options.quick else 20)
        bench.measure_sizes()
        result = report(bench, load)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=2) + "\n")
        print("written:", options.out)


if __name__ == "__main__":
    sys.exit(main())
