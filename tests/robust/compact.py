"""compact and erase: killed or failing at every call, on a full disk, and while others are at work:
the old file or the new one, and nothing acknowledged is lost."""
import os
import shutil
import subprocess
import threading
import time

from harness import (KILLED, LONG, NO_SPACE, STORING_CALLS, WRITE_CALLS, Memories, RobustTest,
                     Server, Vault, calls_of, injected, jsonl, main, need_strace, skip)

BUSY = 6
LARGE = b"large value " * 9_000
MARK = "uniqerase"


def fill(vault):
    """Values of all kinds, free pages, memories in a segment and in the tail, two erasures' worth."""
    for number in range(6):
        vault.set(f"large {number}", LARGE + bytes([65 + number]))
    for number in range(1, 6):
        vault.must("rm", "--yes", f"large {number}")
    vault.set("kept", "kept value")
    vault.set("gone", "value to be erased")
    vault.set("secret", "secret value", "--class", "secret")
    vault.set("in other", "v", "--bank", "global")
    items = [{"content": f"memory {n} uniqmem{n}", "tags": [f"t{n % 3}"]} for n in range(250)]
    items.append({"content": f"text {MARK} of its own", "tags": ["marktag"]})
    return [line["id"] for line in
            vault.must("retain", "--jsonl", "-", "--json", stdin=jsonl(items)).lines()]


def state(vault):
    """All that users see."""
    values = {line["key"]: vault.get(line["key"]) for line in vault.must("ls", "--json").lines()}
    return values, Memories(vault).state


def compactions(vault):
    """Files whose new log says that they were compacted."""
    return len(vault.must("audit", "log", "--json", "--tool", "compact").lines())


