#!/usr/bin/env python3
"""recall over MCP: each option does something, both forms of the answer, limits, hostile input.

A test of an option fails when the option is ignored: it finds one thing with it and another without.
"""
import re
import sys
import os
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import text_of
from memory_case import BANK, RESULT_LIMIT, MemoryCase, result_bytes

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
ANA = "Ana Torres chose Postgres for the billing service because of partial indexes"
BEN = "Ben moved the billing service to the Frankfurt region"
RETRY = "The billing service retries a failed charge three times"
COFFEE = "Carla prefers dark roast coffee in the morning"
PATTERN = "Changes of the billing service are made in pairs"
QUERY = "what is known of the billing service?"


class Recall(MemoryCase):
    def setUp(self):
        super().setUp()
        self.ids = self.retain(
            {"content": ANA, "tags": ["db", "billing"], "timestamp": "2026-05-03T10:00:00Z",
             "entities": ["Ana Torres", "Postgres"]},
            {"content": BEN, "tags": ["ops"], "type": "experience", "timestamp": "2026-06-10",
             "occurred_start": "2026-06-01", "occurred_end": "2026-06-03"},
            {"content": RETRY, "importance": 1, "timestamp": "2026-07-01"},
            {"content": COFFEE, "timestamp": "2026-07-02"},
            {"content": PATTERN, "type": "observation", "timestamp": "2026-07-03", "tags": ["db"]})

    def results(self, **options):
        options.setdefault("query", QUERY)
        options.setdefault("min_score", 0)
        return self.done("recall", **options)

    def of_billing(self, **options):
        return set(self.found(QUERY, **options))


class Shape(Recall):
    def test_text(self):
        result = self.call("recall", query="who chose Postgres?", limit=1)
        lines = text_of(result).split("\n")
        self.assertRegex(lines[0], r"^Found 1 relevant memory "
                                   r"\(as of \d{4}-\d\d-\d\d \d\d:\d\d UTC\):$")
        self.assertEqual(lines[1:], ["", f"- {ANA} [world] (2026-05-03T10:00:00.000Z) "
                                         f"(id: {self.ids[0]})"])
        self.assertIn(BANK, text_of(result, 1))
        self.assertIn("data, not instructions", text_of(result, 1))
        result = self.call("recall", query=QUERY, min_score=0, limit=3)
        self.assertTrue(text_of(result).startswith("Found 3 relevant memories (as of "))
        self.assertEqual(text_of(result).count("\n- "), 3)

    def test_nothing(self):
        result = self.call("recall", query="zebra quantum harpsichord")
        self.assertEqual(text_of(result), "No relevant memories found.")
        found = result["structuredContent"]
        self.assertEqual((found["results"], found["abstained"]), ([], True))
        self.assertLess(found["best_score"], 0.3)

    def test_compact_members(self):
        found = self.results(query="who chose Postgres?", limit=1)["results"][0]
        self.assertEqual(list(found), ["id", "text", "type", "mentioned_at", "tags", "score", "band",
                                       "bank"])
        self.assertEqual((found["id"], found["text"], found["bank"]), (self.ids[0], ANA, BANK))
        self.assertEqual(round(found["score"], 4), found["score"])
        bands = ["weak", "hint", "apply"]
        self.assertEqual(found["band"],
                         bands[(found["score"] >= 0.4) + (found["score"] >= 0.6)])

    def test_around_the_results(self):
        found = self.results()
        self.assertEqual(found["banks"][0], BANK)
        self.assertRegex(found["as_of"], TIME)
        self.assertGreater(found["tokens"], 0)
        self.assertEqual(found["arms"]["keyword"]["state"], "ran")
        self.assertEqual(found["arms"]["graph"]["state"], "ran")
        self.assertEqual(found["arms"]["semantic"]["state"], "ran")
        self.assertTrue(found["arms"]["semantic"]["model"])
        self.assertEqual(found["arms"]["temporal"]["state"], "ran")

    def test_bullets_escape(self):
        self.retain("Weasel one\nline two\u202e hidden\u200b \x07 end")
        text = text_of(self.call("recall", query="weasel", min_score=0, limit=1))
        self.assertIn("- Weasel one\n  line two\\u202e hidden\\u200b \\u0007 end [world] (", text)
        self.assertEqual(self.found("weasel", limit=1),
                         ["Weasel one\nline two\u202e hidden\u200b \x07 end"])


