"""init, status, verify, config, slot, and a vault that is missing, locked, damaged or hostile."""
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

import harness
from harness import (CONFLICT, DAMAGED, LOCKED, NOT_FOUND, OK, USAGE, CliTest, json_lines)

NOBODY = 65534


class Init(CliTest):
    vault = False

    def test_without_a_terminal_a_secret_is_needed(self):
        self.fails(USAGE, "init", env={"STRONGROOM_KEYFILE": ""}, error="invalid", text="--keyfile")
        self.fails(USAGE, "init", "--no-input", env={"STRONGROOM_KEYFILE": ""}, error="invalid")
        self.assertFalse(self.box.vault.exists())

    def test_a_variable_alone_makes_no_key(self):
        self.fails(USAGE, "init", error="invalid", text="STRONGROOM_KEYFILE names no file")
        self.assertFalse(self.box.key.exists())

    def test_key_file_is_made(self):
        reply = self.json("init", "--keyfile", str(self.box.key))
        self.assertEqual(list(reply), ["path", "owner", "admin", "environment", "next"])
        self.assertEqual(reply["owner"], "key file")
        self.assertEqual(reply["admin"], "same secret as owner")
        self.assertEqual(reply["environment"], {"STRONGROOM_VAULT": str(self.box.vault),
                                                "STRONGROOM_KEYFILE": str(self.box.key)})
        self.assertEqual(reply["next"], "strongroom connect claude-code")
        self.assertEqual(self.box.key.stat().st_size, 32)
        self.assertEqual(stat.S_IMODE(self.box.key.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.box.vault.stat().st_mode), 0o700)

    def test_text_ends_with_the_line_that_connects(self):
        text = self.ok("init", "--keyfile", str(self.box.key)).decode()
        self.assertIn("admin: same secret as owner\n", text)
        self.assertIn(f"export STRONGROOM_VAULT='{self.box.vault}'", text)
        self.assertTrue(text.endswith("  strongroom connect claude-code\n"), text)

    def test_default_paths_need_no_environment(self):
        env = self.box.without("STRONGROOM_VAULT", "STRONGROOM_KEYFILE")
        key = self.box.root / "config" / "strongroom" / "key"
        done = subprocess.run([harness.binary(), "init", "--keyfile", str(key)], env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, cwd=self.box.work)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertNotIn(b"export", done.stdout)
        for args in (["set", "k", "v"], ["get", "k"]):
            done = subprocess.run([harness.binary(), *args], env=env, cwd=self.box.work,
                                  stdin=subprocess.DEVNULL, capture_output=True)
            self.assertEqual(done.returncode, OK, done.stderr)

    def test_an_existing_key_is_used(self):
        self.box.write("owner.key", b"0123456789abcdef" * 4)  # 64 hex digits
        self.ok("init")
        self.assertEqual(self.box.key.read_bytes(), b"0123456789abcdef" * 4)
        self.ok("set", "k", "v")

    def test_twice(self):
        self.ok("init", "--keyfile", str(self.box.key))
        before = self.box.fingerprint()
        self.fails(CONFLICT, "init", "--keyfile", str(self.box.key), error="conflict")
        other = self.box.root / "other.key"
        self.fails(CONFLICT, "init", "--keyfile", str(other))
        self.assertFalse(other.exists(), "a key was left behind")
        self.assertEqual(self.box.fingerprint(), before)

    def test_admin_key_file(self):
        admin = self.box.root / "admin.key"
        reply = self.json("init", "--keyfile", str(self.box.key), "--admin-keyfile", str(admin))
        self.assertEqual(reply["admin"], "key file")
        self.assertEqual(self.json("status")["admin"], "separate secret")
        policy = self.box.write("policy.json", self.ok("policy", "init", "read-only-agents"))
        self.fails(LOCKED, "policy", "seal", str(policy), error="locked", text="admin secret")
        self.fails(LOCKED, "policy", "seal", str(policy), error="wrong_key",
                   env={"STRONGROOM_ADMIN_KEYFILE": str(self.box.key)})
        self.ok("policy", "seal", str(policy), env={"STRONGROOM_ADMIN_KEYFILE": str(admin)})

    def test_passphrase_file_and_descriptor(self):
        path = self.box.write("phrase", "correct horse\n")
        self.ok("init", "--passphrase-file", str(path), env={"STRONGROOM_KEYFILE": ""})
        env = {"STRONGROOM_KEYFILE": "", "STRONGROOM_PASSPHRASE_FILE": str(path)}
        self.ok("set", "k", "v", env=env)
        self.fails(LOCKED, "get", "k", env={"STRONGROOM_KEYFILE": ""}, error="locked",
                   text="Vault is locked. ")
        read, write = os.pipe()
        os.write(write, b"correct horse\n")
        os.close(write)
        self.assertEqual(self.ok("get", "k", "--passphrase-fd", str(read), pass_fds=[read],
                                 env={"STRONGROOM_KEYFILE": ""}), b"v")
        os.close(read)
        wrong = self.box.write("wrong", "wrong horse\n")
        self.fails(LOCKED, "get", "k", "--passphrase-file", str(wrong),
                   env={"STRONGROOM_KEYFILE": ""}, text="[wrong_key]")

    def test_passphrase_files_that_are_refused(self):
        for name, data, mode in (("open", "secret", 0o644), ("empty", "\n", 0o600)):
            path = self.box.write(name, data, mode)
            self.fails(USAGE, "init", "--passphrase-file", str(path), error="invalid")
        link = self.box.root / "link"
        link.symlink_to(self.box.write("real", "secret"))
        self.fails(USAGE, "init", "--passphrase-file", str(link), text="symbolic link")
        self.fails(USAGE, "init", "--passphrase-file", str(self.box.root))
        self.fails(USAGE, "init", "--passphrase-fd", "99")
        self.assertFalse(self.box.vault.exists())


