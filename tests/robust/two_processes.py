"""What one process does, another that is running sees on its next call."""
import json

from harness import RobustTest, Server, main


class TwoProcesses(RobustTest):
    def setUp(self):
        super().setUp()
        self.vault = self.new_vault()
        self.server = Server(self.vault).initialize()
        self.addCleanup(self.server.kill)
        self.server.must("get_project_context")  # open by now

    def test_values_both_ways(self):
        for number in range(10):
            self.assertEqual(self.vault.set("turn", f"cli {number}").code, 0)
            self.assertEqual(self.server.recall("turn"), f"cli {number}")
            self.server.remember("turn", f"mcp {number}")
            self.assertEqual(self.vault.get("turn"), f"mcp {number}".encode())
        self.assertEqual(self.server.keys(), ["turn"])
        self.vault.must("rm", "--yes", "turn")
        self.assertIsNone(self.server.recall("turn"))
        self.assertEqual(self.server.keys(), [])
        self.server.remember("turn", "back")
        self.assertEqual(self.vault.keys(), ["turn"])
        self.server.must("agent_forget", key="turn")
        self.assertIsNone(self.vault.get("turn"))
        self.assertEqual(self.server.remember("turn", "again")["data"]["revision"], 22)

    def test_classes(self):
        self.vault.set("s", "secret value", "--class", "secret")
        self.assertIn("Policy Denied", self.server.refused("agent_recall", key="s"))
        self.assertEqual(self.server.keys(), [])
        self.server.remember("s", "rotated")
        self.assertEqual(self.vault.get("s"), b"rotated")

    def test_banks(self):
        self.assertIn("[not_found]",
                      self.server.refused("agent_remember", key="k", value="v", bank="made"))
        self.vault.must("bank", "create", "made")
        self.server.remember("k", "v", bank="made")
        self.assertEqual(self.vault.get("k", "--bank", "made"), b"v")
        # The project's bank comes into being by a write of the server.
        env = dict(self.vault.env, STRONGROOM_BANK="proj")
        with Server(self.vault, env=env) as other:
            other.initialize()
            other.remember("k", "of the project")
            self.assertEqual(self.server.recall("k", bank="proj"), "of the project")
        self.assertEqual(self.vault.banks(), {"global", "made", "proj"})

    def test_policy(self):
        self.server.remember("hr/a", "v")
        self.assertEqual(self.vault.seal(
            {"id": "hr", "effect": "forbid", "principal": "local:mcp", "key": "hr/*"}).code, 0)
        for call in (("agent_recall", {"key": "hr/a"}), ("agent_recall", {"key": "hr/none"}),
                     ("agent_remember", {"key": "hr/a", "value": "w"}),
                     ("agent_forget", {"key": "hr/a"})):
            self.assertIn("(rule: hr)", self.server.refused(call[0], **call[1]))
        self.assertEqual(self.server.keys(), [])
        self.assertEqual(self.vault.get("hr/a"), b"v")
        policy = self.vault.must("policy", "show", "--json").json()
        policy["version"] += 1
        policy["rules"].pop()
        self.assertEqual(self.vault.run("policy", "seal", "-",
                                        stdin=json.dumps(policy).encode()).code, 0)
        self.assertEqual(self.server.recall("hr/a"), "v")

    def test_settings(self):
        for number in range(5):
            self.server.remember("k", str(number))
        self.vault.must("config", "set", "revisions", "2")
        self.server.remember("k", "5")
        self.assertEqual(len(self.vault.must("history", "k", "--json").lines()), 2)

    def test_slots(self):
        """A server whose slot is removed is shut out at its next call."""
        self.vault.must("slot", "add", "--keyfile", "second.key")
        first = [slot["id"] for slot in self.vault.must("slot", "ls", "--json").lines()
                 if slot["role"] == "owner"]
        env = dict(self.vault.env, STRONGROOM_KEYFILE=str(self.vault.work / "second.key"),
                   STRONGROOM_ADMIN_KEYFILE=str(self.vault.key))
        removed = [self.vault.run("slot", "rm", "--yes", one, env=env).code for one in first]
        self.assertEqual(sorted(removed), [0, 2])  # the one in use stays
        self.assertIn("[wrong_key]", self.server.refused("agent_recall", key="k"))
        with Server(self.vault, env=env) as other:
            other.initialize()
            other.remember("k", "v")

    def test_the_log_is_one_chain(self):
        for number in range(5):
            self.server.remember("k", f"mcp {number}")
            self.vault.set("k", f"cli {number}")
        lines = [line for line in self.vault.must("audit", "log", "--json").lines()
                 if line["tool"] == "agent_remember"]
        self.assertEqual([line["principal"] for line in lines], ["local:mcp", "local:cli"] * 5)
        self.assertEqual(len({line["session"] for line in lines}), 6)
        self.vault.check_clean()

    def test_a_reader_that_writes_nothing(self):
        self.server.remember("k", "v")
        self.assertEqual(self.vault.run("--read-only", "get", "k").out, b"v")
        with Server(self.vault, "--read-only") as reader:
            reader.initialize()
            self.assertEqual(reader.recall("k"), "v")
            self.server.remember("k", "w")
            self.assertEqual(reader.recall("k"), "w")
            self.assertIn("(rule: read-only)", reader.refused("agent_forget", key="k"))


if __name__ == "__main__":
    main()
