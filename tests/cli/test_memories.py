"""retain, recall, show, edit, link, memories, documents, tags, import: every option has its effect."""
import json
import os
import time
import unittest

import harness
from harness import CONFLICT, DAMAGED, DENIED, NOT_FOUND, OK, USAGE, CliTest, TerminalTest, json_lines

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
QUERY = "Where does the Apollo staging database listen?"
SEED = [
    {"content": "The staging database of Apollo listens on port 5433 in Frankfurt.",
     "tags": ["infra", "db"], "timestamp": "2024-03-01", "entities": ["Apollo"],
     "occurred_start": "2024-02-10", "occurred_end": "2024-02-12"},
    {"content": "Mara moved the staging database of Apollo to new hardware.", "tags": ["infra"],
     "type": "experience", "speaker": "Mara", "timestamp": "2024-05-01"},
    {"content": "The Apollo staging database is only touched at night.", "type": "observation",
     "timestamp": "2024-06-01"},
    {"content": "Always ask the team before the Apollo staging database is touched.",
     "tags": ["rule"], "importance": 1, "timestamp": "2024-07-01"},
]
PORT, MARA, NIGHT, ASK = range(4)
NOISE = [{"content": f"Recipe number {n}: simmer the soup with {n} carrots and some thyme."}
         for n in range(30)]


def lines(items):
    return "".join(json.dumps(item) + "\n" for item in items).encode()


class MemoriesTest(CliTest):
    def retain(self, *args, **more):
        return self.json("retain", *args, **more)

    def seed(self, items=None):
        """Stores the items; their ids in order."""
        out = self.ok("retain", "--jsonl", "-", "--json", stdin=lines(items or SEED + NOISE))
        stored = json_lines(out)
        self.assertEqual({item["status"] for item in stored}, {"stored"}, stored)
        return [item["id"] for item in stored]

    def recall(self, *args, query=QUERY, **more):
        return self.json("recall", query, *args, **more)

    def show(self, *args):
        """What `show --json` says, members of the memory or document and of the rest together."""
        reply = self.json("show", *args)
        return {**reply, **(reply.get("memory") or reply.get("document"))}

    def found(self, *args, **more):
        return [result["id"] for result in self.recall(*args, **more)["results"]]


class Retain(MemoriesTest):
    def test_argument(self):
        reply = self.retain("Ada likes tea.")
        self.assertEqual(list(reply), ["id", "status", "repeated", "bank", "notes"])
        self.assertEqual((reply["status"], reply["bank"]), ("stored", "global"))
        self.assertEqual(self.ok("show", reply["id"], "--raw"), b"Ada likes tea.")

    def test_text_output(self):
        text = self.ok("retain", "Ada likes tea.").decode()
        self.assertRegex(text, r"^1 memory stored: \S+\n$")
        self.assertRegex(self.ok("retain", "Ada likes tea.").decode(), r"^Known already: \S+\n$")

    def test_standard_input(self):
        for args in (("-",), ()):
            with self.subTest(args=args):
                text = f"From a pipe {args}."
                reply = self.retain(*args, stdin=text.encode() + b"\n")
                self.assertEqual(self.ok("show", reply["id"], "--raw"), text.encode())

    def test_every_option_is_kept(self):
        reply = self.retain(
            "The build broke.", "--context", "standup", "--type", "experience", "--tag", "ci",
            "--tag", "b", "--entity", "Build", "--importance", "0.75", "--timestamp", "2024-01-02",
            "--speaker", "Mara", "--occurred-start", "2024-01-01T10:00:00Z", "--occurred-end",
            "2024-01-01T11:00:00+01:00", "--expires-at", "2999-01-01", "--metadata", "k=v=w",
            "--source", "wiki", "--document-id", "talk", "--position", "3", "--append")
        self.assertEqual(reply["document_id"], "talk")
        shown = self.show(reply["id"])
        for member, value in {
                "context": "standup", "type": "experience", "tags": ["b", "ci"],
                "importance": 0.75, "mentioned_at": "2024-01-02T00:00:00.000Z", "speaker": "Mara",
                "occurred_start": "2024-01-01T10:00:00.000Z", "document_id": "talk",
                "occurred_end": "2024-01-01T10:00:00.000Z", "metadata": {"k": "v=w"},
                "expires_at": "2999-01-01T00:00:00.000Z", "trust": "owner"}.items():
            got = shown[member]
            self.assertEqual(sorted(got) if member == "tags" else got, value, member)
        self.assertIn("Build", shown["entities"])
        self.assertEqual(shown["provenance"]["source"], "wiki")
        self.assertEqual(shown["provenance"]["source_kind"], "cli")

    def test_append_adds_and_replace_replaces(self):
        self.retain("First part.", "--document-id", "d")
        self.retain("Second part.", "--document-id", "d", "--append")
        self.assertEqual(self.json("documents")["memories"], 2)
        self.retain("All new.", "--document-id", "d")
        self.assertEqual(self.json("documents")["memories"], 1)
        self.assertEqual(self.show("--document", "d")["text"].strip(), "All new.")

    def test_repeats(self):
        first = self.retain("Ada likes tea.")
        again = self.retain("Ada likes tea.")
        self.assertEqual((again["status"], again["id"]), ("duplicate", first["id"]))
        self.assertEqual(len(json_lines(self.ok("memories", "--json"))), 1)

    def test_nearly_the_same(self):
        # Long enough to be noticed with any key.
        text = " ".join(f"word{n}" for n in range(60))
        first = self.retain(text)
        self.assertNotIn("reason", first)
        line = self.ok("retain", f"{text} more").decode()
        self.assertRegex(line, rf"^1 memory stored: \S+, similar to {first['id']}\n$")
        second = line.split()[3].rstrip(",")
        for memory in (first["id"], second):
            links = self.show(memory)["links"]
            self.assertEqual([(link["from"], link["to"], link["relation"]) for link in links],
                             [(second, first["id"], "similar")])
        third = self.retain(f"{text} more again")
        self.assertEqual((third["status"], third["reason"]), ("stored", f"similar to {second}"))
        self.ok("verify")

    def test_operation_id(self):
        first = self.retain("one", "--operation-id", "op")
        again = self.retain("one", "--operation-id", "op")
        self.assertEqual((first["repeated"], again["repeated"]), (False, True))
        self.fails(CONFLICT, "retain", "two", "--operation-id", "op", error="conflict")

    def test_credentials(self):
        message = self.fails(DENIED, "retain", "-", stdin=f"The key is {TOKEN}".encode(),
                             error="secret_detected", text="Refused: content looks like a credential")
        self.assertNotIn(TOKEN, message)
        self.assertEqual(self.ok("memories"), b"")
        self.retain("-", "--allow-secret", stdin=f"The key is {TOKEN}".encode())

    def test_refused(self):
        for args in ((), ("  ",), ("x", "--tag", ""), ("x", "--importance", "1.5"),
                     ("x", "--importance", "nan"), ("x", "--type", "permanentt"),
                     ("x", "--timestamp", "2024-02-30"), ("x", "--metadata", "novalue"),
                     ("x", "--metadata", "a=1", "--metadata", "a=2"), ("x", "y"),
                     ("x", "--position", "1"), ("x", "--append"), ("x", "--jsonl", "f"),
                     ("--jsonl", "f", "--tag", "t"), ("--jsonl", "no-such-file"),
                     ("--file", ".", "--document-id", "d"),
                     ("x", "--occurred-start", "2024-02-02", "--occurred-end", "2024-02-01")):
            with self.subTest(args=args):
                message = self.fails(USAGE, "retain", *args, error="invalid")
                self.assertNotIn("items[", message)
        self.assertEqual(self.ok("memories"), b"")

    def test_hostile_texts(self):
        for text in ("-x", "[a]", "{}", "%%", "\u202eevil", "a\nb", "--json"):
            with self.subTest(text=text):
                reply = json_lines(self.ok("retain", "--json", "--", text))[0]
                self.assertEqual(self.ok("show", reply["id"], "--raw"), text.encode())
        self.assertNotIn("\u202e", self.ok("memories").decode())


