"""A full disk and failing writes: a clear error, old data intact, `rm` still works, and all is well
after space is freed."""
import json
import os
import shutil
import subprocess
import time

import memory_ops
from harness import (LONG, NO_SPACE, STORING_CALLS, Memories, RobustTest, Server, Vault, binary,
                     calls_of, injected, jsonl, main, need_strace, places, skip, text_of, tracing)

VALUE = b"0123456789abcdef" * 1024
RESERVE = 1 << 20


class FullDisk(RobustTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            skip("a full disk needs root, to mount a small tmpfs")
        self.disk = self.new_folder("disk")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs",
                               str(self.disk)], stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            skip(f"no tmpfs can be mounted here: {done.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.disk)], check=False)
        self.vault = Vault(self.new_folder("home"), inside=self.disk)
        self.stored = {}

    def set(self, key, value, *options):
        done = self.vault.set(key, value, *options)
        if done.code == 0:
            self.stored[key] = value
        return done

    def fill_disk(self):
        """Takes every free block, so that not one page is left."""
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            for size in (1 << 20, 1 << 16, 4096):
                try:
                    while filler.write(b"f" * size) == size:
                        pass
                except OSError:
                    pass

    def use_up(self, store):
        """Small writes may still fit into free pages of the file; soon none does."""
        for number in range(400):
            done = store(f"small {number}", b"v" * 1500)
            if done.code != 0:
                self.check_refusal(done)
                return
        self.fail("a full disk takes everything")

    def free_disk(self):
        (self.disk / "filler").unlink()

    def check_refusal(self, done):
        self.assertEqual(done.code, NO_SPACE, done)
        self.assertRegex(done.err, r"\[(no_space|uncertain)\]")

    def check_old_data(self):
        for key, value in self.stored.items():
            done = self.vault.run("--read-only", "get", "--", key)
            self.assertEqual((done.code, done.out), (0, value), key)
        # With the log: the right value, or a refusal, never another answer.
        done = self.vault.run("get", "--", next(iter(self.stored)))
        if done.code == 0:
            self.assertEqual(done.out, next(iter(self.stored.values())))
        else:
            self.check_refusal(done)
            self.assertEqual(done.out, b"")

    def check_well(self):
        self.vault.must("status")
        for key, value in self.stored.items():
            self.assertEqual(self.vault.get(key), value)
        self.assertEqual(self.set("after", b"v").code, 0)
        self.assertEqual(self.set("after large", VALUE * 8).code, 0)
        self.vault.must("bank", "create", "after")
        self.vault.check_clean()

    def test_fill_it_with_values(self):
        refused = 0
        for size in (60_000, 16_384, 3_000, 200, 1):
            for number in range(400):
                done = self.set(f"{size}/{number}", (VALUE * 4)[:size])
                if done.code != 0:
                    self.check_refusal(done)
                    refused += 1
                    break
        self.assertGreater(refused, 0)
        self.check_old_data()
        self.vault.run("rm", "--yes", "60000/0")  # the reserve is spent here
        self.stored.pop("60000/0")
        for number in range(1, 12):
            done = self.vault.run("rm", "--yes", f"60000/{number}")
            self.assertEqual(done.code, 0, done)
            self.stored.pop(f"60000/{number}")
        self.check_well()

    def test_not_one_block_is_left(self):
        for number in range(10):
            self.assertEqual(self.set(f"k{number}", VALUE + bytes(str(number), "ascii")).code, 0)
        self.fill_disk()
        self.use_up(self.set)
        self.check_refusal(self.vault.set("large", VALUE * 40))
        self.check_refusal(self.vault.set("s", b"v" * 2000, "--class", "secret"))
        self.check_refusal(self.vault.run("bank", "create", "made"))
        for number in range(1, 100):  # the vault's own file has free pages too
            done = self.vault.run("config", "set", "revisions", str(number))
            if done.code != 0:
                break
        self.check_refusal(done)
        self.check_refusal(self.vault.seal({"id": "x", "effect": "forbid", "principal": "nobody"}))
        self.check_refusal(self.vault.run("slot", "add", "--keyfile", "second.key"))
        self.assertFalse((self.vault.work / "second.key").exists())
        self.check_old_data()

        self.assertEqual((self.disk / "memory.vault" / "reserve").stat().st_size, RESERVE)
        done = self.vault.run("rm", "--yes", "k3")
        self.assertEqual(done.code, 0, done)
        self.stored.pop("k3")
        self.assertIsNone(self.vault.get("k3", "--read-only"))
        self.check_old_data()
        self.free_disk()
        self.check_well()
        reserve = (self.disk / "memory.vault" / "reserve").stat()
        self.assertEqual(reserve.st_size, RESERVE)
        self.assertGreaterEqual(reserve.st_blocks * 512, RESERVE)

    def test_a_running_server(self):
        for number in range(10):
            self.assertEqual(self.set(f"k{number}", VALUE).code, 0)
        with Server(self.vault) as server:
            server.initialize()
            self.assertEqual(server.recall("k0").encode(), VALUE)
            self.fill_disk()
            for number in range(400):
                result = server.call("agent_remember", key=f"small {number}", value="v" * 1500)
                if result.get("isError"):
                    break
                self.stored[f"small {number}"] = b"v" * 1500
            self.assertRegex(text_of(result), r"\[(no_space|uncertain)\]$")
            for key in ("new", "k1"):
                self.assertRegex(server.refused("agent_remember", key=key, value="v" * 500_000),
                                 r"\[(no_space|uncertain)\]$")
            server.must("agent_forget", key="k3")
            self.stored.pop("k3")
            self.free_disk()
            self.assertIsNone(server.recall("new"))
            self.assertEqual(server.recall("k1").encode(), VALUE)
            server.remember("new", "v")
            self.stored["new"] = b"v"
        self.check_well()

    def test_memories(self):
        """Nothing more is taken, all that was is recalled, and forgetting works."""
        items = [{"content": f"memory {number} uniqmem{number}"} for number in range(500)]
        stored = self.vault.must("retain", "--jsonl", "-", "--json", stdin=jsonl(items)).lines()
        ids = [line["id"] for line in stored]
        self.fill_disk()
        more = []

        def store(text, _):
            more.append(text.replace(" ", "uniq"))
            return self.vault.run("retain", more[-1])
        self.use_up(store)
        self.check_refusal(self.vault.run("retain", "--jsonl", "-", stdin=jsonl(
            [{"content": f"new {number} uniqnew{number}"} for number in range(2000)])))
        self.check_refusal(self.vault.run("edit", ids[0], "--content", "long text " * 500))
        found = self.vault.must("--read-only", "recall", "uniqmem7", "--json").json()["results"]
        self.assertEqual([one["id"] for one in found], [ids[7]])
        done = self.vault.run("edit", ids[7], "--forget", "--yes")
        self.assertEqual(done.code, 0, done)
        found = self.vault.must("--read-only", "recall", "uniqmem7", "--json").json()["results"]
        self.assertEqual(found, [])
        self.free_disk()
        memories = Memories(self.vault)
        self.assertEqual(len(memories.texts), 499 + len(more) - 1)
        memories.check_recall(["uniqmem6", "uniqmem7", "uniqmem8", "uniqnew0", "uniqnew1999"])
        self.assertEqual(self.vault.run("retain", "after uniqafter").code, 0)
        Memories(self.vault).check_recall(["uniqafter"])
        self.vault.check_clean()

    def test_without_lock_files(self):
        """As a copy of the vault has none: LMDB makes them when it opens."""
        self.assertEqual(self.set("k", VALUE).code, 0)
        for lock in self.disk.rglob("*-lock"):
            lock.unlink()
        self.fill_disk()
        done = self.vault.run("get", "k")
        self.assertEqual(done.code, NO_SPACE, done)
        self.free_disk()
        self.check_well()

    def test_init(self):
        self.fill_disk()
        other = self.disk / "other.vault"
        done = self.vault.run("--vault", str(other), "init", "--keyfile", "other.key")
        self.check_refusal(done)
        self.assertEqual([path.name for path in self.disk.iterdir()
                          if path.name.startswith("other")], [])
        self.assertFalse((self.vault.work / "other.key").exists())
        self.free_disk()
        self.vault.must("--vault", str(other), "init", "--keyfile", "other.key")


class FailingWrites(RobustTest):
    """ENOSPC and EIO at every k-th call that stores."""

    COMMANDS = [
        (["set", "fresh", "-"], b"v", {}),
        (["set", "fresh", "-"], VALUE * 20, {}),
        (["set", "kept-too", "-"], b"new", {}),
        (["set", "fresh", "-"], b"v", {"STRONGROOM_BANK": "proj"}),
        (["rm", "--yes", "kept-too"], b"", {}),
        (["bank", "create", "made"], b"", {}),
        (["policy", "seal", "policy.json"], b"", {}),
        (["slot", "add", "--keyfile", "second.key"], b"", {}),
        (["get", "kept"], b"", {}),
        (["status"], b"", {}),
    ]

    def setUp(self):
        super().setUp()
        need_strace()

    def base(self):
        vault = self.new_vault("base")
        vault.set("kept", "kept value")
        vault.set("kept-too", "old")
        policy = vault.must("policy", "show", "--json").json()
        policy["version"] = 2
        (vault.work / "policy.json").write_text(json.dumps(policy))
        return vault

    @staticmethod
    def state(vault):
        """All that a command may change, as its user sees it.

        A first write makes its bank in a step of its own: an empty one counts as none.
        """
        values = {(bank, line["key"]): (vault.get(line["key"], "--bank", bank), line["revision"])
                  for bank in vault.banks()
                  for line in vault.must("ls", "--json", "--bank", bank).lines()}
        slots = len(vault.must("slot", "ls", "--json").lines())
        version = vault.must("policy", "show", "--json").json()["version"]
        banks = {bank for bank, _ in values} | (vault.banks() & {"made"})
        return values, banks, slots, version

    def sweep(self, error):
        base = self.base()
        before = self.state(base)
        for args, stdin, env in self.COMMANDS:
            whole = base.copy(self.new_folder("whole"))
            calls = calls_of(whole, *args, stdin=stdin, env=dict(whole.env, **env),
                             calls=STORING_CALLS)
            after = self.state(whole)
            shutil.rmtree(whole.folder)
            failures = 0
            for index, place in enumerate(calls):
                folder = self.new_folder(f"at{index}")
                vault = base.copy(folder)
                done = vault.run(*args, stdin=stdin, env=dict(vault.env, **env),
                                 wrap=injected(f"error={error}", place))
                with self.subTest(" ".join(args), error=error, call=index, place=place):
                    self.assertIn(done.code, (0, NO_SPACE), done)
                    self.assertEqual(vault.get("kept"), b"kept value")
                    # A bank whose listing is uncertain keeps its file, or it might be missed.
                    vault.check_clean(orphans="[uncertain]" in done.err)
                    now = self.state(vault)
                    if done.code == 0:
                        self.assertEqual(now, after)
                    else:
                        failures += 1
                        self.assertRegex(done.err, r"\[(no_space|io|uncertain)\]")
                        self.assertIn(now, (before, after))
                        if "[uncertain]" not in done.err:
                            self.assertEqual(now, before, "refused, and done all the same")
                    self.assertEqual(vault.set("after", "v").code, 0)
                shutil.rmtree(folder, ignore_errors=True)
            if args[0] != "status":
                self.assertGreater(failures, 0)

    def test_no_space(self):
        self.sweep("ENOSPC")

    def test_io_error(self):
        self.sweep("EIO")

    def server_calls(self, work):
        """The storing calls of one server session."""
        vault = self.new_vault("whole")
        log = vault.folder / "strace.log"
        server = Server(vault, wrap=tracing(log, STORING_CALLS)).initialize()
        work(vault, server)
        server.close()
        return places(log)

    def with_failures(self, work, errors=("ENOSPC", "EIO")):
        """The session again and again, with one failing call each time."""
        for index, place in enumerate(self.server_calls(work)):
            for error in errors:
                folder = self.new_folder(f"{error}{index}")
                vault = Vault(folder)
                server = Server(vault, wrap=injected(f"error={error}", place)).initialize()
                with self.subTest(error, call=index, place=place):
                    try:
                        work(vault, server)
                    finally:
                        server.close(codes=(0, NO_SPACE))  # the last flush may be what failed
                    vault.check_clean()
                shutil.rmtree(folder, ignore_errors=True)

    def once_more(self, server, tool, **arguments):
        """The result of a call, and whether it came at once. After an error the next call works."""
        result = server.call(tool, **arguments)
        if not result.get("isError"):
            return True
        self.assertRegex(text_of(result), r"\[(no_space|io|uncertain)\]$")
        server.must(tool, **arguments)
        return False

    def test_a_running_server_recovers(self):
        """One failing call: an error for that call, and none for the next."""
        def work(_, server):
            value = "v" * 5000
            at_once = [self.once_more(server, "agent_remember", key=f"k{number}", value=value)
                       for number in range(3)]
            at_once.append(self.once_more(server, "agent_remember", key="k0", value=value,
                                          tags=["t"], **{"class": "secret"}))
            self.assertLessEqual(at_once.count(False), 1)
            for number in (1, 2):
                self.assertEqual(server.recall(f"k{number}"), value)
        self.with_failures(work)

    def test_a_log_that_fails_once_is_written_later(self):
        """Reads are logged behind the answer: a failure there must not stay with the server."""
        def session(vault, server):
            vault.set("k", "v")
            for _ in range(2):
                self.once_more(server, "agent_recall", key="k")
                time.sleep(1.2)  # longer than reads are buffered
            self.assertEqual(server.recall("k"), "v")
            lines = vault.must("audit", "log", "--json", "--tool", "agent_recall").lines()
            count = sum(line["count"] for line in lines if line["principal"] == "local:mcp")
            self.assertGreaterEqual(count, 2)
        self.with_failures(session, ("ENOSPC", "EIO") if LONG else ("EIO",))

    def test_standard_output_is_full(self):
        vault = self.new_vault()
        vault.set("k", "v")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([binary(), "get", "k"], env=vault.env,
                                  cwd=vault.work, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, NO_SPACE)


class FailingMemories(RobustTest):
    """ENOSPC and EIO in changes to memories: refused and nothing done, or done."""

    def setUp(self):
        super().setUp()
        need_strace()

    def sweep(self, name):
        def check(done, before, now, after):
            self.assertIn(done.code, (0, NO_SPACE), done)
            if done.code == 0:
                self.assertEqual(now, after)
                return
            self.assertRegex(done.err, r"\[(no_space|io|uncertain)\]")
            if "[uncertain]" not in done.err and name != "retain jsonl":
                self.assertEqual(now, before, "refused, and done all the same")
        outcomes = memory_ops.sweep(self, name, ["error=ENOSPC", "error=EIO"], 5, STORING_CALLS,
                                    check)
        self.assertIn(0, outcomes)


def add_memory_sweep(name):
    def test(self):
        self.sweep(name)
    setattr(FailingMemories, "test_" + name.replace(" ", "_"), test)


for each in memory_ops.operations(["?"] * 10):
    add_memory_sweep(each)


if __name__ == "__main__":
    main()
