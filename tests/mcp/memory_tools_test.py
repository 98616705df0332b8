#!/usr/bin/env python3
"""retain, memory_edit, memory_get, memory_link, the full profile, resources and prompts."""
import json
import os
import re
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import text_of
from memory_case import BANK, CREDENTIAL, RESULT_LIMIT, MemoryCase, result_bytes

MEBIBYTE = 1 << 20
ID = re.compile(r"^[a-z0-9]{5}-[0-9a-z]+$")
FACT = "Ana Torres chose Postgres for the billing service"


class Retain(MemoryCase):
    def test_fixed_texts(self):
        result = self.call("retain", items=[{"content": FACT}])
        self.assertEqual(text_of(result), "1 memory stored.")
        found = result["structuredContent"]
        self.assertEqual((found["count"], found["bank"]), (1, BANK))
        self.assertEqual(found["items"][0]["status"], "stored")
        self.assertRegex(found["items"][0]["id"], ID)
        self.assertIn(found["items"][0]["id"], text_of(result, 1))
        result = self.call("retain", items=[{"content": "one"}, {"content": "two"}])
        self.assertEqual(text_of(result), "2 memories stored.")

    def test_duplicates_count(self):
        first = self.retain(FACT)[0]
        result = self.call("retain", items=[{"content": "  " + FACT.upper() + " "}])
        if text_of(result) == "1 memory stored.":
            item = result["structuredContent"]["items"][0]
            self.assertIn(item["status"], ("stored", "duplicate"))
        found = self.done("retain", items=[{"content": FACT}])
        self.assertEqual(found["count"], 1)
        self.assertEqual((found["items"][0]["id"], found["items"][0]["status"]),
                         (first, "duplicate"))

    def test_nearly_the_same_is_named_and_linked(self):
        # Long enough to be noticed with any key.
        text = " ".join(f"word{n}" for n in range(60))
        first = self.retain(text)[0]
        result = self.call("retain", items=[{"content": FACT}, {"content": text + " more"}])
        self.assertEqual(text_of(result), "2 memories stored.")
        fact, second = result["structuredContent"]["items"]
        self.assertNotIn("reason", fact)
        self.assertEqual((second["status"], second["reason"]), ("stored", f"similar to {first}"))
        self.assertIn(f"\nitems[1] stored: similar to {first}\n", text_of(result, 1))
        self.assertTrue(text_of(result, 1).endswith(f"\nIds: {fact['id']}, {second['id']}"))
        for memory in (first, second["id"]):
            links = self.done("memory_get", id=memory)["links"]
            self.assertEqual([(link["from"], link["to"], link["relation"]) for link in links],
                             [(second["id"], first, "similar")])
        self.done("memory_edit", op="forget", id=first)
        self.assertEqual(self.done("memory_get", id=second["id"])["links"], [])

    def test_credentials_reject_one_item(self):
        result = self.call("retain", items=[{"content": FACT}, {"content": "key " + CREDENTIAL}])
        self.assertEqual(text_of(result), "1 memory stored.")
        item = result["structuredContent"]["items"][1]
        self.assertEqual(item["status"], "rejected")
        self.assertIn("items[1] rejected: Refused: items[1].content looks like a credential (",
                      text_of(result, 1))
        self.assertNotIn(CREDENTIAL, json.dumps(result))
        self.assertNotIn(CREDENTIAL, json.dumps(self.call("recall", query="key", min_score=0)))

    def test_nothing_stored_is_an_error(self):
        result = self.call("retain", items=[{"content": "key " + CREDENTIAL}])
        self.assertTrue(result["isError"])
        self.assertEqual(text_of(result), "0 memories stored.")
        self.assertIn("items[0] rejected: Refused: items[0].content", text_of(result, 1))
        self.assertNotIn("structuredContent", result)

    def test_members_come_back(self):
        item = {"content": FACT, "context": "standup", "type": "experience", "tags": ["b", "a"],
                "timestamp": "2026-05-03T10:00:00+02:00", "entities": ["Ana Torres"],
                "importance": 0.75, "metadata": {"ticket": "B-7"}, "speaker": "Ana",
                "occurred_start": "2026-05-02", "occurred_end": "2026-05-03"}
        memory_id = self.done("retain", items=[item], source="minutes")["items"][0]["id"]
        found = self.done("memory_get", id=memory_id)
        self.assertEqual((found["id"], found["text"], found["bank"]), (memory_id, FACT, BANK))
        memory = found["memory"]
        for name in ("context", "type", "importance", "metadata", "speaker"):
            self.assertEqual(memory[name], item[name], name)
        self.assertEqual(set(memory["tags"]), {"a", "b"})
        self.assertEqual(memory["mentioned_at"], "2026-05-03T08:00:00.000Z")
        self.assertEqual(memory["occurred_start"], "2026-05-02T00:00:00.000Z")
        self.assertEqual(memory["occurred_end"][:10], "2026-05-03")
        self.assertEqual(found["provenance"]["principal"], "local:mcp")
        self.assertEqual(found["provenance"]["source"], "minutes")
        self.assertEqual(memory["trust"], "agent")

    def test_types(self):
        for given, stored in (("world", "world"), ("fact", "world"), ("semantic", "world"),
                              ("experience", "experience"), ("episodic", "experience"),
                              ("episode", "experience"), ("observation", "observation")):
            memory_id = self.retain({"content": f"Of type {given} it is", "type": given})[0]
            self.assertEqual(self.done("memory_get", id=memory_id)["memory"]["type"], stored)
        memory_id = self.retain({"content": "Spoken of type nothing", "speaker": "Ana"})[0]
        self.assertEqual(self.done("memory_get", id=memory_id)["memory"]["type"], "experience")

    def test_documents(self):
        text = "Chapter one.\n\n" + "The crane lifts the box. " * 600
        found = self.done("retain", items=[{"content": text, "document_id": "book.md"}])
        item = found["items"][0]
        self.assertEqual((found["count"], item["document_id"]), (1, "book.md"))
        self.assertGreater(item["memories"], 1)
        back, offset = "", 0
        while offset is not None:
            part = self.done("memory_get", document_id="book.md", offset=offset, max_bytes=5000)
            back += part["text"]
            self.assertEqual(part["bytes"], len(text))
            self.assertEqual(part["truncated"], "next_offset" in part)
            offset = part.get("next_offset")
        self.assertEqual(back, text)
        self.assertEqual(part["document"]["memories_total"], item["memories"])
        self.done("retain", items=[{"content": "Short now.", "document_id": "book.md"}])
        self.assertEqual(self.done("memory_get", document_id="book.md")["text"], "Short now.")
        self.done("retain", items=[{"content": "And more.", "document_id": "book.md",
                                    "update_mode": "append", "position": 2}])
        whole = self.done("memory_get", document_id="book.md")["text"]
        self.assertTrue(whole.startswith("Short now.") and whole.endswith("And more."), whole)

    def test_operation_id(self):
        items = [{"content": FACT}]
        first = self.done("retain", items=items, operation_id="op-1")
        again = self.done("retain", items=items, operation_id="op-1")
        self.assertEqual(again["items"], first["items"])
        self.assertTrue(any("operation_id" in note for note in again["notes"]))
        self.refused("retain", "conflict", items=[{"content": "other"}], operation_id="op-1")

    def test_one_bad_item_refuses_all(self):
        bad = [
            ("content", {}), ("content", {"content": ""}), ("content", {"content": 5}),
            ("content", {"content": " \n"}), ("type", {"content": "x", "type": "opinion"}),
            ("tags", {"content": "x", "tags": "a,b"}), ("tags[1]", {"content": "x", "tags": ["a", 5]}),
            ("tags", {"content": "x", "tags": [f"{n}" for n in range(65)]}),
            ("timestamp", {"content": "x", "timestamp": "2026-02-30"}),
            ("timestamp", {"content": "x", "timestamp": "10000-01-01"}),
            ("timestamp", {"content": "x", "timestamp": 5}),
            ("occurred_start", {"content": "x", "occurred_start": "0000-01-01"}),
            ("expires_at", {"content": "x", "expires_at": "soon"}),
            ("importance", {"content": "x", "importance": 1.5}),
            ("importance", {"content": "x", "importance": "high"}),
            ("metadata", {"content": "x", "metadata": {"a": 5}}),
            ("metadata", {"content": "x", "metadata": {f"{n}": "v" for n in range(65)}}),
            ("entities", {"content": "x", "entities": [f"{n}" for n in range(65)]}),
            ("update_mode", {"content": "x", "update_mode": "merge"}),
            ("position", {"content": "x", "position": 1.5}),
            ("contnt", {"contnt": "x"}),
        ]
        for field, item in bad:
            with self.subTest(str(item)[:80]):
                text = self.refused("retain", "invalid", f"items[1].{field}",
                                    items=[{"content": "good"}, item])
                if field == "contnt":
                    self.assertIn('"content"', text)
        self.refused("retain", "too_large", "items[0].tags[0]", items=[{"content": "x",
                                                                        "tags": ["t" * 257]}])
        self.refused("retain", "invalid", "items", items=[])
        self.refused("retain", "invalid", "items")
        self.refused("retain", "invalid", "items", items={"content": "x"})
        self.refused("retain", "invalid", "items[0]", items=["x"])
        self.refused("retain", "invalid", "items", content="x")
        self.assertEqual(self.found("good"), [])

    def test_sizes(self):
        text = self.refused("retain", "too_large", items=[{"content": "x" * (MEBIBYTE + 1)}])
        self.assertEqual(text, f"Too large: items[0].content is {MEBIBYTE + 1} bytes, limit "
                               f"{MEBIBYTE}. [too_large]")
        text = self.refused("retain", "too_large", items=[
            {"content": "x" * MEBIBYTE, "document_id": f"{n}"} for n in range(9)])
        self.assertIn(f"limit {8 * MEBIBYTE}. ", text)
        result = self.call("retain", items=[{"content": f"Item number {n} of many"}
                                            for n in range(1500)])
        self.assertEqual(text_of(result), "1500 memories stored.")
        self.assertLess(result_bytes(result), RESULT_LIMIT)
        found = result["structuredContent"]
        self.assertEqual(len(found["items"]) + found["cut"]["results"], 1500)