class RetainLines(MemoriesTest):
    def test_every_item_has_a_line(self):
        out = json_lines(self.ok("retain", "--jsonl", "-", "--json", stdin=lines(
            [{"content": "one"}, {"content": "two", "document_id": "d"}, {"content": "one"},
             {"content": f"key {TOKEN}"}])))
        self.assertEqual([(o["line"], o["status"]) for o in out],
                         [(1, "stored"), (2, "stored"), (3, "duplicate"), (4, "rejected")])
        self.assertEqual(out[1]["document_id"], "d")
        self.assertIn("credential", out[3]["reason"])
        self.assertNotIn("items[", out[3]["reason"])
        self.assertIsNone(out[3]["id"])

    def test_summary(self):
        done = self.run_cli("retain", "--jsonl", "-", stdin=lines(
            [{"content": "one"}, {"content": "one"}, {"content": f"key {TOKEN}"}]))
        self.assertEqual((done.code, done.out), (OK, b"1 stored, 1 duplicate, 1 rejected\n"))
        self.assertIn(b"line 3: Refused", done.err)

    def test_nothing_stored_has_the_code_of_the_first_rejection(self):
        done = self.run_cli("retain", "--jsonl", "-", stdin=lines([{"content": f"key {TOKEN}"}]))
        self.assertEqual(done.code, DENIED)

    def test_a_bad_line_stores_nothing(self):
        good = json.dumps({"content": "fine"})
        for bad, field in (("{", "line 3"), ("[]", "line 3"), ('{"content": 1}', "line 3.content"),
                           ("{}", "line 3.content"), ('{"content": "x", "tagz": []}', "tagz"),
                           ('{"content": "x", "content": "y"}', "line 3"),
                           ('{"content": "  "}', "line 3.content"),
                           ('{"content": "x", "importance": 2}', "line 3.importance"),
                           ('{"content": "x", "timestamp": "2024-02-30"}', "line 3.timestamp"),
                           ('{"content": "x", "position": 1}', "line 3.position"),
                           ('{"content": "x", "update_mode": "append"}', "line 3.update_mode"),
                           ('{"content": "x", "metadata": {"a": 1}}', "line 3.metadata"),
                           ('{"content": "x", "speaker": "%s"}' % ("s" * 257), "line 3.speaker"),
                           ('{"content": "\xff"}', "line 3")):
            with self.subTest(bad=bad[:50]):
                text = f"{good}\n\n{bad}\n".encode("latin-1")
                self.fails(USAGE, "retain", "--jsonl", "-", stdin=text, text=field)
        self.assertEqual(self.ok("memories"), b"")

    def test_file_with_blank_lines_mark_and_crlf(self):
        path = self.box.write("items", b'\xef\xbb\xbf{"content": "one"}\r\n\r\n  \n{"content": "two"}')
        out = json_lines(self.ok("retain", "--jsonl", str(path), "--json"))
        self.assertEqual([o["line"] for o in out], [1, 4])

    def test_many_calls_count_what_is_committed_and_can_be_run_again(self):
        items = [{"content": f"Fact number {n} is about thing {n}."} for n in range(2500)]
        path = self.box.write("items", lines(items))
        text = self.ok("retain", "--jsonl", str(path)).decode().splitlines()
        self.assertEqual(text, ["committed 1000", "committed 2000", "committed 2500",
                                "2500 stored, 0 duplicates, 0 rejected"])
        again = self.ok("retain", "--jsonl", str(path)).decode().splitlines()
        self.assertEqual(again[-1], "0 stored, 2500 duplicates, 0 rejected")

    def test_a_replacement_is_never_parted(self):
        part = {"document_id": "d"}
        items = [{**part, "content": "Part 0 of the talk."}]
        items += [{"content": f"Fact number {n} is about thing {n}."} for n in range(1500)]
        items += [{**part, "content": "Part 1 of the talk."}]
        items += [{**part, "content": "Part 2 of the talk.", "update_mode": "append"}]
        self.ok("retain", "--jsonl", "-", stdin=lines(items))
        self.assertEqual(self.json("documents")["memories"], 3)
        text = self.show("--document", "d")["text"]
        places = [text.index(f"Part {n}") for n in range(3)]
        self.assertEqual(places, sorted(places))

    def test_too_many_for_one_replacement(self):
        items = [{"document_id": "d", "content": f"Part {n}."} for n in range(10_001)]
        self.fails(USAGE, "retain", "--jsonl", "-", stdin=lines(items), text="line 10001.document_id")

    def test_standard_input_has_a_limit(self):
        big = lines([{"content": "x" * 1000}]) * 67_000
        self.fails(USAGE, "retain", "--jsonl", "-", stdin=big, error="too_large", text="into a file")
        self.assertEqual(self.ok("memories"), b"")

    def test_options_for_all(self):
        self.ok("retain", "--jsonl", "-", "--source", "wiki", "--allow-secret",
                stdin=lines([{"content": f"key {TOKEN}"}]))
        listed = self.json("memories")
        self.assertEqual(self.show(listed["id"])["provenance"]["source"], "wiki")


