#!/usr/bin/env python3
"""Seed corpora for the fuzzers: fuzz/make_seeds.py FOLDER makes FOLDER/<target>/<nn>.

Built from docs/format.md with the standard library, so that every reader gets past its first
checks: the headers and rows are well formed, only what needs a key is not authentic.
"""

import hashlib
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
from lookup import lookup


def blake2b(label, message):
    person = label.encode().ljust(16, b"\0")
    return hashlib.blake2b(message, digest_size=32, person=person).digest()


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def body(fields):
    return b"".join(varint(i) + varint(len(data)) + data for i, data in fields)


def items(parts):
    return varint(len(parts)) + b"".join(varint(len(part)) + part for part in parts)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def header(format_number=1, must_open=0, must_write=0):
    clear = b"\x89SRV\r\n\x1a\n" + u32(format_number) + u32(0)
    clear += u64(must_open) + u64(must_write) + u64(5) + b"v" * 16 + u64(1_700_000_000_000)
    clear = clear.ljust(96, b"\0")
    return clear + blake2b("sr1.header", clear)


def root(recipients, extra=()):
    rows = varint(len(recipients))
    for number, (role, banks, tools) in enumerate(recipients):
        rows += bytes([number + 1]) * 16 + bytes([role, 0]) + b"p" * 32 + u64(0)
        rows += struct.pack("<H", len(banks)) + b"".join(banks)
        rows += struct.pack("<H", len(tools)) + b"".join(tools)
    fields = [(1, u64(3)), (3, b"h" * 32), (5, b"a" * 32), (7, b"b" * 32), (9, b"c" * 32),
              (11, u64(1) + b"o" * 32), (13, rows), (15, b"r" * 32), (17, u64(1_700_000_000_000))]
    text = body(sorted(fields + list(extra)))
    return b"\x01\x01\x00\x00" + u32(len(text)) + text + b"s" * 64


def recipient(role, method, passes, kib, box):
    slot = struct.pack("<BBBBIII", 1, 1, role, method, passes, kib, 0)
    slot += b"t" * 16 + b"a" * 32 + b"c" * 32 + b"n" * 24 + b"e" * 48 + b"p" * 32
    return slot + u32(len(box)) + box


def vector(entries):
    return varint(len(entries)) + b"".join(replica + u64(gen) for replica, gen in entries)


def head(extra=()):
    fields = [(1, u64(9)), (3, vector([(b"r" * 16, 9)])),
              (5, varint(1) + u32(1) + u64(7) + b"m" * 64), (7, u64(12)),
              (9, u64(4) + b"l" * 32), (11, u64(3) + b"h" * 32 + b"s" * 64), (13, b"t" * 16),
              (17, bytes(24)), (18, b"".join(u64(n) for n in range(6))), (22, u64(1))]
    return body(sorted(fields + list(extra)))


def bank_row():
    keys = varint(1) + u32(1) + b"k" * 32 + b"s" * 32
    return body([(1, b"i" * 16), (3, b"work"), (5, keys), (7, b"k7q2m"), (8, u64(1)),
                 (10, b"local:cli")])


CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def recovery_code(symbols):
    check = "".join(CROCKFORD[b & 31] for b in blake2b("sr1.code", symbols.encode())[:4])
    text = symbols + check
    return "-".join(text[at:at + 4] for at in range(0, 36, 4)).encode()


def rpc():
    meta = ('"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
            '"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},'
            '"io.modelcontextprotocol/clientCapabilities":{}}')
    lines = [
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        '{"jsonrpc":"2.0","id":"a","method":"ping"}',
        '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}',
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo",'
        '"arguments":{"text":"a","n":[1,2.50,{}]}}}',
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo",'
        '"arguments":{"fail":1}}}',
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo",'
        '"arguments":{"crash":1}}}',
        '{"jsonrpc":"2.0","id":4,"method":"resources/list"}',
        '{"jsonrpc":"2.0","id":4,"method":"resources/templates/list"}',
        '{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"memory://one"}}',
        '{"jsonrpc":"2.0","id":6,"method":"prompts/list"}',
        '{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"greet",'
        '"arguments":{"name":"x"}}}',
        '{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"info"}}',
        '{"jsonrpc":"2.0","id":8,"method":"completion/complete","params":{}}',
        '{"jsonrpc":"2.0","id":9,"method":"server/discover","params":{%s}}' % meta,
        '{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{%s}}' % meta,
        '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo",%s}}' % meta,
        '{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{%s}}' % meta,
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        '{"jsonrpc":"2.0","id":null,"method":"ping"}', '{"id":1}', 'x',
    ]
    return [line.encode() for line in lines]


