"""kill -9 at every call that writes, and at random moments: always opens, before or after, never
between, and nothing acknowledged is lost."""
import json
import random
import re
import shutil
import subprocess
import time

import memory_ops
from harness import (KILLED, LONG, WRITE_CALLS, RobustTest, Server, Vault, binary, calls_of,
                     injected, jsonl, main, need_strace, text_of)

LARGE = b"large value " * 40_000  # eight chunks
POLICY_RULE = {"id": "hr", "effect": "forbid", "principal": "local:mcp", "key": "hr/*"}


class Step:
    """A command, and how to tell whether it happened."""

    def __init__(self, name, args, happened, stdin=b"", env=None, again=0):
        self.name, self.args, self.happened = name, args, happened
        self.stdin, self.env, self.again = stdin, env or {}, again


def value_is(key, new, old=None, bank=()):
    def happened(vault):
        value = vault.get(key, *bank)
        if value == new:
            return True
        if value == old:
            return False
        raise AssertionError(f"{key} is neither old nor new: {value!r:.100}")
    return happened


def gone(key, old):
    def happened(vault):
        value = vault.get(key)
        if value not in (None, old):
            raise AssertionError(f"{key} changed: {value!r:.100}")
        return value is None
    return happened


def has_slot(vault):
    slots = vault.must("slot", "ls", "--json").lines()
    if len(slots) == 2:
        return False
    # A slot that is listed must open the vault.
    env = dict(vault.env, STRONGROOM_KEYFILE=str(vault.work / "second.key"))
    if vault.must("get", "--", "kept", env=env).out != b"kept value":
        raise AssertionError("the new slot does not open the vault")
    return True


def in_project(vault):
    if "proj" not in vault.banks():
        return False
    return value_is("fresh", b"v", bank=("--bank", "proj"))(vault)


STEPS = [
    Step("set", ["set", "fresh", "-"], value_is("fresh", b"v"), b"v"),
    Step("set again", ["set", "kept-too", "-"], value_is("kept-too", b"new", b"old"), b"new"),
    Step("set large", ["set", "fresh", "-"], value_is("fresh", LARGE), LARGE),
    Step("large by small", ["set", "large", "-"], value_is("large", b"s", LARGE), b"s"),
    Step("set secret", ["set", "--class", "secret", "fresh", "-"], value_is("fresh", b"v"), b"v"),
    Step("first write of a project", ["set", "fresh", "-"], in_project, b"v",
         env={"STRONGROOM_BANK": "proj"}),
    Step("rm", ["rm", "--yes", "kept-too"], gone("kept-too", b"old"), again=1),
    Step("rm large", ["rm", "--yes", "large"], gone("large", LARGE), again=1),
    Step("bank create", ["bank", "create", "made"], lambda vault: "made" in vault.banks(), again=6),
    Step("policy seal", ["policy", "seal", "policy.json"],
         lambda vault: vault.must("policy", "show", "--json").json()["version"] == 2, again=2),
    Step("slot add", ["slot", "add", "--keyfile", "second.key"], has_slot),
    Step("config set", ["config", "set", "revisions", "7"],
         lambda vault: vault.must("config", "get", "revisions").out == b"7\n"),
]


