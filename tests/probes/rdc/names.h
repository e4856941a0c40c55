/* names.h - the one list of names of a program with relocatable device code: each of its files includes it. */
#include <wsdbg/probe.h>

WSDBG_MODULE(WSDBG_ROLE(0, "sender"), WSDBG_ROLE(1, "receiver"), WSDBG_NAMED_BARRIER(1, "sent", 1 << 0, 1 << 1),
             WSDBG_NAMED_BARRIER(2, "taken", 1 << 1, 1 << 0))

enum { SENT = 1, TAKEN = 2, THREADS = 64 };

static __device__ __forceinline__ void sync(struct wsdbg_warp &w, uint32_t barrier)
{
    WSDBG_NAMED_SYNC_BEGIN(w, barrier, THREADS);
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(THREADS) : "memory");
    WSDBG_NAMED_SYNC_END(w, barrier, THREADS);
}
