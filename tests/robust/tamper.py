"""Damage, row by row with an independent tool and byte by byte: found, and never a wrong value.

Rows are changed with Debian's python3-lmdb, which knows nothing of Strongroom.
"""
import random
import shutil
import struct
import sys

from harness import CORRUPT, LONG, Memories, RobustTest, jsonl, main, skip

try:
    import lmdb
except ImportError:
    lmdb = None

INTEGER_KEYS = {"names", "records", "log"}
TABLES = {"root": ["names", "records", "chunks", "recipients", "root", "head", "log"],
          "bank": ["names", "records", "chunks", "head", "log"]}
WRONG_KEY = 3
LARGE = "".join(f"line {number} of a value in chunks\n" for number in range(6000))
ENTRIES = {"plain": "a plain value", "tagged": "with tags", "often": "third", "large": LARGE,
           "secret": "a value of class secret", "json": '{"a":[1,2.50,"x"]}', "__proto__": "x"}


class Damage(RobustTest):
    def setUp(self):
        super().setUp()
        self.base = self.new_vault("base")
        for value in ("first", "second", "third"):
            self.base.set("often", value)
        for key, value in ENTRIES.items():
            options = {"tagged": ["--tag", "t"], "secret": ["--class", "secret"],
                       "json": ["--value-json"], "plain": ["--operation-id", "op"]}.get(key, [])
            if key != "often":
                self.assertEqual(self.base.set(key, value, *options).code, 0)
        self.base.set("gone", "x")
        self.base.must("rm", "--yes", "gone")
        self.base.must("get", "plain")
        self.base.check_clean()
        self.copies = 0

    def copy(self):
        self.copies += 1
        return self.base.copy(self.new_folder(f"copy{self.copies}"))

    @staticmethod
    def file(vault, which):
        if which == "root":
            return vault.path / "root.mdb"
        [bank] = (vault.path / "banks").glob("*.mdb")
        return bank

    def check_values(self, vault, keys=tuple(ENTRIES), options=("--read-only",)):
        """The right value, or an error; never another value, never a death by signal."""
        answers = 0
        for key in keys:
            done = vault.run(*options, "get", "--", key)
            self.assertIn(done.code, (0, 1, WRONG_KEY, 4, CORRUPT, 7), done)
            if done.code == 0:
                self.assertEqual(done.out.decode(), ENTRIES[key], f"a wrong value of {key}")
                answers += 1
            else:
                self.assertEqual(done.out, b"", "part of a value before an error")
        return answers