class Edit(MemoryCase):
    def setUp(self):
        super().setUp()
        self.old, self.new = self.retain(FACT, "Ana Torres chose SQLite for the billing service")

    def test_update(self):
        result = self.call("memory_edit", op="update", id=self.old, content="Ana left in May",
                           importance=0.9, tags=["people"], metadata={"a": "b"})
        found = result["structuredContent"]
        self.assertEqual((found["status"], found["id"], found["bank"], found["affected"]),
                         ("updated", self.old, BANK, []))
        memory = self.done("memory_get", id=self.old)
        self.assertEqual(memory["text"], "Ana left in May")
        self.assertEqual((memory["memory"]["importance"], memory["memory"]["tags"],
                          memory["memory"]["metadata"]), (0.9, ["people"], {"a": "b"}))
        self.assertEqual(len(memory["history"]), 2)
        self.assertIn("Ana left in May", self.found("when did Ana leave?"))

    def test_invalidate_and_restore(self):
        found = self.done("memory_edit", op="invalidate", id=self.old, replacement_id=self.new)
        self.assertEqual(found["status"], "invalidated")
        self.assertNotIn(FACT, self.found("what did Ana choose for billing?"))
        memory = self.done("memory_get", id=self.old)
        self.assertEqual((memory["memory"]["valid"], memory["memory"]["superseded_by"]),
                         (False, self.new))
        links = self.done("memory_get", id=self.new)["links"]
        self.assertIn(("supersedes", self.old), [(link["relation"], link["to"]) for link in links])
        self.assertEqual(self.done("memory_edit", op="restore", id=self.old)["status"], "restored")
        self.assertIn(FACT, self.found("what did Ana choose for billing?"))

    def test_forget(self):
        self.assertEqual(self.done("memory_edit", op="forget", id=self.old)["status"], "deleted")
        self.assertNotIn(FACT, self.found("what did Ana choose for billing?"))
        for tool, more in (("memory_get", {}), ("memory_edit", {"op": "restore"})):
            result = self.call(tool, id=self.old, **more)
            self.assertEqual(text_of(result), f'No memory found with id "{self.old}"')

    def test_unknown_ids(self):
        for memory_id in ("zzzzz-zzz", "no id", self.old[:6] + "zzz", "é", "x" * 200):
            for tool, more in (("memory_get", {}), ("memory_edit", {"op": "forget"})):
                result = self.call(tool, id=memory_id, **more)
                self.assertTrue(result["isError"])
                self.assertEqual(text_of(result), f'No memory found with id "{memory_id}"')

    def test_revision(self):
        text = self.refused("memory_edit", "conflict", op="update", id=self.old, content="x",
                            if_revision=7)
        self.assertEqual(text, f'Conflict: "{self.old}" is at revision 1, you sent 7. '
                               "Read it again. [conflict]")
        self.done("memory_edit", op="update", id=self.old, content="x y", if_revision=1)

    def test_bank_that_contradicts_the_id(self):
        self.retain("something", bank="global")
        for tool, more in (("memory_get", {}), ("memory_edit", {"op": "forget"})):
            self.refused(tool, "invalid", "bank", id=self.old, bank="global", **more)
            self.done("memory_get", id=self.old, bank=BANK)

    def test_credentials(self):
        text = self.refused("memory_edit", "secret_detected", op="update", id=self.old,
                            content="key " + CREDENTIAL)
        self.assertTrue(text.startswith("Refused: content looks like a credential ("))

    def test_refused_arguments(self):
        for word, arguments in (("op", {}), ("op", {"op": "delete"}), ("op", {"op": "update"}),
                                ("content", {"op": "forget", "content": "x"}),
                                ("content", {"op": "update", "content": ""}),
                                ("replacement_id", {"op": "forget", "replacement_id": "x"}),
                                ("importance", {"op": "update", "importance": 2}),
                                ("metadata", {"op": "update", "metadata": {"a": 1}}),
                                ('"replacement"', {"op": "invalidate", "replacement": "x"})):
            self.refused("memory_edit", "invalid", word, id=self.old, **arguments)
        self.refused("memory_edit", "invalid", "id", op="forget")
        self.refused("memory_edit", "invalid", "erase", op="update", id=self.old, content="x",
                     erase=True)
        self.assertEqual(len(self.found("what did Ana choose for billing?")), 2)


