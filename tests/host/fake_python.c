/* fake_python.c - what the observer takes for CPython 3.11, and is none: what it would read there is not to be read.
 *
 * FAKE_PYTHON says what is wrong.  The program must go on whatever it is.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN uint64_t _PyRuntime[512];
SHOWN const uint64_t Py_Version = 0x030b02f0;
SHOWN uint64_t PyCode_Type[64];
SHOWN int _Py_IsFinalizing(void);
SHOWN void *PyGILState_GetThisThreadState(void);

/* Offsets of 3.11, in words (instr/python/python_layout.c). */
enum { INTERPRETER = 2, CFRAME = 7, PTHREAD = 19, CFRAME_FRAME = 1, FRAME_CODE = 4, FRAME_PREVIOUS = 6, TYPE = 1 };

int _Py_IsFinalizing(void)
{
    return 0;
}

/* Nobody may read it. */
static uint64_t *closed_page(void)
{
    void *page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

/* The last words of an open page, and a closed one behind it. */
static uint64_t *at_the_edge(size_t words)
{
    uint64_t *page = closed_page();
    if (!page || mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return page + 512 - words;
}

static void *state_with(uint64_t *frame)
{
    static uint64_t state[64], cframe[4];
    state[INTERPRETER] = (uint64_t)(uintptr_t)state;
    state[PTHREAD] = (uint64_t)pthread_self();
    state[CFRAME] = (uint64_t)(uintptr_t)cframe;
    cframe[CFRAME_FRAME] = (uint64_t)(uintptr_t)frame;
    return state;
}

void *PyGILState_GetThisThreadState(void)
{
    static uint64_t frame[16], code[64];
    const char *wrong = getenv("FAKE_PYTHON");
    if (!wrong)
        return NULL;
    if (strcmp(wrong, "small-state") == 0)
        return (void *)(uintptr_t)16; // NOLINT: no address
    if (strcmp(wrong, "closed-state") == 0)
        return closed_page();
    if (strcmp(wrong, "cut-state") == 0)
        return at_the_edge(4);
    if (strcmp(wrong, "closed-frame") == 0)
        return state_with(closed_page());
    if (strcmp(wrong, "cut-frame") == 0)
        return state_with(at_the_edge(5));
    if (strcmp(wrong, "high-frame") == 0)
        return state_with((uint64_t *)(uintptr_t)0x8000000000000000u); // NOLINT: no address
    frame[FRAME_CODE] = (uint64_t)(uintptr_t)(strcmp(wrong, "closed-code") == 0 ? closed_page() : code);
    frame[FRAME_PREVIOUS] = (uint64_t)(uintptr_t)frame; /* the chain does not end */
    if (strcmp(wrong, "endless") == 0)
        code[TYPE] = (uint64_t)(uintptr_t)PyCode_Type;
    return state_with(frame);
}
