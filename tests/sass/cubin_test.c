/* cubin_test.c - the machine code of a module's image: functions, constants and what is noted about barriers.
 *
 * functions.cu is the source of what is read; its offsets are those that nvdisasm prints.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/cubin.h"
#include "sass/images.h"

#define MOST ((size_t)1 << 20)

/* Where fields lie in an entry of a fatbin. */
enum { FIRST_ENTRY = 16, ARCHITECTURE = 28 };

struct opened {
    char *bytes;
    size_t count;
    struct wsdbg_cubin *cubin;
};

static struct opened open_image(const char *name)
{
    struct bytes image = read_image(name);
    struct opened opened = {0};
    assert_null(wsdbg_cubin_of_image(&(struct wsdbg_image){image.at, image.count}, MOST, &opened.bytes, &opened.count));
    free(image.at);
    const struct wsdbg_image cubin = {(unsigned char *)opened.bytes, opened.count};
    struct wsdbg_error *error = wsdbg_cubin_open(&cubin, &opened.cubin);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    return opened;
}

static void close_image(struct opened *opened)
{
    wsdbg_cubin_close(opened->cubin);
    free(opened->bytes);
}

static const struct wsdbg_cubin_function *named(const struct wsdbg_cubin *cubin, const char *name)
{
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++)
        if (strcmp(wsdbg_cubin_function(cubin, i)->name, name) == 0)
            return wsdbg_cubin_function(cubin, i);
    fail_msg("no function %s", name);
    return NULL;
}

/* Works on a copy of just these bytes: a sanitizer sees one read too many. */
static struct wsdbg_error *open_copy(const void *bytes, size_t count, unsigned char **copy, struct wsdbg_cubin **out)
{
    *copy = malloc(count ? count : 1);
    memcpy(*copy, bytes, count);
    return wsdbg_cubin_open(&(struct wsdbg_image){*copy, count}, out);
}

static void assert_refused(const void *bytes, size_t count, const char *expected)
{
    unsigned char *copy;
    struct wsdbg_cubin *cubin = NULL;
    struct wsdbg_error *error = open_copy(bytes, count, &copy, &cubin);
    assert_null(cubin);
    assert_non_null(error);
    if (!strstr(wsdbg_error_message(error), expected))
        fail_msg("\"%s\" is without \"%s\"", wsdbg_error_message(error), expected);
    wsdbg_error_destroy(error);
    free(copy);
}

static void each_function_has_its_code(void **state)
{
    (void)state;
    struct opened opened = open_image("functions");
    const struct wsdbg_cubin_function *plain = named(opened.cubin, "_Z5plainPi");
    const struct wsdbg_cubin_function *pipe = named(opened.cubin, "_Z4pipePi");
    const struct wsdbg_cubin_function *pick = named(opened.cubin, "$_Z4pipePi$_Z4picki");
    assert_int_equal(wsdbg_cubin_function_count(opened.cubin), 3);
    assert_int_equal(plain->code.byte_count, 384);
    assert_int_equal(pipe->code.byte_count, 1024);
    assert_int_equal(pick->code.byte_count, 320);
    assert_true(plain->is_kernel && pipe->is_kernel && !pick->is_kernel);
    assert_int_equal(pick->section, pipe->section);
    assert_int_equal(pick->offset_bytes, 0x2c0);
    assert_ptr_equal(pick->code.bytes, pipe->code.bytes + 0x2c0);
    static const unsigned char syncs_exch[] = {0xb2, 0x75}; /* SYNCS.EXCH.64 at 0xa0 */
    assert_memory_equal(pipe->code.bytes + 0xa0, syncs_exch, sizeof syncs_exch);
    close_image(&opened);
}

static void registers_are_known_of_kernels_and_unknown_of_what_they_call(void **state)
{
    (void)state;
    struct opened opened = open_image("functions");
    assert_int_equal(named(opened.cubin, "_Z5plainPi")->registers, 8);
    assert_int_equal(named(opened.cubin, "_Z4pipePi")->registers, 128);
    assert_int_equal(named(opened.cubin, "$_Z4pipePi$_Z4picki")->registers, WSDBG_UNKNOWN_COUNT);
    close_image(&opened);
}