class KillAtEveryCall(RobustTest):
    def setUp(self):
        super().setUp()
        need_strace()

    def base(self):
        vault = self.new_vault("base")
        vault.set("kept", "kept value")
        vault.set("kept-too", "old")
        vault.set("large", LARGE)
        policy = vault.must("policy", "show", "--json").json()
        policy["version"] = 2
        policy["rules"].append(POLICY_RULE)
        (vault.work / "policy.json").write_text(json.dumps(policy))
        return vault

    def remove_empty_key(self, path):
        """A key file that was made and not yet written is in the way, and said so; nobody's key."""
        if path.exists() and path.stat().st_size == 0:
            path.unlink()

    def sweep(self, step):
        base = self.base()
        whole = base.copy(self.new_folder("whole"))
        calls = calls_of(whole, *step.args, stdin=step.stdin, env=dict(whole.env, **step.env))
        shutil.rmtree(whole.folder)
        self.assertGreater(len(calls), 3)
        states = []
        for index, place in enumerate(calls):
            folder = self.new_folder(f"at{index}")
            vault = base.copy(folder)
            env = dict(vault.env, **step.env)
            done = vault.run(*step.args, stdin=step.stdin, env=env,
                             wrap=injected("signal=KILL", place))
            with self.subTest(step.name, call=index, place=place):
                self.assertEqual(done.code, KILLED, done)
                vault.check_clean(orphans=True)
                self.assertEqual(vault.get("kept"), b"kept value")
                states.append(step.happened(vault))
                if b"Remembered" in done.out or b"Forgot" in done.out:
                    self.assertTrue(states[-1], "acknowledged, and not there")
                self.remove_empty_key(vault.work / "second.key")
                again = vault.run(*step.args, stdin=step.stdin, env=env)
                self.assertIn(again.code, (0, step.again) if states[-1] else (0,), again)
                self.assertTrue(step.happened(vault))
                self.assertEqual(vault.set("after", "v").code, 0)
                vault.check_clean(orphans=True)
            shutil.rmtree(folder, ignore_errors=True)
        # Before, then after: what happened once does not go away again at a later call.
        self.assertEqual(states, sorted(states))
        self.assertIn(False, states)
        self.assertIn(True, states)

    def test_init(self):
        """Leaves no vault, or a whole one; the second try makes it."""
        whole = Vault(self.new_folder("whole"), init=False)
        calls = calls_of(whole, "init", "--keyfile", str(whole.key))
        self.assertGreater(len(calls), 10)
        states = set()
        for index, place in enumerate(calls):
            folder = self.new_folder(f"init{index}")
            vault = Vault(folder, init=False)
            args = ["init", "--keyfile", str(vault.key)]
            done = vault.run(*args, wrap=injected("signal=KILL", place))
            with self.subTest("init", call=index, place=place):
                self.assertEqual(done.code, KILLED, done)
                state = vault.must("status", "--json").json()["vault"]
                states.add(state)
                self.assertEqual(state, "open" if vault.path.exists() else "no_vault")
                self.remove_empty_key(vault.key)
                self.assertEqual(vault.run(*args).code, 6 if state == "open" else 0)
                self.assertEqual(vault.set("k", "v").code, 0)
                self.assertEqual(vault.get("k"), b"v")
                vault.check_clean()
            shutil.rmtree(folder, ignore_errors=True)
        self.assertEqual(states, {"open", "no_vault"})


def add_sweep(step):
    def test(self):
        self.sweep(step)
    setattr(KillAtEveryCall, "test_" + step.name.replace(" ", "_"), test)


for each in STEPS:
    add_sweep(each)


class KillMemories(RobustTest):
    """The same for memories: wholly or not at all, and recall finds just what is there."""

    def setUp(self):
        super().setUp()
        need_strace()

    def sweep(self, name):
        def check(done, before, now, after):
            self.assertEqual(done.code, KILLED, done)
            if b"stored" in done.out and name != "retain jsonl":
                self.assertEqual(now, after, "acknowledged, and not there")
        outcomes = memory_ops.sweep(self, name, ["signal=KILL"], 6, WRITE_CALLS, check)
        self.assertEqual(outcomes, sorted(outcomes))
        self.assertEqual(outcomes[0], 0)
        self.assertGreater(outcomes[-1], 0)


def add_memory_sweep(name):
    def test(self):
        self.sweep(name)
    setattr(KillMemories, "test_" + name.replace(" ", "_"), test)


for each in memory_ops.operations(["?"] * 10):
    add_memory_sweep(each)


