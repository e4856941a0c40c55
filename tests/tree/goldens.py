#!/usr/bin/env python3
"""Shows whether a change alters verdicts or only words: compares the expected outputs of two commits.

usage: python3 tests/tree/goldens.py BASE [COMMIT]

Reads every expected output under tests/ of both commits from git (COMMIT is HEAD unless given).  In each it counts the
verdicts: the causes of tracer/diagnose/causes.def with their confidences, states of warps, and the words HANG, STALL
and FAULT.  It ignores all other text.  Prints the files in which these counts differ and those that are gone, then the
totals.  Exits with 1 if there is such a file.  A file that has moved is found by its name, where that is unique.
"""
import collections
import re
import subprocess
import sys


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout.decode("utf-8", "replace")


def verdict_pattern(commit):
    """Names of several words with underscores are causes or states; those of one word are named one by one."""
    causes = re.findall(r"^CAUSE\((\w+),", git("show", f"{commit}:tracer/diagnose/causes.def"), re.MULTILINE)
    single = "|".join(["HANG", "STALL", "FAULT", *(cause for cause in causes if "_" not in cause)])
    return re.compile(rf"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|{single})\b(?: \((?:proven|likely|possible)\))?")


def expected_outputs(commit):
    names = git("ls-tree", "-r", "--name-only", commit, "tests").splitlines()
    return [name for name in names if name.endswith(".golden") or "/golden/" in name]


def verdicts(pattern, commit, path):
    return collections.Counter(pattern.findall(git("show", f"{commit}:{path}")))


def base_name(path):
    return path.rsplit("/", 1)[-1]


def pair_up(old_paths, paths):
    """(old path, path) of each file that both have, old path None = it is new; and the old paths without one."""
    gone = set(old_paths) - set(paths)
    by_name = collections.defaultdict(list)
    for path in gone:
        by_name[base_name(path)].append(path)
    pairs = []
    for path in paths:
        moved = by_name[base_name(path)] if path not in old_paths else []
        pairs.append((path if path in old_paths else moved[0] if len(moved) == 1 else None, path))
    return pairs, gone - {old for old, _ in pairs}


def main(base, commit="HEAD"):
    pattern = verdict_pattern(commit)
    pairs, gone = pair_up(expected_outputs(base), expected_outputs(commit))
    differ = 0
    for old_path, path in pairs:
        if not old_path:
            continue
        old, now = verdicts(pattern, base, old_path), verdicts(pattern, commit, path)
        if old != now:
            differ += 1
            print(f"{path}: was {dict(old - now)}, is {dict(now - old)}")
    for path in sorted(gone):
        print(f"{path}: is gone")
    new = sum(not old for old, _ in pairs)
    print(f"{len(pairs) - new} expected outputs compared, {differ} with other verdicts, {new} new, {len(gone)} gone")
    return 1 if differ or gone else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