def policies():
    texts = [
        '{"version":1,"rules":[{"id":"default","effect":"permit","principal":"local:*"}]}',
        '{"version":7,"rules":[{"id":"a","effect":"permit","tool":["agent_*","recall"],'
        '"bank":"w*k","key":["a/*/z","b*"],"tags":"t*","class":["normal","secret"],'
        '"source":"mcp"},{"id":"b","effect":"forbid","key":"a/secret*"}]}',
        '{"version":1,"rules":[{"id":"r","effect":"ask"}]}',
    ]
    requests = [b"local:mcp\0agent_recall\0work\0mcp\0a/b/z\0t1\0t2", b"grant:x\0recall\0\0cli"]
    return [text.encode() + b"\0" + request for text in texts for request in requests]


def project():
    config = (b'[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:Acme/App.git\n'
              b'\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
    urls = [b"https://user:pw@github.com/acme/app.git", b"git@GitHub.com:Acme/App.git",
            b"ssh://git@[::1]:2222/a/b.git", b"file:///srv/app.git", b"/srv/app", b"ext::sh -c x",
            b"git@ssh.dev.azure.com:v3/Org/P/r"]
    return ([b"\x00" + text for text in [b'{"project":"acme"}',
                                         b'{"project":"a","scoping":"per-project-tagged"}']] +
            [b"\x01" + config, b'\x01[remote "origin"]\nurl="a\\"b" ; c\n',
             b"\x02ref: refs/heads/main\n", b"\x02" + b"a" * 40 + b"\n",
             b"\x03# pack-refs with: peeled\n" + b"b" * 40 + b" refs/heads/main\n",
             b"\x04../..\n", b"\x05" + b"c" * 40 + b"\n"] +
            [b"\x06" + url for url in urls])


def postings(term, rows):
    first, code = rows[0]
    payload = b"".join(varint(row - before) + bytes([code])
                       for (before, _), (row, code) in zip(rows, rows[1:]))
    out = u64(term) + varint(len(rows)) + varint(first) + bytes([code])
    return out + (varint(len(payload)) + payload if len(rows) > 1 else b"")


def index_block():
    entries = postings(5, [(1, 3)]) + postings(1 << 20, [(1, 3), (2, 1), (300, 255)])
    entries += postings(1 << 62 | 7, [(9, 0)])
    for number, word in enumerate([b"deploy", b"stra\xc3\x9fe"]):
        entries += u64((2 << 62) + number) + varint(len(word)) + word
    entries += postings(3 << 62 | 5, [(2, 3), (9, 3)])
    return struct.pack("<H", 2 + len(entries)) + entries


def index_segments():
    directory = b"".join(u64(term) for term in (5, 6, 1 << 20, 1 << 62, 2 << 62, 3 << 62))
    return [bytes(counts) + u64(term) + rest
            for counts in ([1, 1, 0, 1, 1], [2, 1, 0, 0, 0], [50, 4, 1, 3, 190])
            for term in (5, 1 << 62 | 7, 3 << 62 | 5)
            for rest in (index_block(), directory + index_block())]


def tail_rows():
    cells = bytes(range(1, 33)) + struct.pack("<6q", 1, 2**63 - 1, -2**63, -2**63, 5, 9) + bytes(16)
    terms = varint(3) + u64(3) + b"\x07" + u64(1 << 62) + b"\x00" + u64(3 << 62 | 5) + b"\x00"
    rows = [cells + terms + items([b"staging", b"database"]) + varint(0),
            cells + varint(0) + varint(0) + varint(0)]
    return [(u32(len(row)) + row).ljust(256, b"\0") for row in rows]


def manifest(segments, merges=b"\x00", extra=()):
    rows = b"".join(bytes([1]) + b"".join(varint(n) for n in numbers) for numbers in segments)
    end = segments[-1][2] + 1 if segments else 1
    fields = [(1, u64(40)), (3, b"".join(varint(n) for n in (end + 3, end, 100, 900, 2, 9))),
              (5, varint(len(segments)) + rows), (7, merges), (9, varint(0)),
              (11, varint(2) + varint(30)), (13, varint(0) + varint(0)),
              (14, varint(1) + u64(77) + varint(3)), (16, u64(5))]
    return body(sorted(fields + list(extra)))


def manifests():
    one = (1, 1, 240, 9, 1, 0, 1, 5, 2, 0)
    two = (2, 241, 500, 600, 2, 1, 1, 5, 0, 1)
    merge = varint(1) + b"\x02" + varint(2) + varint(1) + varint(2) + b"\x02"
    merge += b"".join(varint(n) for n in (3, 1, 500, 1, 0, 0, 0, 9, 0, 0))
    merge += u64(1 << 40) + varint(7) + varint(1)
    return [manifest([]), manifest([one]), manifest([one, two], merge),
            manifest([one], extra=[(18, b"later")])]


def memory_records():
    first = [(1, "Deploys run on Tuesdays.".encode()), (2, u64(1)), (3, u64(0)), (4, u64(5)),
             (5, u64(1000)), (6, u64(5))]
    more = first[:4] + [(5, u64(7)), (6, u64(9)), (8, u64(99)), (10, b"\x01"),
                        (12, struct.pack("<d", 0.75)), (14, u64(7) + u64(8)),
                        (16, items([b"infra", b"ops"])), (18, b"local:mcp"), (20, b"retain"),
                        (22, b"\x01"), (24, b"s" * 16), (26, b"\x02"), (32, u64(4)), (34, u64(1)),
                        (36, u64(2)), (37, u64(3)), (38, u64(4)), (40, u64(6)), (42, b"stand-up"),
                        (44, b"Ada"), (46, b"chat"), (48, u64(3)), (50, b"notes.md"), (52, u64(2)),
                        (54, u32(1)), (56, u32(9) + u32(2)), (58, items([b"deploys"])),
                        (60, items([b"a", b"b"]))]
    parts = varint(7) + varint(2) + b"\n\n" + varint(8) + varint(0)
    head = [(1, b"notes.md"), (2, u64(1)), (4, u64(5)), (5, u64(6)), (6, u64(5)), (9, parts),
            (10, u64(2)), (16, items([b"doc"])), (32, u32(4)), (34, u64(1))]
    page = [(13, u64(6)), (15, b"".join(varint(n + 1) + varint(0) for n in range(256)))]
    link = [(1, b"m:7"), (3, b"e:Ada"), (4, u64(5)), (5, b"supersedes"), (18, b"local:mcp"),
            (32, u64(1)), (34, u64(2))]
    links = [(7, b"e:Ada"), (9, u64(0)), (11, u64(5) + u64(9))]
    gone = [(2, u64(3)), (4, u64(5)), (5, u64(7)), (18, b"local:cli")]
    full = head[:6] + [(10, u64(258)), (11, u64(5))]
    return [bytes([kind]) + body(fields) for kind, fields in
            [(0, first), (0, more), (1, gone), (2, head), (2, full), (2, page), (3, link),
             (3, links)]]


def words():
    return [text.encode() for text in [
        "We're deploying the API server at 10:30, don't forget!",
        "src/main.cpp:42 my-tool v1.2.3 https://a.example/b?c=d#e user@host.example C++ C# .NET",
        "XMLHttpRequest snake_case SCREAMING_CASE YouTube iPhone 0xDEADBEEF 1,234.56 E0433 -Wall",
        "Stra\u00dfe \uff26\uff55\uff4c\uff4c co\u00f6perate e\u0301 \u00ad soft \u200b zero \ufb01ne",
        "\u6771\u4eac\u90fd\u306b\u4f4f\u3080 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \ud55c\uad6d\uc5b4",
        "\U0001f600\U0001f468\u200d\U0001f469 \u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \u0130I\u0131i",
        "a" * 200 + " " + "na\u00efve" * 30, "a\u0300" * 40 + " \u0300\u0301",
        "C:\\dir\\file.txt ~/.config/x --max-tokens=5 $HOME %d 50% 'quoted' rock'n'roll",
    ]]


def recall_outputs():
    head = "Found {} (as of 2026-11-21 21:40 UTC):\n\n"
    bullet = "- Deploys run on Tuesdays. [world] (2026-11-21T21:40:05.123Z) (id: k7q2m-1f)"
    return [text.encode() for text in [
        head.format("1 relevant memory") + bullet, bullet, "Deploys  run\n on Tuesdays.",
        head.format("2 relevant memories") + bullet + "\n  second line\n\n  third\n" + bullet,
        head.format("0 relevant memories"), "a\\nb \\u202e \\U0001f600 \\", "a\u202eb\u200b\x1b[0m\tc",
        "\u212bngstr\u00f6m \u2028\ufff9",
    ]]


def documents():
    text = ("# Title\n\nFirst paragraph. It has two sentences!\n\n- item one\n- item two\n\n"
            "## Part\n\n```cpp\nint main() {\n\n  return 0;\n}\n```\n\n1. first\n2. second\n"
            "NAME\n    tool - does it\n\nSYNOPSIS\n    tool [-a]\n~~~\nopen fence\n")
    others = [text, text.replace("\n", "\r\n"), "word " * 300, "x" * 600, " " * 200 + "a" + " " * 200,
              "\u65e5\u672c\u8a9e\u3002" * 60, "\U0001f600" * 50, "\n" * 70 + "a\n" * 70]
    return [bytes([limit]) + other.encode() for limit in (0, 3, 5, 6) for other in others]


def retain_items():
    return [text.encode() for text in [
        '{"content":"a"}',
        '{"content":"a","context":"b","type":"experience","tags":["x","y"],"entities":["z"],'
        '"timestamp":"2026-11-21T21:40:05Z","importance":0.5,"document_id":"d",'
        '"metadata":{"k":"v"},"occurred_start":"2026-11-01","occurred_end":"2026-11-02T10:00+02:00",'
        '"update_mode":"append","position":3,"speaker":"Ada","expires_at":"2027-01-01T00:00:00Z"}',
        '{"content":"","tags":null}', '{"content":"a","importnace":1}', '{"content":"a","position":1e3}',
    ]]


def searches():
    return [text.encode() for text in [
        '{"query":"a"}', '{"query":"a","qid":"q1"}',
        '{"query":"a","scope":"project, global","types":["fact","permanent"],"tags":["x"],'
        '"tags_match":"all_strict","limit":3,"max_tokens":9,"min_score":0,"budget":"high",'
        '"query_timestamp":"2026-11-21T21:40:05Z","temporal_window":{"start":"2026-01-01",'
        '"end":"2026-02-01"},"as_of":"2026-11-21","include":{"chunks":{"max_tokens":5},'
        '"source_facts":null,"entities":{},"invalid":true}}',
        '{"query":"a","scope":["b"],"type_filter":["world"],"token_budget":5,"bank":"b",'
        '"min_scores":{"keyword":0.5,"final":1},"prefer_observations":true,"trace":true,'
        '"detail":"full","arms":["keyword","graph"]}',
        '{"query":"a","tag_groups":[{"and":[{"tags":["x"],"match":"any"},{"not":{"or":[]}}]}]}',
        '{"query":"a","tag_groups":[' + '{"not":' * 18 + '{"tags":[]}' + '}' * 18 + ']}',
    ]]


def times():
    return [b"2026-11-21T21:40:05.123456Z", b"2026-11-21", b"2024-02-29t23:59:60+23:59",
            b"0001-01-01T00:00:00+00:01", b"9999-12-31 23:59-00:01", b"2h", b"3w", b"2026-02-30"]


def server_memory():
    lines = ['{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea",'
             '"Ada plays chess"]}',
             '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}']
    return [text.encode() for text in [
        "\n".join(lines) + "\n", "\ufeff" + "\r\n \r\n".join(lines), '{"type":"entity","name":""}\n[1]\n{',
        '{"type":"entity","name":"a","observations":[""," ",1,"b"]}',
    ]]


def import_files():
    """The readers of fuzz/import_files.cpp, in its order, and real exports for each."""
    data = pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli" / "data" / "import"
    names = [["mnemopi/export.json"], ["compartment/export.jsonl"], ["citadel/atoms.jsonl"],
             ["hindsight/bank.zip", "hindsight/documents.zip", "hindsight/list.json"]]
    return [bytes([kind]) + (data / name).read_bytes()
            for kind, files in enumerate(names) for name in files]


def http_answers():
    vectors = ["[" + ",".join(f"{(d - n) / 7:.7f}" for d in range(16)) + "]" for n in range(1, 3)]
    items = ",".join('{"object":"embedding","index":%d,"embedding":%s}' % (1 - i, vector)
                     for i, vector in enumerate(vectors))
    bodies = [(0x0b, '{"object":"list","data":[' + items + '],"usage":{"total_tokens":3}}'),
              (0x0a, '{"embeddings":[' + ",".join(vectors) + '],"total_duration":14143917}'),
              (0x00, '{"embeddings":[' + vectors[0] + "]}"),
              (0x01, '{"error":{"message":"cannot embed thewordthatwassent","type":"x"}}'),
              (0x00, '{"error":"model not found: thewordthatwassent \\u00e4"}'),
              (0x00, "no room %C3%A4 for thewordthatwassent")]
    return [bytes([flags]) + b"thewordthatwassent\0" + text.encode() for flags, text in bodies]


def http_settings():
    out = [url.encode() for url in (
        "http://127.0.0.1:11434/api/embed", "https://api.example.org/v1/embeddings?v=1",
        "http://[::1]:8080/v1/embeddings", "http://localhost/x", "http://[::ffff:127.0.0.1]/",
        "http://0x7f000001/", "http://a@b:80/")]
    for shape, cut in (("openai", 8000), ("ollama", 512)):
        url = "http://127.0.0.1:11434/api/embed"
        parts = [shape, url, "m", "query: ", "passage: ", cut, 384]
        digest = blake2b("sr1.http.model", json.dumps(parts, separators=(",", ":")).encode())
        out.append(json.dumps({
            "url": url, "shape": shape, "model": "m", "allow_remote": False, "token_file": "",
            "query_prefix": "query: ", "passage_prefix": "passage: ", "query_timeout_ms": 10000,
            "passage_timeout_ms": 60000, "max_text_bytes": cut, "dimensions": 384, "c0": 0.1,
            "c1": 0.8, "model_id": "http-" + digest.hex()[:16]}).encode())
    return out


def static_models():
    """recall/static_embedder.h, after its length and before a text."""
    def pad(data):
        return data + b"\0" * (-len(data) % 64)

    def model(tokens, dimensions, flags, unknown):
        text = b"".join(tokens)
        offsets = b"".join(u32(len(b"".join(tokens[:n]))) for n in range(len(tokens) + 1))
        numbers = (2, len(tokens), dimensions, flags, unknown, len(text))
        out = b"SRSTATIC" + b"".join(map(u32, numbers)) + b"test-1".ljust(16, b"\0")
        out = pad(out + struct.pack("<2f8x", 0.25, 4) + offsets + text)
        out = pad(out + lookup(tokens))
        out = pad(out + struct.pack(f"<{len(tokens)}f", *[0.5] * len(tokens)))
        return out + bytes(n % 251 for n in range(len(tokens) * dimensions))

    tokens = [b"[UNK]", b"tea", b"the", b"##s", b"caf\xc3\xa9", b"cafe", b"\xe6\x97\xa5", b"!"]
    text = "The teas, CAF\u00c9! cafe\u0301 \u65e5\u672c \u200b\ufffd".encode() + b"\xff tea"
    blobs = [model(tokens, 16, 3, 0), model(tokens, 32, 0, 2**32 - 1), model(tokens[:1], 16, 1, 0),
             model([b"a", b"b", b"a"], 16, 3, 0)]
    return [struct.pack(">H", len(blob)) + blob + text for blob in blobs]


def safetensors(tensors, data):
    header = json.dumps(tensors).encode()
    return u64(len(header)) + header + data


def small_safetensors():
    """One small file for each of the reader's branches; a model would be too large to mutate."""
    def tensor(dtype, shape, begin, end):
        return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}

    words = "embeddings.word_embeddings.weight"
    return [safetensors({}, b""),
            safetensors({"a": tensor("F32", [2, 2], 0, 16), "__metadata__": {"format": "pt"}}, bytes(16)),
            safetensors({"a": tensor("F16", [3], 0, 6), "b": tensor("BF16", [1, 1], 6, 8)}, b"\x00\x3c" * 4),
            safetensors({"a": tensor("I8", [4], 0, 4), "b": tensor("BOOL", [0], 4, 4)}, b"1234"),
            safetensors({words: tensor("F32", [2, 1], 0, 8),
                         "embeddings.position_embeddings.weight": tensor("F32", [1, 1], 8, 12)}, bytes(12)),
            safetensors({"a": tensor("F64", [1], 0, 8), "b": tensor("U8", [1], 4, 5)}, bytes(8))]