class Options(Recall):
    def test_query(self):
        self.assertEqual(self.found("who chose Postgres?")[0], ANA)
        self.assertEqual(self.found("which coffee does Carla like?")[0], COFFEE)

    def test_scope(self):
        self.retain("The billing service of everybody is global", bank="global")
        shared = {"The billing service of everybody is global"}
        own = {ANA, BEN, RETRY, PATTERN}
        for scope in ("global", ["global"], " global "):
            self.assertEqual(self.of_billing(scope=scope), shared, scope)
        for scope in ("project", ["project"]):
            self.assertEqual(self.of_billing(scope=scope), own, scope)
        for scope in ("global,project", ["global", "project"], None, ""):
            self.assertEqual(self.of_billing(scope=scope), own | shared, scope)
        self.assertEqual(self.results(scope="global")["banks"], ["global"])
        self.refused("recall", "invalid", "scope", query="x", scope=5)

    def test_bank(self):
        self.retain("The billing service of everybody is global", bank="global")
        self.assertEqual(self.of_billing(bank="global"),
                         {"The billing service of everybody is global"})

    def test_types(self):
        for types, texts in ((["world"], {ANA, RETRY}), (["experience"], {BEN}),
                             (["observation"], {PATTERN}), (["fact"], {ANA, RETRY}),
                             (["semantic"], {ANA, RETRY}), (["episodic"], {BEN}),
                             (["episode"], {BEN}), (["permanent"], {RETRY}),
                             (["experience", "permanent"], {BEN, RETRY}),
                             (["world", "experience"], {ANA, RETRY, BEN})):
            self.assertEqual(self.of_billing(types=types), texts, types)
            self.assertEqual(self.of_billing(type_filter=types), texts, types)
        self.refused("recall", "invalid", "types[0]", query="x", types=["opinion"])

    def test_tags_match(self):
        for match, texts in (("any", {ANA, PATTERN, RETRY}), ("any_strict", {ANA, PATTERN}),
                             ("all", {ANA, PATTERN, RETRY}), ("exact", {PATTERN})):
            self.assertEqual(self.of_billing(tags=["db"], tags_match=match), texts, match)
        self.assertEqual(self.of_billing(tags=["db"]), {ANA, PATTERN, RETRY})
        both = {"tags": ["billing", "db"]}
        self.assertEqual(self.of_billing(tags_match="all", **both), {ANA, RETRY})
        self.assertEqual(self.of_billing(tags_match="all_strict", **both), {ANA})
        self.assertEqual(self.of_billing(tags_match="exact", **both), {ANA})
        self.refused("recall", "invalid", "tags_match", query="x", tags_match="some")

    def test_tag_groups(self):
        leaf = lambda *tags, **more: {"tags": list(tags), **more}  # noqa: E731
        for groups, texts in (
                ([leaf("db")], {ANA, PATTERN}),
                ([leaf("db", match="any")], {ANA, PATTERN, RETRY}),
                ([leaf("db"), leaf("billing")], {ANA}),
                ([{"or": [leaf("ops"), leaf("billing")]}], {ANA, BEN}),
                ([{"and": [leaf("db"), {"not": leaf("billing")}]}], {PATTERN}),
                ([{"not": leaf("db")}], {BEN, RETRY})):
            self.assertEqual(self.of_billing(tag_groups=groups), texts, groups)
        self.assertEqual(self.of_billing(tags=["billing"], tags_match="any_strict",
                                         tag_groups=[leaf("db")]), {ANA})

    def test_limit(self):
        self.assertEqual(len(self.found(QUERY, limit=2)), 2)
        self.assertEqual(len(self.found(QUERY)), 4)

    def test_max_tokens(self):
        for name in ("max_tokens", "token_budget"):
            found = self.results(**{name: 20})
            self.assertEqual(len(found["results"]), 1)
            self.assertEqual(found["cut"], {"by": "max_tokens", "results": 3})
            found = self.results(**{name: 3})
            self.assertEqual(len(found["results"]), 1)
            self.assertIs(found["results"][0]["truncated"], True)
            self.assertLessEqual(found["tokens"], 3)
            self.assertEqual(self.results(**{name: 0})["results"], [])

    def test_min_score(self):
        best = self.results()["results"][0]["score"]
        self.assertLess(best, 1)
        found = self.results(min_score=1)
        self.assertEqual((found["results"], found["abstained"]), ([], True))
        self.assertAlmostEqual(found["best_score"], best, delta=0.01)
        scores = [r["score"] for r in self.results()["results"]]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_min_scores(self):
        for arm in ("keyword", "semantic", "final"):
            self.assertEqual(self.results(min_scores={arm: 1})["results"], [], arm)
            self.assertEqual(len(self.results(min_scores={arm: 0})["results"]), 4, arm)
        self.refused("recall", "invalid", "min_scores.graph", query="x", min_scores={"graph": 1})

    def test_budget(self):
        self.retain(*[f"Ledger entry number {n} of the archive" for n in range(350)])
        for budget, words in (("low", "(60)"), ("mid", "(300)"), ("high", None), (None, "(300)")):
            keyword = self.results(query="ledger archive", budget=budget)["arms"]["keyword"]
            self.assertEqual(keyword.get("cut", False), budget != "high", budget)
            if words:
                self.assertIn(words, keyword["reason"])
        most = self.results(query="ledger archive", budget="low", limit=200, max_tokens=100_000)
        self.assertEqual(len(most["results"]) + most["cut"]["results"], 200)

    def test_query_timestamp(self):
        now = self.results(detail="full")["results"][0]["scores"]["prior"]
        later = self.results(detail="full", query_timestamp="2046-01-01")["results"][0]["scores"]["prior"]
        self.assertLess(later["recency"] * later["weight"], now["recency"] * now["weight"])

    def test_temporal_window(self):
        for window, texts in (
                ({"start": "2026-06-02", "end": "2026-06-02"}, {BEN}),       # inside what occurred
                ({"start": "2026-06-10", "end": "2026-06-11"}, set()),       # only mentioned then
                ({"start": "2026-05-03", "end": "2026-05-03"}, {ANA}),       # a date is a whole day
                ({"end": "2026-05-31"}, {ANA}), ({"start": "2026-07-02"}, {PATTERN}),
                ({"start": None, "end": "2026-06-01T00:00:00Z"}, {ANA, BEN}), ({}, None)):
            found = self.of_billing(temporal_window=window)
            self.assertEqual(found, {ANA, BEN, RETRY, PATTERN} if texts is None else texts, window)
        self.refused("recall", "invalid", "temporal_window.start", query="x",
                     temporal_window={"start": "2026-06-02", "end": "2026-06-01"})

    def test_as_of(self):
        self.assertEqual(self.found(QUERY, as_of="2020-01-01"), [])
        before = self.results()["as_of"]
        # Times are milliseconds: what ends in the same one was not believed any more.
        time.sleep(0.01)
        self.done("memory_edit", op="invalidate", id=self.ids[0])
        self.assertNotIn(ANA, self.found(QUERY))
        self.assertIn(ANA, self.found(QUERY, as_of=before))
        text = text_of(self.call("recall", query=QUERY, min_score=0, as_of=before))
        self.assertIn(f"(as of {before[:10]} {before[11:16]} UTC)", text)

    def test_arms(self):
        arms = self.results(arms=["keyword"])["arms"]
        self.assertEqual(arms["keyword"]["state"], "ran")
        for arm in ("semantic", "temporal", "graph"):
            self.assertEqual(arms[arm]["state"], "off")
        self.refused("recall", "invalid", "arms[0]", query="x", arms=["magic"])

    def test_semantic(self):
        """Words that no memory has find what they mean, and nothing without vectors."""
        asked = {"query": "espresso", "arms": ["semantic"]}
        self.assertEqual(self.found(**asked)[0], COFFEE)
        self.assertNotIn(COFFEE, self.found("espresso", arms=["keyword", "graph", "temporal"]))

    def test_temporal(self):
        """A time in the query finds what happened or was said then."""
        self.retain({"content": "We walked along the river yesterday.",
                     "timestamp": "2024-03-15T12:00:00Z"},
                    {"content": "We walked along the beach.", "timestamp": "2024-05-02T12:00:00Z"})
        asked = "where did we walk on 14 March 2024?"
        found = self.results(query=asked, detail="full", limit=2, trace=True)
        self.assertEqual([r["text"][20:25] for r in found["results"]], ["river", "beach"])
        self.assertEqual(found["results"][0]["occurred_start"], "2024-03-14T00:00:00.000Z")
        self.assertEqual([r["scores"]["temporal"] for r in found["results"]], [1, 0])
        self.assertEqual(found["trace"]["temporal"],
                         [{"words": "14 March 2024", "time": "2024-03-14"}])
        self.assertEqual(self.found("what was in May 2024?", arms=["temporal"]),
                         ["We walked along the beach."])
        # "Last month" counts from when it is asked.
        early, late = (self.found("where did we walk last month?", limit=1,
                                  query_timestamp=time) for time in ("2024-04-10", "2024-06-10"))
        self.assertNotEqual(early, late)

    def test_prefer_observations(self):
        score = lambda **more: {r["text"]: r["score"]  # noqa: E731
                                for r in self.results(**more)["results"]}
        self.assertGreater(score(prefer_observations=True)[PATTERN], score()[PATTERN])

    def test_detail(self):
        full = self.results(detail="full", query="who chose Postgres?", limit=1)["results"][0]
        self.assertEqual(list(full)[:23], [
            "id", "text", "type", "context", "metadata", "tags", "entities", "occurred_start",
            "occurred_end", "mentioned_at", "document_id", "chunk_id", "source_fact_ids", "score",
            "scores", "band", "trust", "source", "bank", "valid", "superseded_by", "window",
            "speaker"])
        self.assertEqual(list(full["scores"]), ["semantic", "keyword", "temporal", "graph", "prior",
                                                "final"])
        self.assertEqual(list(full["scores"]["prior"]), ["similarity", "weight", "recency", "scope",
                                                         "access", "type"])
        self.assertGreater(full["scores"]["semantic"], 0.3)
        self.assertEqual(full["scores"]["temporal"], 0)
        self.assertIsNone(full["context"])
        self.assertEqual((full["trust"], full["valid"]), ("agent", True))
        self.assertEqual(set(full["entities"]), {"Ana Torres", "Postgres"})
        self.assertNotIn("scores", self.results(detail="compact")["results"][0])

    def test_trace(self):
        plain, traced = self.results(), self.results(trace=True)
        self.assertNotIn("trace", plain)
        self.assertEqual([r["id"] for r in traced["results"]], [r["id"] for r in plain["results"]])
        trace = traced["trace"]
        self.assertTrue({"terms", "arms", "final", "priors", "timings_us"} <= set(trace))
        self.assertTrue(trace["arms"]["keyword"])


