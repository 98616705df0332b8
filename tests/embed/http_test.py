#!/usr/bin/env python3
"""The embedder behind HTTP against a server on loopback that is right, wrong, slow and hostile."""
import gzip
import json
import socket
import unittest

from http_case import PATHS, SECRET, SHAPES, TOKEN, HttpCase
from http_server import (DIMENSIONS, JSON_TYPE, Request, endless, head, ollama, openai, raw, right,
                         vector, vectors_of, whole)


class Right(HttpCase):
    def test_both_shapes(self):
        for shape in SHAPES:
            with self.subTest(shape):
                server = self.serve(right(shape))
                asker = self.ask()
                model = self.model(asker, server, shape)
                self.assertEqual(model["dimensions"], DIMENSIONS)
                self.assertRegex(model["model_id"], "^http-[0-9a-f]{16}$")
                texts = ["one", "two\n\"quoted\" \\ \x01", "drei: äöü 日本"]
                told = asker.tell(embed=texts, side="passage")
                self.assertEqual(told["vectors"], [vectors_of(text) for text in texts])
                self.assertEqual(server.requests[-1].line, f"POST {PATHS[shape]} HTTP/1.1")
                self.assertEqual(server.requests[-1].json(), {"model": "m", "input": texts})

    def test_any_order(self):
        def respond(request, stream):
            answer = openai(request.texts())
            answer["data"].reverse()
            stream.write(whole(json.dumps(answer, indent=4), kind="Application/JSON ; charset=utf-8"))
            return True
        asker = self.ask()
        self.model(asker, self.serve(respond))
        texts = [f"text {i}" for i in range(64)]
        told = asker.tell(embed=texts, side="query")
        self.assertEqual(told["vectors"], [vectors_of(text) for text in texts])

    def test_chunked(self):
        def respond(request, stream):
            body = json.dumps(ollama(request.texts())).encode()
            stream.write(head(Transfer_Encoding="chunked"))
            for at in range(0, len(body), 100):
                part = body[at:at + 100]
                stream.write(b"%x\r\n%s\r\n" % (len(part), part))
            stream.write(b"0\r\n\r\n")
            return True
        asker = self.ask()
        self.model(asker, self.serve(respond), "ollama")
        self.assertEqual(asker.tell(embed=["a"], side="query")["vectors"], [vectors_of("a")])

    def test_what_is_sent(self):
        server = self.serve(right("ollama"))
        asker = self.ask()
        self.model(asker, server, "ollama")
        self.assertEqual([len(r.texts()) for r in server.requests], [2, 1])
        for request in server.requests:
            self.assertEqual(set(request.headers), {"host", "user-agent", "content-type", "accept",
                                                    "content-length"})
            self.assertEqual(request.headers["content-type"], JSON_TYPE)

    def test_prefixes_and_cut(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server, query_prefix="query: ", passage_prefix="passage \"p\": ",
                   max_text_bytes=101)
        asker.tell(embed=["ä" * 100], side="query")
        self.assertEqual(server.requests[-1].texts(), ["query: " + "ä" * 50])
        asker.tell(embed=["x" * 102, "y"], side="passage")
        self.assertEqual(server.requests[-1].texts(),
                         ["passage \"p\": " + "x" * 101, "passage \"p\": y"])

    def test_default_cut(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        asker.tell(embed=["x" * 8001], side="query")
        self.assertEqual(server.requests[-1].texts(), ["x" * 8000])

    def test_batches(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        del server.requests[:]
        texts = [f"t{i}" for i in range(150)]
        told = asker.tell(embed=texts, side="passage")
        self.assertEqual(told["vectors"], [vectors_of(text) for text in texts])
        self.assertEqual([len(r.texts()) for r in server.requests], [64, 64, 22])
        del server.requests[:]
        texts = [f"{i:02}" + "x" * 7998 for i in range(40)]  # 32 of them are 256,000 bytes
        told = asker.tell(embed=texts, side="passage")
        self.assertEqual(told["vectors"], [vectors_of(text) for text in texts])
        self.assertEqual([len(r.texts()) for r in server.requests], [32, 8])

    def test_nothing_to_say(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        del server.requests[:]
        told = asker.tell(embed=["", "a", " \n\t"], side="passage")
        self.assertEqual(told["vectors"], [[], vectors_of("a"), []])
        self.assertEqual([r.texts() for r in server.requests], [["a"]])
        self.assertEqual(asker.tell(embed=["", " "], side="query"), {"vectors": [[], []]})
        self.assertEqual(len(server.requests), 1)

    def test_largest_index(self):
        """64 vectors of 1,024 dimensions with all their digits, a line each."""
        def respond(request, stream):
            stream.write(whole(json.dumps(openai(request.texts(), 1024), indent=8)))
            return True
        asker = self.ask()
        model = self.model(asker, self.serve(respond))
        self.assertEqual(model["dimensions"], 1024)
        texts = [f"text {i}" for i in range(64)]
        told = asker.tell(embed=texts, side="passage")
        self.assertEqual(told["vectors"], [vectors_of(text, 1024) for text in texts])

    def test_any_length(self):
        """Vectors are directions: what the numbers are multiplied with does not matter."""
        def respond(request, stream):
            answer = openai(request.texts())
            for item in answer["data"]:
                item["embedding"] = [x * 2.0**100 for x in item["embedding"]]
            stream.write(whole(answer))
            return True
        asker = self.ask()
        self.model(asker, self.serve(respond))
        self.assertEqual(asker.tell(embed=["a"], side="query")["vectors"], [vectors_of("a")])

    def test_the_model_is_stored_and_opened(self):
        server = self.serve(right("ollama"))
        asker = self.ask()
        model = self.model(asker, server, "ollama", query_prefix="q: ", token_file="")
        del server.requests[:]
        again = self.ask()
        self.assertEqual(again.tell(open=model), {"model": model})
        self.assertEqual(server.requests, [])
        self.assertEqual(again.tell(embed=["a"], side="query")["vectors"], [vectors_of("q: a")])
        changed = dict(model, model="other")
        self.failure(again, "model_id does not belong", open=changed)


class Wrong(HttpCase):
    def test_numbers(self):
        for name, number, words in (
                ("nan", "NaN", "not valid JSON"), ("infinity", "Infinity", "not valid JSON"),
                ("minus infinity", "-Infinity", "not valid JSON"),
                ("a huge number", "1e400", "number out of range"),
                ("beyond single precision", "1e39", "number out of range"),
                ("null", "null", "component that is not a number"),
                ("a string", '"0.5"', "component that is not a number"),
                ("true", "true", "component that is not a number"),
                ("a list", "[0.5]", "component that is not a number"),
                ("hexadecimal", "0x1", "not valid JSON")):
            for shape in SHAPES:
                with self.subTest(name, shape=shape):
                    make = openai if shape == "openai" else ollama
                    text = json.dumps(make([SECRET])).replace(str(vector(SECRET)[3]), number)
                    self.assertIn(number, text)
                    self.broken(raw(whole(text)), words, r"\[io\]$", shape=shape)

    def test_zeros(self):
        for zero in (0, 0.0, 1e-320):
            self.broken(raw(whole({"embeddings": [[zero] * DIMENSIONS]})),
                        "vector of zeros|out of range", shape="ollama")

    def test_dimensions_change(self):
        for shape, make in (("openai", openai), ("ollama", ollama)):
            with self.subTest(shape):
                self.broken(raw(whole(make([SECRET], 48))), "vector of 48 dimensions where 32",
                            "has the model changed", shape=shape)

        def uneven(request, stream):
            answer = ollama(request.texts())
            answer["embeddings"][-1].pop()
            stream.write(whole(answer))
        self.broken(uneven, "vector of 31 dimensions where 32", shape="ollama", texts=("a", "b"))

    def test_dimensions_that_no_index_holds(self):
        for dimensions in (8, 100, 1040, 1536, 4096):
            def respond(request, stream, n=dimensions):
                stream.write(whole(openai(request.texts(), n)))
            self.failure(self.ask(), f"vectors of {dimensions} dimensions", "multiple of 16 up to 1024",
                         r"\[unsupported\]$", inspect=self.options(self.serve(respond)))

    def test_dimensions_differ_by_side(self):
        def respond(request, stream):
            stream.write(whole(openai(request.texts(), 16 * len(request.texts()))))
        self.failure(self.ask(), "vector of 16 dimensions where 32",
                     inspect=self.options(self.serve(respond)))

    def test_the_same_vector_for_all(self):
        def respond(request, stream):
            stream.write(whole(ollama(["same"] * len(request.texts()))))
        self.failure(self.ask(), "different texts the same vector",
                     inspect=self.options(self.serve(respond), "ollama"))

    def test_counts(self):
        for shape, make in (("openai", openai), ("ollama", ollama)):
            for count in (0, 1, 3):
                with self.subTest(shape, count=count):
                    self.broken(raw(whole(make(["x"] * count))), f"sends {count} vectors for 2",
                                shape=shape, texts=("a", "b"))

    def test_indexes(self):
        for indexes, words in (((0, 0), "two vectors with index 0"), ((0, 2), "index is not"),
                               ((-1, 0), "index is not"), ((0, 0.5), "index is not"),
                               ((0, "1"), "index is not"), ((0, None), "index is not"),
                               ((0, 1e300), "index is not")):
            with self.subTest(indexes):
                answer = openai(["a", "b"])
                for item, index in zip(answer["data"], indexes):
                    item["index"] = index
                self.broken(raw(whole(answer)), words, texts=("a", "b"))
        answer = openai(["a"])
        del answer["data"][0]["index"]
        self.broken(raw(whole(answer)), "index is not", texts=("a",))

    def test_other_json(self):
        for body, words in (
                ({}, "without a list \"data\""), ([], "without a list"), ("7", "without a list"),
                ({"data": {}}, "without a list"), ({"data": [7]}, "item without \"embedding\""),
                ({"data": [{"index": 0, "embedding": "AAAA"}]}, "not a list of numbers"),
                (ollama(["a"]), "is the endpoint of this kind"),
                ('{"data":[],"data":[]}', "answer.data is a duplicate member"),
                ('{"zebra":1,"zebra":2}', "answer is a duplicate member"),
                ("[" * 100, "nested deeper than 64"), ("", "ends too early"),
                (b"\xff\xfe", "not valid JSON"), ('"\xff"'.encode("latin-1"), "not valid UTF-8"),
                (json.dumps(openai(["a"])) + "x", "text after its end"),
                (json.dumps(openai(["a"]))[:-40], "ends too early|not valid JSON")):
            with self.subTest(body):
                self.broken(raw(whole(body)), words, r"\[io\]$")

    def test_content_type(self):
        good = json.dumps(openai([SECRET]))
        for kind in ("text/html", "text/plain", "application/jsonx", "", None):
            with self.subTest(kind):
                self.broken(raw(whole(good, kind=kind)), "other than application/json")

    def test_statuses(self):
        for status in (201, 204, 400, 404, 500, 503):
            with self.subTest(status):
                self.broken(raw(whole("", status)), f"answers with status {status}\\. ")

    def test_failures_words_are_shown(self):
        for body, kind, words in (
                ({"error": "model \"nomic-embed-text\" not found, try pulling it first"}, JSON_TYPE,
                 'model "nomic-embed-text" not found, try pulling it first'),
                ({"error": {"message": "Incorrect API key provided", "type": "x"}}, JSON_TYPE,
                 "Incorrect API key provided"),
                ({"detail": "context length exceeded"}, JSON_TYPE, "context length exceeded"),
                ("overloaded\n\x1b[31mnow", "text/plain", r"overloaded\\n"),
                ("<html>secret page</html>", "text/html", r"status 500\. "),
                ({"error": [1]}, JSON_TYPE, r"status 500\. "),
                ("{broken", JSON_TYPE, r"status 500\. ")):
            with self.subTest(body):
                _, error = self.broken(raw(whole(body, 500, kind)), words)
                self.assertNotIn("\x1b", error)
        _, error = self.broken(raw(whole({"error": "w" * 5000}, 500)), "w{200} ")
        self.assertLess(len(error), 320)

    def test_failures_that_repeat_what_was_sent(self):
        for body, kind in (({"error": f"cannot embed: {SECRET}"}, JSON_TYPE),
                           ({"error": {"message": f"bad input {SECRET.upper()} for {TOKEN}"}}, JSON_TYPE),
                           ({"message": SECRET[10:35]}, JSON_TYPE),
                           ({"message": "xcombinationx, safe4711zebra"}, JSON_TYPE),
                           ({"message": "".join(f"%{ord(c):02X}" for c in SECRET)}, JSON_TYPE),
                           (json.dumps({"input": [SECRET]}), "text/plain"),
                           (f"got {json.dumps(SECRET)} with Authorization: Bearer {TOKEN}", "text/plain"),
                           ("x" * 190 + SECRET, "text/plain"),
                           (f"<b>{SECRET}</b>", "text/html")):
            with self.subTest(body):
                path = self.folder / "token"
                path.write_text(TOKEN)
                path.chmod(0o600)
                _, error = self.broken(raw(whole(body, 500, kind)), "status 500",
                                       token_file=str(path))
                for word in ("safe", "combination", "zebra", "4711", "quartz", "Aq3x"):
                    self.assertNotIn(word, error.lower())

    def test_redirects(self):
        other = self.serve(right("openai"))
        for status in (301, 302, 303, 307, 308):
            with self.subTest(status):
                place = f"http://127.0.0.1:{other.port}/v1/{SECRET.replace(' ', '-')}"
                self.broken(raw(whole("", status, Location=place)),
                            f"redirects to http://127.0.0.1:{other.port} .status {status}",
                            "not followed")
        self.broken(raw(whole("", 302, Location="https://elsewhere.example/")),
                    "redirects to https://elsewhere.example:443 ")
        self.broken(raw(whole("", 302)), "redirects to elsewhere")
        self.broken(raw(whole("", 302, Location="https://zebra-4711-quartz.example/")),
                    "redirects to elsewhere")
        self.broken(raw(whole("", 302, Location="file:///etc/passwd")), "redirects to elsewhere")
        self.assertEqual(other.connections, 0)

    def test_sizes(self):
        good = json.dumps(openai([SECRET])).encode()
        start = head(Content_Length=10 * 10**9)
        for name, respond in (
                ("a length of 10 GB", raw(start)),
                ("10 GB", endless(start, b" " * 65536)),
                ("without end, in chunks", endless(head(Transfer_Encoding="chunked"),
                                                   b"1000\r\n" + b" " * 4096 + b"\r\n")),
                ("without end, no length", endless(head(), good))):
            with self.subTest(name):
                self.broken(respond, "more than 68096 bytes", r"\[io\]$")

    def test_failures_that_are_cut_off(self):
        self.broken(raw(whole({"error": "no room"}, 503)[:-3]), r"answers with status 503\. ")
        self.broken(raw(whole("not here", 503, "text/plain")[:-5]), "status 503: not ")

    def test_failures_without_end(self):
        for respond in (raw(head(500, Content_Length=10**12)),
                        endless(head(500, "text/plain"), b"no room "),
                        endless(head(500, JSON_TYPE, Transfer_Encoding="chunked"),
                                b"4\r\n    \r\n")):
            self.broken(respond, "answers with status 500")

    def test_headers_without_end(self):
        self.broken(endless(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"a" * 1000 + b"\r\n"),
                    "more than 64 KiB of headers|Could not read|could not be asked")
        self.broken(endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "64 KiB of headers")
        self.broken(endless(b"HTTP/1.1 200 OK\r\n", b"a" * 4096),
                    "64 KiB of headers|could not be asked")

    def test_cut_off(self):
        good = whole(openai([SECRET]))
        for name, data in (("in the body", good[:-100]), ("before the body", good[:good.index(b"{")]),
                           ("in the headers", good[:40]), ("at once", b""),
                           ("in a chunk", head(Transfer_Encoding="chunked") + b"ffff\r\n{\"data\":")):
            with self.subTest(name):
                server, _ = self.broken(raw(data), "closed the connection before its answer|"
                                                   "other than application/json|could not be asked",
                                        r"\[io\]$")
                self.assertLessEqual(len(server.requests), 4)

    def test_the_request_is_not_read(self):
        """A reset while the request is still being sent ends neither the program nor the embedder."""
        def only_head(stream, number):
            while stream.readline().strip():
                pass
            return Request("", {}, b"", number)
        text = SECRET + " x" * 100_000
        for answer, words in ((b"", "closed the connection before"),
                              (whole({"error": "too large"}, 413),
                               "status 413: too large|closed the connection before")):
            server = self.serve(right("openai"))
            asker = self.ask()
            self.model(asker, server, max_text_bytes=250_000)
            read, server.read, server.respond = server.read, only_head, raw(answer)
            self.failure(asker, words, embed=[text], side="query")
            server.read, server.respond = read, right("openai")
            self.assertEqual(asker.tell(embed=["a"], side="query")["vectors"], [vectors_of("a")])

    def test_compressed(self):
        bomb = gzip.compress(b" " * 10**8)
        good = gzip.compress(json.dumps(openai([SECRET])).encode())
        for data in (whole(bomb, Content_Encoding="gzip"), whole(good, Content_Encoding="gzip"),
                     whole(good, Content_Encoding="br, gzip"),
                     head(Transfer_Encoding="gzip, chunked") + b"%x\r\n%s\r\n0\r\n\r\n"
                     % (len(good), good)):
            self.broken(raw(data), "compresses its answer")
        server = self.servers[-1]
        self.assertNotIn("accept-encoding", server.requests[-1].headers)
        self.assertNotIn("te", server.requests[-1].headers)

    def test_other_protocols(self):
        self.broken(raw(b"SSH-2.0-OpenSSH_9.2\r\n" * 4), "could not be asked|closed the connection")
        self.broken(raw(b"\x00" * 400), "could not be asked|closed the connection")

    def test_hangs(self):
        def silent(_request, _stream):
            server.stopped.wait()
        def stops_in_the_middle(request, stream):
            stream.write(whole(openai(request.texts()))[:100])
            stream.flush()
            server.stopped.wait()
        def drips(request, stream):
            for byte in whole(openai(request.texts())):
                stream.write(bytes([byte]))
                stream.flush()
                if server.stopped.wait(0.05):
                    return
        for respond in (silent, stops_in_the_middle, drips):
            with self.subTest(respond.__name__):
                server = self.serve(right("openai"))
                asker = self.ask()
                self.model(asker, server, query_timeout_ms=300, passage_timeout_ms=500)
                server.respond = respond
                self.failure(asker, "did not answer within 0.3 s", embed=[SECRET], side="query")
                self.failure(asker, "did not answer within 0.5 s", embed=[SECRET], side="passage")
                server.respond = right("openai")
                self.assertEqual(asker.tell(embed=["a"], side="query")["vectors"], [vectors_of("a")])

    def test_nobody_there(self):
        server = self.serve(right("openai"))
        server.stop()
        self.failure(self.ask(), f"at http://127.0.0.1:{server.port} takes no connection",
                     "Connection refused", inspect=self.options(server))

    def test_connections_are_not_taken(self):
        """A queue of connections that is full: connecting ends after 2 s."""
        full = socket.socket()
        self.addCleanup(full.close)
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = []
        for _ in range(8):
            peer = socket.socket()
            self.addCleanup(peer.close)
            peer.setblocking(False)
            peer.connect_ex(full.getsockname())
            waiting.append(peer)
        self.failure(self.ask(), "gave no connection within 2 s",
                     inspect={"url": f"http://127.0.0.1:{full.getsockname()[1]}/v1/embeddings",
                              "model": "m"})


if __name__ == "__main__":
    unittest.main()