class Status(CliTest):
    def test_open(self):
        status = self.json("status")
        self.assertEqual(list(status), ["vault", "path", "anchor", "vault_id", "opened_with", "admin",
                                        "keys_locked", "policy", "scoping", "banks", "entries",
                                        "secrets", "memories", "documents", "erase_pending", "notes"])
        self.assertEqual((status["vault"], status["opened_with"], status["banks"]),
                         ("open", "keyfile", 1))
        self.assertEqual(list(status["policy"]), ["version", "rules", "problem"])
        self.assertIn("admin:   same secret as owner\n", self.ok("status").decode())

    def test_locked_and_missing_are_answers(self):
        status = self.json("status", "--no-input", env={"STRONGROOM_KEYFILE": ""})
        self.assertEqual(status["vault"], "locked")
        self.assertIn("STRONGROOM_KEYFILE", status["hint"])
        shutil.rmtree(self.box.vault)
        self.assertEqual(self.json("status")["vault"], "no_vault")
        self.assertIn('"strongroom init"', self.ok("status").decode())


class Keys(CliTest):
    def test_a_wrong_key_changes_nothing(self):
        self.ok("set", "k", "v")
        wrong = self.box.write("wrong.key", os.urandom(32))
        before = self.box.fingerprint()
        for args in (("get", "k"), ("set", "k", "w"), ("rm", "k", "--yes"), ("ls",), ("verify",),
                     ("bank", "create", "b"), ("config", "set", "revisions", "3"), ("audit", "log")):
            with self.subTest(args=args):
                self.fails(LOCKED, *args, "--keyfile", str(wrong), error="wrong_key")
        self.assertEqual(self.box.fingerprint(), before)
        self.assertEqual(self.ok("get", "k"), b"v")

    def test_key_files_that_are_refused(self):
        missing = self.box.root / "missing"
        message = self.fails(LOCKED, "get", "k", "--keyfile", str(missing), error="locked")
        self.assertNotIn(str(self.box.root), message)
        short = self.box.write("short", b"x" * 31)
        readable = self.box.write("readable", os.urandom(32), 0o640)
        link = self.box.root / "link"
        link.symlink_to(self.box.key)
        for path in (short, readable, link, self.box.root):
            self.fails(USAGE, "get", "k", "--keyfile", str(path), error="invalid")

    def test_flag_beats_variable(self):
        wrong = self.box.write("wrong.key", os.urandom(32))
        self.ok("ls", "--keyfile", str(self.box.key), env={"STRONGROOM_KEYFILE": str(wrong)})


