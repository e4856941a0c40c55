/* core_damage_test.c - what is no GPU core dump, or no longer a whole one, is refused in one line that names the file,
 * the place and the reason; whatever the bytes are, nothing else happens.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "machine/core_format.h"
#include "machine/synthetic.h"

/* A small dump in memory. */
struct dump {
    unsigned char *bytes;
    size_t count;
};

static struct dump read_dump(const char *path)
{
    struct dump dump = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    dump.count = (size_t)ftell(file);
    rewind(file);
    dump.bytes = malloc(dump.count);
    assert_int_equal(fread(dump.bytes, 1, dump.count, file), dump.count);
    fclose(file);
    return dump;
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static const struct shape small = {
    .devices = 1, .ctas_per_device = 1, .warps_per_cta = 2, .cluster_size = 1, .capability = 90, .registers = 4};

static struct dump make_dump_of(const struct shape *shape)
{
    struct synthetic *from = synthetic_create(shape);
    unlink("core");
    assert_null(wsdbg_machine_write_core(&from->machine, &from->reads, "core"));
    synthetic_destroy(from);
    return read_dump("core");
}

static struct dump make_dump(void)
{
    return make_dump_of(&small);
}

static void assert_refused(const char *path, const char *words)
{
    struct wsdbg_machine *machine = NULL;
    struct wsdbg_error *error = wsdbg_machine_open_core(path, &machine);
    if (!error)
        fail_msg("%s was opened", path);
    assert_string_equal(wsdbg_error_message(error), words);
    assert_null(machine);
    wsdbg_error_destroy(error);
}

static void assert_bytes_refused(const void *bytes, size_t count, const char *words)
{
    write_file("core", bytes, count);
    assert_refused("core", words);
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_refused("missing", "open missing: No such file or directory");
    assert_refused(".", ".: not a regular file");
    assert_refused("pipe", "pipe: not a regular file"); /* and not waited for */
    unlink("pipe");
}

static void test_what_is_no_gpu_core_dump_is_refused(void **state)
{
    (void)state;
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_CORE,
                         .e_machine = EM_X86_64};
    assert_bytes_refused("", 0, "core: offset 0: not an ELF file, so no GPU core dump");
    assert_bytes_refused("\x7f"
                         "EL",
                         3, "core: offset 0: not an ELF file, so no GPU core dump");
    assert_bytes_refused("some text, longer than the header of an ELF file, which has sixty-four bytes", 76,
                         "core: offset 0: not an ELF file, so no GPU core dump");
    assert_bytes_refused(&header, sizeof header, "core: offset 18: a core dump of a host program, not of a GPU");
    header.e_type = ET_EXEC;
    header.e_machine = CORE_MACHINE;
    assert_bytes_refused(&header, sizeof header, "core: offset 16: an ELF file, but no core dump");
    header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_bytes_refused(&header, sizeof header,
                         "core: offset 4: not a little-endian 64-bit ELF file, so no GPU core dump");
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_CORE;
    assert_bytes_refused(&header, sizeof header, "core: offset 40: a GPU core dump without sections");
}

static void test_a_truncated_dump_is_refused_at_every_length(void **state)
{
    (void)state;
    struct dump dump = make_dump();
    assert_bytes_refused(dump.bytes, 63, "core: offset 63: truncated in the ELF header");
    assert_bytes_refused(dump.bytes, 64, "core: offset 64: truncated: its section headers lie beyond its end");
    for (size_t length = 0; length < dump.count; length += length < 256 ? 1 : 61) {
        struct wsdbg_machine *machine = NULL;
        write_file("core", dump.bytes, length);
        struct wsdbg_error *error = wsdbg_machine_open_core("core", &machine);
        if (!error)
            fail_msg("%zu of %zu bytes were taken for a dump", length, dump.count);
        assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
        wsdbg_error_destroy(error);
    }
    free(dump.bytes);
}

static Elf64_Shdr *section_of_kind(const struct dump *dump, uint32_t kind, uint32_t *number)
{
    Elf64_Ehdr header;
    memcpy(&header, dump->bytes, sizeof header);
    for (*number = 0; *number < header.e_shnum; ++*number) {
        unsigned char *at = dump->bytes + header.e_shoff + *number * sizeof(Elf64_Shdr);
        if (((Elf64_Shdr *)(void *)at)->sh_type == CORE_SECTION_BASE + kind)
            return (Elf64_Shdr *)(void *)at;
    }
    fail_msg("no section of kind %u", kind);
    return NULL;
}

static void test_a_damaged_section_is_named(void **state)
{
    (void)state;
    struct dump dump = make_dump();
    uint32_t number;
    char words[200];
    Elf64_Shdr *section = section_of_kind(&dump, CORE_WARPS, &number);
    const Elf64_Shdr whole = *section;
    section->sh_entsize = 0;
    snprintf(words, sizeof words, "core: section %u at offset %lu: rows of 0 bytes, at least 20 are needed", number,
             (unsigned long)whole.sh_offset);
    assert_bytes_refused(dump.bytes, dump.count, words);
    section->sh_entsize = 60; /* two rows of 64 bytes are not whole rows of 60 */
    snprintf(words, sizeof words, "core: section %u at offset %lu: ends within a row", number,
             (unsigned long)whole.sh_offset);
    assert_bytes_refused(dump.bytes, dump.count, words);
    *section = whole;
    section->sh_size = 1000 * 1000;
    snprintf(words, sizeof words,
             "core: section %u at offset %lu: 1000000 bytes reach beyond the file's end at %zu: truncated?", number,
             (unsigned long)whole.sh_offset, dump.count);
    assert_bytes_refused(dump.bytes, dump.count, words);
    *section = whole;
    section = section_of_kind(&dump, CORE_DEVICES, &number);
    section->sh_type = SHT_NOTE;
    assert_bytes_refused(dump.bytes, dump.count, "core: a GPU core dump without a table of devices");
    free(dump.bytes);
}