def small_onnx():
    """A product, quantised and plain, with what belongs to it."""
    def varint(number):
        out = b""
        while number > 0x7F:
            out += bytes([number & 0x7F | 0x80])
            number >>= 7
        return out + bytes([number])

    def field(number, value):
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        if isinstance(value, str):
            value = value.encode()
        return varint(number << 3 | 2) + varint(len(value)) + value

    def tensor(name, kind, shape, raw):
        return field(5, b"".join(field(1, n) for n in shape) + field(2, kind) + field(8, name) + raw)

    def node(operation, inputs, outputs, name, attributes=b""):
        return field(1, b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) +
                     field(3, name) + field(4, operation) + attributes)

    def model(*parts):
        return field(1, 7) + field(7, b"".join(parts))

    words = "embeddings.word_embeddings.weight"
    bias = "encoder.layer.0.output.dense.bias"
    table = tensor(words, 1, [1, 2], field(9, bytes(8)))
    value = field(5, field(1, "value") + field(5, field(1, 1) + field(2, 7) + field(7, b"\x02")))
    plain = [node("MatMul", ["x", "w"], ["y"], "/encoder/layer.0/output/dense/MatMul"),
             node("Add", ["y", bias], ["z"], "n"), tensor("w", 1, [2, 2], field(9, bytes(16))),
             tensor(bias, 1, [2], field(4, bytes(8))), table]
    integers = [node("MatMulInteger", ["x", "q", "xz", "z"], ["y"], "m"), node("Cast", ["y"], ["c"], "n"),
                node("Mul", ["xs", "s"], ["m"], "n"), node("Mul", ["c", "m"], ["r"], "n"),
                node("Add", ["r", bias], ["o"], "n"), tensor("q", 3, [2, 2], field(9, b"1234")),
                tensor("s", 1, [2], field(4, bytes(8))), tensor("z", 3, [2], field(5, b"\x01\x02")),
                tensor(bias, 1, [2], field(9, bytes(8))), table]
    gemm = [node("Gemm", ["x", "t", bias], ["y"], "n", field(5, field(1, "transB") + field(3, 1))),
            node("Transpose", ["d"], ["t"], "n"), node("DequantizeLinear", ["q", "s", "z"], ["d"], "n"),
            node("Constant", [], ["shape"], "n", value), node("Reshape", ["y", "shape"], ["v"], "n")]
    return [model(), model(*plain), model(*integers), model(*gemm, *integers[5:]),
            model(field(11, field(1, "input_ids")), field(12, field(1, "out")))]