class RetainFiles(MemoriesTest):
    def setUp(self):
        super().setUp()
        tree = self.box.work / "notes"
        for folder in ("", "deep", ".hidden"):
            (tree / folder).mkdir()
        (tree / "a.md").write_text("# Alpha\n\nThe alpha release is in May.\n")
        (tree / "deep" / "b.TXT").write_text("Bravo ships in June.")
        (tree / "deep" / "ls.1").write_text(".TH LS 1\nls lists files.\n")
        (tree / "deep" / "libx.so.1").write_bytes(b"\x7fELF\x00\x01")
        (tree / "code.c").write_text("int main;")
        (tree / ".hidden" / "c.md").write_text("hidden")
        os.symlink("a.md", tree / "link.md")
        self.tree = tree

    def documents(self):
        return [d["document_id"] for d in json_lines(self.ok("documents", "--json"))]

    def test_folder(self):
        done = self.run_cli("retain", "--file", "notes")
        self.assertEqual((done.code, done.err), (OK, b""))
        self.assertTrue(done.out.decode().startswith("3 stored"), done.out)
        self.assertEqual(self.documents(), ["notes/a.md", "notes/deep/b.TXT", "notes/deep/ls.1"])
        self.assertEqual(self.ok("show", "--document", "notes/a.md", "--raw"),
                         (self.tree / "a.md").read_bytes())

    def test_again_and_changed(self):
        self.ok("retain", "--file", "notes")
        self.assertTrue(self.ok("retain", "--file", "notes").startswith(b"0 stored, 3 dup"))
        (self.tree / "a.md").write_text("The alpha release moved to July.\n")
        self.ok("retain", "--file", "notes/a.md")
        self.assertIn(b"July", self.ok("show", "--document", "notes/a.md", "--raw"))
        self.assertEqual(len(self.documents()), 3)

    def test_what_cannot_be_taken_is_reported_and_the_rest_stored(self):
        (self.tree / "bin.md").write_bytes(b"a\x00b")
        (self.tree / "latin.txt").write_bytes(b"caf\xe9")
        (self.tree / "empty.md").write_text(" \n")
        done = self.run_cli("retain", "--file", "notes", "no-such", "--json")
        self.assertEqual(done.code, USAGE)
        outcome = {line["document_id"]: line["status"] for line in json_lines(done.out)}
        self.assertEqual(outcome, {
            "notes/a.md": "stored", "notes/deep/b.TXT": "stored", "notes/deep/ls.1": "stored",
            "notes/bin.md": "skipped", "notes/latin.txt": "skipped", "no-such": "skipped",
            "notes/empty.md": "skipped"})
        text = self.run_cli("retain", "--file", "notes/bin.md").err.decode()
        self.assertIn("notes/bin.md is skipped: it is no UTF-8 text", text)
        (self.tree / "bin.md").unlink()
        (self.tree / "latin.txt").unlink()
        self.ok("retain", "--file", "notes")

    def test_options_hold_for_all(self):
        self.ok("retain", "--file", "notes/a.md", "notes/code.c", "--tag", "imported", "--importance",
                "0.25", "--source", "disk", "--metadata", "k=v")
        self.assertEqual(self.documents(), ["notes/a.md", "notes/code.c"])
        for memory in json_lines(self.ok("memories", "--json")):
            self.assertEqual((memory["tags"], memory["importance"]), (["imported"], 0.25))
            self.assertEqual(self.show(memory["id"])["metadata"], {"k": "v"})

    def test_file_and_search(self):
        self.ok("retain", "--file", "notes")
        hit = self.recall(query="When does Bravo ship?")["results"][0]
        self.assertEqual(hit["document_id"], "notes/deep/b.TXT")


