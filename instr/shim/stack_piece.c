/* stack_piece.c - see stack_piece.h.
 *
 * Reads: where the C library says that the thread's stack is, once a thread; the stack.  Writes: nothing.
 *
 * Above a stack pointer everything is mapped up to the stack's beginning.  That is known of the main stack and of the
 * stacks that threads were made with.  Of any other stack only the rest of the stack pointer's page is read.
 */
#include "stack_piece.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/* Nothing else is likely to lie that near below the main stack's beginning: the kernel begins to map below the stack's
 * limit and a random gap. */
#define MAIN_STACK_BYTES UINT64_C(67108864)
#define PAGE_BYTES UINT64_C(4096)

/* Of the dynamic loader: where the main stack begins. */
extern void *__libc_stack_end __attribute__((weak));

static SHIM_THREAD_LOCAL uint64_t own_first, own_end; /* of the stack that the thread was made with */
static SHIM_THREAD_LOCAL bool is_asked;

static void ask(void)
{
    pthread_attr_t attributes;
    void *address = NULL;
    size_t bytes = 0;
    is_asked = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &address, &bytes) == 0) {
        own_first = (uint64_t)(uintptr_t)address;
        own_end = own_first + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* The end of the stack that holds sp; 0 = nobody knows. */
static uint64_t end_of(uint64_t sp)
{
    const uint64_t main_end = &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end : 0;
    /* For the main thread the C library would read /proc/self/maps. */
    if (!is_asked && getpid() != (pid_t)syscall(SYS_gettid))
        ask();
    is_asked = true;
    if (sp >= own_first && sp < own_end)
        return own_end;
    return sp < main_end && main_end - sp < MAIN_STACK_BYTES ? main_end : 0;
}

uint32_t stack_words_above(uint64_t sp, uint32_t most, int *is_own)
{
    const uint64_t end = end_of(sp);
    const uint64_t words = (end ? end - sp : PAGE_BYTES - sp % PAGE_BYTES) / sizeof(uint64_t);
    *is_own = end != 0;
    return words < most ? (uint32_t)words : most;
}

void stack_copy(uint64_t *to, uint64_t sp, uint32_t words)
{
#if defined(__x86_64__)
    uint64_t count = words;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(sp), "+c"(count) : : "memory");
#else
    (void)to, (void)sp, (void)words;
#endif
}
