/* core_blocks.c - registers and memory of a machine that lies in a core dump, read from the file where they are asked
 * for.
 *
 * A block begins at its section's sh_addr: 0 in dumps of a driver, where a block is whole; the pieces that
 * wsdbg_machine_write_core keeps say where they begin. */
#include <stdlib.h>

#include "machine/core_machine.h"

static const struct core_machine *core_of(const struct wsdbg_machine *machine)
{
    return (const struct core_machine *)machine;
}

/* The section that holds the byte at `address`, of those given; the one that begins last, where several do. */
static const struct core_section *holder(const struct core_section *sections, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sections[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct core_section *section = low ? &sections[low - 1] : NULL;
    return section && address - section->address < section->byte_count ? section : NULL;
}

/* Reads as much of [address, +byte_count) as one of the sections has from `address` on. */
static struct wsdbg_error *read_block(const struct core_machine *core, const struct core_section *sections,
                                      size_t section_count, uint64_t address, void *out, size_t byte_count, size_t *got)
{
    *got = 0;
    const struct core_section *section = holder(sections, section_count, address);
    if (!section || !byte_count)
        return NULL;
    const uint64_t start = address - section->address, left = section->byte_count - start;
    const size_t there = left < byte_count ? (size_t)left : byte_count;
    struct wsdbg_error *error = core_file_read(core->file, section, start, out, there);
    if (!error)
        *got = there;
    return error;
}

static struct wsdbg_error *read_of(const struct core_machine *core, enum core_section_kind kind,
                                   struct core_place place, uint64_t address, void *out, size_t byte_count, size_t *got)
{
    size_t count;
    const struct core_section *sections = core_file_sections_of(core->file, kind, place.table, place.row, &count);
    return read_block(core, sections, count, address, out, byte_count, got);
}

static struct wsdbg_error *read_words(const struct core_machine *core, enum core_section_kind kind,
                                      struct core_place place, uint32_t first, uint32_t count, uint32_t *out,
                                      uint32_t *known_count)
{
    size_t got;
    struct wsdbg_error *error =
        read_of(core, kind, place, (uint64_t)first * sizeof *out, out, (size_t)count * sizeof *out, &got);
    *known_count = (uint32_t)(got / sizeof *out);
    return error;
}

static bool lane_place(const struct core_machine *core, uint32_t warp, uint32_t lane, struct core_place *out)
{
    if (warp >= core->base.warp_count || lane >= WSDBG_MACHINE_LANES ||
        !(core->base.warps[warp].valid_lanes >> lane & 1))
        return false;
    *out = (struct core_place){core->warps[warp].lane_table, core->warps[warp].lane_rows[lane]};
    return true;
}

static struct wsdbg_error *registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                     uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct core_place place;
    *known_count = 0;
    return lane_place(core_of(machine), warp, lane, &place)
               ? read_words(core_of(machine), CORE_REGISTERS, place, first, count, out, known_count)
               : NULL;
}

static struct wsdbg_error *uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                             uint32_t count, uint32_t *out, uint32_t *known_count)
{
    const struct core_machine *core = core_of(machine);
    *known_count = 0;
    return warp < machine->warp_count
               ? read_words(core, CORE_UNIFORM, core->warps[warp].place, first, count, out, known_count)
               : NULL;
}

static struct wsdbg_error *predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                      bool *known)
{
    enum { PREDICATES = 7 };
    struct core_place place;
    uint32_t values[PREDICATES], known_count = 0;
    *known = false;
    if (!lane_place(core_of(machine), warp, lane, &place))
        return NULL;
    struct wsdbg_error *error =
        read_words(core_of(machine), CORE_PREDICATES, place, 0, PREDICATES, values, &known_count);
    if (error || known_count < PREDICATES)
        return error;
    *mask = 0;
    for (unsigned i = 0; i < PREDICATES; i++)
        *mask |= values[i] ? 1u << i : 0;
    *known = true;
    return NULL;
}