class Recall(MemoriesTest):
    """A check an option, which fails when the option has no effect."""

    def setUp(self):
        super().setUp()
        self.ids = self.seed()

    def expect(self, wanted, *args, **more):
        got = self.found("--min-score", "0", *args, **more)
        known = {self.ids[n]: n for n in range(len(SEED))}
        self.assertEqual({known[i] for i in got if i in known}, set(wanted), args)

    def test_shape(self):
        reply = self.recall()
        self.assertEqual(reply["results"][0]["id"], self.ids[PORT])
        for member in ("chunks", "source_facts", "entities", "arms", "tokens", "banks", "as_of",
                       "abstained", "best_score", "notes"):
            self.assertIn(member, reply)
        for member in ("id", "text", "type", "context", "metadata", "tags", "entities",
                       "occurred_start", "occurred_end", "mentioned_at", "document_id", "chunk_id",
                       "source_fact_ids", "score", "scores", "band", "trust", "source", "bank",
                       "valid", "superseded_by", "window"):
            self.assertIn(member, reply["results"][0])

    def test_text_when_piped(self):
        row = self.ok("recall", QUERY).decode().splitlines()[0].split("\t")
        self.assertEqual(len(row), 6)
        self.assertEqual(row[2:], ["world", "2024-03-01", self.ids[PORT], SEED[PORT]["content"]])

    def test_nothing_found(self):
        reply = self.recall(query="zebra quagga okapi")
        self.assertEqual((reply["results"], reply["abstained"]), ([], True))
        self.assertEqual(self.ok("recall", "zebra quagga okapi"), b"")

    def test_types(self):
        self.expect({PORT, ASK}, "--types", "world")
        self.expect({MARA}, "--fact-type", "episodic")
        self.expect({MARA, NIGHT}, "--types", "experience,observation")
        self.expect({MARA, NIGHT}, "--types", "experience", "--types", "observation")
        self.expect({ASK}, "--types", "permanent")
        self.fails(USAGE, "recall", QUERY, "--types", "worlds", error="invalid")

    def test_tags_and_match(self):
        self.expect({PORT, MARA, NIGHT}, "--tags", "infra")
        self.expect({PORT, MARA, NIGHT}, "--tag", "infra")
        self.expect({PORT, MARA, ASK}, "--tags", "infra,rule", "--tags-match", "any_strict")
        self.expect({PORT, NIGHT}, "--tags", "infra,db", "--tags-match", "all")
        self.expect({PORT}, "--tags", "infra", "--tags", "db", "--tags-match", "all_strict")
        self.expect({MARA}, "--tags", "infra", "--tags-match", "exact")
        self.fails(USAGE, "recall", QUERY, "--tags-match", "some")

    def test_tag_groups(self):
        self.expect({PORT}, "--tag-groups", '[{"tags":["infra"]},{"tags":["db"]}]')
        self.expect({PORT, ASK}, "--tag-groups", '[{"or":[{"tags":["db"]},{"tags":["rule"]}]}]')
        self.expect({MARA}, "--tag-groups",
                    '[{"and":[{"tags":["infra"]},{"not":{"tags":["db"]}}]}]')
        for bad in ("[", "{}", '[{"tags":["a"],"or":[]}]', '[]}, "limit": 1'):
            self.fails(USAGE, "recall", QUERY, "--tag-groups", bad, error="invalid")

    def test_limit(self):
        self.assertEqual(len(self.found("--min-score", "0")), len(SEED))
        self.assertEqual(self.found("--min-score", "0", "--limit", "1"), [self.ids[PORT]])
        for bad in ("0", "201", "x"):
            self.fails(USAGE, "recall", QUERY, "--limit", bad, text="--limit")

    def test_max_tokens(self):
        first = self.recall("--max-tokens", "5")["results"]
        self.assertEqual([(r["id"], r["truncated"]) for r in first], [(self.ids[PORT], True)])
        self.assertEqual(self.found("--max-tokens", "0"), [])
        self.assertLess(len(self.found("--min-score", "0", "--max-tokens", "40")), len(SEED))

    def test_min_score(self):
        best = self.recall()["results"][0]["score"]
        reply = self.recall("--min-score", "1")
        self.assertEqual((reply["results"], reply["abstained"]), ([], True))
        self.assertAlmostEqual(reply["best_score"], best, places=2)
        self.assertEqual(self.found("--min-scores", '{"final": 1}'), [])
        self.assertEqual(self.found("--min-scores", '{"keyword": 1}', "--min-score", "0"), [])
        for bad in (("--min-score", "2"), ("--min-score", "nan"), ("--min-scores", '{"x": 1}')):
            self.fails(USAGE, "recall", QUERY, *bad, error="invalid")

    def test_budget(self):
        self.seed([{"content": f"Turbine {n} of the plant turns with vane {n}."} for n in range(400)])

        def cut(budget):
            arm = self.recall("--budget", budget, query="turbine of the plant")["arms"]["keyword"]
            return arm["reason"] if arm["cut"] else None
        self.assertIn("(60)", cut("low"))
        self.assertIn("(300)", cut("mid"))
        self.assertIsNone(cut("high"))

    def test_window(self):
        self.expect({PORT}, "--window-start", "2024-02-11", "--window-end", "2024-02-20")
        self.expect({NIGHT, ASK}, "--window-start", "2024-06-01")
        self.expect({PORT, MARA}, "--window-end", "2024-05-01")
        self.fails(USAGE, "recall", QUERY, "--window-start", "2025-01-01", "--window-end",
                   "2024-01-01", error="invalid")

    def test_query_timestamp(self):
        def recency(*args):
            prior = self.recall(*args)["results"][0]["scores"]["prior"]
            return prior["recency"], prior["weight"]
        self.assertNotEqual(recency(), recency("--query-timestamp", "2126-01-01"))
        self.fails(USAGE, "recall", QUERY, "--query-timestamp", "2024-02-30", error="invalid")

    def test_as_of_and_include_invalid(self):
        time.sleep(0.01)
        before = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{int(time.time() * 1000) % 1000:03}Z"
        time.sleep(0.01)
        self.ok("edit", self.ids[PORT], "--invalidate", "--replacement", self.ids[ASK])
        self.expect({MARA, NIGHT, ASK})
        self.expect({PORT, MARA, NIGHT, ASK}, "--include-invalid")
        hit = [r for r in self.recall("--include-invalid")["results"] if r["id"] == self.ids[PORT]][0]
        self.assertEqual((hit["valid"], hit["superseded_by"]), (False, self.ids[ASK]))
        self.expect({PORT, MARA, NIGHT, ASK}, "--as-of", before)
        self.expect(set(), "--as-of", "2001-01-01")

    def test_chunks(self):
        self.retain("The heliport of the clinic opens at dawn.", "--document-id", "clinic")
        query = "When does the heliport open?"
        self.assertEqual(self.recall(query=query)["chunks"], {})
        chunks = self.recall("--include-chunks", query=query)["chunks"]
        self.assertTrue(any("heliport" in chunk["text"] for chunk in chunks.values()), chunks)
        cut = self.recall("--include-chunks=3", query=query)["chunks"]
        self.assertTrue(all(chunk["truncated"] for chunk in cut.values()), cut)
        # The number stands behind an equals sign only: what follows is the question.
        self.json("recall", "--include-chunks", query)

    def test_source_facts_are_understood(self):
        self.recall("--include-source-facts")
        self.recall("--include-source-facts=10")
        self.fails(USAGE, "recall", QUERY, "--include-source-facts=x", error="invalid")

    def test_entities(self):
        self.assertIn("Apollo", self.recall()["entities"])
        self.assertEqual(self.recall("--no-entities")["entities"], {})
        self.assertEqual(self.recall("--include-entities", "0")["entities"], {})
        self.fails(USAGE, "recall", QUERY, "--no-entities", "--include-entities", "5", error="invalid")

    def test_prefer_observations(self):
        def score(*args):
            return {r["id"]: r["score"] for r in self.recall("--min-score", "0", *args)["results"]}
        plain, preferred = score(), score("--prefer-observations")
        self.assertGreater(preferred[self.ids[NIGHT]] / preferred[self.ids[PORT]],
                           plain[self.ids[NIGHT]] / plain[self.ids[PORT]])

    def test_trace_changes_nothing(self):
        plain, traced = self.recall(), self.recall("--trace")
        self.assertNotIn("trace", plain)
        self.assertIn("terms", traced["trace"])
        self.assertEqual([r["id"] for r in plain["results"]], [r["id"] for r in traced["results"]])
        self.assertIn('term "', self.ok("recall", QUERY, "--trace").decode())

    def test_detail(self):
        self.assertNotIn("scores", self.recall("--detail", "compact")["results"][0])
        self.assertIn("scores", self.recall("--detail", "full")["results"][0])

    def test_arms(self):
        self.assertEqual(self.recall("--arms", "keyword")["arms"]["graph"]["state"], "off")
        self.assertEqual(self.recall("--arms", "keyword,graph")["arms"]["graph"]["state"], "ran")
        self.fails(USAGE, "recall", QUERY, "--arms", "psychic", error="invalid")

    def test_bank(self):
        self.ok("bank", "create", "other")
        self.assertEqual(self.found("--bank", "other"), [])
        self.retain("Apollo listens elsewhere.", "--bank", "other")
        self.assertEqual(self.recall("--bank", "other", "--min-score", "0")["results"][0]["bank"], "other")
        self.fails(NOT_FOUND, "recall", QUERY, "--bank", "none", error="not_found")

    def test_scope(self):
        project = ("--project", str(self.box.home))
        own = self.retain("The Apollo staging database listens on 7000 here.", *project)
        self.assertNotEqual(own["bank"], "global")
        both = self.found("--min-score", "0", *project)
        self.assertIn(own["id"], both)
        self.assertIn(self.ids[PORT], both)
        shared = self.found("--min-score", "0", "--scope", "global", *project)
        self.assertNotIn(own["id"], shared)
        self.assertIn(self.ids[PORT], shared)
        self.assertEqual(self.found("--min-score", "0", "--scope", "project", *project), [own["id"]])

    def test_query_is_checked(self):
        self.fails(USAGE, "recall", error="invalid", text="QUERY is required")
        self.fails(USAGE, "recall", "", error="invalid")
        self.fails(USAGE, "recall", "word " * 600, error="invalid", text="500")


