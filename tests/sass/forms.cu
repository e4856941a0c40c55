/* forms.cu - every way of waiting, signalling, copying, polling and calling that PTX for sm_90a knows, and arithmetic
 * of every kind: what expect.py asks nvdisasm about besides the demo kernels.  It is compiled and never run. */
#include <stdint.h>
#include <stdio.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__device__ __forceinline__ uint32_t sa(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
extern "C" __global__ void atomics(int *g, unsigned long long *q, float *f, double *d, __half2 *h, int n)
{
    __shared__ int s[64];
    __shared__ unsigned long long s2[4];
    __shared__ float sf[4];
    s[threadIdx.x] = n;
    s2[threadIdx.x & 3] = n;
    sf[threadIdx.x & 3] = 0;
    __syncthreads();
    int r = atomicAdd(&s[n], 3);
    r += atomicExch(&s[n + 1], r);
    r += atomicCAS(&s[n + 2], 1, r);
    r += atomicMin(&s[3], r);
    r += atomicOr(&s[4], r);
    atomicInc((unsigned *)&s[7], 9u);
    atomicAdd(&s[8], 1);
    unsigned long long t = atomicCAS(&s2[n], 1ull, 2ull);
    t += atomicExch(&s2[n], t);
    t += atomicAdd(&s2[1], t);
    atomicAdd(&sf[n], 1.f);
    r += atomicAdd(g, r);
    r += atomicExch(g + 1, r);
    r += atomicCAS(g + 2, r, 5);
    r += atomicAnd(g + 3, r);
    t += atomicCAS(q, t, 7ull);
    t += atomicExch(q + 1, t);
    t += atomicAdd(q + 2, t);
    t += atomicMax((long long *)q + 3, (long long)t);
    float x = atomicAdd(f, 1.f);
    double y = atomicAdd(d, 2.0);
    atomicAdd(f + 1, x);
    atomicAdd(d + 1, y);
    __half2 z = atomicAdd(h, __half2half2(__float2half(x)));
    f[3] = __low2float(z);
    int *gen = n > 5 ? s : g;
    r += atomicAdd(gen + n, r);
    r += atomicCAS(gen, r, 1);
    r += atomicExch(gen + n, r);
    atomicAdd(gen + 3, 2);
    g[9] = r + (int)t;
    s[5] = r;
    g[8] = gen[4];
    gen[6] = 3;
}
extern "C" __global__ void polls(volatile int *v, int *g, unsigned long long *q)
{
    while (*v != 3)
        ;
    int r;
    do {
        asm volatile("ld.acquire.gpu.b32 %0,[%1];" : "=r"(r) : "l"(g));
    } while (r < 5);
    do {
        asm volatile("ld.acquire.sys.b32 %0,[%1];" : "=r"(r) : "l"(g));
        __nanosleep(20);
    } while (r < 5);
    do {
        asm volatile("ld.relaxed.gpu.global.b32 %0,[%1];" : "=r"(r) : "l"(g));
        __nanosleep(r);
    } while (r < 5);
    unsigned long long t;
    do {
        asm volatile("ld.acquire.cta.b64 %0,[%1];" : "=l"(t) : "l"(q));
    } while (t < 5);
    asm volatile("st.release.gpu.b32 [%0],%1;" ::"l"(g), "r"(r));
    asm volatile("st.relaxed.sys.b32 [%0],%1;" ::"l"(g), "r"(r));
    asm volatile("red.release.gpu.global.add.u32 [%0],%1;" ::"l"(g), "r"(r));
}
extern "C" __global__ void tma(const __grid_constant__ char4 dummy, const void *map, void *dst, const void *src, int x,
                               int y, int z, int w, int v, unsigned short mask, unsigned long long pol)
{
    extern __shared__ __align__(1024) char sm[];
    uint32_t s = sa(sm), b = s + 8192 + 8 * threadIdx.x;
    asm volatile("mbarrier.init.shared.b64 [%0],%1;" ::"r"(b), "r"(x));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async;");
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("fence.proxy.async.global;");
    asm volatile("fence.proxy.alias;");
    asm volatile("fence.proxy.tensormap::generic.release.gpu;");
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1,{%3}],[%2];" ::"r"(s),
        "l"(map), "r"(b), "r"(x));
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1,{%3,%4,%5}],[%2];" ::"r"(
            s),
        "l"(map), "r"(b), "r"(x), "r"(y), "r"(z));
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0],[%1,{%3,%4,%5,%6,%7}],[%2];" ::"r"(s),
                 "l"(map), "r"(b), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0],[%1,{%3,%4}],[%2],%5;" ::"r"(s),
                 "l"(map), "r"(b), "r"(x), "r"(y), "l"(pol));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
                 "cache_hint [%0],[%1,{%3,%4}],[%2],%5,%6;" ::"r"(s),
                 "l"(map), "r"(b), "r"(x), "r"(y), "h"(mask), "l"(pol));
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0],[%1,{%3,%4,%5,%6}],[%2],{%7,%8};" ::"r"(s),
                 "l"(map), "r"(b), "r"(x), "r"(y), "r"(z), "r"(w), "h"(mask), "h"((unsigned short)(mask + 1)));
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
                 "cluster [%0],[%1,{%3,%4,%5,%6}],[%2],{%7,%8},%9;" ::"r"(s),
                 "l"(map), "r"(b), "r"(x), "r"(y), "r"(z), "r"(w), "h"(mask), "h"((unsigned short)(mask + 1)),
                 "h"(mask));
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0,{%2,%3}],[%1];" ::"l"(map), "r"(s), "r"(x),
                 "r"(y));
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group.L2::cache_hint [%0,{%2,%3,%4,%5}],[%1],%6;" ::"l"(map),
        "r"(s), "r"(x), "r"(y), "r"(z), "r"(w), "l"(pol));
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0,{%2,%3}],[%1];" ::"l"(map),
                 "r"(s), "r"(x), "r"(y));
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.bulk_group [%0,{%2,%3,%4}],[%1];" ::"l"(map),
                 "r"(s), "r"(x), "r"(y), "r"(z));
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0,{%1,%2}];" ::"l"(map), "r"(x), "r"(y));
    asm volatile("prefetch.tensormap [%0];" ::"l"(map));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(s),
                 "l"(src), "r"(x), "r"(b));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0],[%1],%2,[%3],%4;" ::
            "r"(s),
        "l"(src), "r"(x), "r"(b), "h"(mask));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(s),
                 "r"(s + 1024), "r"(x), "r"(b));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],%2;" ::"l"(dst), "r"(s), "r"(x));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0],[%1],%2,%3;" ::"l"(dst), "r"(s),
                 "r"(x), "l"(pol));
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0],[%1],%2;" ::"l"(dst), "r"(s), "r"(x));
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0],[%1],%2,[%3];" ::
            "r"(s),
        "r"(s + 2048), "r"(x), "r"(b));
    asm volatile("cp.async.bulk.prefetch.L2.global [%0],%1;" ::"l"(src), "r"(x));
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 1;");
    asm volatile("cp.async.bulk.wait_group.read 0;");
}
extern "C" __global__ void bars(uint32_t b, int n, unsigned long long *o, unsigned h)
{
    extern __shared__ __align__(1024) char sm[];
    unsigned long long t;
    uint32_t p, r;
    asm volatile("mbarrier.arrive.shared.b64 %0,[%1];" : "=l"(t) : "r"(b));
    o[0] = t;
    asm volatile("mbarrier.arrive.shared.b64 %0,[%1],%2;" : "=l"(t) : "r"(b + 8), "r"(n));
    o[1] = t;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0,[%1],%2;" : "=l"(t) : "r"(b + 8), "r"(n));
    o[2] = t;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0,[%1];" : "=l"(t) : "r"(b));
    o[3] = t;
    asm volatile("mbarrier.arrive_drop.expect_tx.shared.b64 %0,[%1],%2;" : "=l"(t) : "r"(b), "r"(n));
    o[4] = t;
    asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0,[%1],%2;" : "=l"(t) : "r"(b), "r"(n));
    o[5] = t;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0,[%1],%2;" : "=l"(t) : "r"(b), "r"(n));
    o[6] = t;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0],%1;" ::"r"(b), "r"(n));
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0],%1;" ::"r"(b), "r"(n));
    asm volatile("{.reg .b32 a; mapa.shared::cluster.u32 a,%0,%1; mbarrier.arrive.release.cluster.shared::cluster.b64 "
                 "_,[a]; mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _,[a],%2; "
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _,[a],3; "
                 "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _,[a];}" ::"r"(b),
                 "r"(n), "r"(n + 1));
    asm volatile("{.reg .pred q; mbarrier.test_wait.shared.b64 q,[%1],%2; selp.u32 %0,1,0,q;}"
                 : "=r"(p)
                 : "r"(b), "l"(t));
    o[7] = p;
    asm volatile("{.reg .pred q; mbarrier.try_wait.shared.b64 q,[%1],%2; selp.u32 %0,1,0,q;}"
                 : "=r"(p)
                 : "r"(b), "l"(t));
    o[8] = p;
    asm volatile("{.reg .pred q; L1: mbarrier.try_wait.parity.shared.b64 q,[%0],%1,%2; @!q bra L1;}" ::"r"(b), "r"(n),
                 "r"(h));
    asm volatile(
        "{.reg .pred q; L2: mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 q,[%0],%1; @!q bra L2;}" ::"r"(b),
        "r"(n));
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(b));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b));
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b));
    asm volatile("mbarrier.pending_count.b64 %0,%1;" : "=r"(p) : "l"(t));
    o[9] = p;
    asm volatile("barrier.sync %0;" ::"r"(n));
    asm volatile("barrier.sync %0,%1;" ::"r"(n), "r"(n * 32));
    asm volatile("barrier.sync 3,%0;" ::"r"(n * 32));
    asm volatile("barrier.arrive 3,%0;" ::"r"(n * 32));
    asm volatile("barrier.arrive %0,64;" ::"r"(n));
    asm volatile("barrier.cta.sync.aligned 5,96;");
    asm volatile("barrier.cta.sync 5,96;");
    asm volatile("{.reg .pred q,w; setp.ne.u32 q,%1,0; barrier.cta.red.and.pred.aligned w,2,64,q; selp.u32 %0,1,0,w;}"
                 : "=r"(p)
                 : "r"(n));
    o[10] = p;
    asm volatile("{.reg .pred q; setp.ne.u32 q,%1,0; barrier.cta.red.popc.u32.aligned %0,2,q;}" : "=r"(p) : "r"(n));
    o[11] = p;
    asm volatile("{.reg .pred q,w; setp.ne.u32 q,%1,0; barrier.cta.red.or.pred w,%2,%3,q; selp.u32 %0,1,0,w;}"
                 : "=r"(p)
                 : "r"(n), "r"(n + 1), "r"(n * 32));
    o[12] = p;
    o[13] = __syncthreads_or(n);
    o[14] = __syncthreads_count(n);
    asm volatile("barrier.cluster.arrive.release.aligned;");
    asm volatile("barrier.cluster.wait.acquire.aligned;");
    asm volatile("barrier.cluster.arrive.relaxed;");
    asm volatile("barrier.cluster.wait;");
    asm volatile("griddepcontrol.wait;");
    asm volatile("griddepcontrol.launch_dependents;");
    __syncwarp(h);
    __syncwarp();
    o[15] = __match_any_sync(h, n);
    int pr;
    o[16] = __match_all_sync(h, n, &pr);
    o[17] = pr;
    o[18] = __reduce_add_sync(h, n);
    o[19] = __ballot_sync(h, n > 3);
    o[20] = __activemask();
    o[21] = __all_sync(~0u, n > 2);
    o[22] = __shfl_xor_sync(~0u, n, 3);
    o[23] = __shfl_up_sync(~0u, n, h);
    o[24] = __shfl_sync(~0u, n, 5, 8);
    asm volatile("{.reg .pred q; elect.sync %0|q, 0xffffffff; @q st.global.u32 [%1],%0;}" : "=r"(r) : "l"(o));
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if (n == 77)
        __trap();
    if (n == 78)
        asm volatile("brkpt;");
    if (n == 79)
        asm volatile("exit;");
    o[25] = clock64();
    o[26] = clock();
    asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(t));
    o[27] = t;
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    asm volatile("fence.acq_rel.cluster;");
    asm volatile("membar.sys;");
    asm volatile("discard.global.L2 [%0],128;" ::"l"(o));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(o));
    asm volatile("prefetchu.L1 [%0];" ::"l"(o));
    asm volatile("applypriority.global.L2::evict_normal [%0],128;" ::"l"(o));
    asm volatile(
        "{.reg .b32 a; mapa.shared::cluster.u32 a,%0,%1; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 "
        "[a],%1,[a+8]; st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [a+16],{%2,%2},[a+8]; "
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [a],%1,[a+8]; }" ::"r"(b),
        "r"(n), "l"(t));
    asm volatile("{.reg .b32 a; mapa.shared::cluster.u32 a,%0,%1; ld.shared::cluster.u32 %1,[a]; "
                 "st.shared::cluster.u32 [a],%1; atom.shared::cluster.add.u32 %1,[a],3; }" ::"r"(b),
                 "r"(n));
}
__device__ __noinline__ int f1(int a) { return a * 3 + clock(); }
__device__ __noinline__ int f2(int a) { return a ^ 5 + clock(); }
__device__ __noinline__ int f3(int a) { return a - 7 + clock(); }
__device__ int (*table[3])(int) = {f1, f2, f3};
extern "C" __global__ void calls(int *g, int n)
{
    int r = table[n](n);
    switch (n) {
    case 0:
        r += f1(r);
        break;
    case 1:
        r ^= g[5];
        break;
    case 2:
        r *= 7 + g[1];
        break;
    case 3:
        r -= g[2];
        break;
    case 4:
        r += f3(r);
        break;
    case 5:
        r = g[7] / r;
        break;
    case 6:
        r = g[9] % r;
        break;
    case 7:
        r = __popc(r);
        break;
    case 8:
        r = __brev(r);
        break;
    case 9:
        r = __clz(r);
        break;
    }
    printf("%d\n", r);
    g[0] = r;
    void *m = malloc(n);
    g[1] = (long)m;
    if (n > 9) {
        int loc[40];
        for (int i = 0; i < n; i++)
            loc[i % 40] = g[i];
        g[3] = loc[n % 40];
    }
    asm volatile("{.reg .b32 t; alloca.u32 t,%0;}" ::"r"(n));
}
extern "C" __global__ void div64(long long *a, unsigned long long b, int *c, float *f)
{
    a[0] = a[1] / (long long)b;
    a[2] = (unsigned long long)a[3] % b;
    a[4] = __mul64hi(a[5], b);
    a[6] = a[7] * b;
    c[0] = c[1] / c[2];
    c[3] = __dp4a(c[4], c[5], c[6]);
    c[7] = __vadd4(c[8], c[9]);
    c[10] = __byte_perm(c[11], c[12], c[13]);
    c[14] = min(max(c[15], c[16]), c[17]);
    c[18] = abs(c[19]);
    c[20] = __funnelshift_l(c[21], c[22], c[23]);
    c[24] = __ffs(c[25]);
    c[26] = __clzll(a[8]);
    c[27] = c[28] > c[29] ? c[30] : c[31];
    a[9] = a[10] >> c[32];
    a[11] = a[12] << c[33];
    a[13] = (a[14] < (long long)b);
    f[0] = fmaf(f[1], f[2], f[3]);
    f[4] = sinf(f[5]);
    f[6] = f[7] / f[8];
    c[40] = (int)f[9];
    f[10] = rintf(f[11]);
    a[15] = (long long)f[12];
    f[13] = (float)a[16];
    c[41] = (signed char)c[42];
    c[43] = c[44] & 0xff00;
    c[45] = __float_as_int(f[14]);
    c[46] = __usad(c[47], c[48], c[49]);
    f[15] = fmaxf(f[16], f[17]);
    double d = (double)f[18];
    f[19] = (float)(d * d + 1.0);
    c[50] = (int)d;
    d = (double)c[51];
    f[20] = (float)sqrt(d);
    f[21] = tanhf(f[22]);
    f[23] = __half2float(__float2half(f[24]));
    c[52] = (c[53] > 3) ^ (c[54] < 4) | (c[55] == 6);
    c[56] = __bfloat162float(__float2bfloat16(f[25]));
    c[57] = __vmaxs2(c[58], c[59]);
    c[60] = __viaddmax_s32(c[61], c[62], c[63]);
    c[64] = __vimax3_s32(c[65], c[66], c[67]);
    c[68] = __vibmax_s32(c[69], c[70], (bool *)&c[71]);
}
extern "C" __global__ void bytes(uint32_t *c, const float *f)
{
    asm("{.reg .s32 a,b; cvt.rni.s32.f32 a,%1; cvt.rni.s32.f32 b,%2; cvt.pack.sat.s8.s32.b32 %0,a,b,0;}"
        : "=r"(c[0])
        : "f"(f[0]), "f"(f[1]));
    asm("{.reg .s32 a,b; cvt.rzi.s32.f32 a,%1; cvt.rzi.s32.f32 b,%2; cvt.pack.sat.u8.s32.b32 %0,a,b,%3;}"
        : "=r"(c[1])
        : "f"(f[2]), "f"(f[3]), "r"(c[2]));
}
extern "C" __global__ void differences(uint32_t *c)
{
    c[0] = __vabsdiffu4(c[1], c[2]);
    c[3] = __vsadu4(c[4], c[5]) + c[6];
}
extern "C" __global__ void wg(float *o, uint64_t da, uint64_t db, uint32_t *a)
{
    float d[32];
    for (int i = 0; i < 32; i++)
        d[i] = o[i];
    int e[32];
    for (int i = 0; i < 32; i++)
        e[i] = a[i + 8];
    uint32_t h[16];
    for (int i = 0; i < 16; i++)
        h[i] = a[i + 40];
    asm volatile("wgmma.fence.sync.aligned;");
#define L16 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define D16                                                                                                            \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),        \
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define E16                                                                                                            \
    "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3]), "+r"(e[4]), "+r"(e[5]), "+r"(e[6]), "+r"(e[7]), "+r"(e[8]),        \
        "+r"(e[9]), "+r"(e[10]), "+r"(e[11]), "+r"(e[12]), "+r"(e[13]), "+r"(e[14]), "+r"(e[15])
#define H8 "+r"(h[0]), "+r"(h[1]), "+r"(h[2]), "+r"(h[3]), "+r"(h[4]), "+r"(h[5]), "+r"(h[6]), "+r"(h[7])
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " L16 ",%16,%17,1,1,1,0,0;"
                 : D16
                 : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " L16 ",{%16,%17,%18,%19},%20,1,1,1,0;"
                 : D16
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 " L16 ",%16,%17,1,1,1;" : D16 : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e5m2 " L16 ",%16,%17,1,1,1;"
                 : D16
                 : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.u8 " L16 ",%16,%17,1;" : E16 : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k256.s32.b1.b1.and.popc " L16 ",%16,%17,1;"
                 : E16
                 : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7},%8,%9,1,1,1,0,0;"
                 : H8
                 : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16 " L16 ",%16,%17,%18,0,1,1,1,0,0;"
                 : D16
                 : "l"(da), "l"(db), "r"(a[5]));
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 2;");
    asm volatile("wgmma.wait_group.sync.aligned 0;");
    for (int i = 0; i < 32; i++)
        o[i] = d[i];
    for (int i = 0; i < 32; i++)
        a[i + 8] = e[i];
    for (int i = 0; i < 16; i++)
        a[i + 40] = h[i];
}
