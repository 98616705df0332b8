#!/usr/bin/env python3
"""The protocol over stdio, as clients get it wrong and right. Tests that keep a known fault of
other servers away say which in their first line."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from harness import (CAPABILITIES_KEY, Client, LEGACY, MODERN, SERVER_KEY, SUBSCRIPTION_KEY,
                     VERSION_KEY, modern_meta)

LISTS = {"tools/list": "tools", "resources/list": "resources",
         "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}
MEBIBYTE = 1 << 20
MAX_LINE = 16 * MEBIBYTE


def initialize_message(request_id, version=LEGACY):
    return {"jsonrpc": "2.0", "id": request_id, "method": "initialize",
            "params": {"protocolVersion": version, "capabilities": {},
                       "clientInfo": {"name": "tests", "version": "1"}}}


class ProtocolCase(unittest.TestCase):
    """Each test has a folder of its own; the vault is made only where a test needs one."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name
        self.env = harness.vault_environment(self.folder)

    def client(self, *args, **how):
        return Client(self.env, *args, **how)

    def with_vault(self):
        self.env = harness.init_vault(self.folder)


class Framing(ProtocolCase):
    def test_stdout_carries_only_json_rpc(self):
        """Banners and logs on stdout break clients."""
        self.with_vault()
        with self.client() as client:  # the harness checks every line
            client.initialize()
            client.call("agent_remember", {"key": "a", "value": "b"})
            client.send_line("garbage")
            client.call("agent_recall", {"key": "a"})

    def test_answers_come_while_input_stays_open(self):
        """Output that waits in a buffer until the end of input."""
        with self.client() as client:
            for _ in range(3):
                self.assertEqual(client.result("ping"), {})

    def test_content_length_framing_is_not_spoken(self):
        """Header lines of another protocol are ignored, the JSON line among them is served."""
        with self.client() as client:
            client.send_raw(b'Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
            self.assertEqual(client.reply(1)["result"], {})

    def test_carriage_returns_and_blank_lines(self):
        with self.client() as client:
            client.send_raw(b'\r\n\n   \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
            self.assertEqual(client.reply(1)["result"], {})
            client.close()
            self.assertEqual(client.stderr, b"")

    def test_one_byte_writes(self):
        """Reads that take a chunk for a message."""
        with self.client() as client:
            line = json.dumps(initialize_message(1)).encode() + b"\n"
            client._note_request(line)
            for index in range(len(line)):
                client._write(line[index:index + 1])
            self.assertEqual(client.reply(1)["result"]["protocolVersion"], LEGACY)

    def test_many_messages_in_one_write(self):
        with self.client() as client:
            lines = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(300)]
            client.send_raw("".join(json.dumps(line) + "\n" for line in lines).encode())
            for n in range(300):
                self.assertIn("tools", client.reply(n)["result"])

    def test_five_mebibyte_line_in_odd_chunks(self):
        """Fixed line buffers."""
        with self.client() as client:
            line = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "ping",
                               "params": {"filler": "x" * (5 * MEBIBYTE)}}).encode() + b"\n"
            client._note_request(line)
            at, size = 0, 1
            while at < len(line):
                client._write(line[at:at + size])
                at, size = at + size, (size * 7) % 65521 + 1
            self.assertEqual(client.reply(5)["result"], {})

    def padded_ping(self, size, head, tail):
        return head + b"x" * (size - len(head) - len(tail)) + tail

    def test_line_of_the_longest_size(self):
        with self.client() as client:
            client.send_line(self.padded_ping(
                MAX_LINE, b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b'"}}'))
            self.assertEqual(client.reply(1)["result"], {})

    def test_line_one_byte_too_long_with_its_id_first(self):
        with self.client() as client:
            client.send_line(self.padded_ping(
                MAX_LINE + 1, b'{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"', b'"}}'))
            error = client.reply("big")["error"]
            self.assertEqual(error["code"], -32600)
            self.assertIn(str(MAX_LINE), error["message"])
            self.assertEqual(client.result("ping"), {})

    def test_line_one_byte_too_long_with_its_id_last(self):
        """The official SDK writes the id last."""
        with self.client() as client:
            for request_id, text in ((7, b"7"), ("last one", b'"last one"')):
                client.send_line(self.padded_ping(
                    MAX_LINE + 1, b'{"method":"ping","params":{"x":"',
                    b'"},"jsonrpc":"2.0","id":' + text + b"}"))
                self.assertEqual(client.reply(request_id)["error"]["code"], -32600)
            self.assertEqual(client.result("ping"), {})

    def test_line_too_long_without_an_id(self):
        with self.client() as client:
            client.send_line(self.padded_ping(
                3 * MAX_LINE, b'{"jsonrpc":"2.0","method":"x","params":{"x":"', b'","id":4}}'))
            client.send_line(b"y" * (MAX_LINE + 1))
            self.assertEqual(client.result("ping"), {})
            client.close()
            self.assertEqual(len(client.messages), 1)
            self.assertIn(b"too long", client.stderr)

    def test_half_written_lines(self):
        with self.client() as client:
            client.send_line('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent_')
            client.send_line('{"jsonrpc":"2.0","id":2,"method":"pi')
            self.assertEqual(client.result("ping"), {})
            client._write(b'{"jsonrpc":"2.0","id":3,"method":"ping"')
            client.close()
            self.assertEqual(len(client.messages) + len(client.rest()), 1)

    def test_last_line_without_its_end(self):
        with self.client() as client:
            client.send_raw(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
            client.close_input()
            self.assertEqual(client.reply(3)["result"], {})

    def test_slow_reader_gets_everything(self):
        """Partial writes: the answers are larger than any pipe."""
        client = self.client(read_stdout=False)
        with client:
            lines = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(200)]
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            sender = threading.Thread(target=lambda: (client.send_raw(data), client.close_input()))
            sender.start()
            client._start(client._read_stdout)
            for n in range(200):
                self.assertIn("tools", client.reply(n)["result"])
            sender.join()