class Batch(MemoriesTest):
    def setUp(self):
        super().setUp()
        self.ids = self.seed()

    def batch(self, items, *args):
        return json_lines(self.ok("recall", "--batch", "-", "--json", *args, stdin=lines(items)))

    def test_answers_in_order(self):
        out = self.batch([{"qid": "a", "query": QUERY}, {"qid": 7, "query": "soup with thyme"},
                          {"qid": "c", "query": "zebra quagga okapi"}])
        self.assertEqual([answer["qid"] for answer in out], ["a", 7, "c"])
        self.assertEqual(list(out[0])[:3], ["qid", "ms", "results"])
        self.assertEqual(out[0]["results"][0]["id"], self.ids[PORT])
        self.assertIn("scores", out[0]["results"][0])
        self.assertEqual((out[2]["results"], out[2]["abstained"]), ([], True))
        self.assertIn("best_score", out[2])
        for answer in out:
            self.assertGreater(answer["ms"], 0)

    def test_ms_has_three_decimals(self):
        text = self.ok("recall", "--batch", "-", "--json",
                       stdin=lines([{"qid": "a", "query": QUERY}])).decode()
        self.assertRegex(text, r'^\{"qid":"a","ms":\d+\.\d{3},"results":')

    def test_a_line_replaces_the_options(self):
        out = self.batch([{"qid": 1, "query": QUERY},
                          {"qid": 2, "query": QUERY, "types": ["experience"]},
                          {"qid": 3, "query": QUERY, "type_filter": ["observation"], "limit": 9},
                          {"qid": 4, "query": QUERY, "types": None}],
                         "--types", "world", "--limit", "1", "--min-score", "0")
        got = [[r["id"] for r in answer["results"]] for answer in out]
        self.assertEqual(got, [[self.ids[PORT]], [self.ids[MARA]], [self.ids[NIGHT]], [self.ids[PORT]]])

    def test_line_of_every_option(self):
        line = {"qid": "x", "query": QUERY, "scope": "global", "types": ["world"], "tags": ["db"],
                "tags_match": "all_strict", "tag_groups": [{"tags": ["infra"]}], "limit": 3,
                "max_tokens": 100, "min_score": 0, "min_scores": {"keyword": 0}, "budget": "high",
                "query_timestamp": "2030-01-01", "temporal_window": {"start": "2024-01-01"},
                "include": {"entities": None, "invalid": True}, "prefer_observations": True,
                "trace": True, "detail": "compact", "arms": ["keyword"]}
        answer = self.batch([line])[0]
        self.assertEqual([r["id"] for r in answer["results"]], [self.ids[PORT]])
        self.assertNotIn("scores", answer["results"][0])
        self.assertIn("trace", answer)
        self.ok("bank", "create", "other")
        for given in ("--scope", "--bank"):
            out = self.batch([{"qid": 1, "query": QUERY, "bank": "other"},
                              {"qid": 2, "query": QUERY, "scope": "global"}, {"qid": 3, "query": QUERY}],
                             given, "global")
            self.assertEqual([answer["banks"] for answer in out], [["other"], ["global"], ["global"]])

    def test_every_line_is_checked_first(self):
        good = json.dumps({"qid": "a", "query": QUERY})
        for bad, field in (("{", "line 2"), ('{"qid": "b"}', "line 2.query"),
                           ('{"query": "x"}', "line 2.qid"), ('{"qid": [], "query": "x"}', "line 2.qid"),
                           ('{"qid": 1, "query": "x", "limit": 0}', "line 2.limit"),
                           ('{"qid": 1, "query": "x", "tope": 0}', "tope"),
                           (json.dumps({"qid": 1, "query": "word " * 600}), "line 2.query")):
            with self.subTest(bad=bad[:40]):
                self.fails(USAGE, "recall", "--batch", "-", stdin=f"{good}\n{bad}\n".encode(),
                           error="invalid", text=field)

    def test_a_question_that_fails_is_its_own_error(self):
        done = self.run_cli("recall", "--batch", "-", "--json", stdin=lines(
            [{"qid": 1, "query": QUERY, "bank": "none"}, {"qid": 2, "query": QUERY}]))
        self.assertEqual(done.code, NOT_FOUND)
        out = json_lines(done.out)
        self.assertEqual(out[0]["error"]["code"], "not_found")
        self.assertEqual(out[1]["results"][0]["id"], self.ids[PORT])

    def test_file(self):
        path = self.box.write("questions", lines([{"qid": 1, "query": QUERY}]))
        self.assertEqual(len(json_lines(self.ok("recall", "--batch", str(path), "--json"))), 1)
        self.fails(USAGE, "recall", QUERY, "--batch", str(path), error="invalid")


