"""reflect on the command line: every option has its effect, and both forms say the same."""
import json
import os
import unittest

from harness import LOCKED, NOT_FOUND, USAGE, CliTest, json_lines

ITEMS = [
    {"content": "The weasel port is 5433.", "timestamp": "2026-05-01", "tags": ["infra"]},
    {"content": "The weasel port is 5432.", "timestamp": "2026-04-01", "tags": ["infra"],
     "occurred_start": "2025-01-01"},
    {"content": "Weasel food is bought in Berlin."},
    {"content": "Harpsichords are tuned in spring."},
]
NEWER, OLDER, FOOD, TUNED = range(4)


class Reflect(CliTest):
    def setUp(self):
        super().setUp()
        text = "".join(json.dumps(item) + "\n" for item in ITEMS)
        stored = json_lines(self.ok("retain", "--jsonl", "-", "--json", stdin=text.encode()))
        self.ids = [item["id"] for item in stored]

    def found(self, *args):
        return self.json("reflect", "weasel", *args)

    def numbers(self, *args):
        return sorted(self.ids.index(one) for one in self.found(*args)["ids"])

    def test_json(self):
        reply = self.found()
        self.assertEqual(list(reply)[:6],
                         ["themes", "timeline", "contradictions", "superseded", "gaps", "ids"])
        self.assertEqual(reply["contradictions"], [[self.ids[NEWER], self.ids[OLDER]]])
        self.assertEqual(reply["timeline"][0]["id"], self.ids[OLDER])
        self.assertEqual(sorted(reply["ids"]), sorted(self.ids[:3]))
        self.assertIn("scores", reply["themes"][0]["results"][0])
        self.assertEqual((reply["banks"], len(reply["notes"])), (["global"], 1))

    def test_text(self):
        text = self.ok("reflect", "weasel prices").decode()
        for line in (f"- The weasel port is 5433. (id: {self.ids[NEWER]})",
                     f"- 2025-01-01 occurred {self.ids[OLDER]}",
                     f"- {self.ids[NEWER]} may contradict {self.ids[OLDER]} (number)",
                     '- No result has "prices".'):
            self.assertIn(line + "\n", text)
        for heading in ("Theme: ", "Timeline\n", "Contradictions\n", "Gaps\n"):
            self.assertIn("\n" + heading, "\n" + text)
        self.assertNotIn("Superseded", text)
        self.ok("edit", self.ids[OLDER], "--invalidate", "--replacement", self.ids[NEWER])
        text = self.ok("reflect", "weasel").decode()
        self.assertIn(f"Superseded\n- The weasel port is 5432. (id: {self.ids[OLDER]}, "
                      f"by {self.ids[NEWER]})\n", text)
        self.assertNotIn("Contradictions", text)

    def test_nothing_found(self):
        self.assertEqual(self.ok("reflect", "quantum dots"), b"")

    def test_options(self):
        self.assertEqual(self.numbers(), [NEWER, OLDER, FOOD])
        self.assertEqual(self.numbers("--context", "tuned harpsichords"),
                         [NEWER, OLDER, FOOD, TUNED])
        self.assertEqual(self.numbers("--tags", "infra", "--tags-match", "any_strict"),
                         [NEWER, OLDER])
        self.assertEqual(self.numbers("--tag", "infra"), [NEWER, OLDER, FOOD])
        self.assertEqual(len(self.numbers("--max-tokens", "7")), 1)
        self.assertEqual(self.numbers("--budget", "low"), [NEWER, OLDER, FOOD])
        self.assertEqual(self.numbers("--scope", "global"), [NEWER, OLDER, FOOD])
        self.ok("bank", "create", "other")
        self.assertEqual(self.numbers("--bank", "other"), [])

    def test_errors(self):
        self.fails(USAGE, "reflect", error="invalid")
        self.fails(USAGE, "reflect", "", error="invalid")
        self.fails(USAGE, "reflect", "q", "--budget", "all")
        self.fails(USAGE, "reflect", "q", "--context", "word " * 600, error="invalid",
                   text="context")
        self.fails(USAGE, "reflect", "q", "--limit", "3")
        self.fails(NOT_FOUND, "reflect", "q", "--bank", "none", error="not_found")

    def test_log_has_its_own_tool(self):
        self.found()
        log = json_lines(self.ok("audit", "log", "--tool", "reflect", "--json"))
        self.assertEqual({line["tool"] for line in log}, {"reflect"})
        self.assertEqual(len(log), 3)


class WithoutVault(CliTest):
    vault = False

    def test_no_vault(self):
        self.box.write("owner.key", os.urandom(32))
        self.fails(LOCKED, "reflect", "x", error="no_vault")

    def test_help(self):
        self.assertIn("Usage: strongroom reflect", self.ok("reflect", "--help").decode())


if __name__ == "__main__":
    unittest.main()
