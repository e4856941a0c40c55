/* python_stack.c - see python_stack.h.
 *
 * Reads: the interpreter's lists and frames, whose memory may change and may hold anything.  Writes: nothing.
 * Every list has a most, and each row must refer back to its owner or have the right type.
 */
#include "host/python_stack.h"

#include <string.h>

enum { INTERPRETERS_MOST = 64, FRAMES_MOST = 200000, FRAME_BYTES_MOST = 256, COPIES_MOST = 65536 };

static const char unreadable[] = "a frame could not be read", endless[] = "the chain of frames does not end",
                  no_code[] = "a frame has no code";

/* ---- threads ---- */

struct list {
    const struct wsdbg_python *python;
    struct wsdbg_host_memory *memory;
    struct wsdbg_python_thread *rows;
    size_t count, most;
    const char *end;
};

/* 3.11 and 3.12 keep the frame one step away. */
static bool read_first_frame(const struct wsdbg_python_layout *l, struct wsdbg_host_memory *memory, uint64_t state,
                             uint64_t *out)
{
    uint64_t frame;
    if (!wsdbg_host_read_word(memory, state + l->thread_frame, &frame))
        return false;
    if (!l->has_cframe || frame == 0) {
        *out = frame;
        return true;
    }
    return wsdbg_host_read_word(memory, frame + l->cframe_frame, out);
}

bool wsdbg_python_thread_frame(const struct wsdbg_python *python, struct wsdbg_host_memory *memory,
                               const struct wsdbg_python_thread *thread, uint64_t *out)
{
    const struct wsdbg_python_layout *l = &python->layout;
    uint64_t owner, pthread;
    return wsdbg_host_read_word(memory, thread->state + l->thread_interpreter, &owner) &&
           owner == thread->interpreter && wsdbg_host_read_word(memory, thread->state + l->thread_pthread, &pthread) &&
           pthread == thread->pthread && read_first_frame(l, memory, thread->state, out);
}

static bool read_thread(struct list *list, uint64_t interpreter, uint64_t state, uint64_t *next)
{
    const struct wsdbg_python_layout *l = &list->python->layout;
    struct wsdbg_python_thread thread = {.state = state, .interpreter = interpreter};
    uint64_t owner, native = 0;
    if (!wsdbg_host_read_word(list->memory, state + l->thread_interpreter, &owner) || owner != interpreter ||
        !wsdbg_host_read_word(list->memory, state + l->thread_next, next) ||
        !wsdbg_host_read_word(list->memory, state + l->thread_pthread, &thread.pthread) ||
        (l->thread_native && !wsdbg_host_read_word(list->memory, state + l->thread_native, &native)) ||
        !read_first_frame(l, list->memory, state, &thread.frame)) {
        list->end = "a thread of the interpreter could not be read";
        return false;
    }
    thread.thread_id = native <= INT32_MAX ? (uint32_t)native : 0;
    list->rows[list->count++] = thread;
    return true;
}

static bool read_interpreter(struct list *list, uint64_t interpreter)
{
    uint64_t state;
    if (!wsdbg_host_read_word(list->memory, interpreter + list->python->layout.interpreter_threads, &state)) {
        list->end = "an interpreter could not be read";
        return false;
    }
    while (state != 0) {
        if (list->count == list->most) {
            list->end = "there are too many Python threads";
            return false;
        }
        if (!read_thread(list, interpreter, state, &state))
            return false;
    }
    return true;
}

size_t wsdbg_python_threads(const struct wsdbg_python *python, struct wsdbg_host_memory *memory,
                            struct wsdbg_python_thread *out, size_t most, const char **end)
{
    struct list list = {.python = python, .memory = memory, .rows = out, .most = most};
    uint64_t interpreter = 0;
    bool fine = wsdbg_host_read_word(memory, python->runtime + python->layout.runtime_interpreters, &interpreter);
    if (!fine)
        list.end = "the interpreter could not be read";
    for (int i = 0; fine && interpreter != 0 && i < INTERPRETERS_MOST; i++)
        fine = read_interpreter(&list, interpreter) &&
               wsdbg_host_read_word(memory, interpreter + python->layout.interpreter_next, &interpreter);
    *end = list.end;
    return list.count;
}

/* ---- frames ---- */

static uint64_t word_of(const unsigned char *bytes, uint32_t at)
{
    uint64_t word;
    memcpy(&word, bytes + at, sizeof word);
    return word;
}

/* Where the instructions of the copy begin that the frame runs.  Free-threaded, each thread may run one of its own. */
static bool find_instructions(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t code,
                              uint32_t copy, uint64_t *out)
{
    const struct wsdbg_python_layout *l = &python->layout;
    uint64_t copies = 0, size = 0;
    *out = code + l->code_instructions;
    if (!l->code_copies || copy == 0)
        return true;
    return wsdbg_host_read_word(memory, code + l->code_copies, &copies) &&
           wsdbg_host_read_word(memory, copies, &size) && size <= COPIES_MOST && copy < size &&
           wsdbg_host_read_word(memory, copies + 8 + 8 * (uint64_t)copy, out);
}

