/* fuzz_image.c - any bytes as the image of a module, to its PTX and its machine code. */
#include "fuzz/fuzz_targets.h"

#include <stdlib.h>
#include <string.h>

#include "sass/cubin.h"
#include "sass/decode.h"
#include "sass/holds.h"
#include "sass/lines.h"
#include "sass/ptx.h"

#define MOST ((size_t)1 << 20)

/* Each byte handed out is read, so that a sanitizer sees those that lie outside. */
static void read_bytes(const struct wsdbg_image *image)
{
    volatile unsigned char last = 0;
    for (size_t i = 0; i < image->byte_count; i++)
        last = image->bytes[i];
    (void)last;
}

static void read_function(const struct wsdbg_cubin *cubin, const struct wsdbg_cubin_function *function)
{
    struct wsdbg_image constants;
    read_bytes(&(struct wsdbg_image){(const unsigned char *)function->name, strlen(function->name)});
    read_bytes(&function->code);
    for (size_t i = 0; i < function->mbarrier_uses; i++)
        wsdbg_cubin_mbarrier_use(function, i);
    if (wsdbg_cubin_constants(cubin, function, 0, &constants))
        read_bytes(&constants);
}

/* Words that no compiler makes are decoded too. */
static void read_code(const struct wsdbg_cubin_function *function, const struct wsdbg_lines *lines)
{
    for (uint64_t at = 0; at + WSDBG_INSTRUCTION_BYTES <= function->code.byte_count; at += WSDBG_INSTRUCTION_BYTES) {
        struct wsdbg_instruction instruction;
        struct wsdbg_line levels[4];
        char text[WSDBG_INSTRUCTION_TEXT_BYTES];
        wsdbg_decode(function->code.bytes + at, &instruction);
        wsdbg_instruction_text(&instruction, at, text);
        const size_t count = lines ? wsdbg_lines_find(lines, function, at, levels, 4) : 0;
        for (size_t i = 0; i < count; i++)
            read_bytes(&(struct wsdbg_image){(const unsigned char *)levels[i].file, strlen(levels[i].file)});
    }
}

static void read_cubin(const struct wsdbg_image *image)
{
    char *bytes = NULL;
    size_t count = 0;
    struct wsdbg_cubin *cubin = NULL;
    struct wsdbg_lines *lines = NULL;
    struct wsdbg_error *error = wsdbg_cubin_of_image(image, MOST, &bytes, &count);
    const struct wsdbg_image plain = {(unsigned char *)bytes, count};
    if (!error)
        error = wsdbg_cubin_open(&plain, &cubin);
    if (!error)
        wsdbg_error_destroy(wsdbg_lines_open(&plain, &lines));
    /* So many that no input takes long. */
    for (size_t i = 0; !error && i < wsdbg_cubin_function_count(cubin) && i < 16; i++) {
        read_function(cubin, wsdbg_cubin_function(cubin, i));
        read_code(wsdbg_cubin_function(cubin, i), lines);
    }
    wsdbg_error_destroy(error);
    wsdbg_lines_close(lines);
    wsdbg_cubin_close(cubin);
    free(bytes);
}

static void read_holds(const struct wsdbg_image *image)
{
    struct wsdbg_holds holds;
    char words[64]; /* fewer than they may need */
    struct wsdbg_error *error = wsdbg_holds_read(image, &holds);
    if (!error)
        wsdbg_holds_text(&holds, words, sizeof words);
    wsdbg_error_destroy(error);
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    const struct wsdbg_image image = {bytes, count};
    char *text = NULL;
    struct wsdbg_error *error = wsdbg_ptx_of_image(&image, MOST, &text);
    wsdbg_error_destroy(error);
    free(text);
    read_cubin(&image);
    read_holds(&image);
    return 0;
}
