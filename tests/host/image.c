/* image.c - see image.h. */
#include "image.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

enum { TYPE_BYTES = 512, OBJECT_BYTES = 512 };

static uint64_t make(struct image *image, size_t bytes)
{
    const uint64_t address = IMAGE_BASE + image->used;
    image->used += (bytes + 15) / 16 * 16;
    assert_true(image->used <= IMAGE_BYTES);
    return address;
}

static void put(struct image *image, uint64_t address, const void *bytes, size_t count)
{
    assert_true(address - IMAGE_BASE + count <= IMAGE_BYTES);
    memcpy(image->bytes + (address - IMAGE_BASE), bytes, count);
}

void image_put(struct image *image, uint64_t address, uint64_t word)
{
    put(image, address, &word, sizeof word);
}

/* What 3.13 and 3.14 have at the head of _PyRuntime, with offsets that no build has: they must be followed, not known.
 * Each line: number of the word in 3.13, in 3.14 (0 = it has none), value. */
static const struct {
    uint8_t at_13, at_14;
    uint16_t value;
} table_words[] = {
    {3, 3, 1024},  {5, 5, 808},                                                             /* runtime */
    {6, 6, 400},   {8, 8, 24},    {9, 9, 48},                                               /* interpreter */
    {19, 22, 300}, {21, 24, 16},  {22, 25, 40},  {23, 26, 80},  {24, 27, 88}, {25, 28, 96}, /* thread */
    {28, 31, 96},  {29, 32, 16},  {30, 33, 8},   {31, 34, 48},  {33, 36, 75}, {0, 38, 64},  /* frame */
    {34, 39, 256}, {35, 40, 120}, {37, 42, 128}, {38, 43, 136}, {39, 44, 64}, {43, 48, 200}, {0, 49, 144}, /* code */
    {44, 50, 16},  {45, 51, 8},                                                                            /* object */
    {64, 74, 40},  {65, 75, 16},  {66, 76, 32},                                                            /* bytes */
    {67, 77, 72},  {68, 78, 32},  {69, 79, 16},  {70, 80, 40},                                             /* text */
};

static void put_table(struct image *image, uint32_t version, bool free_threaded)
{
    uint64_t words[128] = {0};
    memcpy(words, "xdebugpy", 8);
    words[1] = version << 16 | 0x00f0;
    words[2] = free_threaded;
    for (size_t i = 0; i < sizeof table_words / sizeof *table_words; i++)
        words[version == 0x030d ? table_words[i].at_13 : table_words[i].at_14] = table_words[i].value;
    memcpy(words, "xdebugpy", 8); /* words that a version lacks went to number 0 */
    put(image, image->python.runtime, words, sizeof words);
}

void image_init(struct image *image, uint32_t version, bool free_threaded)
{
    uint32_t whole;
    memset(image, 0, sizeof *image);
    struct wsdbg_python *python = &image->python;
    python->runtime = make(image, 2048);
    python->code_type = make(image, TYPE_BYTES);
    python->text_type = make(image, TYPE_BYTES);
    python->bytes_type = make(image, TYPE_BYTES);
    if (wsdbg_python_layout_of(version)) {
        python->layout = *wsdbg_python_layout_of(version);
    } else {
        struct wsdbg_host_memory *memory = image_memory(image);
        put_table(image, version, free_threaded);
        assert_true(wsdbg_python_layout_read(memory, python->runtime, &python->layout, &whole));
        wsdbg_host_memory_close(memory);
    }
    const uint64_t interpreter = make(image, OBJECT_BYTES);
    image_put(image, python->runtime + python->layout.runtime_interpreters, interpreter);
    image->reads = 0;
}

ssize_t image_read(void *context, uint64_t address, void *out, size_t bytes)
{
    struct image *image = context;
    if (image->changed)
        image->changed(image, image->reads);
    image->reads++;
    if (address < IMAGE_BASE || address - IMAGE_BASE > IMAGE_BYTES - bytes) {
        errno = EFAULT;
        return -1;
    }
    memcpy(out, image->bytes + (address - IMAGE_BASE), bytes);
    return (ssize_t)bytes;
}

