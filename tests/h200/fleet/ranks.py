#!/usr/bin/env python3
"""ranks.py - two PyTorch ranks of which one does not do what the other waits for, or only seems not to.

    tests/h200/fleet/ranks.py --case NAME [--limit SECONDS] [--start exec|fork|spawn|forkserver]
    tests/h200/fleet/ranks.py --list

For `torchrun --nproc-per-node 2`, or `mpirun -n 2` with MASTER_ADDR and MASTER_PORT set.  With --start it starts the two ranks itself: as
programs (torchrun ends all ranks when one dies), or as processes of Python's multiprocessing.  A line that ends with `# fault NAME` is the one that a report of case NAME should show.  Prints `done` last when it ends well.
Exit status: 0, 77 = PyTorch or two GPUs are not there; after --limit it ends by SIGALRM.
"""
import argparse, ctypes, itertools, multiprocessing, os, signal, socket, subprocess, sys, time

LAUNCHERS = (('RANK', 'LOCAL_RANK', 'WORLD_SIZE'), ('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_LOCAL_RANK', 'OMPI_COMM_WORLD_SIZE'),
             ('PMI_RANK', 'MPI_LOCALRANKID', 'PMI_SIZE'))
LARGE = 1 << 26  # elements: no protocol of NCCL buffers as much
STUCK_PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry gemm_that_lacks_an_arrival()
{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .shared .align 8 .b64 full;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, full;
    @%p1 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 2;
    mbarrier.arrive.shared::cta.b64 %rd1, [%r2];
ready:
    bar.sync 0;
wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra wait;
    ret;
}
"""


def skip(why):
    print(f'ranks.py: skipped: {why}', file=sys.stderr)
    sys.exit(77)


def need_torch():
    try:
        import torch
    except ImportError:
        skip('no PyTorch')
    if torch.cuda.device_count() < 2:
        skip('2 GPUs are needed')
    return torch


def place_of_this():
    """Rank, local rank, number of ranks, as whoever started this process has set them."""
    for names in LAUNCHERS:
        if all(name in os.environ for name in names):
            return [int(os.environ[name]) for name in names]
    return skip('to be started by torchrun or mpirun, or with --start')


class Rank:
    """One of the two, after a first sum that both have made."""

    def __init__(self):
        self.rank, local_rank, size = place_of_this()
        self.torch = need_torch()
        import torch.distributed as group
        self.group = group
        self.torch.cuda.set_device(local_rank)
        group.init_process_group('nccl', rank=self.rank, world_size=size, device_id=self.torch.device('cuda', local_rank))
        self.value = self.torch.ones(1024, device='cuda')
        group.all_reduce(self.value)
        self.wait()

    def wait(self):
        self.torch.cuda.synchronize()

    def all_reduce(self, value=None, of=None):
        self.group.all_reduce(self.value if value is None else value, group=of)
        self.wait()

    def large(self):
        return self.torch.ones(LARGE, device='cuda')

    def end(self):
        self.all_reduce()
        self.group.destroy_process_group()


def skipped(r):
    """Rank 1 leaves a sum out and goes on in a loop of its own."""
    if r.rank == 0:
        r.all_reduce()
    while True:
        time.sleep(1000)  # fault skipped


def skipped_next(r):
    """Rank 1 leaves a sum out, and its next call meets it."""
    if r.rank == 0:
        r.all_reduce(r.large())
    r.group.broadcast(r.value, src=0)  # fault skipped-next
    r.wait()


def sizes(r):
    value = r.large() if r.rank == 0 else r.value
    r.group.all_reduce(value)  # fault sizes
    r.wait()


def order(r):
    """Each waits for the first of its two sums, which the other would make second."""
    first, second = r.group.new_group([0, 1]), r.group.new_group([0, 1])
    r.all_reduce(of=first)
    r.all_reduce(of=second)
    mine = (first, second) if r.rank == 0 else (second, first)
    for one in mine:
        r.all_reduce(of=one)


def send_alone(r):
    if r.rank == 0:
        r.group.send(r.large(), dst=1)
        r.wait()
    while True:
        time.sleep(1000)  # fault send-alone


def receive_receive(r):
    """Both receive first; neither sends.  (Where both send first, NCCL 2.29 ends with an illegal address.)"""
    mine, other = r.large(), r.large()
    r.group.recv(other, src=1 - r.rank)
    r.wait()
    r.group.send(mine, dst=1 - r.rank)
    r.wait()


def killed(r):
    if r.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    r.all_reduce()


def ended(r):
    if r.rank == 0:
        r.all_reduce()
    os._exit(0)


def handler(r):
    """Rank 1 raised, and its handler waits."""
    try:
        if r.rank == 1:
            raise ValueError('a bad batch')
        r.all_reduce()
    except ValueError:
        time.sleep(1000)  # fault handler


def symmetric_memory(r):
    """Rank 0 waits for a signal on a channel on which rank 1 gives none."""
    import torch.distributed._symmetric_memory as symmetric
    memory = symmetric.empty(1024, device='cuda', dtype=r.torch.float32)
    handle = symmetric.rendezvous(memory, r.group.group.WORLD)
    handle.barrier(channel=0)
    if r.rank == 0:
        handle.wait_signal(src_rank=1, channel=1)
    else:
        handle.put_signal(dst_rank=0, channel=0)
    r.wait()
    r.end()


def launch_stuck_kernel(grid):
    driver, module, function = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p(), ctypes.c_void_p()
    for result in (driver.cuModuleLoadData(ctypes.byref(module), STUCK_PTX),
                   driver.cuModuleGetFunction(ctypes.byref(function), module, b'gemm_that_lacks_an_arrival'),
                   driver.cuLaunchKernel(function, grid, 1, 1, 128, 1, 1, 0, None, None, None)):
        if result:
            raise RuntimeError(f'the driver says {result}')


def own_kernel(r):
    """A kernel of rank 1 lacks an arrival; rank 0 is in the next sum already."""
    if r.rank == 1:
        launch_stuck_kernel(4)
    print(f'rank {r.rank} waits', flush=True)
    r.all_reduce()


def compiles(r):
    """Rank 1 computes on the host for a while."""
    end = time.monotonic() + 15
    while r.rank == 1 and time.monotonic() < end:
        sum(range(100000))
    r.end()


def loads(r):
    """Rank 1 sleeps in its data loader."""
    if r.rank == 1:
        time.sleep(20)
    r.end()


def uneven(r):
    """Rank 1 has much more to do on its GPU."""
    if r.rank == 1:
        matrix = r.torch.randn(8192, 8192, device='cuda')
        end = time.monotonic() + 8
        while time.monotonic() < end:
            for _ in range(20):
                matrix @ matrix
            r.wait()
    r.end()


CASES = {'skipped': skipped, 'skipped-next': skipped_next, 'sizes': sizes, 'order': order, 'send-alone': send_alone, 'receive-receive': receive_receive,
         'killed': killed, 'ended': ended, 'handler': handler, 'symmetric-memory': symmetric_memory, 'own-kernel': own_kernel,
         'compiles': compiles, 'loads': loads, 'uneven': uneven}


def of_rank(rank, port):
    """The environment of one of the two."""
    return {'RANK': rank, 'LOCAL_RANK': rank, 'WORLD_SIZE': '2', 'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': port}


ports = itertools.count()


def is_free(port):
    with socket.socket() as free:
        try:
            free.bind(('', port))
        except OSError:
            return False
    return True


def free_port():
    """A port below those that the kernel assigns: the rank binds it only seconds later, and other runs start meanwhile."""
    first = os.getpid() * 37  # another one for each process that starts ranks
    return str(next(port for port in (12000 + (first + next(ports)) % 18000 for _ in range(18000)) if is_free(port)))


def wait_for(ranks, status_of):
    """The statuses of all ranks.  If one fails by an exception, all are ended: the other one would wait for it for ever."""
    while any(status_of(rank) is None for rank in ranks):
        if any(status_of(rank) == 1 for rank in ranks):
            for rank in ranks:
                rank.terminate()
        time.sleep(0.05)
    return [status_of(rank) for rank in ranks]


def start_programs(options, port):
    arguments = [sys.executable, __file__, '--case', options.case, '--limit', str(options.limit)]
    ranks = [subprocess.Popen(arguments, env={**os.environ, **of_rank(rank, port)}) for rank in ('0', '1')]
    return wait_for(ranks, subprocess.Popen.poll)


def member(case, limit, rank, port):
    os.environ.update(of_rank(rank, port))
    run(case, limit)


def start_members(options, port):
    way = multiprocessing.get_context(options.start)
    if options.start == 'fork':
        import torch  # as a program that imports it at its top: no context is made by that
    ranks = [way.Process(target=member, args=(options.case, options.limit, rank, port)) for rank in ('0', '1')]
    for rank in ranks:
        rank.start()
    return wait_for(ranks, lambda rank: rank.exitcode)


def run(case, limit):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limit)
    CASES[case](Rank())
    sys.stdout.write('done\n')
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--case', choices=CASES)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--limit', type=float, default=120)
    parser.add_argument('--start', choices=('exec', 'fork', 'spawn', 'forkserver'))
    options = parser.parse_args()
    if options.list:
        print('\n'.join(CASES))
        return 0
    if not options.case:
        parser.error('--case or --list')
    if options.start:
        start = start_programs if options.start == 'exec' else start_members
        return max(abs(status) for status in start(options, free_port()))
    run(options.case, options.limit)
    return 0


if __name__ == '__main__':
    sys.exit(main())
