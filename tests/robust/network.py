"""No command opens a socket other than AF_UNIX, and none connects to anything."""
import json
import re
import shutil
import subprocess

from harness import CREDENTIAL, RobustTest, Server, main, need_strace

SOCKETS = "socket,socketpair,connect,bind,listen,accept,accept4,sendto,sendmsg,recvfrom,recvmsg"


class Network(RobustTest):
    def setUp(self):
        super().setUp()
        need_strace()
        self.vault = self.new_vault()
        self.log = self.folder / "strace.log"
        self.wrap = ["strace", "-f", "-qq", "-o", str(self.log), "-e", f"trace={SOCKETS}",
                     "-e", "signal=none"]

    def check(self, what):
        for line in self.log.read_text(errors="replace").splitlines():
            call = re.search(r"\b(\w+)\((.*)", line)
            if not call:
                continue
            with self.subTest(what, line=line):
                self.assertIn(call[1], ("socket", "socketpair"))
                self.assertTrue(call[2].startswith(("AF_UNIX", "AF_LOCAL")))
        self.log.unlink()

    def test_strace_sees_sockets(self):
        """The check itself: it must see one where there is one."""
        subprocess.run([*self.wrap, "/usr/bin/python3", "-c",
                        "import socket; socket.socket().close()"], check=True)
        self.assertIn("AF_INET", self.log.read_text())

    def test_commands(self):
        policy = self.vault.must("policy", "show", "--json").json()
        policy["version"] = 2
        (self.vault.work / "policy.json").write_text(json.dumps(policy))
        commands = [
            ["--version"], ["--help"], ["status"], ["set", "k", "-"],
            ["set", "--class", "secret", "s", "-"], ["get", "k"], ["get", "none"], ["ls"],
            ["history", "k"], ["context"], ["verify"], ["bank", "create", "b"], ["bank", "ls"],
            ["policy", "show"], ["policy", "seal", "policy.json"],
            ["policy", "explain", "--principal", "local:mcp", "--tool", "agent_recall"],
            ["slot", "add", "--keyfile", "second.key"], ["slot", "ls"], ["audit", "log"],
            ["audit", "verify"], ["config", "get"], ["config", "set", "revisions", "9"],
            ["connect", "--print", "claude-code"], ["completion", "bash"], ["rm", "--yes", "k"],
            ["mcp"],
        ]
        for command in commands:
            done = self.vault.run(*command, stdin=b"v" if command[0] == "set" else b"",
                                  wrap=self.wrap)
            with self.subTest(" ".join(command)):
                self.assertIn(done.code, (0, 1), done)
            self.check(" ".join(command))
        other = self.folder / "other"
        done = self.vault.run("--vault", str(other), "init", "--keyfile", str(self.vault.key),
                              wrap=self.wrap)
        self.assertEqual(done.code, 0, done)
        self.check("init")

    def test_sessions(self):
        # A project with a remote: its address is a name here, never called.
        if shutil.which("git"):
            for line in ("init -q", "remote add origin https://example.org/a/b.git"):
                subprocess.run(["git", *line.split()], cwd=self.vault.work, check=True,
                               stdout=subprocess.DEVNULL)
        with Server(self.vault, wrap=self.wrap) as server:
            server.initialize()
            server.must("get_project_context")
            server.remember("k", "https://example.org/")
            server.recall("k")
            server.must("agent_recall")
            server.refused("agent_remember", key="a", value=CREDENTIAL)
            server.must("agent_forget", key="k")
        self.check("mcp")


if __name__ == "__main__":
    main()