struct wsdbg_host_memory *image_memory(struct image *image)
{
    struct wsdbg_host_memory *memory = NULL;
    assert_null(wsdbg_host_memory_of(image_read, image, UINT64_MAX, &memory));
    return memory;
}

/* ---- objects ---- */

static uint64_t make_text(struct image *image, const char *text)
{
    const struct wsdbg_python_layout *l = &image->python.layout;
    const uint64_t address = make(image, OBJECT_BYTES + strlen(text));
    const uint32_t state = (1u | 1u << 3 | 1u << 4) << l->text_kind_shift;
    image_put(image, address + l->object_type, image->python.text_type);
    image_put(image, address + l->text_length, strlen(text));
    put(image, address + l->text_state, &state, sizeof state);
    put(image, address + l->text_ascii_data, text, strlen(text));
    return address;
}

static uint64_t make_bytes(struct image *image, const unsigned char *bytes, size_t count)
{
    const struct wsdbg_python_layout *l = &image->python.layout;
    const uint64_t address = make(image, OBJECT_BYTES + count);
    image_put(image, address + l->object_type, image->python.bytes_type);
    image_put(image, address + l->bytes_size, count);
    put(image, address + l->bytes_data, bytes, count);
    return address;
}

uint64_t image_code(struct image *image, const char *file, const char *function, uint32_t first_line,
                    const unsigned char *lines, size_t bytes)
{
    const struct wsdbg_python_layout *l = &image->python.layout;
    const uint64_t address = make(image, OBJECT_BYTES);
    image_put(image, address + l->object_type, image->python.code_type);
    image_put(image, address + l->code_filename, make_text(image, file));
    image_put(image, address + l->code_name, make_text(image, function));
    image_put(image, address + l->code_lines, make_bytes(image, lines, bytes));
    put(image, address + l->code_first_line, &first_line, sizeof first_line);
    return address;
}

uint64_t image_frame(struct image *image, uint64_t code, int64_t offset_bytes, uint64_t previous)
{
    const struct wsdbg_python_layout *l = &image->python.layout;
    const uint64_t address = make(image, 256);
    image_put(image, address + l->frame_code, code);
    image_put(image, address + l->frame_previous, previous);
    if (l->instruction_is_index) {
        const int32_t index = (int32_t)(offset_bytes / (int64_t)l->instruction_unit);
        put(image, address + l->frame_instruction, &index, sizeof index);
    } else {
        image_put(image, address + l->frame_instruction, code + l->code_instructions + (uint64_t)offset_bytes);
    }
    return address;
}

uint64_t image_foreign_frame(struct image *image, uint64_t previous)
{
    const struct wsdbg_python_layout *l = &image->python.layout;
    const uint64_t address = make(image, 256);
    const unsigned char owner = 3;
    image_put(image, address + l->frame_previous, previous);
    put(image, address + l->frame_owner, &owner, 1);
    return address;
}

uint64_t image_thread(struct image *image, uint32_t thread_id, uint64_t frame)
{
    const struct wsdbg_python_layout *l = &image->python.layout;
    const uint64_t state = make(image, OBJECT_BYTES);
    uint64_t interpreter, newest;
    memcpy(&interpreter, image->bytes + (image->python.runtime - IMAGE_BASE) + l->runtime_interpreters, 8);
    const uint64_t head = interpreter + l->interpreter_threads;
    memcpy(&newest, image->bytes + (head - IMAGE_BASE), 8);
    image_put(image, head, state);
    image_put(image, state + l->thread_next, newest);
    image_put(image, state + l->thread_interpreter, interpreter);
    image_put(image, state + l->thread_pthread, 0x1000 + thread_id);
    if (l->thread_native)
        image_put(image, state + l->thread_native, thread_id);
    if (l->has_cframe) {
        const uint64_t cframe = make(image, 64);
        image_put(image, state + l->thread_frame, cframe);
        image_put(image, cframe + l->cframe_frame, frame);
    } else {
        image_put(image, state + l->thread_frame, frame);
    }
    return state;
}
