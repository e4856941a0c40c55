#!/usr/bin/env python3
"""stands.py - Python programs that stand still, or work: what wsdbg's verdicts and costs are measured on with PyTorch and Triton.

    tests/h200/stands/stands.py --case NAME [--limit SECONDS] [--seconds S] [--graph]
    tests/h200/stands/stands.py --list

Prints `done` last when it ends well, and a line that begins with `rate` where something is measured.  torchrun-* are for
`torchrun --nproc-per-node 2`.  Exit status: 0, 77 = PyTorch, Triton or the GPUs are not there; after --limit it ends by SIGALRM: a timer and not
a thread, which could be the one that feeds a kernel, and no handler, which Python would run only once the main thread is back from CUDA.
"""
import argparse, os, signal, sys, time

WIDTH, BATCH, STEPS = 256, 64, 30
LAYERS, DECODE_WIDTH = 12, 1024  # five kernels a layer


def skip(why):
    print(f'stands.py: skipped: {why}', file=sys.stderr)
    sys.exit(77)


def need_torch(gpus=1):
    try:
        import torch
    except ImportError:
        skip('no PyTorch')
    if torch.cuda.device_count() < gpus:
        skip(f'{gpus} GPUs are needed')
    return torch


class Training:
    """A small network and one batch; step() trains it once."""

    def __init__(self, torch):
        torch.manual_seed(0)
        self.torch = torch
        layers = [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1)]
        self.model = torch.nn.Sequential(*layers).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.inputs, self.wanted = torch.randn(BATCH, WIDTH, device='cuda'), torch.randn(BATCH, 1, device='cuda')

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.torch.nn.functional.mse_loss(self.model(self.inputs), self.wanted).backward()
        self.optimizer.step()

    def captured(self):
        """A function that trains once by a graph."""
        side = self.torch.cuda.Stream()
        side.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        self.torch.cuda.current_stream().wait_stream(side)
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            self.step()
        return graph.replay


def triton_lock(options):
    torch = need_torch()
    try:
        from triton_lock import add_under_lock
    except ImportError:
        skip('no Triton')
    training = Training(torch)
    for _ in range(STEPS):
        training.step()
    torch.cuda.synchronize()
    print(f'{STEPS} steps went well', flush=True)
    lock = torch.ones(1, dtype=torch.int32, device='cuda')  # taken
    total, row = torch.zeros(128, device='cuda'), torch.ones(128, device='cuda')
    add_under_lock[(4,)](lock, total, row, 128)
    torch.cuda.synchronize()


def nccl_healthy(options):
    torch = need_torch()
    import torch.distributed as group
    torch.cuda.set_device(0)
    group.init_process_group('nccl', store=group.HashStore(), rank=0, world_size=1)
    value = torch.full((1024,), 3.0, device='cuda')
    group.all_reduce(value)
    torch.cuda.synchronize()
    print('sum', value.sum().item())
    group.destroy_process_group()


def sum_twice(options, before_second_of_rank_1):
    """Two ranks add up a value twice; rank 1 does something before the second time, where it comes if that returns True."""
    if 'LOCAL_RANK' not in os.environ:
        skip('to be started by torchrun')
    torch = need_torch(2)
    import torch.distributed as group
    rank = int(os.environ['LOCAL_RANK'])
    torch.cuda.set_device(rank)
    group.init_process_group('nccl')
    value = torch.ones(1024, device='cuda')
    group.all_reduce(value)
    torch.cuda.synchronize()
    sys.stdout.write(f'rank {rank} has the first sum\n')  # in one piece: the ranks share a pipe
    sys.stdout.flush()
    if rank == 0 or before_second_of_rank_1():
        group.all_reduce(value)
        torch.cuda.synchronize()
        group.destroy_process_group()


def torchrun_skip(options):
    """Rank 1 leaves out the second sum and ends; rank 0's kernel waits for it."""
    sum_twice(options, lambda: False)


def torchrun_late(options):
    """Rank 1 comes late to the second sum."""
    sum_twice(options, lambda: time.sleep(options.after) or True)


def rate(what, once, seconds, synchronize):
    """Prints how often a second `once` was done; the first few are not counted."""
    for _ in range(5):
        once()
    synchronize()
    count, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        for _ in range(10):
            once()
        synchronize()
        count += 10
    print(f'rate {what}_per_s={count / (time.monotonic() - start):.1f}')


def train_loop(options):
    torch = need_torch()
    training = Training(torch)
    rate('steps', training.captured() if options.graph else training.step, options.seconds, torch.cuda.synchronize)


def decode_loop(options):
    """Small kernels in a row, as of the layers of a language model, and a wait for each token."""
    torch = need_torch()
    torch.manual_seed(0)
    weights = [torch.randn(DECODE_WIDTH, DECODE_WIDTH, device='cuda', dtype=torch.bfloat16) / DECODE_WIDTH**0.5 for _ in range(LAYERS)]
    state = torch.randn(1, DECODE_WIDTH, device='cuda', dtype=torch.bfloat16)

    def token():
        x = state
        for weight in weights:
            y = torch.relu(x @ weight)
            x = torch.nn.functional.layer_norm(x + y * 0.5, (DECODE_WIDTH,))
        torch.cuda.synchronize()

    with torch.inference_mode():
        rate('tokens', token, options.seconds, torch.cuda.synchronize)


CASES = {'triton-lock': triton_lock, 'nccl-healthy': nccl_healthy, 'torchrun-skip': torchrun_skip, 'torchrun-late': torchrun_late,
         'train-loop': train_loop, 'decode-loop': decode_loop}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--case', choices=CASES)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--limit', type=float, default=120)
    parser.add_argument('--seconds', type=float, default=10)
    parser.add_argument('--after', type=float, default=6, help='seconds after which what a kernel waits for comes')
    parser.add_argument('--graph', action='store_true')
    options = parser.parse_args()
    if options.list:
        print('\n'.join(CASES))
        return 0
    if not options.case:
        parser.error('--case or --list')
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, options.limit)
    CASES[options.case](options)
    sys.stdout.write('done\n')
    sys.stdout.flush()
    return 0


if __name__ == '__main__':
    sys.exit(main())
