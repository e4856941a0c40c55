"""standing.py THREADS DEPTH SPINNING - threads that stand DEPTH calls deep, and some that compute; prints a line once they do."""
import sys
import threading
import time

gate = threading.Event()
arrived = threading.Semaphore(0)


def down(depth):
    if depth > 1:
        return down(depth - 1)
    arrived.release()
    gate.wait()


def spin():
    number = 0
    while True:
        number = (number * 3 + 1) % 1000007


threads, depth, spinning = (int(word) for word in sys.argv[1:4])
sys.setrecursionlimit(depth + 1000)
threading.stack_size(256 << 20 if threads < 10 else 32 << 20)
for _ in range(threads):
    threading.Thread(target=down, args=(depth,), daemon=True).start()
for _ in range(threads):
    arrived.acquire()
for _ in range(spinning):
    threading.Thread(target=spin, daemon=True).start()
time.sleep(0.2)
print("ready", flush=True)
gate.wait()
