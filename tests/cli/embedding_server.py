"""A small embedding server for tests: real vectors of 64 dimensions, made by hashing words.

Words that share a synonym group share their direction, so that it knows a meaning that the built-in
model cannot know. It answers in Ollama's and OpenAI's shapes, and counts what it was asked.
"""
import hashlib
import http.server
import json
import re
import threading

DIMENSIONS = 64
GROUPS = [{"zorblax", "ferry", "boat"}, {"quimsy", "payday", "salary"}]


def direction(word):
    for number, group in enumerate(GROUPS):
        if word in group:
            word = f"group {number}"
    digest = hashlib.sha512(word.encode()).digest()
    return [(byte - 127.5) / 127.5 for byte in digest[:DIMENSIONS]]


def embed(text):
    total = [1e-3] * DIMENSIONS
    for word in re.findall(r"[a-z0-9]+", text.lower()):
        total = [a + b for a, b in zip(total, direction(word))]
    norm = sum(value * value for value in total) ** 0.5
    return [value / norm for value in total]


class EmbeddingServer:
    """Serves until close(). `fail_after` texts it answers 503; `gate`, while it is cleared, holds
    every answer back."""

    def __init__(self, port=0):
        self.texts = []
        self.fail_after = None
        self.gate = threading.Event()
        self.gate.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = body["input"]
                outer.gate.wait()
                outer.texts += texts
                failed = outer.fail_after is not None and len(outer.texts) > outer.fail_after
                vectors = [embed(text) for text in texts]
                if failed:
                    reply = {"error": "out of memory"}
                elif self.path == "/v1/embeddings":
                    reply = {"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]}
                else:
                    reply = {"embeddings": vectors}
                data = json.dumps(reply).encode()
                self.send_response(503 if failed else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                try:
                    self.end_headers()
                    self.wfile.write(data)
                except BrokenPipeError:  # the program was killed
                    self.close_connection = True

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/api/embed"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()
