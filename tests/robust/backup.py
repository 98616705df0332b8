"""backup, restore, anchor and doctor: consistent while others write, refused where they do not
belong, killed or failing at every call, and never taken for a rollback."""
import hashlib
import json
import os
import shutil
import threading

from harness import (CORRUPT, KILLED, LONG, NO_SPACE, STORING_CALLS, WRITE_CALLS, Memories,
                     RobustTest, Server, Vault, calls_of, injected, jsonl, main, need_strace)

BUSY = CONFLICT = 6
USAGE = 2
HOUR_AGO = 7200


def fill(vault):
    vault.set("kept", "kept value")
    vault.set("large", b"large value " * 9_000)
    vault.set("secret", "secret value", "--class", "secret")
    vault.must("bank", "create", "other")
    vault.set("k", "in other", "--bank", "other")
    items = [{"content": f"memory {n} uniqmem{n}", "tags": [f"t{n % 3}"]} for n in range(250)]
    return [line["id"] for line in
            vault.must("retain", "--jsonl", "-", "--json", stdin=jsonl(items)).lines()]


def state(vault, *options):
    values = {(bank, line["key"]): vault.get(line["key"], "--bank", bank, *options)
              for bank in ("global", "other")
              for line in vault.must("ls", "--json", "--bank", bank, *options).lines()}
    memories = vault.must("memories", "--json", *options).lines()
    return values, sorted((line["id"], line["text"]) for line in memories)


def hashes(folder):
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.endswith(("-lock", ".guard"))}


class BackupTest(RobustTest):
    def setUp(self):
        super().setUp()
        self.vault = self.new_vault("origin")
        self.ids = fill(self.vault)
        self.copy = self.vault.folder / "copy"

    def backup(self):
        self.vault.must("backup", str(self.copy))
        return self.copy