/* The driver says what it was asked to leave out; here some section stands in for that one. */
static void test_why_there_is_no_shared_memory_is_said(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.no_shared = true;
    struct dump dump = make_dump_of(&shape);
    uint32_t number;
    Elf64_Shdr *section = section_of_kind(&dump, CORE_UNIFORM, &number);
    const uint32_t flags = CORE_SKIPPED_SHARED;
    section->sh_type = CORE_SECTION_BASE + CORE_META;
    memcpy(dump.bytes + section->sh_offset + CORE_META_FLAGS, &flags, sizeof flags);
    write_file("core", dump.bytes, dump.count);
    struct wsdbg_machine *machine;
    assert_null(wsdbg_machine_open_core("core", &machine));
    assert_int_equal(machine->note_count, 1);
    assert_string_equal(machine->notes[0],
                        "the core dump holds no shared memory, so no barrier's count is known: make it "
                        "without skip_shared_memory in CUDA_COREDUMP_GENERATION_FLAGS");
    machine->ops->close(machine);
    free(dump.bytes);
}

/* Every operation on what was opened; a sanitizer sees where one reads what is not there. */
static void use(struct wsdbg_machine *machine)
{
    unsigned char bytes[64];
    uint32_t words[16], known_count;
    bool known;
    for (uint32_t i = 0; i < machine->warp_count; i++) {
        wsdbg_error_destroy(machine->ops->registers(machine, i, i % 32, 0, 16, words, &known_count));
        wsdbg_error_destroy(machine->ops->uniform_registers(machine, i, 60, 16, words, &known_count));
        wsdbg_error_destroy(machine->ops->predicates(machine, i, i % 32, words, &known));
    }
    for (uint32_t i = 0; i < machine->cta_count; i++)
        wsdbg_error_destroy(machine->ops->shared(machine, i, SYNTHETIC_SHARED_FIRST, bytes, 64, &known));
    for (uint32_t i = 0; i < machine->grid_count; i++)
        wsdbg_error_destroy(machine->ops->constant(machine, i, 0, 0x210, bytes, 8, &known));
    wsdbg_error_destroy(machine->ops->global(machine, 0, SYNTHETIC_GLOBAL, bytes, 64, &known));
}

static void test_no_byte_of_the_headers_can_do_harm(void **state)
{
    (void)state;
    struct dump dump = make_dump();
    Elf64_Ehdr header;
    memcpy(&header, dump.bytes, sizeof header);
    const size_t headers_end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
    for (size_t at = 0; at < headers_end; at = at == sizeof header ? header.e_shoff : at + 1) {
        const unsigned char whole = dump.bytes[at];
        struct wsdbg_machine *machine = NULL;
        dump.bytes[at] ^= 0xff;
        write_file("core", dump.bytes, dump.count);
        struct wsdbg_error *error = wsdbg_machine_open_core("core", &machine);
        if (!error) {
            use(machine);
            machine->ops->close(machine);
        }
        wsdbg_error_destroy(error);
        dump.bytes[at] = whole;
    }
    free(dump.bytes);
}

static void test_a_packed_dump_is_read_as_a_plain_one(void **state)
{
    (void)state;
    struct dump dump = make_dump();
    gzFile packed = gzopen("core.gz", "wb");
    assert_int_equal(gzwrite(packed, dump.bytes, (unsigned)dump.count), (int)dump.count);
    assert_int_equal(gzclose(packed), Z_OK);
    struct wsdbg_machine *machine;
    assert_null(wsdbg_machine_open_core("core.gz", &machine));
    assert_int_equal(machine->warp_count, 2);
    use(machine);
    machine->ops->close(machine);
    free(dump.bytes);

    struct dump half = read_dump("core.gz");
    char words[100];
    write_file("core.gz", half.bytes, half.count / 2);
    snprintf(words, sizeof words, "core.gz: offset %zu: cannot be unpacked: it ends early", half.count / 2);
    assert_refused("core.gz", words);
    memset(half.bytes + 40, 0xff, 40);
    write_file("core.gz", half.bytes, half.count);
    struct wsdbg_error *error = wsdbg_machine_open_core("core.gz", &machine);
    assert_non_null(error);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
    wsdbg_error_destroy(error);
    free(half.bytes);
    unlink("core.gz");
}

static int enter_folder(void **state)
{
    static char folder[] = P_tmpdir "/wsdbg-core-XXXXXX";
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    unlink("core");
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_what_is_no_gpu_core_dump_is_refused),
        cmocka_unit_test(test_a_truncated_dump_is_refused_at_every_length),
        cmocka_unit_test(test_a_damaged_section_is_named),
        cmocka_unit_test(test_why_there_is_no_shared_memory_is_said),
        cmocka_unit_test(test_no_byte_of_the_headers_can_do_harm),
        cmocka_unit_test(test_a_packed_dump_is_read_as_a_plain_one),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
