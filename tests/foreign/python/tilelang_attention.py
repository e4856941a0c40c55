"""tilelang_attention.py - writes the CUDA source that TileLang makes of an attention kernel of our own, in bf16: a row sees no later rows.

    PYTHON tilelang_attention.py FILE

TileLang gives the copies of K and V to a warpgroup of their own, and connects it with the warpgroups that compute by rings of mbarriers.  drivers/tilelang_attention.cu
includes FILE, and takes the sizes from it; nothing is compiled or run here.  Prints the folder of TileLang's package, where the headers are that FILE includes.
"""
import os
import sys

import tilelang
import tilelang.language as T
from tilelang import tvm

HEADS, ROWS, DIMENSION = 2, 512, 64
TILE_Q, TILE_KV, STAGES, THREADS = 128, 64, 2, 256
SCALE_LOG2 = DIMENSION ** -0.5 * 1.4426950408889634
SHAPE = (HEADS, ROWS, DIMENSION)


@T.prim_func
def attention(Q: T.Tensor(SHAPE, 'bfloat16'), K: T.Tensor(SHAPE, 'bfloat16'), V: T.Tensor(SHAPE, 'bfloat16'), O: T.Tensor(SHAPE, 'bfloat16')):
    with T.Kernel(ROWS // TILE_Q, HEADS, threads=THREADS) as (tile, head):
        q = T.alloc_shared((TILE_Q, DIMENSION), 'bfloat16')
        k = T.alloc_shared((TILE_KV, DIMENSION), 'bfloat16')
        v = T.alloc_shared((TILE_KV, DIMENSION), 'bfloat16')
        scores = T.alloc_fragment((TILE_Q, TILE_KV), 'float32')
        weights = T.alloc_fragment((TILE_Q, TILE_KV), 'bfloat16')
        out = T.alloc_fragment((TILE_Q, DIMENSION), 'float32')
        highest = T.alloc_fragment((TILE_Q,), 'float32')
        before = T.alloc_fragment((TILE_Q,), 'float32')
        ratio = T.alloc_fragment((TILE_Q,), 'float32')
        part = T.alloc_fragment((TILE_Q,), 'float32')
        total = T.alloc_fragment((TILE_Q,), 'float32')
        T.copy(Q[head, tile * TILE_Q:(tile + 1) * TILE_Q, :], q)
        T.fill(out, 0)
        T.fill(total, 0)
        T.fill(highest, -T.infinity('float32'))
        for step in T.Pipelined((tile + 1) * TILE_Q // TILE_KV, num_stages=STAGES):
            T.copy(K[head, step * TILE_KV:(step + 1) * TILE_KV, :], k)
            for i, j in T.Parallel(TILE_Q, TILE_KV):
                scores[i, j] = T.if_then_else(tile * TILE_Q + i >= step * TILE_KV + j, 0, -T.infinity('float32'))
            T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
            T.copy(highest, before)
            T.reduce_max(scores, highest, dim=1, clear=False)
            for i in T.Parallel(TILE_Q):
                ratio[i] = T.exp2((before[i] - highest[i]) * SCALE_LOG2)
            for i, j in T.Parallel(TILE_Q, TILE_KV):
                scores[i, j] = T.exp2((scores[i, j] - highest[i]) * SCALE_LOG2)
            T.reduce_sum(scores, part, dim=1)
            for i in T.Parallel(TILE_Q):
                total[i] = total[i] * ratio[i] + part[i]
            T.copy(scores, weights)
            for i, j in T.Parallel(TILE_Q, DIMENSION):
                out[i, j] *= ratio[i]
            T.copy(V[head, step * TILE_KV:(step + 1) * TILE_KV, :], v)
            T.gemm(weights, v, out, policy=T.GemmWarpPolicy.FullRow)
        for i, j in T.Parallel(TILE_Q, DIMENSION):
            out[i, j] /= total[i]
        T.copy(out, O[head, tile * TILE_Q:(tile + 1) * TILE_Q, :])


def main():
    target = tvm.target.Target({'kind': 'cuda', 'arch': 'sm_90a'})
    with target:
        source = tilelang.lower(attention, target=target, enable_host_codegen=False, enable_device_compile=False).kernel_source
    shared_bytes = 2 * DIMENSION * (TILE_Q + 2 * STAGES * TILE_KV)
    with open(sys.argv[1], 'w') as file:
        file.write(f'{source}\nenum {{ HEADS = {HEADS}, ROWS = {ROWS}, DIMENSION = {DIMENSION}, TILE_Q = {TILE_Q}, TILE_KV = {TILE_KV}, THREADS = {THREADS + 128},'
                   f' SHARED_BYTES = {shared_bytes} }};\n')
    print(os.path.dirname(tilelang.__file__))


if __name__ == '__main__':
    main()
