"""oracle.py - a program with threads in many kinds of Python frames; prints as JSON what Python itself says of each, then waits.

Generators, coroutines, comprehensions, lambdas, callbacks from C, decorators, exec'd code, a class body, a finally block, a
line far from the first one, a name that is not ASCII, recursion.
"""
import asyncio
import functools
import json
import sys
import threading
import time

gate = threading.Event()


def block():
    gate.wait()


def in_generator():
    def numbers():
        yield 1
        block()

    for _ in numbers():
        pass


def in_comprehension():
    return [block() for _ in range(3)]


def in_sort():
    sorted([3, 1, 2], key=lambda number: block())


def in_coroutine():
    async def inner():
        block()

    async def outer():
        await inner()

    asyncio.run(outer())


def in_class_body():
    class Holder:
        value = block()


def in_code_without_file():
    exec(compile("def f():\n\n    block()\n\nf()\n", "<made>", "exec"), {"block": block})


def in_finally():
    try:
        raise ValueError
    except ValueError:
        try:
            pass
        finally:
            block()


@functools.lru_cache(None)
def in_cached(depth=20):
    if depth:
        return in_cached(
            depth - 1)
    return functools.reduce(lambda left, right: block(), [1, 2])


def häufig_gewählt(deep=0):
    if deep < 150:
        return häufig_gewählt(deep + 1)
    time.sleep(3600)


def in_method():
    class Trainer:
        @staticmethod
        def run():
            with threading.Lock():

                # far away

                (lambda:
                 block())()

        def __call__(self):
            self.run()

    Trainer()()


def frames_of(frame):
    rows = []
    while frame:
        code = frame.f_code
        rows.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return rows


def main():
    kinds = [in_generator, in_comprehension, in_sort, in_coroutine, in_class_body, in_code_without_file, in_finally,
             in_cached, häufig_gewählt, in_method]
    threads = [threading.Thread(target=kind, daemon=True) for kind in kinds]
    for thread in threads:
        thread.start()
    time.sleep(1)
    frames = sys._current_frames()
    print(json.dumps([frames_of(frames[thread.ident]) for thread in threads]), flush=True)
    time.sleep(3600)


main()