static void notes_on_barriers_are_those_of_their_kernel(void **state)
{
    (void)state;
    struct opened opened = open_image("functions");
    const struct wsdbg_cubin_function *pipe = named(opened.cubin, "_Z4pipePi");
    const struct wsdbg_cubin_function *plain = named(opened.cubin, "_Z5plainPi");
    assert_true(pipe->reconfigures);
    assert_int_equal(pipe->named_barriers, 4);
    assert_int_equal(pipe->mbarriers, 2);
    assert_false(plain->reconfigures);
    assert_int_equal(plain->named_barriers, WSDBG_UNKNOWN_COUNT);
    assert_int_equal(plain->mbarriers, WSDBG_UNKNOWN_COUNT);
    assert_int_equal(plain->mbarrier_uses, 0);
    close_image(&opened);
}

static void each_noted_use_of_an_mbarrier_is_read(void **state)
{
    static const struct wsdbg_mbarrier_use expected[] = {
        {WSDBG_USE_INIT, 0xa0, 255, 6, 0},
        {WSDBG_USE_INIT, 0xb0, 255, 6, 8},
        {WSDBG_USE_TRY_WAIT_PARITY, 0x180, 255, 6, 8},
        {WSDBG_USE_ARRIVE, 0x270, 255, 6, 8},
        {WSDBG_USE_TRY_WAIT_PARITY, 0x290, 255, 6, 8},
    };
    (void)state;
    struct opened opened = open_image("functions");
    const struct wsdbg_cubin_function *pipe = named(opened.cubin, "_Z4pipePi");
    assert_int_equal(pipe->mbarrier_uses, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < pipe->mbarrier_uses; i++) {
        const struct wsdbg_mbarrier_use use = wsdbg_cubin_mbarrier_use(pipe, i);
        assert_int_equal(use.kind, expected[i].kind);
        assert_int_equal(use.offset_bytes, expected[i].offset_bytes);
        assert_int_equal(use.general_register, expected[i].general_register);
        assert_int_equal(use.uniform_register, expected[i].uniform_register);
        assert_int_equal(use.immediate_bytes, expected[i].immediate_bytes);
    }
    close_image(&opened);
}

static void constants_are_the_functions_own_or_the_modules(void **state)
{
    static const int table[] = {3, 1, 4, 1};
    struct wsdbg_image constants = {0};
    (void)state;
    struct opened opened = open_image("functions");
    const struct wsdbg_cubin_function *pipe = named(opened.cubin, "_Z4pipePi");
    assert_true(wsdbg_cubin_constants(opened.cubin, pipe, 3, &constants));
    assert_int_equal(constants.byte_count, sizeof table);
    assert_memory_equal(constants.bytes, table, sizeof table);
    assert_true(wsdbg_cubin_constants(opened.cubin, pipe, 0, &constants));
    assert_int_equal(constants.byte_count, 0x218);
    const unsigned char *own = constants.bytes;
    assert_true(wsdbg_cubin_constants(opened.cubin, named(opened.cubin, "_Z5plainPi"), 0, &constants));
    assert_ptr_not_equal(constants.bytes, own);
    assert_false(wsdbg_cubin_constants(opened.cubin, pipe, 2, &constants));
    close_image(&opened);
}

static void a_packed_cubin_is_unpacked_and_a_bare_one_taken_as_it_is(void **state)
{
    (void)state;
    struct opened packed = open_image("machine_code");
    assert_int_equal(named(packed.cubin, "_Z1kPi")->registers, 8);
    char *again = NULL;
    size_t count = 0;
    const struct wsdbg_image bare = {(unsigned char *)packed.bytes, packed.count};
    assert_null(wsdbg_cubin_of_image(&bare, MOST, &again, &count));
    assert_int_equal(count, packed.count);
    assert_memory_equal(again, packed.bytes, count);
    free(again);
    close_image(&packed);
}

