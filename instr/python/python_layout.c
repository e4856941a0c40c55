/* python_layout.c - see python_layout.h.
 *
 * Reads: a copy of the head of _PyRuntime.  Writes: nothing.
 *
 * What a table of offsets says is only used if it fits itself: each member lies in its object.  That it also fits the
 * process is checked where it is used: each object that is read must have the type that it should have.
 */
#include "python/python_layout.h"

#include <stdio.h>
#include <string.h>

static const struct wsdbg_python_layout layouts[] = {
    {
        .version = 0x0309,
        .lines = WSDBG_PYTHON_LNOTAB,
        .runtime_interpreters = 32,
        .interpreter_next = 0,
        .interpreter_threads = 8,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_pthread = 176,
        .thread_frame = 24,
        .frame_bytes = 112,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 104,
        .instruction_is_index = true,
        .instruction_unit = 1,
        .code_filename = 104,
        .code_name = 112,
        .code_first_line = 40,
        .code_lines = 120,
        .object_type = 8,
        .bytes_size = 16,
        .bytes_data = 32,
        .text_length = 16,
        .text_state = 32,
        .text_kind_shift = 2,
        .text_ascii_data = 48,
        .text_other_data = 72,
    },
    {
        .version = 0x030a,
        .lines = WSDBG_PYTHON_RANGES,
        .runtime_interpreters = 32,
        .interpreter_next = 0,
        .interpreter_threads = 8,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_pthread = 176,
        .thread_frame = 24,
        .frame_bytes = 104,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 96,
        .instruction_is_index = true,
        .instruction_unit = 2,
        .code_filename = 104,
        .code_name = 112,
        .code_first_line = 40,
        .code_lines = 120,
        .object_type = 8,
        .bytes_size = 16,
        .bytes_data = 32,
        .text_length = 16,
        .text_state = 32,
        .text_kind_shift = 2,
        .text_ascii_data = 48,
        .text_other_data = 72,
    },
    {
        .version = 0x030b,
        .lines = WSDBG_PYTHON_LOCATIONS,
        .runtime_interpreters = 40,
        .interpreter_next = 0,
        .interpreter_threads = 16,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_pthread = 152,
        .thread_native = 160,
        .thread_frame = 56,
        .has_cframe = true,
        .cframe_frame = 8,
        .frame_bytes = 72,
        .frame_previous = 48,
        .frame_code = 32,
        .frame_instruction = 56,
        .has_owner = true,
        .frame_owner = 69,
        .owner_foreign = 3,
        .frame_entry = 68,
        .code_filename = 112,
        .code_name = 128,
        .code_first_line = 72,
        .code_lines = 136,
        .code_instructions = 184,
        .object_type = 8,
        .bytes_size = 16,
        .bytes_data = 32,
        .text_length = 16,
        .text_state = 32,
        .text_kind_shift = 2,
        .text_ascii_data = 48,
        .text_other_data = 72,
    },
    {
        .version = 0x030c,
        .lines = WSDBG_PYTHON_LOCATIONS,
        .runtime_interpreters = 40,
        .interpreter_next = 0,
        .interpreter_threads = 72,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_pthread = 136,
        .thread_native = 144,
        .thread_frame = 56,
        .has_cframe = true,
        .cframe_frame = 0,
        .frame_bytes = 72,
        .frame_previous = 8,
        .frame_code = 0,
        .frame_instruction = 56,
        .has_owner = true,
        .frame_owner = 70,
        .owner_foreign = 3,
        .code_filename = 112,
        .code_name = 128,
        .code_first_line = 68,
        .code_lines = 136,
        .code_instructions = 192,
        .object_type = 8,
        .bytes_size = 16,
        .bytes_data = 32,
        .text_length = 16,
        .text_state = 32,
        .text_kind_shift = 2,
        .text_ascii_data = 40,
        .text_other_data = 56,
    },
};

const struct wsdbg_python_layout *wsdbg_python_layout_of(uint32_t version)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}

