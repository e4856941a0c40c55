/* core_write_blocks.c - registers and memory in a core dump that is being written; see core_writer.h.
 *
 * What was read of one block is put together where it touches; each piece is a section that says where it begins.
 * Constant banks lie in global memory, at addresses that no GPU has. */
#include <stdlib.h>

#include "machine/core_writer.h"

#define BANK_ADDRESS(grid, bank) (UINT64_C(0xC000000000000000) | (uint64_t)(grid) << 40 | (uint64_t)(bank) << 32)

static int compare_reads(const void *a, const void *b)
{
    const struct wsdbg_machine_read *one = *(const struct wsdbg_machine_read *const *)a;
    const struct wsdbg_machine_read *other = *(const struct wsdbg_machine_read *const *)b;
    const uint64_t mine[] = {one->kind, one->subject, one->part, one->first};
    const uint64_t theirs[] = {other->kind, other->subject, other->part, other->first};
    size_t i = 0;
    while (i < 3 && mine[i] == theirs[i])
        i++;
    return (mine[i] > theirs[i]) - (mine[i] < theirs[i]);
}

static bool is_row(const struct wsdbg_machine *machine, const struct wsdbg_machine_read *read)
{
    const size_t rows[] = {[WSDBG_READ_REGISTERS] = machine->warp_count,
                           [WSDBG_READ_UNIFORM] = machine->warp_count,
                           [WSDBG_READ_PREDICATES] = machine->warp_count,
                           [WSDBG_READ_SHARED] = machine->cta_count,
                           [WSDBG_READ_GLOBAL] = SIZE_MAX,
                           [WSDBG_READ_CONSTANT] = machine->grid_count,
                           [WSDBG_READ_LOCAL] = machine->warp_count};
    return (size_t)read->kind < sizeof rows / sizeof *rows && read->subject < rows[read->kind];
}

static struct wsdbg_error *order_reads(struct core_writer *writer, const struct wsdbg_machine_reads *reads)
{
    writer->reads = core_out_block(writer->out, (reads->count + 1) * sizeof *writer->reads);
    if (!writer->reads)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < reads->count; i++)
        if (is_row(writer->machine, &reads->rows[i]))
            writer->reads[writer->read_count++] = &reads->rows[i];
    qsort(writer->reads, writer->read_count, sizeof *writer->reads, compare_reads);
    return NULL;
}

static bool same_block(const struct wsdbg_machine_read *one, const struct wsdbg_machine_read *other)
{
    return one->kind == other->kind && one->subject == other->subject && one->part == other->part;
}

/* Bytes of one block without a gap: reads [first, end) of the order. */
struct piece {
    size_t first, end;
    uint64_t address, byte_count;
};

static struct piece next_piece(const struct core_writer *writer, size_t first)
{
    const struct wsdbg_machine_read *head = writer->reads[first];
    struct piece piece = {first, first + 1, head->first, head->byte_count};
    for (; piece.end < writer->read_count && same_block(head, writer->reads[piece.end]); piece.end++) {
        const struct wsdbg_machine_read *read = writer->reads[piece.end];
        if (read->first > piece.address + piece.byte_count)
            break;
        if (read->first + read->byte_count > piece.address + piece.byte_count)
            piece.byte_count = read->first + read->byte_count - piece.address;
    }
    return piece;
}

static void copy_piece(const struct core_writer *writer, const struct wsdbg_machine_reads *reads,
                       const struct piece *piece, unsigned char *out)
{
    for (size_t i = piece->first; i < piece->end; i++) {
        const struct wsdbg_machine_read *read = writer->reads[i];
        memcpy(out + (read->first - piece->address), reads->bytes + read->offset, read->byte_count);
    }
}

/* The driver writes a word for each predicate, and one for PT, which is always true. */
static struct wsdbg_error *write_predicates(struct core_writer *writer, struct core_place owner,
                                            const unsigned char *bytes)
{
    enum { WORDS = 8 };
    uint32_t mask;
    memcpy(&mask, bytes, sizeof mask);
    uint32_t *words = core_out_block(writer->out, WORDS * sizeof *words);
    if (!words)
        return &wsdbg_error_no_memory;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = i == WORDS - 1 || (mask >> i & 1);
    const struct core_section section = {.kind = CORE_PREDICATES,
                                         .name = ".cudbg.pred",
                                         .owner = owner,
                                         .bytes = words,
                                         .byte_count = WORDS * sizeof *words,
                                         .row_bytes = sizeof *words};
    return core_out_section(writer->out, &section, NULL);
}

