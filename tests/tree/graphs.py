"""graphs.py - circles in a graph of the sources, for the tests of this folder.

A graph gives for each part of the program those that it uses.  Parts that use one another in a circle can only be understood together,
so a circle has at most LARGEST of them.
"""
FOLDERS = ('base', 'code', 'instr', 'sim', 'tracer', 'viewer')
LARGEST = 6


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for part in graph.get(todo.pop(), set()) - seen:
            seen.add(part)
            todo.append(part)
    return seen


def circles(graph):
    """The circles as sorted lists of their parts, the largest first."""
    reach = {part: reachable(graph, part) for part in graph}
    found, done = [], set()
    for part in graph:
        circle = {other for other in reach[part] if part in reach.get(other, ())}
        if part in circle and part not in done:
            found.append(sorted(circle))
            done |= circle
    return sorted(found, key=len, reverse=True)
