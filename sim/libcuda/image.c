/* image.c - see image.h: PTX text, fatbins (also packed ones) and files, told apart by their first bytes.
 *
 * Reads: images, by what their headers say; files.  Writes: programs; the log of errors that a caller asked for.
 */
#include "libcuda/image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcuda/registers.h"
#include "ptx/parse.h"
#include "sass/holds.h"

enum { ARCHITECTURE = 90, IMAGE_MOST_BYTES = 1 << 28 };
static const char wrapper_magic[] = "\xb1\x43\x62\x46", fatbin_magic[] = "\x50\xed\x55\xba";

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data, *more;
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t body_bytes;
};

/* Reads no further than the first difference: text may be shorter than a magic word. */
static bool begins_with(const void *bytes, const char *magic)
{
    return strncmp(bytes, magic, strlen(magic)) == 0;
}

/* ---- registers: the PTX does not say them, a cubin beside it does ---- */

struct registers_of_cubin {
    struct image *image;
    bool outside; /* a function that is no kernel sets registers */
};

static uint32_t number_of(const struct image *image, const char *name)
{
    const struct wsdbg_ptx_function *function = wsdbg_ptx_find_function(image->program, name);
    return function ? (uint32_t)(function - image->program->functions) : WSDBG_PTX_NONE;
}

static void take_count(void *user, const char *kernel, uint32_t registers)
{
    const struct registers_of_cubin *of = user;
    const uint32_t number = number_of(of->image, kernel);
    if (number != WSDBG_PTX_NONE)
        of->image->registers[number] = registers;
}

static void take_code(void *user, const char *function, bool sets)
{
    struct registers_of_cubin *of = user;
    const uint32_t number = number_of(of->image, function);
    if (number != WSDBG_PTX_NONE && of->image->program->functions[number].is_kernel)
        of->image->keeps_registers[number] = !sets;
    else
        of->outside |= sets;
}

/* A fatbin without a cubin, or with one that cannot be read, is fine. */
static void read_registers(struct image *image, const struct wsdbg_image *fatbin)
{
    struct wsdbg_fatbin_entry entry;
    struct registers_of_cubin of = {.image = image};
    bool found = false;
    char *bytes = NULL;
    size_t byte_count;
    struct wsdbg_error *error = wsdbg_fatbin_pick(fatbin, WSDBG_FATBIN_CUBIN, ARCHITECTURE, &entry, &found);
    if (!error && found)
        error = wsdbg_fatbin_unpack(&entry, IMAGE_MOST_BYTES, &bytes, &byte_count);
    if (!error && bytes)
        registers_read((const unsigned char *)bytes, byte_count,
                       &(struct registers_taker){.count = take_count, .code = take_code, .user = &of});
    if (of.outside) /* a kernel may call it */
        memset(image->keeps_registers, 0, image->program->function_count * sizeof *image->keeps_registers);
    free(bytes);
    wsdbg_error_destroy(error);
}

/* ---- programs ---- */

static CUresult result_of(const struct wsdbg_error *error)
{
    switch (wsdbg_error_code(error)) {
    case WSDBG_ERROR_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case WSDBG_ERROR_VERSION:
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    default:
        return CUDA_ERROR_INVALID_PTX;
    }
}

static struct wsdbg_error *parse(const char *text, size_t byte_count, const char *name, CUresult *result,
                                 struct image **out)
{
    struct image *image = calloc(1, sizeof *image);
    struct wsdbg_error *error =
        image ? wsdbg_ptx_parse(text, byte_count, name, &image->program) : &wsdbg_error_no_memory;
    if (!error) {
        image->registers = calloc(image->program->function_count + 1, sizeof *image->registers);
        image->keeps_registers = calloc(image->program->function_count + 1, sizeof *image->keeps_registers);
        image->users = 1;
        image->text = malloc(byte_count + 1);
        image->text_bytes = byte_count;
        if (image->registers && image->keeps_registers && image->text)
            memcpy(image->text, text, byte_count);
        else
            error = &wsdbg_error_no_memory;
    }
    if (error) {
        *result = result_of(error);
        image_release(image);
        return error;
    }
    *out = image;
    return NULL;
}

