"""Sentence encoders that the static vectors are learnt from: ONNX graphs run on the CPU."""
import json

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer


class Teacher:
    """pooling is what the model was trained with: the vectors of another pooling are much worse."""

    def __init__(self, onnx, tokenizer, pooling="mean", prefix="", threads=2, max_length=128):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
        self.names = [i.name for i in self.session.get_inputs()]
        self.tokenizer = Tokenizer.from_file(tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)
        self.pooling, self.prefix = pooling, prefix
        vocab = self.tokenizer.get_vocab()
        self.cls, self.sep = vocab["[CLS]"], vocab["[SEP]"]

    def run(self, rows):
        """rows: lists of token ids. Returns one normalised vector a row."""
        width = max(len(r) for r in rows)
        ids = np.zeros((len(rows), width), np.int64)
        mask = np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        out = self.session.run(None, {n: feed[n] for n in self.names})[0]
        if out.ndim == 3:
            if self.pooling == "cls":
                out = out[:, 0]
            else:
                weight = mask[:, :, None].astype(np.float32)
                out = (out * weight).sum(1) / weight.sum(1)
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)

    def encode_rows(self, rows, tokens_a_batch=2048, progress=None):
        """Rows of like length share a batch, so that little is computed for padding."""
        order = np.argsort([len(r) for r in rows], kind="stable")
        result, at = None, 0
        while at < len(order):
            size = max(1, tokens_a_batch // len(rows[order[min(at + 63, len(order) - 1)]]))
            part = order[at : at + size]
            vectors = self.run([rows[i] for i in part])
            if result is None:
                result = np.zeros((len(rows), vectors.shape[1]), np.float32)
            result[part] = vectors
            at += size
            if progress and (at // size) % 50 == 0:
                progress(at, len(rows))
        return result

    def encode(self, texts, progress=None):
        rows = [e.ids for e in self.tokenizer.encode_batch([self.prefix + t for t in texts])]
        return self.encode_rows(rows, progress=progress)

    def encode_tokens(self, tokens):
        """Each token alone, between [CLS] and [SEP], after the prefix. A token that the teacher lacks is cut into its own pieces."""
        vocab = self.tokenizer.get_vocab()
        head = self.tokenizer.encode(self.prefix, add_special_tokens=False).ids if self.prefix else []
        rows = []
        for token in tokens:
            known = vocab.get(token)
            ids = [known] if known is not None else self.tokenizer.encode(token, add_special_tokens=False).ids
            rows.append([self.cls, *head, *ids, self.sep])
        return self.encode_rows(rows)


def vocabulary(tokenizer_json):
    """Tokens in the order of their ids."""
    with open(tokenizer_json, encoding="utf-8") as f:
        vocab = json.load(f)["model"]["vocab"]
    return sorted(vocab, key=vocab.get)
