"""review and entities on the command line, and what show says of an observation."""
import unittest

from harness import USAGE, CliTest, json_lines


class Review(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("retain", "The weasel port is 5432.")
        self.ok("retain", "The weasel port is 5433.")
        self.ok("retain", "We met Caroline Smith.", "--entity", "Apollo")
        self.ok("retain", "Ends soon.", "--expires-at", "2999-01-01")

    def test_review(self):
        found = self.json("review")
        self.assertEqual([pair["rule"] for pair in found["contradictions"]], ["number"])
        self.assertEqual((found["expiring"], found["looked_at"]["memories"]), ([], 4))
        pair = found["contradictions"][0]
        self.assertIn(f"- {pair['newer']} may contradict {pair['older']} (number)\n",
                      self.ok("review").decode())
        self.fails(USAGE, "review", "--days", "0", error="invalid")

    def test_entities(self):
        listed = {e["name"]: e for e in json_lines(self.ok("entities", "--json"))}
        self.assertEqual((listed["apollo"]["kind"], listed["caroline smith"]["memories"]),
                         ("given", 1))
        self.assertIn(b"Caroline Smith\tname\t1\t", self.ok("entities", "--prefix", "car"))
        self.assertEqual(len(json_lines(self.ok("entities", "--limit", "1", "--json"))), 1)


if __name__ == "__main__":
    unittest.main()
