#!/usr/bin/env python3
"""Known answers for tests/crypto, computed without libsodium and without Strongroom's code.

BLAKE2b is Python's own, Argon2id the reference library (Debian: python3-argon2); X25519,
XChaCha20-Poly1305 and Padme are written out below after RFC 7748, RFC 8439,
draft-irtf-cfrg-xchacha and the PURBs paper. Everything else follows docs/format.md.

    /usr/bin/python3 tests/crypto/make_vectors.py

rewrites tests/crypto/vectors/*.jsonl, except rfc.jsonl, which holds published values. The output
is the same at every run.
"""

import hashlib
import json
import math
import pathlib
import random
import struct

import argon2.low_level as argon2

FOLDER = pathlib.Path(__file__).resolve().parent / "vectors"


# ---- primitives ---------------------------------------------------------------------------------

def rotate(value, bits):
    return ((value << bits) | (value >> (32 - bits))) & 0xFFFFFFFF


def chacha_rounds(state):
    x = list(state)

    def quarter(a, b, c, d):
        x[a] = (x[a] + x[b]) & 0xFFFFFFFF
        x[d] = rotate(x[d] ^ x[a], 16)
        x[c] = (x[c] + x[d]) & 0xFFFFFFFF
        x[b] = rotate(x[b] ^ x[c], 12)
        x[a] = (x[a] + x[b]) & 0xFFFFFFFF
        x[d] = rotate(x[d] ^ x[a], 8)
        x[c] = (x[c] + x[d]) & 0xFFFFFFFF
        x[b] = rotate(x[b] ^ x[c], 7)

    for _ in range(10):
        quarter(0, 4, 8, 12)
        quarter(1, 5, 9, 13)
        quarter(2, 6, 10, 14)
        quarter(3, 7, 11, 15)
        quarter(0, 5, 10, 15)
        quarter(1, 6, 11, 12)
        quarter(2, 7, 8, 13)
        quarter(3, 4, 9, 14)
    return x


CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def hchacha20(key, nonce16):
    state = CONSTANTS + struct.unpack("<8I", key) + struct.unpack("<4I", nonce16)
    x = chacha_rounds(state)
    return struct.pack("<8I", *(x[0:4] + x[12:16]))


def chacha_stream(key, last_four_words, size):
    """last_four_words(block) gives the counter and nonce words of a block."""
    out = b""
    block = 0
    while len(out) < size:
        state = CONSTANTS + struct.unpack("<8I", key) + last_four_words(block)
        x = chacha_rounds(state)
        out += struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, state)))
        block += 1
    return out[:size]


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(key[16:], "little")
    total = 0
    for at in range(0, len(message), 16):
        part = message[at:at + 16] + b"\x01"
        total = (total + int.from_bytes(part, "little")) * r % (2**130 - 5)
    return ((total + s) % 2**128).to_bytes(16, "little")


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def pad16(data):
    return data + bytes(-len(data) % 16)


def xchacha_seal(key, nonce, aad, plain):
    """XChaCha20-Poly1305-IETF: ciphertext | tag."""
    subkey = hchacha20(key, nonce[:16])
    tail = (0,) + struct.unpack("<2I", nonce[16:])
    stream = chacha_stream(subkey, lambda n: (n,) + tail, 64 + len(plain))
    sealed = xor(plain, stream[64:])
    lengths = struct.pack("<QQ", len(aad), len(plain))
    return sealed + poly1305(stream[:32], pad16(aad) + pad16(sealed) + lengths)


def x25519(scalar, point):
    k = int.from_bytes(scalar, "little")
    k = (k & ~7 & ~(1 << 255)) | 1 << 254
    u = int.from_bytes(point, "little") & ((1 << 255) - 1)
    p = 2**255 - 19
    x1, x2, z2, x3, z3, swap = u % p, 1, 0, u % p, 1, 0
    for t in reversed(range(255)):
        bit = (k >> t) & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b = (x2 + z2) % p, (x2 - z2) % p
        aa, bb = a * a % p, b * b % p
        e = (aa - bb) % p
        c, d = (x3 + z3) % p, (x3 - z3) % p
        da, cb = d * a % p, c * b % p
        x3, z3 = (da + cb) ** 2 % p, x1 * (da - cb) ** 2 % p
        x2, z2 = aa * bb % p, e * (aa + 121665 * e) % p
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, p - 2, p) % p).to_bytes(32, "little")