class Include(Recall):
    def test_entities(self):
        entities = self.results(query="who chose Postgres?")["entities"]
        self.assertIn("Postgres", entities)
        self.assertEqual(entities["Postgres"]["canonical_name"], "Postgres")
        self.assertNotIn("entities", self.results(query="who chose Postgres?",
                                                  include={"entities": None}))
        self.assertNotIn("entities", self.results(query="who chose Postgres?",
                                                  include={"entities": {"max_tokens": 0}}))

    def test_chunks(self):
        text = "The runbook of the harbour.\n\n" + "Cranes are checked each morning. " * 300
        self.done("retain", items=[{"content": text, "document_id": "runbook.md"}])
        query = "harbour runbook cranes"
        self.assertNotIn("chunks", self.results(query=query))
        self.assertNotIn("chunks", self.results(query=query, include={"chunks": None}))
        chunks = self.results(query=query, include={"chunks": {}})["chunks"]
        for key, chunk in chunks.items():
            self.assertEqual(chunk["id"], key)
            self.assertEqual(set(chunk), {"id", "text", "chunk_index", "truncated"})
        self.assertTrue(chunks)
        small = self.results(query=query, include={"chunks": {"max_tokens": 20}})["chunks"]
        self.assertTrue(any(chunk["truncated"] for chunk in small.values()))
        found = self.results(query=query, include={"chunks": {}}, max_tokens=0)
        self.assertEqual(found["results"], [])
        self.assertTrue(found["chunks"])

    def test_invalid(self):
        self.done("memory_edit", op="invalidate", id=self.ids[0], replacement_id=self.ids[2])
        self.assertNotIn(ANA, self.found(QUERY))
        found = {r["text"]: r for r in self.results(include={"invalid": True})["results"]}
        self.assertIs(found[ANA]["valid"], False)
        self.assertEqual(found[ANA]["superseded_by"], self.ids[2])
        text = text_of(self.call("recall", query=QUERY, min_score=0, include={"invalid": True}))
        self.assertIn(f"(id: {self.ids[0]}) [superseded by {self.ids[2]}]", text)

    def test_source_facts_are_accepted(self):
        self.results(include={"source_facts": {"max_tokens": 10}})

    def test_refused(self):
        for include, word in (({"chunk": {}}, "chunks"), ({"chunks": True}, "include.chunks"),
                              ({"chunks": {"max_token": 1}}, "max_tokens"),
                              ({"invalid": {}}, "include.invalid"),
                              ({"chunks": {"max_tokens": -1}}, "include.chunks.max_tokens"),
                              ([], "include")):
            self.refused("recall", "invalid", word, query="x", include=include)