/* ---- what _PyRuntime says of itself ---- */

enum { OBJECT_BYTES_MOST = 1 << 20, COMPACT_BYTES = 16 };

/* Numbers of words of the table: of a struct's size, and of its members. */
struct words {
    uint32_t version;
    uint8_t runtime, interpreters_head;
    uint8_t interpreter, interpreter_next, threads_head;
    uint8_t thread, thread_next, thread_interpreter, current_frame, pthread, native;
    uint8_t frame, previous, executable, instruction, owner, copy; /* copy, copies: 0 = it has none */
    uint8_t code, filename, qualname, line_table, first_line, instructions, copies;
    uint8_t object, type;
    uint8_t bytes, bytes_size, bytes_data;
    uint8_t text, state, length, ascii_bytes;
};

static const struct words tables[] = {
    {
        .version = 0x030d,
        .runtime = 3,
        .interpreters_head = 5,
        .interpreter = 6,
        .interpreter_next = 8,
        .threads_head = 9,
        .thread = 19,
        .thread_next = 21,
        .thread_interpreter = 22,
        .current_frame = 23,
        .pthread = 24,
        .native = 25,
        .frame = 28,
        .previous = 29,
        .executable = 30,
        .instruction = 31,
        .owner = 33,
        .code = 34,
        .filename = 35,
        .qualname = 37,
        .line_table = 38,
        .first_line = 39,
        .instructions = 43,
        .object = 44,
        .type = 45,
        .bytes = 64,
        .bytes_size = 65,
        .bytes_data = 66,
        .text = 67,
        .state = 68,
        .length = 69,
        .ascii_bytes = 70,
    },
    {
        .version = 0x030e,
        .runtime = 3,
        .interpreters_head = 5,
        .interpreter = 6,
        .interpreter_next = 8,
        .threads_head = 9,
        .thread = 22,
        .thread_next = 24,
        .thread_interpreter = 25,
        .current_frame = 26,
        .pthread = 27,
        .native = 28,
        .frame = 31,
        .previous = 32,
        .executable = 33,
        .instruction = 34,
        .owner = 36,
        .copy = 38,
        .code = 39,
        .filename = 40,
        .qualname = 42,
        .line_table = 43,
        .first_line = 44,
        .instructions = 48,
        .copies = 49,
        .object = 50,
        .type = 51,
        .bytes = 74,
        .bytes_size = 75,
        .bytes_data = 76,
        .text = 77,
        .state = 78,
        .length = 79,
        .ascii_bytes = 80,
    },
};

static const struct words *words_of(uint32_t version)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].version == version >> 16)
            return &tables[i];
    return NULL;
}

/* Whether a member of this size, at the offset in the table, ends within its object. */
static bool lies_within(const uint64_t *table, uint8_t object, uint8_t member, uint64_t bytes)
{
    const uint64_t size = table[object];
    return size <= OBJECT_BYTES_MOST && table[member] <= size && size - table[member] >= bytes;
}

static bool fits_itself(const uint64_t *table, const struct words *w)
{
    return lies_within(table, w->runtime, w->interpreters_head, 8) &&
           lies_within(table, w->interpreter, w->interpreter_next, 8) &&
           lies_within(table, w->interpreter, w->threads_head, 8) && lies_within(table, w->thread, w->thread_next, 8) &&
           lies_within(table, w->thread, w->thread_interpreter, 8) &&
           lies_within(table, w->thread, w->current_frame, 8) && lies_within(table, w->thread, w->pthread, 8) &&
           lies_within(table, w->thread, w->native, 8) && table[w->frame] <= 256 &&
           lies_within(table, w->frame, w->previous, 8) && lies_within(table, w->frame, w->executable, 8) &&
           lies_within(table, w->frame, w->instruction, 8) && lies_within(table, w->frame, w->owner, 1) &&
           lies_within(table, w->code, w->filename, 8) && lies_within(table, w->code, w->qualname, 8) &&
           lies_within(table, w->code, w->line_table, 8) && lies_within(table, w->code, w->first_line, 4) &&
           lies_within(table, w->code, w->instructions, 0) && lies_within(table, w->object, w->type, 8) &&
           lies_within(table, w->bytes, w->bytes_size, 8) && lies_within(table, w->bytes, w->bytes_data, 1) &&
           lies_within(table, w->text, w->state, 4) && lies_within(table, w->text, w->length, 8) &&
           lies_within(table, w->text, w->ascii_bytes, 0);
}