class ShowAndEdit(MemoriesTest):
    def test_show(self):
        one = self.retain("Ada likes tea.", "--tag", "drinks", "--entity", "Ada")["id"]
        shown = self.show(one)
        self.assertEqual((shown["text"], shown["tags"], shown["valid"]), ("Ada likes tea.", ["drinks"], True))
        self.assertEqual(len(shown["history"]), 1)
        text = self.ok("show", one).decode()
        for part in (one, "Ada likes tea.", "drinks", "local:cli", "owner"):
            self.assertIn(part, text)

    def test_a_long_document_comes_whole(self):
        text = "\n\n".join(f"Paragraph {n} tells of matter {n} at some length." for n in range(3000))
        self.retain("-", "--document-id", "long", stdin=text.encode())
        self.assertEqual(self.ok("show", "--document", "long", "--raw"), text.encode())
        shown = self.show("--document", "long")
        self.assertEqual((shown["text"], shown["truncated"]), (text, False))
        self.assertGreater(shown["memories_total"], 1)

    def test_show_refuses(self):
        self.fails(USAGE, "show", error="invalid")
        self.fails(USAGE, "show", "x", "--document", "y", error="invalid")
        self.fails(NOT_FOUND, "show", "nothing", error="not_found", text='No memory found with id "nothing"')
        self.fails(NOT_FOUND, "show", "--document", "nothing", error="not_found")

    def test_control_characters_are_escaped(self):
        one = self.retain("red \x1b[31m and \u202e reversed\nnext line")["id"]
        text = self.ok("show", one).decode()
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        self.assertIn("\nnext line", text)

    def test_update(self):
        one = self.retain("Ada likes tea.", "--tag", "a", "--metadata", "k=v")["id"]
        reply = self.json("edit", one, "--content", "Ada likes coffee.", "--importance", "0.9",
                          "--tag", "b", "--tag", "c", "--metadata", "x=y")
        self.assertEqual(reply["status"], "updated")
        shown = self.show(one)
        self.assertEqual((shown["text"], shown["importance"], sorted(shown["tags"]), shown["metadata"]),
                         ("Ada likes coffee.", 0.9, ["b", "c"], {"x": "y"}))
        self.assertEqual(len(shown["history"]), 2)
        self.ok("edit", one, "--content", "-", stdin=b"Ada likes water.\n")
        self.assertEqual(self.ok("show", one, "--raw"), b"Ada likes water.")
        self.ok("edit", one, "--no-tags", "--no-metadata")
        shown = self.show(one)
        self.assertEqual((shown["tags"], shown["metadata"]), ([], {}))

    def test_if_revision(self):
        one = self.retain("Ada likes tea.")["id"]
        revision = self.show(one)["revision"]
        self.ok("edit", one, "--content", "new", "--if-revision", str(revision))
        self.fails(CONFLICT, "edit", one, "--content", "newer", "--if-revision", str(revision),
                   error="conflict")

    def test_invalidate_and_restore(self):
        old, new = self.retain("Ada lives in Rome.")["id"], self.retain("Ada lives in Oslo.")["id"]
        reply = self.json("edit", old, "--invalidate", "--replacement", new)
        self.assertEqual((reply["status"], self.show(old)["superseded_by"]), ("invalidated", new))
        self.assertEqual(len(json_lines(self.ok("memories", "--json"))), 1)
        self.assertEqual(len(json_lines(self.ok("memories", "--json", "--include-invalid"))), 2)
        self.assertEqual(self.json("edit", old, "--restore")["status"], "restored")
        self.assertEqual(len(json_lines(self.ok("memories", "--json"))), 2)

    def test_forget(self):
        one = self.retain("Ada likes tea.")["id"]
        self.fails(USAGE, "edit", one, "--forget", error="invalid", text="--yes")
        self.assertEqual(self.json("edit", one, "--forget", "--yes")["status"], "deleted")
        self.fails(NOT_FOUND, "show", one, error="not_found")
        self.assertEqual(self.found(query="What does Ada like?"), [])

    def test_one_thing_at_a_time(self):
        one = self.retain("Ada likes tea.")["id"]
        for args in ((), ("--content", "x", "--forget", "--yes"), ("--invalidate", "--restore"),
                     ("--replacement", one), ("--tag", "a", "--no-tags"), ("--importance", "2"),
                     ("--content", "")):
            with self.subTest(args=args):
                self.fails(USAGE, "edit", one, *args, error="invalid")
        self.fails(NOT_FOUND, "edit", "nothing", "--content", "x", error="not_found")

    def test_credentials(self):
        one = self.retain("Ada likes tea.")["id"]
        self.fails(DENIED, "edit", one, "--content", "-", stdin=TOKEN.encode(), error="secret_detected")
        self.ok("edit", one, "--content", "-", "--allow-secret", stdin=TOKEN.encode())


