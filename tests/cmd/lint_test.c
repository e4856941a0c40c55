/* lint_test.c - `wsdbg lint` on files of every kind, good and bad: what it reads, what it leaves out, what it answers.
 */
#include <elf.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/cause_page.h"
#include "cmd/harness.h"
#include "lint/finding.h"
#include "store/json_schema.h"

#define IMAGES WSDBG_SOURCE "/tests/sass/images/"
/* A PTX file with one defect: an error at line 14. */
#define DEFECT WSDBG_SOURCE "/tests/lint/registers/architecture.ptx"
enum { MOST = 1 << 16 };

struct buffer {
    unsigned char bytes[MOST];
    size_t count;
};

static void append(struct buffer *buffer, const void *bytes, size_t count)
{
    assert_true(buffer->count + count <= sizeof buffer->bytes);
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static void append_image(struct buffer *buffer, const char *name)
{
    char path[512];
    static unsigned char image[MOST];
    snprintf(path, sizeof path, IMAGES "%s.fatbin", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    append(buffer, image, fread(image, 1, sizeof image, file));
    fclose(file);
    while (buffer->count % 8)
        append(buffer, "", 1);
}

/* A host's object with `code` as the contents of the sections of these names, one behind the other: header, section
 * table, names, code.  `size` of it is the first section's. */
static void wrap_in(const char *first, const char *second, const struct buffer *code, size_t size, struct buffer *out)
{
    char names[32] = "";
    snprintf(names + 1, sizeof names - 1, "%s", first);
    snprintf(names + 16, sizeof names - 16, "%s", second);
    Elf64_Ehdr header = {.e_machine = EM_X86_64,
                         .e_type = ET_REL,
                         .e_shoff = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 4,
                         .e_shstrndx = 3};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    const size_t names_at = sizeof header + 4 * sizeof(Elf64_Shdr), code_at = names_at + sizeof names;
    const Elf64_Shdr sections[4] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = code_at, .sh_size = size},
        {.sh_name = 16, .sh_type = SHT_PROGBITS, .sh_offset = code_at + size, .sh_size = code->count - size},
        {.sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof names}};
    out->count = 0;
    append(out, &header, sizeof header);
    append(out, sections, sizeof sections);
    append(out, names, sizeof names);
    append(out, code->bytes, code->count);
}

static void wrap(const struct buffer *code, struct buffer *out)
{
    wrap_in(".nv_fatbin", ".rodata", code, code->count, out);
}

static void save(const char *path, const struct buffer *buffer)
{
    write_file(path, (const char *)buffer->bytes, buffer->count);
}

static void check(struct outcome outcome, int status, const char *said)
{
    if (outcome.status != status || !strstr(outcome.err, said))
        fail_msg("expected %d and \"%s\"; got %d: %s", status, said, outcome.status, outcome.err);
    outcome_free(&outcome);
}

static void what_is_no_gpu_code(void **state)
{
    (void)state;
    write_file("text", "hello\n", 6);
    write_file("empty", "", 0);
    check(WSDBG("lint", "none"), 125, "No such file");
    check(WSDBG("lint", "."), 125, "a directory, not a file");
    check(WSDBG("lint", "/dev/null"), 125, "a device or pipe, not a file");
    check(WSDBG("lint", "empty"), 125, "empty");
    check(WSDBG("lint", "text"), 125, "PTX; source is compiled first: nvcc -arch=sm_90a -cubin\n");
    write_file("packed", "\x1f\x8b\x08", 3);
    check(WSDBG("lint", "packed"), 125, "neither ELF, fatbin, archive nor PTX\n");
    check(WSDBG("lint", "/bin/sh"), 125, "holds no code for a GPU");
}

static void other_architectures_are_counted_and_the_rest_is_read(void **state)
{
    (void)state;
    check(WSDBG("lint", IMAGES "default.fatbin"), 0, "not read: PTX for sm_80 (1 image), PTX for sm_100 (1 image)");
    check(WSDBG("lint", IMAGES "newer.fatbin"), 125, "nothing for sm_90 or sm_90a could be read of it");
}

static void every_packing_is_unpacked(void **state)
{
    (void)state;
    check(WSDBG("lint", IMAGES "machine_code.fatbin"), 0, "1 kernel in 1 module read");
    check(WSDBG("lint", IMAGES "speed.fatbin"), 0, "1 kernel in 1 module read");
    check(WSDBG("lint", IMAGES "none.fatbin"), 0, "1 kernel in 1 module read");
}

static void an_object_of_the_host_holds_several_modules(void **state)
{
    (void)state;
    struct buffer code = {.count = 0}, object;
    append_image(&code, "machine_code");
    append_image(&code, "lines");
    wrap(&code, &object);
    save("object.o", &object);
    check(WSDBG("lint", "--fail-on", "never", "object.o"), 0, "in 2 modules read");
}

