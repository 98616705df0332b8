"""Strongroom behind the HTTP calls of PrecisionMemBench: /add, /update, /search, /reset. Loopback only, stdlib only.

A user is a bank; a search is the recall tool with its default options. What the harness says is used as
its form allows:

  contract   text and user alone
  scoped     the scope that it sends with every text and search is a tag
  informed   as scoped, and what its seed file says to be replaced or resolved is invalidated, as a host would
             do at the time. The harness tells its session runs what is replaced, and the others nothing
"""
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from mcp import Server  # noqa: E402


class Store:
    """A vault that is thrown away, behind one server process."""

    def __init__(self, binary, form, seed):
        self.binary, self.form = os.path.abspath(binary), form
        self.over = {b["_id"]: b.get("superseded_by") for b in seed if b.get("superseded_by") or b.get("resolved_at")}
        self.folder = self.server = None
        self.reset()

    def reset(self):
        self.close()
        self.folder = tempfile.mkdtemp(prefix="strongroom-precision-")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.folder,
                    "STRONGROOM_VAULT": f"{self.folder}/bench.vault", "STRONGROOM_KEYFILE": f"{self.folder}/key"}
        self.command("--vault", self.env["STRONGROOM_VAULT"], "init", "--keyfile", self.env["STRONGROOM_KEYFILE"])
        self.server = Server([self.binary, "mcp"], self.env).start()
        self.banks, self.ids, self.names = set(), {}, {}
        self.waiting = dict(self.over)

    def close(self):
        if self.server:
            self.server.close()
            self.server = None
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *arguments):
        subprocess.run([self.binary, *arguments], env=self.env, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)

    def bank(self, user):
        if user not in self.banks:
            self.command("bank", "create", user)
            self.banks.add(user)
        return user

    def add(self, body):
        belief, bank = body["metadata"]["beliefId"], self.bank(body["user_id"])
        item = {"content": body["text"]}
        if self.form != "contract" and body["metadata"].get("scope"):
            item["tags"] = [body["metadata"]["scope"]]
        if belief in self.ids:  # its aliases have grown: the same memory in new words
            return self.update(body)
        stored = self.server.call("retain", bank=bank, items=[item])["structuredContent"]["items"][0]
        if stored["status"] not in ("stored", "duplicate"):
            raise RuntimeError(f"{belief} was {stored['status']}: {stored.get('reason')}")
        self.ids[belief] = stored["id"]
        self.names[stored["id"]] = belief
        if self.form == "informed":
            self.invalidate(bank)
        return {"ok": True}

    def invalidate(self, bank):
        """As soon as a replacement is there as well."""
        for old, new in list(self.waiting.items()):
            if old in self.ids and (new is None or new in self.ids):
                options = {"replacement_id": self.ids[new]} if new else {}
                self.server.call("memory_edit", op="invalidate", bank=bank, id=self.ids[old], **options)
                del self.waiting[old]

    def update(self, body):
        self.server.call("memory_edit", op="update", bank=self.bank(body["user_id"]),
                         id=self.ids[body.get("beliefId") or body["metadata"]["beliefId"]], content=body["text"])
        return {"ok": True}

    def search(self, body):
        options = {"limit": body.get("limit", 20)}
        if self.form != "contract" and body.get("scope"):
            options.update(tags=[body["scope"]], tags_match="any_strict")
        found = self.server.call("recall", query=body["query"], bank=self.bank(body["user_id"]),
                                 **options)["structuredContent"]["results"]
        return {"results": [{"id": self.names[r["id"]], "memory": r["text"], "score": r["score"]} for r in found]}


def serve(store):
    """A server on a free port of the loopback interface; the caller runs it."""
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, what):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
            try:
                with lock:  # connections stay open, calls take turns
                    code, out = 200, what(body)
            except Exception as problem:  # the harness has no form for errors: it is told in the log as well
                print(f"{self.command} {self.path}: {problem}", file=sys.stderr, flush=True)
                code, out = 500, {"error": str(problem)}
            data = json.dumps(out).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self):
            self.answer({"/add": store.add, "/search": store.search}[self.path])

        def do_PUT(self):
            self.answer(store.update)

        def do_DELETE(self):
            self.answer(lambda body: store.reset() or {"ok": True})

        def log_message(self, *arguments):
            pass

    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
