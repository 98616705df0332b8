"""verify --untrusted: whatever a file holds, the answer is a verdict; what reads it can do nothing
else."""
import random
import re
import shutil
import subprocess

from harness import CORRUPT, LONG, RobustTest, binary, jsonl, main, need_strace

PAGE = 4096
USAGE = 2


class Untrusted(RobustTest):
    def setUp(self):
        super().setUp()
        self.vault = self.new_vault()
        self.vault.set("kept", "value")
        self.vault.set("large", b"x" * 70_000)
        items = [{"content": f"memory {n} with words{n}"} for n in range(250)]
        self.vault.must("retain", "--jsonl", "-", stdin=jsonl(items))
        self.bank = next(path for path in (self.vault.path / "banks").iterdir()
                         if path.suffix == ".mdb")

    def verdict(self, *options):
        done = self.vault.run("verify", "--untrusted", *options)
        self.assertIn(done.code, (0, CORRUPT), done)
        return done

    def test_a_good_vault(self):
        done = self.verdict("--json")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.json(), self.vault.must("verify", "--json", "--read-only").json())
        self.assertEqual(self.verdict().out, self.vault.must("verify", "--read-only").out)
        self.assertTrue(self.verdict("--fast", "--json").json()["fast"])

    def test_it_says_what_is_wrong(self):
        whole = self.bank.read_bytes()
        saved = shutil.copytree(self.vault.path, self.vault.folder / "saved")
        self.vault.set("kept", "newer")
        shutil.copy(saved / "banks" / self.bank.name, self.bank)
        done = self.verdict("--json")
        self.assertEqual(done.code, CORRUPT, done)
        self.assertEqual({problem["code"] for problem in done.json()["problems"]}, {"rollback"})
        self.assertIn("rolled back", self.verdict().out.decode())
        self.bank.write_bytes(whole[:5 * PAGE])
        self.assertEqual(self.verdict().code, CORRUPT)

    def test_no_key_and_no_vault(self):
        (self.vault.key).rename(self.vault.folder / "away")
        done = self.vault.run("verify", "--untrusted")
        self.assertEqual(done.code, 3, done)
        done = self.vault.run("verify", "--untrusted", "--vault", str(self.vault.folder / "none"))
        self.assertEqual(done.code, 3, done)
        self.assertEqual(self.vault.run("verify", "--untrusted", "--nonsense").code, USAGE)

    def test_hostile_pages(self):
        """Header fields of pages, and anything else: never a crash, never a hang."""
        whole = self.bank.read_bytes()
        pages = len(whole) // PAGE
        chance = random.Random(23)
        codes = []
        for _ in range(5000 if LONG else 150):
            damaged = bytearray(whole)
            for _ in range(chance.choice((1, 1, 4))):
                page = chance.randrange(2, pages)
                damaged[page * PAGE + chance.randrange(64)] ^= 1 << chance.randrange(8)
            self.bank.write_bytes(damaged)
            codes.append(self.verdict().code)
        self.assertIn(CORRUPT, codes)
        for at in range(0, len(whole), 512 if LONG else 37 * 512):
            self.bank.write_bytes(whole[:at])
            self.verdict()
        self.bank.write_bytes(whole)
        self.assertEqual(self.verdict().code, 0)

    def test_it_is_confined_before_it_looks(self):
        need_strace()
        log = self.vault.folder / "strace.log"
        subprocess.run(["strace", "-f", "-qq", "-o", str(log), "-e",
                        "trace=prctl,openat,open,socket,execve,unlink,rename,mkdir", binary(),
                        "verify", "--confined", "--read-only"], env=self.vault.env,
                       cwd=self.vault.work, stdout=subprocess.DEVNULL, check=True)
        lines = log.read_text().splitlines()
        confined = next(i for i, line in enumerate(lines) if "PR_SET_SECCOMP" in line)
        first = next(i for i, line in enumerate(lines) if "memory.vault" in line)
        self.assertLess(confined, first)
        for line in lines[confined:]:
            if re.search(r"O_WRONLY|O_RDWR|O_CREAT", line):
                self.assertIn("EACCES", line)
            self.assertNotRegex(line, r"\b(socket|execve|unlink|rename|mkdir)\(")

    def test_nothing_is_written(self):
        for path in self.vault.path.rglob("*-lock"):
            path.unlink()
        before = sorted((str(path), path.stat().st_mtime_ns)
                        for path in self.vault.path.rglob("*"))
        self.verdict()
        after = sorted((str(path), path.stat().st_mtime_ns)
                       for path in self.vault.path.rglob("*"))
        self.assertEqual(before, after)


if __name__ == "__main__":
    main()