/* Free-threaded, 3.14 keeps the byte before the bits of a text's state by itself. */
static uint32_t kind_shift(uint32_t version, bool free_threaded)
{
    return free_threaded && version >= 0x030e ? 8 : 2;
}

static struct wsdbg_python_layout layout_from(const uint64_t *table, const struct words *w)
{
    const bool free_threaded = table[2] != 0;
    const bool has_copies = free_threaded && w->copies;
    return (struct wsdbg_python_layout){
        .version = w->version,
        .free_threaded = free_threaded,
        .lines = WSDBG_PYTHON_LOCATIONS,
        .runtime_interpreters = (uint32_t)table[w->interpreters_head],
        .interpreter_next = (uint32_t)table[w->interpreter_next],
        .interpreter_threads = (uint32_t)table[w->threads_head],
        .thread_next = (uint32_t)table[w->thread_next],
        .thread_interpreter = (uint32_t)table[w->thread_interpreter],
        .thread_pthread = (uint32_t)table[w->pthread],
        .thread_native = (uint32_t)table[w->native],
        .thread_frame = (uint32_t)table[w->current_frame],
        .frame_bytes = (uint32_t)table[w->frame],
        .frame_previous = (uint32_t)table[w->previous],
        .frame_code = (uint32_t)table[w->executable],
        .frame_instruction = (uint32_t)table[w->instruction],
        .has_owner = true,
        .frame_owner = (uint32_t)table[w->owner],
        .owner_foreign = 3,
        .frame_bytecode = has_copies ? (uint32_t)table[w->copy] : 0,
        .code_copies = has_copies ? (uint32_t)table[w->copies] : 0,
        .code_filename = (uint32_t)table[w->filename],
        .code_name = (uint32_t)table[w->qualname],
        .code_first_line = (uint32_t)table[w->first_line],
        .code_lines = (uint32_t)table[w->line_table],
        .code_instructions = (uint32_t)table[w->instructions],
        .object_type = (uint32_t)table[w->type],
        .bytes_size = (uint32_t)table[w->bytes_size],
        .bytes_data = (uint32_t)table[w->bytes_data],
        .text_length = (uint32_t)table[w->length],
        .text_state = (uint32_t)table[w->state],
        .text_kind_shift = kind_shift(w->version, free_threaded),
        .text_ascii_data = (uint32_t)table[w->ascii_bytes],
        .text_other_data = (uint32_t)table[w->ascii_bytes] + COMPACT_BYTES,
    };
}

bool wsdbg_python_layout_of_table(const uint64_t *table, struct wsdbg_python_layout *out, uint32_t *version)
{
    if (memcmp(table, "xdebugpy", 8) != 0 || table[1] > UINT32_MAX)
        return false;
    const struct words *words = words_of((uint32_t)table[1]);
    if (!words || !fits_itself(table, words))
        return false;
    if (table[2] != 0 && words->copies &&
        (!lies_within(table, words->frame, words->copy, 4) || !lies_within(table, words->code, words->copies, 8)))
        return false;
    *out = layout_from(table, words);
    *version = (uint32_t)table[1];
    return true;
}

void wsdbg_python_version_text(uint32_t version, char out[WSDBG_PYTHON_VERSION_BYTES])
{
    snprintf(out, WSDBG_PYTHON_VERSION_BYTES, "%u.%u.%u", version >> 24 & 0xff, version >> 16 & 0xff,
             version >> 8 & 0xff);
}
