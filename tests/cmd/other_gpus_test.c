/* other_gpus_test.c - GPUs other than sm_90: a dump says where each warp is, by function and source line, and that
 * causes are known for sm_90 only.
 *
 * Makes dumps of such GPUs: rows as synthetic.c makes them, code as nvcc makes it for that GPU, at the address where
 * the dump says that the GPU has it.  No such GPU was ever asked.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "machine/synthetic.h"

#define KERNEL "waits_for_flag"

enum { IMAGE_MOST = 1 << 20, SECOND_INSTRUCTION = 0x10, REGISTERS = 168, WARPS = 4, ONE_THAT_EXITED = 1 };

static const uint32_t gpus[] = {80, 86, 89, 100, 103, 120};
enum { GPU_COUNT = sizeof gpus / sizeof *gpus };

static size_t read_cubin(uint32_t gpu, unsigned char *bytes)
{
    char path[512];
    snprintf(path, sizeof path, WSDBG_CUBINS "/other_gpus_%u.cubin", gpu);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, IMAGE_MOST, file);
    fclose(file);
    assert_in_range(count, sizeof(Elf64_Ehdr), IMAGE_MOST - 1);
    return count;
}

/* As the driver hands it out: the kernel's section and its symbols have the GPU's addresses. */
static void relocate(unsigned char *bytes, uint64_t address)
{
    Elf64_Ehdr *header = (void *)bytes;
    Elf64_Shdr *sections = (void *)(bytes + header->e_shoff);
    const char *names = (char *)bytes + sections[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".text." KERNEL) != 0)
            continue;
        sections[i].sh_addr = address;
        for (unsigned s = 0; s < header->e_shnum; s++) {
            Elf64_Sym *symbols = (void *)(bytes + sections[s].sh_offset);
            for (size_t n = 0; sections[s].sh_type == SHT_SYMTAB && n < sections[s].sh_size / sizeof *symbols; n++)
                symbols[n].st_value += symbols[n].st_shndx == i ? address : 0;
        }
        return;
    }
    fail_msg("no " KERNEL);
}

/* All lanes of all warps stand behind the kernel's first instruction.  exception: of the first warp; 0 = none. */
static void stand_together(struct wsdbg_machine *machine, uint64_t entry, uint32_t exception)
{
    for (size_t i = 0; i < machine->warp_count; i++) {
        machine->warps[i].registers = wsdbg_known_u32(REGISTERS);
        machine->warps[i].error_pc.known = i == 0 && exception;
        machine->warps[i].error_pc.value = entry + SECOND_INSTRUCTION;
        for (unsigned lane = 0; lane < WSDBG_MACHINE_LANES; lane++) {
            machine->warps[i].lanes[lane].pc = entry + SECOND_INSTRUCTION;
            machine->warps[i].lanes[lane].exception = i == 0 ? exception : 0;
        }
    }
}

/* place_bytes: of the first warp, from the kernel's start.  capability: that the dump names, 0 = none. */
static void write_dump_of(const char *path, uint32_t gpu, uint32_t capability, uint32_t exception, unsigned place_bytes)
{
    static unsigned char bytes[IMAGE_MOST] __attribute__((aligned(16)));
    const struct shape shape = {.devices = 1,
                                .ctas_per_device = 2,
                                .warps_per_cta = WARPS,
                                .cluster_size = 1,
                                .capability = capability,
                                .registers = 4};
    struct synthetic *from = synthetic_create(&shape);
    const size_t count = read_cubin(gpu, bytes);
    const uint64_t entry = from->machine.grids[0].function_entry;
    relocate(bytes, entry);
    from->machine.grids[0].block[0] = (WARPS + ONE_THAT_EXITED) * WSDBG_MACHINE_LANES;
    from->machine.modules[0].image = (struct wsdbg_image){bytes, count};
    stand_together(&from->machine, entry, exception);
    for (unsigned lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
        from->machine.warps[0].lanes[lane].pc = entry + place_bytes;
    unlink(path);
    assert_null(wsdbg_machine_write_core(&from->machine, &from->reads, path));
    synthetic_destroy(from);
}

static void write_dump(const char *path, uint32_t gpu, uint32_t exception, unsigned place_bytes)
{
    write_dump_of(path, gpu, gpu, exception, place_bytes);
}

static void check_says(uint32_t gpu, const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("sm_%u: no '%s' in: %s", gpu, words, text);
}

static void check_silent(uint32_t gpu, const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("sm_%u: '%s' in: %s", gpu, words, text);
}

static void a_dump_says_where_warps_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPU_COUNT; i++) {
        char note[128];
        snprintf(note, sizeof note, "the GPU is an sm_%u: only the code of sm_90 is understood", gpus[i]);
        write_dump("dump", gpus[i], 0, SECOND_INSTRUCTION);
        struct outcome outcome = WSDBG("core", "dump");
        assert_int_equal(outcome.status, 0);
        check_says(gpus[i], outcome.out, "UNKNOWN");
        check_says(gpus[i], outcome.out, "causes are known for sm_90 only");
        check_says(gpus[i], outcome.out, KERNEL ", launch ?\n");
        check_says(gpus[i], outcome.out, "2 of 2 CTAs seen, 10 of 10 warps, 2 exited");
        check_says(gpus[i], outcome.out, "  2 CTAs  warps 0-3  ?  UNKNOWN  other_gpus.cu:4\n");
        check_says(gpus[i], outcome.out, "  2 CTAs  warp 4     ?  EXITED\n");
        check_says(gpus[i], outcome.out, note);
        check_silent(gpus[i], outcome.out, "RUNNING");
        check_silent(gpus[i], outcome.out, "SLOW");
        outcome_free(&outcome);
    }
}

