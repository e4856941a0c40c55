#!/usr/bin/env python3
"""calls.py - the graph of calls between the object files of a build: circles.

A source uses the sources that define what its object file names and does not define: functions, and tables of them.  (circles.py does
the same with includes; a header shared by many files hides which of them call one another.)  Reads the sources' names and, with nm,
the object files under a build folder.  Writes the circles, and of those that are too large the calls; the status says whether any is.

    calls.py SOURCES BUILD
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys

from graphs import FOLDERS, LARGEST, circles

SKIPPED = 77
DEFINED = 'TDBRVWG'
NM_LINE = re.compile(r'(?P<object>.*\.o): *[0-9a-f]* +(?P<type>\S) (?P<symbol>\S+)')


def object_files(sources, build):
    """Object files by path, each with its source: 'code/ptx/CMakeFiles/wsdbg_ptx.dir/parse.c.o' is of code/ptx/parse.c.  One of a
    source that is gone is left out; a source may have several, in different programs."""
    found = {}
    for folder in FOLDERS:
        for path in (build / folder).rglob('*.c.o'):
            name = re.sub(r'CMakeFiles/[^/]+\.dir/', '', path.relative_to(build).as_posix()).removesuffix('.o')
            if (sources / name).exists():
                found[str(path)] = name
    return found


def read_symbols(objects):
    """By source: what it names and does not define.  By symbol: the sources that define it."""
    command = ['nm', '-A', '-g', *objects]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    named, defined = collections.defaultdict(set), collections.defaultdict(set)
    for match in filter(None, map(NM_LINE.match, lines)):
        source = objects[match['object']]
        if match['type'] == 'U':
            named[source].add(match['symbol'])
        elif match['type'] in DEFINED:
            defined[match['symbol']].add(source)
    return named, defined


def nearest(source, others):
    """Programs that are never linked together may define the same function: the one with the longest common path is meant."""
    def common(other):
        pairs = zip(pathlib.PurePath(source).parts, pathlib.PurePath(other).parts)
        return [a == b for a, b in pairs]
    return max(sorted(others), key=common)


def uses(named, defined):
    """By source and used source: the symbols."""
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    for source, symbols in named.items():
        for symbol in sorted(symbols & defined.keys()):
            other = nearest(source, defined[symbol])
            if other != source:
                calls[source][other].append(symbol)
    return calls


def print_calls(circle, calls):
    for source in circle:
        for other in sorted(calls[source].keys() & set(circle)):
            print(f'    {source} -> {other}:', *calls[source][other])


def main():
    sources, build = map(pathlib.Path, sys.argv[1:3])
    if not shutil.which('nm'):
        print('there is no nm here')
        return SKIPPED
    objects = object_files(sources, build)
    if not objects:
        print(f'{build} has no object files')
        return 1
    calls = uses(*read_symbols(objects))
    found = circles({source: set(used) for source, used in calls.items()})
    for circle in found:
        print(len(circle), *circle)
        if len(circle) > LARGEST:
            print_calls(circle, calls)
    largest = max(map(len, found), default=0)
    print(f'{len(set(objects.values()))} sources, {len(found)} circles, the largest of {largest} files')
    return 1 if largest > LARGEST else 0


if __name__ == '__main__':
    sys.exit(main())