static struct wsdbg_error *shared(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    const struct core_machine *core = core_of(machine);
    size_t got = 0;
    struct wsdbg_error *error =
        cta < machine->cta_count ? read_of(core, CORE_SHARED, core->ctas[cta], address, out, byte_count, &got) : NULL;
    *known = !error && got == byte_count;
    return error;
}

static struct wsdbg_error *local(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t address,
                                 void *out, uint32_t byte_count, bool *known)
{
    struct core_place place;
    size_t got = 0;
    struct wsdbg_error *error = lane_place(core_of(machine), warp, lane, &place)
                                    ? read_of(core_of(machine), CORE_LOCAL, place, address, out, byte_count, &got)
                                    : NULL;
    *known = !error && got == byte_count;
    return error;
}

static struct wsdbg_error *read_global(const struct core_machine *core, uint64_t address, void *out, size_t byte_count,
                                       bool *known)
{
    const enum core_section_kind kinds[] = {CORE_GLOBAL, CORE_MANAGED};
    const struct core_place nobody = {0, 0};
    *known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !*known; i++) {
        size_t got;
        struct wsdbg_error *error = read_of(core, kinds[i], nobody, address, out, byte_count, &got);
        if (error)
            return error;
        *known = got == byte_count;
    }
    return NULL;
}

static struct wsdbg_error *global(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    (void)context;
    return read_global(core_of(machine), address, out, byte_count, known);
}

/* Where a bank of at least `end` bytes lies in global memory. */
static struct wsdbg_error *find_bank(const struct core_machine *core, uint32_t grid, unsigned bank, uint64_t end,
                                     uint64_t *address, bool *found)
{
    enum { BANKS_MAX = 64 };
    size_t sections;
    const struct core_place place = core->grids[grid].place;
    const struct core_section *section =
        core_file_sections_of(core->file, CORE_BANKS, place.table, place.row, &sections);
    for (size_t i = 0; i < sections; i++) {
        unsigned char bytes[CORE_BANK_BYTES];
        if (section[i].row_bytes < sizeof bytes)
            continue;
        const uint64_t rows = section[i].byte_count / section[i].row_bytes;
        for (uint64_t number = 0; number < rows && number < BANKS_MAX; number++) {
            struct wsdbg_error *error =
                core_file_read(core->file, &section[i], number * section[i].row_bytes, bytes, sizeof bytes);
            if (error)
                return error;
            const struct core_row row = {bytes, sizeof bytes};
            if (core_u32(row, CORE_BANK_NUMBER).value != bank || core_u32(row, CORE_BANK_SIZE).value < end)
                continue;
            *address = core_u64(row, CORE_BANK_ADDRESS_U64).value;
            *found = true;
            return NULL;
        }
    }
    return NULL;
}

static struct wsdbg_error *constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                    void *out, uint32_t byte_count, bool *known)
{
    const struct core_machine *core = core_of(machine);
    *known = false;
    if (grid >= machine->grid_count)
        return NULL;
    const uint64_t parameters = core->grids[grid].parameters;
    if (bank == 0 && offset >= parameters) {
        size_t got;
        struct wsdbg_error *error =
            read_of(core, CORE_PARAMETERS, core->grids[grid].place, offset - parameters, out, byte_count, &got);
        *known = !error && got == byte_count;
        if (error || *known)
            return error;
    }
    uint64_t address;
    bool found = false;
    struct wsdbg_error *error = find_bank(core, grid, bank, (uint64_t)offset + byte_count, &address, &found);
    return error || !found ? error : read_global(core, address + offset, out, byte_count, known);
}

static void close_core(struct wsdbg_machine *machine)
{
    struct core_machine *core = (struct core_machine *)machine;
    wsdbg_machine_deinit(machine);
    core_file_close(core->file);
    free(core->devices);
    free(core->contexts);
    free(core->modules);
    free(core->grids);
    free(core->ctas);
    free(core->warps);
    free(core);
}

const struct wsdbg_machine_ops core_machine_ops = {.registers = registers,
                                                   .uniform_registers = uniform_registers,
                                                   .predicates = predicates,
                                                   .shared = shared,
                                                   .global = global,
                                                   .constant = constant,
                                                   .local = local,
                                                   .close = close_core};