def seeds():
    json_texts = [b"null", b"[1, -2.50, 1e3, 12345678901234567890123]", b'{"a":{"b":[{}, []]}}',
                  b'"\\u00e9\\ud834\\udd1e\\n\xc3\xa9"', b'{"a":1,"a":2}', b"[" * 64 + b"]" * 64]
    texts = [b"plain", "a\u202eb\u200b\U0001f600".encode(), b"a\xffb\n\x1b[31m", b"\xf0\x9f\x98"]
    return {
        "json": json_texts,
        "display_text": texts,
        "recovery_code": [recovery_code("0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
                          recovery_code("7" * 32).lower()],
        "header": [header(), header(2), header(1, 1 << 40), header(1, 0, 1 << 40)],
        "root": [root([]), root([(1, [], []), (3, [], [])]),
                 root([(2, [b"x" * 16, b"y" * 16], [b"z" * 16])]),
                 root([(1, [], [])], [(18, b"later")]), root([], [(19, b"newer")])],
        "recipient": [recipient(1, 1, 3, 262144, b"b" * 120), recipient(2, 2, 0, 0, b"b" * 120),
                      recipient(3, 4, 0, 0, b""), recipient(1, 3, 11, 1, b""),
                      recipient(1, 1, 2**32 - 1, 2**32 - 1, b"")],
        "body": [body([(1, b"name"), (2, u64(1)), (3, u32(7)), (16, items([b"a", b"", b"tag"]))]),
                 body([(1, b""), (300, b"x" * 200)]), body([(7, items([]))])],
        "head": [head(), head([(20, u64(3) + u64(4))]), head([(24, b"later")])],
        "version_vector": [
            vector([]), vector([(b"a" * 16, 5), (b"b" * 16, 7)]) + vector([(b"a" * 16, 6)]),
            vector([(bytes(16), 3), (b"c" * 16, 9)]) + vector([(b"c" * 16, 9)]),
            vector([(bytes([n + 1] * 16), n + 1) for n in range(32)]) +
            vector([(bytes([n + 101] * 16), n + 50) for n in range(32)])],
        "bank_row": [bank_row(), (b"t" * 8 + u32(1) + u64(2)) * 2],
        "policy": policies(),
        "glob": [b"a*b\0axxb", b"*\0", b"a/*/c*\0a/b/c/d", b"**a**\0aaa", b"exact\0exact"],
        "scanner": [b"AKIA" + b"A" * 16, b"ghp_" + b"a" * 36, b"password = hunter2hunter2",
                    b"-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----", b"api_key: x"],
        "project": project(),
        "client_config": [b'J{"mcpServers":{"other":{"command":"x"}}}', b"J", b'J{\r\n}\r\n',
                          b'J{"mcpServers":{"strongroom":{"command":"old","env":{"A":"b"}}}}',
                          b'T[mcp_servers.other]\ncommand = "x"\n', b"T",
                          b'T[mcp_servers.strongroom]\ncommand = "old"\nargs = ["a", "b"]\n',
                          b'Ta = """\nmulti\n"""\n[b]\nc = \'x\' # d\n'],
        "rpc": rpc(),
        "index_block": [index_block(), struct.pack("<H", 2)],
        "index_segment": index_segments(),
        "tail_row": tail_rows(),
        "manifest": manifests(),
        "columns": [bytes(range(64)), b"\xff" * 64],
        "analyzer": words(),
        "normalized": recall_outputs() + texts[:2],
        "edit_distance": [b"\x02receive\0recieve", "\x01na\u00efve\0naive".encode(), b"\x04\0abc"],
        "splitter": documents(),
        "static_model": static_models(),
        "http_answer": http_answers(),
        "http_settings": http_settings(),
        "safetensors": small_safetensors(),
        "onnx": small_onnx(),
        "memory_record": memory_records(),
        "memory_id": [b"k7q2m-1f", b"00000-zzzzzzzzzzzzz", b"k7q2m-01"],
        "retain_item": retain_items(),
        "search_options": searches(),
        "time_text": times(),
        "server_memory": server_memory(),
        "import_files": import_files(),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_seeds.py FOLDER")
    for target, inputs in seeds().items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(inputs):
            (folder / f"{number:02}").write_bytes(data)


if __name__ == "__main__":
    main()
