"""Planted markers: after a run through every write path none is in any file, on stderr, or in the
environment; names, values and tags are only inside what is encrypted."""
import os
import pathlib
import subprocess
import time
import unittest

import harness
from harness import CONFLICT, DENIED, NOT_FOUND, OK, USAGE, CliTest
from test_clients import call, handshake

MARKERS = ["zq-name-marker-71", "zq-value-marker-72", "zq-tag-marker-73", "zq-bank-marker-74",
           "zq-operation-marker-75", "zq-large-marker-76", "zq-secret-marker-77"]
NAME, VALUE, TAG, BANK, OPERATION, LARGE, SECRET = MARKERS
TOKEN = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0" + "P9o8N7m6L5k4J3i2"


class Leaks(CliTest):
    def write_everything(self):
        """Every command that stores something, and some that refuse to. Returns all of stderr."""
        said = b""

        def run(code, *args, **more):
            nonlocal said
            result = self.run_cli(*args, **more)
            self.assertEqual(result.code, code, (args, result.err))
            said += result.err
            return result.out

        run(OK, "bank", "create", BANK)
        run(OK, "set", NAME, "-", "--tag", TAG, "--operation-id", OPERATION, stdin=VALUE.encode())
        run(OK, "set", NAME, VALUE, "--bank", BANK)
        run(OK, "set", NAME, "-", "--value-json", stdin=f'{{"{NAME}":"{VALUE}"}}'.encode())
        run(OK, "set", NAME + "/large", "-", stdin=(LARGE * 20_000).encode())
        run(OK, "set", NAME + "/secret", "-", "--class", "secret", stdin=SECRET.encode())
        run(OK, "set", NAME + "/gone", "-", "--tag", TAG, stdin=VALUE.encode())
        run(OK, "rm", NAME + "/gone", "--yes")
        run(OK, "set", NAME + "/short", VALUE, "--ttl", "1")
        run(DENIED, "set", NAME + "/token", "-", stdin=TOKEN.encode())
        run(USAGE, "set", NAME, "-", "--value-json", stdin=f'{{"{VALUE}":'.encode())
        run(USAGE, "set", NAME, "-", stdin=VALUE.encode() + b"\xff")
        run(USAGE, "set", NAME, "-", "--tag", TAG * 20, stdin=VALUE.encode())
        run(CONFLICT, "set", NAME + "/large", VALUE, "--if-revision", "0")
        policy = ('{"version":2,"rules":[{"id":"a","effect":"permit","principal":"local:*"},'
                  f'{{"id":"b","effect":"forbid","key":"{NAME}/never","tags":["{TAG}"]}}]}}')
        run(OK, "policy", "seal", "-", stdin=policy.encode())
        editor = self.box.write("editor", '#!/bin/sh\nsed -i s/never/ever/ "$1"\n', 0o700)
        run(OK, "policy", "edit", env={"EDITOR": str(editor), "VISUAL": ""})
        run(OK, "mcp", stdin=(handshake() + call(2, "agent_remember", key=NAME + "/mcp", value=VALUE,
                                                 tags=[TAG]) + call(3, "agent_recall", key=NAME)
                              + call(4, "agent_forget", key=NAME + "/mcp")).encode())
        run(OK, "get", NAME)
        run(OK, "ls")
        run(OK, "history", NAME)
        run(OK, "verify")
        return said

    def test_no_marker_in_any_file(self):
        said = self.write_everything()
        self.ok("audit", "export", str(self.box.root / "export"))
        editor = self.box.root / "editor"
        found, looked = [], 0
        for path in self.box.root.rglob("*"):
            if not path.is_file() or path == editor:
                continue
            looked += 1
            data = path.read_bytes()
            for marker in (*MARKERS, TOKEN):
                # The export tells the owner the names of banks, and nothing else of the seven.
                if marker.encode() in data and not (path.name == "export" and marker == BANK):
                    found.append((str(path.relative_to(self.box.root)), marker))
        self.assertEqual(found, [])
        self.assertGreater(looked, 5)
        # stderr repeats a name that the caller gave in the same call, never a value or a credential.
        for marker in (VALUE, LARGE, SECRET, TAG, OPERATION, TOKEN):
            self.assertNotIn(marker.encode(), said)

    def test_a_refused_credential_is_nowhere(self):
        self.fails(DENIED, "set", "k", "-", stdin=TOKEN.encode())
        for path in self.box.vault.rglob("*"):
            if path.is_file():
                self.assertNotIn(TOKEN.encode(), path.read_bytes())

    def test_a_value_leaves_the_list_of_arguments(self):
        """`set KEY VALUE` wipes VALUE before it does anything that takes time."""
        read, write = os.pipe()
        process = subprocess.Popen([harness.binary(), "set", "k", VALUE, "--passphrase-fd", str(read)],
                                   env={**self.box.env, "STRONGROOM_KEYFILE": ""}, pass_fds=[read],
                                   cwd=self.box.work, stderr=subprocess.PIPE)
        arguments = pathlib.Path(f"/proc/{process.pid}/cmdline")
        end = time.monotonic() + harness.WAIT_SECONDS
        while VALUE.encode() in arguments.read_bytes() or b"strongroom" not in arguments.read_bytes():
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        os.write(write, b"wrong\n")
        os.close(write)
        os.close(read)
        _, said = process.communicate(timeout=harness.WAIT_SECONDS)
        self.assertEqual(process.returncode, harness.LOCKED, said)

    def test_the_process_is_not_dumpable(self):
        if os.geteuid() == 0:
            self.skipTest("SKIPPED: root may read any process's environment")
        process = subprocess.Popen([harness.binary(), "set", "k", "-"], env=self.box.env,
                                   cwd=self.box.work, stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL)
        time.sleep(0.1)
        with self.assertRaises(PermissionError):
            pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    unittest.main()