static struct wsdbg_error *parse_fatbin(const struct wsdbg_image *fatbin, const char *name, CUresult *result,
                                        struct image **out)
{
    struct wsdbg_fatbin_entry entry;
    bool found;
    char *text;
    size_t byte_count;
    *result = CUDA_ERROR_INVALID_IMAGE;
    struct wsdbg_error *error = wsdbg_fatbin_pick(fatbin, WSDBG_FATBIN_PTX, 0, &entry, &found);
    if (error)
        return wsdbg_error_prefix(error, "%s", name);
    if (!found) {
        *result = CUDA_ERROR_NO_BINARY_FOR_GPU;
        char entries[256];
        struct wsdbg_holds holds;
        wsdbg_error_destroy(wsdbg_holds_read(fatbin, &holds)); /* all entries were read before */
        wsdbg_holds_text(&holds, entries, sizeof entries);
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                  "%s holds %s; the simulator executes PTX for sm_%d or older: compile with -gencode "
                                  "arch=compute_90a,code=[sm_90a,compute_90a]",
                                  name, entries, ARCHITECTURE);
    }
    error = wsdbg_fatbin_unpack(&entry, IMAGE_MOST_BYTES, &text, &byte_count);
    if (error)
        return wsdbg_error_prefix(error, "%s", name);
    error = parse(text, strnlen(text, byte_count), name, result, out);
    free(text);
    if (!error)
        read_registers(*out, fatbin);
    return error;
}

/* `most`: bytes that may be read, where that is known. */
static struct wsdbg_error *parse_any(const void *bytes, size_t most, const char *name, CUresult *result,
                                     struct image **out)
{
    struct fatbin_header header;
    *result = CUDA_ERROR_INVALID_IMAGE;
    if (begins_with(bytes, fatbin_magic)) {
        if (most < sizeof header)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: a fatbin cut within its header", name);
        memcpy(&header, bytes, sizeof header);
        const uint64_t said = header.header_bytes + header.body_bytes;
        const struct wsdbg_image fatbin = {bytes, said < most ? (size_t)said : most};
        return parse_fatbin(&fatbin, name, result, out);
    }
    if (begins_with(bytes, ELFMAG)) {
        *result = CUDA_ERROR_NO_BINARY_FOR_GPU;
        return wsdbg_error_create(WSDBG_ERROR_VERSION,
                                  "%s is machine code (a cubin), which the simulator does not execute: load PTX, or a "
                                  "fatbin with PTX in it",
                                  name);
    }
    return parse(bytes, strnlen(bytes, most), name, result, out);
}

static CUresult say_result(struct wsdbg_error *error, CUresult result, struct jit *jit)
{
    if (!error)
        return CUDA_SUCCESS;
    jit_complain(jit, wsdbg_error_message(error));
    driver_say_error("a module was not loaded", error);
    return result;
}

static CUresult image_of_memory(const void *bytes, struct jit *jit, struct image **out)
{
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    if (begins_with(bytes, wrapper_magic))
        bytes = ((const struct fatbin_wrapper *)bytes)->data;
    if (!bytes)
        return CUDA_ERROR_INVALID_IMAGE;
    struct wsdbg_error *error = parse_any(bytes, IMAGE_MOST_BYTES, "the module's image", &result, out);
    return say_result(error, result, jit);
}

/* All of a file, and a zero byte behind it. */
static struct wsdbg_error *read_file(const char *path, char **out, size_t *byte_count)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return wsdbg_error_os(errno, "%s", path);
    char *bytes = NULL;
    size_t have = 0, room = 0, read = 1;
    while (read && have < IMAGE_MOST_BYTES) {
        room = room ? 2 * room : 1 << 16;
        char *larger = realloc(bytes, room);
        if (!larger)
            break;
        bytes = larger;
        read = fread(bytes + have, 1, room - have - 1, file);
        have += read;
    }
    const bool is_whole = bytes && !read && !ferror(file);
    fclose(file);
    if (!is_whole) {
        free(bytes);
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: cannot be read, or is too long for an image", path);
    }
    bytes[have] = '\0';
    *out = bytes;
    *byte_count = have;
    return NULL;
}

static CUresult image_of_file(const char *path, struct jit *jit, struct image **out)
{
    char *bytes = NULL;
    size_t byte_count = 0;
    CUresult result = CUDA_ERROR_FILE_NOT_FOUND;
    struct wsdbg_error *error = read_file(path, &bytes, &byte_count);
    if (!error)
        error = parse_any(bytes, byte_count, path, &result, out);
    free(bytes);
    return say_result(error, result, jit);
}

CUresult image_load(const void *bytes, const char *path, struct jit *jit, struct image **out)
{
    if (bytes)
        return image_of_memory(bytes, jit, out);
    return path ? image_of_file(path, jit, out) : CUDA_ERROR_INVALID_VALUE;
}

void image_release(struct image *image)
{
    if (!image || (image->users && --image->users))
        return;
    if (image->program)
        wsdbg_ptx_program_destroy(image->program);
    free(image->registers);
    free(image->keeps_registers);
    free(image->text);
    free(image);
}
