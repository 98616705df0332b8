"""A person at a terminal: prompts without echo, questions, codes that are shown once."""
import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
import unittest

import harness
from harness import LOCKED, NOT_FOUND, OK, USAGE, TerminalTest

PHRASE = "correct horse battery"


class InitAtATerminal(TerminalTest):
    vault = False

    def env(self):
        return {"STRONGROOM_KEYFILE": ""}

    def make(self):
        session = self.terminal("init", env=self.env())
        session.expect("Passphrase: ")
        session.wait_for_echo(False)
        session.send(PHRASE + "\n")
        session.expect("Passphrase again: ")
        session.send(PHRASE + "\n")
        session.expect("Admin passphrase: ")
        session.send("\n")
        self.assertEqual(session.wait(), OK, session.seen)
        return session

    def test_passphrase_and_admin_code(self):
        session = self.make()
        text = session.seen.decode()
        self.assertNotIn(PHRASE, text)
        self.assertTrue(session.echo())
        codes = [line.strip() for line in text.splitlines() if line.count("-") == 8]
        self.assertEqual(len(codes), 1, text)
        self.assertIn("slot add --keyfile", text)
        self.assertIn("admin: recovery code", text)

        # The passphrase opens the vault, asked for on the terminal although stdin is a pipe.
        session = self.terminal("set", "k", "v", env=self.env())
        session.expect("Passphrase: ")
        session.send(PHRASE + "\n")
        self.assertEqual(session.wait(), OK, session.seen)

        # The code is the admin secret.
        policy = self.box.write("policy.json", self.ok("policy", "init", "read-only-agents"))
        session = self.terminal("policy", "seal", str(policy), env=self.env())
        session.expect("Passphrase: ")
        session.send(PHRASE + "\n")
        session.expect("Admin passphrase: ")
        session.send("\x04")
        session.expect("Admin recovery code: ")
        session.send(codes[0].lower() + "\n")
        self.assertEqual(session.wait(), OK, session.seen)
        self.assertNotIn(codes[0].lower(), session.seen.decode())

    def test_the_code_never_leaves_the_terminal(self):
        with open(self.box.root / "out", "wb") as out:
            session = self.terminal("init", "--keyfile", str(self.box.key), "--json", stdout=out)
            session.expect("Admin passphrase: ")
            session.send("\n")
            session.expect("it is not shown again")
            self.assertEqual(session.wait(), OK)
        reply = json.loads((self.box.root / "out").read_text())
        self.assertEqual(reply["admin"], "recovery code")
        self.assertNotIn("code\":", (self.box.root / "out").read_text().replace("recovery code", ""))

    def test_answers_that_differ(self):
        session = self.terminal("init", env=self.env())
        for answers in (("a", "b"), ("",), ("c", "d")):
            for number, answer in enumerate(answers):
                session.expect("Passphrase again: " if number else "Passphrase: ")
                session.send(answer + "\n")
        self.assertEqual(session.wait(), USAGE, session.seen)
        self.assertFalse(self.box.vault.exists())

    def test_no_input_asks_nothing(self):
        session = self.terminal("init", "--no-input", env=self.env())
        self.assertEqual(session.wait(), USAGE)
        self.assertNotIn(b"Passphrase", session.seen)

    def test_an_existing_vault_is_told_before_anything_is_asked(self):
        self.ok("init", "--keyfile", str(self.box.key))
        session = self.terminal("init", env=self.env())
        self.assertEqual(session.wait(), harness.CONFLICT, session.seen)
        self.assertNotIn(b"Passphrase", session.seen)


