"""Strongroom behind the same calls as the peers: the real binary, one server process, MCP over pipes. stdlib only."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from mcp import Server  # noqa: E402

PER_CALL = 500


class Ours:
    """Options are those of the recall tool; without any a search runs as a host would call it."""

    def __init__(self, binary, folder, prefix, setup=(), env=(), options=None, structure=False):
        self.binary, self.folder, self.prefix = binary, folder, list(prefix)
        self.options, self.structure = options or {}, structure
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "STRONGROOM_VAULT": f"{folder}/bench.vault",
                    "STRONGROOM_KEYFILE": f"{folder}/key", **dict(env)}
        self.setup = setup
        self.server = None
        self.rows = {}  # memory id -> row id
        self.ids = {}   # row id -> memory id
        self.banks = set()

    def command(self, *arguments):
        subprocess.run([self.binary, *arguments], env=self.env, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)

    def open(self, create, load=False):
        before = time.perf_counter()
        if create:
            self.command("--vault", self.env["STRONGROOM_VAULT"], "init", "--keyfile", self.env["STRONGROOM_KEYFILE"])
            for line in self.setup:
                self.command(*line.split())
        self.server = Server([*self.prefix, self.binary, "mcp"], self.env).start()
        return {"ms": (time.perf_counter() - before) * 1000,
                "mode": "all arms (words, structure, time, vectors of its own model), encrypted"}

    def item(self, row):
        item = {"content": row["text"]}
        if self.structure:
            item.update({k: row[k] for k in ("timestamp", "document_id", "position", "speaker") if k in row})
            if "document_id" in item:
                item["update_mode"] = "append"
        return item

    def put(self, space, rows):
        if space not in self.banks:
            self.command("bank", "create", space)
            self.banks.add(space)
        out = self.server.call("retain", bank=space, items=[self.item(r) for r in rows])["structuredContent"]
        if len(out["items"]) != len(rows):
            raise RuntimeError(f"{len(rows)} items were given and {len(out['items'])} answered")
        for row, item in zip(rows, out["items"]):
            if item["status"] not in ("stored", "duplicate"):
                raise RuntimeError(f"{row['id']} was {item['status']}: {item.get('reason')}")
            self.ids[row["id"]] = item["id"]
            self.rows.setdefault(item["id"], []).append(row["id"])

    def load(self, space, corpus, seconds):
        with open(corpus, encoding="utf-8") as rows:
            rows = [json.loads(r) for r in rows]
        before, stored = time.perf_counter(), 0
        for at in range(0, len(rows), PER_CALL):
            self.put(space, rows[at:at + PER_CALL])
            stored += len(rows[at:at + PER_CALL])
            if stored < len(rows) and time.perf_counter() - before > seconds:
                return {"stored": stored, "seconds": time.perf_counter() - before, "embedding_seconds": None,
                        "stopped": f"{seconds:.0f} s were over"}
        return {"stored": stored, "seconds": time.perf_counter() - before, "embedding_seconds": None, "stopped": None}

    def search(self, space, questions, k, seconds=1e9):
        out, start = [], time.perf_counter()
        for question in questions:
            before, cpu = time.perf_counter(), self.cpu()
            answer = self.server.call("recall", query=question, bank=space, **self.options)
            now = time.perf_counter()
            ids = [row for r in answer["structuredContent"]["results"] for row in self.rows.get(r["id"], [])]
            out.append({"ids": ids, "ms": (now - before) * 1000, "cpu": self.cpu() - cpu})
            if now - start > seconds:
                break
        return {"answers": out}

    def add(self, space, row):
        before = time.perf_counter()
        self.put(space, [row])
        return {"ms": (time.perf_counter() - before) * 1000}

    def forget(self, space, row_id):
        before = time.perf_counter()
        self.server.call("memory_edit", op="forget", id=self.ids[row_id], bank=space)
        return {"ms": (time.perf_counter() - before) * 1000}

    def pid(self):
        return self.server.process.pid

    def cpu(self):
        """Milliseconds of processor time of all threads of the server."""
        total = 0
        for task in os.listdir(f"/proc/{self.pid()}/task"):
            with open(f"/proc/{self.pid()}/task/{task}/schedstat", encoding="ascii") as row:
                total += int(row.read().split()[0])
        return total / 1e6

    def memory(self):
        out = {}
        with open(f"/proc/{self.pid()}/smaps_rollup", encoding="ascii") as rows:
            for row in rows:
                name, _, rest = row.partition(":")
                if name in ("Rss", "Anonymous"):
                    out[name.lower()] = int(rest.split()[0]) * 1024
        return out

    def close(self):
        if self.server:
            self.server.close()
            self.server = None
        return {}

    def kill(self):
        if self.server:
            os.kill(self.pid(), signal.SIGKILL)
            self.server = None