class Endings(ProtocolCase):
    def test_end_of_input_at_once(self):
        """Servers that stay behind as orphans."""
        done = subprocess.run([harness.binary(), "mcp"], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=harness.WAIT_SECONDS)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_closed_input_descriptor(self):
        done = subprocess.run(["/bin/sh", "-c", 'exec "$0" mcp <&-', harness.binary()], env=self.env,
                              capture_output=True, timeout=harness.WAIT_SECONDS)
        self.assertEqual((done.returncode, done.stdout), (0, b""))

    def test_closed_output_descriptors(self):
        """Without stdout nobody can be served; without stderr only diagnostics are lost."""
        line = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        for closed in (">&-", "2>&-", ">&- 2>&-"):
            done = subprocess.run(["/bin/sh", "-c", f'exec "$0" mcp {closed}', harness.binary()],
                                  env=self.env, input=line, capture_output=True,
                                  timeout=harness.WAIT_SECONDS)
            if closed == "2>&-":
                self.assertEqual(done.returncode, 0)
                self.assertIn(b'"id":1,"result"', done.stdout)
            else:  # an end, clean or as an i/o error
                self.assertIn(done.returncode, (0, 7), closed)
                self.assertNotIn(b'"id":1', done.stderr)

    def test_end_of_input_with_work_in_flight(self):
        self.with_vault()
        with self.client() as client:
            for n in range(50):
                client.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
                    "name": "agent_remember", "arguments": {"key": f"k{n}", "value": "v"}}})
            client.close()
            self.assertEqual(sorted(m["id"] for m in client.rest()), list(range(50)))
        with self.client() as client:
            listing = client.call("agent_recall", {})
            self.assertEqual(len(json.loads(harness.text_of(listing))), 50)

    def test_signals_end_the_server(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number), self.client() as client:
                client.initialize()
                client.process.send_signal(number)
                self.assertEqual(client.wait(), 0)

    def test_signal_lets_work_in_flight_finish(self):
        self.with_vault()
        with self.client() as client:
            client.initialize()
            value = "x" * (4 * MEBIBYTE)
            client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "agent_remember", "arguments": {"key": "big", "value": value}}})
            self.assertEqual(client.result("ping"), {})  # so the line before it was read whole
            client.process.send_signal(signal.SIGTERM)
            self.assertIn("result", client.reply(1))
            self.assertEqual(client.wait(), 0)

    def test_closed_output_ends_the_server(self):
        """SIGPIPE and broken pipes."""
        client = self.client(read_stdout=False)
        with client:
            client.process.stdout.close()
            try:
                client.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
            except BrokenPipeError:
                pass
            self.assertEqual(client.process.wait(timeout=harness.WAIT_SECONDS), 0)

    def test_closed_output_is_noticed_while_idle(self):
        client = self.client(read_stdout=False)
        with client:
            client.process.stdout.close()
            self.assertEqual(client.process.wait(timeout=harness.WAIT_SECONDS), 0)

    def test_stderr_that_nobody_reads(self):
        """A full stderr pipe stops a server that writes to it without care."""
        client = self.client(drain_stderr=False)
        with client:
            for _ in range(20):
                client.send_raw(b"not json\n" * 5000)
            self.assertEqual(client.result("ping"), {})
            client.close()

    def test_stderr_is_quiet_and_never_repeats_input(self):
        with self.client() as client:
            client.send_raw(b'{"hunter2": hunter2}\n' * 5000)
            client.send_line(b'["hunter2"]')
            client.send_line(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"hunter2":1,"hunter2":2}}')
            client.reply(1)
            client.close()
            self.assertLess(len(client.stderr), 4000)
            self.assertNotIn(b"hunter2", client.stderr)


