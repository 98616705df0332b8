#!/usr/bin/env python3
"""Makes data/: a tiny random BERT in several formats, and what other programs say of it.

    make_data.py        needs numpy, onnx, onnxruntime, safetensors and tokenizers

Random weights that a 16-bit float holds exactly, so that every format has the same ones. The ONNX
file is built as torch's exporter names things: transposed weights are "onnx::MatMul_N", nodes carry
the module's path. onnxruntime quantises it. reference.json has the tokens that Hugging Face's
tokenizers makes of some texts, the vectors that onnxruntime makes of them (float), those of the
dequantised weights and the cross-encoder's logits by numpy.
"""

import json
import math
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).parent / "data"
HIDDEN, HEADS, WIDE, LAYERS, POSITIONS, EPSILON = 32, 4, 64, 2, 40, 1e-12
WORDS = """the key was rotated on monday who has cat sat mat deploy server port is in test run fail
red blue when where why how un able ##able ##ing ##ed ##s ##ion cafe strasse old new memory vault
""".split()
TEXTS = ["the key was rotated on monday", "who has the key?", "The CAT sat, on the mat!",
         "Caf\u00e9 Stra\u00dfe", "unable deployed servers", "port 8080 is in use", "\u65e5\u672c the cat",
         "qux\u0416 the", "memory-vault: 'new' & old", "a", "when where why how " * 20,
         "runs running failed tests\tmonday\n\nmonday"]
PAIRS = [("who has the key?", "the key was rotated on monday"), ("why", "the cat sat on the mat"),
         ("where is the server", ""), ("", "port"), ("when where " * 30, "how " * 30)]


def vocabulary():
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list("!&',-.:?0128") + list(letters)
    return list(dict.fromkeys(tokens + ["##" + c for c in letters] + WORDS))


