"""One peer in one process: commands as JSON lines on standard input, answers on standard output.

    worker.py SYSTEM FOLDER VECTORS

Started by run.py with the peers' interpreter. What the peers print goes to standard error."""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "recall_eval")]
MEMORY_AT_MOST = 16 << 30


def memory():
    """Resident and anonymous bytes of this process."""
    out = {}
    with open("/proc/self/smaps_rollup", encoding="ascii") as rows:
        for row in rows:
            name, _, rest = row.partition(":")
            if name in ("Rss", "Anonymous"):
                out[name.lower()] = int(rest.split()[0]) * 1024
    return out


class Worker:
    def __init__(self, name, folder, vectors):
        self.name, self.folder, self.vectors = name, folder, vectors
        self.embedder = self.system = None

    def open(self, create, load=False):
        before = time.perf_counter()
        from systems import SYSTEMS
        wants_model = self.name not in ("fts5", "compartment", "compartment-adaptive")
        # Compartment brings its own encoder: of ours it needs the kept vectors alone.
        if self.name != "fts5" and (wants_model or load):
            from embedder import Embedder
            self.embedder = Embedder(self.vectors)
        else:
            self.embedder = Plain()
        self.system = SYSTEMS[self.name](self.embedder)
        self.system.open(self.folder, create)
        return {"ms": (time.perf_counter() - before) * 1000, "mode": self.system.mode}

    def load(self, space, corpus, seconds):
        """Stores a file of rows; stops at the time or memory limit and says how many are in."""
        with open(corpus, encoding="utf-8") as rows:
            rows = [json.loads(r) for r in rows]
        embedding = 0.0
        if self.name != "fts5":
            embedding = self.embedder.prepare([r["text"] for r in rows])
        before = time.perf_counter()
        stored, stopped = 0, None
        for at in range(0, len(rows), self.system.per_call):
            part = rows[at:at + self.system.per_call]
            self.system.load(space, part)
            stored += len(part)
            if stored < len(rows) and time.perf_counter() - before > seconds:
                stopped = f"{seconds:.0f} s were over"
            elif memory()["rss"] > MEMORY_AT_MOST:
                stopped = "16 GB were over"
            if stopped:
                break
        if hasattr(self.system, "loaded"):
            self.system.loaded(space)
        spent = time.perf_counter() - before
        self.embedder.forget_prepared()
        return {"stored": stored, "seconds": spent, "embedding_seconds": embedding, "stopped": stopped}

    def search(self, space, questions, k, seconds=1e9):
        out, start = [], time.perf_counter()
        for question in questions:
            before, cpu = time.perf_counter(), time.process_time()
            ids = self.system.search(space, question, k)
            now = time.perf_counter()
            out.append({"ids": ids, "ms": (now - before) * 1000, "cpu": (time.process_time() - cpu) * 1000})
            if now - start > seconds:
                break
        return {"answers": out}

    def add(self, space, row):
        before = time.perf_counter()
        self.system.add(space, row)
        return {"ms": (time.perf_counter() - before) * 1000}

    def forget(self, space, row_id):
        before = time.perf_counter()
        self.system.forget(space, row_id)
        return {"ms": (time.perf_counter() - before) * 1000}

    def memory(self):
        return memory()

    def close(self):
        self.system.close()
        return {}


class Plain:
    """In place of the encoder for a peer that has none or its own."""
    known = {}

    def forget_prepared(self):
        self.known.clear()


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker(*sys.argv[1:4])
    for line in sys.stdin:
        command = json.loads(line)
        name = command.pop("do")
        try:
            out = getattr(worker, name)(**command)
        except Exception as problem:  # the peer's own errors are part of the report
            out = {"error": f"{type(problem).__name__}: {problem}"}
        answers.write(json.dumps(out) + "\n")
        answers.flush()
        if name == "close":
            break
    answers.flush()
    os._exit(0)  # some peers hang in their own clean-up


if __name__ == "__main__":
    main()