class Messages(ProtocolCase):
    def test_messages_without_id_are_never_answered(self):
        """An answer with id null makes clients close the connection."""
        with self.client() as client:
            for method in ("notifications/initialized", "notifications/nope", "no/such", "tools/list",
                           "tools/call", "ping", "initialize", "server/discover",
                           "subscriptions/listen", "notifications/cancelled"):
                client.notify(method)
                client.notify(method, {"_meta": modern_meta()})
                client.notify(method, {"requestId": 5})
            client.send_line('{"jsonrpc":"1.0","method":"x"}')
            client.send_line('{"method":5}')
            client.send_line("{}")
            client.result("ping")
            client.close()
            self.assertEqual(len(client.messages), 1)

    def test_a_call_without_id_does_nothing(self):
        self.with_vault()
        with self.client() as client:
            client.notify("tools/call", {"name": "agent_remember",
                                         "arguments": {"key": "a", "value": "b"}})
            self.assertEqual(harness.text_of(client.call("agent_recall", {})),
                             "Agent memory is empty")

    def test_ids_are_echoed_exactly(self):
        """Id 0, empty strings and large numbers get lost."""
        ids = ["0", "-1", "1", "9007199254740992", "9007199254740993", "12345678901234567890123",
               '""', '"0"', '"a b"', r'"\u0061"', r'"\ud83d\ude00\n"', '"é"', '"__proto__"']
        client = self.client(read_stdout=False)
        with client:
            for text in ids:
                client._write(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}\n' % text.encode())
                self.assertEqual(client.process.stdout.readline(),
                                 b'{"jsonrpc":"2.0","id":%s,"result":{}}\n' % text.encode())
            for text in ids:
                client._write(b'{"jsonrpc":"2.0","id":%s,"method":"no/such"}\n' % text.encode())
                self.assertTrue(client.process.stdout.readline().startswith(
                    b'{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,' % text.encode()))

    def test_ids_that_are_none_are_dropped(self):
        with self.client() as client:
            for text in ("null", "true", "1.5", "[1]", "{}"):
                client.send_line('{"jsonrpc":"2.0","id":%s,"method":"ping"}' % text)
                client.send_line('{"jsonrpc":"2.0","id":%s,"method":"no/such"}' % text)
            client.result("ping")
            client.close()
            self.assertEqual(len(client.messages), 1)

    def test_unparsable_lines_get_no_answer(self):
        with self.client() as client:
            for line in ("{bad json", "}{", '"text"', "5", "null", "\x00", "{'id':1}", '{"id":1',
                         '{"jsonrpc":"2.0","id":1,"method":"ping"}}',
                         '{"jsonrpc":"2.0","id":1,"method":"ping"} {"id":2}'):
                client.send_line(line)
            client.send_line(b"\xff\xfe{\x00")
            client.result("ping")
            client.close()
            self.assertEqual(len(client.messages), 1)
            self.assertTrue(client.stderr)

    def test_batches_are_ignored(self):
        """Batches exist in 2025-03-26 only; the official servers ignore them."""
        with self.client() as client:
            client.send_line('[{"jsonrpc":"2.0","id":7,"method":"ping"}]')
            client.send_line("[]")
            client.result("ping")
            client.close()
            self.assertEqual(len(client.messages), 1)
            self.assertIn(b"batch", client.stderr)

    def test_answers_of_the_client_are_ignored(self):
        with self.client() as client:
            client.send({"jsonrpc": "2.0", "id": 1, "result": {}})
            client.send({"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "x"}})
            client.result("ping")
            client.close()
            self.assertEqual(len(client.messages), 1)

    def test_malformed_requests(self):
        table = [
            ('{"id":1,"method":"ping"}', -32600),
            ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
            ('{"jsonrpc":2.0,"id":1,"method":"ping"}', -32600),
            ('{"jsonrpc":"2.0","id":1}', -32600),
            ('{"jsonrpc":"2.0","id":1,"method":5}', -32600),
            ('{"jsonrpc":"2.0","id":1,"method":""}', -32601),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nope"}}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{}}', -32601),
        ]
        with self.client() as client:
            for line, code in table:
                with self.subTest(line):
                    client.send_line(line)
                    self.assertEqual(client.reply(1)["error"]["code"], code)

    def test_broken_json_whose_id_can_be_told(self):
        """Strict reading must not leave the sender waiting."""
        bodies = {
            "a duplicate member": b'{"a":1,"a":2}',
            "not valid UTF-8": b'{"a":"\xff"}',
            "a lone surrogate": b'{"a":"\\ud800"}',
            "nested deeper": b'{"a":' + b"[" * 100 + b"]" * 100 + b"}",
            "nested deeper by far": b"[" * 100000 + b"]" * 100000,
            "not a number": b'{"a":NaN}',
            "infinite": b'{"a":-Infinity}',
            "an octal number": b'{"a":017}',
            "a raw control character": b'{"a":"\t"}',
            "a comment": b'{"a":1 /* no */}',
        }
        with self.client() as client:
            for n, (name, params) in enumerate(bodies.items()):
                with self.subTest(name):
                    client.send_line(b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":%s}' %
                                     (n, params))
                    error = client.reply(n)["error"]
                    self.assertEqual(error["code"], -32600)
                    self.assertTrue(error["message"].startswith("Invalid Request: "))
            client.send_line(b'{"method":"ping","params":{"a":NaN},"jsonrpc":"2.0","id":"tail"}')
            self.assertEqual(client.reply("tail")["error"]["code"], -32600)
            self.assertEqual(client.result("ping"), {})

    def test_broken_json_whose_id_is_ambiguous(self):
        with self.client() as client:
            client.send_line('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}')
            client.send_line(b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}')
            client.send_line(r'{"jsonrpc":"2.0","id":"\ud800","method":"ping"}')
            client.send_line('{"jsonrpc":"2.0","method":"x","params":{"id":1,"id":2}}')
            client.result("ping")
            client.close()
            self.assertEqual(len(client.messages), 1)

    def test_unknown_members_are_tolerated(self):
        with self.client() as client:
            client.send_line('{"jsonrpc":"2.0","id":1,"method":"ping","extension":{"a":[1]},"x":null}')
            self.assertEqual(client.reply(1)["result"], {})

    def test_output_is_valid_utf8_for_any_input(self):
        """Invalid text that is echoed poisons a session."""
        with self.client() as client:
            for uri in ("x://\u202e\u0000\u001f\u007f\ufffe", "x://\U0001f600", "x://" + "é" * 3000):
                error = client.error("resources/read", {"uri": uri})
                self.assertEqual(error["data"], {"uri": uri})


class Cancelling(ProtocolCase):
    def test_late_and_unknown_cancels_are_ignored(self):
        """An answer after a cancel makes clients reconnect; so does an answer to the cancel."""
        with self.client() as client:
            client.result("ping", id=1)
            for request_id in (1, "1", 99, "nope", None, [1]):
                client.notify("notifications/cancelled", {"requestId": request_id, "reason": "x"})
            client.notify("notifications/cancelled")
            client.notify("notifications/cancelled", {})
            self.assertEqual(client.result("ping", id=1), {})
            client.close()
            self.assertEqual(len(client.messages), 2)

    def test_cancel_among_many(self):
        """Each request is answered once or, if its cancel came in time, not at all."""
        self.with_vault()
        with self.client() as client:
            lines = []
            for n in range(200):
                lines.append({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
                    "name": "agent_remember", "arguments": {"key": f"k{n}", "value": "v"}}})
            for n in range(100, 200):
                lines.append({"jsonrpc": "2.0", "method": "notifications/cancelled",
                              "params": {"requestId": n}})
            client.send_raw("".join(json.dumps(line) + "\n" for line in lines).encode())
            client.close()
            answered = [m["id"] for m in client.rest()]
            self.assertEqual(len(set(answered)), len(answered))
            self.assertTrue(set(range(100)) <= set(answered) <= set(range(200)))

    def test_initialize_cannot_be_cancelled(self):
        with self.client() as client:
            client.send(initialize_message(1))
            client.notify("notifications/cancelled", {"requestId": 1})
            self.assertIn("result", client.reply(1))

    def test_ping_is_answered_while_calls_wait(self):
        """A serial loop answers neither pings nor cancels during a call."""
        self.with_vault()
        with self.client() as client:
            for n in range(100):
                client.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
                    "name": "agent_remember", "arguments": {"key": f"k{n}", "value": "v"}}})
            self.assertEqual(client.result("ping"), {})


