#!/usr/bin/env python3
"""circles.py - the include graph of the sources: circles, and struct tags that are defined twice.

A module is a header and the source of the same name; it uses the modules whose headers it includes.  (That no include points upstream
is checked by the compiler: cmake/Room.cmake.)  Reads the folders of the sources.  Writes what is wrong; the status says whether
anything is.
"""
import collections
import pathlib
import re
import sys

from graphs import FOLDERS, LARGEST, circles


def read_sources(root):
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob('*.[ch]'))]
    return {path: path.read_text(encoding='utf-8') for path in paths}


def module_of(include, path, modules):
    """The module that the include names: a path behind a room's name, or a file in the same folder."""
    stem = include.rsplit('.', 1)[0]
    beside = path.parent / stem
    if '/' not in stem and beside in modules:
        return beside
    return next((module for module in modules if str(module).endswith('/' + stem)), None)


def uses(sources):
    modules = dict.fromkeys(path.with_suffix('') for path in sources)
    graph = collections.defaultdict(set)
    known = {}
    for path, text in sources.items():
        own = path.with_suffix('')
        for include in re.findall(r'^#include "([^"]+)"', text, re.M):
            key = include if '/' in include else (include, path.parent)
            if key not in known:
                known[key] = module_of(include, path, modules)
            if known[key] and known[key] != own:
                graph[own].add(known[key])
    return graph


def tags_defined_twice(sources):
    places = collections.defaultdict(list)
    for path, text in sources.items():
        for tag in re.findall(r'^struct (wsdbg_\w+) \{', text, re.M):
            places[tag].append(path)
    return {tag: paths for tag, paths in places.items() if len(paths) > 1}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.')
    sources = read_sources(root)
    found = circles(uses(sources))
    twice = tags_defined_twice(sources)
    for circle in found:
        print(len(circle), *(str(module.relative_to(root)) for module in circle))
    for tag, paths in twice.items():
        print(f'struct {tag} is defined in', *(str(path.relative_to(root)) for path in paths))
    largest = max(map(len, found), default=0)
    print(f'{len(found)} circles, the largest of {largest} modules; {len(twice)} struct tags defined twice')
    return 1 if largest > LARGEST or twice else 0


if __name__ == '__main__':
    sys.exit(main())
