#!/usr/bin/env python3
"""Shows whether a change alters verdicts or only words: compares the expected outputs of two commits.

usage: python3 tests/tree/goldens.py BASE [COMMIT]

Reads every expected output under tests/ of both commits from git (COMMIT is HEAD unless given).  In each it counts the
causes, states and confidences, and ignores all other text.  Prints the files in which these counts differ, then the
totals.  Exits with 1 if a file differs.  A file that has moved is found by its name.
"""
import collections
import re
import subprocess
import sys

VERDICT = re.compile(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b ?(?:\((?:proven|likely|possible)\))?")


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout.decode("utf-8", "replace")


def expected_outputs(commit):
    names = git("ls-tree", "-r", "--name-only", commit, "tests").splitlines()
    return [name for name in names if name.endswith(".golden") or "/golden/" in name]


def verdicts(commit, path):
    return collections.Counter(match.strip() for match in VERDICT.findall(git("show", f"{commit}:{path}")))


def main(base, commit="HEAD"):
    old_paths = expected_outputs(base)
    by_name = {path.rsplit("/", 1)[-1]: path for path in old_paths}
    compared = differ = new = 0
    for path in expected_outputs(commit):
        old_path = path if path in old_paths else by_name.get(path.rsplit("/", 1)[-1])
        if not old_path:
            new += 1
            continue
        old, now = verdicts(base, old_path), verdicts(commit, path)
        compared += 1
        if old != now:
            differ += 1
            print(f"{path}: was {dict(old - now)}, is {dict(now - old)}")
    print(f"{compared} expected outputs compared, {differ} with other verdicts, {new} new")
    return 1 if differ else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
