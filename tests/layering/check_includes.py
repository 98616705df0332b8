#!/usr/bin/env python3
"""The folder tree is the architecture: each layer includes and links only what is below it.

    check_includes.py            checks this project, after a self-test that plants violations
    check_includes.py --root D   checks another tree
    check_includes.py --self-test

Exit code 0 when all is well, 1 with a line for each violation.
"""

import argparse
import pathlib
import re
import sys
import tempfile

# What the files of a layer may include, and what its CMake target may link.
INCLUDES = {
    "base": {"base"},
    "crypto": {"base", "crypto"},
    "vault": {"base", "crypto", "vault"},
    "policy": {"base", "policy"},
    "recall": {"base", "crypto", "vault", "recall"},
    "embed": {"base", "crypto", "vault", "recall", "embed"},
    "service": {"base", "crypto", "vault", "policy", "recall", "embed", "service"},
    "mcp": {"base", "service", "mcp"},
    "cli": {"base", "service", "cli"},
}
LINKS = {
    "base": set(),
    "crypto": {"base"},
    "vault": {"base", "crypto"},
    "policy": {"base"},
    "recall": {"base", "crypto", "vault"},
    "embed": {"base", "crypto", "vault", "recall"},
    "service": {"base", "crypto", "vault", "policy", "recall", "embed"},
    "mcp": {"base", "service"},
    # main.cpp, the composition root, is in this target.
    "cli": {"base", "crypto", "vault", "service", "mcp"},
}
# The composition root puts the parts together and prepares the process.
COMPOSITION_ROOT = "cli/main.cpp"
ROOT_FOLDERS = {"mcp"}
ROOT_HEADERS = {"crypto/process.h", "vault/fault_handler.h"}

# Libraries with one home: header pattern, layers, and whether their own headers may name it.
LIBRARIES = [
    ("libsodium", re.compile(r"^sodium(\.h$|/)"), {"crypto"}, True),
    ("LMDB", re.compile(r"^lmdb\.h$"), {"vault"}, True),
    ("utf8proc", re.compile(r"^utf8proc\.h$"), {"recall"}, False),
    ("libstemmer", re.compile(r"^libstemmer\.h$"), {"recall"}, False),
    ("libcurl", re.compile(r"^curl/"), {"embed"}, True),
    ("CLI11", re.compile(r"^CLI/"), {"cli"}, False),
    ("nlohmann::json", re.compile(r"^nlohmann/|^json\.hpp$"), set(), False),
]
PACKAGES = [
    ("libsodium", re.compile(r"\bPkgConfig::SODIUM\b|\bsodium\b"), {"crypto"}),
    ("LMDB", re.compile(r"\bPkgConfig::LMDB\b|\blmdb\b(?!_engine)"), {"vault"}),
    ("utf8proc", re.compile(r"\bPkgConfig::UTF8PROC\b"), {"recall"}),
    ("libstemmer", re.compile(r"\bStemmer::"), {"recall"}),
    ("libcurl", re.compile(r"\bCurl::|\bCURL::"), {"embed"}),
    ("CLI11", re.compile(r"\bCLI11::"), {"cli"}),
    ("nlohmann::json", re.compile(r"\bnlohmann_json"), set()),
]

INCLUDE = re.compile(r'^\s*#\s*include(?:_next)?\s*(?:"([^"]+)"|<([^>]+)>)')
ANY_INCLUDE = re.compile(r"^\s*#\s*include")
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".c", ".inc"}


def check_file(root, path):
    """Violations of one source file."""
    name = path.relative_to(root).as_posix()
    layer = name.split("/")[0]
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            if ANY_INCLUDE.match(line):
                found.append(f"{name}:{number}: an include that cannot be read")
            continue
        own, system = match.groups()
        header = own or system
        for library, pattern, homes, in_headers in LIBRARIES:
            if not pattern.search(header):
                continue
            if layer not in homes:
                found.append(f"{name}:{number}: {library} is not for {layer}/")
            elif not in_headers and path.suffix != ".cpp":
                found.append(f"{name}:{number}: {library} belongs in .cpp files only")
        target = header.split("/")[0]
        if system:
            if target in INCLUDES and "/" in header and (root / header).exists():
                found.append(f"{name}:{number}: own header {header} in angle brackets")
            continue
        if any(pattern.search(header) for _, pattern, _, _ in LIBRARIES):
            continue
        if target not in INCLUDES or "/" not in header or ".." in header.split("/"):
            found.append(f"{name}:{number}: {header} does not name a layer and a file")
        elif name == COMPOSITION_ROOT and (target in ROOT_FOLDERS or header in ROOT_HEADERS):
            continue
        elif target not in INCLUDES[layer]:
            found.append(f"{name}:{number}: {layer}/ may not include {header}")
        elif not (root / header).is_file():
            found.append(f"{name}:{number}: {header} does not exist")
    return found


