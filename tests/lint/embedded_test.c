/* embedded_test.c - fatbins and cubins among other bytes: found wherever they begin, once, and nothing else is. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lint/embedded.h"

enum { MOST = 3 * WSDBG_EMBEDDED_CHUNK_BYTES, CUDA = 190, FATBIN_BYTES = 16 + 64 + 40 };

struct data {
    unsigned char bytes[MOST];
    size_t count;
};

static void put_zeros(struct data *data, size_t count)
{
    assert_true(data->count + count <= MOST);
    memset(data->bytes + data->count, 0, count);
    data->count += count;
}

static void put(struct data *data, const void *bytes, size_t count)
{
    put_zeros(data, count);
    memcpy(data->bytes + data->count - count, bytes, count);
}

static void put_fatbin_header(struct data *data, uint64_t entries_bytes)
{
    const uint64_t words[2] = {0x00100001ba55ed50, entries_bytes};
    put(data, words, sizeof words);
}

/* One entry: a header of 64 bytes and 40 bytes of code. */
static void put_fatbin(struct data *data)
{
    const uint32_t entry[16] = {0x01010002, 64, 40};
    put_fatbin_header(data, FATBIN_BYTES - 16);
    put(data, entry, sizeof entry);
    put_zeros(data, 40);
}

/* A header, 8 bytes of contents, a table of two sections. */
enum { CUBIN_BYTES = sizeof(Elf64_Ehdr) + 8 + 2 * sizeof(Elf64_Shdr) };

static void put_elf(struct data *data, unsigned machine, uint64_t contents_bytes)
{
    Elf64_Ehdr header = {.e_machine = (Elf64_Half)machine,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header,
                         .e_shoff = sizeof header + 8,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 2};
    const Elf64_Shdr rows[2] = {{0}, {.sh_type = SHT_PROGBITS, .sh_offset = sizeof header, .sh_size = contents_bytes}};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    put(data, &header, sizeof header);
    put_zeros(data, 8);
    put(data, rows, sizeof rows);
}

/* Writes "fatbin 3+120" for each image, "cut" in place of the length where it is damaged. */
static void find(const struct data *data, char *out, size_t room)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(data->bytes, 1, data->count, file), data->count);
    fflush(file);
    struct wsdbg_embedded_scan *scan = calloc(1, sizeof *scan);
    assert_non_null(scan);
    scan->span = (struct wsdbg_file_span){fileno(file), 0, data->count};
    struct wsdbg_embedded_image image;
    size_t length = 0;
    bool found;
    *out = '\0';
    while (!wsdbg_embedded_next(scan, &image, &found) && found) {
        const char *kind = image.kind == WSDBG_EMBEDDED_CUBIN ? "cubin" : "fatbin", *blank = length ? " " : "";
        if (image.damage)
            length += (size_t)snprintf(out + length, room - length, "%s%s cut", blank, kind);
        else
            length +=
                (size_t)snprintf(out + length, room - length, "%s%s %llu+%llu", blank, kind,
                                 (unsigned long long)image.bytes.first, (unsigned long long)image.bytes.byte_count);
        assert_true(length < room);
        wsdbg_error_destroy(image.damage);
    }
    assert_false(found);
    free(scan);
    fclose(file);
}

static void expect(const struct data *data, const char *expected)
{
    char found[256];
    find(data, found, sizeof found);
    assert_string_equal(found, expected);
}

/* Also where the first bytes lie in one chunk and the rest in the next. */
static void an_image_may_begin_at_any_byte(void **state)
{
    static const size_t chunk = WSDBG_EMBEDDED_CHUNK_BYTES;
    static struct data data;
    char expected[64];
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        const size_t at = i < 20 ? i : chunk - 30 + i;
        data.count = 0;
        put_zeros(&data, at);
        put_fatbin(&data);
        snprintf(expected, sizeof expected, "fatbin %zu+%d", at, FATBIN_BYTES);
        expect(&data, expected);
        data.count = at;
        put_elf(&data, CUDA, 8);
        snprintf(expected, sizeof expected, "cubin %zu+%zu", at, (size_t)CUBIN_BYTES);
        expect(&data, expected);
    }
}

static void all_of_several_are_found(void **state)
{
    static struct data data;
    (void)state;
    data.count = 0;
    put_fatbin(&data);
    put_elf(&data, CUDA, 8);
    put_zeros(&data, 5);
    put_elf(&data, CUDA, 8);
    put_zeros(&data, WSDBG_EMBEDDED_CHUNK_BYTES);
    put_fatbin(&data);
    expect(&data, "fatbin 0+120 cubin 120+200 cubin 325+200 fatbin 66061+120");
}

static void a_cubin_within_a_fatbin_is_not_one_more(void **state)
{
    static struct data data;
    const uint32_t entry[16] = {0x01010002, 64, CUBIN_BYTES};
    (void)state;
    data.count = 0;
    put_fatbin_header(&data, 64 + CUBIN_BYTES);
    put(&data, entry, sizeof entry);
    put_elf(&data, CUDA, 8);
    expect(&data, "fatbin 0+280");
}

/* Programs that make fatbins have such a constant; a program for the host may be carried as well. */
static void what_only_begins_like_one_is_none(void **state)
{
    static struct data data;
    (void)state;
    data.count = 0;
    put_fatbin_header(&data, 0x4840c74810244c89);
    put(&data, "\x48\x8b\x05\x11\x22\x33\x44\x55", 8);
    put_elf(&data, EM_X86_64, 8);
    put(&data, ELFMAG, SELFMAG);
    expect(&data, "");
    put_fatbin(&data);
    expect(&data, "fatbin 228+120");
}

static void what_is_cut_short_is_said_and_the_rest_is_read(void **state)
{
    static struct data data;
    (void)state;
    data.count = 0;
    put_elf(&data, CUDA, 1 << 20);
    put_fatbin(&data);
    expect(&data, "cubin cut fatbin 200+120");
    data.count -= 1;
    expect(&data, "cubin cut fatbin cut");
    data.count = 100;
    expect(&data, "cubin cut");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_may_begin_at_any_byte),
        cmocka_unit_test(all_of_several_are_found),
        cmocka_unit_test(a_cubin_within_a_fatbin_is_not_one_more),
        cmocka_unit_test(what_only_begins_like_one_is_none),
        cmocka_unit_test(what_is_cut_short_is_said_and_the_rest_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