static void assert_no_cubin(const struct bytes *image, size_t most, const char *expected)
{
    char *out = NULL;
    size_t count;
    struct wsdbg_error *error =
        wsdbg_cubin_of_image(&(struct wsdbg_image){image->at, image->count}, most, &out, &count);
    assert_null(out);
    assert_non_null(error);
    if (!strstr(wsdbg_error_message(error), expected))
        fail_msg("\"%s\" is without \"%s\"", wsdbg_error_message(error), expected);
    wsdbg_error_destroy(error);
}

static void only_a_cubin_for_this_device_and_within_the_limit_is_taken(void **state)
{
    static const uint32_t others[] = {80, 89, 100};
    (void)state;
    struct bytes image = read_image("functions");
    assert_no_cubin(&image, 100, "at most 100 are read");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        memcpy(image.at + FIRST_ENTRY + ARCHITECTURE, &others[i], sizeof *others);
        assert_no_cubin(&image, MOST, "the module holds no cubin for sm_90");
    }
    free(image.at);
    image = read_image("default");
    assert_no_cubin(&image, MOST, "the module holds no cubin for sm_90");
    free(image.at);
}

static void what_is_no_cubin_for_sm_90_is_refused_in_words(void **state)
{
    (void)state;
    struct opened opened = open_image("functions");
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)opened.bytes;
    const Elf64_Ehdr good = *header;
    header->e_flags = 100 << 8;
    assert_refused(opened.bytes, opened.count, "a cubin for sm_100, only sm_90 is read");
    *header = good;
    header->e_ident[EI_ABIVERSION] = 6;
    assert_refused(opened.bytes, opened.count, "a cubin of ABI version 6, only 7 and 8 are read");
    *header = good;
    header->e_ident[EI_ABIVERSION] = 7;
    header->e_flags = 0x500556;
    assert_refused(opened.bytes, opened.count, "a cubin for sm_86, only sm_90 is read");
    *header = good;
    header->e_machine = EM_X86_64;
    assert_refused(opened.bytes, opened.count, "not a cubin");
    assert_refused("", 0, "not a cubin");
    assert_refused(".version 9.0", 12, "not a cubin");
    *header = good;
    close_image(&opened);
}

static Elf64_Sym *symbol_of(struct opened *opened, size_t number)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(void *)opened->bytes;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(void *)(opened->bytes + header->e_shoff);
    while (section->sh_type != SHT_SYMTAB)
        section++;
    return (Elf64_Sym *)(void *)(opened->bytes + section->sh_offset) + number;
}

static Elf64_Shdr *section_of(struct opened *opened, size_t number)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(void *)opened->bytes;
    return (Elf64_Shdr *)(void *)(opened->bytes + header->e_shoff) + number;
}

/* What the driver loaded has its address in the section and in each symbol of it; the rest stays as it was. */
static void a_relocated_function_has_its_address(void **state)
{
    enum { SYMBOLS = 18 };
    const uint64_t address = 0x7f83637a0000;
    (void)state;
    struct opened opened = open_image("functions");
    const size_t section = named(opened.cubin, "_Z4pipePi")->section;
    section_of(&opened, section)->sh_addr = address;
    for (size_t i = 1; i < SYMBOLS; i++)
        if (symbol_of(&opened, i)->st_shndx == section)
            symbol_of(&opened, i)->st_value += address;
    wsdbg_cubin_close(opened.cubin);
    assert_null(wsdbg_cubin_open(&(struct wsdbg_image){(unsigned char *)opened.bytes, opened.count}, &opened.cubin));
    const struct wsdbg_cubin_function *pick = named(opened.cubin, "$_Z4pipePi$_Z4picki");
    assert_int_equal(named(opened.cubin, "_Z5plainPi")->address, 0);
    assert_int_equal(named(opened.cubin, "_Z4pipePi")->address, address);
    assert_int_equal(pick->address, address + 0x2c0);
    assert_int_equal(pick->offset_bytes, 0x2c0);
    assert_ptr_equal(pick->code.bytes, named(opened.cubin, "_Z4pipePi")->code.bytes + 0x2c0);
    close_image(&opened);
}

/* Lazy loading: what the driver loads with the image has addresses as above; of a function that came later the symbol
 * alone has one. */