class GetAndLink(MemoryCase):
    def test_parts(self):
        text = "aé€\U0001f600" * 300
        memory_id = self.retain(text)[0]
        for size in (4, 7, 1000):
            back, offset = b"", 0
            for _ in range(2000):
                part = self.done("memory_get", id=memory_id, offset=offset, max_bytes=size)
                back += part["text"].encode()
                self.assertEqual(part["bytes"], len(text.encode()))
                if not part["truncated"]:
                    break
                offset = part["next_offset"]
            self.assertEqual(back.decode(), text)
        result = self.call("memory_get", id=memory_id)
        self.assertEqual(text_of(result), text)
        self.assertIn(memory_id, text_of(result, 1))

    def test_text_that_grows_when_escaped(self):
        text = "\n\"" * 20000
        self.done("retain", items=[{"content": "a" + text, "document_id": "d"}])
        result = self.call("memory_get", document_id="d")
        self.assertLess(result_bytes(result["structuredContent"]), RESULT_LIMIT)
        self.assertLess(result_bytes(result["content"]), RESULT_LIMIT)
        self.assertEqual(result["structuredContent"]["truncated"], True)

    def test_refused_arguments(self):
        for arguments in ({}, {"id": "a", "document_id": "b"}, {"id": "a", "offset": -1},
                          {"id": "a", "max_bytes": 0}, {"id": 5}, {"idd": "a"}):
            self.refused("memory_get", "invalid", "id" if "id" not in arguments else "", **arguments)
        self.refused("memory_get", "not_found", "missing.md", document_id="missing.md")

    def test_links(self):
        one, two = self.retain("Alpha precedes the beta release", "Zulu closes the list")
        result = self.call("memory_link", **{"from": one}, to=two, relation="precedes",
                           valid_from="2026-05-01", valid_until="2026-06-01")
        found = result["structuredContent"]
        self.assertEqual((found["status"], found["bank"]), ("linked", BANK))
        self.assertEqual(found["link"], {"from": one, "to": two, "relation": "precedes",
                                         "valid_from": "2026-05-01T00:00:00.000Z",
                                         "valid_until": "2026-06-01T00:00:00.000Z"})
        self.assertEqual([(link["from"], link["to"], link["relation"])
                          for link in self.done("memory_get", id=two)["links"]],
                         [(one, two, "precedes")])
        found = self.done("memory_link", **{"from": one}, to=two, relation="precedes", remove=True)
        self.assertEqual(found["status"], "removed")
        self.assertEqual(self.done("memory_get", id=two)["links"], [])

    def test_refused_links(self):
        one = self.retain("Alpha precedes the beta release")[0]
        for word, arguments in (("from", {"to": one, "relation": "r"}),
                                ("to", {"from": one, "relation": "r"}),
                                ("relation", {"from": one, "to": one}),
                                ("valid_from", {"from": one, "to": "Ana", "relation": "r",
                                                "valid_from": "2026-02-30"}),
                                ("remove", {"from": one, "to": "Ana", "relation": "r",
                                            "remove": "yes"})):
            self.refused("memory_link", "invalid", word, **arguments)


