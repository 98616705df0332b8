"""Planted markers: names, values, tags, operation ids and bank names go through every way of
writing, also the ways that are refused, and none of their bytes is found outside the replies."""
import base64
import json
import os
import re
import resource
import secrets
import signal
import subprocess

from harness import CREDENTIAL, RobustTest, Server, binary, main, need_strace

WRITES = ("write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,rename,renameat,renameat2,link,"
          "symlink,mkdir,mkdirat,openat,open,creat,memfd_create,prctl,setxattr,fsetxattr")


class Markers:
    """32 bytes each, told apart by what they stand for."""

    def __init__(self):
        self.all = {}

    def __call__(self, what):
        if what not in self.all:
            self.all[what] = "mk" + secrets.token_hex(15)
        return self.all[what]

    def found(self, data):
        """What of them is in there: as it is, in hex, in base64, in UTF-16."""
        hits = set()
        for what, marker in self.all.items():
            raw = marker.encode()
            forms = [raw, raw.hex().encode(), raw.hex().upper().encode(),
                     marker.encode("utf-16-le")]
            forms += [base64.b64encode(b"x" * skip + raw)[4:-4] for skip in range(3)]
            if any(form in data for form in forms):
                hits.add(what)
        return hits


class PlantedMarkers(RobustTest):
    def setUp(self):
        super().setUp()
        self.vault = self.new_vault()
        self.mark = Markers()
        self.wrap = []
        self.number = 0

    # ---- planting

    def cli(self, *args, stdin="", codes=(0,)):
        done = self.vault.run(*args, stdin=stdin.encode(), wrap=self.tracing())
        self.assertIn(done.code, codes, f"{args[0]}: {done}")
        # Only what is typed may be in an error text, never a value.
        self.assertEqual({what for what in self.mark.found(done.err.encode()) if "value" in what},
                         set())
        return done

    def tracing(self):
        if not self.wrap:
            return []
        self.number += 1
        return [*self.wrap, "-o", str(self.folder / f"strace.{self.number}")]

    def plant_with_commands(self):
        mark = self.mark
        self.cli("set", "--tag", mark("cli tag"), "--operation-id", mark("cli operation"), "--",
                 mark("cli key"), "-", stdin=mark("cli value"))
        self.cli("set", mark("cli key"), "-", stdin=mark("cli second value"))
        self.cli("set", mark("cli argv key"), mark("cli argv value"))
        self.cli("set", "--value-json", "j", "-", stdin=json.dumps({mark("cli json value"): [1]}))
        self.cli("set", "large", "-", stdin=(mark("cli large value") + "\n") * 5000)
        self.cli("set", "--class", "secret", mark("cli secret key"), "-",
                 stdin=mark("cli secret value"))
        self.cli("set", "--ttl", "1000", "expiring", "-", stdin=mark("cli expiring value"))
        self.cli("set", "gone", "-", stdin=mark("cli forgotten value"))
        self.cli("rm", "--yes", "gone")
        self.cli("bank", "create", mark("cli bank"))
        self.cli("--bank", mark("cli bank"), "set", "k", "-", stdin=mark("cli value in a bank"))
        # Refused: a credential, a stale revision, bad JSON, an unknown bank, a policy.
        self.cli("set", "k", "-", stdin=f"{mark('cli refused value')} {CREDENTIAL}", codes=(4,))
        self.cli("set", f"{mark('cli refused key')} {CREDENTIAL}", "-", stdin="v", codes=(4,))
        self.cli("set", "--if-revision", "9", "k", "-", stdin=mark("cli stale value"), codes=(6,))
        self.cli("set", "--value-json", "k", "-", stdin="{" + mark("cli bad value"), codes=(2,))
        self.cli("--bank", mark("cli no bank"), "set", "k", "-", stdin=mark("cli lost value"),
                 codes=(1,))
        self.cli("--read-only", "set", "k", "-", stdin=mark("cli read-only value"), codes=(4,))
        # Reading.
        self.cli("get", mark("cli key"))
        self.cli("get", mark("cli secret key"))
        self.cli("get", mark("cli key that is not there"), codes=(1,))
        for args in (["ls"], ["ls", mark("cli key")[:20]], ["history", mark("cli key")],
                     ["context"], ["audit", "log", "--json"], ["verify"], ["bank", "ls"]):
            self.cli(*args)

    def plant_with_a_server(self):
        mark = self.mark
        self.assertEqual(self.vault.seal({"id": "hr", "effect": "forbid", "principal": "local:mcp",
                                          "key": "denied/*"}).code, 0)
        with Server(self.vault, wrap=self.tracing()) as server:
            server.initialize()
            server.must("agent_remember", key=mark("mcp key"), value=mark("mcp value"),
                        tags=[mark("mcp tag")], operation_id=mark("mcp operation"))
            server.must("agent_remember", key=mark("mcp key"), value=mark("mcp second value"))
            server.must("agent_remember", key="j2", value={mark("mcp json value"): [None, 1.5]})
            server.must("agent_remember", key="large2",
                        value=(mark("mcp large value") + "\n") * 5000)
            server.must("agent_remember", key=mark("mcp secret key"),
                        value=mark("mcp secret value"), **{"class": "secret"})
            server.must("agent_remember", key="gone2", value=mark("mcp forgotten value"))
            server.must("agent_forget", key="gone2")
            server.must("agent_remember", key="k", bank=mark("cli bank"),
                        value=mark("mcp value in a bank"))
            refused = [
                {"key": f"denied/{mark('mcp denied key')}", "value": mark("mcp denied value")},
                {"key": "k", "value": f"{mark('mcp refused value')} {CREDENTIAL}"},
                {"key": "k", "value": "v", "tags": [f"{mark('mcp refused tag')} {CREDENTIAL}"]},
                {"key": "k", "value": mark("mcp stale value"), "if_revision": 9},
                {"key": "k", "value": mark("mcp lost value"), "bank": mark("mcp no bank")},
                {"key": "k" * 1025, "value": mark("mcp oversized value")},
                {"key": mark("mcp key"), "value": mark("mcp other value"),
                 "operation_id": mark("mcp operation")},
            ]
            for arguments in refused:
                text = server.refused("agent_remember", **arguments)
                self.assertEqual({what for what in mark.found(text.encode()) if "value" in what},
                                 set())
            server.request("tools/call", {"name": "agent_remember", "arguments": {
                "key": "k", "value": "v", mark("mcp unknown member value"): 1}})
            server.recall(mark("mcp key"))
            server.refused("agent_recall", key=mark("mcp secret key"))
            server.recall(mark("mcp key that is not there"))
            server.keys()
            server.must("agent_recall", prefix=mark("mcp key")[:20])
            server.must("get_project_context")
            self.look_at(server.process.pid)

    def item(self, where):
        """An item of retain with a marker in every member that takes text."""
        mark = self.mark
        return {"content": f"{mark(where + ' memory value')} is what was said",
                "context": mark(where + " context value"), "speaker": mark(where + " speaker"),
                "tags": [mark(where + " memory tag")], "entities": [mark(where + " entity")],
                "metadata": {mark(where + " metadata name"): mark(where + " metadata value")},
                "document_id": mark(where + " document"), "position": 1, "update_mode": "append"}

    def plant_memories_with_commands(self):
        mark = self.mark
        (self.vault.folder / "in").mkdir(exist_ok=True)
        self.cli("retain", "--jsonl", "-", "--source", mark("cli source"),
                 stdin=json.dumps(self.item("cli")))
        self.cli("retain", "-", "--operation-id", mark("cli retain operation"), stdin="a text")
        # Enough of them for segments, long ones for passages.
        many = [{"content": f"{mark('cli memory value in a segment')} {number}",
                 "tags": [mark("cli tag in a segment")]} for number in range(600)]
        many.append({"content": f"{mark('cli long memory value')} some words. " * 60})
        many.append({"content": f"{mark('cli very long memory value')} some words. " * 400})
        self.cli("retain", "--jsonl", "-", stdin="".join(json.dumps(one) + "\n" for one in many))
        ids = [json.loads(self.cli("retain", "-", "--json", stdin=text).out)["id"] for text in (
            f"{mark('cli first memory value')} to change",
            f"{mark('cli second memory value')} goes",
            f"{mark('cli third memory value')} is invalid")]
        self.cli("edit", ids[0], "--content", "-", "--tag", mark("cli new tag"), "--metadata",
                 f"{mark('cli new metadata name')}={mark('cli new metadata value')}",
                 stdin=f"{mark('cli changed memory value')} now")
        self.cli("edit", ids[1], "--forget", "--yes")
        self.cli("edit", ids[2], "--invalidate", "--replacement", ids[0], "--yes")
        self.cli("edit", ids[2], "--restore")
        self.cli("link", ids[0], mark("cli linked entity"), mark("cli relation"))
        # Refused.
        self.cli("retain", "-", codes=(4,),
                 stdin=f"{mark('cli refused memory value')} {CREDENTIAL}")
        self.cli("retain", "--jsonl", "-", codes=(2,),
                 stdin=json.dumps({"content": mark("cli bad memory value"), "importance": 7}))
        self.cli("edit", ids[0], "--content", "-", codes=(4,),
                 stdin=f"{mark('cli refused change value')} {CREDENTIAL}")
        # Reading.
        self.cli("recall", f"what about {mark('cli query')} {mark('cli memory value')}", "--trace")
        self.cli("recall", "--batch", "-", stdin=json.dumps(
            {"qid": "1", "query": mark("cli batch query"), "tags": [mark("cli asked tag")]}))
        self.cli("recall", "q", "--tag-groups",
                 json.dumps([{"not": {"tags": [mark("cli group tag")]}}]))
        for args in (["show", ids[0]], ["show", "--document", mark("cli document")], ["memories"],
                     ["documents"], ["tags"], ["context"], ["verify"],
                     ["show", mark("cli id that is not there")]):
            self.cli(*args, codes=(0, 1, 2))

    def plant_memories_with_a_server(self):
        mark = self.mark
        with Server(self.vault, wrap=self.tracing()) as server:
            server.initialize()
            stored = server.must("retain", items=[self.item("mcp")], source=mark("mcp source"),
                                 operation_id=mark("mcp retain operation"))
            memory = stored["items"][0]["id"]
            self.assertIn(mark("mcp memory value"), json.dumps(
                server.must("recall", query=f"{mark('mcp query')} {mark('mcp memory value')}")))
            server.must("recall", query=mark("mcp other query"), tags=[mark("mcp asked tag")])
            server.must("memory_edit", id=memory, op="update",
                        content=f"{mark('mcp changed memory value')} now")
            server.refused("retain", items=[{"content": mark("mcp bad value"), "importance": 9}])
            server.call("retain", items=[
                {"content": f"{mark('mcp refused memory value')} {CREDENTIAL}"}])
            server.must("memory_edit", id=memory, op="invalidate")
            server.must("memory_edit", id=memory, op="forget")
            self.look_at(server.process.pid)

    # ---- looking

    def look_at(self, pid):
        """A running server: its environment, its arguments, and that it can leave no core."""
        children = [pid]
        for path in (f"/proc/{pid}/task/{pid}/children",):
            with open(path, "rb") as file:
                children += [int(child) for child in file.read().split()]
        for process in children:
            for name in ("environ", "cmdline"):
                with open(f"/proc/{process}/{name}", "rb") as file:
                    self.assertEqual(self.mark.found(file.read()), set(), name)
        with open(f"/proc/{children[-1]}/limits", encoding="ascii") as file:
            core = [line for line in file if line.startswith("Max core file size")][0]
        self.assertEqual(core.split()[4:6], ["0", "0"])

    def check_files(self):
        looked = 0
        for path in self.folder.rglob("*"):
            if path.name.startswith("strace."):
                continue
            self.assertEqual(self.mark.found(str(path).encode()), set(), "in a file's name")
            if path.is_file():
                looked += 1
                self.assertEqual(self.mark.found(path.read_bytes()), set(), path.name)
                self.assertNotIn(CREDENTIAL.encode(), path.read_bytes(), path.name)
        self.assertGreater(looked, 8)

    def test_files(self):
        self.plant_with_commands()
        self.plant_with_a_server()
        self.plant_memories_with_commands()
        self.plant_memories_with_a_server()
        self.assertGreater(len(self.mark.all), 80)
        self.check_files()
        # The markers are where they should be, or this test would find nothing for no reason.
        self.assertEqual(self.vault.get(self.mark("cli argv key")).decode(),
                         self.mark("cli argv value"))
        self.assertIn(self.mark("mcp key"), self.vault.keys())

    def test_calls(self):
        """The same under strace: what is written, where, and under which names."""
        need_strace()
        self.wrap = ["strace", "-f", "-qq", "-y", "-s", "1000000", "-e", "signal=none", "-e",
                     f"trace={WRITES}"]
        self.plant_with_commands()
        self.plant_with_a_server()
        self.plant_memories_with_commands()
        self.plant_memories_with_a_server()
        self.check_files()
        calls = 0
        for log in self.folder.glob("strace.*"):
            for line in log.read_bytes().splitlines():
                call = re.match(rb"\d+ +(\w+)\((.*)", line)
                if not call:
                    continue
                calls += 1
                # Standard output and error are the reply: pipes of the caller.
                reply = call[1] in (b"write", b"writev") and re.match(rb"\d+<pipe:", call[2])
                if not reply:
                    self.assertEqual(self.mark.found(call[2]), set(), line[:200])
                if call[1] in (b"openat", b"open") and b"O_CREAT" in call[2]:
                    self.assertIn(str(self.folder).encode(), self.absolute(call[2]), line[:200])
        self.assertGreater(calls, 500)

    def absolute(self, arguments):
        """The path of an open call; relative ones are below the working folder."""
        path = re.search(rb'"([^"]*)"', arguments)[1]
        return path if path.startswith(b"/") else str(self.vault.work).encode() + b"/" + path

    def test_arguments(self):
        """A value on the command line is gone from it before the vault is opened; keys stay."""
        read, write = os.pipe()
        env = {name: value for name, value in self.vault.env.items()
               if name != "STRONGROOM_KEYFILE"}
        mark = self.mark
        process = subprocess.Popen(
            [binary(), "--passphrase-fd", str(read), "set", mark("key"), mark("value")], env=env,
            cwd=self.vault.work, pass_fds=[read], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            os.close(read)
            asleep = 0
            while asleep < 100 and process.poll() is None:  # waits for the passphrase
                with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
                asleep = asleep + 1 if state == "S" else 0
            with open(f"/proc/{process.pid}/cmdline", "rb") as file:
                self.assertEqual(mark.found(file.read()), {"key"})
            with open(f"/proc/{process.pid}/environ", "rb") as file:
                self.assertEqual(mark.found(file.read()), set())
        finally:
            os.close(write)
            process.wait()
        self.assertEqual(process.returncode, 2)  # an empty passphrase

    def test_no_core(self):
        """Killed by a signal that dumps, where dumping is allowed, it leaves no core."""
        def allow_core():
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        server = Server(self.vault, preexec=allow_core).initialize()
        server.remember(self.mark("key"), self.mark("value"))
        server.process.send_signal(signal.SIGABRT)
        server.process.wait()
        self.assertEqual(server.process.returncode, -signal.SIGABRT)
        server.kill()
        self.assertEqual([path for path in self.folder.rglob("*core*")], [])
        self.check_files()


if __name__ == "__main__":
    main()
