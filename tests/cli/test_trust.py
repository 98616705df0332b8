"""policy, audit, bank: what agents may do, and the record of it."""
import json
import os
import stat
import unittest

import harness
from harness import (CONFLICT, DENIED, NOT_FOUND, OK, USAGE, CliTest, json_lines)

SOME_FAILED = 1


def policy(version, *rules):
    return json.dumps({"version": version, "rules": list(rules)})


PERMIT_ALL = {"id": "all", "effect": "permit"}
FORBID_KEY = {"id": "no-deploy", "effect": "forbid", "key": "deploy/*"}


class Policy(CliTest):
    def seal(self, text, **more):
        return self.ok("policy", "seal", "-", stdin=text.encode(), **more)

    def test_show(self):
        shown = json.loads(self.ok("policy", "show"))
        self.assertEqual(self.json("policy", "show"), shown)
        self.assertEqual(shown["version"], 1)

    def test_seal_acts_at_once(self):
        self.ok("set", "deploy/key", "v")
        self.seal(policy(2, PERMIT_ALL, FORBID_KEY))
        message = self.fails(DENIED, "get", "deploy/key", error="denied")
        self.assertRegex(message, r"Policy Denied: .* \(rule: no-deploy\)\n$")
        self.ok("set", "other", "v")

    def test_seal_refuses(self):
        for text in (policy(1, PERMIT_ALL), "{", '{"version":2}', '{"version":2,"rules":[],"x":1}',
                     policy(2, {"id": "a", "effect": "maybe"}), policy(2, PERMIT_ALL, PERMIT_ALL)):
            with self.subTest(text=text):
                self.fails(USAGE, "policy", "seal", "-", stdin=text.encode(), error="invalid")
        self.fails(USAGE, "policy", "seal", "absent.json", error="invalid", text="does not exist")
        self.assertEqual(self.json("policy", "show")["version"], 1)

    def test_check(self):
        self.assertEqual(self.ok("policy", "check"), b"ok\n")
        path = self.box.write("p.json", policy(2, PERMIT_ALL))
        reply = self.json("policy", "check", str(path))
        self.assertEqual(list(reply), ["ok", "findings"])
        self.fails(USAGE, "policy", "check", "-", stdin=b"[]", error="invalid")

    def test_explain(self):
        reply = self.json("policy", "explain", "--principal", "local:mcp", "--tool", "agent_recall",
                          "--class", "secret", "--key", "k", "--tag", "t", "--source", "mcp")
        self.assertEqual(list(reply), ["decision", "rule", "text", "trace"])
        self.assertEqual((reply["decision"], reply["rule"]), ("deny", "default-deny"))
        self.assertEqual(list(reply["trace"][0]), ["rule", "effect", "matched", "why"])
        text = self.ok("policy", "explain", "--principal", "local:mcp", "--tool", "agent_recall",
                       "--key", "k").decode()
        self.assertIn("(rule: default)", text)
        self.fails(USAGE, "policy", "explain", "--tool", "agent_recall", text="--principal is required")

    def test_test(self):
        passing = ('{"request":{"principal":"local:mcp","tool":"agent_recall","bank":"global",'
                   '"key":"k"},"expect":"permit","rule":"default"}')
        failing = passing.replace('"expect":"permit"', '"expect":"deny"')
        path = self.box.write("cases", passing + "\n\n" + passing + "\n")
        self.assertEqual(self.ok("policy", "test", str(path)), b"2 passed, 0 failed\n")
        result = self.run_cli("policy", "test", "-", stdin=(passing + "\n" + failing).encode())
        self.assertEqual(result.code, SOME_FAILED)
        self.assertIn(b"line 2: expected deny, got permit (rule: default)", result.out)
        lines = json_lines(self.run_cli("policy", "test", "-", "--json", stdin=failing.encode()).out)
        self.assertEqual(list(lines[0]), ["line", "passed", "expect", "got", "rule"])
        self.assertEqual(self.run_cli("policy", "test", "-", stdin=b"{}\n").code, USAGE)

    def test_templates(self):
        names = self.ok("policy", "init").decode().split()
        self.assertEqual(names, [line["name"] for line in json_lines(self.ok("policy", "init", "--json"))])
        for name in names:
            path = self.box.write(name, self.ok("policy", "init", name))
            self.ok("policy", "check", str(path))
        self.fails(NOT_FOUND, "policy", "init", "no-such", error="not_found")

    def editor(self, script):
        path = self.box.write("editor", "#!/bin/sh\n" + script, 0o700)
        return {"EDITOR": str(path), "VISUAL": ""}

    def left_over(self):
        return [name for name in os.listdir(self.box.root / "runtime")]

    def test_edit(self):
        log = self.box.root / "seen"
        env = self.editor(f'stat -c "%a %n" "$1" "$(dirname "$1")" > {log}\ncp "$1" "$1~"\n'
                          'sed -i s/owner-cli-secret/renamed/ "$1"\n')
        self.ok("policy", "edit", env=env)
        sealed = self.json("policy", "show")
        self.assertEqual(sealed["version"], 2)
        self.assertIn("renamed", [rule["id"] for rule in sealed["rules"]])
        modes = [line.split()[0] for line in log.read_text().splitlines()]
        self.assertEqual(modes, ["600", "700"])
        self.assertIn(str(self.box.root / "runtime"), log.read_text())
        self.assertEqual(self.left_over(), [])

    def test_edit_that_changes_nothing_or_fails(self):
        self.assertEqual(self.ok("policy", "edit", env=self.editor("true\n")), b"Nothing was changed.\n")
        self.fails(USAGE, "policy", "edit", env=self.editor("exit 3\n"), error="invalid")
        self.fails(USAGE, "policy", "edit", env=self.editor('echo "{" > "$1"\n'), error="invalid")
        self.fails(USAGE, "policy", "edit", env=self.editor('rm "$1"\n'), error="invalid")
        self.fails(USAGE, "policy", "edit", "--no-input", env=self.editor("true\n"), error="invalid")
        self.assertEqual(self.json("policy", "show")["version"], 1)
        self.assertEqual(self.left_over(), [])

    def test_an_editor_with_arguments(self):
        env = self.editor('[ "$1" = --wait ] && sed -i s/owner-cli-secret/renamed/ "$2"\n')
        env["VISUAL"] = env["EDITOR"] + " --wait"
        self.ok("policy", "edit", env=env)
        self.assertEqual(self.json("policy", "show")["version"], 2)