class KillAtRandom(RobustTest):
    def test_a_long_list_of_memories(self):
        """What was said to be committed is there; the next run stores the rest, nothing twice."""
        total = 20_000
        items = [{"content": f"entry number {n} uniqentry{n}", "tags": [f"t{n % 5}"]}
                 for n in range(total)]
        chance = random.Random(17)
        for number in range(12 if LONG else 2):
            vault = Vault(self.new_folder(f"list{number}"))
            (vault.work / "list.jsonl").write_bytes(jsonl(items))
            kills = 0
            while True:
                process = subprocess.Popen([binary(), "retain", "--jsonl", "list.jsonl"],
                                           env=vault.env, cwd=vault.work,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT)
                if kills < 4:
                    time.sleep(0.02 + chance.random() * 0.4)
                    process.kill()
                    kills += 1
                out = process.stdout.read().decode()
                process.stdout.close()
                code = process.wait()
                said = max([0, *(int(n) for n in re.findall(r"committed (\d+)", out))])
                stored = [line["text"] for line in vault.must("memories", "--json").lines()]
                self.assertEqual(len(stored), len(set(stored)), "stored twice")
                self.assertGreaterEqual(len(stored), said)
                self.assertEqual(set(stored), {item["content"] for item in items[:len(stored)]})
                vault.check_clean(orphans=True)
                if code == 0:
                    break
                self.assertEqual(code, KILLED, out)
            self.assertEqual(len(stored), total)
            shutil.rmtree(vault.folder)

    def test_commands(self):
        vault = self.new_vault()
        chance = random.Random(11)
        acknowledged = {}
        for number in range(300 if LONG else 60):
            key = f"k{number % 17}"
            value = f"value {number} ".encode() * chance.choice((1, 10, 6000))
            process = subprocess.Popen([binary(), "set", key, "-"], env=vault.env, cwd=vault.work,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
            killer = chance.random() * 0.012
            try:
                process.stdin.write(value)
                process.stdin.close()
            except BrokenPipeError:
                pass
            time.sleep(killer)
            process.kill()
            out = process.stdout.read()
            process.stdout.close()
            code = process.wait()
            self.assertIn(code, (0, KILLED))
            stored = vault.get(key)
            if b"Remembered" in out:
                self.assertEqual(stored, value)
            else:
                self.assertIn(stored, (value, acknowledged.get(key)))
            acknowledged[key] = stored
        for key, value in acknowledged.items():
            self.assertEqual(vault.get(key), value)
        vault.check_clean()

    def test_servers(self):
        """Writes, updates, forgets and new banks over MCP; the server is killed again and again."""
        vault = self.new_vault()
        chance = random.Random(13)
        state = {}  # (bank, key) -> the values it may have
        for session in range(60 if LONG else 15):
            server = Server(vault).initialize()
            calls = chance.randrange(1, 25)
            for number in range(calls):
                bank = "global" if chance.random() < .8 else f"b{chance.randrange(3)}"
                if bank != "global" and bank not in vault.banks():
                    vault.must("bank", "create", bank)
                place = (bank, f"k{chance.randrange(9)}")
                forget = chance.random() < .2
                value = None if forget else f"{session}-{number} " * chance.choice((1, 5000))
                arguments = {"key": place[1], "bank": bank}
                if not forget:
                    arguments["value"] = value
                server.send("tools/call", {"name": "agent_forget" if forget else "agent_remember",
                                           "arguments": arguments})
                before = state.get(place, {None})
                if number == calls - 1:
                    time.sleep(chance.random() * 0.004)
                    state[place] = before | {value}
                    server.kill()
                    break
                result = server.receive()["result"]
                if result.get("isError") and not (forget and "No memory" in text_of(result)):
                    self.fail(text_of(result))
                state[place] = {value}
            for (bank, key), values in state.items():
                value = vault.get(key, "--bank", bank)
                value = None if value is None else value.decode()
                self.assertIn(value, values)
                state[(bank, key)] = {value}
            vault.check_clean(orphans=True)


if __name__ == "__main__":
    main()
