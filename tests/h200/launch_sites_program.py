"""launch_sites_program.py WAY - Python programs whose kernel stands still on a GPU; launch_sites.py knows their lines by their comments.

Other work follows in the same stream, and the program waits elsewhere.
"""
import ctypes
import sys

import torch

PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry stuck() { bar.sync 1, 64; ret; }
"""


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()

    def forward(self, values):
        return self.layers(values)


def by_ctypes(network, values):
    cuda = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"stuck") == 0
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    network(values)
    assert cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, None, None) == 0  # SITE ctypes


def by_triton(network, values):
    import triton_kernel

    flag = torch.zeros(1, dtype=torch.int32, device="cuda")
    network(values)
    triton_kernel.wait[(1,)](flag)  # SITE triton


def by_graph(network, values):
    import triton_kernel

    flag = torch.ones(1, dtype=torch.int32, device="cuda")
    triton_kernel.wait[(1,)](flag)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = values * 2
        triton_kernel.wait[(1,)](flag)  # SITE captured
        output += 1
    flag.zero_()
    graph.replay()  # SITE replayed


def train(way):
    network, values = Network(), torch.randn(64, 256, device="cuda")
    network(values).sum().backward()
    torch.cuda.synchronize()
    {"ctypes": by_ctypes, "triton": by_triton, "graph": by_graph}[way](network, values)  # SITE train
    for _ in range(20):
        network(values)
    torch.cuda.synchronize()


train(sys.argv[1])