def check_cmake(root, layer):
    """Violations of a layer's CMakeLists.txt."""
    path = root / layer / "CMakeLists.txt"
    if not path.is_file():
        return [f"{layer}/CMakeLists.txt: missing"]
    text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
    found = []
    linked = set(re.findall(r"\bstrongroom::(\w+)", text))
    # The library's own name, strongroom_<layer>, is defined here; any other is a link.
    linked |= set(re.findall(r"\bstrongroom_(\w+)", text)) & set(LINKS)
    for target in sorted(linked - {layer}):
        if target not in LINKS[layer]:
            found.append(f"{layer}/CMakeLists.txt: {layer} may not link strongroom::{target}")
    for library, pattern, homes in PACKAGES:
        if layer not in homes and pattern.search(text):
            found.append(f"{layer}/CMakeLists.txt: {library} is not for {layer}/")
    return found


def check(root):
    found = []
    for layer in INCLUDES:
        for path in sorted((root / layer).rglob("*")):
            if path.suffix in SUFFIXES:
                found += check_file(root, path)
        found += check_cmake(root, layer)
    return found


# ---- self-test ----------------------------------------------------------------------------------

CLEAN = {
    "base/a.h": "#pragma once\n#include <string>\n",
    "base/a.cpp": '#include "base/a.h"\n// #include "vault/v.h"\n',
    "crypto/process.h": '#include "base/a.h"\n',
    "crypto/c.cpp": '#include "crypto/process.h"\n#include <sodium.h>\n',
    "vault/fault_handler.h": "#pragma once\n",
    "vault/v.h": '#include "crypto/process.h"\n',
    "vault/v.cpp": '#include "vault/v.h"\n#include <lmdb.h>\n',
    "recall/r.h": '#include "vault/v.h"\n',
    "recall/r.cpp": '#include "recall/r.h"\n#include <utf8proc.h>\n#include <libstemmer.h>\n',
    "embed/e.h": '#include "recall/r.h"\n',
    "embed/e.cpp": '#include "embed/e.h"\n#include <curl/curl.h>\n',
    "policy/p.h": '#include "base/a.h"\n',
    "service/s.h": '#include "policy/p.h"\n#include "recall/r.h"\n#include "vault/v.h"\n'
                   '#include "embed/e.h"\n',
    "mcp/m.h": '#include "base/a.h"\n#include "service/s.h"\n',
    "cli/c.cpp": '#include "service/s.h"\n#include <CLI/CLI.hpp>\n',
    "cli/main.cpp": '#include "mcp/m.h"\n#include "crypto/process.h"\n'
                    '#include "vault/fault_handler.h"\n',
    "base/CMakeLists.txt": "strongroom_layer(base SOURCES a.cpp DEPENDS Threads::Threads)\n",
    "crypto/CMakeLists.txt": "strongroom_layer(crypto SOURCES c.cpp DEPENDS strongroom::base\n"
                             "  PRIVATE PkgConfig::SODIUM)\n",
    "vault/CMakeLists.txt": "strongroom_layer(vault SOURCES lmdb_engine.cpp\n"
                            "  DEPENDS strongroom::crypto PRIVATE PkgConfig::LMDB)\n",
    "recall/CMakeLists.txt": "strongroom_layer(recall SOURCES r.cpp DEPENDS strongroom::vault\n"
                             "  PRIVATE PkgConfig::UTF8PROC Stemmer::stemmer)\n",
    "embed/CMakeLists.txt": "strongroom_layer(embed SOURCES e.cpp DEPENDS strongroom::recall\n"
                            "  PRIVATE Curl::headers)\n",
    "policy/CMakeLists.txt": "strongroom_layer(policy SOURCES p.cpp DEPENDS strongroom::base)\n",
    "service/CMakeLists.txt": "# not strongroom::mcp\nstrongroom_layer(service SOURCES s.cpp\n"
                              "  DEPENDS strongroom::vault strongroom::policy)\n",
    "mcp/CMakeLists.txt": "strongroom_layer(mcp SOURCES m.cpp DEPENDS strongroom::service)\n",
    "cli/CMakeLists.txt": "add_executable(strongroom main.cpp)\n"
                          "target_link_libraries(strongroom PRIVATE strongroom::mcp "
                          "CLI11::CLI11)\n",
}

