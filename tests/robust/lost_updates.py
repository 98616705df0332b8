"""Writers that race, and are killed: what was acknowledged is there, once."""
import random
import threading

from harness import LONG, RobustTest, Server, main, text_of

SERVERS = 8
WRITES = 1000 if LONG else 100
IN_FLIGHT = 10


class Writer(threading.Thread):
    """Writes its share through one server after another, until all of it is acknowledged.

    A write that was cut off is sent again under its operation id, so it must be stored once.
    """

    def __init__(self, vault, number, keys, killable):
        super().__init__(daemon=True)
        self.vault, self.number, self.killable = vault, number, killable
        self.left = [f"{number}-{index}" for index in range(keys)]
        self.acknowledged = {}  # key -> revision
        self.servers = 0
        self.problem = None
        self.server = None

    def run(self):
        try:
            while self.left:
                self.session()
        except Exception as problem:  # noqa: BLE001 - told to the test
            self.problem = problem

    def session(self):
        self.server = server = Server(self.vault)
        self.servers += 1
        try:
            server.initialize()
            while self.left:
                self.batch(server, self.left[:IN_FLIGHT])
            server.close()
        except (EOFError, BrokenPipeError):
            if not self.killable:
                raise
            server.kill()

    def batch(self, server, keys):
        sent = {}
        for key in keys:
            arguments = {"key": key, "value": f"value of {key}", "operation_id": f"op {key}"}
            params = {"name": "agent_remember", "arguments": arguments}
            sent[server.send("tools/call", params)] = key
        while sent:
            message = server.receive()
            key = sent.pop(message["id"])
            result = message["result"]
            if result.get("isError"):
                raise AssertionError(f"{key}: {text_of(result)}")
            self.acknowledged[key] = result["structuredContent"]["data"]["revision"]
            self.left.remove(key)


class LostUpdates(RobustTest):
    def race(self, kill):
        vault = self.new_vault()
        writers = [Writer(vault, number, WRITES, kill) for number in range(SERVERS)]
        for writer in writers:
            writer.start()
        chance = random.Random(7)
        kills = 0
        while any(writer.is_alive() for writer in writers):
            chance.choice(writers).join(timeout=chance.random() / 5)
            if kill and kills < 5 * SERVERS:
                victim = chance.choice(writers)
                if victim.is_alive() and victim.server and victim.server.process.poll() is None:
                    victim.server.process.kill()
                    kills += 1
        for writer in writers:
            self.assertIsNone(writer.problem)
        acknowledged = {key: revision for writer in writers
                        for key, revision in writer.acknowledged.items()}
        self.assertEqual(len(acknowledged), SERVERS * WRITES)
        if kill:
            self.assertGreater(kills, 0)
            self.assertGreater(sum(writer.servers for writer in writers), SERVERS)
        with Server(vault) as reader:
            reader.initialize()
            self.assertEqual(set(reader.keys()), set(acknowledged))
            for key, revision in acknowledged.items():
                self.assertEqual(revision, 1, f"{key} was stored twice")
                self.assertEqual(reader.recall(key), f"value of {key}")
        vault.check_clean()
        # Every acknowledged write is in the log as well.
        lines = vault.must("audit", "log", "--json", "--tool", "agent_remember").lines()
        self.assertGreaterEqual(len(lines), len(acknowledged))

    def test_eight_writers(self):
        self.race(kill=False)

    def test_eight_writers_that_are_killed(self):
        self.race(kill=True)

    def test_compare_and_set(self):
        """Every revision has one winner."""
        vault = self.new_vault()
        vault.set("counter", "1")
        increments = 100 if LONG else 25
        won, problems = [], []

        def count():
            try:
                with Server(vault) as server:
                    server.initialize()
                    done = 0
                    while done < increments:
                        [entry] = server.must("agent_recall", prefix="counter")["entries"]
                        seen = entry["revision"]
                        result = server.call("agent_remember", key="counter", value=str(seen + 1),
                                             if_revision=seen)
                        if result.get("isError"):
                            self.assertIn("[conflict]", text_of(result))
                            continue
                        won.append(result["structuredContent"]["data"]["revision"])
                        done += 1
            except Exception as problem:  # noqa: BLE001 - told to the test
                problems.append(problem)

        threads = [threading.Thread(target=count, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        self.assertEqual(sorted(won), list(range(2, 2 + 3 * increments)))
        self.assertEqual(vault.get("counter"), str(1 + 3 * increments).encode())
        vault.check_clean()


if __name__ == "__main__":
    main()