class Paths(CliTest):
    """What stands where the vault should be."""

    def test_symlink(self):
        link = self.box.root / "link.vault"
        link.symlink_to(self.box.vault)
        for path in (str(link), str(link) + "/"):
            message = self.fails(USAGE, "get", "k", "--vault", path, error="invalid", text="symbolic link")
            self.assertNotIn(str(self.box.root), message)

    def test_file(self):
        path = self.box.write("file.vault", "mine")
        self.fails(USAGE, "get", "k", "--vault", str(path), error="invalid")
        self.fails(USAGE, "init", "--vault", str(path), "--keyfile", str(self.box.key), error="invalid")
        self.assertEqual(path.read_text(), "mine")

    def test_directory_of_another_program(self):
        folder = self.box.root / "project"
        folder.mkdir(mode=0o700)
        (folder / "notes.txt").write_text("mine")
        self.fails(LOCKED, "get", "k", "--vault", str(folder), error="no_vault")
        key = self.box.root / "new.key"
        self.fails(USAGE, "init", "--vault", str(folder), "--keyfile", str(key), error="invalid")
        self.assertEqual(os.listdir(folder), ["notes.txt"])
        self.assertFalse(key.exists())

    def test_hard_linked_bank(self):
        bank = next((self.box.vault / "banks").glob("*.mdb"))
        os.link(bank, self.box.root / "copy.mdb")
        self.fails(DAMAGED, "get", "k", error="corrupt", text="hard link")

    def test_symlinked_bank(self):
        bank = next((self.box.vault / "banks").glob("*.mdb"))
        moved = self.box.root / "moved.mdb"
        bank.rename(moved)
        bank.symlink_to(moved)
        result = self.run_cli("get", "k")
        self.assertIn(result.code, (USAGE, DAMAGED), result.err)

    def test_damage(self):
        self.ok("set", "k", "v")
        bank = next((self.box.vault / "banks").glob("*.mdb"))
        whole = bank.read_bytes()
        bank.write_bytes(whole[:4096])
        self.fails(DAMAGED, "get", "k", error="corrupt")
        bank.unlink()
        self.fails(DAMAGED, "get", "k", error="corrupt")
        result = self.run_cli("verify")
        self.assertEqual(result.code, DAMAGED)
        self.assertIn(b"1 problem", result.out)
        outcome = json_lines(self.run_cli("verify", "--json").out)[0]
        self.assertFalse(outcome["ok"])
        self.assertEqual(list(outcome["problems"][0]), ["code", "where", "text"])
        (self.box.vault / "header").unlink()
        self.fails(DAMAGED, "get", "k", error="corrupt")

    def test_rollback_opens_read_only(self):
        self.ok("set", "k", "old")
        copy = self.box.root / "copy"
        shutil.copytree(self.box.vault, copy)
        self.ok("set", "k", "new")
        shutil.rmtree(self.box.vault)
        copy.rename(self.box.vault)
        self.fails(DAMAGED, "get", "k", error="rollback")
        self.assertEqual(self.ok("get", "k", "--read-only"), b"old")
        self.assertEqual(self.ok("get", "k", "--no-anchor"), b"old")

    def test_read_only_directory(self):
        self.ok("set", "k", "v")
        user = {}
        if os.geteuid() == 0:
            user = {"user": NOBODY, "group": NOBODY}
            for path in (self.box.root, *self.box.root.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
            try:
                subprocess.run([harness.binary(), "--version"], check=True, capture_output=True, **user)
            except (OSError, subprocess.CalledProcessError):
                self.skipTest("SKIPPED: the binary cannot be run by another user")
        for path in (self.box.vault, *self.box.vault.rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)
        before = self.box.fingerprint()
        self.assertEqual(self.ok("get", "k", "--read-only", **user), b"v")
        result = self.run_cli("get", "k", **user)
        self.assertNotEqual(result.code, OK)
        self.assertEqual(self.box.fingerprint(), before)

    def test_hostile_project_file(self):
        config = self.box.work / ".strongroom.json"
        for text in ("{", "[]", '{"project":1}', '{"project":"a","project":"b"}', '{"other":1}',
                     '{"project":"a\\nb"}', '{"scoping":"mine"}', "x" * 65537, "\xff"):
            with self.subTest(text=text[:20]):
                config.write_bytes(text.encode("latin-1"))
                self.fails(USAGE, "get", "k", error="invalid", text=".strongroom.json")
        config.unlink()
        config.symlink_to(self.box.write("elsewhere.json", '{"project":"x"}'))
        self.fails(USAGE, "get", "k", error="invalid", text=".strongroom.json")

    def test_project_file_that_names_a_bank_of_another_project(self):
        self.ok("bank", "create", "theirs")
        (self.box.work / ".strongroom.json").write_text('{"project":"theirs"}')
        self.fails(harness.DENIED, "set", "k", "v", error="denied", text="strongroom bank trust")
        self.ok("bank", "trust")
        self.ok("set", "k", "v")
        self.assertEqual(self.json("get", "k")["bank"], "theirs")


class Verify(CliTest):
    def test_good(self):
        self.ok("set", "k", "v")
        outcome = self.json("verify")
        self.assertEqual(list(outcome), ["ok", "fast", "banks", "records", "names", "chunks",
                                         "memories", "index_rows", "log_records", "problems"])
        self.assertTrue(outcome["ok"])
        self.assertTrue(self.json("verify", "--fast")["fast"])
        self.assertTrue(self.ok("verify").startswith(b"ok: "))


class Config(CliTest):
    def test_get_and_set(self):
        self.assertEqual(json_lines(self.ok("config", "get", "--json")),
                         [{"name": "revisions", "value": "20"},
                          {"name": "scoping", "value": "per-project-tagged"}])
        self.ok("config", "set", "revisions", "2")
        self.assertEqual(self.ok("config", "get", "revisions"), b"2\n")
        for value in "abc":
            self.ok("set", "k", value)
        self.assertEqual(len(json_lines(self.ok("history", "k", "--json"))), 2)
        self.fails(USAGE, "config", "set", "revisions", "0", error="invalid")
        self.fails(USAGE, "config", "set", "scoping", "mine", error="invalid")
        self.fails(USAGE, "config", "get", "colour", error="invalid")


class Slots(CliTest):
    def test_add_use_and_remove(self):
        slots = json_lines(self.ok("slot", "ls", "--json"))
        self.assertEqual(sorted((slot["role"], slot["method"]) for slot in slots),
                         [("admin", "keyfile"), ("owner", "keyfile")])
        second = self.box.root / "second.key"
        added = self.json("slot", "add", "--keyfile", str(second))
        self.assertEqual(added["role"], "owner")
        self.assertEqual(stat.S_IMODE(second.stat().st_mode), 0o600)
        self.ok("ls", "--keyfile", str(second))
        self.fails(USAGE, "slot", "rm", added["id"], error="invalid", text="--yes")
        self.ok("slot", "rm", added["id"], "--yes")
        self.fails(LOCKED, "ls", "--keyfile", str(second), error="wrong_key")
        self.fails(NOT_FOUND, "slot", "rm", added["id"], "--yes", error="not_found")

    def test_the_last_slot_stays(self):
        for slot in json_lines(self.ok("slot", "ls", "--json")):
            self.fails(USAGE, "slot", "rm", slot["id"], "--yes", error="invalid")

    def test_passphrase_and_both(self):
        phrase = self.box.write("phrase", "staple battery")
        self.ok("slot", "add", "--keyfile", str(self.box.key), "--passphrase-file", str(phrase), "--both")
        methods = [slot["method"] for slot in json_lines(self.ok("slot", "ls", "--json"))]
        self.assertEqual(sorted(methods), ["keyfile", "keyfile", "passphrase+keyfile"])

    def test_refused_combinations(self):
        for args in ((), ("--code",), ("--both",), ("--code", "--keyfile", "k"),
                     ("--keyfile", "k", "--passphrase-file", "p")):
            with self.subTest(args=args):
                self.fails(USAGE, "slot", "add", *args, error="invalid")
        self.assertFalse((self.box.work / "k").exists())


if __name__ == "__main__":
    unittest.main()
