#!/usr/bin/env python3
"""The embedder behind HTTP: where it connects to, what it shows there, and what it needs."""
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import unittest

from http_case import TOKEN, HttpCase, must_skip
from http_server import openai, raw, right, vectors_of, whole


class Connections(HttpCase):
    def test_a_connection_is_kept(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        for text in ("a", "b", "c"):
            asker.tell(embed=[text], side="query")
        # One of the inspection, one of the embedder.
        self.assertEqual(server.connections, 2)

    def test_a_closed_connection_is_made_again(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        for text in ("a", "b", "c"):
            self.assertEqual(asker.tell(embed=[text], side="query")["vectors"], [vectors_of(text)])
            server.close_connections()
        self.assertEqual(len(server.requests), 5)

    def test_a_request_is_repeated_once(self):
        """The server takes the request on the kept connection and closes without a word."""
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        asker.tell(embed=["a"], side="query")
        del server.requests[:]
        server.respond = raw(b"")
        self.failure(asker, "closed the connection", embed=["b"], side="query")
        self.assertEqual(len(server.requests), 2)
        self.failure(asker, "closed the connection", embed=["b"], side="query")
        self.assertEqual(len(server.requests), 3)

    def test_nothing_is_repeated_after_an_answer_began(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server)
        asker.tell(embed=["a"], side="query")
        del server.requests[:]
        server.respond = raw(whole(openai(["b"]))[:-10])
        self.failure(asker, "closed the connection", embed=["b"], side="query")
        server.respond = raw(whole("", 503))
        self.failure(asker, "status 503", embed=["b"], side="query")
        self.assertEqual(len(server.requests), 2)

    def test_other_names_of_this_machine(self):
        asker = self.ask()
        server = self.serve(right("openai"))
        self.model(asker, server, host="localhost")
        self.model(asker, server, host="LocalHost")
        try:
            six = self.serve(right("openai"), socket.AF_INET6)
        except OSError:
            must_skip("no IPv6 on loopback")
        self.model(asker, six, host="[::1]")
        self.model(asker, six, host="localhost")


class Reach(HttpCase):
    """Where texts may go."""

    def traced(self, environment=None):
        if not shutil.which("strace"):
            must_skip("no strace")
        log = self.folder / "strace.log"
        wrap = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=network", "-e", "signal=none"]
        return self.ask(environment=environment, wrap=wrap), log

    def test_other_machines_are_refused_before_a_socket_is_opened(self):
        asker, log = self.traced()
        for host, words in (("example.org", "another machine"), ("192.0.2.1", "another machine"),
                            ("0.0.0.0", "another machine"), ("[::]", "another machine"),
                            ("[::ffff:127.0.0.1]", "another machine"),
                            ("localhost.example.org", "another machine"),
                            ("127.0.0.1.example.org", "another machine"),
                            ("128.0.0.1", "another machine"), ("localhost.", "empty part"),
                            ("2130706433", "four decimal"), ("127.1", "four decimal"),
                            ("0x7f000001", "four decimal"), ("127.0.0.1@example.org", "user name"),
                            ("example.org#@127.0.0.1", "character")):
            with self.subTest(host):
                for scheme in ("http", "https"):
                    self.failure(asker, words, r"\[invalid\]$", inspect={
                        "url": f"{scheme}://{host}/v1/embeddings", "model": "m"})
        self.failure(asker, "is not https", inspect={
            "url": "http://example.org/v1/embeddings", "model": "m", "allow_remote": True})
        for scheme in ("ftp", "file", "gopher", "unix"):
            self.failure(asker, "http:// or https://", inspect={
                "url": f"{scheme}://127.0.0.1/v1/embeddings", "model": "m", "allow_remote": True})
        self.assertEqual(log.read_text(), "")

    def test_sockets_go_to_loopback_alone(self):
        """No resolver, no proxy: each connection goes to the address of the endpoint."""
        other = self.serve(right("openai"))
        proxy = f"http://127.0.0.1:{other.port}"
        home = self.folder / "home"
        home.mkdir()
        (home / ".netrc").write_text("machine 127.0.0.1 login l password p\ndefault login l password p\n")
        (home / ".curlrc").write_text(f"proxy = {proxy}\n")
        environment = {name: proxy for name in (
            "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")}
        asker, log = self.traced({**environment, "no_proxy": "", "HOME": str(home),
                                  "CURL_HOME": str(home), "NETRC": str(home / ".netrc")})
        server = self.serve(right("openai"))
        for host in ("127.0.0.1", "localhost"):
            self.model(asker, server, host=host)
            self.assertEqual(asker.tell(embed=["a"], side="query")["vectors"], [vectors_of("a")])
        self.assertEqual(other.connections, 0)
        for request in server.requests:
            self.assertNotIn("authorization", request.headers)
        places = re.findall(r"connect\(\d+, \{([^}]*)\}", log.read_text())
        self.assertTrue(places)
        for place in places:
            self.assertIn(f"htons({server.port})", place)
            self.assertRegex(place, r'inet_addr\("127\.0\.0\.1"\)|"::1"')

    def test_certificates(self):
        if not shutil.which("openssl"):
            must_skip("no openssl to make a certificate")
        key, certificate = self.folder / "key.pem", self.folder / "cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True,
                       stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = self.serve(right("openai"))
        plain = server.serve
        seen = []

        def serve(peer, number):
            try:
                peer = context.wrap_socket(peer, server_side=True)
            except OSError as error:
                seen.append(error)
                return
            plain(peer, number)
        server.serve = serve
        url = f"https://127.0.0.1:{server.port}/v1/embeddings"
        self.failure(self.ask(), "certificate that is not trusted", inspect={"url": url, "model": "m"})
        self.assertEqual(server.requests, [])

    def test_https_of_a_server_without(self):
        server = self.serve(right("openai"))
        self.failure(self.ask(), "could not be asked|closed the connection|no connection", inspect={
            "url": f"https://127.0.0.1:{server.port}/v1/embeddings", "model": "m"})
        self.assertNotIn(b"spare key", b"".join(r.body for r in server.requests))


class Token(HttpCase):
    def token_file(self, mode=0o600, text=TOKEN + "\n"):
        path = self.folder / "token"
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def test_it_is_sent(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        model = self.model(asker, server, token_file=self.token_file())
        self.assertNotIn(TOKEN, json.dumps(model))
        for request in server.requests:
            self.assertEqual(request.headers["authorization"], "Bearer " + TOKEN)

    def test_it_is_read_at_each_use(self):
        server = self.serve(right("openai"))
        asker = self.ask()
        self.model(asker, server, token_file=self.token_file())
        self.token_file(text="another")
        asker.tell(embed=["a"], side="query")
        self.assertEqual(server.requests[-1].headers["authorization"], "Bearer another")
        self.token_file(mode=0o640)
        count = len(server.requests)
        self.failure(asker, "token file is accessible to other users", embed=["a"], side="query")
        self.assertEqual(len(server.requests), count)

    def test_files_that_are_refused(self):
        server = self.serve(right("openai"))
        asker = self.ask()

        def refused(path, *words):
            self.failure(asker, *words, r"\[invalid\]$|\[too_large\]$",
                         inspect=self.options(server, token_file=path))
        for mode in (0o640, 0o604, 0o620, 0o666):
            refused(self.token_file(mode), "accessible to other users", "0600")
        refused(self.token_file(text=""), "one token")
        refused(self.token_file(text="\n"), "one token")
        refused(self.token_file(text="two words"), "one token")
        refused(self.token_file(text="a\r\nX-Other: b"), "one token")
        refused(self.token_file(text="x" * 9000), "token file")
        link = self.folder / "link"
        link.symlink_to(self.token_file())
        refused(str(link), "token file")
        refused(str(self.folder), "not a regular file")
        refused(str(self.folder / "none"), "does not exist")
        refused("token", "not an absolute path")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe, 0o600)
        refused(str(pipe), "not a regular file")
        self.assertEqual(server.connections, 0)


class Memory(HttpCase):
    """What was sent does not stay in memory, neither in ours nor in libcurl's."""

    @staticmethod
    def holds(asker, pattern):
        pid = asker.process.pid
        try:
            memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
        except PermissionError:
            must_skip("the memory of a child cannot be read here")
        with memory:
            for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
                place, rights = line.split()[:2]
                if not rights.startswith("rw"):
                    continue
                start, end = (int(number, 16) for number in place.split("-"))
                memory.seek(start)
                if pattern in memory.read(end - start):
                    return True
        return False

    def test_a_text_is_wiped(self):
        token = self.folder / "token"
        token.write_text(TOKEN)
        token.chmod(0o600)
        for respond, word in ((right("openai"), "vectors"), (raw(whole("", 500)), "error"),
                              (raw(whole(openai(["a"]))[:-9]), "error")):
            server = self.serve(right("openai"))
            asker = self.ask(arguments=["--readable"])
            self.model(asker, server, token_file=str(token))
            server.respond = respond
            # The program keeps the line that it was told: so much for the search itself.
            asker.tell(embed=["Zy" * 500], side="query")
            self.assertTrue(self.holds(asker, b"Zy" * 100))
            for side in ("query", "passage"):
                self.assertIn(word, asker.tell(repeat="Qx", times=1500, side=side))
                self.assertEqual(server.requests[-1].texts(), ["Qx" * 1500])
                self.assertFalse(self.holds(asker, b"Qx" * 20))
                self.assertFalse(self.holds(asker, TOKEN.encode()))


class WithoutLibrary(HttpCase):
    def test_it_is_named(self):
        folder = self.folder / "lib"
        folder.mkdir()
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            (folder / name).write_text("no library")
        server = self.serve(right("openai"))
        asker = self.ask(environment={"LD_LIBRARY_PATH": str(folder)})
        self.failure(asker, "needs libcurl", "libcurl4 or libcurl3-gnutls", r"\[unsupported\]$",
                     inspect=self.options(server))

    def test_the_other_build_of_it(self):
        paths = [pathlib.Path(f"/usr/lib/{machine}-linux-gnu/libcurl-gnutls.so.4")
                 for machine in ("x86_64", "aarch64")]
        if not any(path.exists() for path in paths):
            must_skip("no libcurl-gnutls.so.4")
        folder = self.folder / "lib"
        folder.mkdir()
        (folder / "libcurl.so.4").write_text("no library")
        server = self.serve(right("openai"))
        self.model(self.ask(environment={"LD_LIBRARY_PATH": str(folder)}), server)


if __name__ == "__main__":
    unittest.main()