class ContextAndResources(MemoryCase):
    def test_context(self):
        self.retain("The oldest one", {"content": "Tabs, never spaces", "importance": 0.95},
                    "The newest one")
        result = self.call("get_project_context")
        context = result["structuredContent"]
        self.assertEqual(context["counts"]["memories"], 3)
        self.assertEqual(context["memories"][0]["text"], "Tabs, never spaces")
        self.assertEqual(set(context["memories"][0]), {"id", "text", "type", "mentioned_at"})
        self.assertEqual(context["health"]["arms"], ["keyword", "graph"])
        self.assertIn("## Memories", text_of(result))
        self.assertIn("- Tabs, never spaces [world] (", text_of(result))
        small = self.done("get_project_context", max_tokens=5)
        self.assertLess(len(small["memories"]), 3)
        self.assertGreater(small["cut"]["results"], 0)

    def test_resources(self):
        memory_id = self.retain(FACT)[0]
        templates = self.client.result("resources/templates/list")["resourceTemplates"]
        self.assertIn("memory://{bank}/{id}", [t["uriTemplate"] for t in templates])
        uri = f"memory://{BANK}/{urllib.parse.quote(memory_id)}"
        for modern in (False, True):
            content = self.client.result("resources/read", {"uri": uri}, modern=modern)["contents"][0]
            self.assertEqual((content["text"], content["mimeType"]), (FACT, "text/plain"))
        for bad in (f"memory://{BANK}/zzzzz-1", f"memory://{BANK}/", "memory:///x", "memory://x",
                    f"memory://global/{memory_id}", "memory://a/%zz"):
            self.assertEqual(self.client.error("resources/read", {"uri": bad})["code"], -32602, bad)

    def test_prompts_and_guide(self):
        prompts = {p["name"] for p in self.client.result("prompts/list")["prompts"]}
        self.assertEqual(prompts, {"bootstrap", "compact"})
        text = self.client.result("prompts/get", {"name": "compact"})["messages"][0]["content"]["text"]
        for word in ("retain", "memory_edit", "credentials"):
            self.assertIn(word, text)
        guide = self.client.result("resources/read", {"uri": "strongroom://guide"})["contents"][0]
        for word in ("retain", "recall", "memory_get", "memory_link", "memory_edit"):
            self.assertIn(f"`{word}`", guide["text"])
        self.assertLess(len(self.client.initialize()["instructions"]), 2048)


