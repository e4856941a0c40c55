/* joined_memory.c - which memory a load or store of joined code is of, and what it does to the words of the stack
 * frame: see joined_frame_parts.h.
 *
 * Reads: the state at hand.  Writes: the state's words.
 */
#include "sass/joined_frame_parts.h"

bool frame_is_access(const struct wsdbg_instruction *in)
{
    switch (wsdbg_operation_class(in->operation)) {
    case WSDBG_CLASS_LOAD:
    case WSDBG_CLASS_STORE:
    case WSDBG_CLASS_ATOMIC:
    case WSDBG_CLASS_REDUCTION:
        return in->operation != WSDBG_OP_LDC && in->operation != WSDBG_OP_ULDC;
    default:
        return false;
    }
}

static const struct wsdbg_operand *place_of(const struct wsdbg_instruction *in)
{
    for (unsigned i = 0; i < in->source_count; i++)
        if (in->sources[i].kind == WSDBG_OPERAND_MEMORY)
            return &in->sources[i];
    return NULL;
}

/* Whether the access is to other memory than the frame. */
static bool is_beside(const struct joined_access *access)
{
    return access->kind == JOINED_ACCESS_BESIDE || access->kind == JOINED_ACCESS_SHARED ||
           access->kind == JOINED_ACCESS_GLOBAL || access->kind == JOINED_ACCESS_PARAMETER;
}

/* Where the access is, as far as the frame is concerned. */
struct joined_access frame_access_of(const struct frame *frame, const struct wsdbg_instruction *in)
{
    struct joined_access access = {.kind = JOINED_ACCESS_MAYBE};
    const enum wsdbg_operation_space space = wsdbg_operation_space(in->operation);
    const struct wsdbg_operand *place = place_of(in);
    if (space != WSDBG_SPACE_LOCAL && space != WSDBG_SPACE_GENERIC) {
        access.kind = JOINED_ACCESS_BESIDE;
        return access;
    }
    if (!place || place->kind != WSDBG_OPERAND_MEMORY)
        return access;
    const struct wsdbg_operand base = {.kind = WSDBG_OPERAND_REGISTER, .number = place->number, .registers = 1};
    const uint32_t high = space == WSDBG_SPACE_GENERIC ? frame_value_of(frame, &base, 1) : OTHER;
    const uint32_t value = frame_value_of(frame, &base, 0),
                   wanted = space == WSDBG_SPACE_LOCAL ? KIND_LOCAL : KIND_GENERIC;
    const struct span *span = is_span(value) ? &frame->spans[value - FIRST_SPAN] : NULL;
    if (kind_of(value) == wanted) {
        access.kind = JOINED_ACCESS_FRAME;
        access.offset_bytes = (int32_t)(number_of(value) + place->value);
    } else if (span && span->is_known && kind_of(span->root) == wanted) {
        access.kind = JOINED_ACCESS_SPAN;
        access.offset_bytes = (int32_t)(number_of(span->root) + span->first + place->value);
        access.end_bytes = (int32_t)(number_of(span->root) + span->last + place->value) + in->width_bytes;
        access.end_bytes = access.end_bytes > 0 ? 0 : access.end_bytes;
    } else if (high == SHARED || high == PASSED) {
        access.kind = high == SHARED ? JOINED_ACCESS_SHARED : JOINED_ACCESS_GLOBAL;
    } else if (high == PARAMETERS) {
        access.kind = JOINED_ACCESS_PARAMETER;
    } else if (space == WSDBG_SPACE_GENERIC && !is_of_frame(value)) {
        access.kind = JOINED_ACCESS_BESIDE;
    }
    return access;
}

/* The word at an offset; NULL = the frame has none there that is followed. */
static uint32_t *word_at(const struct frame *frame, int32_t offset_bytes)
{
    const int64_t word = (int64_t)frame->words + (offset_bytes >= 0 ? offset_bytes : offset_bytes - 3) / WORD_BYTES;
    return word >= 0 && word < (int64_t)frame->words ? &frame->state[REGISTERS + word] : NULL;
}