class Rows(Damage):
    def setUp(self):
        if lmdb is None:
            skip("python3-lmdb is not installed (apt-get install python3-lmdb)")
        super().setUp()

    def change(self, vault, which, table, work):
        env = lmdb.open(str(self.file(vault, which)), subdir=False, max_dbs=16, lock=False,
                        map_size=1 << 30)
        try:
            db = env.open_db(table.encode(), integerkey=table in INTEGER_KEYS, create=False)
            with env.begin(write=True, db=db) as txn:
                return work(txn)
        finally:
            env.close()

    def rows(self, which, table):
        return self.change(self.copy(), which, table, lambda txn: list(txn.cursor()))

    def check_found(self, which, table, what, work):
        vault = self.copy()
        with self.subTest(what, file=which, table=table):
            self.change(vault, which, table, work)
            done = vault.run("verify", "--json")
            # A damaged slot cannot be told from a wrong key: the key did not open it.
            codes = (CORRUPT, WRONG_KEY) if table == "recipients" else (CORRUPT,)
            self.assertIn(done.code, codes, done)
            self.check_values(vault)
        shutil.rmtree(vault.folder, ignore_errors=True)

    def picked(self, rows, chance):
        """The first, the last and some others."""
        few = len(rows) if LONG else 3
        return list(dict.fromkeys([rows[0], rows[-1], *chance.sample(rows, min(few, len(rows)))]))

    def sweep(self, which):
        chance = random.Random(5)
        for table in TABLES[which]:
            rows = self.rows(which, table)
            if which == "root" and table == "chunks":
                self.assertEqual(rows, [])  # nothing of the vault's own is that long
                continue
            self.assertGreater(len(rows), 0, f"{which} {table} has no rows to damage")
            for key, value in self.picked(rows, chance):
                for at in {0, len(value) // 2, len(value) - 1, chance.randrange(len(value))}:
                    bit = 1 << chance.randrange(8)
                    flipped = value[:at] + bytes([value[at] ^ bit]) + value[at + 1:]
                    self.check_found(which, table, f"flip at {at}",
                                     lambda txn, k=key, v=flipped: txn.put(k, v))
                self.check_found(which, table, "remove", lambda txn, k=key: txn.delete(k))
                self.check_found(which, table, "cut short",
                                 lambda txn, k=key, v=value[:-1]: txn.put(k, v))
                self.check_found(which, table, "make longer",
                                 lambda txn, k=key, v=value + b"\0": txn.put(k, v))
                self.check_found(which, table, "empty", lambda txn, k=key: txn.put(k, b""))
                self.check_found(which, table, "duplicate",
                                 lambda txn, k=self.other_key(table, key, rows), v=value:
                                 txn.put(k, v))
            if len(rows) > 1:
                (one, first), (other, second) = chance.sample(rows, 2)
                if first != second:
                    self.check_found(which, table, "exchange", lambda txn: (
                        txn.put(one, second), txn.put(other, first)))

    @staticmethod
    def other_key(table, key, rows):
        if table in INTEGER_KEYS or len(key) == 8:
            last = max(struct.unpack("<Q", k)[0] for k, _ in rows)
            return struct.pack("<Q", min(last + 1, (1 << 64) - 1) if last < (1 << 63) else last ^ 1)
        return bytes([key[0] ^ 1]) + key[1:]

    def test_rows_of_a_bank(self):
        self.sweep("bank")

    def test_rows_of_the_vault(self):
        self.sweep("root")

    def test_an_older_row_put_back(self):
        """A record, a name, a head and whole tables from an earlier state of the same file."""
        old = {table: dict(self.rows("bank", table)) for table in TABLES["bank"]}
        self.base.set("often", "fourth")
        self.base.set("plain", "another plain value")
        was = dict(ENTRIES)
        ENTRIES.update(often="fourth", plain="another plain value")
        try:
            for table in TABLES["bank"]:
                now = dict(self.rows("bank", table))
                changed = [key for key in old[table] if now.get(key) != old[table][key]]
                if not changed:
                    continue
                vault = self.copy()
                with self.subTest(table):
                    self.change(vault, "bank", table,
                                lambda txn: [txn.put(key, old[table][key]) for key in changed])
                    self.assertEqual(vault.run("verify").code, CORRUPT)
                    # A lookup may get an older revision of a tampered file; never anything else.
                    for key in ENTRIES:
                        done = vault.run("--read-only", "get", "--", key)
                        if done.code == 0:
                            self.assertIn(done.out.decode(), (ENTRIES[key], was[key]))
        finally:
            ENTRIES.update(was)

    def test_a_row_of_another_vault(self):
        other = self.new_vault("other")
        other.set("plain", "a foreign value")
        for table in ("records", "names", "head", "log"):
            foreign = self.change(other, "bank", table, lambda txn: list(txn.cursor()))[-1]
            mine = self.rows("bank", table)[-1]
            self.check_found("bank", table, "foreign row",
                             lambda txn, k=mine[0], v=foreign[1]: txn.put(k, v))


class MemoryRows(Rows):
    """Memories and their index. recall and show give what is true, or exit code 5."""

    TEXTS = 700
    WORDS = ("uniqmem1", "uniqmem300", "uniqmem655", "uniqmem699", "uniqgone", "uniqnew", "uniqold",
             "uniqback", "uniqlong")

    def setUp(self):
        super().setUp()
        items = [{"content": f"memory number {n} uniqmem{n} of all", "tags": [f"t{n % 3}"],
                  "speaker": f"Speaker {n % 4}"} for n in range(self.TEXTS)]
        # Several calls: segments, a tail, and merges of them.
        for at in range(0, 600, 300):
            self.base.must("retain", "--jsonl", "-", stdin=jsonl(items[at:at + 300]))
        ids = {}
        for name, text in (("gone", "what goes uniqgone"), ("edited", "what was uniqold"),
                           ("back", "invalid for a while uniqback")):
            ids[name] = self.base.must("retain", text, "--json").json()["id"]
        self.base.must("edit", ids["gone"], "--forget", "--yes")
        self.base.must("edit", ids["edited"], "--content", "what is uniqnew", "--tag", "x")
        self.base.must("edit", ids["back"], "--invalidate", "--yes")
        self.base.must("edit", ids["back"], "--restore")
        self.base.must("retain", "uniqlong begins it. " + "and goes on with words. " * 200)
        self.base.must("link", ids["edited"], ids["back"], "precedes")
        self.base.must("retain", "--document-id", "a document", "--tag", "d", "part of a document")
        self.base.must("retain", "--jsonl", "-", stdin=jsonl(items[600:]))
        self.base.check_clean()
        memories = Memories(self.base)
        memories.check_recall(self.WORDS)
        self.truth = dict(memories.texts)
        self.expected = {word: self.answer(self.base, word) for word in self.WORDS}
        self.assertEqual([len(one) for one in self.expected.values()], [1, 1, 1, 1, 0, 1, 0, 1, 1])

    @staticmethod
    def answer(vault, word):
        """Ids and texts that recall gives, or None with exit code 5."""
        done = vault.run("--read-only", "recall", word, "--min-score", "0", "--json")
        if done.code in (CORRUPT, WRONG_KEY):
            if done.out:
                raise AssertionError(f"part of an answer before an error: {done}")
            return None
        if done.code != 0:
            raise AssertionError(f"recall {word}: {done}")
        # Texts that share other words with the query may come too; this word none has but one.
        return sorted((one["id"], one["text"]) for one in done.json()["results"]
                      if word in one["text"].split())

    def check_memories(self, vault, words=None):
        for word in words or self.chance.sample(self.WORDS, 3):
            got = self.answer(vault, word)
            if got is not None:
                self.assertEqual(got, self.expected[word], f"a wrong answer for {word}")
        # A retain after it stores, or is refused, and harms nothing.
        self.assertIn(vault.run("retain", "a new one uniqlater").code, (0, CORRUPT, WRONG_KEY))

    def check_found(self, which, table, what, work):
        vault = self.copy()
        with self.subTest(what, file=which, table=table):
            self.change(vault, which, table, work)
            done = vault.run("verify", "--json")
            self.assertEqual(done.code, CORRUPT, done)
            self.check_memories(vault)
        shutil.rmtree(vault.folder, ignore_errors=True)

    def kinds(self):
        """Rows of the table `index` by what they are: the first byte of the key."""
        kinds = {}
        for key, value in self.rows("bank", "index"):
            kinds.setdefault(key[0], []).append((key, value))
        return kinds

    def test_rows_of_a_bank(self):
        """Every kind of index row: changed, removed, in another place."""
        self.chance = random.Random(8)
        kinds = self.kinds()
        self.assertGreaterEqual(len(kinds), 8, "some kind of index row is not there to be damaged")
        for kind, rows in sorted(kinds.items()):
            with self.subTest(kind=kind):
                for key, value in self.chance.sample(rows, min(len(rows), 9 if LONG else 1)):
                    at = self.chance.randrange(len(value))
                    bit = 1 << self.chance.randrange(8)
                    flipped = value[:at] + bytes([value[at] ^ bit]) + value[at + 1:]
                    elsewhere = bytes([key[0]]) + bytes(255 - byte for byte in key[1:])
                    self.check_found("bank", "index", f"kind {kind} flip at {at}",
                                     lambda txn, k=key, v=flipped: txn.put(k, v))
                    self.check_found("bank", "index", f"kind {kind} remove",
                                     lambda txn, k=key: txn.delete(k))
                    self.check_found("bank", "index", f"kind {kind} cut short",
                                     lambda txn, k=key, v=value[:-1]: txn.put(k, v))
                    self.check_found("bank", "index", f"kind {kind} a second one",
                                     lambda txn, k=elsewhere, v=value: txn.put(k, v))
                if len(rows) > 1:
                    (one, first), (other, second) = self.chance.sample(rows, 2)
                    self.check_found("bank", "index", f"kind {kind} exchange",
                                     lambda txn, a=one, b=other, v=first, w=second:
                                     (txn.put(a, w), txn.put(b, v)))
        # A row of one kind in the place of another.
        flat = [rows[0] for _, rows in sorted(kinds.items())]
        for (key, value), (_, foreign) in zip(flat, flat[1:] + flat[:1]):
            self.check_found("bank", "index", f"kind {key[0]} by another",
                             lambda txn, k=key, v=foreign: txn.put(k, v))

    def test_rows_of_the_vault(self):
        """Records of memories, documents and links: some of each table."""
        self.chance = random.Random(9)
        for table in ("names", "records"):
            rows = self.rows("bank", table)
            for key, value in self.chance.sample(rows, 60 if LONG else 4):
                at = self.chance.randrange(len(value))
                flipped = value[:at] + bytes([value[at] ^ 1]) + value[at + 1:]
                self.check_found("bank", table, "flip", lambda txn, k=key, v=flipped: txn.put(k, v))
                self.check_found("bank", table, "remove", lambda txn, k=key: txn.delete(k))
            (one, first), (other, second) = self.chance.sample(rows, 2)
            self.check_found("bank", table, "exchange",
                             lambda txn: (txn.put(one, second), txn.put(other, first)))

    def test_an_older_row_put_back(self):
        """Rows of the index, one kind at a time, and the whole table, from an earlier state."""
        self.chance = random.Random(10)
        old = dict(self.rows("bank", "index"))
        edited = [one for one, text in self.truth.items() if "uniqmem300" in text][0]
        self.base.must("edit", edited, "--content", "other words uniqother")
        self.base.must("retain", "--jsonl", "-", stdin=jsonl(
            [{"content": f"later {n} uniqlater{n}"} for n in range(400)]))
        self.base.must("edit", [one for one, text in self.truth.items() if "uniqmem655" in text][0],
                       "--forget", "--yes")
        now = dict(self.rows("bank", "index"))
        changed = [key for key in old if now.get(key) != old[key]]
        was, self.expected = self.expected, {
            word: self.answer(self.base, word) for word in (*self.WORDS, "uniqother", "uniqlater7")}
        self.assertEqual(self.expected["uniqmem655"], [])
        kinds = {key[0] for key in changed}
        self.assertGreaterEqual(len(kinds), 4)
        for kind in [*sorted(kinds), None]:
            vault = self.copy()
            with self.subTest(kind=kind):
                if kind is None:
                    self.change(vault, "bank", "index", lambda txn: (
                        [txn.delete(key) for key in now if key not in old],
                        [txn.put(key, value) for key, value in old.items()]))
                else:
                    self.change(vault, "bank", "index", lambda txn, only=kind: [
                        txn.put(key, old[key]) for key in changed if key[0] == only])
                self.assertEqual(vault.run("verify").code, CORRUPT)
                # Of a file that was tampered with: what holds, what held, nothing, or an error.
                # Never what was forgotten, and never a text that was not there.
                for word in self.expected:
                    got = self.answer(vault, word)
                    if got:
                        self.assertIn(got, (self.expected[word], was.get(word)), word)
                    if word == "uniqmem655":
                        self.assertIn(got, (None, []), "a forgotten memory is recalled")
            shutil.rmtree(vault.folder, ignore_errors=True)

    def test_a_row_of_another_vault(self):
        self.chance = random.Random(11)
        other = self.new_vault("other")
        other.must("retain", "--jsonl", "-", stdin=jsonl(
            [{"content": f"foreign {n} uniqmem{n}"} for n in range(600)]))
        foreign = {}
        for key, value in self.change(other, "bank", "index", lambda txn: list(txn.cursor())):
            foreign.setdefault(key[0], (key, value))
        for kind, rows in self.kinds().items():
            if kind not in foreign:
                continue
            key, value = foreign[kind]
            self.check_found("bank", "index", f"kind {kind} of another vault",
                             lambda txn, k=rows[0][0], v=value: txn.put(k, v))

    def test_a_wrong_key(self):
        """Nothing of memories without the right key, and nothing changes."""
        other = self.new_vault("wrong")
        env = dict(self.base.env, STRONGROOM_KEYFILE=str(other.key))
        before = {path: path.read_bytes() for path in self.base.path.rglob("*.mdb")}
        some = next(iter(self.truth))
        for args in (["recall", "uniqmem1"], ["memories"], ["documents"], ["tags"], ["show", some],
                     ["retain", "x"], ["edit", some, "--forget", "--yes"],
                     ["link", some, "a", "b"], ["documents", "--delete", "a document", "--yes"]):
            done = self.base.run(*args, env=env)
            self.assertEqual((done.code, done.out), (WRONG_KEY, b""), args)
            self.assertNotIn("uniq", done.err)
        after = {path: path.read_bytes() for path in self.base.path.rglob("*.mdb")}
        self.assertEqual(before, after)


class Bytes(Damage):
    """Any byte of a file: the right answer or exit code 5, never a death by signal."""

    WAYS = (["--read-only", "get", "--", "plain"], ["--read-only", "get", "--", "large"],
            ["get", "--", "often"], ["ls", "--json"], ["history", "often"], ["verify", "--json"],
            ["set", "new", "v"], ["rm", "--yes", "often"])

    def check_file(self, path, flips, chance, region=None):
        base = (self.base.path / path).read_bytes()
        silent = 0
        for number in range(flips):
            at = chance.randrange(*(region or (0, len(base))))
            damaged = bytearray(base)
            damaged[at] ^= 1 << chance.randrange(8)
            vault = self.copy()
            (vault.path / path).write_bytes(damaged)
            with self.subTest(path, at=at, number=number):
                for args in chance.sample(self.WAYS, 3):
                    done = vault.run(*args)
                    self.assertGreaterEqual(done.code, 0, f"died by signal: {args} {done}")
                    self.assertNotEqual(done.code, 70, f"{args} {done}")
                    if done.code == 0 and "get" in args:
                        self.assertEqual(done.out.decode(), ENTRIES[args[-1]])
                    silent += done.code == 0
            shutil.rmtree(vault.folder, ignore_errors=True)
        return silent

    def test_pages(self):
        chance = random.Random(3)
        flips = 1000 if LONG else 60
        [bank] = (self.base.path / "banks").glob("*.mdb")
        for name in ("root.mdb", f"banks/{bank.name}"):
            size = (self.base.path / name).stat().st_size
            used = [page for page in range(0, size, 4096)
                    if any((self.base.path / name).read_bytes()[page:page + 4096])]
            self.check_file(name, flips, chance)
            # Where LMDB's own numbers lie: the meta pages, and the head of every page.
            self.check_file(name, flips, chance, (0, 8192))
            for page in used[2:] if LONG else chance.sample(used[2:], min(30, len(used) - 2)):
                self.check_file(name, 1, chance, (page, page + 64))

    def test_small_files(self):
        chance = random.Random(4)
        for at in range(0, 128, 1 if LONG else 5):
            vault = self.copy()
            header = bytearray((vault.path / "header").read_bytes())
            header[at] ^= 1 << chance.randrange(8)
            (vault.path / "header").write_bytes(header)
            with self.subTest(at=at):
                self.assertEqual(vault.run("get", "plain").code, CORRUPT)
                self.assertEqual(vault.run("verify").code, CORRUPT)
            shutil.rmtree(vault.folder, ignore_errors=True)

    def test_cut_files(self):
        chance = random.Random(6)
        [bank] = (self.base.path / "banks").glob("*.mdb")
        for name in ("root.mdb", f"banks/{bank.name}", "header"):
            whole = (self.base.path / name).read_bytes()
            sizes = [0, 1, len(whole) // 2, 4096, 8192, 12288]
            sizes += [chance.randrange(len(whole)) for _ in range(40 if LONG else 4)]
            for size in sizes:
                if size >= len(whole):
                    continue
                vault = self.copy()
                (vault.path / name).write_bytes(whole[:size])
                with self.subTest(name, size=size):
                    answers = self.check_values(vault, ("plain", "large"))
                    done = vault.run("verify")
                    self.assertIn(done.code, (0, CORRUPT), done)
                    if done.code == 0:  # only the room ahead of the pages was cut
                        self.assertEqual(answers, 2)
                shutil.rmtree(vault.folder, ignore_errors=True)

    def test_missing_and_exchanged_files(self):
        [bank] = (self.base.path / "banks").glob("*.mdb")
        self.base.must("bank", "create", "second")
        second = [path for path in (self.base.path / "banks").glob("*.mdb") if path != bank][0]
        for name in ("header", "root.mdb", f"banks/{bank.name}"):
            vault = self.copy()
            (vault.path / name).unlink()
            with self.subTest("missing", file=name):
                done = vault.run("get", "plain")
                self.assertEqual(done.code, CORRUPT, done)
                self.assertNotEqual(vault.run("set", "plain", "v").code, 0)
                self.assertEqual(vault.run("verify").code, CORRUPT)
                self.assertFalse((vault.path / name).exists(), "never made anew")
        vault = self.copy()
        (vault.path / "banks" / bank.name).write_bytes(second.read_bytes())
        self.assertEqual(vault.run("get", "plain").code, CORRUPT)
        self.assertEqual(vault.run("verify").code, CORRUPT)
        for name in ("reserve", "root.mdb.guard", "root.mdb-lock"):
            vault = self.copy()
            (vault.path / name).unlink()
            with self.subTest("harmless", file=name):
                self.assertEqual(self.check_values(vault), len(ENTRIES))
                vault.check_clean()


if __name__ == "__main__":
    if lmdb is None:
        print("SKIPPED: damage by rows: python3-lmdb is not installed", file=sys.stderr)
    main()
