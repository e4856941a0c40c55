/* trim_core.c - makes a fixture of a real GPU core dump: trim_core DUMP FIXTURE [FROM TO], with the words FROM in the
 * code's line tables (the folder of whoever compiled it) replaced by TO, which is as long.
 *
 * Kept: every row; the machine code of kernels that run; constant banks; uniform registers and predicates; registers of
 * one lane for each place where lanes of a warp stand, and of the lane that an error was reported of; shared memory in
 * lines of 64 bytes, but only those that hold something like an mbarrier, or nothing.  Left out is what a diagnosis
 * does not ask for: accumulators of the other lanes and tiles of matrices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/reads.h"

enum { LINE_BYTES = 64, REGISTERS = 256, UNIFORM = 64, BANKS = 8, BANK_BYTES = 4096, ARRIVALS_MAX = 1024 };

static void check(struct wsdbg_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "trim_core: %s\n", wsdbg_error_message(error));
    exit(1);
}

static void keep_registers(struct wsdbg_machine *machine, uint32_t number)
{
    const struct wsdbg_machine_warp *warp = &machine->warps[number];
    uint32_t values[REGISTERS], known_count, kept = 0;
    bool known;
    check(machine->ops->uniform_registers(machine, number, 0, UNIFORM, values, &known_count));
    for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++) {
        bool is_new = warp->valid_lanes >> lane & 1;
        if (!is_new)
            continue;
        check(machine->ops->predicates(machine, number, lane, values, &known));
        for (uint32_t other = 0; other < lane; other++)
            is_new = is_new && !((kept >> other & 1) && warp->lanes[other].pc == warp->lanes[lane].pc);
        if (!is_new && !warp->lanes[lane].exception)
            continue;
        kept |= 1u << lane;
        check(machine->ops->registers(machine, number, lane, 0, REGISTERS, values, &known_count));
    }
}

/* An expected and a pending count that a CTA can have, the bits between them as the hardware leaves them. */
static bool like_an_mbarrier(uint64_t word)
{
    const uint32_t expected = (uint32_t) - (word >> 1) & 0xfffff, pending = (uint32_t) - (word >> 43) & 0xfffff;
    return !(word & 1) && (!(word >> 42 & 1) || pending == 0) && expected <= ARRIVALS_MAX && pending <= expected;
}

static bool is_worth_keeping(const uint64_t *words)
{
    bool keep = false;
    for (size_t i = 0; i < LINE_BYTES / sizeof *words; i++)
        keep = keep || like_an_mbarrier(words[i]); /* zero is like one as well */
    return keep;
}

static void keep_shared(struct wsdbg_machine *machine, struct wsdbg_machine_reads *reads, uint32_t cta)
{
    uint64_t words[LINE_BYTES / sizeof(uint64_t)];
    for (uint32_t at = 0; at + LINE_BYTES <= machine->ctas[cta].shared_bytes.value; at += LINE_BYTES) {
        bool known;
        const struct wsdbg_machine_reads before = *reads;
        check(machine->ops->shared(machine, cta, at, words, LINE_BYTES, &known));
        if (known && !is_worth_keeping(words)) {
            reads->count = before.count;
            reads->byte_count = before.byte_count;
        }
    }
}

static void keep_constants(struct wsdbg_machine *machine, uint32_t grid)
{
    uint32_t word;
    bool known;
    for (unsigned bank = 0; bank < BANKS; bank++)
        for (uint32_t offset = 0; offset < BANK_BYTES; offset += sizeof word)
            check(machine->ops->constant(machine, grid, bank, offset, &word, sizeof word, &known));
}

static void replace_words(struct wsdbg_machine *machine, const char *from, const char *to)
{
    const size_t length = strlen(from);
    for (size_t i = 0; i < machine->module_count; i++) {
        struct wsdbg_image *image = &machine->modules[i].image;
        unsigned char *copy = image->byte_count ? malloc(image->byte_count) : NULL;
        if (!copy)
            continue;
        memcpy(copy, image->bytes, image->byte_count);
        for (unsigned char *at = copy; (at = memmem(at, image->byte_count - (size_t)(at - copy), from, length));)
            memcpy(at, to, length);
        image->bytes = copy; /* the program ends soon */
    }
}

int main(int argc, char **argv)
{
    struct wsdbg_machine *dump, *machine;
    struct wsdbg_machine_reads reads = {0};
    if ((argc != 3 && argc != 5) || (argc == 5 && strlen(argv[3]) != strlen(argv[4]))) {
        fprintf(stderr, "usage: trim_core DUMP FIXTURE [FROM TO], TO as long as FROM\n");
        return 2;
    }
    check(wsdbg_machine_open_core(argv[1], &dump));
    if (argc == 5)
        replace_words(dump, argv[3], argv[4]);
    check(wsdbg_machine_recorder(dump, &reads, &machine));
    for (uint32_t i = 0; i < machine->warp_count; i++)
        keep_registers(machine, i);
    for (uint32_t i = 0; i < machine->cta_count; i++)
        keep_shared(machine, &reads, i);
    for (uint32_t i = 0; i < machine->grid_count; i++)
        keep_constants(machine, i);
    check(wsdbg_machine_write_core(machine, &reads, argv[2]));
    machine->ops->close(machine);
    wsdbg_reads_deinit(&reads);
    return 0;
}