class Audit(CliTest):
    def test_log(self):
        self.ok("set", "k", "v")
        self.ok("get", "k")
        lines = json_lines(self.ok("audit", "log", "--json"))
        self.assertEqual(list(lines[0])[:6], ["time", "principal", "tool", "bank", "decision", "rule"])
        self.assertEqual([line["tool"] for line in lines], ["init", "agent_remember", "agent_recall"])
        self.assertEqual({line["decision"] for line in lines}, {"permit"})
        self.assertEqual({line["principal"] for line in lines}, {"local:cli"})
        self.assertEqual(len(self.ok("audit", "log").splitlines()), 3)

    def test_filters(self):
        self.ok("set", "k", "v")
        self.ok("policy", "seal", "-", stdin=policy(2, PERMIT_ALL, FORBID_KEY).encode())
        self.fails(DENIED, "set", "deploy/x", "v")

        def tools(*args):
            return [line["tool"] for line in json_lines(self.ok("audit", "log", "--json", *args))]

        denied = json_lines(self.ok("audit", "log", "--json", "--denied"))
        self.assertEqual([(line["decision"], line["rule"]) for line in denied], [("deny", "no-deploy")])
        self.assertEqual(tools("--tool", "agent_remember", "--limit", "1"), ["agent_remember"])
        self.assertEqual(tools("--principal", "local:none"), [])
        self.assertEqual(tools("--bank", "global"), ["agent_remember", "agent_remember"])
        self.assertEqual(tools("--limit", "1"), tools()[-1:])
        self.assertEqual(tools("--since", "1h"), tools())
        self.assertEqual(tools("--since", "0s"), [])
        self.assertEqual(tools("--since", "9999-12-31"), [])
        self.assertEqual(tools("--since", "2020-02-29T23:59:60.5+01:30"), tools())
        self.fails(NOT_FOUND, "audit", "log", "--bank", "none")

    def test_times_that_are_none(self):
        for time in ("2026-02-30", "0000-01-01", "10000-01-01", "2026-1-1", "2026-01-01T24:00",
                     "2026-01-01T10", "2026-01-01T10:00:00+24:00", "2026-01-01T10:00:00.Z", "h", "-1h",
                     "1y", "99999999999w", "yesterday", ""):
            with self.subTest(time=time):
                self.fails(USAGE, "audit", "log", "--since", time, error="invalid", text="--since")

    def test_verify(self):
        lines = json_lines(self.ok("audit", "verify", "--json"))
        self.assertEqual(list(lines[0]), ["bank", "records", "ok", "problem"])
        self.assertTrue(all(line["ok"] for line in lines))

    def test_export(self):
        self.ok("set", "k", "v")
        path = self.box.root / "export.jsonl"
        self.ok("audit", "export", str(path))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        exported = path.read_bytes()
        self.assertEqual(exported, self.ok("audit", "log", "--json"))
        self.assertEqual(self.ok("audit", "export", "-"), exported)
        self.fails(CONFLICT, "audit", "export", str(path), error="conflict")
        link = self.box.root / "link"
        link.symlink_to(self.box.root / "target")
        self.fails(CONFLICT, "audit", "export", str(link))
        self.assertFalse((self.box.root / "target").exists())

    def test_names_and_values_are_not_logged(self):
        self.ok("set", "name-marker", "value-marker", "--tag", "tag-marker")
        self.fails(USAGE, "set", "name-marker", "value-marker", "--if-revision", "x")
        self.assertNotIn(b"marker", self.ok("audit", "log") + self.ok("audit", "export", "-"))