class Backup(BackupTest):
    def test_there_and_back(self):
        before = state(self.vault)
        answer = self.vault.must("backup", str(self.copy), "--json").json()
        self.assertEqual(answer["banks"], 2)
        self.assertEqual(sorted(path.name for path in self.copy.iterdir()),
                         ["backup", "banks", "header", "root.mdb"])
        self.assertEqual(os.stat(self.copy).st_mode & 0o777, 0o700)
        self.vault.set("kept", "changed")
        self.vault.set("later", "v")
        later = self.vault.must("retain", "stored later", "--json").json()
        self.vault.must("edit", self.ids[3], "--forget", "--yes")
        answer = self.vault.must("restore", str(self.copy), "--yes", "--json").json()
        self.assertEqual((answer["banks"], answer["replaced"], answer["notes"]), (2, True, []))
        self.assertEqual(state(self.vault), before)
        Memories(self.vault).check_recall(["uniqmem3", "uniqmem249"])
        self.vault.check_clean()
        self.vault.must("anchor", "show")
        self.assertEqual(self.vault.must("status", "--json").json()["anchor"], "ok")
        # Ids that were given since are not given again.
        again = self.vault.must("retain", "stored after that", "--json").json()
        self.assertNotEqual(str(again), str(later))
        self.assertNotIn(again.get("id", json.dumps(again)), json.dumps(later))
        self.assertEqual(self.vault.must("history", "kept", "--json").lines()[0]["revision"], 1)
        self.assertEqual(len(self.vault.must("audit", "log", "--json", "--tool",
                                             "restore").lines()), 1)
        self.assertEqual([path.name for path in self.vault.folder.iterdir()
                          if ".tmp" in path.name], [])
        # A backup serves more than once.
        self.vault.must("restore", str(self.copy), "--yes")
        self.assertEqual(state(self.vault), before)
        self.vault.check_clean()

    def test_into_an_empty_place(self):
        before = state(self.vault)
        self.backup()
        shutil.rmtree(self.vault.path)
        answer = self.vault.must("restore", str(self.copy), "--yes", "--json").json()
        self.assertFalse(answer["replaced"])
        self.assertEqual(state(self.vault), before)
        self.vault.check_clean()
        self.assertEqual((self.vault.path / "reserve").stat().st_size, 1 << 20)
        # On another machine.
        other = Vault(self.new_folder("other machine"), init=False)
        env = dict(other.env, STRONGROOM_KEYFILE=str(self.vault.key))
        self.assertEqual(other.run("restore", str(self.copy), "--yes", env=env).code, 0)
        self.assertEqual(other.must("get", "kept", env=env).out, b"kept value")

    def test_a_backup_is_only_read(self):
        before = state(self.vault)
        self.backup()
        files = hashes(self.copy)
        there = ("--vault", str(self.copy))
        done = self.vault.run("get", "kept", *there)
        self.assertEqual(done.code, USAGE, done)
        self.assertIn("--as-backup", done.err)
        self.assertEqual(state(self.vault, *there, "--as-backup"), before)
        self.vault.must("verify", *there, "--as-backup")
        self.vault.must("recall", "uniqmem3", *there, "--as-backup")
        for args in (["set", "k", "v"], ["rm", "kept", "--yes"], ["compact"],
                     ["retain", "text"], ["policy", "seal", "x"]):
            done = self.vault.run(*args, *there, "--as-backup")
            self.assertIn(done.code, (4, USAGE), done)
        self.assertEqual(hashes(self.copy), files)
        done = self.vault.run("get", "kept", "--as-backup")
        self.assertEqual(done.code, USAGE, done)
        # Older than the anchor, and no rollback.
        self.vault.set("kept", "newer")
        self.assertEqual(self.vault.must("get", "kept", *there, "--as-backup").out, b"kept value")

    def test_while_others_write(self):
        """Two memories a transaction: in a copy there are both or neither, and none in between."""
        stop = threading.Event()
        stored = []

        def write():
            with Server(self.vault) as server:
                server.initialize()
                while not stop.is_set():
                    number = len(stored)
                    server.must("retain", items=[{"content": f"first uniqfirst{number}"},
                                                 {"content": f"second uniqsecond{number}"}])
                    stored.append(number)

        thread = threading.Thread(target=write)
        thread.start()
        sizes = []
        for number in range(3):
            before = len(stored)
            copy = self.vault.folder / f"copy{number}"
            self.vault.must("backup", str(copy))
            texts = [text for _, text in state(self.vault, "--vault", str(copy), "--as-backup")[1]]
            firsts = sum(text.startswith("first") for text in texts)
            self.assertEqual(firsts, sum(text.startswith("second") for text in texts))
            self.assertGreaterEqual(firsts, before)
            sizes.append(firsts)
        stop.set()
        thread.join()
        self.assertEqual(sizes, sorted(sizes))
        self.assertGreater(len(stored), 0)
        self.vault.check_clean()

    def test_where_it_does_not_belong(self):
        self.backup()
        before = hashes(self.vault.path)
        done = self.vault.run("backup", str(self.copy))
        self.assertEqual(done.code, CONFLICT, done)
        other = self.new_vault("other")
        other.set("mine", "v")
        done = self.vault.run("restore", str(self.copy), "--yes", "--vault", str(other.path))
        self.assertEqual(done.code, CONFLICT, done)
        self.assertIn("another vault", done.err)
        self.assertEqual(other.get("mine"), b"v")
        for source in (self.vault.work, other.path, self.vault.folder / "none"):
            done = self.vault.run("restore", str(source), "--yes")
            self.assertIn(done.code, (USAGE, 3), done)
        done = self.vault.run("restore", str(self.copy), "--yes", "--vault", str(self.copy))
        self.assertEqual(done.code, USAGE, done)
        done = self.vault.run("restore", str(self.copy), "--yes", "--vault", str(self.vault.work))
        self.assertIn(done.code, (0, USAGE), done)  # empty, or somebody's folder
        done = self.vault.run("restore", str(self.copy))
        self.assertEqual(done.code, USAGE, done)
        self.assertIn("--yes", done.err)
        self.assertEqual(hashes(self.vault.path), before)

    def test_over_a_live_vault(self):
        self.backup()
        self.vault.set("later", "v")
        with Server(self.vault) as server:
            server.initialize()
            self.assertEqual(server.recall("later"), "v")
            done = self.vault.run("restore", str(self.copy), "--yes")
            self.assertEqual(done.code, BUSY, done)
            server.remember("later", "w")
            self.assertEqual(server.recall("later"), "w")
        self.assertEqual(self.vault.get("later"), b"w")
        self.vault.check_clean()
        self.vault.must("restore", str(self.copy), "--yes")
        self.assertIsNone(self.vault.get("later"))

    def test_a_damaged_backup(self):
        self.backup()
        before = state(self.vault)
        for path in sorted(self.copy.rglob("*")):
            if not path.is_file():
                continue
            whole = path.read_bytes()
            for at in {len(whole) // 3, len(whole) // 2, len(whole) - 30}:
                # A value's bytes, or anything else that is used.
                damaged = bytearray(whole)
                damaged[at] ^= 1
                path.write_bytes(damaged)
                done = self.vault.run("restore", str(self.copy), "--yes")
                if done.code != 0:
                    self.assertIn(done.code, (CORRUPT, USAGE, 3), (path, at, done))
                    self.assertEqual(state(self.vault), before)
            path.write_bytes(whole[:min(10_000, len(whole) // 2)])
            done = self.vault.run("restore", str(self.copy), "--yes")
            self.assertIn(done.code, (CORRUPT, USAGE), (path, done))
            path.write_bytes(whole)
        self.assertEqual(state(self.vault), before)
        self.vault.must("restore", str(self.copy), "--yes")
        self.vault.check_clean()

    def test_a_damaged_vault_is_not_backed_up_and_is_replaced(self):
        self.backup()
        before = state(self.vault)
        for name in ("header", "root.mdb"):
            path = self.vault.path / name
            whole = path.read_bytes()
            path.write_bytes(whole[:min(10_000, len(whole) // 2)])
            second = self.vault.folder / "second"
            self.assertEqual(self.vault.run("backup", str(second)).code, CORRUPT)
            self.assertFalse(second.exists())
            self.vault.must("restore", str(self.copy), "--yes")
            self.assertEqual(state(self.vault), before)
            self.vault.check_clean()

    def test_an_older_policy(self):
        self.backup()
        rule = {"id": "hr", "effect": "forbid", "principal": "local:mcp", "key": "hr/*"}
        self.assertEqual(self.vault.seal(rule).code, 0)
        # The owner's secret is the admin's: signed anew.
        answer = self.vault.must("restore", str(self.copy), "--yes", "--json").json()
        self.assertEqual(answer["notes"], [])
        self.assertEqual(self.vault.must("policy", "show", "--json").json()["version"], 1)
        self.assertEqual(self.vault.get("kept"), b"kept value")
        self.assertEqual(self.vault.set("new", "v").code, 0)
        self.assertEqual(self.vault.seal(rule).code, 0)
        self.vault.check_clean()

    def test_an_older_policy_without_the_admin(self):
        vault = Vault(self.new_folder("apart"), init=False)
        admin = vault.folder / "admin.key"
        vault.must("init", "--keyfile", str(vault.key), "--admin-keyfile", str(admin))
        vault.set("k", "v")
        vault.must("backup", str(self.copy))
        policy = vault.must("policy", "show", "--json").json()
        policy["version"] += 1
        sealed = json.dumps(policy).encode()
        env = dict(vault.env, STRONGROOM_ADMIN_KEYFILE=str(admin))
        self.assertEqual(vault.run("policy", "seal", "-", stdin=sealed, env=env).code, 0)
        answer = vault.must("restore", str(self.copy), "--yes", "--json").json()
        self.assertIn("everything is denied", answer["notes"][0])
        self.assertEqual(vault.run("get", "k").code, 4)
        self.assertEqual(vault.run("policy", "seal", "-", stdin=sealed, env=env).code, 0)
        self.assertEqual(vault.get("k"), b"v")
        vault.check_clean()
        # With the admin's secret at hand it is signed at once.
        policy["version"] += 1
        sealed = json.dumps(policy).encode()
        self.assertEqual(vault.run("policy", "seal", "-", stdin=sealed, env=env).code, 0)
        answer = vault.must("restore", str(self.copy), "--yes", "--json", env=env).json()
        self.assertEqual(answer["notes"], [])
        self.assertEqual(vault.get("k"), b"v")


class Sweeps(BackupTest):
    def setUp(self):
        super().setUp()
        need_strace()
        self.backup()
        # Its lock files are made by the first who reads it, and then a restore makes the same calls.
        self.vault.must("verify", "--vault", str(self.copy), "--as-backup")
        self.old = state(self.vault)
        self.vault.set("kept", "changed since")
        self.vault.set("more", "v")
        self.new = state(self.vault)

    def points(self, made):
        step = 1 if LONG else max(1, len(made) // 30)
        return sorted({*range(0, len(made), step), *range(max(0, len(made) - 10), len(made))})

    def sweep_restore(self, faults, calls, codes):
        whole = self.vault.copy(self.new_folder("whole"))
        args = ["restore", str(self.copy), "--yes"]
        made = calls_of(whole, *args, calls=calls)
        outcomes = []
        for index in self.points(made):
            folder = self.new_folder(f"at{index}")
            vault = self.vault.copy(folder)
            done = vault.run(*args, wrap=injected(faults[index % len(faults)], made[index]))
            with self.subTest("restore", call=index, place=made[index]):
                self.assertIn(done.code, codes, done)
                now = state(vault)  # opens: nothing is taken for a rollback
                self.assertIn(now, (self.old, self.new))
                if done.code == 0:
                    self.assertEqual(now, self.old)
                vault.check_clean()
                self.assertEqual(vault.set("after", "v").code, 0)
                outcomes.append(now == self.old)
                vault.must(*args)
                self.assertEqual(state(vault), self.old)
                if KILLED not in codes and "[uncertain]" not in done.err:
                    left = [path.name for path in folder.iterdir() if ".tmp" in path.name]
                    self.assertEqual(left, [])
                else:
                    self.assertIn(vault.run("doctor", "--fix").code, (0,))
                    left = [path.name for path in folder.iterdir() if ".tmp" in path.name]
                    self.assertEqual(left, [])
            shutil.rmtree(folder, ignore_errors=True)
        return outcomes

    def test_kill_restore(self):
        outcomes = self.sweep_restore(["signal=KILL"], WRITE_CALLS, (KILLED,))
        self.assertEqual(outcomes, sorted(outcomes))
        self.assertEqual(set(outcomes), {False, True})

    def test_failing_restore(self):
        self.sweep_restore(["error=ENOSPC", "error=EIO"], STORING_CALLS, (0, NO_SPACE))

    def sweep_backup(self, faults, calls, codes):
        whole = self.vault.copy(self.new_folder("whole"))
        made = calls_of(whole, "backup", str(whole.folder / "second"), calls=calls)
        for index in self.points(made):
            folder = self.new_folder(f"at{index}")
            vault = self.vault.copy(folder)
            second = folder / "second"
            done = vault.run("backup", str(second),
                             wrap=injected(faults[index % len(faults)], made[index]))
            with self.subTest("backup", call=index, place=made[index]):
                self.assertIn(done.code, codes, done)
                self.assertEqual(state(vault), self.new)
                vault.check_clean()
                if done.code == 0:
                    self.assertTrue(second.exists())
                if second.exists():
                    self.assertEqual(state(vault, "--vault", str(second), "--as-backup"), self.new)
                    vault.must("verify", "--vault", str(second), "--as-backup")
                else:
                    vault.must("backup", str(second))
            shutil.rmtree(folder, ignore_errors=True)

    def test_kill_backup(self):
        self.sweep_backup(["signal=KILL"], WRITE_CALLS, (KILLED,))

    def test_failing_backup(self):
        self.sweep_backup(["error=ENOSPC", "error=EIO"], STORING_CALLS, (0, NO_SPACE))


class Anchor(RobustTest):
    def test_rollback_and_accept(self):
        vault = self.new_vault()
        vault.set("k", "old")
        saved = vault.folder / "saved"
        shutil.copytree(vault.path, saved)
        vault.set("k", "new")
        report = vault.must("anchor", "show", "--json").json()
        self.assertEqual({line["state"] for line in report["files"]}, {"ok"})
        replica = report["replica"]
        shutil.rmtree(vault.path)
        shutil.copytree(saved, vault.path)
        self.assertEqual(vault.run("get", "k").code, CORRUPT)
        done = vault.run("anchor", "show", "--json")
        self.assertEqual(done.code, CORRUPT, done)
        lines = {line.get("bank", ""): line for line in done.json()["files"]}
        self.assertEqual(lines["global"]["state"], "rollback")
        self.assertLess(lines["global"]["generation"], lines["global"]["seen"])
        self.assertEqual(vault.run("anchor", "accept").code, USAGE)
        self.assertEqual(vault.run("get", "k").code, CORRUPT)
        self.assertEqual(vault.run("--read-only", "anchor", "accept", "--yes").code, 4)
        vault.must("anchor", "accept", "--yes")
        self.assertEqual(vault.get("k"), b"old")
        report = vault.must("anchor", "show", "--json").json()
        self.assertNotEqual(report["replica"], replica)
        self.assertEqual({line["state"] for line in report["files"]}, {"ok"})
        self.assertEqual(len(vault.must("audit", "log", "--json", "--tool",
                                        "anchor accept").lines()), 1)
        vault.check_clean()
        self.assertEqual(vault.set("k", "on from here").code, 0)
        self.assertEqual(vault.get("k"), b"on from here")

    def test_fork_and_accept(self):
        vault = self.new_vault()
        vault.set("k", "common")
        other = vault.copy(self.new_folder("other machine"))
        vault.set("k", "here")
        for path in (other.folder / "state").rglob("*"):
            if path.is_file():
                path.unlink()  # another machine has an anchor of its own
        other.set("k", "there")
        other.set("k", "there again")
        shutil.rmtree(vault.path)
        shutil.copytree(other.path, vault.path)
        done = vault.run("get", "k")
        self.assertEqual(done.code, CORRUPT, done)
        self.assertIn("[fork]", done.err)
        done = vault.run("anchor", "show", "--json")
        self.assertIn("fork", {line["state"] for line in done.json()["files"]})
        vault.must("anchor", "accept", "--yes")
        self.assertEqual(vault.get("k"), b"there again")
        vault.check_clean()

    def test_an_older_policy_stays_denied(self):
        vault = self.new_vault()
        vault.set("k", "v")
        saved = vault.folder / "saved"
        shutil.copytree(vault.path, saved)
        self.assertEqual(vault.seal().code, 0)
        shutil.rmtree(vault.path)
        shutil.copytree(saved, vault.path)
        vault.must("anchor", "accept", "--yes")
        self.assertEqual(vault.run("get", "k").code, 4)
        policy = {"version": 2, "rules": [{"id": "all", "effect": "permit",
                                           "principal": "local:*"}]}
        self.assertEqual(vault.run("policy", "seal", "-",
                                   stdin=json.dumps(policy).encode()).code, 0)
        self.assertEqual(vault.get("k"), b"v")

    def test_no_anchor(self):
        vault = self.new_vault()
        self.assertEqual(vault.run("--no-anchor", "anchor", "accept", "--yes").code, USAGE)
        done = vault.run("--no-anchor", "anchor", "show", "--json")
        self.assertEqual((done.code, done.json()["anchor"]), (0, "off"))


class Doctor(RobustTest):
    def lines(self, vault, *options):
        done = vault.run("doctor", "--json", *options)
        return done.code, [(line["kind"], line["text"], line["command"]) for line in done.lines()]

    def test_a_healthy_vault(self):
        vault = self.new_vault()
        vault.set("k", "v")
        before = hashes(vault.folder)
        code, lines = self.lines(vault)
        self.assertEqual(code, 0, lines)
        self.assertIn("ok", {line[0] for line in lines})
        self.assertNotIn("problem", {line[0] for line in lines})
        self.assertEqual(hashes(vault.folder), before)

    def test_no_vault_and_no_key(self):
        vault = Vault(self.new_folder("none"), init=False)
        code, lines = self.lines(vault)
        self.assertEqual((code, lines[0][2]), (CORRUPT, "strongroom init"))
        vault = self.new_vault()
        os.rename(vault.key, vault.folder / "away")
        code, lines = self.lines(vault)
        self.assertEqual((code, lines[0][0]), (CORRUPT, "problem"))

    def test_what_was_left_behind(self):
        vault = self.new_vault()
        vault.set("k", "v")
        bank = next(path for path in (vault.path / "banks").iterdir() if path.suffix == ".mdb")
        left = [bank.with_name(bank.name + ".tmp"), bank.with_name(bank.name + ".tmp-lock"),
                bank.with_name("0" * 32 + ".mdb")]
        for path in left:
            shutil.copy(bank, path)
            past = path.stat().st_mtime - HOUR_AGO
            os.utime(path, (past, past))
        young = bank.with_name("1" * 32 + ".mdb")
        shutil.copy(bank, young)
        folder = vault.folder / "memory.vault.tmp999999999"
        folder.mkdir()
        (folder / "header").write_bytes(b"half")
        before = hashes(vault.folder)
        code, lines = self.lines(vault)
        self.assertEqual(code, CORRUPT)
        found = [line for line in lines if line[2] == "strongroom doctor --fix"]
        self.assertEqual(len(found), 3, lines)
        self.assertEqual(hashes(vault.folder), before)
        code, lines = self.lines(vault, "--fix")
        self.assertEqual(sum(line[0] == "fixed" for line in lines), 3, lines)
        self.assertEqual([path for path in [*left, folder] if path.exists()], [])
        self.assertTrue(young.exists())  # it may be a bank that is being made
        young.unlink()
        vault.check_clean()
        self.assertEqual(vault.get("k"), b"v")

    def test_findings_name_their_commands(self):
        vault = self.new_vault()
        vault.set("k", "v")
        with Server(vault) as server:
            server.initialize()
            server.must("agent_forget", key="k", erase=True)
            code, lines = self.lines(vault)
        self.assertEqual(code, CORRUPT)
        self.assertIn("strongroom compact", [line[2] for line in lines])
        vault.must("compact")
        self.assertEqual(self.lines(vault)[0], 0)
        saved = vault.folder / "saved"
        shutil.copytree(vault.path, saved)
        vault.set("k", "w")
        shutil.rmtree(vault.path)
        shutil.copytree(saved, vault.path)
        code, lines = self.lines(vault)
        self.assertEqual(code, CORRUPT)
        self.assertIn("strongroom anchor show", [line[2] for line in lines])
        self.assertEqual(vault.run("--read-only", "doctor", "--fix").code, 4)


class Prune(RobustTest):
    """audit export --prune: the log goes into the file, and a signed checkpoint stands for it."""

    def lines(self, path):
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_there_is_nothing_lost(self):
        vault = self.new_vault()
        for number in range(5):
            vault.set("k", str(number))
        with Server(vault) as server:
            server.initialize()
            server.remember("of", "the server")
            before = vault.must("audit", "log", "--json").lines()
            out = vault.folder / "log.jsonl"
            answer = vault.must("audit", "export", str(out), "--prune", "--yes", "--json").json()
            exported = self.lines(out)
            self.assertEqual(sorted(map(str, exported)), sorted(map(str, before)))
            self.assertEqual(answer["records"], len(before))
            self.assertEqual({line["tool"] for line in vault.must("audit", "log", "--json").lines()},
                             {"audit export"})
            # A session that was announced in what is gone is announced again.
            server.remember("of", "the server still")
            self.assertEqual(server.recall("of"), "the server still")
        vault.check_clean()
        tools = [line["tool"] for line in vault.must("audit", "log", "--json").lines()]
        self.assertIn("agent_remember", tools)
        vault.must("compact")
        second = vault.folder / "second.jsonl"
        vault.must("audit", "export", str(second), "--prune", "--yes")
        self.assertGreater(len(self.lines(second)), 2)
        vault.check_clean()

    def test_bad_input(self):
        vault = Vault(self.new_folder("apart"), init=False)
        vault.must("init", "--keyfile", str(vault.key), "--admin-keyfile",
                   str(vault.folder / "admin.key"))
        vault.set("k", "v")
        out = vault.folder / "log.jsonl"
        count = len(vault.must("audit", "log", "--json").lines())
        self.assertEqual(vault.run("audit", "export", "-", "--prune", "--yes").code, USAGE)
        self.assertEqual(vault.run("audit", "export", str(out), "--prune").code, USAGE)
        self.assertEqual(vault.run("audit", "export", str(out), "--prune", "--yes").code, 3)
        self.assertFalse(out.exists())
        out.write_text("somebody's file")
        env = dict(vault.env, STRONGROOM_ADMIN_KEYFILE=str(vault.folder / "admin.key"))
        done = vault.run("audit", "export", str(out), "--prune", "--yes", env=env)
        self.assertEqual(done.code, CONFLICT, done)
        self.assertEqual(out.read_text(), "somebody's file")
        self.assertEqual(len(vault.must("audit", "log", "--json").lines()), count)
        out.unlink()
        self.assertEqual(vault.run("audit", "export", str(out), "--prune", "--yes", env=env).code, 0)
        vault.check_clean()

    def sweep(self, faults, calls, codes):
        need_strace()
        origin = self.new_vault("base")
        for number in range(4):
            origin.set("k", str(number))
        before = {str(line) for line in origin.must("audit", "log", "--json").lines()}
        whole = origin.copy(self.new_folder("whole"))
        made = calls_of(whole, "audit", "export", str(whole.folder / "out"), "--prune", "--yes",
                        calls=calls)
        for index, place in enumerate(made):
            vault = origin.copy(self.new_folder(f"at{index}"))
            out = vault.folder / "out"
            done = vault.run("audit", "export", str(out), "--prune", "--yes",
                             wrap=injected(faults[index % len(faults)], place))
            with self.subTest("prune", call=index, place=place):
                self.assertIn(done.code, codes, done)
                there = {str(line) for line in vault.must("audit", "log", "--json").lines()}
                if out.exists():
                    text = out.read_text()
                    there |= {str(json.loads(line)) for line in text.splitlines()
                              if line.endswith("}")}
                self.assertEqual(before - there, set(), "lost")
                vault.check_clean()
                self.assertEqual(vault.get("k"), b"3")

    def test_kill(self):
        self.sweep(["signal=KILL"], WRITE_CALLS, (KILLED,))

    def test_failing(self):
        self.sweep(["error=ENOSPC", "error=EIO"], STORING_CALLS, (0, NO_SPACE))


if __name__ == "__main__":
    main()