static void a_function_that_was_loaded_later_is_read(void **state)
{
    enum { PLAIN = 14 };
    const uint64_t address = 0x7f83637a0000;
    (void)state;
    struct opened opened = open_image("functions");
    const struct wsdbg_cubin_function before = *named(opened.cubin, "_Z5plainPi");
    Elf64_Sym *symbol = symbol_of(&opened, PLAIN);
    assert_int_equal(symbol->st_shndx, before.section);
    assert_int_equal(section_of(&opened, before.section)->sh_addr, 0);
    symbol->st_value = address;
    wsdbg_cubin_close(opened.cubin);
    assert_null(wsdbg_cubin_open(&(struct wsdbg_image){(unsigned char *)opened.bytes, opened.count}, &opened.cubin));
    const struct wsdbg_cubin_function *plain = named(opened.cubin, "_Z5plainPi");
    assert_int_equal(plain->address, address);
    assert_int_equal(plain->offset_bytes, 0);
    assert_int_equal(plain->code.byte_count, before.code.byte_count);
    assert_ptr_equal(plain->code.bytes, before.code.bytes);
    assert_int_equal(named(opened.cubin, "_Z4pipePi")->address, 0); /* not loaded yet */
    symbol = symbol_of(&opened, PLAIN);
    symbol->st_size = before.code.byte_count + 16;
    assert_refused(opened.bytes, opened.count, "a function that reaches beyond its section");
    close_image(&opened);
}

static void also_what_else_lies_in_its_section(void **state)
{
    enum { SYMBOLS = 18 };
    const uint64_t address = 0x7f83637a0000;
    (void)state;
    struct opened opened = open_image("functions");
    const size_t section = named(opened.cubin, "_Z4pipePi")->section;
    for (size_t i = 1; i < SYMBOLS; i++)
        if (symbol_of(&opened, i)->st_shndx == section)
            symbol_of(&opened, i)->st_value += address;
    wsdbg_cubin_close(opened.cubin);
    assert_null(wsdbg_cubin_open(&(struct wsdbg_image){(unsigned char *)opened.bytes, opened.count}, &opened.cubin));
    const struct wsdbg_cubin_function *pick = named(opened.cubin, "$_Z4pipePi$_Z4picki");
    assert_int_equal(named(opened.cubin, "_Z4pipePi")->address, address);
    assert_int_equal(pick->address, address + 0x2c0);
    assert_int_equal(pick->offset_bytes, 0x2c0);
    assert_ptr_equal(pick->code.bytes, named(opened.cubin, "_Z4pipePi")->code.bytes + 0x2c0);
    close_image(&opened);
}

/* ABI 7: the architecture in the first byte of the flags, a count of registers above the symbol of a code section. */
static void a_cubin_of_the_abi_before_is_read(void **state)
{
    (void)state;
    struct opened opened = open_image("functions");
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)opened.bytes;
    header->e_ident[EI_ABIVERSION] = 7;
    header->e_flags = 0x5a055a;
    section_of(&opened, named(opened.cubin, "_Z4pipePi")->section)->sh_info |= 40u << 24;
    wsdbg_cubin_close(opened.cubin);
    assert_null(wsdbg_cubin_open(&(struct wsdbg_image){(unsigned char *)opened.bytes, opened.count}, &opened.cubin));
    assert_true(named(opened.cubin, "_Z4pipePi")->mbarrier_uses > 0);
    close_image(&opened);
}

static void a_function_outside_its_section_is_refused(void **state)
{
    enum { PLAIN = 14 };
    (void)state;
    struct opened opened = open_image("functions");
    Elf64_Sym *symbol = symbol_of(&opened, PLAIN);
    const Elf64_Sym good = *symbol;
    assert_int_equal(good.st_size, 384);
    symbol->st_size = 400;
    assert_refused(opened.bytes, opened.count, "a function that reaches beyond its section");
    *symbol = good;
    symbol->st_value = UINT64_MAX - 15;
    assert_refused(opened.bytes, opened.count, "a function that reaches beyond its section");
    *symbol = good;
    symbol->st_size = 383;
    assert_refused(opened.bytes, opened.count, "a function of broken instructions");
    *symbol = good;
    symbol->st_shndx = 0x7fff;
    assert_refused(opened.bytes, opened.count, "a function without code");
    *symbol = good;
    symbol->st_name = UINT32_MAX;
    assert_refused(opened.bytes, opened.count, "a function whose name lies outside the names");
    *symbol = good;
    close_image(&opened);
}

