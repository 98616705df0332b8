#!/usr/bin/env python3
"""PrecisionMemBench over the real binary, untuned.

    git clone https://github.com/tenurehq/precisionMemBench
    run.py --harness precisionMemBench --bin build/release/cli/strongroom --out bench/results/precision.json

The harness is not part of this project. It is copied into a scratch folder, where npm installs what it
needs and one entry is added to its list of providers, as its README says; its cases, texts and checks stay
as they are. --form names how much of what it says is used (adaptor.py); all three by default.
"""
import argparse
import collections
import datetime
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from adaptor import Store, serve

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FORMS = ["contract", "scoped", "informed"]


def prepare(harness, folder):
    copy = pathlib.Path(folder) / "harness"
    shutil.copytree(harness, copy, ignore=shutil.ignore_patterns(".git", "wrappers", "test-results", "node_modules"))
    path = copy / "providers.config.json"
    providers = json.loads(path.read_text(encoding="utf-8"))
    providers["strongroom"] = {"envVar": "STRONGROOM_URL", "defaultUrl": "http://127.0.0.1:1", "seedDelayMs": 0,
                               "beliefToText": "canonical_name_aliases", "supportsUpdate": True}
    path.write_text(json.dumps(providers), encoding="utf-8")
    node = int(subprocess.run(["node", "-p", "process.versions.node.split('.')[0]"], capture_output=True, text=True,
                              check=True).stdout)
    # Its test runner, ava 8, needs Node 22; ava 6 runs the same files on Node 20.
    command = ["npm", "ci"] if node >= 22 else ["npm", "install", "ava@6.4.1"]
    subprocess.run([*command, "--silent"], cwd=copy, check=True, timeout=300)
    return copy


def evaluate(copy, binary, form, seed):
    store = Store(binary, form, seed)
    server = serve(store)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = dict(os.environ, MEMORY_PROVIDER="strongroom", RESEED="true",
               STRONGROOM_URL=f"http://127.0.0.1:{server.server_port}")
    reports = {}
    try:
        for name in ("retrieval", "session-retrieval"):
            done = subprocess.run(["npx", "ava", f"src/{name}.external.eval.test.ts", "--timeout", "10m"], cwd=copy,
                                  env=env, capture_output=True, text=True, timeout=900, check=False)
            path = copy / "test-results" / f"{name}-report-strongroom.json"
            if not path.exists():
                sys.exit(f"the harness wrote no report: {done.stdout[-800:]} {done.stderr[-800:]}")
            reports[name] = json.loads(path.read_text(encoding="utf-8"))
            path.rename(path.with_suffix(f".{form}.json"))
    finally:
        server.shutdown()
        store.close()
    return reports


def cases_of(report):
    """The list of cases, wherever this version of the harness keeps it."""
    for value in (report, *[v for v in report.values() if isinstance(v, dict)]):
        for entry in value.values():
            if isinstance(entry, list) and entry and isinstance(entry[0], dict) and "caseId" in entry[0]:
                return entry
    sys.exit("the harness's report has no list of cases")


def summary(reports, seed):
    old = {b["_id"] for b in seed if b.get("superseded_by")}
    other = {b["_id"]: b["user_id"] for b in seed if b["user_id"] != "test-user"}
    single, session = cases_of(reports["retrieval"]), cases_of(reports["session-retrieval"])
    shown = [(c["caseId"], b) for c in single for b in c["relevantBeliefs"]]
    shown += [(f"{c['caseId']} turn {c['turnIndex']}", b) for c in session for b in c["retrievedBeliefIds"]]
    groups = collections.defaultdict(lambda: [0, 0])
    for case in single:
        groups[case["category"]][0] += case["passed"]
        groups[case["category"]][1] += 1
    figures = reports["retrieval"]["retrieval"]
    return {
        "passed": sum(c["passed"] for c in single), "cases": len(single),
        "pass_types": figures.get("passTypes"), "mean_precision": figures.get("meanPrecision"),
        "mean_recall": figures.get("meanRecall"), "p50_ms": figures.get("p50LatencyMs"),
        "session_passed": sum(c["passed"] for c in session), "session_turns": len(session),
        "by_category": {k: f"{a}/{b}" for k, (a, b) in sorted(groups.items())},
        "superseded_shown": [f"{c}: {b}" for c, b in shown if b in old],
        "other_user_shown": [f"{c}: {b}" for c, b in shown if b in other],
        "failed": {c["caseId"]: c["failures"] for c in single if not c["passed"]},
        "session_failed": {f"{c['caseId']} turn {c['turnIndex']}": c["failures"] for c in session if not c["passed"]},
    }


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--harness", required=True, help="a copy of the repository")
    ap.add_argument("--bin", default=str(ROOT / "build/release/cli/strongroom"))
    ap.add_argument("--form", action="append", choices=FORMS, help="again for more; all three by default")
    ap.add_argument("--out", help="the results as JSON")
    ap.add_argument("--commit", help="the copy's commit, where it has no .git")
    ap.add_argument("--label", default="", help="a remark for the report")
    o = ap.parse_args()
    if not os.access(o.bin, os.X_OK):
        ap.error(f"there is no program at {o.bin}; build it or say --bin PATH")
    if not shutil.which("npx"):
        ap.error("node and npm are needed: the harness is TypeScript")
    with open(f"{o.harness}/fixtures/beliefs.seed.json", encoding="utf-8") as f:
        seed = json.load(f)
    version = subprocess.run([o.bin, "--version"], capture_output=True, text=True, check=True).stdout
    commit = subprocess.run(["git", "-C", o.harness, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    same = hashlib.sha256()
    for name in ("beliefs.seed.json", "retrieval.cases.json", "session-retrieval.cases.json"):
        same.update(pathlib.Path(o.harness, "fixtures", name).read_bytes())
    out = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
           "harness": "tenurehq/precisionMemBench", "harness_commit": o.commit or commit.stdout.strip() or None,
           "fixtures_sha256": same.hexdigest(),
           "ours": version.strip().splitlines()[0], "label": o.label, "forms": {}}
    with tempfile.TemporaryDirectory(prefix="strongroom-precision-") as folder:
        copy = prepare(o.harness, folder)
        for form in o.form or FORMS:
            out["forms"][form] = s = summary(evaluate(copy, o.bin, form, seed), seed)
            print(f"{form}: {s['passed']}/{s['cases']} cases, precision {s['mean_precision']}, recall {s['mean_recall']}, "
                  f"session {s['session_passed']}/{s['session_turns']}, superseded shown {len(s['superseded_shown'])}, "
                  f"other user's shown {len(s['other_user_shown'])}", flush=True)
    if o.out:
        with open(o.out, "w", encoding="utf-8") as f:
            json.dump(out, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
