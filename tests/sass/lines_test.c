/* lines_test.c - from instructions to source lines, calls inlined included.
 *
 * lines.cu is the source of what is read; the expectations are what nvdisasm -gi prints for the same image.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/images.h"
#include "sass/lines.h"

#define MOST ((size_t)1 << 20)
#define GPU_ADDRESS UINT64_C(0x7f1234560000)

struct opened {
    unsigned char *bytes;
    size_t count;
    struct wsdbg_cubin *cubin;
    struct wsdbg_lines *lines;
};

static struct opened read_cubin(void)
{
    struct bytes image = read_image("lines");
    struct opened opened = {0};
    char *bytes;
    assert_null(wsdbg_cubin_of_image(&(struct wsdbg_image){image.at, image.count}, MOST, &bytes, &opened.count));
    opened.bytes = (unsigned char *)bytes;
    free(image.at);
    return opened;
}

static void open_lines(struct opened *opened)
{
    const struct wsdbg_image image = {opened->bytes, opened->count};
    assert_null(wsdbg_cubin_open(&image, &opened->cubin));
    assert_null(wsdbg_lines_open(&image, &opened->lines));
}

static void close_lines(struct opened *opened)
{
    wsdbg_lines_close(opened->lines);
    wsdbg_cubin_close(opened->cubin);
    free(opened->bytes);
}

static void assert_levels(const struct opened *opened, const char *function, uint64_t offset_bytes,
                          const char *expected)
{
    for (size_t i = 0; i < wsdbg_cubin_function_count(opened->cubin); i++) {
        const struct wsdbg_cubin_function *found = wsdbg_cubin_function(opened->cubin, i);
        if (strcmp(found->name, function) != 0)
            continue;
        struct wsdbg_line levels[8];
        char text[512] = "";
        const size_t count = wsdbg_lines_find(opened->lines, found, offset_bytes, levels, 8);
        for (size_t j = 0; j < count; j++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%u %s", j ? " < " : "", levels[j].file,
                     levels[j].line, levels[j].function);
        assert_string_equal(text, expected);
        return;
    }
    fail_msg("no function %s", function);
}

/* Each function's offsets begin at 0: the relocation says whose they are. */
static const struct {
    const char *function;
    uint64_t offset_bytes;
    const char *levels;
} places[] = {
    {"consumer", 0x00, "/src/lines.cu:19 "},
    {"consumer", 0x30, "/src/lines.cu:16 _Z4waitjj < /src/lines.cu:21 "},
    {"consumer", 0xa0, "/src/lines.cu:22 "},
    {"consumer", 0xf0, "/src/lines.cu:24 "},
    {"consumer", 0x100, "/src/lines.cu:11 _Z8try_waitjj < /src/lines.cu:16 _Z4waitjj < /src/lines.cu:21 "},
    {"consumer", 0x110, "/src/lines.cu:16 _Z4waitjj < /src/lines.cu:21 "},
    {"other", 0x00, "/src/lines.cu:25 "},
    {"other", 0xc0, "/src/lines.cu:29 "},
    {"other", 0xd0, "/src/lines.cu:11 _Z8try_waitjj < /src/lines.cu:16 _Z4waitjj < /src/lines.cu:28 "},
};

static void instructions_lead_to_lines(void **state)
{
    (void)state;
    struct opened opened = read_cubin();
    open_lines(&opened);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_levels(&opened, places[i].function, places[i].offset_bytes, places[i].levels);
    assert_levels(&opened, "consumer", 0x10000, "");
    close_lines(&opened);
}

/* Both functions of lines.cu are called here and there, and only wait. */
static void levels_within_wrappers_are_marked(void **state)
{
    (void)state;
    struct opened opened = read_cubin();
    struct wsdbg_line levels[3];
    open_lines(&opened);
    for (size_t i = 0; i < wsdbg_cubin_function_count(opened.cubin); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(opened.cubin, i);
        if (strcmp(function->name, "consumer") != 0)
            continue;
        assert_int_equal(wsdbg_lines_find(opened.lines, function, 0x100, levels, 3), 3);
        assert_true(levels[0].is_wrapper && levels[1].is_wrapper && !levels[2].is_wrapper);
        assert_int_equal(wsdbg_lines_find(opened.lines, function, 0xa0, levels, 3), 1);
        assert_false(levels[0].is_wrapper);
    }
    close_lines(&opened);
}

static void no_more_levels_are_written_than_asked_for(void **state)
{
    (void)state;
    struct opened opened = read_cubin();
    open_lines(&opened);
    struct wsdbg_line levels[3] = {[2].line = 77};
    for (size_t i = 0; i < wsdbg_cubin_function_count(opened.cubin); i++)
        if (strcmp(wsdbg_cubin_function(opened.cubin, i)->name, "consumer") == 0)
            assert_int_equal(wsdbg_lines_find(opened.lines, wsdbg_cubin_function(opened.cubin, i), 0x100, levels, 2),
                             2);
    assert_int_equal(levels[2].line, 77);
    close_lines(&opened);
}

/* --- an image as the driver relocates it --- */

static Elf64_Shdr *sections_of(unsigned char *bytes)
{
    return (Elf64_Shdr *)(void *)(bytes + ((Elf64_Ehdr *)(void *)bytes)->e_shoff);
}