# A line added to a file of the clean tree, and what the report must say.
PLANTED = [
    ("base/a.h", '#include "crypto/process.h"', "base/ may not include crypto/process.h"),
    ("base/a.cpp", '  #  include  "service/s.h"', "base/ may not include service/s.h"),
    ("base/a.cpp", "#include <sodium.h>", "libsodium is not for base/"),
    ("base/a.cpp", '#include "sodium.h"', "libsodium is not for base/"),
    ("vault/v.cpp", "#include <sodium/utils.h>", "libsodium is not for vault/"),
    ("service/s.h", "#include <lmdb.h>", "LMDB is not for service/"),
    ("crypto/c.cpp", '#include "vault/v.h"', "crypto/ may not include vault/v.h"),
    ("vault/v.cpp", '#include "policy/p.h"', "vault/ may not include policy/p.h"),
    ("vault/v.cpp", '#include "recall/r.h"', "vault/ may not include recall/r.h"),
    ("recall/r.h", '#include "policy/p.h"', "recall/ may not include policy/p.h"),
    ("recall/r.h", '#include "embed/e.h"', "recall/ may not include embed/e.h"),
    ("embed/e.h", '#include "policy/p.h"', "embed/ may not include policy/p.h"),
    ("service/s.h", "#include <curl/easy.h>", "libcurl is not for service/"),
    ("embed/e.h", '#include "service/s.h"', "embed/ may not include service/s.h"),
    ("embed/e.h", "#include <sodium.h>", "libsodium is not for embed/"),
    ("recall/r.h", '#include "service/s.h"', "recall/ may not include service/s.h"),
    ("service/s.h", "#include <utf8proc.h>", "utf8proc is not for service/"),
    ("mcp/m.h", '#include "recall/r.h"', "mcp/ may not include recall/r.h"),
    ("policy/p.h", '#include "crypto/process.h"', "policy/ may not include crypto/process.h"),
    ("policy/p.h", '#include "vault/v.h"', "policy/ may not include vault/v.h"),
    ("service/s.h", '#include "mcp/m.h"', "service/ may not include mcp/m.h"),
    ("mcp/m.h", '#include "vault/v.h"', "mcp/ may not include vault/v.h"),
    ("mcp/m.h", '#include "policy/p.h"', "mcp/ may not include policy/p.h"),
    ("mcp/m.h", '#include "cli/c.h"', "mcp/ may not include cli/c.h"),
    ("mcp/m.h", "#include <CLI/CLI.hpp>", "CLI11 is not for mcp/"),
    ("cli/c.cpp", '#include "mcp/m.h"', "cli/ may not include mcp/m.h"),
    ("cli/c.cpp", '#include "crypto/process.h"', "cli/ may not include crypto/process.h"),
    ("cli/main.cpp", '#include "crypto/c.h"', "cli/ may not include crypto/c.h"),
    ("cli/main.cpp", '#include "vault/v.h"', "cli/ may not include vault/v.h"),
    ("cli/main.cpp", '#include "policy/p.h"', "cli/ may not include policy/p.h"),
    ("cli/terminal.h", "#include <CLI/App.hpp>", "CLI11 belongs in .cpp files only"),
    ("service/s.h", "#include <nlohmann/json.hpp>", "nlohmann::json is not for service/"),
    ("mcp/m.cpp", "#include <nlohmann/json.hpp>", "nlohmann::json is not for mcp/"),
    ("mcp/m.cpp", '#include "tests/x.h"', "tests/x.h does not name a layer and a file"),
    ("mcp/m.cpp", '#include "m.h"', "m.h does not name a layer and a file"),
    ("mcp/m.cpp", '#include "mcp/../vault/v.h"', "does not name a layer and a file"),
    ("mcp/m.cpp", "#include <vault/v.h>", "own header vault/v.h in angle brackets"),
    ("mcp/m.cpp", '#include "mcp/absent.h"', "mcp/absent.h does not exist"),
    ("mcp/m.cpp", "#include HEADER", "an include that cannot be read"),
    ("base/CMakeLists.txt", "target_link_libraries(strongroom_base PUBLIC strongroom::crypto)",
     "base may not link strongroom::crypto"),
    ("policy/CMakeLists.txt", "target_link_libraries(strongroom_policy PUBLIC strongroom_vault)",
     "policy may not link strongroom::vault"),
    ("vault/CMakeLists.txt", "target_link_libraries(strongroom_vault PRIVATE strongroom::service)",
     "vault may not link strongroom::service"),
    ("mcp/CMakeLists.txt", "target_link_libraries(strongroom_mcp PUBLIC strongroom::vault)",
     "mcp may not link strongroom::vault"),
    ("service/CMakeLists.txt", "target_link_libraries(strongroom_service PUBLIC PkgConfig::LMDB)",
     "LMDB is not for service/"),
    ("service/CMakeLists.txt", "target_link_libraries(strongroom_service PRIVATE Curl::headers)",
     "libcurl is not for service/"),
    ("recall/CMakeLists.txt", "target_link_libraries(strongroom_recall PUBLIC strongroom::embed)",
     "recall may not link strongroom::embed"),
    ("mcp/CMakeLists.txt", "target_link_libraries(strongroom_mcp nlohmann_json::nlohmann_json)",
     "nlohmann::json is not for mcp/"),
]


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def self_test():
    """What is wrong with this checker."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write_tree(root, CLEAN)
        found += [f"self-test: the clean tree is refused: {line}" for line in check(root)]
        for name, line, expected in PLANTED:
            before = CLEAN.get(name)
            write_tree(root, {name: (before or "") + line + "\n"})
            report = check(root)
            if len(report) != 1 or expected not in report[0]:
                found.append(f"self-test: {line} in {name}: wanted '{expected}', got {report}")
            if before is None:
                (root / name).unlink()
            else:
                write_tree(root, {name: before})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="only the self-test")
    options = parser.parse_args()
    found = self_test()
    if not options.self_test:
        found += check(options.root)
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} violations of the layering")
        return 1
    print(f"layering holds; the checker found all {len(PLANTED)} planted violations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
