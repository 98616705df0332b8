"""An MCP client over raw pipes for tests, and the check of every line the server writes.

The binary is STRONGROOM_BIN. The official schemas are read from $STRONGROOM_TEST_DATA/mcp, or from
shared/mcp beside the source tree. Where they or python3-jsonschema are missing that part is
skipped, and said so. Waiting has a limit only so that a hanging server fails a test instead of stopping all.
"""
import collections
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import threading

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
WAIT_SECONDS = 120

SOURCE = pathlib.Path(__file__).resolve().parents[2]

RESULT_TYPES = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
}
CACHEABLE = {"server/discover", "tools/list", "resources/list", "resources/templates/list",
             "resources/read", "prompts/list"}


def binary():
    path = os.environ.get("STRONGROOM_BIN")
    if not path:
        sys.exit("STRONGROOM_BIN must name the strongroom binary")
    return path


def _reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def _no_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate members")
    return members


def strict_json(line):
    """One JSON value from bytes: UTF-8, no duplicate members, no NaN."""
    return json.loads(line.decode("utf-8"), object_pairs_hook=_no_duplicates,
                      parse_constant=_reject_constant)


class Schemas:
    """Validators for the definitions of both official schemas."""

    def __init__(self):
        self.reason = None
        self._validators = {}
        self._documents = {}
        try:
            import jsonschema
            self._jsonschema = jsonschema
        except ImportError:
            self._skip("python3-jsonschema is not installed")
            return
        data = os.environ.get("STRONGROOM_TEST_DATA")
        folder = (pathlib.Path(data) if data else SOURCE.parent / "shared") / "mcp"
        for version in (LEGACY, MODERN):
            path = folder / f"schema-{version}.json"
            if not path.is_file():
                self._skip(f"{path.name} was not found; set STRONGROOM_TEST_DATA")
                return
            self._documents[version] = json.loads(path.read_text())

    def _skip(self, reason):
        self.reason = reason
        print(f"SKIPPED: validation against the official MCP schemas: {reason}", file=sys.stderr)

    def check(self, version, definition, value):
        if self.reason:
            return
        key = (version, definition)
        if key not in self._validators:
            document = self._documents[version]
            schema = {"$ref": f"#/$defs/{definition}", "$defs": document["$defs"]}
            self._validators[key] = self._jsonschema.Draft202012Validator(schema)
        self._fail_on(self._validators[key].iter_errors(value), f"{version} {definition}")

    def check_against(self, schema, value, what):
        """Checks a value against a schema that the server sent."""
        if self.reason and "jsonschema" in self.reason:
            return
        validator = self._jsonschema.Draft202012Validator(schema)
        self._fail_on(validator.iter_errors(value), what)

    @staticmethod
    def _fail_on(errors, what):
        for error in errors:
            where = "/".join(str(step) for step in error.absolute_path)
            raise AssertionError(f"not a valid {what}: at '{where}': {error.message[:300]}")


SCHEMAS = Schemas()


def modern_meta(**more):
    meta = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {},
            CLIENT_KEY: {"name": "tests", "version": "1"}}
    meta.update(more)
    return meta


def init_vault(folder):
    """Makes a vault and a key file below `folder`; returns the environment that opens it."""
    env = vault_environment(folder)
    done = subprocess.run([binary(), "init", "--keyfile", env["STRONGROOM_KEYFILE"]], env=env,
                          cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=WAIT_SECONDS)
    if done.returncode != 0:
        raise AssertionError(f"init failed ({done.returncode}): {done.stdout.decode()}")
    return env


def vault_environment(folder):
    """An environment that points into `folder` and takes nothing from the caller's."""
    folder = pathlib.Path(folder)
    env = {name: os.environ[name] for name in os.environ
           if name in ("PATH", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
                       "LSAN_OPTIONS", "LD_LIBRARY_PATH")}
    for name in ("config", "data", "state", "cache", "runtime", "home", "work"):
        (folder / name).mkdir(mode=0o700, exist_ok=True)
        if name not in ("home", "work"):
            suffix = "_DIR" if name == "runtime" else "_HOME"
            env[f"XDG_{name.upper()}{suffix}"] = str(folder / name)
    env["HOME"] = str(folder / "home")
    env["STRONGROOM_VAULT"] = str(folder / "memory.vault")
    env["STRONGROOM_KEYFILE"] = str(folder / "owner.key")
    return env