class Sweeps(RobustTest):
    def setUp(self):
        super().setUp()
        need_strace()
        self.origin = self.new_vault("base")
        self.ids = fill(self.origin)
        self.before = state(self.origin)

    def places(self, args, calls):
        whole = self.origin.copy(self.new_folder("whole"))
        made = calls_of(whole, *args, calls=calls)
        after = state(whole)
        shutil.rmtree(whole.folder)
        return made, after

    def check_pending(self, vault, gone):
        """What is forgotten is pending or erased for good; a compaction completes it."""
        pending = vault.must("status", "--json").json()["erase_pending"]
        self.assertIn(pending, (0, 1) if gone else (0,))
        vault.must("compact")
        self.assertEqual(vault.must("status", "--json").json()["erase_pending"], 0)
        vault.check_clean()
        left = [path.name for path in (vault.path / "banks").iterdir() if ".tmp" in path.name]
        self.assertEqual(left, [])

    def sweep(self, args, faults, calls, codes):
        made, after = self.places(args, calls)
        self.assertGreater(len(made), 8)
        step = 1 if LONG else max(1, len(made) // 40)
        outcomes = []
        for index in sorted({*range(0, len(made), step), *range(max(0, len(made) - 12), len(made))}):
            place, fault = made[index], faults[index % len(faults)]
            folder = self.new_folder(f"at{index}")
            vault = self.origin.copy(folder)
            done = vault.run(*args, wrap=injected(fault, place))
            with self.subTest(" ".join(args), call=index, place=place, fault=fault):
                self.assertIn(done.code, codes, done)
                vault.check_clean()
                now = state(vault)
                self.assertIn(now, (self.before, after))
                Memories(vault).check_recall(["uniqmem3", "uniqmem249"])
                if done.code == 0:
                    self.assertEqual(now, after)
                self.assertEqual(vault.set("after", "v").code, 0)
                self.check_pending(vault, now == after != self.before)
                outcomes.append(now == after)
            shutil.rmtree(folder, ignore_errors=True)
        return outcomes

    def test_kill_compact(self):
        self.sweep(["compact"], ["signal=KILL"], WRITE_CALLS, (KILLED,))

    def test_kill_erase_of_a_memory(self):
        outcomes = self.sweep(["edit", self.ids[-1], "--erase", "--yes"], ["signal=KILL"],
                              WRITE_CALLS, (KILLED,))
        self.assertEqual(outcomes, sorted(outcomes))
        self.assertEqual(set(outcomes), {False, True})

    def test_kill_erase_of_an_entry(self):
        outcomes = self.sweep(["rm", "gone", "--erase", "--yes"], ["signal=KILL"], WRITE_CALLS,
                              (KILLED,))
        self.assertEqual(set(outcomes), {False, True})

    def test_failing_compact(self):
        self.sweep(["compact"], ["error=ENOSPC", "error=EIO"], STORING_CALLS, (0, NO_SPACE))

    def test_failing_erase(self):
        self.sweep(["edit", self.ids[-1], "--erase", "--yes"], ["error=ENOSPC", "error=EIO"],
                   STORING_CALLS, (0, NO_SPACE))

    def test_a_kill_at_the_rename_leaves_one_file(self):
        """The last calls: new file in place, old lock file still there."""
        made, _ = self.places(["compact", "--bank", "global"], WRITE_CALLS)
        renames = [index for index, place in enumerate(made) if place[0].startswith("rename")]
        counts = []
        for index in range(renames[-1] - 2, len(made)):
            vault = self.origin.copy(self.new_folder(f"rename{index}"))
            done = vault.run("compact", "--bank", "global", wrap=injected("signal=KILL", made[index]))
            self.assertEqual(done.code, KILLED)
            counts.append(compactions(vault))
            self.assertEqual(state(vault), self.before)
            self.assertEqual(vault.set("k", "v").code, 0)
            vault.check_clean()
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(set(counts), {0, 1})


class FullDisk(RobustTest):
    def test_the_old_file_stays(self):
        if os.geteuid() != 0:
            skip("a full disk needs root, to mount a small tmpfs")
        disk = self.new_folder("disk")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=14m,mode=700", "tmpfs", str(disk)],
                              stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            skip(f"no tmpfs can be mounted here: {done.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=False)
        vault = Vault(self.new_folder("home"), inside=disk)
        # Of what is left for a copy of the bank there is too little.
        for number in range(50):
            self.assertEqual(vault.set(f"k{number}", LARGE[:60_000]).code, 0)
        vault.set("gone", "v")
        before = {key: vault.get(key) for key in vault.keys()}
        with open(disk / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(b"f" * 4096) == 4096:
                    pass
            except OSError:
                pass
        done = vault.run("compact", "--json")
        self.assertEqual(done.code, NO_SPACE, done)
        line = done.lines()[0]
        self.assertEqual((line["bank"], line["ok"], line["code"]), ("global", False, "no_space"))
        self.assertEqual({key: vault.get(key, "--read-only") for key in before}, before)
        done = vault.run("rm", "gone", "--erase", "--yes", "--json")
        self.assertEqual(done.code, NO_SPACE, done)
        self.assertTrue(done.json()["erase_pending"])
        (disk / "filler").unlink()
        line = vault.must("compact", "--json").lines()[0]
        self.assertEqual((line["ok"], line["erased"]), (True, 1))
        before.pop("gone")
        self.assertEqual({key: vault.get(key) for key in vault.keys()}, before)
        vault.check_clean()


class Together(RobustTest):
    def test_a_server_makes_it_busy(self):
        """At both parities of the transaction id: nothing is swapped under a live process."""
        vault = self.new_vault()
        for writes in range(4):
            with Server(vault) as server:
                server.initialize()
                for number in range(writes + 1):
                    server.remember("k", f"{writes} {number}")
                done = vault.run("compact", "--json")
                self.assertEqual(done.code, BUSY, done)
                self.assertEqual([line["code"] for line in done.lines()], ["busy", "busy"])
                self.assertEqual(server.recall("k"), f"{writes} {writes}")
                server.remember("k", f"{writes} last")
                self.assertEqual(vault.get("k"), f"{writes} last".encode())
            vault.must("compact")
            self.assertEqual(vault.get("k"), f"{writes} last".encode())
        vault.check_clean()

    def test_writers_and_readers_and_compactions(self):
        vault = self.new_vault()
        vault.set("steady", "always there")
        end = time.monotonic() + (60 if LONG else 12)
        acknowledged, wrong, counts = {}, [], {"set": 0, "get": 0, "busy": 0}

        def write(name):
            number = 0
            while time.monotonic() < end:
                number += 1
                done = vault.set(name, f"{number}")
                if done.code == 0:
                    acknowledged[name] = number
                    counts["set"] += 1
                elif done.code != BUSY:
                    wrong.append(done)
                got = vault.run("get", name)
                if got.code not in (0, BUSY) and name in acknowledged:
                    wrong.append(got)
                elif got.code == 0 and int(got.out) != acknowledged[name]:
                    wrong.append((name, got.out, acknowledged[name]))
                time.sleep(0.002)

        def read():
            while time.monotonic() < end:
                got = vault.run("get", "steady")
                if got.code == 0 and got.out == b"always there":
                    counts["get"] += 1
                elif got.code != BUSY:
                    wrong.append(got)
                time.sleep(0.002)

        threads = [threading.Thread(target=write, args=(f"w{n}",)) for n in range(3)]
        threads.append(threading.Thread(target=read))
        for thread in threads:
            thread.start()
        compacted = 0
        while time.monotonic() < end:
            done = vault.run("compact", "--json")
            self.assertIn(done.code, (0, BUSY), done)
            compacted += sum(line["ok"] for line in done.lines())
            counts["busy"] += sum(not line["ok"] for line in done.lines())
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(compacted, 3, counts)
        self.assertGreater(counts["set"], 20, counts)
        for name, number in acknowledged.items():
            self.assertEqual(int(vault.get(name)), number)
        vault.check_clean()

    def test_a_server_opens_the_vault_again(self):
        """One that has closed an idle vault meets the new file and goes on in its own session."""
        vault = self.new_vault()
        with Server(vault) as first:
            first.initialize()
            first.remember("k", "before")
        vault.must("compact")
        with Server(vault) as second:
            second.initialize()
            self.assertEqual(second.recall("k"), "before")
            second.remember("k", "after")
        vault.must("compact")
        self.assertEqual(vault.get("k"), b"after")
        vault.check_clean()

    def test_bad_input(self):
        vault = self.new_vault()
        done = vault.run("compact", "--bank", "none")
        self.assertEqual(done.code, 1, done)
        self.assertIn("[not_found]", done.err)
        done = vault.run("--read-only", "compact")
        self.assertEqual(done.code, 4, done)
        for args in (["edit", "aaaaa-1", "--erase", "--restore", "--yes"],
                     ["documents", "--erase"]):
            self.assertEqual(vault.run(*args).code, 2, args)


if __name__ == "__main__":
    main()
