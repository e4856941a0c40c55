/* service_threads.c - tells threads of libraries that wait with a time limit and never give a kernel what it waits for.
 *
 * Reads:  what /proc/self/task/<thread> says of a thread, one word of its stack, the loader's list of libraries.
 * Writes: nothing.
 *
 * Known are PyTorch's two watchers of NCCL, by their names: they only ask events, and abort after a long time out.  The
 * server of PyTorch's TCPStore, by its name too, which a rank has that was not started by torchrun: it only answers
 * over sockets, and a thread that waits for such an answer is itself in a call on a socket.  And threads of NCCL itself
 * that wait for requests in poll(2), by its caller: the return address of poll() lies in libnccl.  (What moves data for
 * kernels does not sleep there.)  The place of that address in a stack is not guessed: a thread of ours calls poll()
 * too, and the address is looked for in its stack.  A thread that waits elsewhere or was called in another way, or NCCL
 * in another library, is not known.
 */
#include "service_threads.h"

#include <link.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "own_threads.h"

enum {
    FRAME_WORDS = 64,
    CODE_BYTES = 256, /* of be_found, at most */
    STAND_MS = 300,
    STAND_US = STAND_MS * 1000,
    STEP_US = 500,
};

/* ---- where poll() goes on ---- */

/* A frame of poll(): the same for all who wait at `pc` by the call `number`. */
static struct {
    bool tried;
    long number;
    unsigned long pc;
    size_t offset_bytes; /* from the stack pointer to where it goes on */
} frame;
static _Atomic int found_thread;

/* The call is not the last thing it does, so that it is one. */
static __attribute__((noinline)) void *be_found(void *unused)
{
    shim_thread_is_ours();
    atomic_store(&found_thread, (int)syscall(SYS_gettid));
    const int failed = poll(NULL, 0, STAND_MS);
    atomic_store(&found_thread, failed ? -1 : 0);
    return unused;
}

/* Words of the process's own memory; a place that is gone is no fault. */
static size_t read_words(unsigned long address, unsigned long *words, size_t count)
{
    struct iovec to = {words, count * sizeof *words}, from = {(void *)address, count * sizeof *words};
    const ssize_t bytes = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return bytes > 0 ? (size_t)bytes / sizeof *words : 0;
}

static bool is_in_be_found(unsigned long word)
{
    const unsigned long first = (unsigned long)(void *)be_found;
    return word > first && word < first + CODE_BYTES;
}

static bool find_own_frame(int thread)
{
    struct host_call call;
    unsigned long words[FRAME_WORDS];
    if (!host_call_of((uint32_t)thread, &call) || !host_call_polls(&call))
        return false;
    const size_t count = read_words(call.stack, words, FRAME_WORDS);
    for (size_t i = 0; i < count; i++)
        if (is_in_be_found(words[i])) {
            frame.number = call.number;
            frame.pc = call.pc;
            frame.offset_bytes = i * sizeof *words;
            return true;
        }
    return false;
}

/* Once: it takes a millisecond. */
static void learn_frame(void)
{
    frame.tried = true;
    if (!shim_start_thread(be_found))
        return;
    for (int waited_us = 0; waited_us < STAND_US && atomic_load(&found_thread) >= 0; waited_us += STEP_US) {
        const int thread = atomic_load(&found_thread);
        if (thread && find_own_frame(thread))
            return;
        shim_sleep_us(STEP_US);
    }
}

/* Where the poll() goes on in which a thread is; 0 = not known. */
static unsigned long caller_of_poll(const struct host_call *call)
{
    unsigned long word = 0;
    if (!frame.tried)
        learn_frame();
    if (!frame.pc || call->pc != frame.pc || call->number != frame.number)
        return 0;
    return read_words(call->stack + frame.offset_bytes, &word, 1) == 1 ? word : 0;
}

/* ---- whose code that is ---- */

/* Executable pieces of libnccl, as long as the loader has added and taken away nothing. */
struct library_code {
    struct {
        unsigned long first, end;
    } pieces[8];
    size_t count;
    unsigned long long added, removed;
    bool known, begun;
};

static bool is_nccl(const char *path)
{
    static const char name[] = "libnccl.so";
    const char *file = path ? strrchr(path, '/') : NULL;
    file = file ? file + 1 : path;
    return file && strncmp(file, name, sizeof name - 1) == 0 &&
           (file[sizeof name - 1] == '\0' || file[sizeof name - 1] == '.');
}

static void add_pieces(struct library_code *code, const struct dl_phdr_info *library)
{
    for (unsigned i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *piece = &library->dlpi_phdr[i];
        if (piece->p_type != PT_LOAD || !(piece->p_flags & PF_X) ||
            code->count == sizeof code->pieces / sizeof *code->pieces)
            continue;
        code->pieces[code->count].first = library->dlpi_addr + piece->p_vaddr;
        code->pieces[code->count].end = library->dlpi_addr + piece->p_vaddr + piece->p_memsz;
        code->count++;
    }
}

/* Ends the walk at the first library where nothing changed since the last one. */
static int visit(struct dl_phdr_info *library, size_t bytes, void *context)
{
    struct library_code *code = context;
    if (bytes < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof library->dlpi_subs)
        return 1;
    if (!code->begun) {
        if (code->known && code->added == library->dlpi_adds && code->removed == library->dlpi_subs)
            return 1;
        *code = (struct library_code){
            .added = library->dlpi_adds, .removed = library->dlpi_subs, .known = true, .begun = true};
    }
    if (is_nccl(library->dlpi_name))
        add_pieces(code, library);
    return 0;
}

/* The loader keeps its list still while it is walked, so the walk only looks. */
static bool is_code_of_nccl(unsigned long address)
{
    static struct library_code code;
    code.begun = false;
    dl_iterate_phdr(visit, &code);
    for (size_t i = 0; address && i < code.count; i++)
        if (address >= code.pieces[i].first && address < code.pieces[i].end)
            return true;
    return false;
}

/* ---- threads ---- */

static bool is_watcher_name(const char *name)
{
    return strcmp(name, "pt_nccl_watchdg") == 0 || strcmp(name, "pt_nccl_heartbt") == 0;
}

static bool is_store_name(const char *name)
{
    return strcmp(name, "pt_tcpstore_uv") == 0 || strcmp(name, "pt_tcpstore") == 0;
}

static bool waits_in_futex(const struct host_call *call)
{
    const int command = (int)call->argument[1] & FUTEX_CMD_MASK;
    return call->number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
           call->argument[1] & FUTEX_PRIVATE_FLAG;
}

bool service_thread_waits(const char *name, const struct host_call *call)
{
    if (is_watcher_name(name))
        return waits_in_futex(call);
    if (is_store_name(name))
        return host_call_polls(call) || host_call_polls_events(call);
    return host_call_polls(call) && is_code_of_nccl(caller_of_poll(call));
}
