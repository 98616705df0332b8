"""Vaults, commands and MCP servers for tests that kill, starve, damage and watch the real binary.

The binary is STRONGROOM_BIN. STRONGROOM_LONG=1 asks for the longer form of every test. What cannot
run here (no strace, no root) is skipped, and said aloud.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LONG = os.environ.get("STRONGROOM_LONG") == "1"
WAIT_SECONDS = 120  # a limit only so that a hanging program fails a test instead of stopping all
CORRUPT = 5
NO_SPACE = 7
KILLED = -9

VERSION = "2025-11-25"
CREDENTIAL = "AKIA" + "Q3EGZZ4RTM7NK2XW"


def binary():
    path = os.environ.get("STRONGROOM_BIN")
    if not path:
        sys.exit("STRONGROOM_BIN must name the strongroom binary")
    return path


def skip(reason):
    print(f"SKIPPED: {reason}", file=sys.stderr)
    raise unittest.SkipTest(reason)


class Done:
    """How a command ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        return json.loads(self.out)

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __repr__(self):
        return f"exit {self.code}, out {self.out[:300]!r}, err {self.err[:500]!r}"


class Vault:
    """A vault, its key, its anchor and a folder to work in, all below one folder."""

    def __init__(self, folder, init=True, inside=None):
        self.folder = pathlib.Path(folder)
        inside = pathlib.Path(inside or folder)
        self.path = inside / "memory.vault"
        self.key = self.folder / "owner.key"
        self.env = {name: os.environ[name] for name in os.environ
                    if name in ("PATH", "LANG", "LD_LIBRARY_PATH") or name.endswith("SAN_OPTIONS")}
        for name in ("config", "data", "state", "runtime", "home", "work"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)
        self.env.update(HOME=str(self.folder / "home"), STRONGROOM_VAULT=str(self.path),
                        STRONGROOM_KEYFILE=str(self.key),
                        XDG_CONFIG_HOME=str(self.folder / "config"),
                        XDG_DATA_HOME=str(self.folder / "data"),
                        XDG_STATE_HOME=str(self.folder / "state"),
                        XDG_RUNTIME_DIR=str(self.folder / "runtime"))
        self.work = self.folder / "work"
        if init:
            self.must("init", "--keyfile", str(self.key))

    def copy(self, folder):
        """The same vault elsewhere, anchor included."""
        folder = pathlib.Path(folder)
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Vault(folder, init=False)

    def run(self, *args, stdin=b"", wrap=(), env=None, folder=None):
        done = subprocess.run([*wrap, binary(), *args], input=stdin, env=env or self.env,
                              cwd=folder or self.work, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=WAIT_SECONDS)
        return Done(done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def must(self, *args, **how):
        done = self.run(*args, **how)
        if done.code != 0:
            raise AssertionError(f"{' '.join(args)}: {done}")
        return done

    def set(self, key, value, *options):
        value = value if isinstance(value, bytes) else value.encode()
        return self.run("set", *options, "--", key, "-", stdin=value)

    def get(self, key, *options):
        """The value, or None when there is no such entry."""
        done = self.run("get", *options, "--", key)
        if done.code == 1:
            return None
        if done.code != 0:
            raise AssertionError(f"get {key}: {done}")
        return done.out

    def keys(self, *options):
        return [line["key"] for line in self.must("ls", "--json", *options).lines()]

    def banks(self):
        return {line["name"] for line in self.must("bank", "ls", "--json").lines()}

    def problems(self):
        done = self.run("verify", "--json")
        if done.code not in (0, CORRUPT):
            raise AssertionError(f"verify: {done}")
        problems = done.json()["problems"]
        if bool(problems) != (done.code == CORRUPT):
            raise AssertionError(f"verify: exit code and problems disagree: {done}")
        return problems

    def check_clean(self, orphans=False):
        """Nothing is wrong. With `orphans` an unlisted bank file may be there: a kill leaves it."""
        left = [p for p in self.problems()
                if not (orphans and "that no list row names" in p["text"])]
        if left:
            raise AssertionError(f"verify: {left}")
        for line in self.must("audit", "verify", "--json").lines():
            if not line["ok"]:
                raise AssertionError(f"audit verify: {line}")

    def seal(self, *rules):
        """Seals the default policy and more rules, as the next version."""
        policy = self.must("policy", "show", "--json").json()
        policy["version"] += 1
        policy["rules"] += rules
        return self.run("policy", "seal", "-", stdin=json.dumps(policy).encode())

    def files(self):
        return [path for path in self.folder.rglob("*") if path.is_file()]


class Server:
    """An MCP server over raw pipes, one request at a time or several in flight."""

    def __init__(self, vault, *args, wrap=(), env=None, folder=None, preexec=None):
        self.process = subprocess.Popen([*wrap, binary(), "mcp", *args], env=env or vault.env,
                                        cwd=folder or vault.work, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        preexec_fn=preexec)
        self.next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.kill()

    def send(self, method, params=None, notify=False):
        message = {"jsonrpc": "2.0", "method": method}
        if not notify:
            self.next_id += 1
            message["id"] = self.next_id
        if params is not None:
            message["params"] = params
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.next_id

    def receive(self):
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError("the server ended")
        return json.loads(line)

    def request(self, method, params=None):
        number = self.send(method, params)
        while True:
            message = self.receive()
            if message.get("id") == number:
                return message

    def initialize(self):
        self.request("initialize", {"protocolVersion": VERSION, "capabilities": {},
                                    "clientInfo": {"name": "tests", "version": "1"}})
        self.send("notifications/initialized", notify=True)
        return self

    def call(self, tool, **arguments):
        message = self.request("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in message:
            raise AssertionError(f"{tool}: {message}")
        return message["result"]

    def must(self, tool, **arguments):
        result = self.call(tool, **arguments)
        if result.get("isError"):
            raise AssertionError(f"{tool}: {text_of(result)}")
        return result["structuredContent"]

    def refused(self, tool, **arguments):
        """The error text of a call that must fail."""
        result = self.call(tool, **arguments)
        if not result.get("isError"):
            raise AssertionError(f"{tool} was not refused: {str(result)[:300]}")
        return text_of(result)

    def remember(self, key, value, **more):
        return self.must("agent_remember", key=key, value=value, **more)

    def recall(self, key, **more):
        """The value, or None when there is no such entry."""
        result = self.call("agent_recall", key=key, **more)
        if not result.get("isError"):
            return result["structuredContent"]["data"]["value"]
        if text_of(result).startswith("No memory found"):
            return None
        raise AssertionError(f"agent_recall: {text_of(result)}")

    def keys(self):
        keys, cursor = [], {}
        while True:
            page = self.must("agent_recall", limit=1000, **cursor)
            keys += [entry["key"] for entry in page.get("entries", [])]
            if not page.get("cursor"):
                return keys
            cursor = {"cursor": page["cursor"]}

    def kill(self):
        self.process.kill()
        self._finish()

    def close(self, codes=(0,)):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.read()
        code = self._finish()
        if code not in codes:
            raise AssertionError(f"the server ended with {code}")

    def _finish(self):
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        return self.process.wait(timeout=WAIT_SECONDS)


def text_of(result):
    return "\n".join(block["text"] for block in result["content"])


class RobustTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strongroom-robust-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def new_folder(self, name):
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        return folder

    def new_vault(self, name="vault"):
        return Vault(self.new_folder(name))


# ---- memories

class Memories:
    """What a vault holds of memories, as its user sees it; ids included, times left out."""

    def __init__(self, vault):
        lines = vault.must("memories", "--json", "--include-invalid").lines()
        self.texts = {line["id"]: line["text"] for line in lines}
        self.valid = {line["id"] for line in lines if line["valid"]}
        self.state = (
            sorted((line["id"], line["text"], line["valid"], tuple(line.get("tags", [])),
                    line["importance"], line.get("document_id")) for line in lines),
            sorted((line["document_id"], line["memories"])
                   for line in vault.must("documents", "--json").lines()))
        self.vault = vault

    def links(self):
        """Links by relation, asked of the first memory: of all that these tests make."""
        if not self.texts:
            return []
        first = min(self.texts, key=lambda one: (len(one), one))
        shown = self.vault.must("show", first, "--json").json()
        return [link["relation"] for link in shown["links"]]

    def check_recall(self, words):
        """Each of the words, which no two texts share, finds the valid memory that has it alone."""
        batch = "".join(json.dumps({"qid": word, "query": word, "min_score": 0, "limit": 200,
                                    "max_tokens": 1000000}) + "\n" for word in words)
        done = self.vault.must("recall", "--batch", "-", "--json", stdin=batch.encode())
        answers = {line["qid"]: line for line in done.lines()}
        for word in words:
            found = {result["id"] for result in answers[word]["results"]
                     if word in result["text"].split()}
            expected = {one for one in self.valid if word in self.texts[one].split()}
            if found != expected:
                raise AssertionError(f"recall of {word}: {found}, stored {expected}")


def jsonl(items):
    return "".join(json.dumps(item) + "\n" for item in items).encode()


# ---- strace

STRACE_PROBE = ["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1", "true"]


def need_strace():
    if shutil.which("strace") is None:
        skip("strace is not installed")
    if subprocess.run(STRACE_PROBE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        skip("strace may not trace here, or cannot inject")


STORING_CALLS = ("pwrite64", "pwritev", "fdatasync", "fsync", "msync", "ftruncate", "fallocate",
                 "rename", "renameat", "renameat2")
WRITE_CALLS = (*STORING_CALLS, "write", "writev", "unlink", "unlinkat", "mkdir", "mkdirat", "chmod")


def tracing(log, calls):
    return ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={','.join(calls)}",
            "-e", "signal=none"]


def injected(what, place):
    """The front of a command line that injects `what` at one call: (name, its how-many-th)."""
    name, number = place
    return [*tracing("/dev/null", [name]), "-e", f"inject={name}:{what}:when={number}"]


def places(log):
    """The calls that a log of strace shows, each as (name, its how-many-th); in order."""
    seen, calls = {}, []
    for line in pathlib.Path(log).read_text(errors="replace").splitlines():
        match = re.match(r"(?:\d+ +)?(\w+)\(", line)
        if match:
            seen[match[1]] = seen.get(match[1], 0) + 1
            calls.append((match[1], seen[match[1]]))
    return calls


def calls_of(vault, *args, stdin=b"", env=None, calls=WRITE_CALLS):
    """The calls that a command makes; the vault is changed by it."""
    log = vault.folder / "strace.log"
    vault.must(*args, stdin=stdin, env=env, wrap=tracing(log, calls))
    found = places(log)
    log.unlink()
    return found


def main():
    """Exit code 77 when nothing could run here."""
    binary()
    program = unittest.main(verbosity=2, exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) >= result.testsRun else 0)
