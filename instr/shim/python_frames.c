/* python_frames.c - see python_frames.h.
 *
 * Reads: symbols of the interpreter, the calling thread's state in it, that thread's frames and their code objects.
 * Writes: nothing of the interpreter's.
 *
 * Only this thread changes its frames, and it is here: so they stand still, whoever has the GIL.  A frame that runs
 * keeps its code alive.  What is left to fear:
 *   - a layout other than expected.  So the first walk of each thread asks the kernel about each address before it
 * reads there, and each code object must have the right type.  After some walks that failed no further one is made.
 *   - a thread's state that another thread has freed, as the interpreter's end does.  So nothing is read once that has
 *     begun, and the state must be this thread's.  If the end begins while another thread is in the middle of a walk,
 *     that walk may read what is freed: a walk takes less than a microsecond.
 */
#include "python_frames.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "loader.h"
#include "python/python_layout.h"
#include "real_dlsym.h"
#include "shim.h"
#include "wsdbg/session.h"

enum { WALKS_FAILED_MOST = 16, ADDRESS_BITS = 47, CALLS_BEFORE_LAST_LOOK = 1 << 16 };
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
#define PAGE_BYTES UINT64_C(4096)

enum { NOT_FOUND, FOUND, GIVEN_UP };

static struct {
    struct wsdbg_python_layout layout;
    uint64_t code_type;
    void *(*this_thread)(void); /* PyGILState_GetThisThreadState, which needs no GIL */
    int (*is_finalizing)(void);
} python;
static _Atomic int found;
static _Atomic uint32_t calls, walks_failed;
static pthread_mutex_t find_lock = PTHREAD_MUTEX_INITIALIZER;

/* The state whose frames a careful walk has read to the end. */
static SHIM_THREAD_LOCAL uint64_t trusted_state;

/* ---- the interpreter ---- */

static void *symbol(const char *name)
{
    return wsdbg_real_dlsym(RTLD_DEFAULT, name);
}

/* 0 = none that is known.  Before 3.11 the functions that it exports tell. */
static uint32_t find_version(void)
{
    const uint32_t *version = symbol("Py_Version");
    if (version)
        return *version >> 16;
    if (symbol("Py_NewRef"))
        return 0x030a;
    return symbol("PyFrame_GetBack") ? 0x0309 : 0;
}

static bool find_layout(const void *runtime)
{
    const uint32_t version = find_version();
    uint64_t table[WSDBG_PYTHON_TABLE_WORDS];
    uint32_t described;
    if (version >= WSDBG_PYTHON_FIRST_SELF_DESCRIBED) {
        memcpy(table, runtime, sizeof table);
        return wsdbg_python_layout_of_table(table, &python.layout, &described);
    }
    const struct wsdbg_python_layout *known = wsdbg_python_layout_of(version);
    if (known)
        python.layout = *known;
    return known != NULL;
}

/* The functions found must stay where they are, even if the program closes the library.  A program that holds the
 * interpreter itself cannot be opened, and cannot be unloaded. */
