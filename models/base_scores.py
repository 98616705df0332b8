#!/usr/bin/env python3
"""Asks the binary for its scores without a model, to which compare.py adds the cosines.

  base_scores.py --bin STRONGROOM --out DIR [--data LOCOMO] [--option 'arms=["keyword","graph","temporal"]']

Writes DIR/facts.jsonl and DIR/locomo.jsonl: {"qid", "scores": [[memory id, score], ...]}, 200 a question."""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "recall_eval"))
import run as recall_eval  # noqa: E402


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--bin", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--data", help="folder with LoCoMo's memories.jsonl and queries.jsonl")
    ap.add_argument("--option", action="append", default=[], help="added to every search, as run.py takes it")
    a = ap.parse_args()
    a.keep, a.flat, a.set = False, False, "all"
    os.makedirs(a.out, exist_ok=True)
    evaluation = recall_eval.Evaluation(a)
    try:
        for name in ["facts"] + (["locomo"] if a.data else []):
            (evaluation.load_locomo if name == "locomo" else evaluation.load_facts)()
            answers = evaluation.ask(evaluation.questions(name), dict(recall_eval.FULL, limit=200), name)
            with open(f"{a.out}/{name}.jsonl", "w", encoding="utf-8") as f:
                for qid, answer in answers.items():
                    scores = {}
                    for result in answer["results"]:
                        for memory in evaluation.vault.ranked(answer["bank"], {"results": [result]}):
                            scores.setdefault(memory, result["score"])
                    f.write(json.dumps({"qid": qid, "scores": list(scores.items())}) + "\n")
    finally:
        evaluation.vault.close()


if __name__ == "__main__":
    main()