def public_key(secret):
    return x25519(secret, (9).to_bytes(32, "little"))


def box(sender, recipient_public, nonce, plain):
    """crypto_box_curve25519xchacha20poly1305_easy, after the nonce: tag | ciphertext."""
    shared = hchacha20(x25519(sender, recipient_public), bytes(16))
    subkey = hchacha20(shared, nonce[:16])
    tail = struct.unpack("<2I", nonce[16:])
    stream = chacha_stream(subkey, lambda n: (n, 0) + tail, 32 + len(plain))
    sealed = xor(plain, stream[32:])
    return poly1305(stream[:32], sealed) + sealed


def blake2b(label, message, key=b"", size=32):
    person = label.encode().ljust(16, b"\0")
    return hashlib.blake2b(message, digest_size=size, key=key, person=person).digest()


def padme(n):
    exponent = int(math.floor(math.log2(n)))
    low_bits = exponent - (int(math.floor(math.log2(exponent))) + 1)
    mask = (1 << low_bits) - 1
    return (n + mask) & ~mask


# ---- Strongroom's own forms ---------------------------------------------------------------------

def make_slot(case):
    """The 200 bytes of a key slot; docs/format.md, "recipient"."""
    method = {"passphrase": 1, "keyfile": 2, "both": 3, "code": 4}[case["method"]]
    role = {"owner": 1, "grant": 2, "admin": 3}[case["role"]]
    passphrase = case.get("passphrase", "").encode()
    key_file = bytes.fromhex(case.get("key_file", ""))
    salt = bytes.fromhex(case["salt"])
    passes, kib = (2, 65536) if method in (1, 3) else (0, 0)
    if method in (1, 3):
        stretched = argon2.hash_secret_raw(passphrase, salt, passes, kib, 1, 32,
                                           argon2.Type.ID, 0x13)
    if method == 1:
        kek = stretched
    elif method == 3:
        kek = blake2b("sr1.slot.file", key_file + salt, stretched)
    else:
        kek = blake2b("sr1.slot.file", salt, key_file)
    clear = struct.pack("<BBBBIII", 1, 1, role, method, passes, kib, 0) + salt
    clear += bytes.fromhex(case["admin_public_key"])
    public = bytes.fromhex(case["public_key"])
    aad = b"sr1.aad.slot".ljust(16, b"\0") + bytes.fromhex(case["vault_id"])
    aad += bytes.fromhex(case["recipient_id"]) + clear + public
    nonce = bytes.fromhex(case["nonce"])
    sealed = xchacha_seal(blake2b("sr1.slot.wrap", b"", kek), nonce, aad,
                          bytes.fromhex(case["secret"]))
    return clear + blake2b("sr1.slot.commit", b"", kek) + nonce + sealed + public


CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def recovery_code(symbols):
    check = "".join(CROCKFORD[b & 31] for b in blake2b("sr1.code", symbols.encode())[:4])
    text = symbols + check
    return "-".join(text[at:at + 4] for at in range(0, 36, 4))


# ---- files --------------------------------------------------------------------------------------