class Client:
    """Speaks to one server process. Every line that comes back is checked.

    `drain_stderr=False` leaves stderr unread, `read_stdout=False` leaves stdout to the test.
    """

    def __init__(self, env, *args, drain_stderr=True, read_stdout=True):
        work = pathlib.Path(env["HOME"]).parent / "work"
        self.process = subprocess.Popen([binary(), "mcp", *args], env=env, cwd=work,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.stderr = b""
        self.problems = []
        self.messages = []  # all that came, in order
        self._requests = collections.defaultdict(collections.deque)
        self._arrived = queue.Queue()
        self._pending = []
        self._next_id = 1000
        self._threads = []
        if read_stdout:
            self._start(self._read_stdout)
        if drain_stderr:
            self._start(self._read_stderr)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            if kind is None:
                self.close()
            else:
                self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(timeout=WAIT_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def _start(self, target):
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        self._threads.append(thread)

    # --- sending

    def send_raw(self, data):
        for line in data.split(b"\n"):
            self._note_request(line)
        self._write(data)

    def send_line(self, line):
        self.send_raw((line if isinstance(line, bytes) else line.encode()) + b"\n")

    def send(self, message):
        self.send_line(json.dumps(message))

    def _write(self, data):
        view = memoryview(data)  # no buffer in between: tests choose the chunks
        while view:
            view = view[os.write(self.process.stdin.fileno(), view):]

    def _note_request(self, line):
        if len(line) > 32 << 20:
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict) and "method" in message and "id" in message:
            params = message.get("params")
            meta = params.get("_meta") if isinstance(params, dict) else None
            modern = isinstance(meta, dict) and VERSION_KEY in meta
            key = json.dumps(message["id"])
            self._requests[key].append((message["method"], MODERN if modern else LEGACY))

    def new_id(self):
        self._next_id += 1
        return self._next_id

    # --- receiving

    def _read_stdout(self):
        for line in self.process.stdout:
            try:
                self._arrived.put(self._checked(line))
            except Exception as problem:  # noqa: BLE001 - told to the test
                self.problems.append(f"{problem} in {line[:200]!r}")
                self._arrived.put(None)
        self._arrived.put(EOFError())

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr += line

    def _checked(self, line):
        if not line.endswith(b"\n") or b"\r" in line:
            raise AssertionError("a message must be one line")
        message = strict_json(line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise AssertionError("no JSON-RPC message")
        if "method" in message:
            if "id" in message:
                raise AssertionError("the server must not send requests")
            SCHEMAS.check(MODERN, "JSONRPCNotification", message)
            SCHEMAS.check(MODERN, "ServerNotification", message)
            return message
        if message.get("id") is None:
            raise AssertionError("an answer needs the id of its request")
        known = self._requests.get(json.dumps(message["id"]))
        method, era = known.popleft() if known else (None, None)
        if "error" in message:
            for version in (LEGACY, MODERN):
                SCHEMAS.check(version, "JSONRPCErrorResponse", message)
                SCHEMAS.check(version, "JSONRPCMessage", message)
            if message["error"]["code"] == -32022:
                SCHEMAS.check(MODERN, "UnsupportedProtocolVersionError", message)
            return message
        if method is None:
            raise AssertionError("an answer without a request")
        SCHEMAS.check(era, "JSONRPCResultResponse", message)
        SCHEMAS.check(era, RESULT_TYPES[method], message["result"])
        self._check_era(method, era, message["result"])
        return message

    @staticmethod
    def _check_era(method, era, result):
        if era == LEGACY:
            for name in ("resultType", "ttlMs", "cacheScope"):
                if name in result:
                    raise AssertionError(f"{name} in a legacy result")
            return
        if result.get("resultType") != "complete" or SERVER_KEY not in result.get("_meta", {}):
            raise AssertionError("a modern result names its type and the server")
        if (method in CACHEABLE) != ("ttlMs" in result):
            raise AssertionError("ttlMs belongs to lists, reads and discovery")
        if method in CACHEABLE and result.get("cacheScope") != "private":
            raise AssertionError("cacheScope must be private")

    def _next(self):
        message = self._arrived.get(timeout=WAIT_SECONDS)
        if self.problems:
            raise AssertionError("; ".join(self.problems))
        if isinstance(message, EOFError):
            self._arrived.put(message)
            raise EOFError("the server closed its output")
        self.messages.append(message)
        return message

    def wait_for(self, wanted):
        """The first message for which wanted(message) holds; others are kept for later waits."""
        for index, message in enumerate(self._pending):
            if wanted(message):
                return self._pending.pop(index)
        while True:
            message = self._next()
            if wanted(message):
                return message
            self._pending.append(message)

    def reply(self, request_id):
        """The answer to an id, which must come back with the same JSON type."""
        wanted = json.dumps(request_id)
        return self.wait_for(lambda m: "method" not in m and json.dumps(m.get("id")) == wanted)

    # --- conversations

    def request(self, method, params=None, *, id=None, modern=False):
        """Sends a request and returns the whole answer."""
        message = {"jsonrpc": "2.0", "id": self.new_id() if id is None else id, "method": method}
        if modern:
            params = dict(params or {})
            params.setdefault("_meta", modern_meta())
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.reply(message["id"])

    def result(self, method, params=None, **how):
        reply = self.request(method, params, **how)
        if "result" not in reply:
            raise AssertionError(f"{method}: {reply['error']}")
        return reply["result"]

    def error(self, method, params=None, **how):
        reply = self.request(method, params, **how)
        if "error" not in reply:
            raise AssertionError(f"{method} was not refused: {str(reply)[:300]}")
        return reply["error"]

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def initialize(self, version=LEGACY):
        result = self.result("initialize", {"protocolVersion": version, "capabilities": {},
                                            "clientInfo": {"name": "tests", "version": "1"}})
        self.notify("notifications/initialized")
        return result

    def call(self, tool, arguments=None, *, modern=False):
        """Calls a tool; the result is checked against the tool's output schema."""
        params = {"name": tool}
        if arguments is not None:
            params["arguments"] = arguments
        return self.check_tool(tool, self.result("tools/call", params, modern=modern))

    def check_tool(self, tool, result):
        if result.get("isError"):
            if "structuredContent" in result:
                raise AssertionError("structured content on an error")
            return result
        if not hasattr(self, "_output_schemas"):
            self._output_schemas = {t["name"]: t["outputSchema"]
                                    for t in self.result("tools/list")["tools"]}
        SCHEMAS.check_against(self._output_schemas[tool], result["structuredContent"],
                              f"result of {tool}")
        found = result["structuredContent"]
        if "notes" not in found or not ("bank" in found or "banks" in found):
            raise AssertionError(f"{tool}: bank or notes are missing")
        return result

    # --- ending

    def close_input(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def wait(self):
        """The exit code, after all output was read."""
        code = self.process.wait(timeout=WAIT_SECONDS)
        for thread in self._threads:
            thread.join(timeout=WAIT_SECONDS)
        if self.problems:
            raise AssertionError("; ".join(self.problems))
        return code

    def close(self):
        """Ends the conversation; everything must have been answered well, and the exit be clean."""
        self.close_input()
        code = self.wait()
        if code != 0:
            raise AssertionError(f"exit code {code}: {self.stderr.decode(errors='replace')}")
        return code

    def rest(self):
        """All messages that are left, once the output is closed."""
        messages, self._pending = self._pending, []
        while True:
            try:
                messages.append(self._next())
            except EOFError:
                return messages


def text_of(result, block=0):
    return result["content"][block]["text"]


def error_code(text):
    """The stable code at the end of an error text, or None."""
    match = re.search(r"\[([a-z_]+)\]$", text)
    return match.group(1) if match else None
