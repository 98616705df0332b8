"""The program of ask.cpp beside a server, for tests of the embedder behind HTTP.

STRONGROOM_ASK names the program.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from http_server import Server, right

ASK = os.environ.get("STRONGROOM_ASK") or sys.exit("STRONGROOM_ASK must name the program")
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS")
SECRET = "the safe's combination is zebra-4711-quartz"
TOKEN = "tok_Aq3xG7Lm9ZkW2pVd"
PATHS = {"openai": "/v1/embeddings", "ollama": "/api/embed"}
SHAPES = tuple(PATHS)


def must_skip(reason):
    print(f"SKIPPED: {reason}", file=sys.stderr)
    raise unittest.SkipTest(reason)


class Ask:
    """The program, and what it is told and says."""

    def __init__(self, environment=None, wrap=(), arguments=()):
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.process = subprocess.Popen([*wrap, ASK, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**passed, **(environment or {})})
        self.said = b""

    def tell(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        self.said += line
        if not line:
            raise AssertionError(f"no answer: {self.process.stderr.read().decode()}")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.wait(), errors


class HttpCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strongroom-embed-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.servers = []
        self.addCleanup(lambda: [server.stop() for server in self.servers])

    def serve(self, respond, family=socket.AF_INET):
        server = Server(respond, family)
        self.servers.append(server)
        return server

    def ask(self, **options):
        asker = Ask(**options)

        def finish():
            code, errors = asker.end()
            self.assertEqual((code, errors), (0, b""))
            for secret in (SECRET, TOKEN, "zebra", "4711", "quartz"):
                self.assertNotIn(secret.encode(), self.errors_of(asker))
        self.addCleanup(finish)
        return asker

    @staticmethod
    def errors_of(asker):
        return b"\n".join(line for line in asker.said.splitlines() if b'"error"' in line)

    def options(self, server, shape="openai", host="127.0.0.1", **more):
        return {"url": f"http://{host}:{server.port}{PATHS[shape]}", "shape": shape, "model": "m",
                **more}

    def model(self, asker, server, shape="openai", **more):
        """Inspects an endpoint that works, and returns the model, which is open then."""
        told = asker.tell(inspect=self.options(server, shape, **more))
        self.assertIn("model", told, told)
        return told["model"]

    def failure(self, asker, *words, **request):
        told = asker.tell(**request)
        self.assertIn("error", told)
        for word in words:
            self.assertRegex(told["error"], word)
        return told["error"]

    def broken(self, respond, *words, shape="openai", texts=(SECRET,), **more):
        """A server that was right when it was inspected, and then answers as `respond` does."""
        server = self.serve(right(shape))
        asker = self.ask()
        self.model(asker, server, shape, **more)
        server.respond = respond
        return server, self.failure(asker, *words, embed=list(texts), side="query")
