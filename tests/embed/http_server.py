"""An endpoint on loopback that answers right, or wrong in the way that a test asks for."""
import hashlib
import json
import math
import socket
import struct
import threading

DIMENSIONS = 32
JSON_TYPE = "application/json"


def vector(text, dimensions=DIMENSIONS):
    """What this model says of a text: numbers between -1 and 1."""
    out = []
    block = 0
    while len(out) < dimensions:
        digest = hashlib.sha256(f"{block} {text}".encode()).digest()
        out += [n / 2**31 for n in struct.unpack("<8i", digest)]
        block += 1
    return out[:dimensions]


def quantised(components):
    """As docs of recall/embedder.h have it: the largest component becomes 127 or -127."""
    most = max(abs(x) for x in components)
    scaled = [x * (127 / most) for x in components]
    return [int(math.copysign(math.floor(abs(x) + 0.5), x)) for x in scaled]


def vectors_of(text, dimensions=DIMENSIONS):
    # Through single precision, which the program computes in.
    single = [struct.unpack("<f", struct.pack("<f", x))[0] for x in vector(text, dimensions)]
    return quantised(single)


def openai(texts, dimensions=DIMENSIONS):
    return {"object": "list", "model": "m",
            "data": [{"object": "embedding", "index": i, "embedding": vector(t, dimensions)}
                     for i, t in enumerate(texts)],
            "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def ollama(texts, dimensions=DIMENSIONS):
    return {"model": "m", "embeddings": [vector(t, dimensions) for t in texts],
            "total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8}


def head(status=200, kind=JSON_TYPE, **more):
    lines = [f"HTTP/1.1 {status} Whatever"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def whole(body, status=200, kind=JSON_TYPE, **more):
    if not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    return head(status, kind, Content_Length=len(body), **more) + body


class Request:
    def __init__(self, line, headers, body, connection):
        self.line = line
        self.headers = headers
        self.body = body
        self.connection = connection  # its number

    def json(self):
        return json.loads(self.body)

    def texts(self):
        return self.json()["input"]


class Server:
    """`respond(request, stream)` writes the answer and says whether the connection stays open."""

    def __init__(self, respond, family=socket.AF_INET):
        self.respond = respond
        self.requests = []
        self.connections = 0
        self.open = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.open.append(peer)
                thread = threading.Thread(target=self.serve, args=(peer, self.connections))
                self.threads.append(thread)
            thread.start()

    def serve(self, peer, number):
        stream = peer.makefile("rwb")
        try:
            while True:
                request = self.read(stream, number)
                if request is None:
                    break
                with self.lock:
                    self.requests.append(request)
                stays = self.respond(request, stream)
                stream.flush()
                if not stays:
                    break
        except (OSError, ValueError):
            pass  # the test looks at what the program says
        try:
            peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        try:
            stream.close()
        except OSError:
            pass
        peer.close()

    @staticmethod
    def read(stream, number):
        line = stream.readline().decode("latin-1").strip()
        if not line:
            return None
        headers = {}
        while True:
            text = stream.readline().decode("latin-1").rstrip("\r\n")
            if not text:
                break
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        return Request(line, headers, stream.read(int(headers.get("content-length", 0))), number)

    def close_connections(self):
        with self.lock:
            for peer in self.open:
                try:
                    peer.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.open.clear()

    def stop(self):
        self.stopped.set()
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.close_connections()
        for thread in self.threads:
            thread.join()


def right(shape):
    """The answers of a server that works."""
    make = openai if shape == "openai" else ollama

    def respond(request, stream):
        stream.write(whole(make(request.texts())))
        return True
    return respond


def raw(data, stays=False):
    """The same bytes, whatever is asked."""
    def respond(_request, stream):
        stream.write(data)
        return stays
    return respond


def endless(start, part):
    """Sends until the other side has had enough."""
    def respond(_request, stream):
        stream.write(start)
        while True:
            stream.write(part)
            stream.flush()
    return respond