class Legacy(ProtocolCase):
    def test_versions(self):
        """Versions echoed blindly, or always the same."""
        table = {"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18",
                 "2025-11-25": "2025-11-25", "2024-10-07": LEGACY, "1999-01-01": LEGACY,
                 "2026-07-28": LEGACY, "2099-12-31": LEGACY, "": LEGACY, "latest": LEGACY}
        for asked, answered in table.items():
            with self.subTest(asked), self.client() as client:
                self.assertEqual(client.initialize(asked)["protocolVersion"], answered)
                self.assertIn("tools", client.result("tools/list"))

    def test_initialize_without_a_version(self):
        with self.client() as client:
            for params in (None, {}, {"protocolVersion": None}, {"protocolVersion": 5}):
                self.assertEqual(client.result("initialize", params)["protocolVersion"], LEGACY)

    def test_ping_comes_first(self):
        with self.client() as client:
            self.assertEqual(client.result("ping"), {})
            client.initialize()
            self.assertEqual(client.result("ping"), {})

    def test_any_first_message_is_survived(self):
        """Servers that exit or hang when the first message is not initialize."""
        firsts = ['{"jsonrpc":"2.0","id":1,"method":"no/such"}', "garbage", "[]", "",
                  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
                  '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
                  '{"jsonrpc":"2.0","method":"notifications/initialized"}']
        for first in firsts:
            with self.subTest(first), self.client() as client:
                client.send_line(first)
                self.assertEqual(client.initialize()["protocolVersion"], LEGACY)

    def test_initialize_result(self):
        with self.client() as client:
            result = client.initialize()
            self.assertEqual(result["capabilities"], {"tools": {}, "resources": {}, "prompts": {}})
            self.assertEqual(result["serverInfo"]["name"], "strongroom")
            self.assertLessEqual(len(result["instructions"]), 2048)

    def test_every_declared_capability_is_served(self):
        """Capabilities without a handler."""
        self.with_vault()
        for modern in (False, True):
            with self.subTest(modern=modern), self.client() as client:
                how = {"modern": modern}
                for method, member in LISTS.items():
                    self.assertTrue(client.result(method, **how)[member], method)
                for resource in client.result("resources/list", **how)["resources"]:
                    read = client.result("resources/read", {"uri": resource["uri"]}, **how)
                    self.assertEqual(read["contents"][0]["uri"], resource["uri"])
                    self.assertEqual(read["contents"][0]["mimeType"], resource["mimeType"])
                for prompt in client.result("prompts/list", **how)["prompts"]:
                    messages = client.result("prompts/get", {"name": prompt["name"]}, **how)
                    self.assertTrue(messages["messages"])

    def test_what_is_not_declared_is_refused(self):
        with self.client() as client:
            for method in ("logging/setLevel", "resources/subscribe", "resources/unsubscribe",
                           "completion/complete", "tasks/list", "roots/list", "no/such",
                           "sampling/createMessage", "rpc.discover", "__proto__", "tools/List"):
                self.assertEqual(client.error(method, {})["code"], -32601, method)

    def test_cursors_are_refused(self):
        with self.client() as client:
            for method in LISTS:
                self.assertEqual(client.error(method, {"cursor": "bogus"})["code"], -32602)
                self.assertEqual(client.error(method, {"cursor": 5})["code"], -32602)
                client.result(method, {"cursor": None})

    def test_unknown_tool_and_bad_arguments(self):
        with self.client() as client:
            error = client.error("tools/call", {"name": "nope", "arguments": {}})
            self.assertEqual((error["code"], error["message"]), (-32602, "Unknown tool"))
            for arguments in ([], "x", 5, True):
                error = client.error("tools/call", {"name": "agent_recall", "arguments": arguments})
                self.assertEqual(error["code"], -32602)

    def test_unknown_resource(self):
        with self.client() as client:
            for modern in (False, True):
                error = client.error("resources/read", {"uri": "x://none"}, modern=modern)
                self.assertEqual((error["code"], error["data"]), (-32602, {"uri": "x://none"}))

    def test_lists_are_the_same_every_time(self):
        with self.client() as one, self.client() as two:
            for method in LISTS:
                self.assertEqual(one.result(method), one.result(method))
                self.assertEqual(one.result(method), two.result(method))


