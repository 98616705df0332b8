"""What the tests of memories share: a server on a vault of its own, whose project bank is `proj`."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from harness import Client, error_code, text_of

RESULT_LIMIT = 48_000
CREDENTIAL = "AKIA" + "Q3EGZZ4RTM7NK2XW"
BANK = "proj"


def result_bytes(result):
    """What a host gets of one call, both forms together."""
    return len(json.dumps(result, separators=(",", ":"), ensure_ascii=False).encode())


class MemoryCase(unittest.TestCase):
    arguments = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.env = harness.init_vault(folder.name)
        self.env["STRONGROOM_BANK"] = BANK
        self.client = self.new_client(*self.arguments)

    def new_client(self, *arguments):
        client = Client(self.env, *arguments)
        self.addCleanup(client.__exit__, None, None, None)
        return client

    def call(self, tool, /, **arguments):
        return self.client.call(tool, arguments)

    def done(self, tool, /, **arguments):
        """The structured form of a call that must succeed."""
        result = self.call(tool, **arguments)
        self.assertFalse(result.get("isError"), result["content"])
        self.assertLess(result_bytes(result), 2 * RESULT_LIMIT)
        return result["structuredContent"]

    def refused(self, tool, code, *words, **arguments):
        result = self.call(tool, **arguments)
        self.assertTrue(result.get("isError"), f"{tool} took {str(arguments)[:200]}")
        text = text_of(result)
        self.assertEqual(error_code(text), code, text[:500])
        for word in words:
            self.assertIn(word, text)
        return text

    def retain(self, *items, **more):
        """Items are texts or objects; their ids come back."""
        items = [{"content": item} if isinstance(item, str) else item for item in items]
        return [item["id"] for item in self.done("retain", items=items, **more)["items"]]

    def found(self, query, **options):
        """The texts that recall finds, best first. No score is too low unless the test says so."""
        options.setdefault("min_score", 0)
        return [r["text"] for r in self.done("recall", query=query, **options)["results"]]
