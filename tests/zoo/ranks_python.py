"""Members that Python's multiprocessing makes: each sets its RANK itself, makes a context and waits; the last one is killed.
ranks_python.py fork|spawn|forkserver"""
import ctypes
import multiprocessing
import os
import signal
import sys
import time

RANKS = 3


def member(rank, ready):
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(RANKS)
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    ready.put(rank)
    if rank == RANKS - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1)


if __name__ == "__main__":
    way = multiprocessing.get_context(sys.argv[1])
    ready = way.SimpleQueue()
    members = [way.Process(target=member, args=(rank, ready)) for rank in range(RANKS)]
    for one in members:
        one.start()
    for one in members:
        ready.get()
    time.sleep(0.8)  # nobody has asked yet how they ended
    for one in members:
        one.join()