class Words(Recall):
    def test_key_belongs_to_agent_recall(self):
        for more in ({}, {"query": "x"}):
            result = self.call("recall", key='a "b"', **more)
            self.assertTrue(result["isError"])
            self.assertEqual(text_of(result), 'recall searches by "query"; to read key "a \\"b\\"" '
                                              "use agent_recall")

    def test_unknown_members_name_the_nearest(self):
        for wrong, right in (("tag", "tags"), ("max_token", "max_tokens"), ("asof", "as_of"),
                             ("tag_group", "tag_groups"), ("top_k", "as_of"), ("qid", None)):
            text = self.refused("recall", "invalid", f'"{wrong}"', query="x", **{wrong: 1})
            if right and right != "as_of":
                self.assertIn(f'"{right}"', text)

    def test_aliases_that_differ(self):
        self.refused("recall", "invalid", "type_filter", query="x", types=["world"],
                     type_filter=["experience"])
        self.refused("recall", "invalid", "token_budget", query="x", max_tokens=1, token_budget=2)
        self.results(types=["fact"], type_filter=["world"], max_tokens=9, token_budget=9)

    def test_null_and_empty_are_absent(self):
        everything = {name: None for name in (
            "scope", "types", "tags", "tags_match", "limit", "max_tokens", "min_score", "budget",
            "query_timestamp", "temporal_window", "as_of", "include", "type_filter", "token_budget",
            "bank", "tag_groups", "min_scores", "prefer_observations", "trace", "detail", "arms")}
        self.done("recall", query=QUERY, **everything)
        self.done("recall", query=QUERY, scope="", bank="", as_of="", query_timestamp="")