class Modern(ProtocolCase):
    def test_discover(self):
        with self.client() as client:
            result = client.result("server/discover", modern=True)
            self.assertEqual(result["supportedVersions"], [MODERN])
            self.assertEqual(result["capabilities"], {"tools": {}, "resources": {}, "prompts": {}})
            self.assertEqual(result["_meta"][SERVER_KEY]["name"], "strongroom")
            self.assertEqual(result["instructions"], client.initialize()["instructions"])

    def test_envelope(self):
        broken = [
            ({CAPABILITIES_KEY: {}}, -32602),
            ({VERSION_KEY: MODERN}, -32602),
            ({VERSION_KEY: 5, CAPABILITIES_KEY: {}}, -32602),
            ({VERSION_KEY: MODERN, CAPABILITIES_KEY: []}, -32602),
            ({VERSION_KEY: MODERN, CAPABILITIES_KEY: None}, -32602),
            ({VERSION_KEY: MODERN, CAPABILITIES_KEY: {}, harness.CLIENT_KEY: 5}, -32602),
            ({VERSION_KEY: MODERN, CAPABILITIES_KEY: {},
              "io.modelcontextprotocol/logLevel": "loud"}, -32602),
            ({VERSION_KEY: "2027-01-01", CAPABILITIES_KEY: {}}, -32022),
            ({VERSION_KEY: LEGACY, CAPABILITIES_KEY: {}}, -32022),
            ({VERSION_KEY: "2027-01-01"}, -32022),
        ]
        with self.client() as client:
            for method in ("tools/list", "server/discover", "tools/call", "no/such", "ping"):
                for meta, code in broken:
                    with self.subTest(method=method, meta=meta):
                        error = client.error(method, {"_meta": meta})
                        self.assertEqual(error["code"], code)
                        if code == -32022:
                            self.assertEqual(error["data"], {"supported": [MODERN],
                                                             "requested": meta[VERSION_KEY]})

    def test_methods_of_the_modern_era_need_the_envelope(self):
        with self.client() as client:
            for method in ("server/discover", "subscriptions/listen"):
                for params in (None, {}, {"_meta": {}}, {"_meta": {"progressToken": 1}}):
                    self.assertEqual(client.error(method, params)["code"], -32602)

    def test_removed_methods(self):
        with self.client() as client:
            for method in ("ping", "initialize", "logging/setLevel", "resources/subscribe",
                           "resources/unsubscribe", "completion/complete", "no/such"):
                self.assertEqual(client.error(method, {}, modern=True)["code"], -32601, method)

    def test_other_meta_is_no_envelope(self):
        with self.client() as client:
            for meta in ({}, {"progressToken": 5}, {"x.y/z": 1}):
                self.assertIn("tools", client.result("tools/list", {"_meta": meta}))

    def test_faults_are_the_same_as_legacy(self):
        with self.client() as client:
            self.assertEqual(client.error("tools/call", {"name": "nope"}, modern=True)["code"], -32602)
            self.assertEqual(client.error("tools/list", {"cursor": "x"}, modern=True)["code"], -32602)
            self.assertEqual(client.error("prompts/get", {"name": "x"}, modern=True)["code"], -32602)