static void keep_loaded(const void *runtime)
{
    Dl_info info;
    if (dladdr(runtime, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The caller holds find_lock. */
static void find(void)
{
    const void *runtime = symbol("_PyRuntime");
    if (!runtime)
        return;
    *(void **)&python.this_thread = symbol("PyGILState_GetThisThreadState");
    *(void **)&python.is_finalizing = symbol("Py_IsFinalizing");
    if (!python.is_finalizing)
        *(void **)&python.is_finalizing = symbol("_Py_IsFinalizing");
    python.code_type = (uint64_t)(uintptr_t)symbol("PyCode_Type");
    const bool is_whole = python.this_thread && python.is_finalizing && python.code_type && find_layout(runtime);
    keep_loaded(runtime);
    real_dlsym_forget_errors();
    atomic_store_explicit(&found, is_whole ? FOUND : GIVEN_UP, memory_order_release);
}

/* Whether some library has an interpreter.  dlsym() is not asked: if it finds nothing, it takes away the error that the
 * program may want to read with dlerror(). */
static int find_runtime(struct dl_phdr_info *object, size_t size, void *has)
{
    (void)object;
    (void)size;
    struct loader_object read;
    for (const struct link_map *at = loader_first(); at && !*(bool *)has; at = at->l_next)
        *(bool *)has = loader_read(at, &read) && loader_function(&read, "PyGILState_GetThisThreadState", 0);
    return 1; /* one call walks the whole list */
}

/* A program may load the interpreter later: it is looked for at the calls number 1, 2, 4, 8, ... */
static bool has_python(void)
{
    int now = atomic_load_explicit(&found, memory_order_acquire);
    if (now == NOT_FOUND) {
        const uint32_t call = atomic_load_explicit(&calls, memory_order_relaxed) + 1;
        if (call > CALLS_BEFORE_LAST_LOOK)
            return false;
        atomic_store_explicit(&calls, call, memory_order_relaxed); /* threads may give the same number twice */
        if ((call & (call - 1)) || pthread_mutex_trylock(&find_lock) != 0)
            return false;
        bool has = false;
        dl_iterate_phdr(find_runtime, &has);
        if (has && atomic_load(&found) == NOT_FOUND)
            find();
        pthread_mutex_unlock(&find_lock);
        now = atomic_load_explicit(&found, memory_order_acquire);
    }
    return now == FOUND && !python.is_finalizing();
}

/* ---- reading ---- */

struct walk {
    bool is_careful;
    bool has_failed;
};

/* The kernel reads the new mask before it refuses the unknown way to set it. */
static bool page_is_readable(uint64_t address)
{
#if defined(__x86_64__)
    long result = SYS_rt_sigprocmask;
    register uint64_t size __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(~0L), "S"(address & ~UINT64_C(7)), "d"(0L), "r"(size)
                     : "rcx", "r11", "memory");
    return result == -22; /* EINVAL */
#else
    (void)address;
    return false;
#endif
}

static bool check(struct walk *walk, uint64_t address, uint64_t bytes)
{
    bool may = address >= PAGE_BYTES && address >> ADDRESS_BITS == 0;
    for (uint64_t page = address / PAGE_BYTES; may && page <= (address + bytes - 1) / PAGE_BYTES; page++)
        may = page_is_readable(page * PAGE_BYTES > address ? page * PAGE_BYTES : address);
    walk->has_failed |= !may;
    return may;
}

static inline bool may_read(struct walk *walk, uint64_t address, uint64_t bytes)
{
    return !walk->is_careful || check(walk, address, bytes);
}

static uint64_t word_at(uint64_t address)
{
    uint64_t word;
    memcpy(&word, (const void *)(uintptr_t)address, sizeof word); // NOLINT: an address of the interpreter's
    return word;
}

static uint64_t first_frame(struct walk *walk, uint64_t state)
{
    const struct wsdbg_python_layout *l = &python.layout;
    if (!may_read(walk, state + l->thread_interpreter, 8) || !may_read(walk, state + l->thread_pthread, 8) ||
        !may_read(walk, state + l->thread_frame, 8))
        return 0;
    if (word_at(state + l->thread_pthread) != (uint64_t)pthread_self() || !word_at(state + l->thread_interpreter)) {
        walk->has_failed = true;
        return 0;
    }
    const uint64_t frame = word_at(state + l->thread_frame);
    if (!l->has_cframe || !frame)
        return frame;
    return may_read(walk, frame + l->cframe_frame, 8) ? word_at(frame + l->cframe_frame) : 0;
}

/* The instruction as the interpreter has it. */
static uint64_t instruction_of(uint64_t frame)
{
    const struct wsdbg_python_layout *l = &python.layout;
    int32_t index;
    if (!l->instruction_is_index)
        return word_at(frame + l->frame_instruction);
    memcpy(&index, (const void *)(uintptr_t)(frame + l->frame_instruction), sizeof index); // NOLINT
    return (uint64_t)(int64_t)index;
}

static uint64_t copy_of(uint64_t frame)
{
    const struct wsdbg_python_layout *l = &python.layout;
    return l->code_copies ? word_at(frame + l->frame_bytecode) & 0xffff : 0;
}

static unsigned char byte_at(uint64_t address)
{
    return *(const unsigned char *)(uintptr_t)address; // NOLINT: an address of the interpreter's
}

/* False: the object is no code. */
static bool put_frame(struct walk *walk, uint64_t frame, uint64_t words[WSDBG_SITE_FRAME_WORDS])
{
    const struct wsdbg_python_layout *l = &python.layout;
    const uint64_t code = word_at(frame + l->frame_code) & ~UINT64_C(7);
    if (!may_read(walk, code, l->code_name + 8) || !may_read(walk, code + l->code_first_line, 4) ||
        word_at(code + l->object_type) != python.code_type) {
        walk->has_failed = true;
        return false;
    }
    const bool is_entry = !l->has_owner || (l->frame_entry && byte_at(frame + l->frame_entry));
    words[0] = code | (is_entry ? WSDBG_SITE_ENTRY : 0) | copy_of(frame) << 48;
    words[1] = instruction_of(frame);
    words[2] = (word_at(code + l->code_name) & ADDRESS_MASK) | word_at(code + l->code_first_line) << 48;
    return true;
}

static uint32_t read_frames(struct walk *walk, uint64_t frame, uint64_t *words, uint32_t *flags)
{
    const struct wsdbg_python_layout *l = &python.layout;
    uint32_t count = 0;
    for (int i = 0; frame && i < 2 * WSDBG_SITE_PYTHON_FRAMES && may_read(walk, frame, l->frame_bytes); i++) {
        if (l->has_owner && byte_at(frame + l->frame_owner) >= l->owner_foreign) {
            if (count > 0)
                words[(count - 1) * WSDBG_SITE_FRAME_WORDS] |= WSDBG_SITE_ENTRY;
        } else if (count == WSDBG_SITE_PYTHON_FRAMES) {
            break;
        } else if (put_frame(walk, frame, words + count * WSDBG_SITE_FRAME_WORDS)) {
            count++;
        } else {
            break;
        }
        frame = word_at(frame + l->frame_previous);
    }
    if (frame)
        *flags |= WSDBG_SITE_PYTHON_CUT;
    return count;
}

uint32_t python_frames_read(uint64_t *words, uint32_t *flags)
{
    const uint64_t state = has_python() ? (uint64_t)(uintptr_t)python.this_thread() : 0;
    struct walk walk = {.is_careful = state != trusted_state};
    if (atomic_load_explicit(&found, memory_order_relaxed) == GIVEN_UP)
        *flags |= WSDBG_SITE_PYTHON_LOST;
    if (!state)
        return 0;
    const uint64_t frame = first_frame(&walk, state);
    const uint32_t count = frame ? read_frames(&walk, frame, words, flags) : 0;
    if (!walk.has_failed) {
        trusted_state = count ? state : trusted_state;
        return count;
    }
    trusted_state = 0;
    *flags |= WSDBG_SITE_PYTHON_LOST;
    if (atomic_fetch_add(&walks_failed, 1) + 1 >= WALKS_FAILED_MOST)
        atomic_store(&found, GIVEN_UP);
    return count;
}