class Hostile(Recall):
    def test_queries(self):
        self.refused("recall", "invalid", "query", query="")
        self.refused("recall", "invalid", "query", query=" \n\t ")
        self.refused("recall", "invalid", "query")
        self.refused("recall", "invalid", "query", query=5)
        self.refused("recall", "invalid", "query", "501", query="word" * 501)
        self.refused("recall", "invalid", "query", "100000", query="\u6f22" * 100_000)
        self.results(query="word" * 500)
        for query in ("\u0000", "\u202e", "'; DROP TABLE", "*", "AND OR NOT", "\U0001f600" * 400):
            self.client.call("recall", {"query": query})

    def test_numbers(self):
        for name, values in (("limit", (0, 201, 1.5, "5", -1, 10**30)),
                             ("max_tokens", (-1, 0.5, "x")), ("min_score", (-0.1, 1.1, "0")),
                             ("token_budget", (-1,))):
            for value in values:
                self.refused("recall", "invalid", name, query="x", **{name: value})

    def test_times(self):
        for bad in ("2026-02-30", "10000-01-01", "0000-01-01", "yesterday", "2026-13-01",
                    "2026-01-01T25:00:00Z"):
            self.refused("recall", "invalid", "as_of", query="x", as_of=bad)
            self.refused("recall", "invalid", "query_timestamp", query="x", query_timestamp=bad)
            for end in ("start", "end"):
                self.refused("recall", "invalid", f"temporal_window.{end}", query="x",
                             temporal_window={end: bad})

    def test_deep_tag_groups(self):
        def nested(levels):
            group = {"tags": ["db"]}
            for _ in range(levels - 1):
                group = {"and": [group]}
            return [group]
        self.assertEqual(self.of_billing(tag_groups=nested(16)), {ANA, PATTERN})
        for levels in (17, 20):
            text = self.refused("recall", "invalid", "tag_groups[0].and[0]", "16", query="x",
                                tag_groups=nested(levels))
            self.assertLess(len(text), 400)
        line = ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","arguments":'
                '{"query":"x","tag_groups":[%s{"tags":[]}%s]}}}' % ('{"not":' * 1000, "}" * 1000))
        self.client.send_line(line)
        self.assertEqual(self.client.reply(7)["error"]["code"], -32600)

    def test_many_tags(self):
        tags = [f"tag {n}" for n in range(10_000)]
        self.results(tags=tags, tags_match="any_strict")
        self.refused("recall", "invalid", "tags", query="x", tags=tags + ["one more"])
        self.refused("recall", "invalid", "tag_groups", query="x",
                     tag_groups=[{"tags": tags}, {"tags": ["one more"]}])

    def test_malformed_groups(self):
        for group in ({}, {"tags": ["a"], "and": []}, {"and": {}}, {"not": []}, [], "a", 5,
                      {"tags": "a"}, {"tags": [5]}, {"tags": ["a"], "match": "x"}, {"nor": []},
                      {"and": [], "match": "any"}):
            self.refused("recall", "invalid", "tag_groups[0]", query="x", tag_groups=[group])
        self.refused("recall", "invalid", "tag_groups", query="x", tag_groups={})

    def test_broken_json(self):
        for n, (arguments, word) in enumerate((
                ('{"query":"x","min_score":NaN}', "min_score"),
                ('{"query":"x","query":"y"}', "query"), ('{"query":"x","limit":01}', ""))):
            self.client.send_line('{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":'
                                  '"recall","arguments":%s}}' % (n, arguments))
            error = self.client.reply(n)["error"]
            self.assertEqual(error["code"], -32600)
            self.assertIn(word, error["message"])


