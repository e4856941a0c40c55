/* fuzz_host.c - any bytes as the memory of a Python interpreter of each version, as a table of lines, as a list of
 * mappings.
 *
 * The first byte chooses: 0 to 7 a version, 8 to 10 a kind of table, anything else a list of mappings.
 */
#include "fuzz/fuzz_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/image.h"
#include "host/process_maps.h"
#include "host/python_lines.h"

enum { VERSIONS = 8, KINDS = 3, THREADS = 16, FRAMES = 16 };

static const struct {
    uint32_t version;
    bool free_threaded;
} versions[VERSIONS] = {{0x0309, false}, {0x030a, false}, {0x030b, false}, {0x030c, false},
                        {0x030d, false}, {0x030d, true},  {0x030e, false}, {0x030e, true}};

static struct image image;

static void read_stack(struct wsdbg_host_memory *memory, struct wsdbg_python_codes *codes,
                       const struct wsdbg_python_thread *thread)
{
    static struct wsdbg_python_stack stack, again;
    wsdbg_python_stack_read(&image.python, memory, thread->frame, &stack);
    wsdbg_host_memory_forget(memory);
    wsdbg_python_stack_read(&image.python, memory, thread->frame, &again);
    if (!stack.end && !wsdbg_python_stacks_agree(&stack, &again).all)
        abort(); /* nobody has written in between */
    for (size_t i = 0; i < stack.count && i < FRAMES; i++) {
        const struct wsdbg_python_code *code = wsdbg_python_code_at(codes, stack.frames[i].code);
        if (code && code->lines)
            wsdbg_python_line(image.python.layout.lines, code->lines, code->lines_bytes, code->first_line,
                              stack.frames[i].offset_bytes);
    }
}

static void fuzz_image(int version, const uint8_t *bytes, size_t count)
{
    struct wsdbg_python_thread threads[THREADS];
    struct wsdbg_python_codes *codes = NULL;
    struct wsdbg_python_layout layout;
    const char *end = NULL;
    uint32_t whole;
    image_init(&image, versions[version].version, versions[version].free_threaded);
    memcpy(image.bytes, bytes, count < IMAGE_BYTES ? count : IMAGE_BYTES);
    struct wsdbg_host_memory *memory = image_memory(&image);
    wsdbg_python_layout_read(memory, image.python.runtime, &layout, &whole);
    if (!wsdbg_python_codes_create(&image.python, memory, &codes)) {
        const size_t found = wsdbg_python_threads(&image.python, memory, threads, THREADS, &end);
        for (size_t i = 0; i < found; i++)
            read_stack(memory, codes, &threads[i]);
    }
    wsdbg_python_codes_destroy(codes);
    wsdbg_host_memory_close(memory);
}

static void fuzz_maps(const uint8_t *bytes, size_t count)
{
    struct wsdbg_host_maps maps;
    FILE *text = count ? fmemopen((void *)bytes, count, "r") : NULL;
    if (!text)
        return;
    if (!wsdbg_host_maps_parse(text, &maps)) {
        for (size_t i = 0; i < maps.count; i++)
            wsdbg_host_mapping_at(&maps, maps.mappings[i].start);
        wsdbg_host_maps_free(&maps);
    }
    fclose(text);
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return 0;
    const int choice = bytes[0];
    if (choice < VERSIONS)
        fuzz_image(choice, bytes + 1, count - 1);
    else if (choice < VERSIONS + KINDS)
        wsdbg_python_line((enum wsdbg_python_lines)(choice - VERSIONS), bytes + 1, count - 1, 7, (int64_t)count * 3);
    else
        fuzz_maps(bytes + 1, count - 1);
    return 0;
}