/* A program keeps its addresses in 8 bytes.  What is less, and not at a place that the compiler chose, is none. */
static bool is_too_narrow(const struct wsdbg_instruction *in)
{
    return in->width_bytes && in->width_bytes < sizeof(uint64_t);
}

static uint32_t loaded_of_span(const struct frame *frame, const struct joined_access *access)
{
    for (int32_t at = access->offset_bytes; at < access->end_bytes; at += WORD_BYTES) {
        const uint32_t *word = word_at(frame, at);
        if (!word || is_of_frame(*word))
            return DERIVED;
    }
    return OTHER;
}

uint32_t frame_loaded(const struct frame *frame, const struct wsdbg_instruction *in, const struct joined_access *access,
                      unsigned part)
{
    if (access->kind == JOINED_ACCESS_PARAMETER && wsdbg_operation_class(in->operation) == WSDBG_CLASS_LOAD)
        return PASSED;
    if (access->kind != JOINED_ACCESS_FRAME && is_too_narrow(in))
        return OTHER;
    if (is_beside(access))
        return frame->has_escaped ? DERIVED : OTHER;
    if (access->kind == JOINED_ACCESS_SPAN)
        return loaded_of_span(frame, access);
    if (access->kind != JOINED_ACCESS_FRAME || wsdbg_operation_class(in->operation) != WSDBG_CLASS_LOAD)
        return DERIVED;
    const uint32_t *word = word_at(frame, access->offset_bytes + (int32_t)part * WORD_BYTES);
    if (!word)
        return DERIVED;
    const bool is_whole = in->width_bytes >= WORD_BYTES && access->offset_bytes % WORD_BYTES == 0;
    return is_whole || !is_of_frame(*word) ? (is_whole ? *word : OTHER) : DERIVED;
}

void frame_store_anywhere(struct frame *frame, uint32_t value)
{
    for (uint32_t word = 0; word < frame->words; word++)
        frame->state[REGISTERS + word] = meet(frame->state[REGISTERS + word], value);
}

static void store_words(struct frame *frame, const struct wsdbg_instruction *in, const struct joined_access *access)
{
    const unsigned words = in->width_bytes < WORD_BYTES ? 1 : in->width_bytes / WORD_BYTES;
    const bool is_whole = in->width_bytes >= WORD_BYTES && access->offset_bytes % WORD_BYTES == 0;
    for (unsigned part = 0; part < words; part++) {
        uint32_t *word = word_at(frame, access->offset_bytes + (int32_t)part * WORD_BYTES);
        const uint32_t value = in->source_count > 1 ? frame_value_of(frame, &in->sources[1], part) : DERIVED;
        if (word)
            *word = is_whole && frame_executes(frame, in) == WSDBG_TRUTH_YES
                        ? value
                        : meet(*word, is_whole             ? value
                                      : is_of_frame(value) ? DERIVED
                                                           : OTHER);
    }
}

static void store_span(struct frame *frame, const struct joined_access *access, uint32_t value)
{
    for (int32_t at = access->offset_bytes; at < access->end_bytes; at += WORD_BYTES) {
        uint32_t *word = word_at(frame, at);
        if (word)
            *word = meet(*word, value);
    }
}

void frame_store(struct frame *frame, const struct wsdbg_instruction *in, const struct joined_access *access)
{
    bool stores_address = false, can_be = access->kind == JOINED_ACCESS_FRAME || !is_too_narrow(in);
    for (unsigned i = 0; i < in->source_count; i++)
        for (unsigned part = 0;
             in->sources[i].kind == WSDBG_OPERAND_REGISTER && (part == 0 || part < in->sources[i].registers); part++)
            stores_address |= can_be && is_of_frame(frame_value_of(frame, &in->sources[i], part));
    if (is_beside(access))
        frame->has_escaped |= stores_address;
    else if (access->kind == JOINED_ACCESS_FRAME && wsdbg_operation_class(in->operation) == WSDBG_CLASS_STORE)
        store_words(frame, in, access);
    else if (access->kind == JOINED_ACCESS_SPAN)
        store_span(frame, access, stores_address ? DERIVED : OTHER);
    else
        frame_store_anywhere(frame, stores_address ? DERIVED : OTHER);
}
