"""The static model: its blob on disk, and the sentence vectors that the C++ reader must reproduce."""
import struct

import numpy as np
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece

from lookup import lookup

MAGIC, FORMAT, NONE = b"SRSTATIC", 2, 0xFFFFFFFF
LOWER, STRIP = 1, 2
HEADER = struct.Struct("<8s6I16s2f8x")
ALIGN = 64
MAX_TOKENS = 512


def make_tokenizer(tokens, unk="[UNK]"):
    """BERT's tokeniser for a list of tokens."""
    t = Tokenizer(WordPiece({w: i for i, w in enumerate(tokens)}, unk_token=unk, max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return t


def quantise(vectors):
    """One scale a row: rare tokens are long, frequent ones short, and neither may lose its direction."""
    scale = np.abs(vectors).max(axis=1) / 127.0
    rows = np.rint(vectors / np.maximum(scale, 1e-12)[:, None]).astype(np.int8)
    return scale.astype(np.float32), rows


def pad(data):
    return data + b"\0" * (-len(data) % ALIGN)


def write(path, tokens, vectors, model_id, curve=(0.0, 0.0)):
    """vectors: float, the tokens' weights included. A row of zeros is a token without meaning."""
    if vectors.shape[1] % 16:
        raise ValueError("the number of dimensions must be a multiple of 16")
    scale, rows = quantise(vectors)
    texts = [t.encode() for t in tokens]
    offsets = np.concatenate([[0], np.cumsum([len(t) for t in texts])]).astype("<u4")
    unk = tokens.index("[UNK]") if "[UNK]" in tokens else NONE
    head = HEADER.pack(MAGIC, FORMAT, len(tokens), vectors.shape[1], LOWER | STRIP, unk, int(offsets[-1]), model_id.encode().ljust(16, b"\0"), *curve)
    blob = pad(head + offsets.tobytes() + b"".join(texts))
    blob = pad(blob + lookup(texts))
    blob = pad(blob + scale.astype("<f4").tobytes()) + rows.tobytes()
    with open(path, "wb") as f:
        f.write(blob)


class StaticModel:
    def __init__(self, tokens, scale, rows, model_id=""):
        self.tokens, self.scale, self.rows, self.model_id = tokens, scale, rows, model_id
        self.tokenizer = make_tokenizer(tokens)
        self.unk = tokens.index("[UNK]") if "[UNK]" in tokens else -1

    @classmethod
    def from_vectors(cls, tokens, vectors):
        return cls(tokens, *quantise(vectors))

    @classmethod
    def read(cls, path):
        with open(path, "rb") as f:
            blob = f.read()
        magic, version, v, d, _, _, size, name, _, _ = HEADER.unpack_from(blob)
        if magic != MAGIC or version != FORMAT:
            raise ValueError(f"{path} is no static model")
        offsets = np.frombuffer(blob, "<u4", v + 1, HEADER.size)
        at = HEADER.size + 4 * (v + 1)
        text = blob[at : at + size]
        tokens = [text[a:b] for a, b in zip(offsets, offsets[1:])]
        at += size
        at += -at % ALIGN
        at += len(lookup(tokens))
        at += -at % ALIGN
        scale = np.frombuffer(blob, "<f4", v, at)
        at += 4 * v
        at += -at % ALIGN
        rows = np.frombuffer(blob, np.int8, v * d, at).reshape(v, d)
        if at + v * d != len(blob):
            raise ValueError(f"{path} has bytes left over or is cut off")
        return cls([t.decode() for t in tokens], scale, rows, name.rstrip(b"\0").decode())

    def ids(self, texts):
        return [e.ids for e in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def encode(self, texts):
        out = np.zeros((len(texts), self.rows.shape[1]), np.float32)
        for i, ids in enumerate(self.ids(texts)):
            ids = [t for t in ids[:MAX_TOKENS] if t != self.unk]
            if ids:
                out[i] = (self.rows[ids].astype(np.float32) * self.scale[ids][:, None]).sum(0)
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)
