"""Bad, huge and strange input to memories, through the command line: a clear refusal or a right
answer, and nothing is stored by halves."""
import base64
import json
import random
import time

from harness import Memories, RobustTest, jsonl, main

USAGE = 2
CONTENT_LIMIT = 1 << 20


class MemoryInput(RobustTest):
    def setUp(self):
        super().setUp()
        self.vault = self.new_vault()

    def refused(self, *args, stdin=b"", text=""):
        start = time.monotonic()
        done = self.vault.run(*args, stdin=stdin)
        self.assertEqual(done.code, USAGE, done)
        self.assertIn(text, done.err)
        self.assertEqual(done.out, b"")
        self.assertLess(time.monotonic() - start, 30)
        return done

    def recall(self, query, *args):
        return self.vault.must("recall", *args, "--json", "--", query).json()["results"]

    def stored(self):
        return len(Memories(self.vault).texts)

    # ---- queries

    def test_queries_of_any_length(self):
        self.vault.must("retain", "the lantern is in the harbour")
        for query in ("", " ", "\n\t"):
            self.refused("recall", query, text="must not be empty")
        self.assertEqual(len(self.recall("lantern" + " abc" * 400, "--min-score", "0")), 1)
        self.refused("recall", "a b\u00e9" * 501, text="tokens, limit 500")
        for count in (501, 20_000):
            self.refused("recall", "\u6771" * count, text=f"{count} tokens, limit 500")
        # More than an argument may hold comes by --batch.
        huge = "\u6771" * 100_000
        done = self.vault.run("recall", "--batch", "-", "--json",
                              stdin=json.dumps({"qid": "x", "query": huge}).encode())
        self.assertIn("100000 tokens", done.err + done.out.decode())
        self.assertEqual(len(self.recall("\u6771" * 498 + " lantern", "--min-score", "0")), 1)

    def test_queries_of_punctuation_and_stop_words_find_nothing(self):
        self.vault.must("retain", "the lantern is in the harbour")
        for query in ("?", "...", "the of and", "\U0001F600", "\u200b", "'", '"', "-", "--", "\\",
                      "%s%n", "* OR 1=1; DROP TABLE", "[](){}", "\u202e"):
            with self.subTest(query=query):
                self.assertEqual(self.recall(query), [])

    def test_other_scripts_emoji_and_code_are_found(self):
        texts = {
            "\u6771\u4eac\u306e\u5929\u6c17\u306f\u6674\u308c": "\u5929\u6c17",
            "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440": "\u043c\u0438\u0440",
            "\u0633\u0644\u0627\u0645 \u062f\u0646\u06cc\u0627": "\u062f\u0646\u06cc\u0627",
            "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a":
                "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
            "\u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u03ba\u03cc\u03c3\u03bc\u03b5":
                "\u03ba\u03cc\u03c3\u03bc\u03b5",
            "\ud55c\uad6d\uc5b4 \ubb38\uc7a5": "\ubb38\uc7a5",
            "party \U0001F389 popper tonight": "popper",
            "for (size_t i = 0; i < queue_depth_max; ++i) { pool->drain(i); }": "queue_depth_max",
            "SELECT name FROM user_accounts WHERE id = 7": "user_accounts",
            "see src/net/socket_pool.cpp:120 for it": "src/net/socket_pool.cpp",
            "na\u0308ive cafe\u0301": "caf\u00e9",
        }
        stored = {text: self.vault.must("retain", "--json", "--", text).json()["id"]
                  for text in texts}
        for text, query in texts.items():
            with self.subTest(query=query):
                found = self.recall(query, "--min-score", "0")
                self.assertIn(stored[text], [one["id"] for one in found[:1]])

    # ---- texts

    def test_texts_of_any_size_and_kind(self):
        noise = random.Random(3)
        binary = "".join(chr(noise.choice((*range(1, 32), *range(128, 0xD7FF, 37))))
                         for _ in range(20_000))
        megabyte = ("all work and no play makes jack a dull boy. " * 30_000)[:CONTENT_LIMIT]
        texts = {"one byte": "x", "one word": "zirconium " * 50_000, "no blank": "z" * 300_000,
                 "noise": "starts noisy " + binary, "megabyte": megabyte,
                 "base64": base64.b64encode(noise.randbytes(300_000)).decode(),
                 "lines": "\n" * 1000 + "alone quartzline" + "\n" * 1000}
        for name, text in texts.items():
            with self.subTest(name):
                start = time.monotonic()
                reply = self.vault.must("retain", "--json", "-", stdin=text.encode()).json()
                self.assertEqual(reply["status"], "stored")
                again = self.vault.must("retain", "--json", "-", stdin=text.encode()).json()
                self.assertEqual((again["status"], again["id"]), ("duplicate", reply["id"]))
                self.assertLess(time.monotonic() - start, 60)
        for query, at_least in (("zirconium", 1), ("quartzline", 1), ("dull jack", 1)):
            self.assertGreaterEqual(len(self.recall(query)), at_least, query)
        self.refused("retain", "-", stdin=megabyte.encode() + b"!!", text="limit 1048576")
        self.vault.check_clean()
        before = self.stored()
        for bad in (b"\xff\xfe", b"a\xc3(", b"\xed\xa0\x80", b"ok \x80"):
            self.refused("retain", "-", stdin=bad, text="UTF-8")
        for blank in (b"", b" \n", "\u3000\u2003".encode()):
            self.refused("retain", "-", stdin=blank, text="empty")
        self.assertEqual(self.stored(), before)

    def test_times_that_are_none(self):
        for time_text in ("2025-02-30", "2025-13-01", "10000-01-01", "0000-01-01",
                          "2025-01-01T25:00:00Z", "2023-02-29", "yesterday at noon-ish", "2025-1-1",
                          "-1"):
            for option in ("--timestamp", "--occurred-start", "--expires-at"):
                with self.subTest(time=time_text, option=option):
                    self.refused("retain", "text", f"{option}={time_text}")
            for option in ("--as-of", "--window-start", "--query-timestamp"):
                with self.subTest(time=time_text, option=option):
                    self.refused("recall", "text", f"{option}={time_text}")
        self.refused("retain", "text", "--occurred-start", "2025-02-01", "--occurred-end",
                     "2025-01-01")
        self.assertEqual(self.vault.run("retain", "leap", "--timestamp", "2024-02-29").code, 0)
        self.assertEqual(self.stored(), 1)

    # ---- filters

    def test_filters_of_many_tags_and_deep_groups(self):
        self.vault.must("retain", "the lantern", "--tag", "t7")
        def batch(search):
            line = json.dumps({"qid": "x", "query": "lantern", "min_score": 0, **search})
            return self.vault.run("recall", "--batch", "-", "--json", stdin=line.encode())
        tags = [f"t{n}" for n in range(10_000)]
        done = batch({"tags": tags})
        self.assertEqual(done.code, 0, done)
        self.assertEqual(len(done.lines()[0]["results"]), 1)
        for search in ({"tags": [*tags, "more"]},
                       {"tags": tags[1:], "tag_groups": [{"tags": ["a", "b"]}]}):
            done = batch(search)
            self.assertEqual(done.code, USAGE, done)
            self.assertRegex(done.err + done.out.decode(), r"tags .*10000")
        def nested(depth, joint):
            group = {"tags": ["t7"]}
            for _ in range(depth - 1):
                group = {joint: group if joint == "not" else [group]}
            return [group]
        for joint in ("and", "or", "not"):
            self.assertEqual(batch({"tag_groups": nested(16, joint)}).code, 0)
            for depth in (17, 1000, 20_000):
                with self.subTest(joint=joint, depth=depth):
                    text = json.dumps({"qid": "x", "query": "lantern"})[:-1] + ', "tag_groups": ['
                    opening = '{"not": ' if joint == "not" else '{"%s": [' % joint
                    closing = "}" if joint == "not" else "]}"
                    text += opening * (depth - 1) + '{"tags": ["t7"]}'
                    text += closing * (depth - 1) + "]}"
                    done = self.vault.run("recall", "--batch", "-", "--json", stdin=text.encode())
                    self.assertGreater(done.code, 0, done)
                    self.assertNotEqual(done.code, 70, done)
        for bad in ('{"tags": []', "7", "[7]", '[{"tags": "a"}]', '[{"xor": []}]', '[{}]',
                    '[{"tags": ["a"], "not": {"tags": ["b"]}}]', '[{"not": []}]'):
            with self.subTest(bad=bad):
                self.refused("recall", "q", "--tag-groups", bad)

    # ---- links

    def test_links_in_a_circle(self):
        ids = [self.vault.must("retain", f"link {n} uniqlink{n}", "--json").json()["id"]
               for n in range(3)]
        for one, other in zip(ids, ids[1:] + ids[:1]):
            self.vault.must("link", one, other, "causes")
        self.vault.must("link", ids[0], "entity", "is")
        self.vault.must("link", "entity", ids[0], "is")
        for one in ids:
            self.assertGreaterEqual(len(self.vault.must("show", one, "--json").json()["links"]), 2)
        # Replacements in a circle: what is invalid cannot replace.
        self.vault.must("edit", ids[0], "--invalidate", "--replacement", ids[1], "--yes")
        done = self.vault.run("edit", ids[1], "--invalidate", "--replacement", ids[0], "--yes")
        self.assertEqual(done.code, USAGE, done)
        self.vault.must("edit", ids[0], "--restore")
        self.vault.must("edit", ids[1], "--invalidate", "--replacement", ids[0], "--yes")
        for one in ids:
            self.assertEqual(self.vault.run("edit", one, "--forget", "--yes").code, 0)
        self.assertEqual(self.stored(), 0)
        self.vault.check_clean()

    # ---- lists

    def test_one_bad_line_of_many(self):
        """Line 70,001 of 100,000 is bad: it is named, and nothing at all is stored."""
        lines = jsonl([{"content": f"line {n}"} for n in range(100_000)]).splitlines(keepends=True)
        for bad in (b"{\n", b'{"content": ""}\n', b'{"content": "x", "importance": 2}\n',
                    b'{"content": "x", "unknown": 1}\n', b'{"content": "\xff"}\n',
                    b'{"content": "x", "timestamp": "2025-02-30"}\n'):
            with self.subTest(bad=bad):
                lines[70_000] = bad
                done = self.refused("retain", "--jsonl", "-", stdin=b"".join(lines), text="70001")
                self.assertNotIn("committed", done.err)
        self.assertEqual(self.stored(), 0)


if __name__ == "__main__":
    main()
