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

    def call(self, tool, expect_error=False, must_say=(), **arguments):
        """Shows the call and its answer, ends unless that says all of must_say; the structured answer."""
        print(f"-> {tool} {json.dumps(arguments)}")
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(block["text"] for block in result["content"])
        for line in text.splitlines():
            print(f"   {line}".rstrip())
        if bool(result.get("isError")) != expect_error:
            sys.exit("that is not the answer that was expected")
        for words in [must_say] if isinstance(must_say, str) else must_say:
            if words not in text:
                sys.exit(f"the answer does not say: {words}")
        print()
        return result.get("structuredContent")

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def check(holds, what):
    if not holds:
        sys.exit(f"mcp_client: {what}")


def named_values(client):
    client.call("agent_recall", key="db/staging", must_say="PostgreSQL 16")
    client.call("agent_remember", key="decisions/cache",
                value={"choice": "in-process", "ttl_minutes": 15}, tags=["decision"])
    stored = client.call("agent_recall", key="decisions/cache")
    check(stored["data"]["value"] == {"choice": "in-process", "ttl_minutes": 15}, "a value changed its type")
    client.call("agent_recall", must_say="decisions/cache")
    print("The agent asks for the secret. Policy lets agents write secrets, and only the owner read them:")
    client.call("agent_recall", expect_error=True, must_say="Policy Denied", key="deploy/token")
    client.call("agent_forget", key="decisions/cache")


def memories(client):
    question = "How long does a customer stay signed in to the shop?"
    old = "A customer of the shop stays signed in for 30 days."
    new = "A customer of the shop stays signed in for 12 hours, since the audit of May."

    def retain(text):
        return client.call("retain", items=[{"content": text, "tags": ["decision"]}])["items"][0]["id"]

    first = retain(old)
    found = client.call("recall", query=question, limit=1, must_say=old)
    check(found["results"][0]["id"] == first, "the memory that was stored is not the best answer")
    second = retain(new)
    print("The old memory is kept, and recalled no longer:")
    client.call("memory_edit", op="invalidate", id=first, replacement_id=second)
    found = client.call("recall", query=question, limit=1, must_say=new)
    check(found["results"][0]["id"] == second, "the replacement is not the best answer")
    every = client.request("tools/call", {"name": "recall", "arguments": {"query": question, "min_score": 0}})
    ids = [result["id"] for result in every["structuredContent"]["results"]]
    check(first not in ids, "an invalidated memory was recalled")
    client.call("recall", query="sourdough hydration", must_say="No relevant memories found.")
    client.call("get_project_context", max_tokens=250, must_say=["db/staging", new, "Vault: open"])


def main():
    client = Client(sys.argv[1:])
    hello = client.request("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "quickstart", "version": "1"}})
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = [tool["name"] for tool in client.request("tools/list")["tools"]]
    print(f"connected: {hello['serverInfo']['name']} {hello['serverInfo']['version']}, "
          f"protocol {hello['protocolVersion']}, tools: {', '.join(tools)}\n")
    named_values(client)
    memories(client)
    sys.exit(client.close())


if __name__ == "__main__":
    main()