class FullProfile(MemoryCase):
    arguments = ("--profile", "full")
    MORE = ["list_memories", "list_documents", "delete_document", "list_tags", "list_banks",
            "create_bank", "bank_stats", "purge_memories", "observe", "review",
            "consolidation_candidates", "list_entities"]

    def setUp(self):
        super().setUp()
        self.ids = self.retain({"content": "First", "tags": ["a", "b"], "timestamp": "2026-01-01"},
                               {"content": "Second", "tags": ["a"], "type": "experience"},
                               {"content": "Third of a document", "document_id": "d.md"})

    def test_tools(self):
        tools = {t["name"]: t for t in self.client.result("tools/list")["tools"]}
        self.assertEqual(list(tools)[10:], self.MORE)
        for name in ("tag_groups", "min_scores", "trace", "detail", "type_filter", "bank", "arms"):
            self.assertIn(name, tools["recall"]["inputSchema"]["properties"])
        text = json.dumps(list(tools.values()))
        for word in ("anyOf", "oneOf", "allOf", "$ref"):
            self.assertNotIn(f'"{word}"', text)
        for tool in tools.values():
            self.assertIs(tool["inputSchema"]["additionalProperties"], False)
            for part in tool["inputSchema"]["properties"].values():
                self.assertIsInstance(part["type"], str)
                self.assertEqual(part["type"] == "array", "items" in part)

    def test_lists(self):
        found = self.done("list_memories")
        self.assertEqual([m["text"] for m in found["memories"]],
                         ["Third of a document", "Second", "First"])
        self.assertEqual([m["text"] for m in self.done("list_memories", types=["experience"])[
            "memories"]], ["Second"])
        self.assertEqual([m["text"] for m in self.done("list_memories", tags=["b"])["memories"]],
                         ["First"])
        page = self.done("list_memories", limit=2)
        rest = self.done("list_memories", limit=2, cursor=page["cursor"])
        self.assertEqual([m["text"] for m in rest["memories"]], ["First"])
        self.assertEqual([(d["document_id"], d["memories"])
                          for d in self.done("list_documents")["documents"]], [("d.md", 1)])
        self.assertEqual(self.done("list_tags")["tags"], [{"tag": "a", "memories": 2},
                                                          {"tag": "b", "memories": 1}])
        self.assertIn(BANK, [b["name"] for b in self.done("list_banks")["banks"]])
        stats = self.done("bank_stats")
        self.assertEqual((stats["memories"], stats["documents"]), (3, 1))

    def test_delete_document(self):
        self.refused("delete_document", "invalid", "confirm", document_id="d.md")
        self.refused("delete_document", "invalid", "confirm", document_id="d.md", confirm="d")
        self.assertEqual(self.done("delete_document", document_id="d.md", confirm="d.md")["memories"],
                         1)
        self.refused("delete_document", "not_found", document_id="d.md", confirm="d.md")

    def test_purge(self):
        trial = self.done("purge_memories", tags=["a"])
        self.assertEqual((trial["matched"], trial["removed"], trial["dry_run"]), (2, 0, True))
        for confirm in ({}, {"confirm": "global"}):
            self.refused("purge_memories", "invalid", "confirm", f'"{BANK}"', tags=["a"],
                         dry_run=False, **confirm)
        self.assertEqual(self.done("bank_stats")["memories"], 3)
        done = self.done("purge_memories", tags=["a"], before="2026-02-01", dry_run=False,
                         confirm=BANK)
        self.assertEqual((done["removed"], done["ids"]), (1, [self.ids[0]]))
        self.assertEqual(self.done("bank_stats")["memories"], 2)

    def test_banks(self):
        found = self.done("create_bank", name="team")
        self.assertEqual((found["name"], found["bank"]), ("team", "team"))
        self.refused("create_bank", "conflict", name="team")
        self.refused("list_tags", "not_found", bank="taem")


if __name__ == "__main__":
    unittest.main()
