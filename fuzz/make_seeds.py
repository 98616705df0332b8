#!/usr/bin/env python3
"""Seed corpora for the fuzzers: fuzz/make_seeds.py FOLDER makes FOLDER/<target>/<nn>.

Built from docs/format.md with the standard library, so that every reader gets past its first
checks: the headers and rows are well formed, only what needs a key is not authentic.
"""

import hashlib
import pathlib
import struct
import sys


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
