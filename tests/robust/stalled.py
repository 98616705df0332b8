"""A killed or stalled process never makes another one wait, nor lets the file grow without end."""
import os
import pathlib
import random
import signal
import subprocess
import time

from harness import (KILLED, LONG, Memories, RobustTest, Server, binary, injected, jsonl, main,
                     need_strace)

AT_ONCE = 10  # seconds; a machine under load is slow, a lock that is held forever is not


class Stalled(RobustTest):
    def setUp(self):
        super().setUp()
        self.vault = self.new_vault()
        self.vault.must("retain", "--jsonl", "-", stdin=jsonl(
            [{"content": f"memory {n} uniqmem{n}"} for n in range(600)]))
        self.number = 0

    def works_at_once(self, server=None):
        """Another process retains and recalls."""
        self.number += 1
        word = f"uniqnext{self.number}"
        start = time.monotonic()
        if server is None:
            self.vault.must("retain", f"next {word}")
            found = self.vault.must("recall", word, "--json").json()["results"]
            self.assertEqual([one["text"] for one in found[:1]], [f"next {word}"])
        else:
            server.must("retain", items=[{"content": f"next {word}"}])
            self.assertIn(f"next {word}", str(server.must("recall", query=word)))
        self.assertLess(time.monotonic() - start, AT_ONCE)

    def test_stopped_between_operations(self):
        """SIGSTOP of servers that have read and written: nobody waits for them."""
        servers = [Server(self.vault).initialize() for _ in range(3)]
        try:
            for number, server in enumerate(servers):
                server.must("retain", items=[{"content": f"of server {number} uniqserver{number}"}])
                server.must("recall", query="uniqmem7")
            time.sleep(1.3)  # the log of reads is written behind the answer
            for server in servers[:2]:
                server.process.send_signal(signal.SIGSTOP)
            for _ in range(5):
                self.works_at_once()
                self.works_at_once(servers[2])
            servers[0].process.send_signal(signal.SIGCONT)
            self.assertIn("uniqserver2", str(servers[0].must("recall", query="uniqserver2")))
            self.assertIn("uniqnext3", str(servers[0].must("recall", query="uniqnext3")))
            servers[1].kill()
            self.works_at_once(servers[0])
        finally:
            for server in servers:
                server.kill()
        self.vault.check_clean()

    def test_killed_inside_a_commit(self):
        """The next one, which was running all the time, takes the lock over."""
        need_strace()
        with Server(self.vault) as other:
            other.initialize()
            other.must("recall", query="uniqmem1")
            for call in ("pwrite64", "pwritev", "fdatasync", "msync", "fsync"):
                for number in (1, 2, 3):
                    done = self.vault.run("retain", f"broken off {call} {number}",
                                          wrap=injected("signal=KILL", (call, number)))
                    self.assertIn(done.code, (0, KILLED), done)
                    self.works_at_once(other if number % 2 else None)
        self.vault.check_clean(orphans=True)
        texts = list(Memories(self.vault).texts.values())
        self.assertEqual(len(texts), len(set(texts)))

    def test_stopped_inside_a_commit(self):
        """Readers do not wait for it; writers wait a while, then hear `busy`, and lose nothing."""
        need_strace()
        for call in ("pwrite64", "fdatasync"):
            with Server(self.vault) as other:
                other.initialize()
                other.must("recall", query="uniqmem1")
                stopped = subprocess.Popen(
                    [*injected("signal=STOP", (call, 1)), binary(), "retain", f"held up {call}"],
                    env=self.vault.env, cwd=self.vault.work, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
                try:
                    child = self.wait_until_stopped(stopped)
                    start = time.monotonic()
                    for number in range(12):  # reads are logged once a second
                        self.assertIn(f"uniqmem{number}",
                                      str(other.must("recall", query=f"uniqmem{number}")))
                        time.sleep(0.2)
                    self.vault.must("recall", "uniqmem2", "--read-only")
                    self.assertLess(time.monotonic() - start, AT_ONCE)
                    if call == "pwrite64":
                        continue
                    self.assertIn("[busy]", other.refused(
                        "retain", items=[{"content": f"refused {call}"}]))
                    self.assertEqual(self.vault.run("retain", "refused as well").code, 6)
                    # A process that ends has to write down first what it has read.
                    self.assertEqual(self.vault.run("recall", "uniqmem2").code, 6)
                finally:
                    os.kill(child, signal.SIGCONT)
                self.assertIn(b"1 memory stored", stopped.communicate(timeout=60)[0])
                self.works_at_once(other)
                self.works_at_once()
        texts = list(Memories(self.vault).texts.values())
        self.assertEqual(sum(text.startswith("held up") for text in texts), 2)
        self.assertFalse([text for text in texts if text.startswith("refused")])
        self.vault.check_clean()

    def wait_until_stopped(self, tracer):
        """The process that strace runs, once it stands still."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            children = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text()
            for child in children.split():
                status = pathlib.Path(f"/proc/{child}/status").read_text()
                if "State:\tT" in status or "State:\tt" in status:
                    if self.stands_still(child):
                        return int(child)
            time.sleep(0.01)
        self.fail("it was not stopped")

    @staticmethod
    def stands_still(child):
        """A traced process stops at each call for a moment; a stopped one does not go on."""
        used = lambda: pathlib.Path(f"/proc/{child}/stat").read_text()
        before = used()
        time.sleep(0.3)
        return before == used()

    def test_killed_at_random_beside_a_worker(self):
        chance = random.Random(23)
        with Server(self.vault) as other:
            other.initialize()
            for number in range(60 if LONG else 12):
                process = subprocess.Popen(
                    [binary(), "retain", "--jsonl", "-"], env=self.vault.env, cwd=self.vault.work,
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                process.stdin.write(jsonl(
                    [{"content": f"killed {number} {n}"} for n in range(400)]))
                process.stdin.close()
                time.sleep(chance.random() * 0.05)
                process.kill()
                self.works_at_once(other)
                process.wait()
        self.vault.check_clean(orphans=True)

    def written(self, work):
        """How much the bank's file grows by some work."""
        [bank] = (self.vault.path / "banks").glob("*.mdb")
        used = lambda: os.stat(bank).st_blocks * 512
        before = used()
        work()
        return used() - before

    def test_the_file_does_not_grow_while_a_reader_is_stopped(self):
        """Stopped anywhere, inside a recall too: what it pins costs at most what is written."""
        def work():
            for number in range(40):
                self.vault.must("retain", "--jsonl", "-", stdin=jsonl(
                    [{"content": f"grown {self.number} {number} {n}"} for n in range(20)]))
            self.number += 1
        alone = max(self.written(work), 1 << 20)
        chance = random.Random(29)
        with Server(self.vault, "--read-only") as reader:  # cannot be stopped inside a commit
            reader.initialize()
            reader.must("recall", query="uniqmem1")
            for _ in range(4 if LONG else 2):
                reader.send("tools/call", {"name": "recall",
                                           "arguments": {"query": "memory grown 3"}})
                time.sleep(chance.random() * 0.01)
                reader.process.send_signal(signal.SIGSTOP)
                try:
                    grown = self.written(work)
                finally:
                    reader.process.send_signal(signal.SIGCONT)
                reader.receive()
                # 40 commits of a few pages each, none of which can be used again meanwhile.
                self.assertLess(grown, 8 * alone + (40 * 64 << 12))
            self.works_at_once()
        self.vault.check_clean()


if __name__ == "__main__":
    main()
