/* debug_contexts.c - whether the program's contexts are in a state in which an inspector may come in.
 *
 * Reads:  the context table, when contexts were made or ended (debug_calls.c).  Writes: nothing.
 */
#include "debug_contexts.h"

#include "contexts.h"
#include "debug_calls.h"
#include "own_threads.h"
#include "state.h"

/* The driver's thread for a context is started 0.1 s before the call that makes the context returns. */
#define MADE_NS 50000000ull
#define ENDED_NS 200000000ull
#define CONTEXTS_WAIT_US 400000
#define OWN_CALLS_US 100000

void debug_own_calls_wait(void)
{
    for (int i = 0, waited_us = 0; i < WSDBG_CONTEXT_ROWS; i++)
        for (; waited_us < OWN_CALLS_US && atomic_load(&shim_contexts[i].users); waited_us += 100)
            shim_sleep_us(100);
}

bool debug_context_is_open(int row)
{
    return atomic_load(&shim_contexts[row].handle) && !atomic_load(&shim_contexts[row].closing);
}

static bool has_context(void)
{
    for (int i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (debug_context_is_open(i))
            return true;
    return false;
}

static bool are_settled(void)
{
    return debug_calls_contexts_are_settled(MADE_NS, ENDED_NS);
}

void debug_contexts_wait(void)
{
    for (int waited_us = 0; waited_us < CONTEXTS_WAIT_US && !are_settled(); waited_us += 500)
        shim_sleep_us(500);
}

const char *debug_contexts_trouble(void)
{
    return atomic_load(&shim_exiting) ? "the program is ending"
           : !are_settled()           ? "the program is making or ending a context"
           : !has_context()           ? "the program has no context on a GPU"
                                      : NULL;
}
