"""model add, use, fill, ls, rm: a bank's own embedder, what happens while it is filled, and when it
does not answer."""
import json
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from embedding_server import DIMENSIONS, EmbeddingServer
from harness import CONFLICT, NOT_FOUND, USAGE, CliTest, json_lines

EMBED_DATA = pathlib.Path(__file__).resolve().parent.parent / "embed" / "data"
BUILT_IN = "sr-static-1"
# Only the server knows that zorblax is a boat.
FACTS = ["The zorblax leaves at nine from the northern pier.",
         "The quimsy arrives on the last Friday of a month.",
         "Harpsichords are tuned in spring."]
QUESTION = "when does the boat sail"


class Models(CliTest):
    def setUp(self):
        super().setUp()
        self.server = EmbeddingServer()
        self.addCleanup(self.server.close)

    def retain(self, texts):
        lines = "".join(json.dumps({"content": text}) + "\n" for text in texts)
        return json_lines(self.ok("retain", "--jsonl", "-", "--json", stdin=lines.encode()))

    def add(self, *more):
        return self.json("model", "add", "--url", self.server.url, "--name", "words", "--curve",
                         "0.1,0.8", *more)["id"]

    def use(self, model, *more):
        return self.ok("--bank", "global", "model", "use", model, *more)

    def semantic(self, question=QUESTION, *more):
        reply = self.json("recall", question, "--min-score", "0", "--trace", *more)
        return reply["arms"]["semantic"], [found["text"] for found in reply["results"]]

    def vectors(self):
        return {line["model"]: line for line in json_lines(self.ok("model", "ls", "--json"))
                if "passages" in line}

    def test_a_bank_uses_it_when_all_is_filled(self):
        self.retain(FACTS)
        arm, _ = self.semantic()
        self.assertEqual(arm["model"], BUILT_IN)
        model = self.add()
        self.assertTrue(model.startswith("http-"), model)
        self.assertEqual(self.add(), model)
        self.assertEqual(self.semantic()[0]["model"], BUILT_IN)
        self.assertIn(b"3 passages", self.use(model))
        arm, texts = self.semantic()
        self.assertEqual((arm["model"], arm["state"], texts[0]), (model, "ran", FACTS[0]))
        lines = json_lines(self.ok("model", "ls", "--json"))
        self.assertEqual([(line["id"], line["kind"], line["dimensions"], line["banks"])
                          for line in lines if "id" in line],
                         [(BUILT_IN, "built-in", 256, []), (model, "http", DIMENSIONS, ["global"])])
        self.assertEqual([(line["model"], line["passages"], line["without"], line["asked"])
                          for line in lines if "passages" in line],
                         [(BUILT_IN, 3, 0, False), (model, 3, 0, True)])
        # What is stored from now on is seen at once.
        self.retain(["Her quimsy was late in June."])
        arm, texts = self.semantic("salary")
        self.assertEqual((arm["model"], arm["state"]), (model, "ran"))
        self.assertEqual({texts[0], texts[1]}, {FACTS[1], "Her quimsy was late in June."})
        # An edit makes new passages, a forgotten one leaves its place.
        first = self.retain(["zorblax two"])[0]["id"]
        self.ok("edit", first, "--content", "zorblax three")
        self.ok("edit", first, "--forget", "--yes")
        self.assertEqual(self.semantic()[0]["state"], "ran")
        self.assertEqual(self.vectors()[model]["without"], 0)
        self.ok("verify")

    def test_only_passages_and_questions_are_sent(self):
        model = self.add()
        self.ok("set", "token-name", stdin=b"an entry's value")
        self.use(model)
        before = len(self.server.texts)
        self.retain(FACTS[:1])
        self.semantic()
        self.assertEqual(self.server.texts[before:], [FACTS[0], QUESTION])

    def test_an_endpoint_that_is_gone(self):
        self.retain(FACTS)
        model = self.add()
        self.use(model)
        self.server.close()
        arm, texts = self.semantic()
        self.assertEqual((arm["model"], arm["state"]), (BUILT_IN, "ran"))
        self.assertIn(model, arm["reason"])
        self.assertIn("could not be asked", arm["reason"])
        self.assertEqual(len(texts), 3)
        lines = json.dumps({"content": "The zorblax has two masts."}).encode()
        done = self.run_cli("retain", "--jsonl", "-", stdin=lines)
        self.assertEqual(done.code, 0)
        self.assertIn(b"without vectors of the bank's own model", done.out + done.err)
        self.assertEqual(self.vectors()[model]["without"], 1)
        self.assertTrue(self.vectors()[BUILT_IN]["asked"])
        self.fails(7, "--bank", "global", "model", "fill")
        # It comes back: the next write makes up for what is missing.
        self.server = EmbeddingServer(self.server.port)
        self.addCleanup(self.server.close)
        self.assertEqual(self.semantic()[0]["state"], "behind")
        self.retain(["Masts are made of larch."])
        self.assertEqual(self.vectors()[model]["without"], 0)
        self.assertEqual(self.semantic()[0]["model"], model)
        self.ok("verify")

    def test_filling_goes_on_where_it_stopped(self):
        texts = [f"{FACTS[i % 3]} It is number {i}." for i in range(500)]
        self.retain(texts)
        model = self.add()
        self.server.fail_after = len(self.server.texts) + 200
        done = self.run_cli("--bank", "global", "model", "use", model)
        self.assertNotEqual(done.code, 0)
        self.assertIn(b"503", done.err)
        left = self.vectors()[model]["without"]
        self.assertTrue(300 <= left < 500, left)
        arm, _ = self.semantic()
        self.assertEqual((arm["model"], arm["state"]), (BUILT_IN, "behind"))
        self.assertIn(f"{left} passages have no vector of {model}", arm["reason"])
        self.server.fail_after = None
        before = len(self.server.texts)
        self.ok("--bank", "global", "model", "fill")
        self.assertEqual(len(self.server.texts) - before, left)
        self.assertEqual(self.semantic()[0]["model"], model)
        self.ok("verify")

    def test_killed_while_filling(self):
        texts = [f"{FACTS[i % 3]} It is number {i}." for i in range(400)]
        self.retain(texts)
        model = self.add()
        for after in (0, 64, 200):
            self.server.gate.clear() if after == 0 else None
            process = subprocess.Popen(
                self.box.command(["--bank", "global", "model", "use", model]), env=self.box.env,
                cwd=self.box.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seen = len(self.server.texts)
            if after == 0:
                # Held back inside its first request; others read and write meanwhile.
                time.sleep(0.3)
                self.assertEqual(self.semantic()[0]["model"], BUILT_IN)
            while after and len(self.server.texts) < seen + after and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.server.gate.set()
            self.ok("verify")
        self.ok("--bank", "global", "model", "fill")
        self.assertEqual(self.vectors()[model]["without"], 0)
        self.assertEqual(self.semantic()[0]["model"], model)
        self.ok("verify")

    def test_two_fill_at_once(self):
        self.retain([f"{FACTS[i % 3]} It is number {i}." for i in range(400)])
        model = self.add()
        self.use(model, "--no-fill")
        command = self.box.command(["--bank", "global", "model", "fill"])
        both = [subprocess.Popen(command, env=self.box.env, cwd=self.box.work,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(2)]
        for process in both:
            out, err = process.communicate()
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.vectors()[model]["without"], 0)
        self.ok("verify")

    def test_removing(self):
        self.retain(FACTS)
        model = self.add()
        self.use(model)
        self.fails(CONFLICT, "model", "rm", model)
        self.assertIn(BUILT_IN.encode(), self.ok("--bank", "global", "model", "use", "none"))
        self.assertEqual(self.semantic()[0]["model"], BUILT_IN)
        self.ok("model", "rm", model)
        self.assertEqual(list(self.vectors()), [BUILT_IN])
        self.fails(NOT_FOUND, "model", "rm", model)
        self.fails(NOT_FOUND, "--bank", "global", "model", "use", model)
        self.fails(USAGE, "model", "rm", BUILT_IN)
        self.ok("verify")

    def test_bad_arguments(self):
        self.fails(USAGE, "model", "add")
        self.fails(USAGE, "model", "add", "folder", "--url", self.server.url)
        self.fails(USAGE, "model", "add", "folder", "--shape", "openai")
        self.fails(USAGE, "model", "add", "--url", "http://192.0.2.1/api/embed", "--name", "m")
        self.fails(NOT_FOUND, "model", "add", str(self.box.root / "nothing"))
        self.fails(NOT_FOUND, "--bank", "nowhere", "model", "use", "none")
        self.fails(4, "--read-only", "model", "add", "--url", self.server.url, "--name", "m")

    def folder(self, weights, *more):
        """A folder with a small random model; `weights` of tests/embed/data."""
        folder = self.box.root / weights
        folder.mkdir()
        shutil.copy(EMBED_DATA / f"{weights}.safetensors", folder / "model.safetensors")
        for name in ("vocab.txt", "config.json"):
            shutil.copy(EMBED_DATA / name, folder / name)
        options = ("--pooling", "mean", "--curve", "0.2,0.9")
        return folder, self.json("model", "add", str(folder), *options, *more)

    def test_a_folder(self):
        self.retain(FACTS)
        folder, model = self.folder("encoder_f16")
        self.assertEqual((model["kind"], model["where"], model["dimensions"]),
                         ("folder", str(folder), 32))
        self.use(model["id"])
        self.assertEqual(self.semantic()[0]["model"], model["id"])
        # A file that changes is refused until the folder is added again; it is another model then.
        with open(folder / "vocab.txt", "a") as file:
            file.write("\n")
        arm, texts = self.semantic()
        self.assertEqual((arm["model"], len(texts)), (BUILT_IN, 3))
        self.assertIn("vocab.txt", arm["reason"])
        for options, word in ((("--curve", "1"), "curve"), (("--curve", "0.8,0.1"), "curve"),
                              (("--weights", "nothing.onnx"), "nothing.onnx")):
            done = self.run_cli("model", "add", str(folder), "--pooling", "mean", *options)
            self.assertNotEqual(done.code, 0)
            self.assertIn(word, done.err.decode())

    def test_a_reranker(self):
        # No word is so rare that its memories have a place of their own.
        self.retain(FACTS + [f"The zorblax {name} has two masts of larch."
                             for name in ("Anna", "Berta", "Clara", "Doris", "Emma")])
        before = self.json("recall", "zorblax mast", "--min-score", "0")["results"]
        _, model = self.folder("cross_f16")
        self.assertEqual(model["kind"], "reranker")
        self.use(model["id"])
        reply = self.json("recall", "zorblax mast", "--min-score", "0", "--trace")
        arm = reply["arms"]["reranker"]
        self.assertEqual((arm["state"], arm["model"]), ("ran", model["id"]))
        self.assertGreater(arm["candidates"], 1)
        # The same memories and the same scores, in an order of its own.
        after = reply["results"]
        self.assertEqual(sorted(found["id"] for found in after),
                         sorted(found["id"] for found in before))
        for a, b in zip(after, before):
            self.assertAlmostEqual(a["score"], b["score"], places=3)
        low = self.json("recall", "zorblax mast", "--min-score", "0", "--budget", "low")
        self.assertNotIn("reranker", low["arms"])
        shutil.rmtree(self.box.root / "cross_f16")
        reply = self.json("recall", "zorblax mast", "--min-score", "0")
        self.assertEqual(reply["arms"]["reranker"]["state"], "unavailable")
        self.assertEqual([found["id"] for found in reply["results"]],
                         [found["id"] for found in before])
        self.ok("--bank", "global", "model", "use", "none", "--reranker")
        self.assertNotIn("reranker", self.json("recall", "zorblax")["arms"])
        self.ok("model", "rm", model["id"])

    def test_other_banks_send_nothing(self):
        model = self.add()
        self.ok("bank", "create", "other")
        self.ok("--bank", "other", "model", "use", model)
        before = len(self.server.texts)
        self.retain(FACTS[:1])
        self.semantic()
        self.assertEqual(len(self.server.texts), before)


if __name__ == "__main__":
    unittest.main()
