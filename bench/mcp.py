#!/usr/bin/env python3
"""The process figures: the real binary over pipes, beside @modelcontextprotocol/server-memory.

    mcp.py --bin build/release/cli/strongroom [--out results/mcp.json] [--entries 10000] [--quick]

Both servers hold the same number of entries with values of the same size; rounds alternate between
them. npm installs the other server into ${XDG_CACHE_HOME:-~/.cache}/strongroom-bench once; where it
cannot, its rows are left out and that is said.
"""
import argparse
import datetime
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


class Server:
    """A server on pipes; one request at a time."""

    def __init__(self, argv, env):
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last_id = 0

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
        self.env = {"PATH": os.environ["PATH"], "HOME": folder,
                    "STRONGROOM_VAULT": f"{folder}/memory.vault",
                    "STRONGROOM_KEYFILE": f"{folder}/key", "STRONGROOM_BANK": "bench"}
        self.peer, self.peer_version = None, None
        self.random = random.Random(1)

    def sample(self, name):
        return self.times.setdefault(name, [])

    def prepare(self):
        subprocess.run([self.bin, "--vault", self.env["STRONGROOM_VAULT"], "--keyfile",
                        self.env["STRONGROOM_KEYFILE"], "init"],
                       env=self.env, check=True, capture_output=True)
        server = self.ours()
        for i in range(self.options.entries):
            timed(self.sample("load: agent_remember"), server.call, "agent_remember",
                  key=name_of(i), value=value_of(i, self.options.value_bytes))
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


TARGETS = [  # series, quantile, milliseconds at most
    ("strongroom mcp: start to tools/list", 0.5, 20),
    ("agent_recall", 0.5, 0.3),
    ("agent_recall", 0.99, 2),
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
    return {
        "program": "bench/mcp.py",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {"cpu": cpu_name(), "processors": os.cpu_count(),
                    "kernel": platform.release(), "python": platform.python_version()},
        "load": [load_before, os.getloadavg()[0]],
        "entries": bench.options.entries, "value_bytes": bench.options.value_bytes,
        "peer": f"{PEER} {bench.peer_version}" if bench.peer else None,
        "rows": rows, "targets": targets,
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
        result = report(bench, load)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=2) + "\n")
        print("written:", options.out)


if __name__ == "__main__":
    sys.exit(main())