def write(name, rows):
    with open(FOLDER / name, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def main():
    rng = random.Random(20260821)
    make = rng.randbytes

    rows = []
    for label in ["sr1.header", "sr1.name", "sr1.k.records", "sr1.log.chain", "fifteen.letters"]:
        for size in [0, 1, 31, 32, 64, 127, 128, 129, 255, 256, 257, 1000]:
            key, message = make(32), make(size)
            rows.append({
                "label": label, "key": key.hex(), "message": message.hex(),
                "hash32": blake2b(label, message).hex(),
                "keyed_hash16": blake2b(label, message, key, 16).hex(),
                "keyed_hash32": blake2b(label, message, key).hex(),
            })
    write("blake2b.jsonl", rows)

    rows = []
    for _ in range(8):
        key = make(32)
        total, steps, held = 0, [], []
        for _ in range(16):
            add = not held or rng.random() < 0.7
            element = make(rng.randrange(0, 80)) if add else held.pop(rng.randrange(len(held)))
            value = int.from_bytes(blake2b("sr1.set", element, key, 64), "little")
            if add:
                held.append(element)
            total = (total + value if add else total - value) % 2**512
            steps.append({"add": add, "element": element.hex(),
                          "sum": total.to_bytes(64, "little").hex()})
        rows.append({"key": key.hex(), "steps": steps})
    # Removing what was never added wraps around.
    key, element = make(32), b"never added"
    value = int.from_bytes(blake2b("sr1.set", element, key, 64), "little")
    rows.append({"key": key.hex(), "steps": [
        {"add": False, "element": element.hex(),
         "sum": (-value % 2**512).to_bytes(64, "little").hex()},
        {"add": True, "element": element.hex(), "sum": bytes(64).hex()}]})
    write("multiset.jsonl", rows)

    rows = []
    for size in [0, 1, 15, 16, 17, 63, 64, 65, 200, 300]:
        key, nonce, aad, plain = make(32), make(24), make(rng.randrange(0, 70)), make(size)
        rows.append({"key": key.hex(), "nonce": nonce.hex(), "aad": aad.hex(),
                     "plain": plain.hex(), "sealed": xchacha_seal(key, nonce, aad, plain).hex()})
    write("xchacha20poly1305.jsonl", rows)

    rows = []
    for size in [0, 1, 31, 32, 33, 63, 64, 96, 97, 200]:
        sender, recipient, nonce, plain = make(32), make(32), make(24), make(size)
        sealed = nonce + box(sender, public_key(recipient), nonce, plain)
        rows.append({"sender": sender.hex(), "sender_public": public_key(sender).hex(),
                     "recipient": recipient.hex(), "recipient_public": public_key(recipient).hex(),
                     "plain": plain.hex(), "box": sealed.hex()})
    # Sealed boxes: the nonce is BLAKE2b-192(ephemeral public key | recipient's public key).
    for size in [0, 32, 70]:
        ephemeral, recipient, plain = make(32), make(32), make(size)
        nonce = hashlib.blake2b(public_key(ephemeral) + public_key(recipient),
                                digest_size=24).digest()
        sealed = public_key(ephemeral) + box(ephemeral, public_key(recipient), nonce, plain)
        rows.append({"recipient": recipient.hex(), "recipient_public": public_key(recipient).hex(),
                     "plain": plain.hex(), "sealed_box": sealed.hex()})
    write("box.jsonl", rows)

    rows = []
    passphrases = {"passphrase": "correct horse battery staple",
                   "both": "gr\u00fc\u00df \u4f60\u597d"}
    for role, method in [("owner", "passphrase"), ("grant", "keyfile"), ("owner", "both"),
                         ("owner", "code"), ("admin", "keyfile")]:
        case = {"role": role, "method": method, "vault_id": make(16).hex(),
                "recipient_id": make(16).hex(), "salt": make(16).hex(), "nonce": make(24).hex(),
                "admin_public_key": make(32).hex(), "secret": make(32).hex()}
        case["public_key"] = public_key(bytes.fromhex(case["secret"])).hex()
        if method in passphrases:
            case["passphrase"] = passphrases[method]
        if method != "passphrase":
            case["key_file"] = make(32).hex()
        case["slot"] = make_slot(case).hex()
        rows.append(case)
    write("key_slot.jsonl", rows)

    rows = []
    for _ in range(50):
        symbols = "".join(rng.choice(CROCKFORD) for _ in range(32))
        rows.append({"code": recovery_code(symbols), "key": symbols.encode().hex()})
    write("recovery_code.jsonl", rows)

    sizes = list(range(2, 70)) + [255, 256, 257, 260, 1000, 4096, 4097, 65535, 65536, 65537,
                                  10**6, 2**30 - 1, 2**30 + 1]
    write("padme.jsonl", [{"n": n, "padded": padme(n)} for n in sizes])


if __name__ == "__main__":
    main()
