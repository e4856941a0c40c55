/* jump.c - see jump.h.  A near jump of five bytes at the function's entry leads to a page near the text, since many
 * functions of the runtime are shorter than a far jump.  An `endbr64` at the entry stays: an indirect call may come
 * there.  Each function has in that page
 *
 *     mov $slot, %r11
 *     jmp *(%r11)
 *
 * r11 belongs to nobody when a function is entered.  Only jumps are added, so return addresses stay as a shadow stack
 * has them.
 *
 * Writes: the text, which is replaced by a changed copy; the page near it, which is executable and not writable from
 * then on.
 */
#include "static_runtime/jump.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NEAR_BYTES = 5, MARK_BYTES = 4, ENTRY_BYTES = 16, ALIGNMENT = 16 };

static const unsigned char endbr64[MARK_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint64_t reach_bytes = 1ull << 30; /* well within the 2 GiB of a near jump */

static const char no_right[] = "this system lets no program change its own code",
                  too_far[] = "there is no free memory within 1 GiB of its code";

static size_t skipped(const unsigned char *first)
{
    return memcmp(first, endbr64, sizeof endbr64) == 0 ? MARK_BYTES : 0;
}

/* The length of the filler instruction there: int3, or one of the forms of nop that assemblers and linkers write.  0:
 * something else. */
static size_t filler_bytes(const unsigned char *at, size_t byte_count)
{
    size_t prefix = 0;
    while (prefix < byte_count && (at[prefix] == 0x66 || at[prefix] == 0x2e))
        prefix++;
    if (prefix == byte_count)
        return 0;
    if (at[prefix] == 0x90 || (prefix == 0 && at[0] == 0xcc))
        return prefix + 1;
    if (byte_count - prefix < 3 || at[prefix] != 0x0f || at[prefix + 1] != 0x1f)
        return 0;
    const unsigned mode = at[prefix + 2] >> 6, has_index = (at[prefix + 2] & 7) == 4;
    const size_t length = prefix + 3 + has_index + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
    return mode < 3 && length <= byte_count ? length : 0;
}

bool jump_fits(const unsigned char *first, uint64_t byte_count, uint64_t readable)
{
#ifdef __x86_64__
    if (readable < ALIGNMENT || byte_count > readable)
        return byte_count >= MARK_BYTES + NEAR_BYTES && byte_count <= readable;
    const size_t needed = skipped(first) + NEAR_BYTES;
    uint64_t room = byte_count;
    const uint64_t end = ((uintptr_t)first % ALIGNMENT + byte_count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT -
                         (uintptr_t)first % ALIGNMENT;
    for (size_t length = 1; room < needed && room < end && end <= readable && length; room += length)
        length = filler_bytes(first + room, (size_t)(end - room));
    return room >= needed;
#else
    (void)first, (void)byte_count, (void)readable;
    return false;
#endif
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

static void write_entry(unsigned char *at, const target_slot *slot)
{
    static const unsigned char load[] = {0x49, 0xbb}, jump[] = {0x41, 0xff, 0x23};
    memcpy(at, load, sizeof load);
    memcpy(at + sizeof load, &slot, sizeof slot);
    memcpy(at + sizeof load + sizeof slot, jump, sizeof jump);
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

const char *jump_place(const struct jump *jumps, size_t count, uint64_t text, size_t text_bytes, int protection,
                       struct jump_pages *out)
{
    const size_t code_bytes = whole_pages(count * ENTRY_BYTES);
    const uint64_t first = text & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1);
    unsigned char *code = allocate_near(text, text_bytes, code_bytes);
    struct jump_pages pages = {.first = code, .byte_count = code_bytes};
    if (!code || !is_within_reach(text, text_bytes, code, code_bytes)) {
        jump_forget(&pages);
        return too_far;
    }
    for (size_t i = 0; i < count; i++)
        write_entry(code + i * ENTRY_BYTES, jumps[i].slot);
    if (mprotect(code, code_bytes, PROT_READ | PROT_EXEC) != 0 ||
        !replace_text(jumps, count, first, whole_pages((size_t)(text + text_bytes - first)), protection, code)) {
        jump_forget(&pages);
        return no_right;
    }
    *out = pages;
    return NULL;
}

void jump_forget(struct jump_pages *pages)
{
    if (pages->first)
        munmap(pages->first, pages->byte_count);
    *pages = (struct jump_pages){0};
}
