#!/usr/bin/env python3
"""A small MCP client: starts a server, speaks to it over pipes, shows what goes over the wire.

usage: mcp_client.py COMMAND [ARG ...]

Used by scripts/quickstart; standard library only.
"""
import json
import subprocess
import sys


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 0

    def request(self, method, params=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params or {}}
        self.send(message)
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the server closed the connection")
            reply = json.loads(line)
            if reply.get("id") == self.next_id:
                break
        if "error" in reply:
            sys.exit(f"{method} failed: {reply['error']}")
        return reply["result"]

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, tool, expect_error=False, **arguments):
        print(f"-> {tool} {json.dumps(arguments)}")
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        for block in result["content"]:
            for line in block["text"].splitlines() or [""]:
                print(f"   {line}")
        if bool(result.get("isError")) != expect_error:
            sys.exit("that is not the answer that was expected")
        print()

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def main():
    client = Client(sys.argv[1:])
    hello = client.request("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "quickstart", "version": "1"}})
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = [tool["name"] for tool in client.request("tools/list")["tools"]]
    print(f"connected: {hello['serverInfo']['name']} {hello['serverInfo']['version']}, "
          f"protocol {hello['protocolVersion']}, tools: {', '.join(tools)}\n")
    client.call("get_project_context")
    client.call("agent_recall", key="db/staging")
    client.call("agent_remember", key="decisions/cache",
                value={"choice": "in-process", "ttl_minutes": 15}, tags=["decision"])
    client.call("agent_recall", key="decisions/cache")
    client.call("agent_recall")
    print("The agent asks for the secret. Policy lets agents write secrets, and only the owner read them:")
    client.call("agent_recall", expect_error=True, key="deploy/token")
    client.call("agent_forget", key="decisions/cache")
    sys.exit(client.close())


if __name__ == "__main__":
    main()