static void images_that_a_program_carries_as_data_are_found_once(void **state)
{
    (void)state;
    struct buffer code = {.count = 0}, object;
    append_image(&code, "machine_code");
    const size_t second = code.count;
    append(&code, "\0\1\2", 3); /* arrays of characters begin anywhere */
    append_image(&code, "lines");
    wrap_in(".nv_fatbin", ".rodata", &code, second, &object);
    save("both.o", &object);
    check(WSDBG("lint", "--fail-on", "never", "both.o"), 0, "in 2 modules read");
    wrap_in(".data", ".text", &code, second, &object);
    save("data.o", &object);
    check(WSDBG("lint", "--fail-on", "never", "data.o"), 0, "in 2 modules read");
    wrap_in(".debug_str", ".rodata", &code, second, &object);
    save("debug.o", &object);
    check(WSDBG("lint", "--fail-on", "never", "debug.o"), 0, "in 1 module read");
    /* Both sections name all of the contents. */
    wrap_in(".data", ".nv_fatbin", &code, second, &object);
    for (size_t i = 1; i < 3; i++) {
        Elf64_Shdr *section = (Elf64_Shdr *)(void *)(object.bytes + sizeof(Elf64_Ehdr)) + i;
        section->sh_offset = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Shdr) + 32;
        section->sh_size = second;
    }
    save("same.o", &object);
    check(WSDBG("lint", "--fail-on", "never", "same.o"), 0, "in 1 module read");
}

static void a_damaged_module_among_good_ones_is_said(void **state)
{
    (void)state;
    struct buffer code = {.count = 0}, object;
    append_image(&code, "machine_code");
    const size_t second = code.count;
    append_image(&code, "speed");
    append_image(&code, "machine_code");
    memset(code.bytes + second, 0x5a, 16); /* its header */
    wrap(&code, &object);
    save("object.o", &object);
    struct outcome outcome = WSDBG("lint", "object.o");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "fatbin 2: not read: damaged"));
    assert_non_null(strstr(outcome.err, "in 2 modules read"));
    outcome_free(&outcome);
    wrap(&code, &object);
    memset(object.bytes + object.count - 8, 0x77, 8); /* packed code of the last one */
    save("object.o", &object);
    check(WSDBG("lint", "object.o"), 0, "fatbin 2 sm_90a: not read: damaged");
}

/* A header of no length, and nothing behind it. */
static void a_fatbin_of_no_bytes_ends(void **state)
{
    (void)state;
    static const unsigned char header[16] = {0x50, 0xed, 0x55, 0xba, 1};
    struct buffer code = {.count = 0};
    append(&code, header, sizeof header);
    append_image(&code, "machine_code");
    save("empty.fatbin", &code);
    struct outcome outcome = WSDBG("lint", "empty.fatbin");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "fatbin 1: not read: damaged: its header has 0 bytes"));
    assert_non_null(strstr(outcome.err, "in 1 module read"));
    outcome_free(&outcome);
}

/* An entry whose header says that it holds machine code, or PTX, of no bytes. */
static void an_image_of_no_bytes_is_said(void **state)
{
    (void)state;
    for (uint32_t kind = 1; kind <= 2; kind++) {
        const uint32_t fatbin[4] = {0xba55ed50, 0x00100001, 64};
        const uint32_t entry[16] = {0x01010000 | kind, 64, 0, 0, 0, 0, 0, 90};
        struct buffer code = {.count = 0};
        append(&code, fatbin, sizeof fatbin);
        append(&code, entry, sizeof entry);
        append_image(&code, "machine_code");
        save("empty.fatbin", &code);
        check(WSDBG("lint", "empty.fatbin"), 0, "fatbin 1 sm_90: not read: an image of no bytes");
    }
}

static void a_file_that_was_cut_is_an_error(void **state)
{
    (void)state;
    struct buffer code = {.count = 0}, object;
    append_image(&code, "machine_code");
    wrap(&code, &object);
    for (size_t left = 1; left < object.count; left += 37) {
        write_file("cut.o", (const char *)object.bytes, left);
        struct outcome outcome = WSDBG("lint", "cut.o");
        if (outcome.status != 125 || count_lines(outcome.err) > 3)
            fail_msg("%zu of %zu bytes: %d: %s", left, object.count, outcome.status, outcome.err);
        outcome_free(&outcome);
    }
}