bool wsdbg_python_offset(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t code,
                         uint32_t copy, uint64_t instruction, int64_t *offset_bytes)
{
    const struct wsdbg_python_layout *l = &python->layout;
    uint64_t first;
    if (l->instruction_is_index) {
        *offset_bytes = (int64_t)(int32_t)instruction * l->instruction_unit;
        return true;
    }
    if (!find_instructions(python, memory, code, copy, &first))
        return false;
    *offset_bytes = (int64_t)(instruction - first);
    return true;
}

static bool find_offset(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, const unsigned char *bytes,
                        struct wsdbg_python_frame *frame)
{
    const struct wsdbg_python_layout *l = &python->layout;
    uint32_t copy = 0, index;
    if (l->code_copies)
        memcpy(&copy, bytes + l->frame_bytecode, sizeof copy);
    memcpy(&index, bytes + l->frame_instruction, sizeof index);
    return wsdbg_python_offset(python, memory, frame->code, copy,
                               l->instruction_is_index ? index : word_of(bytes, l->frame_instruction),
                               &frame->offset_bytes);
}

/* A frame of the interpreter's own has no code: C called what lies further in. */
static bool is_foreign(const struct wsdbg_python_layout *layout, const unsigned char *bytes)
{
    return layout->has_owner && bytes[layout->frame_owner] >= layout->owner_foreign;
}

/* Where the newest frame is.  The outermost ones are a ring while the stack is read. */
static size_t newest(const struct wsdbg_python_stack *stack)
{
    const size_t turns = stack->left_out % WSDBG_PYTHON_OUTER_FRAMES;
    if (stack->left_out == 0)
        return stack->count - 1;
    return WSDBG_PYTHON_INNER_FRAMES + (turns ? turns : WSDBG_PYTHON_OUTER_FRAMES) - 1;
}

static void keep(struct wsdbg_python_stack *stack, const struct wsdbg_python_frame *frame)
{
    if (stack->count == WSDBG_PYTHON_INNER_FRAMES + WSDBG_PYTHON_OUTER_FRAMES)
        stack->left_out++;
    else
        stack->count++;
    stack->frames[newest(stack)] = *frame;
}

static void straighten(struct wsdbg_python_stack *stack)
{
    struct wsdbg_python_frame ring[WSDBG_PYTHON_OUTER_FRAMES];
    struct wsdbg_python_frame *outer = &stack->frames[WSDBG_PYTHON_INNER_FRAMES];
    const size_t turns = stack->left_out % WSDBG_PYTHON_OUTER_FRAMES;
    if (turns == 0)
        return;
    memcpy(ring, outer, sizeof ring);
    memcpy(outer, ring + turns, (WSDBG_PYTHON_OUTER_FRAMES - turns) * sizeof *ring);
    memcpy(outer + (WSDBG_PYTHON_OUTER_FRAMES - turns), ring, turns * sizeof *ring);
}

/* 3.14 marks in the lowest bits who counts the reference. */
static uint64_t object_of(uint64_t reference)
{
    return reference & ~UINT64_C(7);
}

/* NULL, or why the stack ends here. */
static const char *read_frame(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t *address,
                              struct wsdbg_python_stack *out)
{
    const struct wsdbg_python_layout *l = &python->layout;
    unsigned char bytes[FRAME_BYTES_MOST];
    struct wsdbg_python_frame frame = {.address = *address};
    if (!wsdbg_host_read(memory, *address, bytes, l->frame_bytes))
        return unreadable;
    *address = word_of(bytes, l->frame_previous);
    if (is_foreign(l, bytes)) {
        if (out->count > 0)
            out->frames[newest(out)].is_entry = true;
        return NULL;
    }
    frame.code = object_of(word_of(bytes, l->frame_code));
    if (!wsdbg_python_is_code(python, memory, frame.code))
        return no_code;
    if (!find_offset(python, memory, bytes, &frame))
        return unreadable;
    frame.is_entry = !l->has_owner || (l->frame_entry && bytes[l->frame_entry] != 0); /* before 3.11 C calls each */
    keep(out, &frame);
    return NULL;
}

void wsdbg_python_stack_read(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t frame,
                             struct wsdbg_python_stack *out)
{
    out->count = 0;
    out->left_out = 0;
    out->end = NULL;
    for (int i = 0; frame != 0 && !out->end; i++)
        out->end = i < FRAMES_MOST ? read_frame(python, memory, &frame, out) : endless;
    straighten(out);
    if (out->end && wsdbg_host_memory_is_late(memory))
        out->end = "there was no time to read it all";
}

static bool is_same_call(const struct wsdbg_python_frame *a, const struct wsdbg_python_frame *b)
{
    return a->address == b->address && a->code == b->code && a->is_entry == b->is_entry;
}

struct wsdbg_python_agreement wsdbg_python_stacks_agree(const struct wsdbg_python_stack *a,
                                                        const struct wsdbg_python_stack *b)
{
    struct wsdbg_python_agreement result = {0};
    size_t *same = &result.frames;
    if (a->end || b->end)
        return result;
    for (; *same < a->count && *same < b->count; (*same)++) {
        const struct wsdbg_python_frame *left = &a->frames[a->count - 1 - *same];
        const struct wsdbg_python_frame *right = &b->frames[b->count - 1 - *same];
        result.goes_on_in = is_same_call(left, right);
        if (!result.goes_on_in || left->offset_bytes != right->offset_bytes)
            return result;
    }
    result.goes_on_in = false;
    result.all = a->count == b->count && a->left_out == b->left_out;
    return result;
}