class EditAtATerminal(TerminalTest):
    def edit(self, script):
        editor = self.box.write("editor", "#!/bin/sh\n" + script, 0o700)
        one = self.json("retain", "Ada likes tea.")["id"]
        session = self.terminal("edit", one, env={"VISUAL": str(editor)})
        self.assertEqual(session.wait(), OK, session.seen)
        return session, self.ok("show", one, "--raw")

    def test_editor(self):
        session, text = self.edit('sed -i s/tea/coffee/ "$1"\n')
        self.assertIn(b"updated", session.seen)
        self.assertEqual(text, b"Ada likes coffee.")

    def test_unchanged(self):
        session, text = self.edit("true\n")
        self.assertIn(b"Nothing was changed.", session.seen)
        self.assertEqual(text, b"Ada likes tea.")

    def test_results_are_wrapped(self):
        self.json("retain", "Ada likes tea with milk, " * 8 + "and biscuits.")
        session = self.terminal("recall", "What does Ada like with milk?")
        self.assertEqual(session.wait(), OK, session.seen)
        shown = session.seen.decode().splitlines()
        self.assertGreater(len(shown), 2)
        self.assertTrue(all(len(line) <= 80 for line in shown), shown)


class RetainAtATerminal(TerminalTest):
    def test_a_bar_instead_of_counts(self):
        path = self.box.write("items", lines(
            [{"content": f"Fact number {n} is about thing {n}."} for n in range(20_000)]))
        session = self.terminal("retain", "--jsonl", str(path))
        self.assertEqual(session.wait(), OK, session.seen)
        self.assertRegex(session.seen, rb"\[#*\.*\] \d+ %, \d+ \w+ left")
        self.assertNotIn(b"committed", session.seen)
        self.assertIn(b"20000 stored, 0 duplicates, 0 rejected", session.seen)


