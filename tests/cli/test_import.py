"""import --from mnemopi|hindsight|compartment|citadel: real exports, their mapping, and hostile files."""
import io
import json
import os
import pathlib
import threading
import unittest
import zipfile

import harness
from harness import DAMAGED, DENIED, USAGE, CliTest, json_lines

DATA = pathlib.Path(__file__).resolve().parent / "data" / "import"
SAMPLES = (("mnemopi", "export.json", 7), ("compartment", "export.jsonl", 4),
           ("citadel", "atoms.jsonl", 4), ("hindsight", "bank.zip", 5),
           ("hindsight", "documents.zip", 4), ("hindsight", "list.json", 2))
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def lines(items):
    return "".join(json.dumps(item) + "\n" for item in items)


def archive(entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in entries.items():
            out.writestr(name, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return data.getvalue()


def document(**members):
    return {"id": "d", "original_text": None, "facts": [], **members}


class ImportTest(CliTest):
    def sample(self, kind, name):
        return str(DATA / kind / name)

    def imported(self, kind, path, *args):
        return self.ok("import", "--from", kind, str(path), *args).decode()

    def listed(self):
        return {m["text"]: m for m in json_lines(self.ok("memories", "--include-invalid", "--json"))}

    def detail(self, text):
        reply = self.json("show", self.listed()[text]["id"])
        return {**reply, **reply["memory"]}

    def refused(self, kind, data, text, name="hostile"):
        path = self.box.write(name, data)
        before = self.box.fingerprint()
        self.fails(USAGE, "import", "--from", kind, str(path), text=text)
        self.assertEqual(self.box.fingerprint(), before)


class RealExports(ImportTest):
    def test_mapping(self):
        before = self.box.fingerprint()
        for kind, name, _ in SAMPLES:
            with self.subTest(kind=kind, name=name):
                path = self.sample(kind, name)
                expected = (DATA / kind / (name.split(".")[0] + ".mapping.jsonl")).read_bytes()
                out = self.ok("import", "--from", kind, path, "--dry-run", "--json")
                self.assertEqual(json_lines(out), json_lines(expected))
                self.assertIn("Nothing was stored.", self.imported(kind, path, "--dry-run"))
        self.assertEqual(self.box.fingerprint(), before)

    def test_again_stores_nothing(self):
        for kind, name, memories in SAMPLES:
            with self.subTest(kind=kind, name=name):
                box = harness.Sandbox()
                self.addCleanup(box.close)
                self.box = box
                self.ok("init", "--keyfile", str(box.key))
                path = self.sample(kind, name)
                self.assertIn(f"{memories} stored, 0 duplicates, 0 rejected", self.imported(kind, path))
                first = self.listed()
                self.assertIn(f"0 stored, {memories} duplicates, 0 rejected; 0 invalidated",
                              self.imported(kind, path))
                self.assertEqual(self.listed(), first)

    def test_mnemopi(self):
        self.imported("mnemopi", self.sample("mnemopi", "export.json"))
        old = self.detail("The Basel office closes at 18:00 on Fridays.")
        new = self.detail("Since May 2024 the Basel office closes at 17:00 on Fridays.")
        self.assertEqual((old["valid"], old["superseded_by"], old["mentioned_at"], old["context"]),
                         (False, new["id"], "2024-03-03T09:00:00.000Z", "office hours"))
        self.assertEqual((new["trust"], new["provenance"]["source"], new["importance"]),
                         ("imported", "mnemopi", 0.8))
        summary = self.detail("Mara looks after the printers and repaired one in June 2024.")
        self.assertEqual([(link["relation"], link["to"]) for link in summary["links"]],
                         [("derived_from", self.detail("Mara repaired the label printer.")["id"])])
        found = self.json("recall", "old door code")["results"]
        self.assertNotIn("The old door code is on the blue card.", [one["text"] for one in found])

    def test_hindsight(self):
        self.imported("hindsight", self.sample("hindsight", "bank.zip"))
        fact = self.detail("Jonas left the Basel office in March 2024.")
        self.assertEqual((fact["occurred_start"], fact["mentioned_at"], sorted(fact["entities"])),
                         ("2024-03-01T00:00:00.000Z", "2024-03-03T09:00:00.000Z",
                          ["Basel office", "Jonas"]))
        self.assertFalse(self.detail("The Basel office closes at 19:00 on Fridays.")["valid"])
        observation = self.detail("Mara has taken over the work of Jonas.")
        self.assertEqual((observation["type"], len(observation["links"])), ("observation", 2))
        names = [one["document_id"] for one in json_lines(self.ok("documents", "--json"))]
        self.assertEqual(names, ["office-handbook"])

    def test_bank(self):
        self.ok("bank", "create", "moved")
        path = self.sample("compartment", "export.jsonl")
        self.ok("--bank", "moved", "import", "--from", "compartment", path)
        self.assertEqual(self.ok("memories"), b"")
        self.assertEqual(len(json_lines(self.ok("--bank", "moved", "memories", "--json"))), 3)


class Judged(ImportTest):
    """Each record for itself: what is refused, left out or known is said, and the rest is stored."""

    ATOM = {"id": 1, "kind": "fact", "text": "Ada likes tea.", "created_at": 1_700_000_000_000_000}

    def atoms(self, *changes):
        items = [{**self.ATOM, "id": n, **change} for n, change in enumerate(changes, 1)]
        return str(self.box.write("atoms", lines(items)))

    def test_credentials_are_rejected(self):
        path = self.atoms({}, {"text": f"The token is {TOKEN}."})
        result = self.run_cli("import", "--from", "citadel", path)
        self.assertEqual(result.code, 0)
        self.assertIn(b"1 stored, 0 duplicates, 1 rejected", result.out)
        self.assertIn(b"line 2: ", result.err)
        self.assertNotIn(TOKEN.encode(), result.out + result.err)
        only = str(self.box.write("only", lines([{**self.ATOM, "text": f"The token is {TOKEN}."}])))
        self.assertEqual(self.run_cli("import", "--from", "citadel", only).code, DENIED)
        self.assertIn("1 stored", self.imported("citadel", only, "--allow-secret"))

    def test_what_does_not_fit_is_listed(self):
        path = self.atoms({"text": " "}, {"text": "x" * (2 << 20)},
                          {"payload": {"tags": ["t" * 300, "kept"], "long": "v" * 5000}})
        out = json_lines(self.ok("import", "--from", "citadel", path, "--dry-run", "--json"))
        self.assertEqual([(line["at"], line["reason"].split(",")[0]) for line in out[:-2]],
                         [("line 1", "has no text"), ("line 2", "is a text above 1 MiB"),
                          ("line 3", "has tags above 256 bytes or more than 64; those are left out"),
                          ("line 3", "has metadata that does not fit")])
        self.assertEqual(out[-2]["item"]["tags"], ["kept"])
        self.assertIn("1 stored", self.imported("citadel", path))

    def test_links_that_lead_nowhere_are_listed(self):
        items = [self.ATOM, {"src": 1, "dst": 9, "kind": "causes"},
                 {"src": 9, "dst": 1, "kind": "supersedes"}, {"src": 1, "dst": 9, "kind": "supersedes"}]
        path = str(self.box.write("atoms", lines(items)))
        out = json_lines(self.ok("import", "--from", "citadel", path, "--json"))
        self.assertEqual(sorted(line["at"] for line in out[:-1] if line["status"] == "skipped"),
                         ["line 1", "line 2", "line 4"])
        self.assertEqual((out[-1]["stored"], out[-1]["invalidated"], out[-1]["linked"]), (1, 1, 0))

    def test_a_text_of_ones_own_stays_valid(self):
        self.ok("retain", "Ada likes tea.")
        items = [self.ATOM, {**self.ATOM, "id": 2, "text": "Ada likes coffee."},
                 {"src": 2, "dst": 1, "kind": "supersedes"}]
        self.imported("citadel", self.box.write("atoms", lines(items)))
        self.assertTrue(self.listed()["Ada likes tea."]["valid"])

    def test_starter_facts_of_compartment(self):
        record = {"id": "s", "text": "A fact.", "provenance": {"host": "seed", "session": "starter@1"}}
        path = self.box.write("c", lines([{**record, "id": str(n)} for n in range(20)]))
        self.assertIn("line 1 (and 19 others): is of the pack starter@1", self.imported("compartment", path))

    def test_days_of_compartment_that_are_words(self):
        record = {"id": "s", "text": "A fact.", "discovered": "in spring", "expires": "soon", "created": 0.5}
        path = str(self.box.write("c", lines([record])))
        item = json_lines(self.ok("import", "--from", "compartment", path, "--dry-run", "--json"))[0]["item"]
        self.assertEqual((item["timestamp"], item.get("expires_at")), ("1970-01-01T00:00:00.500Z", None))
        self.assertEqual(item["metadata"], {"original_id": "s", "discovered": "in spring", "expires": "soon"})

    def test_importance_of_mnemopi_has_no_limits(self):
        row = {"id": "a", "content": "One.", "importance": 5}
        path = str(self.box.write("m", json.dumps({"mnemopi_export": {"version": "1.0"},
                                                   "working_memory": [row]})))
        item = json_lines(self.ok("import", "--from", "mnemopi", path, "--dry-run", "--json"))[0]["item"]
        self.assertEqual((item["importance"], item["metadata"]["importance"]), (1, "5"))

    def test_a_fifo_and_standard_input(self):
        data = (DATA / "compartment" / "export.jsonl").read_bytes()
        fifo = self.box.root / "fifo"
        os.mkfifo(fifo)
        writer = threading.Thread(target=lambda: fifo.write_bytes(data))
        writer.start()
        self.assertIn("4 stored", self.imported("compartment", fifo))
        writer.join()
        self.assertIn(b"4 duplicates", self.ok("import", "--from", "compartment", "-", stdin=data))


class HostileFiles(ImportTest):
    def test_truncated_anywhere(self):
        for kind, name, _ in SAMPLES:
            data = (DATA / kind / name).read_bytes()
            for part in range(1, 8):
                cut = self.box.write("cut", data[:len(data) * part // 8 - 1])
                result = self.run_cli("import", "--from", kind, str(cut), "--dry-run")
                self.assertIn(result.code, (0, USAGE) if name.endswith("l") else (USAGE,), result)

    def test_stores_are_not_exports(self):
        for kind, data, text in (
                ("mnemopi", b"SQLite format 3\0" + bytes(80), "mnemopi export FILE"),
                ("compartment", b"NUCV\0\1" + bytes(80), "compartment export --plaintext"),
                ("citadel", b"\xe1\xd3\x7a\xc1\1\0\0\0" + bytes(80), "docs/memories.md"),
                ("compartment", archive({"a": "b"}), "is a ZIP archive")):
            self.refused(kind, data, text)

    def test_wrong_types_name_their_place(self):
        row = {"id": "a", "content": "One."}
        head = {"mnemopi_export": {"version": "1.0"}}
        for change, place in (({"content": 7}, "working_memory[1].content"),
                              ({"content": None}, "working_memory[1].content"),
                              ({"importance": 1e300}, "working_memory[1].importance"),
                              ({"importance": "high"}, "working_memory[1].importance"),
                              ({"timestamp": "2024-02-30"}, "working_memory[1].timestamp"),
                              ({"metadata_json": "{"}, "working_memory[1].metadata_json"),
                              ({"metadata_json": "[]"}, "working_memory[1].metadata_json"),
                              ({"id": "a"}, "working_memory[1] has the id")):
            rows = [row, {**row, "id": "b", **change}]
            self.refused("mnemopi", json.dumps({**head, "working_memory": rows}), place)
        self.refused("mnemopi", json.dumps({**head, "working_memory": {}}), "working_memory")
        self.refused("mnemopi", json.dumps([]), "is no export of mnemopi")
        for kind in ("compartment", "citadel"):
            for bad in ("[]", "7", "{", '{"id": "a"}', '{"id": [], "text": "x", "kind": "k"}',
                        '{"id": "a", "text": "x", "kind": "k", "importance": NaN}',
                        '{"id": "a", "text": "x", "kind": "k", "created_at": 1e300, "created": 1e300}',
                        '{"id": "a", "text": "\\ud800", "kind": "k"}', "\xff"):
                self.refused(kind, '{"id": "1", "text": "One.", "kind": "fact"}\n'.encode() +
                             bad.encode("latin-1"), "line 2")

    def test_versions(self):
        path = self.box.write("m", json.dumps({"mnemopi_export": {"version": "2.0"}}))
        self.fails(DAMAGED, "import", "--from", "mnemopi", str(path), error="unsupported")
        path = self.box.write("h", archive({"manifest.json": {"schema_version": 2}}))
        self.fails(DAMAGED, "import", "--from", "hindsight", str(path), error="unsupported")

    def test_folders(self):
        for kind in ("mnemopi", "hindsight", "compartment", "citadel"):
            self.fails(USAGE, "import", "--from", kind, str(self.box.work), text="names a folder")

    def test_archives(self):
        manifest = {"schema_version": 1}
        fact = {"text": "One.", "fact_type": "world"}
        for entries, text in (
                ({"a.json": {}}, "is no archive of Hindsight"),
                ({"manifest.json": manifest, "documents/0.json": document(facts=[fact, 7])},
                 "documents/0.json.facts[1]"),
                ({"manifest.json": manifest, "documents/0.json": "{"}, "documents/0.json"),
                ({"manifest.json": manifest, "documents/0.json": document(facts=[
                    {**fact, "causal_relations": [{"relation_type": "x"}]}])}, "target_fact_index"),
                ({"manifest.json": manifest, "documents/0.json": document(),
                  "documents/1.json": document()}, "has the id of a document before it"),
                ({"manifest.json": manifest, "observations.json": {}}, "observations.json")):
            self.refused("hindsight", archive(entries), text)

    def test_an_archive_that_unpacks_to_too_much(self):
        data = archive({"manifest.json": {"schema_version": 1}, "documents/0.json": bytes(257 << 20)})
        path = self.box.write("bomb", data)
        self.fails(USAGE, "import", "--from", "hindsight", str(path), error="too_large")

    def test_a_damaged_archive(self):
        whole = (DATA / "hindsight" / "bank.zip").read_bytes()
        for at in range(0, len(whole), 37):
            data = bytearray(whole)
            data[at] ^= 0x40
            path = self.box.write("damaged", bytes(data))
            result = self.run_cli("import", "--from", "hindsight", str(path), "--dry-run")
            self.assertIn(result.code, (0, USAGE, DAMAGED), (at, result))


if __name__ == "__main__":
    unittest.main()