class Prompts(TerminalTest):
    def test_echo_comes_back_after_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                session = self.terminal("set", "k", "--class", "secret")
                session.expect("Value: ")
                session.wait_for_echo(False)
                session.send("typed-but-not-sent")
                session.signal(number)
                self.assertEqual(session.wait(), -number)
                self.assertTrue(session.echo())
                self.assertNotIn(b"typed-but-not-sent", session.seen)
        self.fails(NOT_FOUND, "get", "k")

    def test_a_stop_shows_the_terminal_as_it_was_and_asks_again(self):
        session = self.terminal("set", "k", "--class", "secret")
        session.expect("Value: ")
        session.wait_for_echo(False)
        session.signal(signal.SIGSTOP)
        session.signal(signal.SIGCONT)
        session.signal(signal.SIGTSTP)
        # An orphaned process group is never stopped by SIGTSTP, so the question only comes again.
        session.expect("Value: ")
        session.wait_for_echo(False)
        session.send("v\n")
        self.assertEqual(session.wait(), OK, session.seen)
        self.assertTrue(session.echo())

    def test_control_c(self):
        session = self.terminal("set", "k", "--class", "secret")
        session.expect("Value: ")
        session.wait_for_echo(False)
        session.send("\x03")
        self.assertEqual(session.wait(), -signal.SIGINT)
        self.assertTrue(session.echo())

    def test_secret_value(self):
        session = self.terminal("set", "k", "--class", "secret")
        session.expect("Value: ")
        session.wait_for_echo(False)
        session.send("hunter-two\n")
        self.assertEqual(session.wait(), OK, session.seen)
        self.assertNotIn(b"hunter-two", session.seen)
        self.assertEqual(self.ok("get", "k"), b"hunter-two")
        self.assertEqual(self.json("get", "k")["class"], "secret")

    def test_value_argument_warns(self):
        session = self.terminal("set", "k", "seen-by-all")
        self.assertEqual(session.wait(), OK)
        self.assertIn(b"warning: a value on the command line", session.seen)
        self.assertNotIn(b"warning", self.run_cli("set", "k", "v").err)

    def test_wrong_passphrase(self):
        session = self.terminal("get", "k", env={"STRONGROOM_KEYFILE": ""})
        session.expect("Passphrase: ")
        session.send("\x04")
        session.expect("Recovery code: ")
        session.send("\x04")
        self.assertEqual(session.wait(), LOCKED, session.seen)

    def test_a_program_that_captures_everything_is_not_asked(self):
        # It has a controlling terminal, and nobody who looks at it.
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        done = subprocess.run([harness.binary(), "get", "k"], stdin=subprocess.DEVNULL,
                              capture_output=True, cwd=self.box.work, preexec_fn=take_terminal,
                              env={**self.box.env, "STRONGROOM_KEYFILE": ""}, timeout=60)
        self.assertEqual(done.returncode, LOCKED, done.stderr)


class Questions(TerminalTest):
    def test_rm_asks(self):
        self.ok("set", "k", "v")
        for answer, code in (("n", USAGE), ("", USAGE), ("y", OK)):
            session = self.terminal("rm", "k")
            session.expect('Forget "k" for good? [y/N] ')
            session.send(answer + "\n")
            self.assertEqual(session.wait(), code, session.seen)
        self.fails(NOT_FOUND, "get", "k")

    def test_rm_with_no_input(self):
        self.ok("set", "k", "v")
        session = self.terminal("rm", "k", "--no-input")
        self.assertEqual(session.wait(), USAGE)
        self.ok("get", "k")

    def test_names_in_questions_are_escaped(self):
        self.ok("set", "a\x1b[2Jb", "v")
        session = self.terminal("rm", "a\x1b[2Jb")
        session.expect("[y/N] ")
        session.send("n\n")
        session.wait()
        self.assertNotIn(b"\x1b[2J", session.seen)

    def test_connect_asks(self):
        session = self.terminal("connect", "claude-code")
        session.expect("Write this? [y/N] ")
        session.send("n\n")
        self.assertEqual(session.wait(), USAGE)
        self.assertFalse((self.box.home / ".claude.json").exists())


class Display(TerminalTest):
    def test_get_ends_with_a_line_break_on_a_terminal_only(self):
        self.ok("set", "k", "value")
        session = self.terminal("get", "k")
        session.wait()
        self.assertTrue(session.seen.startswith(b"value\r\n"), session.seen)

    def test_tables_and_notes(self):
        self.ok("set", "k", "value")
        session = self.terminal("ls")
        session.wait()
        lines = session.seen.decode().splitlines()
        self.assertTrue(lines[0].startswith("NAME  REVISION  AGE"), lines)
        self.assertIn('note: No project was found here', session.seen.decode())

    def test_colour(self):
        for env, coloured in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                              ({"TERM": "dumb"}, False)):
            session = self.terminal("status", env=env)
            session.wait()
            self.assertEqual(b"\x1b[" in session.seen, coloured, env)
        self.assertNotIn(b"\x1b", self.ok("status", env={"TERM": "xterm"}))


if __name__ == "__main__":
    unittest.main()