class Lists(MemoriesTest):
    def test_memories(self):
        ids = self.seed(SEED)
        listed = json_lines(self.ok("memories", "--json"))
        self.assertEqual({memory["id"] for memory in listed}, set(ids))
        self.assertEqual(len(json_lines(self.ok("memories", "--json", "--limit", "2"))), 2)
        self.assertEqual(len(json_lines(self.ok("memories", "--json", "--limit", "5000"))), 4)
        for args, wanted in ((("--type", "world"), {PORT, ASK}), (("--tag", "infra"), {PORT, MARA}),
                             (("--tag", "infra", "--tag", "db"), {PORT})):
            got = {memory["id"] for memory in json_lines(self.ok("memories", "--json", *args))}
            self.assertEqual(got, {ids[n] for n in wanted}, args)
        self.assertEqual(self.ok("memories").decode().count("\n"), 4)
        self.fails(USAGE, "memories", "--type", "permanent", error="invalid")

    def test_documents(self):
        self.retain("One.", "--document-id", "b", "--tag", "t")
        self.retain("Two.", "--document-id", "a")
        listed = json_lines(self.ok("documents", "--json"))
        self.assertEqual([d["document_id"] for d in listed], ["a", "b"])
        self.assertEqual(listed[1]["tags"], ["t"])
        self.fails(USAGE, "documents", "--delete", "a", error="invalid", text="--yes")
        self.assertEqual(self.json("documents", "--delete", "a", "--yes")["memories"], 1)
        self.fails(NOT_FOUND, "documents", "--delete", "a", "--yes", error="not_found")
        self.assertEqual(len(json_lines(self.ok("memories", "--json"))), 1)

    def test_tags(self):
        self.seed(SEED)
        self.assertEqual(json_lines(self.ok("tags", "--json"))[0], {"tag": "infra", "memories": 2})
        self.assertEqual(self.ok("tags").decode().splitlines()[0], "infra\t2")

    def test_link(self):
        one, two = self.retain("It rained.")["id"], self.retain("The match was called off.")["id"]
        reply = self.json("link", one, two, "causes", "--valid-from", "2024-01-01", "--valid-until",
                          "2025-01-01")
        self.assertEqual(reply["status"], "linked")
        self.assertEqual(reply["link"]["valid_from"], "2024-01-01T00:00:00.000Z")
        links = self.show(one)["links"]
        self.assertEqual([(k["from"], k["to"], k["relation"]) for k in links], [(one, two, "causes")])
        self.assertEqual(self.json("link", one, two, "causes")["status"], "updated")
        self.assertEqual(self.json("link", one, two, "causes", "--remove")["status"], "removed")
        self.assertEqual(self.show(one)["links"], [])
        self.assertEqual(self.json("link", "Ada", "Acme", "works at")["status"], "linked")
        self.fails(USAGE, "link", one, two, error="invalid", text="RELATION is required")

    def test_counts(self):
        self.retain("One.", "--document-id", "d")
        self.retain("Two.")
        for reply in (self.json("status"), self.json("bank", "ls")):
            self.assertEqual((reply["memories"], reply["documents"]), (2, 1))
        context = self.json("context")
        self.assertEqual(context["counts"]["memories"], 2)
        self.assertEqual({memory["text"] for memory in context["memories"]}, {"One.", "Two."})
        self.assertIn("- Two. [world]", self.ok("context").decode())


class Import(MemoriesTest):
    GRAPH = [
        {"type": "entity", "name": "Ada", "entityType": "person",
         "observations": ["Ada likes tea", "lives in Oslo"]},
        {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
        {"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works at"},
        {"type": "note", "text": "?"},
        {"type": "entity", "entityType": "person", "observations": ["nameless"]},
        {"type": "entity", "name": "Bob", "entityType": "person", "observations": [7]},
    ]

    def graph(self):
        return str(self.box.write("memory.json", lines(self.GRAPH) + b"{broken\n"))

    def test_dry_run_stores_nothing(self):
        before = self.box.fingerprint()
        out = json_lines(self.ok("import", "--from", "server-memory", self.graph(), "--dry-run", "--json"))
        self.assertEqual([line["line"] for line in out[:-1]], [2, 4, 5, 6, 7])
        self.assertEqual(out[-1], {"dry_run": True, "entities": 2, "memories": 2, "links": 1,
                                   "skipped": 5})
        self.assertEqual(self.box.fingerprint(), before)
        text = self.ok("import", "--from", "server-memory", self.graph(), "--dry-run").decode()
        self.assertIn("line 7 is skipped: is not valid JSON", text)
        self.assertIn("mapped 2 entities to 2 memories, 1 relation to links; skipped 5", text)
        self.assertIn("Nothing was stored.", text)

    def test_server_memory(self):
        text = self.ok("import", "--from", "server-memory", self.graph()).decode()
        self.assertIn("2 stored, 0 duplicates, 0 rejected; 1 linked", text)
        listed = {m["text"]: m for m in json_lines(self.ok("memories", "--json"))}
        self.assertEqual(set(listed), {"Ada likes tea", "Ada: lives in Oslo"})
        shown = self.show(listed["Ada: lives in Oslo"]["id"])
        self.assertEqual((shown["tags"], shown["provenance"]["source"], shown["provenance"]["source_kind"]),
                         (["person"], "server-memory", "import"))
        self.assertIn("Ada", shown["entities"])
        again = self.ok("import", "--from", "server-memory", self.graph()).decode()
        self.assertIn("0 stored, 2 duplicates", again)

    def test_jsonl(self):
        path = str(self.box.write("items", lines([{"content": "one"}, {"content": "two"}])))
        self.assertIn("2 items would", self.ok("import", "--from", "jsonl", path, "--dry-run").decode())
        self.assertEqual(self.ok("memories"), b"")
        self.assertEqual(self.ok("import", "--from", "jsonl", path),
                         b"2 stored, 0 duplicates, 0 rejected\n")

    def test_other_kinds(self):
        self.fails(DAMAGED, "import", "--from", "q-ring", "x", error="unsupported", text="q-ring")
        self.fails(USAGE, "import", "--from", "nonsense", "x", error="invalid")
        self.fails(USAGE, "import", "x", error="invalid", text="--from")
        self.fails(USAGE, "import", "--from", "jsonl", "no-such-file", error="invalid")
        path = str(self.box.write("other", b'{"a": 1}\n'))
        self.fails(USAGE, "import", "--from", "server-memory", path, error="invalid")


class WithoutVault(CliTest):
    vault = False

    def test_no_vault(self):
        self.box.write("owner.key", os.urandom(32))
        for args in (("retain", "x"), ("recall", "x"), ("show", "x"), ("edit", "x", "--content", "y"),
                     ("memories",), ("documents",), ("tags",), ("link", "a", "b", "c")):
            with self.subTest(args=args):
                self.fails(harness.LOCKED, *args, error="no_vault")
        self.assertFalse(os.path.exists(self.box.vault))

    def test_help(self):
        for command in ("retain", "recall", "show", "edit", "link", "memories", "documents", "tags",
                        "import"):
            self.assertIn(f"Usage: strongroom {command}", self.ok(command, "--help").decode())


if __name__ == "__main__":
    unittest.main()
