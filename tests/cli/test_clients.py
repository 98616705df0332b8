"""connect, completion, mcp: what other programs start or read."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import harness
from harness import NOT_FOUND, OK, USAGE, CliTest, json_lines

CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"]


class Connect(CliTest):
    def config(self):
        return self.box.home / ".claude.json"

    def test_print_writes_nothing(self):
        for client in CLIENTS:
            text = self.ok("connect", client, "--print").decode()
            self.assertIn("strongroom", text)
            if client != "codex":
                json.loads(text)
        lines = json_lines(self.ok("connect", *CLIENTS, "--print", "--json"))
        self.assertEqual([line["client"] for line in lines], CLIENTS)
        self.assertEqual(list(lines[0]), ["client", "path", "snippet"])
        self.assertEqual(os.listdir(self.box.home), [])

    def test_needs_yes_off_a_terminal(self):
        result = self.run_cli("connect", "claude-code")
        self.assertEqual(result.code, USAGE)
        self.assertIn(b"--yes", result.err)
        self.assertIn(b'+ "strongroom": {', result.out)
        self.assertFalse(self.config().exists())

    def test_connect_and_undo(self):
        before = '{\n  "theme": "dark",\n  "mcpServers": {"other": {"command": "x"}}\n}\n'
        self.config().write_text(before)
        reply = self.json("connect", "claude-code", "--yes", "--bank", "team", "--read-only")
        self.assertEqual(list(reply), ["client", "path", "action", "backup", "summary"])
        self.assertEqual(reply["action"], "add")
        self.assertEqual(pathlib.Path(reply["backup"]).read_text(), before)
        written = json.loads(self.config().read_text())
        entry = written["mcpServers"]["strongroom"]
        self.assertEqual(entry["command"], os.path.realpath(harness.binary()))
        self.assertEqual(entry["args"], ["mcp", "--bank", "team", "--read-only"])
        self.assertEqual(entry["env"], {"STRONGROOM_VAULT": str(self.box.vault),
                                        "STRONGROOM_KEYFILE": str(self.box.key)})
        self.assertEqual(written["mcpServers"]["other"], {"command": "x"})
        self.assertEqual(self.json("connect", "claude-code", "--yes", "--bank", "team",
                                   "--read-only")["action"], "none")
        self.ok("connect", "claude-code", "--undo", "--yes")
        self.assertEqual(self.config().read_text(), before)

    def test_what_is_written_starts_a_server(self):
        self.ok("set", "k", "v")
        self.ok("connect", "claude-code", "--yes")
        entry = json.loads(self.config().read_text())["mcpServers"]["strongroom"]
        env = {**self.box.without("STRONGROOM_VAULT", "STRONGROOM_KEYFILE"), **entry["env"]}
        done = subprocess.run([entry["command"], *entry["args"]], input=recall("k"), env=env,
                              cwd=self.box.work, capture_output=True, timeout=60)
        self.assertEqual(json.loads(json_lines(done.stdout)[-1]["result"]["content"][0]["text"])["data"],
                         {"key": "k", "value": "v"})

    def test_refusals(self):
        self.fails(USAGE, "connect", error="invalid", text="claude-code")
        self.fails(USAGE, "connect", "claude-cod", "--yes", error="invalid", text="claude-code")
        self.fails(USAGE, "connect", "--all", "cursor", error="invalid")
        self.fails(NOT_FOUND, "connect", "--all", "--yes", error="not_found")
        self.config().write_text('{"mcpServers": {}, // mine\n}')
        before = self.config().read_bytes()
        self.assertEqual(self.run_cli("connect", "claude-code", "--yes").code, USAGE)
        self.assertEqual(self.config().read_bytes(), before)

    def test_all(self):
        (self.box.home / ".cursor").mkdir()
        self.config().write_text("{}")
        lines = json_lines(self.ok("connect", "--all", "--yes", "--json"))
        self.assertEqual({line["client"] for line in lines}, {"claude-code", "cursor"})

    def test_one_bad_plan_leaves_all_files(self):
        (self.box.home / ".cursor").mkdir()
        (self.box.home / ".cursor" / "mcp.json").write_text("[]")
        self.assertEqual(self.run_cli("connect", "claude-code", "cursor", "--yes").code, USAGE)
        self.assertFalse(self.config().exists())


class Completion(CliTest):
    vault = False

    def script(self, shell):
        text = self.ok("completion", shell)
        for word in (b"remember", b"if-revision", b"explain", b"passphrase-fd"):
            self.assertIn(word, text)
        return text

    def parses(self, shell, text):
        path = shutil.which(shell)
        if path is None:
            self.skipTest(f"SKIPPED: {shell} is not installed")
        flag = "--no-execute" if shell == "fish" else "-n"
        done = subprocess.run([path, flag], input=text, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_bash(self):
        self.parses("bash", self.script("bash"))

    def test_zsh(self):
        self.parses("zsh", self.script("zsh"))

    def test_fish(self):
        self.parses("fish", self.script("fish"))

    def test_unknown_shell(self):
        self.fails(USAGE, "completion", "csh", error="invalid")

    def complete(self, *words):
        """What bash offers for the last of the words."""
        if shutil.which("bash") is None:
            self.skipTest("SKIPPED: bash is not installed")
        script = self.ok("completion", "bash").decode() + (
            'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _strongroom; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", "strongroom", *words],
                              capture_output=True, cwd=self.box.work)
        self.assertEqual(done.stderr, b"")
        return set(done.stdout.decode().split())

    def test_what_bash_offers(self):
        self.assertLessEqual({"get", "set", "remember", "policy"}, self.complete(""))
        self.assertEqual(self.complete("po"), {"policy"})
        self.assertEqual(self.complete("policy", "s"), {"show", "seal"})
        self.assertEqual(self.complete("--bank", "policy", "bank", "c"), {"create"})
        self.assertIn("--if-revision", self.complete("set", "k", "--"))
        self.assertIn("--json", self.complete("set", "k", "--"))
        self.assertNotIn("--if-revision", self.complete("get", "--"))


def request(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def handshake():
    return request(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                     "clientInfo": {"name": "t", "version": "1"}}) + \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def call(number, tool, **arguments):
    return request(number, "tools/call", {"name": tool, "arguments": arguments})


def recall(key):
    return (handshake() + call(2, "agent_recall", key=key)).encode()


class Mcp(CliTest):
    def serve(self, *args, lines, **more):
        result = self.run_cli("mcp", *args, stdin=lines.encode(), **more)
        self.assertEqual(result.code, OK, result.err)
        return json_lines(result.out)

    def test_store_and_recall(self):
        replies = self.serve(lines=handshake() + call(2, "agent_remember", key="k", value="v")
                             + call(3, "agent_recall", key="k"))
        self.assertEqual(replies[1]["result"]["content"][0]["text"], 'Remembered "k"')
        self.assertEqual(self.ok("get", "k"), b"v")
        self.assertEqual(self.json("get", "k")["writtenBy"], "local:mcp")
        log = json_lines(self.ok("audit", "log", "--json", "--principal", "local:mcp"))
        self.assertEqual([line["tool"] for line in log], ["agent_remember", "agent_recall"])

    def test_principal_and_bank(self):
        for name, principal in (("cursor", "local:cursor"), ("local:x", "local:x")):
            self.serve("--principal", name, "--bank", "team",
                       lines=handshake() + call(2, "agent_remember", key=name, value="v"))
            entry = self.json("get", name, "--bank", "team")
            self.assertEqual((entry["writtenBy"], entry["source"]), (principal, "mcp"))
        for name in ("", "a b", "*", "a\nb", "x" * 65):
            self.fails(USAGE, "mcp", "--principal", name, error="invalid")

    def test_read_only(self):
        replies = self.serve("--read-only",
                             lines=handshake() + call(2, "agent_remember", key="k", value="v"))
        self.assertTrue(replies[1]["result"]["isError"])
        self.assertEqual(self.ok("ls"), b"")

    def test_start_opens_and_writes_nothing(self):
        shutil.rmtree(self.box.root / "state")
        (self.box.root / "state").mkdir()
        before = self.box.fingerprint()
        replies = self.serve(lines=handshake() + request(2, "tools/list", {}),
                             env={"STRONGROOM_KEYFILE": str(self.box.root / "absent")})
        self.assertEqual(len(replies[1]["result"]["tools"]), 10)
        self.assertEqual(self.box.fingerprint(), before)
        self.assertEqual(os.listdir(self.box.root / "state"), [])

    def test_locked_and_missing(self):
        replies = self.serve(lines=recall("k").decode(), env={"STRONGROOM_KEYFILE": ""})
        self.assertIn("Vault is locked. Set STRONGROOM_KEYFILE", replies[1]["result"]["content"][0]["text"])
        shutil.rmtree(self.box.vault)
        replies = self.serve(lines=recall("k").decode())
        self.assertIn('No vault yet. Run "strongroom init"', replies[1]["result"]["content"][0]["text"])


if __name__ == "__main__":
    unittest.main()