class Eras(ProtocolCase):
    def test_discover_and_initialize_race(self):
        """Servers that pin the era of the first message lose such clients."""
        discover = {"jsonrpc": "2.0", "id": 0, "method": "server/discover",
                    "params": {"_meta": modern_meta()}}
        for order in ((discover, initialize_message(1)), (initialize_message(1), discover)):
            with self.client() as client:
                client.send_raw("".join(json.dumps(m) + "\n" for m in order).encode())
                self.assertEqual(client.reply(0)["result"]["supportedVersions"], [MODERN])
                self.assertEqual(client.reply(1)["result"]["protocolVersion"], LEGACY)

    def test_eras_alternate_on_one_connection(self):
        self.with_vault()
        with self.client() as client:
            for n in range(3):
                client.call("agent_remember", {"key": f"m{n}", "value": "v"}, modern=True)
                client.initialize("2025-03-26")
                client.call("agent_recall", {"key": f"m{n}"})
                client.result("tools/list", modern=True)
                client.result("ping")

    def test_start_touches_nothing(self):
        """Clients probe on throw-away processes: no lock, no key, no file before the first call."""
        before = sorted(os.listdir(self.folder))
        with self.client() as client:
            client.initialize()
            client.result("server/discover", modern=True)
            for method in LISTS:
                client.result(method)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        for name in before:
            self.assertEqual(os.listdir(os.path.join(self.folder, name)), [], name)