static void a_fault_has_its_error_and_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPU_COUNT; i++) {
        write_dump("fault", gpus[i], 14, SECOND_INSTRUCTION);
        struct outcome outcome = WSDBG("core", "fault");
        assert_int_equal(outcome.status, 0);
        check_says(gpus[i], outcome.out,
                   "The GPU stopped warp 0 in CTA (0,0,0) with CUDA_EXCEPTION_14 (illegal address)");
        check_says(gpus[i], outcome.out, "other_gpus.cu:");
        outcome_free(&outcome);
    }
}

/* A loop that waits moves too: it is not called slow. */
static void a_warp_that_moves_may_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPU_COUNT; i++) {
        write_dump("before", gpus[i], 0, SECOND_INSTRUCTION);
        write_dump("after", gpus[i], 0, SECOND_INSTRUCTION + 0x10);
        struct outcome outcome = WSDBG("core", "before", "after");
        assert_int_equal(outcome.status, 0);
        check_says(
            gpus[i], outcome.out,
            "whether it works or goes round a loop that waits is not known: causes are known\n  for sm_90 only.");
        check_silent(gpus[i], outcome.out, "SLOW");
        outcome_free(&outcome);
    }
}

/* As a live look, which does not ask: the code tells. */
static void a_gpu_that_is_not_named_is_told_by_its_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPU_COUNT; i++) {
        char note[128];
        snprintf(note, sizeof note, "the kernel is code for sm_%u: only the code of sm_90 is understood", gpus[i]);
        write_dump_of("unnamed", gpus[i], 0, 0, SECOND_INSTRUCTION);
        struct outcome outcome = WSDBG("core", "unnamed");
        assert_int_equal(outcome.status, 0);
        check_says(gpus[i], outcome.out, note);
        check_says(gpus[i], outcome.out, "  2 CTAs  warps 0-3  ?  UNKNOWN  other_gpus.cu:4\n");
        outcome_free(&outcome);
    }
}

static void no_instruction_of_it_is_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPU_COUNT; i++) {
        write_dump("dump", gpus[i], 0, SECOND_INSTRUCTION);
        unlink("kept.db");
        struct outcome outcome = WSDBG("core", "-o", "kept.db", "dump");
        outcome_free(&outcome);
        outcome = WSDBG("query", "--csv", "kept.db",
                        "SELECT (SELECT count(*) FROM code), (SELECT count(*) FROM access), "
                        "(SELECT count(*) FROM site WHERE instruction IS NOT NULL AND instruction != ''), "
                        "(SELECT count(*) FROM site WHERE line IS NOT NULL) > 0");
        assert_int_equal(outcome.status, 0);
        check_says(gpus[i], outcome.out, "\n0,0,0,1\r\n");
        outcome_free(&outcome);
    }
}

static void lint_says_that_it_reads_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPU_COUNT; i++) {
        char path[512], line[128];
        snprintf(path, sizeof path, WSDBG_CUBINS "/other_gpus_%u.cubin", gpus[i]);
        snprintf(line, sizeof line, "a cubin for sm_%u, only sm_90 is read", gpus[i]);
        struct outcome outcome = WSDBG("lint", path);
        assert_int_equal(outcome.status, 125);
        check_says(gpus[i], outcome.err, line);
        outcome_free(&outcome);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dump_says_where_warps_are, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_fault_has_its_error_and_its_line, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_warp_that_moves_may_wait, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_gpu_that_is_not_named_is_told_by_its_code, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(no_instruction_of_it_is_shown, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(lint_says_that_it_reads_none, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
