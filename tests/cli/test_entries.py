"""set, get, ls, rm, history, context: shapes, exit codes, hostile names and values."""
import json
import os
import subprocess
import unittest

import harness
from harness import CONFLICT, DENIED, DISK, NOT_FOUND, OK, USAGE, CliTest, json_lines

LIMIT = 64 << 20
HOSTILE_NAMES = [
    "__proto__", "constructor", "a b", " ", "line\nbreak", "tab\there", "quote\"'`$(x)", "{}", "[a,b]",
    "%%", "++", "--", "-x", "--json", "-", "get", "set", "../../etc/passwd", "\u202eevil", "\u200b",
    "\U0001f512", "e\u0301", "\x7f", "\x1b[31mred", "null", "0", "a" * 1024, "\u00e4" * 512,
]


class SetAndGet(CliTest):
    def test_round_trip_is_byte_for_byte(self):
        for value in (b"", b"\n", b"x", b"line\r\nline\n", "\u202e\U0001f512".encode(), b"\x00",
                      b"[a,b]", b"{}", b"%%", b"-", b"--json"):
            with self.subTest(value=value):
                self.assertEqual(self.ok("set", "k", "-", stdin=value), b'Remembered "k"\n')
                self.assertEqual(self.ok("get", "k"), value)

    def test_value_from_the_command_line(self):
        for value in ("v", "", "-5", "[x,y]", "{}", "%%", "++"):
            with self.subTest(value=value):
                self.ok("set", "k", "--", value)
                self.assertEqual(self.ok("get", "k"), value.encode())

    def test_without_value_reads_standard_input(self):
        self.ok("set", "k", stdin=b"piped")
        self.assertEqual(self.ok("get", "k"), b"piped")

    def test_hostile_names(self):
        for name in HOSTILE_NAMES:
            with self.subTest(name=name[:20]):
                self.ok("set", "--", name, "-", stdin=name.encode())
                self.assertEqual(self.ok("get", "--", name), name.encode())
                found = json_lines(self.ok("ls", "--json", "--", name))
                self.assertIn(name, [entry["key"] for entry in found])
        names = [entry["key"] for entry in json_lines(self.ok("ls", "--json"))]
        self.assertEqual(names, sorted(HOSTILE_NAMES, key=lambda name: name.encode()))
        for name in HOSTILE_NAMES:
            self.ok("rm", "--yes", "--", name)
        self.assertEqual(self.ok("ls"), b"")

    def test_name_limits(self):
        self.fails(USAGE, "set", "a" * 1025, "v", error="too_large", text="key is 1025 bytes, limit 1024")
        self.fails(USAGE, "set", "", "v", error="invalid")
        self.fails(USAGE, "get", "", error="invalid")
        done = subprocess.run([harness.binary(), "set", b"\xff\xfe", "v"], env=self.box.env,
                              cwd=self.box.work, capture_output=True)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn(b"not valid UTF-8", done.stderr)

    def test_value_must_be_utf8(self):
        for value in (b"\xff", b"ok\xc0\xaf", b"\xed\xa0\x80"):
            self.fails(USAGE, "set", "k", "-", stdin=value, error="invalid", text="UTF-8")
        self.fails(NOT_FOUND, "get", "k", error="not_found", text='No memory found for "k"')

    def test_largest_value_and_one_byte_more(self):
        value = b"v" * LIMIT
        self.ok("set", "big", "-", stdin=value)
        self.assertEqual(self.ok("get", "big"), value)
        self.fails(USAGE, "set", "big", "-", stdin=value + b"v", error="too_large",
                   text=f"value is {LIMIT + 1} bytes, limit {LIMIT}")
        self.assertEqual(self.json("ls")["revision"], 1)

    def test_json_values(self):
        self.ok("set", "n", "--value-json", ' {"a" : [1, 2.50, null], "b":"x y"} ')
        self.assertEqual(self.ok("get", "n"), b'{"a":[1,2.50,null],"b":"x y"}')
        self.assertEqual(self.json("get", "n")["value"], {"a": [1, 2.5, None], "b": "x y"})
        self.ok("set", "s", "--value-json", '"a\\nb"')
        self.assertEqual(self.ok("get", "s"), b"a\nb")
        for bad in ("{", '{"a":1,"a":2}', "NaN", "[" * 65 + "]" * 65, "1 2", ""):
            self.fails(USAGE, "set", "bad", "-", "--value-json", stdin=bad.encode(), error="invalid")

    def test_json_shapes(self):
        reply = self.json("set", "k", "v", "--tag", "a", "--tag", "b", "--ttl", "3600")
        self.assertEqual(list(reply),
                         ["key", "revision", "updatedAt", "class", "repeated", "bank", "notes"])
        self.assertEqual((reply["key"], reply["revision"], reply["bank"]), ("k", 1, "global"))
        entry = self.json("get", "k")
        self.assertEqual(list(entry), ["key", "value", "revision", "createdAt", "updatedAt",
                                       "expiresAt", "class", "bytes", "tags", "writtenBy", "source",
                                       "bank", "notes"])
        self.assertEqual((entry["value"], entry["tags"], entry["writtenBy"], entry["source"]),
                         ("v", ["a", "b"], "local:cli", "cli"))
        self.assertRegex(entry["updatedAt"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        listed = self.json("ls")
        self.assertEqual(list(listed), ["key", "revision", "updatedAt", "expiresAt", "age", "tags",
                                        "bytes", "class", "bank"])

    def test_aliases(self):
        self.ok("remember", "k", "v")
        self.assertEqual(self.ok("get", "k"), b"v")
        self.assertEqual(self.ok("forget", "k", "--yes"), b'Forgot "k"\n')

    def test_a_tag_takes_one_argument(self):
        self.ok("set", "--tag", "a", "k", "value")
        self.ok("set", "k2", "--tag", "a", "--tag=b", "-", stdin=b"from stdin")
        self.assertEqual(self.json("get", "k")["value"], "value")
        self.assertEqual(self.json("get", "k2")["value"], "from stdin")
        self.assertEqual(self.json("get", "k2")["tags"], ["a", "b"])

    def test_tags_stay_unless_they_are_given(self):
        self.ok("set", "k", "1", "--tag", "a", "--tag", "b")
        self.ok("set", "k", "2")
        self.assertEqual(self.json("get", "k")["tags"], ["a", "b"])
        self.ok("set", "k", "3", "--tag", "c")
        self.assertEqual(self.json("get", "k")["tags"], ["c"])
        self.fails(USAGE, "set", "k", "4", "--no-tags", "--tag", "d", error="invalid")
        self.ok("set", "k", "4", "--no-tags")
        self.assertEqual(self.json("get", "k")["tags"], [])

    def test_revisions(self):
        self.ok("set", "k", "1", "--if-revision", "0")
        self.fails(CONFLICT, "set", "k", "2", "--if-revision", "0", error="conflict",
                   text='"k" is at revision 1, you sent 0')
        self.ok("set", "k", "2", "--if-revision", "1")
        self.assertEqual(self.json("get", "k")["revision"], 2)

    def test_operation_id(self):
        first = self.json("set", "k", "1", "--operation-id", "op")
        again = self.json("set", "k", "1", "--operation-id", "op")
        self.assertEqual((first["repeated"], again["repeated"]), (False, True))
        self.assertEqual(again["revision"], first["revision"])
        self.fails(CONFLICT, "set", "k", "2", "--operation-id", "op", error="conflict")

    def test_credentials(self):
        token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
        message = self.fails(DENIED, "set", "k", "-", stdin=token.encode(), error="secret_detected")
        self.assertNotIn(token, message)
        self.fails(NOT_FOUND, "get", "k")
        self.ok("set", "k", "-", "--class", "secret", stdin=token.encode())
        self.assertEqual(self.ok("get", "k"), token.encode())
        self.ok("set", "plain", "-", "--allow-secret", stdin=token.encode())
        self.assertEqual(self.json("get", "plain")["class"], "normal")

    def test_read_only_refuses_writes(self):
        self.ok("set", "k", "v")
        before = self.box.fingerprint()
        self.fails(DENIED, "set", "k", "w", "--read-only", error="denied")
        self.fails(DENIED, "rm", "k", "--yes", "--read-only", error="denied")
        self.assertEqual(self.ok("get", "k", "--read-only"), b"v")
        self.assertEqual(self.box.fingerprint(), before)

    def test_bad_options(self):
        for args in (("--class", "other"), ("--ttl", "0"), ("--ttl", "1.5"), ("--ttl", "-1"),
                     ("--if-revision", "x"), ("--tag", ""), ("--tag", "t" * 257),
                     ("--operation-id", "o" * 257)):
            with self.subTest(args=args):
                self.fails(USAGE, "set", "k", "v", *args)
        self.assertEqual(self.ok("ls"), b"")

    def test_output_that_cannot_be_written(self):
        self.ok("set", "k", "v" * 100_000)
        with open("/dev/full", "wb") as full:
            for args in (("get", "k"), ("get", "k", "--json"), ("ls",), ("status",)):
                done = subprocess.run([harness.binary(), *args], env=self.box.env, stdout=full,
                                      stderr=subprocess.PIPE, cwd=self.box.work)
                self.assertEqual(done.returncode, DISK, (args, done.stderr))

    def test_closed_standard_descriptors(self):
        self.ok("set", "k", "v")
        before = self.box.fingerprint()
        for closed in (">&-", "2>&-", "<&-", ">&- 2>&- <&-"):
            done = subprocess.run(["/bin/sh", "-c", f'"$0" get k --read-only {closed}',
                                   harness.binary()], env=self.box.env, cwd=self.box.work,
                                  capture_output=True)
            self.assertEqual(done.returncode, DISK if ">&-" in closed.replace("2>&-", "") else OK,
                             (closed, done.stderr))
        self.assertEqual(self.box.fingerprint(), before)


class List(CliTest):
    def test_complete_unless_limited(self):
        for number in range(30):
            self.ok("set", f"k{number:02}", "v")
        self.assertEqual(len(json_lines(self.ok("ls", "--json"))), 30)
        self.assertEqual([entry["key"] for entry in json_lines(self.ok("ls", "--limit", "2", "--json"))],
                         ["k00", "k01"])
        self.assertEqual(len(json_lines(self.ok("ls", "--limit", "5000", "--json"))), 30)
        self.assertEqual(len(json_lines(self.ok("ls", "k1", "--json"))), 10)
        self.assertEqual(self.ok("ls", "nothing"), b"")
        self.assertEqual(self.ok("ls", "nothing", "--json"), b"")
        self.fails(USAGE, "ls", "--limit", "0")

    def test_names_are_escaped_in_text(self):
        self.ok("set", "a\nb\x1b[31m\u202e", "v", "--tag", "t\tt")
        line = self.ok("ls").decode()
        self.assertEqual(line.count("\n"), 1)
        self.assertTrue(line.startswith("a\\nb\\u001b[31m\\u202e\t1\t"), line)
        self.assertIn("t\\tt", line)

    def test_secrets_are_listed_and_marked(self):
        self.ok("set", "s", "v", "--class", "secret")
        self.assertEqual(self.json("ls")["class"], "secret")
        self.assertIn("\tsecret\t", self.ok("ls").decode())

    def test_history(self):
        self.ok("set", "k", "one")
        self.ok("set", "k", "three", "--tag", "t")
        revisions = json_lines(self.ok("history", "k", "--json"))
        self.assertEqual([line["revision"] for line in revisions], [2, 1])
        self.assertEqual(list(revisions[0]), ["revision", "updatedAt", "bytes", "class", "writtenBy",
                                              "source", "tags"])
        self.assertEqual(revisions[0]["tags"], ["t"])
        self.assertEqual(len(self.ok("history", "k").splitlines()), 2)
        self.fails(NOT_FOUND, "history", "none", error="not_found")

    def test_context(self):
        self.ok("set", "k", "value-not-shown", "--tag", "t")
        context = self.json("context")
        self.assertEqual(list(context), ["bank", "chosen_by", "reads", "counts", "keys", "keys_cut",
                                         "memories", "memories_cut", "may", "health", "notes"])
        self.assertEqual(context["keys"][0]["key"], "k")
        self.assertEqual(context["health"]["vault"], "open")
        text = self.ok("context").decode()
        self.assertIn('- "k" [t]', text)
        self.assertNotIn("value-not-shown", text)
        locked = self.json("context", "--no-input", env={"STRONGROOM_KEYFILE": str(self.box.root / "no")})
        self.assertEqual(locked["health"]["vault"], "locked")


class Remove(CliTest):
    def test_needs_yes_off_a_terminal(self):
        self.ok("set", "k", "v")
        self.fails(USAGE, "rm", "k", error="invalid", text="--yes")
        self.assertEqual(self.ok("rm", "k", "--yes"), b'Forgot "k"\n')
        self.fails(NOT_FOUND, "rm", "k", "--yes", error="not_found", text='No memory found for "k"')

    def test_json(self):
        self.ok("set", "k", "v")
        self.assertEqual(list(self.json("rm", "k", "--yes")), ["key", "bank", "notes"])

    def test_erase(self):
        self.ok("set", "k", "v")
        self.ok("set", "k", "w")
        answer = self.json("rm", "k", "--yes", "--erase")
        self.assertEqual(list(answer), ["key", "bank", "receipt", "erase_pending", "notes"])
        self.assertFalse(answer["erase_pending"])
        self.assertEqual(list(answer["receipt"]), ["id", "time", "destroyed", "not_reached"])
        self.assertIn("2 revisions", answer["receipt"]["destroyed"][0])
        self.assertEqual(self.json("status")["erase_pending"], 0)
        self.fails(NOT_FOUND, "rm", "k", "--yes", "--erase", error="not_found")
        self.ok("set", "k", "again")
        self.assertEqual(self.ok("get", "k"), b"again")
        text = self.ok("rm", "k", "--yes", "--erase").decode()
        self.assertIn("not reached: earlier backups", text)
        self.assertNotIn("pending", text)


class CommandLine(CliTest):
    vault = False

    def test_unknown_words_name_the_nearest(self):
        self.fails(USAGE, "gett", "k", error="invalid", text='the nearest is "get"')
        self.fails(USAGE, "policy", "shw", error="invalid", text='the nearest is "show"')
        self.fails(USAGE, "get", "k", "--jsn", error="invalid", text='the nearest is "--json"')
        for later in ("grant", "unlock", "lock", "rotate", "serve", "undo"):
            self.fails(USAGE, later, error="invalid", text="is unknown")

    def test_values_in_the_wrong_place_are_not_repeated(self):
        for args in (("set", "k", "hush-1", "hush-2"), ("set", "k", "--values=hush-3"),
                     ("ls", "-phush-4"), ("get", "k", "hush-5"), ("set", "k", "v", "--ttl", "hush-6")):
            self.assertNotIn("hush", self.fails(USAGE, *args))

    def test_incomplete(self):
        self.fails(USAGE, error="invalid", text="--help")
        self.fails(USAGE, "bank", error="invalid", text="strongroom bank --help")
        self.fails(USAGE, "get", error="invalid", text="KEY is required")
        self.fails(USAGE, "ls", "--limit", text="--limit needs a value")
        self.fails(USAGE, "ls", "--json=1", text="--json takes no value")

    def test_version_and_help(self):
        self.assertRegex(self.ok("--version").decode(), r"^strongroom \d+\.\d+\.\d+\n$")
        self.assertEqual(list(json.loads(self.ok("--version", "--json"))), ["version"])
        self.assertEqual(self.ok("get", "k", "--version"), self.ok("--version"))
        for args in ((), ("get",), ("policy",), ("policy", "explain"), ("mcp",)):
            text = self.ok(*args, "--help").decode()
            self.assertIn("Usage: strongroom" + "".join(" " + arg for arg in args), text)

    def test_no_vault(self):
        self.box.write("owner.key", os.urandom(32))
        for args in (("get", "k"), ("ls",), ("set", "k", "v"), ("rm", "k", "--yes"), ("history", "k"),
                     ("verify",), ("bank", "ls"), ("policy", "show"), ("audit", "log"), ("slot", "ls"),
                     ("config", "get")):
            with self.subTest(args=args):
                self.fails(harness.LOCKED, *args, error="no_vault",
                           text='No vault yet. Run "strongroom init" in a terminal. [no_vault]')
        self.assertFalse(os.path.exists(self.box.vault))


if __name__ == "__main__":
    unittest.main()
