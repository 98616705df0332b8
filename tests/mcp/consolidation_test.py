#!/usr/bin/env python3
"""observe, review, consolidation_candidates, list_entities, and source facts in recall."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import text_of
from memory_case import BANK, CREDENTIAL, MemoryCase


class Consolidation(MemoryCase):
    arguments = ("--profile", "full")

    def observe(self, text, source, quote, **more):
        return self.done("observe", text=text, sources=[{"id": source, "quote": quote}], **more)

    def test_observe(self):
        source = self.retain("Ana Torres ships on Monday.")[0]
        result = self.call("observe", text="Ana ships weekly.", tags=["habits"],
                           sources=[{"id": source, "quote": "ships on Monday"}])
        made = result["structuredContent"]
        self.assertEqual(text_of(result), f'Stored observation "{made["id"]}"')
        self.assertEqual((made["status"], made["trend"], made["affected"], made["bank"]),
                         ("stored", "new", [], BANK))
        memory = self.done("memory_get", id=made["id"])["memory"]
        self.assertEqual((memory["type"], memory["trend"], memory["source_fact_ids"]),
                         ("observation", "new", [source]))
        self.assertEqual(memory["sources"],
                         [{"id": source, "quotes": ["ships on Monday"], "valid": True}])
        found = self.done("recall", query="who ships weekly?", types=["observation"],
                          detail="full", include={"source_facts": {}})
        self.assertEqual(found["results"][0]["trend"], "new")
        self.assertEqual(found["source_facts"][source]["text"], "Ana Torres ships on Monday.")
        self.assertNotIn("source_facts", self.done("recall", query="who ships weekly?"))
        again = self.observe("Ana ships weekly.", source, "Monday")
        self.assertEqual((again["status"], again["id"]), ("duplicate", made["id"]))
        refined = self.observe("Ana ships each Monday.", source, "Monday", refines=made["id"])
        self.assertEqual((refined["trend"], refined["affected"]), ("stable", [made["id"]]))
        gone = self.done("memory_edit", op="forget", id=source)
        self.assertIn(refined["id"], gone["affected"])
        self.assertIs(self.done("memory_get", id=refined["id"])["memory"]["valid"], False)

    def test_refused_observations(self):
        source = self.retain("The port is 5433.")[0]
        good = {"text": "Ports differ.", "sources": [{"id": source, "quote": "5433"}]}
        for word, change in (
                ("sources", {"sources": []}), ("sources", {"sources": good["sources"] * 33}),
                ("sources[0].quote", {"sources": [{"id": source, "quote": "5432"}]}),
                ("sources[0].quote", {"sources": [{"id": source}]}),
                ("sources[0]", {"sources": ["x"]}),
                ("sources[0].words", {"sources": [{"id": source, "words": "5433"}]}),
                ("text", {"text": ""}), ("refines", {"refines": source}),
                ("importance", {"importance": 2}), ("trend", {"trend": "new"})):
            self.refused("observe", "invalid", word, **{**good, **change})
        self.refused("observe", "secret_detected", **{**good, "text": "key " + CREDENTIAL})
        self.assertEqual(self.done("bank_stats")["memories"], 1)

    def test_many_quotes_fit(self):
        texts = [f"Number {n}: " + "lorem ipsum dolor " * 200 for n in range(32)]
        ids = self.retain(*texts)
        made = self.done("observe", text="All of it.", sources=[
            {"id": one, "quote": text[:3500]} for one, text in zip(ids, texts)])
        self.assertEqual(len(self.done("memory_get", id=made["id"])["memory"]["source_fact_ids"]), 32)
        self.done("recall", query="all of it", min_score=0, include={"source_facts": {
            "max_tokens": 100_000}}, types=["observation"])

    def test_review(self):
        old, new = self.retain("The weasel port is 5432.", "The weasel port is 5433.")
        found = self.done("review")
        self.assertEqual(found["contradictions"], [{"newer": new, "older": old, "rule": "number"}])
        self.assertEqual(found["looked_at"],
                         {"memories": 2, "all_memories": True, "observations": 0})
        self.assertEqual((found["quarantined"], found["expiring"], found["stale"]), ([], [], []))
        self.refused("review", "invalid", "days", days=0)
        self.done("memory_edit", op="forget", id=old)
        self.assertEqual(text_of(self.call("review")), "Nothing needs a look.")

    def test_candidates(self):
        self.retain({"content": "I ship weekly.", "document_id": "talk", "update_mode": "append"},
                    {"content": "So do I.", "document_id": "talk", "update_mode": "append"})
        found = self.done("consolidation_candidates")
        self.assertEqual([(c["action"], c["document_id"], len(c["ids"]))
                          for c in found["candidates"]], [("extract", "talk", 2)])
        self.assertIn("observe", found["candidates"][0]["prompt"])
        self.assertEqual(self.done("consolidation_candidates", actions=["merge"])["candidates"], [])
        self.refused("consolidation_candidates", "invalid", "actions", actions=["delete"])

    def test_entities(self):
        self.retain({"content": "We met Caroline Smith.", "entities": ["Apollo"]})
        found = self.done("list_entities")
        self.assertEqual({e["name"]: (e["kind"], e["memories"]) for e in found["entities"]},
                         {"apollo": ("given", 1), "caroline smith": ("name", 1)})
        page = self.done("list_entities", limit=1)
        rest = self.done("list_entities", limit=1, cursor=page["cursor"])
        self.assertEqual(rest["entities"][0]["display"], "Caroline Smith")
        self.assertEqual(self.done("list_entities", prefix="car")["total"], 1)
        self.refused("list_entities", "invalid", "cursor", cursor="x")


if __name__ == "__main__":
    unittest.main()