class Size(MemoryCase):
    def test_default_answer_of_a_dialogue(self):
        """Thirty turns of a conversation fill more of a model's context than they are worth."""
        words = ("Caroline: I want to begin the counselling course in the autumn, Melanie, and reason "
                 "{} is that my mentor helped me")
        self.retain(*[{"content": words.format(n), "type": "experience",
                       "timestamp": f"2023-05-{n % 28 + 1:02}T13:56:00Z", "tags": [f"D{n}"],
                       "entities": ["Caroline", "Melanie"]} for n in range(40)])
        result = self.call("recall", query="why does Caroline want to begin the counselling course?")
        self.assertEqual(len(result["structuredContent"]["results"]), 30)
        self.assertLessEqual(result_bytes(result), 16_384)

    def test_cap(self):
        self.retain(*[f"Treasure {n} " + "lies under the old oak behind the mill. " * 20
                      for n in range(120)])
        for options in ({}, {"detail": "full"}, {"trace": True}, {"include": {"chunks": {}}}):
            result = self.call("recall", query="treasure oak mill", limit=200, max_tokens=1_000_000,
                               min_score=0, **options)
            self.assertLess(result_bytes(result), RESULT_LIMIT, options)
            found = result["structuredContent"]
            self.assertEqual(found["cut"]["by"], "size")
            self.assertEqual(len(found["results"]) + found["cut"]["results"], 120)
            self.assertTrue(any("size" in note for note in found["notes"]))
            self.assertIn(f"Found {len(found['results'])} relevant", text_of(result))

    def test_one_that_is_too_long(self):
        self.retain({"content": "Saga " + "of the northern sea. " * 350,
                     "metadata": {f"name {n}": "v" * 4000 for n in range(60)},
                     "tags": [f"{n} " + "t" * 240 for n in range(60)]})
        result = self.call("recall", query="saga northern sea", min_score=0, max_tokens=100_000)
        self.assertLess(result_bytes(result), RESULT_LIMIT)
        self.assertEqual(len(result["structuredContent"]["results"]), 1)
        self.assertTrue(any("Labels" in note for note in result["structuredContent"]["notes"]))

    def test_text_that_grows_when_escaped(self):
        self.retain("Weasel " + "\u202e\n" * 1500)
        result = self.call("recall", query="weasel", min_score=0)
        self.assertLess(result_bytes(result), RESULT_LIMIT)
        self.assertEqual(len(result["structuredContent"]["results"]), 1)
        self.assertTrue(re.search(r"\\u202e\n  ", text_of(result)))


if __name__ == "__main__":
    unittest.main()