static void an_archive_is_read_member_by_member(void **state)
{
    (void)state;
    struct buffer code = {.count = 0}, object, archive = {.count = 0};
    char header[64];
    append_image(&code, "machine_code");
    wrap(&code, &object);
    append(&archive, "!<arch>\n", 8);
    for (int i = 0; i < 2; i++) {
        snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", i ? "two.o/" : "one.o/", 0, 0, 0, 644,
                 object.count);
        append(&archive, header, 60);
        append(&archive, object.bytes, object.count);
        append(&archive, "\n", object.count % 2);
    }
    save("all.a", &archive);
    check(WSDBG("lint", "all.a"), 0, "in 2 modules read");
    write_file("cut.a", (const char *)archive.bytes, archive.count - 100);
    check(WSDBG("lint", "cut.a"), 125, "cut short");
}

static void the_exit_status_follows_fail_on(void **state)
{
    (void)state;
    struct outcome outcome = WSDBG("lint", DEFECT);
    assert_int_equal(outcome.status, 1);
    assert_non_null(strstr(outcome.out, "architecture.ptx:14: error: "));
    assert_non_null(strstr(outcome.out, "[ARCH_MISMATCH]\n    in kernel defect\n"));
    outcome_free(&outcome);
    check(WSDBG("lint", "--fail-on", "never", DEFECT), 0, "1 error");
    check(WSDBG("lint", "--suppress", "REGS_BUDGET,ARCH_MISMATCH", DEFECT), 0, "0 errors");
    check(WSDBG("lint", "--suppress", "NO_SUCH", DEFECT), 125, "--suppress NO_SUCH: no such code; docs/CAUSES.md");
    check(WSDBG("lint", "--suppress", "arch_mismatch,Regs_Budget", DEFECT), 0, "0 errors");
    check(WSDBG("lint", "--suppress", " arch_mismatch, REGS_BUDGET,", DEFECT), 0, "0 errors");
    check(WSDBG("lint", "--suppress", "regs_budgt", DEFECT), 125,
          "regs_budgt: no such code; did you mean REGS_BUDGET?");
    check(WSDBG("lint", "--suppress", "TX_MISMATCH,WGMMA_SPILLED", DEFECT), 125,
          "WGMMA_SPILLED: no such code; did you mean WGMMA_SPILL?");
    check(WSDBG("lint", DEFECT, "none"), 125, "none");
}

static void json_follows_its_schema(void **state)
{
    (void)state;
    json_t *schema = schema_load("lint.schema.json");
    struct outcome outcome = WSDBG("lint", "--json", DEFECT, "none", IMAGES "default.fatbin");
    json_t *root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    schema_check(schema, root, "lint");
    assert_int_equal(json_array_size(json_object_get(root, "files")), 3);
    json_t *finding = json_array_get(json_object_get(root, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(finding, "code")), "ARCH_MISMATCH");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(finding, "place"), "ptx_line")), 14);
    json_decref(root);
    json_decref(schema);
    outcome_free(&outcome);
}

static const char *text_of(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    assert_non_null(text);
    return text;
}

/* What SARIF 2.1.0 requires of a log, a run, a tool's rules, a result and an invocation. */
static void sarif_has_what_the_standard_requires(void **state)
{
    (void)state;
    struct outcome outcome = WSDBG("lint", "--sarif", "found.sarif", DEFECT, "none");
    assert_int_equal(outcome.status, 125);
    assert_non_null(strstr(outcome.out, "[ARCH_MISMATCH]"));
    outcome_free(&outcome);
    json_t *log = json_load_file("found.sarif", 0, NULL);
    assert_non_null(log);
    assert_string_equal(text_of(log, "version"), "2.1.0");
    json_t *run = json_array_get(json_object_get(log, "runs"), 0);
    json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
    text_of(driver, "name");
    json_t *rules = json_object_get(driver, "rules"), *result = json_array_get(json_object_get(run, "results"), 0);
    json_t *rule = json_array_get(rules, (size_t)json_integer_value(json_object_get(result, "ruleIndex")));
    assert_string_equal(text_of(rule, "id"), "ARCH_MISMATCH");
    assert_string_equal(text_of(json_object_get(rule, "shortDescription"), "text"),
                        "Code for sm_90a meets another device (the \"a\" binds it to this one architecture), or a "
                        "kernel that needs sm_90a was compiled for sm_90.");
    assert_string_equal(text_of(json_object_get(rule, "help"), "text"),
                        "Compile a kernel that needs sm_90a for sm_90a, and a separate kernel for each newer device.");
    assert_string_equal(text_of(result, "ruleId"), "ARCH_MISMATCH");
    assert_string_equal(text_of(result, "level"), "error");
    text_of(json_object_get(result, "message"), "text");
    json_t *location = json_array_get(json_object_get(result, "locations"), 0);
    json_t *physical = json_object_get(location, "physicalLocation");
    assert_non_null(strstr(text_of(json_object_get(physical, "artifactLocation"), "uri"), "file:///"));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(physical, "region"), "startLine")), 14);
    json_t *invocation = json_array_get(json_object_get(run, "invocations"), 0);
    assert_true(json_is_false(json_object_get(invocation, "executionSuccessful")));
    json_decref(log);
    check(WSDBG("lint", "--json", "--sarif", "-", DEFECT), 125, "both be written to stdout");
}

