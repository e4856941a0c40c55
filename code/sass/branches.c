/* branches.c - see branches.h.  Reads the notes of a cubin; writes memory of its own. */
#include "sass/branches.h"

#include <stdlib.h>
#include <string.h>

/* A note: the branch's offset, a word of zeros, how many targets, their offsets. */
enum { HEAD_BYTES = 12, WORD_BYTES = 4 };

static uint32_t word_at(const struct wsdbg_image *image, size_t offset)
{
    uint32_t word;
    memcpy(&word, image->bytes + offset, sizeof word);
    return word;
}

static bool is_instruction(const struct wsdbg_cubin_function *function, uint32_t offset_bytes)
{
    return offset_bytes % WSDBG_INSTRUCTION_BYTES == 0 && offset_bytes < function->code.byte_count;
}

/* What the branch adds to the place behind it and to its own number. */
static uint32_t value_for(const struct wsdbg_instruction *branch, uint32_t from, uint32_t to)
{
    return to - from - WSDBG_INSTRUCTION_BYTES - (uint32_t)branch->target_offset_bytes;
}

/* Appends the ways of one note; false where one of its places is none. */
static bool take_note(const struct wsdbg_cubin_function *function, size_t at, uint32_t targets, struct wsdbg_way *ways,
                      size_t *count)
{
    const uint32_t from = word_at(&function->branch_records, at);
    struct wsdbg_instruction branch;
    if (!is_instruction(function, from) || word_at(&function->branch_records, at + WORD_BYTES))
        return false;
    wsdbg_decode(function->code.bytes + from, &branch);
    for (uint32_t i = 0; i < targets; i++) {
        const uint32_t to = word_at(&function->branch_records, at + HEAD_BYTES + (size_t)i * WORD_BYTES);
        if (!is_instruction(function, to))
            return false;
        ways[(*count)++] = (struct wsdbg_way){from / WSDBG_INSTRUCTION_BYTES, to / WSDBG_INSTRUCTION_BYTES,
                                              value_for(&branch, from, to)};
    }
    return true;
}

struct wsdbg_error *wsdbg_branches_noted(const struct wsdbg_cubin_function *function, struct wsdbg_way **out,
                                         size_t *count)
{
    const size_t bytes = function->branch_records.byte_count;
    *count = 0;
    *out = calloc(bytes / WORD_BYTES + 1, sizeof **out);
    if (!*out)
        return &wsdbg_error_no_memory;
    for (size_t at = 0; bytes - at >= HEAD_BYTES;) {
        const uint32_t targets = word_at(&function->branch_records, at + 2 * WORD_BYTES);
        if (targets > (bytes - at - HEAD_BYTES) / WORD_BYTES || !take_note(function, at, targets, *out, count)) {
            *count = 0; /* what one note says wrong, others may */
            break;
        }
        at += HEAD_BYTES + (size_t)targets * WORD_BYTES;
    }
    return NULL;
}