static struct core_place lane_place(const struct core_writer *writer, uint32_t warp, uint32_t lane)
{
    const uint32_t before = writer->machine->warps[warp].valid_lanes & ((1u << lane) - 1);
    return (struct core_place){writer->lane_tables[warp], (uint32_t)__builtin_popcount(before)};
}

static struct wsdbg_error *write_piece(struct core_writer *writer, const struct wsdbg_machine_reads *reads,
                                       const struct piece *piece)
{
    const struct wsdbg_machine_read *head = writer->reads[piece->first];
    unsigned char *bytes = core_out_block(writer->out, piece->byte_count);
    if (!bytes)
        return &wsdbg_error_no_memory;
    copy_piece(writer, reads, piece, bytes);
    struct core_section section = {.address = piece->address, .bytes = bytes, .byte_count = piece->byte_count};
    switch (head->kind) {
    case WSDBG_READ_REGISTERS:
        section.kind = CORE_REGISTERS;
        section.name = ".cudbg.regs";
        section.owner = lane_place(writer, head->subject, head->part);
        section.row_bytes = 4;
        break;
    case WSDBG_READ_UNIFORM:
        section.kind = CORE_UNIFORM;
        section.name = ".cudbg.uregs";
        section.owner = writer->warps[head->subject];
        section.row_bytes = 4;
        break;
    case WSDBG_READ_PREDICATES:
        return write_predicates(writer, lane_place(writer, head->subject, head->part), bytes);
    case WSDBG_READ_SHARED:
        section.kind = CORE_SHARED;
        section.name = ".cudbg.shared";
        section.owner = writer->ctas[head->subject];
        break;
    case WSDBG_READ_LOCAL:
        section.kind = CORE_LOCAL;
        section.name = ".cudbg.local";
        section.owner = lane_place(writer, head->subject, head->part);
        break;
    case WSDBG_READ_GLOBAL:
    case WSDBG_READ_CONSTANT:
        section.kind = CORE_GLOBAL;
        section.name = ".cudbg.global";
        if (head->kind == WSDBG_READ_CONSTANT)
            section.address += BANK_ADDRESS(head->subject, head->part);
        break;
    }
    return core_out_section(writer->out, &section, NULL);
}

/* Where each grid's banks lie: the constants read of it are neighbours in the order. */
static struct wsdbg_error *write_banks(struct core_writer *writer)
{
    enum { BANKS = 32 };
    for (size_t i = 0; i < writer->read_count;) {
        const struct wsdbg_machine_read *head = writer->reads[i];
        uint64_t ends[BANKS] = {0};
        size_t end = i;
        for (; end < writer->read_count && writer->reads[end]->kind == head->kind &&
               writer->reads[end]->subject == head->subject;
             end++) {
            const struct wsdbg_machine_read *read = writer->reads[end];
            if (read->part < BANKS && read->first + read->byte_count > ends[read->part])
                ends[read->part] = read->first + read->byte_count;
        }
        i = end;
        if (head->kind != WSDBG_READ_CONSTANT)
            continue;
        struct core_rows table;
        uint32_t number;
        struct wsdbg_error *error = core_out_begin_rows(writer->out, CORE_BANK_BYTES, BANKS, &table);
        for (uint32_t bank = 0; !error && bank < BANKS; bank++) {
            if (!ends[bank])
                continue;
            const struct core_new_row row = core_out_add_row(&table);
            core_put_u64(row, CORE_BANK_ADDRESS_U64, BANK_ADDRESS(head->subject, bank));
            core_put_u32(row, CORE_BANK_SIZE, (uint32_t)ends[bank]);
            core_put_u32(row, CORE_BANK_NUMBER, bank);
        }
        if (!error)
            error = core_out_end_rows(writer->out, CORE_BANKS, ".cudbg.cbankstbl", writer->grids[head->subject], &table,
                                      &number);
        if (error)
            return error;
    }
    return NULL;
}

struct wsdbg_error *core_write_blocks(struct core_writer *writer, const struct wsdbg_machine_reads *reads)
{
    struct wsdbg_error *error = order_reads(writer, reads);
    if (!error)
        error = write_banks(writer);
    for (size_t i = 0; !error && i < writer->read_count;) {
        const struct piece piece = next_piece(writer, i);
        error = write_piece(writer, reads, &piece);
        i = piece.end;
    }
    return error;
}