static void a_sarif_log_replaces_a_log_and_no_other_file(void **state)
{
    (void)state;
    write_file("mistaken", "another file\n", 13);
    check(WSDBG("lint", "--sarif", "mistaken", DEFECT), 125, "mistaken exists already and is no SARIF log");
    char kept[16] = "";
    FILE *file = fopen("mistaken", "r");
    assert_non_null(file);
    assert_non_null(fgets(kept, sizeof kept, file));
    fclose(file);
    assert_string_equal(kept, "another file\n");
    for (int again = 0; again < 2; again++) {
        struct outcome outcome = WSDBG("lint", "--sarif", "again.sarif", DEFECT);
        assert_int_equal(outcome.status, 1);
        outcome_free(&outcome);
    }
}

static void sarif_explains_every_code_in_a_few_sentences(void **state)
{
    (void)state;
    for (unsigned code = 0; code < WSDBG_LINT_CODE_COUNT; code++) {
        const char *name = wsdbg_lint_code_name((enum wsdbg_lint_code)code);
        char *meaning = wsdbg_cause_page_paragraph(name, NULL), *fix = wsdbg_cause_page_paragraph(name, "Fix");
        assert_non_null(meaning);
        assert_non_null(fix);
        if (strlen(meaning) < 40 || strlen(meaning) > 600 || strlen(fix) < 20 || strlen(fix) > 400)
            fail_msg("%s: \"%s\", \"%s\"", name, meaning, fix);
        free(meaning);
        free(fix);
    }
    struct outcome clean = WSDBG("lint", "--sarif", "-", IMAGES "machine_code.fatbin");
    assert_int_equal(clean.status, 0);
    assert_true(strlen(clean.out) < 400);
    outcome_free(&clean);
}

/* lines.fatbin has a finding with a line; here it is there three times. */
static void what_variants_of_a_kernel_share_is_said_once(void **state)
{
    (void)state;
    struct buffer code = {.count = 0}, object;
    for (int i = 0; i < 3; i++)
        append_image(&code, "lines");
    wrap(&code, &object);
    save("three.o", &object);
    struct outcome outcome = WSDBG("lint", "--sarif", "three.sarif", "three.o");
    const char *said = strstr(outcome.out, "[BARRIER_NOT_INIT]\n    in kernel other+0xa0\n"
                                           "    also in 2 more kernels: other (fatbin 2 sm_90a), other (fatbin 3 "
                                           "sm_90a)\n");
    if (!said || strstr(said + 1, "[BARRIER_NOT_INIT]\n    in kernel other+0xa0\n"))
        fail_msg("%s", outcome.out);
    assert_non_null(strstr(outcome.err, "in 3 modules read, 6 judged: 9 errors"));
    outcome_free(&outcome);
    json_t *log = json_load_file("three.sarif", 0, NULL);
    json_t *run = json_array_get(json_object_get(log, "runs"), 0), *results = json_object_get(run, "results");
    assert_int_equal(json_array_size(results), 3);
    json_t *first = json_array_get(results, 0);
    assert_int_equal(json_integer_value(json_object_get(first, "occurrenceCount")), 3);
    json_decref(log);
    outcome = WSDBG("lint", "--json", "three.o");
    json_t *root = json_loads(outcome.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "findings")), 9);
    json_decref(root);
    outcome_free(&outcome);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_gpu_code),
        TEST(other_architectures_are_counted_and_the_rest_is_read),
        TEST(every_packing_is_unpacked),
        TEST(an_object_of_the_host_holds_several_modules),
        TEST(images_that_a_program_carries_as_data_are_found_once),
        TEST(a_damaged_module_among_good_ones_is_said),
        TEST(a_fatbin_of_no_bytes_ends),
        TEST(an_image_of_no_bytes_is_said),
        TEST(a_file_that_was_cut_is_an_error),
        TEST(an_archive_is_read_member_by_member),
        TEST(the_exit_status_follows_fail_on),
        TEST(json_follows_its_schema),
        TEST(sarif_has_what_the_standard_requires),
        TEST(a_sarif_log_replaces_a_log_and_no_other_file),
        TEST(sarif_explains_every_code_in_a_few_sentences),
        TEST(what_variants_of_a_kernel_share_is_said_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
