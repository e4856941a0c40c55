/* jump.c - see jump.h.  A near jump of five bytes at the function's entry leads to a page near the text, since many
 * functions of the runtime are shorter than a far jump.  An `endbr64` at the entry stays: an indirect call may come
 * there.  Each function has in that page
 *
 *     go:    jmp *slot          to the target, once it is known
 *     first: push index         where slot points at first
 *            jmp *resolver      finds the target, stores it in slot, goes there with the arguments as they were
 *
 * Writes: the text, which is writable and not executable for a moment; the code of the page, which is executable and
 * not writable from then on; and slots, behind it.
 */
#include "static_runtime/jump.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NEAR_BYTES = 5, MARK_BYTES = 4, PUSH_BYTES = 5, JUMP_BYTES = 6, ENTRY_BYTES = 24 };

static const unsigned char endbr64[MARK_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint64_t reach_bytes = 1ull << 30; /* well within the 2 GiB of a near jump */

/* The slots of all jumps, by their index. */
static _Atomic(void *) *slots[JUMPS_MAX];
static jump_target *find_target;

static size_t skipped(const unsigned char *first)
{
    return memcmp(first, endbr64, sizeof endbr64) == 0 ? MARK_BYTES : 0;
}

bool jump_fits(uint64_t byte_count, const unsigned char *first)
{
#ifdef __x86_64__
    return byte_count >= NEAR_BYTES && byte_count >= skipped(first) + NEAR_BYTES;
#else
    (void)byte_count, (void)first;
    return false;
#endif
}

#ifdef __x86_64__
/* On entry the stack holds the index and, below it, the return address of the function's caller.  No function of the
 * runtime has an argument in a vector register. */
__asm__(".pushsection .text\n"
        ".type static_runtime_resolver, @function\n"
        "static_runtime_resolver:\n"
        "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n    push %rax\n"
        "    sub $8, %rsp\n"
        "    mov 64(%rsp), %rdi\n"
        "    call static_runtime_resolve\n"
        "    mov %rax, %r11\n"
        "    add $8, %rsp\n"
        "    pop %rax\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
        "    add $8, %rsp\n"
        "    jmp *%r11\n"
        ".size static_runtime_resolver, . - static_runtime_resolver\n"
        ".popsection\n");
#endif
void static_runtime_resolver(void) __attribute__((visibility("hidden")));
void *static_runtime_resolve(uint64_t index) __attribute__((visibility("hidden"), used));

void *static_runtime_resolve(uint64_t index)
{
    void *target = find_target(index);
    atomic_store(slots[index], target);
    return target;
}

void jump_set(uint32_t index, void *target)
{
    atomic_store(slots[index], target);
}

/* Free memory at most reach_bytes from the text. */
static unsigned char *allocate_at(uint64_t at, size_t byte_count)
{
    void *page = mmap((void *)(uintptr_t)at, byte_count, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == (void *)(uintptr_t)at)
        return page;
    if (page != MAP_FAILED)
        munmap(page, byte_count);
    return NULL;
}

static unsigned char *allocate_near(uint64_t text, size_t text_bytes, size_t byte_count)
{
    const uint64_t step = 1ull << 20, above = (text + text_bytes + step) & ~(step - 1), below = text & ~(step - 1);
    unsigned char *page = NULL;
    for (uint64_t away = 0; away < reach_bytes && !page; away += step) {
        page = allocate_at(above + away, byte_count);
        if (!page && below > away + step + byte_count)
            page = allocate_at(below - away - step, byte_count);
    }
    return page;
}

/* jmp *place(%rip) */
static void write_jump(unsigned char *at, const void *place)
{
    const int32_t distance = (int32_t)((intptr_t)place - (intptr_t)(at + JUMP_BYTES));
    at[0] = 0xff;
    at[1] = 0x25;
    memcpy(at + 2, &distance, sizeof distance);
}

static void write_entry(unsigned char *at, uint32_t index, _Atomic(void *) *slot, void *const *resolver)
{
    unsigned char *first = at + JUMP_BYTES;
    write_jump(at, slot);
    first[0] = 0x68; /* push */
    memcpy(first + 1, &index, sizeof index);
    write_jump(first + PUSH_BYTES, resolver);
    atomic_store(slot, (void *)first);
    slots[index] = slot;
}

/* `entry` is the function's, or a copy of it that will lie at `from`. */
static void write_near(unsigned char *entry, uint64_t from, const unsigned char *to)
{
    const size_t skip = skipped(entry);
    const int32_t distance = (int32_t)((intptr_t)to - (intptr_t)(from + skip + NEAR_BYTES));
    entry[skip] = 0xe9;
    memcpy(entry + skip + 1, &distance, sizeof distance);
}

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

static bool is_within_reach(uint64_t text, size_t text_bytes, const unsigned char *code, size_t code_bytes)
{
    const uint64_t first = (uint64_t)(uintptr_t)code, lowest = first < text ? first : text;
    const uint64_t end = first + code_bytes > text + text_bytes ? first + code_bytes : text + text_bytes;
    return end - lowest < INT32_MAX;
}

/* Puts a changed copy in the place of the text; each step that fails leaves the text as it is. */
static bool replace_text(const struct jump *jumps, size_t count, uint64_t first, size_t bytes, int protection,
                         const unsigned char *code)
{
    unsigned char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, (const void *)(uintptr_t)first, bytes);
    for (size_t i = 0; i < count; i++)
        write_near(copy + (jumps[i].from - first), jumps[i].from, code + i * ENTRY_BYTES);
    if (mprotect(copy, bytes, protection) == 0 &&
        mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)first) != MAP_FAILED)
        return true;
    munmap(copy, bytes);
    return false;
}

bool jump_place(const struct jump *jumps, size_t count, uint64_t text, size_t text_bytes, int protection,
                jump_target *target)
{
    const size_t code_bytes = whole_pages(count * ENTRY_BYTES), slots_bytes = whole_pages((count + 1) * sizeof(void *));
    const uint64_t first = text & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1);
    unsigned char *code = allocate_near(text, text_bytes, code_bytes + slots_bytes);
    if (!code)
        return false;
    void **resolver = (void **)(code + code_bytes);
    _Atomic(void *) *own = (_Atomic(void *) *)(resolver + 1);
    find_target = target;
    *resolver = (void *)static_runtime_resolver;
    for (size_t i = 0; i < count; i++)
        write_entry(code + i * ENTRY_BYTES, jumps[i].index, &own[i], resolver);
    if (is_within_reach(text, text_bytes, code, code_bytes) && mprotect(code, code_bytes, PROT_READ | PROT_EXEC) == 0 &&
        replace_text(jumps, count, first, whole_pages((size_t)(text + text_bytes - first)), protection, code))
        return true;
    munmap(code, code_bytes + slots_bytes);
    return false;
}