def random_weights(tokens):
    rng = np.random.default_rng(20261122)
    weights = {}

    def put(name, *shape, scale=0.3, middle=0.0):
        weights[name] = (middle + scale * rng.standard_normal(shape)).astype(np.float16)

    def dense(name, outputs, inputs):
        put(name + ".weight", outputs, inputs)
        put(name + ".bias", outputs)

    def norm(name):
        put(name + ".LayerNorm.weight", HIDDEN, scale=0.1, middle=1)
        put(name + ".LayerNorm.bias", HIDDEN, scale=0.1)

    put("embeddings.word_embeddings.weight", tokens, HIDDEN)
    put("embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    put("embeddings.token_type_embeddings.weight", 2, HIDDEN)
    norm("embeddings")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            dense(layer + "attention.self." + part, HIDDEN, HIDDEN)
        dense(layer + "attention.output.dense", HIDDEN, HIDDEN)
        norm(layer + "attention.output")
        dense(layer + "intermediate.dense", WIDE, HIDDEN)
        dense(layer + "output.dense", HIDDEN, WIDE)
        norm(layer + "output")
    dense("pooler.dense", HIDDEN, HIDDEN)
    dense("classifier", 1, HIDDEN)
    return weights


def forward(weights, ids, types):
    """The last layer's vectors, in double precision."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}

    def dense(name, x):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * w[name + ".LayerNorm.weight"] + w[name + ".LayerNorm.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)]
    x = norm("embeddings", x + w["embeddings.token_type_embeddings.weight"][types])
    size = HIDDEN // HEADS
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        q, k, v = (dense(layer + "attention.self." + p, x) for p in ("query", "key", "value"))
        seen = np.empty_like(x)
        for h in range(HEADS):
            part = slice(h * size, (h + 1) * size)
            scores = q[:, part] @ k[:, part].T / math.sqrt(size)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen[:, part] = scores / scores.sum(-1, keepdims=True) @ v[:, part]
        x = norm(layer + "attention.output", x + dense(layer + "attention.output.dense", seen))
        wide = dense(layer + "intermediate.dense", x)
        wide = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(layer + "output", x + dense(layer + "output.dense", wide))
    return x


class Exporter:
    """The encoder as a graph, named as torch.onnx names it."""

    def __init__(self, weights):
        self.w, self.nodes, self.tensors, self.serial = weights, [], [], 100
        self.known = set()

    def tensor(self, name, value):
        if name not in self.known:
            self.known.add(name)
            self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name):
        return self.tensor(name, self.w[name].astype(np.float32))

    def constant(self, path, value):
        name = f"{path}/Constant_{len(self.nodes)}_output_0"
        value = numpy_helper.from_array(np.array(value), "")
        self.nodes.append(helper.make_node("Constant", [], [name], name[:-9], value=value))
        return name

    def node(self, operation, path, *inputs, **attributes):
        name = f"{path}/{operation}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name + "_output_0"], name, **attributes))
        return name + "_output_0"

    def dense(self, module, x):
        path = "/" + module.replace(".", "/").replace("/layer/", "/layer.")
        self.serial += 1
        weight = self.tensor(f"onnx::MatMul_{self.serial}", self.w[module + ".weight"].T.astype(np.float32))
        return self.node("Add", path, self.weight(module + ".bias"), self.node("MatMul", path, x, weight))

    def norm(self, module, x):
        path = "/" + module.replace(".", "/").replace("/layer/", "/layer.") + "/LayerNorm"
        centred = self.node("Sub", path, x, self.node("ReduceMean", path, x, axes=[-1]))
        square = self.node("Pow", path, centred, self.constant(path, np.float32(2)))
        variance = self.node("ReduceMean", path, square, axes=[-1])
        root = self.node("Sqrt", path, self.node("Add", path, variance, self.constant(path, np.float32(EPSILON))))
        scaled = self.node("Mul", path, self.node("Div", path, centred, root),
                           self.weight(module + ".LayerNorm.weight"))
        return self.node("Add", path, scaled, self.weight(module + ".LayerNorm.bias"))

    def heads(self, path, x, perm):
        shape = self.node("Shape", path, x)
        sizes = [self.node("Unsqueeze", path, self.node("Gather", path, shape, self.constant(path, np.int64(i)), axis=0),
                           self.constant(path, np.array([0]))) for i in (0, 1)]
        sizes += [self.constant(path, np.array([n])) for n in (HEADS, HIDDEN // HEADS)]
        cut = self.node("Reshape", path, x, self.node("Concat", path, *sizes, axis=0))
        return self.node("Transpose", path, cut, perm=perm)

    def model(self):
        path = "/embeddings"
        length = self.node("Gather", path, self.node("Shape", path, "input_ids"), self.constant(path, np.int64(1)), axis=0)
        length = self.node("Unsqueeze", path, length, self.constant(path, np.array([0])))
        ids = self.tensor("embeddings.position_ids", np.arange(POSITIONS)[None])
        ids = self.node("Slice", path, ids, self.constant(path, np.array([0])), length,
                        self.constant(path, np.array([1])), self.constant(path, np.array([1])))
        x = self.node("Add", path, self.node("Gather", path, self.weight("embeddings.word_embeddings.weight"), "input_ids"),
                      self.node("Gather", path, self.weight("embeddings.token_type_embeddings.weight"), "token_type_ids"))
        x = self.node("Add", path, x, self.node("Gather", path, self.weight("embeddings.position_embeddings.weight"), ids))
        x = self.norm("embeddings", x)
        for i in range(LAYERS):
            x = self.layer(f"encoder.layer.{i}", x)
        self.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], "/Identity"))
        values = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
                  for name in ("input_ids", "attention_mask", "token_type_ids")]
        out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", HIDDEN])
        graph = helper.make_graph(self.nodes, "main_graph", values, [out], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7)
        onnx.checker.check_model(model)
        return model

    def layer(self, name, x):
        path = "/" + name.replace(".", "/").replace("/layer/", "/layer.") + "/attention/self"
        q = self.heads(path, self.dense(name + ".attention.self.query", x), [0, 2, 1, 3])
        k = self.heads(path, self.dense(name + ".attention.self.key", x), [0, 2, 3, 1])
        v = self.heads(path, self.dense(name + ".attention.self.value", x), [0, 2, 1, 3])
        scores = self.node("Div", path, self.node("MatMul", path, q, k),
                           self.constant(path, np.float32(math.sqrt(HIDDEN // HEADS))))
        seen = self.node("MatMul", path, self.node("Softmax", path, scores, axis=-1), v)
        seen = self.node("Transpose", path, seen, perm=[0, 2, 1, 3])
        seen = self.node("Reshape", path, seen, self.constant(path, np.array([0, 0, HIDDEN])))
        x = self.norm(name + ".attention.output", self.node("Add", path, self.dense(name + ".attention.output.dense", seen), x))
        path = path.replace("/attention/self", "/intermediate/intermediate_act_fn")
        wide = self.dense(name + ".intermediate.dense", x)
        share = self.node("Erf", path, self.node("Div", path, wide, self.constant(path, np.float32(math.sqrt(2)))))
        wide = self.node("Mul", path, wide, self.node("Add", path, share, self.constant(path, np.float32(1))))
        wide = self.node("Mul", path, wide, self.constant(path, np.float32(0.5)))
        return self.norm(name + ".output", self.node("Add", path, self.dense(name + ".output.dense", wide), x))


def dequantised(path, weights):
    """The weights as the quantised file has them."""
    graph = onnx.load(path).graph
    tensors = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in graph.initializer}
    out = dict(weights)
    serial = 100
    for name in [n for n in weights if n.endswith("embeddings.weight")]:
        if name + "_quantized" in tensors:
            out[name] = (tensors[name + "_quantized"] - tensors[name + "_zero_point"]) * tensors[name + "_scale"]
    for i in range(LAYERS):
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
                     "intermediate.dense", "output.dense"):
            serial += 1
            base = f"onnx::MatMul_{serial}"
            value = (tensors[base + "_quantized"] - tensors[base + "_zero_point"]) * tensors[base + "_scale"]
            out[f"encoder.layer.{i}.{part}.weight"] = value.T
    return out


def tokenizer(tokens):
    out = Tokenizer(models.WordPiece({t: i for i, t in enumerate(tokens)}, unk_token="[UNK]", max_input_chars_per_word=100))
    out.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    out.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    out.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return out


def rounded(vector):
    return [round(float(x), 7) for x in vector]


def main():
    HERE.mkdir(exist_ok=True)
    tokens = vocabulary()
    weights = random_weights(len(tokens))
    encoder = {n: v for n, v in weights.items() if not n.startswith(("pooler", "classifier"))}
    save_file(encoder, HERE / "encoder_f16.safetensors", {"format": "pt"})
    save_file({(n if n.startswith("classifier") else "bert." + n): v for n, v in weights.items()},
              HERE / "cross_f16.safetensors", {"format": "pt"})
    (HERE / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    pieces = tokenizer(tokens)
    (HERE / "tokenizer.json").write_text(pieces.to_str(), encoding="utf-8")
    (HERE / "config.json").write_text(json.dumps({
        "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": WIDE, "hidden_act": "gelu", "layer_norm_eps": EPSILON, "vocab_size": len(tokens),
        "max_position_embeddings": POSITIONS, "position_embedding_type": "absolute", "type_vocab_size": 2}) + "\n")
    onnx.save(Exporter(encoder).model(), HERE / "model.onnx")
    quantize_dynamic(HERE / "model.onnx", HERE / "model_quantized.onnx", weight_type=QuantType.QInt8, per_channel=True)
    integers = dequantised(HERE / "model_quantized.onnx", encoder)

    sessions = [onnxruntime.InferenceSession(HERE / name) for name in ("model.onnx", "model_quantized.onnx")]
    pieces.enable_truncation(POSITIONS)
    texts = []
    for text in TEXTS:
        ids = pieces.encode(text).ids
        feed = {"input_ids": [ids], "token_type_ids": [[0] * len(ids)]}
        plain, quantised = (s.run(None, {i.name: np.array(feed[i.name]) for i in s.get_inputs() if i.name in feed}
                                  | ({"attention_mask": np.ones((1, len(ids)), np.int64)}
                                     if "attention_mask" in [i.name for i in s.get_inputs()] else {}))[0][0] for s in sessions)
        whole = forward(integers, ids, [0] * len(ids))
        assert np.allclose(plain, forward(encoder, ids, [0] * len(ids)), atol=1e-4), text
        a, b = quantised.mean(0), whole.mean(0)
        assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) > 0.99, text
        texts.append({"text": text, "ids": ids, "mean": rounded(plain.mean(0)), "cls": rounded(plain[0]),
                      "quantised_mean": rounded(whole.mean(0))})
    pairs = []
    for query, passage in PAIRS:
        most = (POSITIONS - 3) // 2
        q = pieces.encode(query).ids[1:-1][:most]
        p = pieces.encode(passage).ids[1:-1][:POSITIONS - 3 - len(q)]
        ids, types = [2] + q + [3] + p + [3], [0] * (len(q) + 2) + [1] * (len(p) + 1)
        first = forward(weights, ids, types)[0]
        w = {n: v.astype(np.float64) for n, v in weights.items()}
        pooled = np.tanh(w["pooler.dense.weight"] @ first + w["pooler.dense.bias"])
        logit = float((w["classifier.weight"] @ pooled + w["classifier.bias"])[0])
        pairs.append({"query": query, "passage": passage, "score": round(1 / (1 + math.exp(-logit)), 7)})
    (HERE / "reference.json").write_text(json.dumps({"texts": texts, "pairs": pairs}, indent=0) + "\n", encoding="utf-8")
    print("bytes:", sum(f.stat().st_size for f in HERE.iterdir()), [round(p["score"], 3) for p in pairs])


if __name__ == "__main__":
    main()