class Subscriptions(ProtocolCase):
    def listen(self, client, request_id, notifications=None):
        client.send({"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen",
                     "params": {"_meta": modern_meta(), "notifications": notifications or {}}})
        return client.wait_for(lambda m: m.get("method") ==
                               "notifications/subscriptions/acknowledged")

    def test_acknowledged_with_nothing_honoured(self):
        wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True,
                  "resourceSubscriptions": ["strongroom://status"]}
        with self.client() as client:
            for request_id in (7, "listen"):
                params = self.listen(client, request_id, wanted)["params"]
                self.assertEqual(params["notifications"], {})
                self.assertEqual(params["_meta"], {SUBSCRIPTION_KEY: request_id})
            client.close_input()
            for request_id in (7, "listen"):
                result = client.reply(request_id)["result"]
                self.assertEqual(result["_meta"][SUBSCRIPTION_KEY], request_id)
            self.assertEqual(client.wait(), 0)

    def test_stays_open_until_cancelled(self):
        with self.client() as client:
            self.listen(client, 7)
            self.assertIn("tools", client.result("tools/list", modern=True))
            client.notify("notifications/cancelled", {"requestId": 7})
            client.close()
            self.assertEqual(len(client.messages), 2)
            self.assertEqual(client.rest(), [])

    def test_malformed_filters(self):
        with self.client() as client:
            for notifications in (5, [], {"toolsListChanged": 1}, {"resourceSubscriptions": "x"},
                                  {"resourceSubscriptions": [1]}):
                error = client.error("subscriptions/listen", {"notifications": notifications},
                                     modern=True)
                self.assertEqual(error["code"], -32602)
            self.assertEqual(client.error("subscriptions/listen", modern=True)["code"], -32602)
            client.close()
            self.assertEqual(client.rest(), [])

    def test_many_subscriptions_are_bounded(self):
        with self.client() as client:
            for n in range(300):
                self.listen(client, n)
            client.close_input()
            for n in range(300):
                self.assertEqual(client.reply(n)["result"]["_meta"][SUBSCRIPTION_KEY], n)
            self.assertEqual(client.wait(), 0)


if __name__ == "__main__":
    unittest.main()