class Bank(CliTest):
    def test_create_and_use(self):
        self.ok("bank", "create", "team")
        self.fails(CONFLICT, "bank", "create", "team", error="conflict")
        banks = json_lines(self.ok("bank", "ls", "--json"))
        self.assertEqual({bank["name"] for bank in banks}, {"global", "team"})
        self.assertEqual(list(banks[0]), ["name", "tag", "createdAt", "entries", "secrets",
                                          "memories", "documents", "generation", "bytes"])
        self.ok("set", "k", "team value", "--bank", "team")
        self.assertEqual(self.ok("get", "k", "--bank", "team"), b"team value")
        self.fails(NOT_FOUND, "get", "k")

    def test_an_unknown_bank_is_not_made(self):
        self.ok("bank", "create", "team")
        self.fails(NOT_FOUND, "set", "k", "v", "--bank", "teams", error="not_found", text='"team"')
        self.assertEqual(len(json_lines(self.ok("bank", "ls", "--json"))), 2)

    def test_names(self):
        for name in ("", " a", "a ", "a\nb", "b" * 257):
            self.fails(USAGE, "bank", "create", name, error="invalid")

    def test_trust_without_a_project_file(self):
        self.fails(USAGE, "bank", "trust", error="invalid")

    def test_project_bank_by_variable_and_by_folder(self):
        self.ok("set", "k", "v", env={"STRONGROOM_BANK": "mine"})
        self.assertEqual(self.json("get", "k", env={"STRONGROOM_BANK": "mine"})["bank"], "mine")
        folder = self.box.root / "project"
        folder.mkdir()
        reply = self.json("set", "k", "v", "--project", str(folder))
        self.assertEqual(reply["bank"], str(folder.resolve()))


if __name__ == "__main__":
    unittest.main()