static void an_attribute_longer_than_its_section_is_refused(void **state)
{
    static const unsigned char use_head[] = {4, 0x39, 0x50, 0};
    (void)state;
    struct opened opened = open_image("functions");
    unsigned char *note = memmem(opened.bytes, opened.count, use_head, sizeof use_head);
    assert_non_null(note);
    note[3] = 0xff;
    assert_refused(opened.bytes, opened.count, "an attribute that does not end within its section");
    close_image(&opened);
}

static void every_cut_of_a_cubin_is_refused(void **state)
{
    (void)state;
    struct opened opened = open_image("functions");
    /* The headers of the sections lie near the end, and behind them those of the segments, which nobody reads. */
    const size_t needed = ((const Elf64_Ehdr *)(void *)opened.bytes)->e_phoff;
    for (size_t count = 0; count < needed; count++)
        assert_refused(opened.bytes, count, "cubin");
    close_image(&opened);
}

/* Reads all that a cubin hands out; what it says does not matter: a sanitizer watches. */
static unsigned read_everything(const struct wsdbg_cubin *cubin)
{
    unsigned sum = 0;
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(cubin, i);
        struct wsdbg_image constants;
        sum += (unsigned)strlen(function->name);
        for (size_t at = 0; at < function->code.byte_count; at++)
            sum += function->code.bytes[at];
        for (size_t use = 0; use < function->mbarrier_uses; use++)
            sum += wsdbg_cubin_mbarrier_use(function, use).offset_bytes;
        if (wsdbg_cubin_constants(cubin, function, 0, &constants) && constants.byte_count)
            sum += constants.bytes[constants.byte_count - 1];
    }
    return sum;
}

static void no_changed_byte_leads_out_of_the_cubin(void **state)
{
    unsigned sum = 0;
    (void)state;
    struct opened opened = open_image("functions");
    for (size_t at = 0; at < opened.count; at++) {
        unsigned char *copy;
        struct wsdbg_cubin *cubin = NULL;
        opened.bytes[at] ^= (char)0xff;
        struct wsdbg_error *error = open_copy(opened.bytes, opened.count, &copy, &cubin);
        assert_true((error != NULL) == (cubin == NULL));
        if (cubin)
            sum += read_everything(cubin);
        wsdbg_cubin_close(cubin);
        wsdbg_error_destroy(error);
        free(copy);
        opened.bytes[at] ^= (char)0xff;
    }
    assert_true(sum > 0);
    close_image(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_has_its_code),
        cmocka_unit_test(registers_are_known_of_kernels_and_unknown_of_what_they_call),
        cmocka_unit_test(notes_on_barriers_are_those_of_their_kernel),
        cmocka_unit_test(each_noted_use_of_an_mbarrier_is_read),
        cmocka_unit_test(constants_are_the_functions_own_or_the_modules),
        cmocka_unit_test(a_packed_cubin_is_unpacked_and_a_bare_one_taken_as_it_is),
        cmocka_unit_test(only_a_cubin_for_this_device_and_within_the_limit_is_taken),
        cmocka_unit_test(what_is_no_cubin_for_sm_90_is_refused_in_words),
        cmocka_unit_test(a_relocated_function_has_its_address),
        cmocka_unit_test(a_function_that_was_loaded_later_is_read),
        cmocka_unit_test(also_what_else_lies_in_its_section),
        cmocka_unit_test(a_cubin_of_the_abi_before_is_read),
        cmocka_unit_test(a_function_outside_its_section_is_refused),
        cmocka_unit_test(an_attribute_longer_than_its_section_is_refused),
        cmocka_unit_test(every_cut_of_a_cubin_is_refused),
        cmocka_unit_test(no_changed_byte_leads_out_of_the_cubin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
