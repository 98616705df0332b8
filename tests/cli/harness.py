"""Runs the real binary (STRONGROOM_BIN) in a home of its own, with pipes or on a pseudo terminal.

Nothing of the caller's environment reaches the program, and nothing it writes leaves the sandbox.
Waiting has a limit only so that a hanging program fails a test instead of stopping all.
"""
import collections
import fcntl
import hashlib
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

WAIT_SECONDS = 120
PASSED_ON = ("PATH", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS",
             "LD_LIBRARY_PATH")

OK, NOT_FOUND, USAGE, LOCKED, DENIED, DAMAGED, CONFLICT, DISK = range(8)

Result = collections.namedtuple("Result", "code out err")


def binary():
    path = os.environ.get("STRONGROOM_BIN")
    if not path:
        sys.exit("STRONGROOM_BIN must name the strongroom binary")
    return path


def json_lines(data):
    return [json.loads(line) for line in data.decode("utf-8").splitlines()]


class Sandbox:
    """A home, a working directory outside any project, and an environment that points into them."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="strongroom-cli-"))
        self.env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        for name in ("config", "data", "state", "cache", "runtime"):
            (self.root / name).mkdir(mode=0o700)
            suffix = "_DIR" if name == "runtime" else "_HOME"
            self.env[f"XDG_{name.upper()}{suffix}"] = str(self.root / name)
        for name in ("home", "work"):
            (self.root / name).mkdir(mode=0o700)
        self.env["HOME"] = str(self.root / "home")
        self.env["STRONGROOM_VAULT"] = str(self.vault)
        self.env["STRONGROOM_KEYFILE"] = str(self.key)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    vault = property(lambda self: self.root / "memory.vault")
    key = property(lambda self: self.root / "owner.key")
    work = property(lambda self: self.root / "work")
    home = property(lambda self: self.root / "home")

    def command(self, args):
        return [binary(), *args]

    def run(self, *args, stdin=b"", env=None, cwd=None, **more):
        done = subprocess.run(self.command(args), input=stdin, env={**self.env, **(env or {})},
                              cwd=cwd or self.work, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=WAIT_SECONDS,
                              start_new_session=True, **more)
        return Result(done.returncode, done.stdout, done.stderr)

    def without(self, *names):
        return {name: value for name, value in self.env.items() if name not in names}

    def write(self, name, data, mode=0o600):
        path = self.root / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        path.chmod(mode)
        return path

    def fingerprint(self):
        """Bytes of the header and of every bank file of the vault."""
        files = [self.vault / "header", *sorted(self.vault.rglob("*.mdb"))]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


class CliTest(unittest.TestCase):
    """Each test has a sandbox; `vault = True` also makes a vault with a key file."""

    vault = True

    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        if self.vault:
            self.ok("init", "--keyfile", str(self.box.key))

    def run_cli(self, *args, **more):
        return self.box.run(*args, **more)

    def ok(self, *args, **more):
        result = self.run_cli(*args, **more)
        self.assertEqual(result.code, OK, result.err.decode(errors="replace"))
        return result.out

    def json(self, *args, **more):
        lines = json_lines(self.ok(*args, "--json", **more))
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def fails(self, code, *args, error=None, text=None, **more):
        """The exit code, the error's code in JSON, and the same text in both forms."""
        result = self.run_cli(*args, **more)
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.out, b"")
        message = result.err.decode()
        self.assertTrue(message.startswith("strongroom: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        if text is not None:
            self.assertIn(text, message)
        if error is not None:
            at = args.index("--") if "--" in args else len(args)
            again = self.run_cli(*args[:at], "--json", *args[at:], **more)
            self.assertEqual(again.code, code)
            body = json.loads(again.err.decode())
            self.assertEqual(list(body), ["error"])
            self.assertEqual(list(body["error"]), ["code", "text"])
            self.assertEqual(body["error"]["code"], error)
        return message


class Terminal:
    """The program on a pseudo terminal that is its controlling one."""

    def __init__(self, box, *args, env=None, stdout=None, cwd=None):
        self.master, self.slave = pty.openpty()
        slave = self.slave

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            box.command(args), env={**box.env, "TERM": "dumb", **(env or {})},
            cwd=cwd or box.work, stdin=slave, stdout=slave if stdout is None else stdout,
            stderr=slave, preexec_fn=take_terminal)
        self.seen = b""
        self.mark = 0

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def read_more(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.seen += os.read(self.master, 65536)
        return bool(ready)

    def expect(self, text):
        """Waits until `text` appears after what was expected before."""
        wanted = text.encode()
        end = time.monotonic() + WAIT_SECONDS
        while wanted not in self.seen[self.mark:]:
            if time.monotonic() > end or (self.process.poll() is not None
                                          and not self.read_more(0.2)):
                raise AssertionError(f"{text!r} did not appear in {self.seen!r}")
            self.read_more(0.05)
        self.mark = self.seen.index(wanted, self.mark) + len(wanted)

    def send(self, text):
        os.write(self.master, text.encode())

    def echo(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def wait_for_echo(self, wanted):
        end = time.monotonic() + WAIT_SECONDS
        while self.echo() != wanted:
            if time.monotonic() > end:
                raise AssertionError(f"echo stayed {not wanted}")
            time.sleep(0.01)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def wait(self):
        end = time.monotonic() + WAIT_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"still running: {self.seen!r}")
            self.read_more(0.05)
        while self.read_more(0.05):
            pass
        return self.process.returncode


class TerminalTest(CliTest):
    def terminal(self, *args, **more):
        session = Terminal(self.box, *args, **more)
        self.addCleanup(session.close)
        return session


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(verbosity=1)