/* Gives each section with code an address, and applies the relocations of .debug_line; keeps or drops their table. */
static void relocate(struct opened *opened, bool drops)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)opened->bytes;
    Elf64_Shdr *sections = sections_of(opened->bytes);
    Elf64_Sym *symbols = NULL;
    for (size_t i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_flags & SHF_EXECINSTR)
            sections[i].sh_addr = GPU_ADDRESS + i * 0x1000;
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        symbols = (Elf64_Sym *)(void *)(opened->bytes + sections[i].sh_offset);
        for (size_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++)
            if (symbols[j].st_shndx < header->e_shnum)
                symbols[j].st_value += sections[symbols[j].st_shndx].sh_addr;
    }
    const char *names = (const char *)opened->bytes + sections[header->e_shstrndx].sh_offset;
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".rela.debug_line") != 0)
            continue;
        const Elf64_Rela *relocations = (const Elf64_Rela *)(const void *)(opened->bytes + sections[i].sh_offset);
        for (size_t j = 0; j < sections[i].sh_size / sizeof *relocations; j++) {
            const uint64_t address = symbols[ELF64_R_SYM(relocations[j].r_info)].st_value;
            memcpy(opened->bytes + sections[sections[i].sh_info].sh_offset + relocations[j].r_offset, &address,
                   sizeof address);
        }
        if (drops)
            sections[i].sh_type = SHT_NULL;
    }
}

static void a_relocated_image_leads_to_the_same_lines(void **state)
{
    (void)state;
    for (int drops = 0; drops < 2; drops++) {
        struct opened opened = read_cubin();
        relocate(&opened, drops);
        open_lines(&opened);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            assert_levels(&opened, places[i].function, places[i].offset_bytes, places[i].levels);
        close_lines(&opened);
    }
}

/* --- what an enemy would do --- */

static struct wsdbg_error *open_copy(const struct opened *opened, size_t count, struct wsdbg_lines **out)
{
    unsigned char *copy = malloc(count ? count : 1);
    memcpy(copy, opened->bytes, count);
    struct wsdbg_error *error = wsdbg_lines_open(&(struct wsdbg_image){copy, count}, out);
    if (!error)
        wsdbg_lines_close(*out);
    free(copy);
    return error;
}

static void an_image_without_lines_is_said_to_be_so(void **state)
{
    (void)state;
    struct bytes image = read_image("functions");
    char *cubin;
    size_t count;
    assert_null(wsdbg_cubin_of_image(&(struct wsdbg_image){image.at, image.count}, MOST, &cubin, &count));
    struct wsdbg_lines *lines;
    struct wsdbg_error *error = wsdbg_lines_open(&(struct wsdbg_image){(unsigned char *)cubin, count}, &lines);
    assert_non_null(error);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_NOT_FOUND);
    assert_string_equal(wsdbg_error_message(error), "the cubin was compiled without -lineinfo");
    wsdbg_error_destroy(error);
    free(cubin);
    free(image.at);
}

static void cut_and_damaged_images_give_an_error_or_lines(void **state)
{
    (void)state;
    struct opened opened = read_cubin();
    struct wsdbg_lines *lines;
    for (size_t count = 0; count < opened.count; count += 7)
        wsdbg_error_destroy(open_copy(&opened, count, &lines));
    for (size_t i = 0; i < opened.count; i++) {
        const unsigned char kept = opened.bytes[i];
        opened.bytes[i] = (unsigned char)~kept;
        wsdbg_error_destroy(open_copy(&opened, opened.count, &lines));
        opened.bytes[i] = kept;
    }
    free(opened.bytes);
}

/* From the machine code to the PTX that the cubin keeps: its lines are instructions there. */
static void a_line_of_the_ptx_is_an_instruction(void **state)
{
    (void)state;
    struct opened opened = read_cubin();
    struct wsdbg_lines *lines;
    char *ptx, found[512];
    size_t length, count = 0;
    open_lines(&opened);
    assert_null(wsdbg_lines_open_ptx(&(struct wsdbg_image){opened.bytes, opened.count}, &lines));
    assert_null(wsdbg_cubin_ptx(opened.cubin, MOST, &ptx, &length));
    for (size_t i = 0; i < wsdbg_cubin_function_count(opened.cubin); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(opened.cubin, i);
        for (uint64_t offset = 0; offset < function->code.byte_count; offset += WSDBG_INSTRUCTION_BYTES) {
            struct wsdbg_line line;
            if (!wsdbg_lines_find(lines, function, offset, &line, 1))
                continue;
            const char *at = ptx;
            for (uint32_t number = 1; at && number < line.line; number++)
                at = (at = strchr(at, '\n')) ? at + 1 : NULL;
            assert_non_null(at);
            snprintf(found, sizeof found, "%.*s", (int)strcspn(at, "\n"), at);
            if (!strchr(found, ';') && !strchr(found, '(') && !strchr(found, '{'))
                fail_msg("line %u of the PTX is \"%s\"", line.line, found);
            assert_string_equal(line.file, "");
            count++;
        }
    }
    assert_true(count > 10);
    free(ptx);
    wsdbg_lines_close(lines);
    close_lines(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_the_ptx_is_an_instruction),
        cmocka_unit_test(instructions_lead_to_lines),
        cmocka_unit_test(levels_within_wrappers_are_marked),
        cmocka_unit_test(no_more_levels_are_written_than_asked_for),
        cmocka_unit_test(a_relocated_image_leads_to_the_same_lines),
        cmocka_unit_test(an_image_without_lines_is_said_to_be_so),
        cmocka_unit_test(cut_and_damaged_images_give_an_error_or_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
