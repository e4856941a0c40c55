/* split_warp.c - see split_warp.h.  Reads a cubin; writes a machine. */
#include "machine/split_warp.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/cubin.h"
#include "sass/thread_step.h"

enum { LANES = WSDBG_MACHINE_LANES, PASSES = 600, PARAMETERS_AT = 0x210, GRID_AT = 0xc, JUNK = 0x5eed };
enum { ATOMIC_EXCHANGE = 8, ATOMIC_ADD = 0 };
#define CODE_AT UINT64_C(0x7f1000000000)

struct split {
    struct wsdbg_machine machine;
    struct split_launch launch;
    char *image; /* with addresses */
    struct wsdbg_graph *graph;
    uint32_t pc[LANES]; /* instructions */
    uint32_t live, reads;
    struct wsdbg_thread_state lanes[LANES];
    uint32_t joined[WSDBG_MACHINE_BARRIERS]; /* lanes that B0..B15 wait for */
};

/* ---- memory and launch ---- */

static uint32_t *word_at(struct split *split, uint64_t address)
{
    const uint64_t offset = address - SPLIT_MEMORY;
    return offset < sizeof split->launch.memory ? &split->launch.memory[offset / 4] : NULL;
}

static bool constant(void *context, unsigned bank, uint32_t offset, uint32_t *value)
{
    const struct split *split = context;
    const uint32_t ones[] = {1, 1, 1};
    *value = 0;
    if (!bank && offset < 12)
        *value = split->launch.block[offset / 4];
    else if (!bank && offset - GRID_AT < sizeof ones)
        *value = ones[(offset - GRID_AT) / 4];
    else if (!bank && offset - PARAMETERS_AT < SPLIT_PARAMETERS_BYTES)
        memcpy(value, (const char *)split->launch.parameters + (offset - PARAMETERS_AT), sizeof *value);
    else if (bank == 4) /* addresses of what the module has in memory */
        *value = (uint32_t)(offset % 8 ? SPLIT_MEMORY >> 32 : SPLIT_MEMORY);
    return true;
}

struct lane_world {
    struct split *split;
    uint32_t lane;
};

static bool constant_of_lane(void *context, unsigned bank, uint32_t offset, uint32_t *value)
{
    return constant(((struct lane_world *)context)->split, bank, offset, value);
}

static uint32_t thread_of(const struct split *split, uint32_t lane, unsigned dimension)
{
    const uint32_t *block = split->launch.block;
    const uint32_t place[] = {lane % block[0], lane / block[0] % block[1], lane / block[0] / block[1]};
    return place[dimension];
}

static bool special_of_lane(void *context, uint32_t number, uint32_t *value)
{
    const struct lane_world *world = context;
    *value = number == 0                    ? world->lane
             : number >= 33 && number <= 35 ? thread_of(world->split, world->lane, number - 33)
             : number == 37                 ? world->split->launch.cta_x
                                            : 0;
    return true;
}

/* ---- one instruction ---- */

static const struct wsdbg_operand *memory_of(const struct wsdbg_instruction *in)
{
    for (unsigned i = 0; i < in->source_count; i++)
        if (in->sources[i].kind == WSDBG_OPERAND_MEMORY)
            return &in->sources[i];
    return NULL;
}

static uint32_t value_of(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand)
{
    const struct wsdbg_thread_world none = {0};
    uint32_t value = JUNK;
    wsdbg_thread_operand(state, &none, operand, 0, &value);
    return value;
}

static void fill(struct wsdbg_thread_state *state, const struct wsdbg_instruction *in, const uint32_t *words)
{
    for (unsigned i = 0; i < in->destination_count; i++)
        for (unsigned part = 0; in->destinations[i].kind == WSDBG_OPERAND_REGISTER && part < in->width_bytes / 4u;
             part++) {
            const unsigned reg = wsdbg_register_of(&in->destinations[i], part);
            if (reg == WSDBG_REGISTER_NONE)
                continue;
            state->known[reg] = true;
            state->value[reg] = words[part];
        }
}

static void access_memory(struct split *split, const struct wsdbg_instruction *in, struct wsdbg_thread_state *state)
{
    uint64_t address = 0;
    uint32_t *const word = wsdbg_thread_address(state, memory_of(in), &address) ? word_at(split, address) : NULL;
    if (!word)
        return;
    const uint32_t was[2] = {word[0], word[1]};
    const unsigned operation = in->words[1] >> 23 & 15;
    switch (in->operation) {
    case WSDBG_OP_ATOM:
    case WSDBG_OP_ATOMG:
        if (in->source_count > 2 ? word[0] == value_of(state, &in->sources[1]) : operation == ATOMIC_EXCHANGE)
            word[0] = value_of(state, &in->sources[in->source_count > 2 ? 2 : 1]);
        else if (in->source_count == 2 && operation == ATOMIC_ADD)
            word[0] += value_of(state, &in->sources[1]);
        break;
    case WSDBG_OP_ST:
    case WSDBG_OP_STG:
        word[0] = value_of(state, &in->sources[1]);
        break;
    default:
        break;
    }
    fill(state, in, was);
}

static bool is_memory_access(const struct wsdbg_instruction *in)
{
    return wsdbg_operation_is_global_access(in->operation);
}

/* ---- lanes together ---- */

static bool are_together(const struct split *split, uint32_t lane)
{
    for (uint32_t other = 0; other < LANES; other++)
        if (split->live >> other & 1 && split->pc[other] != split->pc[lane])
            return false;
    return true;
}

static bool all_stand_at(const struct split *split, enum wsdbg_operation operation)
{
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (split->live >> lane & 1 && wsdbg_graph_instruction(split->graph, split->pc[lane])->operation != operation)
            return false;
    return true;
}

/* The lanes that the convergence barrier has are all here. */
static bool is_joined(const struct split *split, uint32_t lane, unsigned barrier)
{
    for (uint32_t other = 0; other < LANES; other++)
        if ((split->joined[barrier] & split->live) >> other & 1 && split->pc[other] != split->pc[lane])
            return false;
    return true;
}

static bool is_blocked(const struct split *split, uint32_t lane)
{
    const struct wsdbg_instruction *in = wsdbg_graph_instruction(split->graph, split->pc[lane]);
    if (in->operation == WSDBG_OP_WARPSYNC)
        return !all_stand_at(split, WSDBG_OP_WARPSYNC);
    return in->operation == WSDBG_OP_BSYNC && !is_joined(split, lane, in->sources[0].number);
}

/* Taken or not, by its guard, or by whether the warp has come apart. */
static bool takes_branch(const struct split *split, uint32_t lane, const struct wsdbg_instruction *in)
{
    const enum wsdbg_truth guard = wsdbg_thread_executes(&split->lanes[lane], in);
    assert_int_not_equal(guard, WSDBG_TRUTH_UNKNOWN);
    const bool asks_split = in->source_count && in->sources[0].kind == WSDBG_OPERAND_UNIFORM;
    return guard == WSDBG_TRUTH_YES && (!asks_split || !are_together(split, lane));
}

static void set(struct wsdbg_thread_state *state, const struct wsdbg_operand *operand, uint32_t value)
{
    const unsigned reg = wsdbg_register_of(operand, 0);
    if (reg == WSDBG_REGISTER_NONE)
        return;
    state->known[reg] = true;
    state->value[reg] = value;
}

/* What lanes that are together make together; false for all that a lane does alone. */
static bool execute_together(struct split *split, uint32_t lane, const struct wsdbg_instruction *in)
{
    struct wsdbg_thread_state *state = &split->lanes[lane];
    uint32_t mask = 0;
    for (uint32_t other = 0; other < LANES; other++)
        if (split->live >> other & 1 && split->pc[other] == split->pc[lane])
            mask |= 1u << other;
    switch (in->operation) {
    case WSDBG_OP_ELECT:
        set(state, &in->destinations[0], lane == (uint32_t)__builtin_ctz(mask));
        return true;
    case WSDBG_OP_VOTEU: /* .ANY of PT */
        set(state, &in->destinations[0], mask);
        return true;
    case WSDBG_OP_FLO:
    case WSDBG_OP_UFLO:
        set(state, &in->destinations[0], 31 - (uint32_t)__builtin_clz(value_of(state, &in->sources[0])));
        return true;
    case WSDBG_OP_SHFL:
        set(state, &in->destinations[1],
            value_of(&split->lanes[value_of(state, &in->sources[1]) % LANES], &in->sources[0]));
        return true;
    default:
        return false;
    }
}

static void execute(struct split *split, uint32_t lane, uint32_t *next)
{
    const struct wsdbg_instruction *in = wsdbg_graph_instruction(split->graph, split->pc[lane]);
    struct wsdbg_thread_state *state = &split->lanes[lane];
    struct lane_world of_lane = {split, lane};
    const struct wsdbg_thread_world world = {
        .context = &of_lane, .constant = constant_of_lane, .special = special_of_lane};
    const bool executes = wsdbg_thread_executes(state, in) == WSDBG_TRUTH_YES;
    *next = split->pc[lane] + 1;
    if (in->operation == WSDBG_OP_BRA && takes_branch(split, lane, in))
        *next = (uint32_t)(split->pc[lane] + in->target_offset_bytes / WSDBG_INSTRUCTION_BYTES);
    else if (in->operation == WSDBG_OP_EXIT && executes)
        split->live &= ~(1u << lane);
    else if (in->operation == WSDBG_OP_BSSY)
        split->joined[in->destinations[0].number] |= 1u << lane;
    else if (is_memory_access(in) && executes)
        access_memory(split, in, state);
    else if (!executes || !execute_together(split, lane, in))
        wsdbg_thread_step(in, &world, state);
}

static void pass(struct split *split)
{
    uint32_t next[LANES], going = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (split->live >> lane & 1 && !is_blocked(split, lane))
            going |= 1u << lane;
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (going >> lane & 1)
            execute(split, lane, &next[lane]);
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (going >> lane & 1)
            split->pc[lane] = next[lane];
}

/* ---- the machine ---- */

static struct wsdbg_error *registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                     uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct split *split = (struct split *)machine;
    (void)warp;
    split->reads++;
    *known_count = split->launch.no_registers_of >> lane & 1 ? 0 : count;
    for (uint32_t i = 0; i < *known_count; i++)
        out[i] =
            first + i < WSDBG_RZ && split->lanes[lane].known[first + i] ? split->lanes[lane].value[first + i] : JUNK;
    return NULL;
}

static struct wsdbg_error *uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                             uint32_t count, uint32_t *out, uint32_t *known_count)
{
    (void)warp;
    (void)first;
    (void)machine;
    *known_count = count;
    memset(out, 0x5e, count * sizeof *out);
    return NULL;
}

static struct wsdbg_error *predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                      bool *known)
{
    const struct wsdbg_thread_state *state = &((struct split *)machine)->lanes[lane];
    (void)warp;
    *known = true;
    *mask = 0;
    for (unsigned i = 0; i < WSDBG_PT; i++)
        *mask |= (state->value[WSDBG_REGISTER_PREDICATE + i] & 1) << i;
    return NULL;
}

static struct wsdbg_error *shared(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    (void)machine;
    (void)cta;
    (void)address;
    memset(out, 0, byte_count);
    *known = true;
    return NULL;
}

static struct wsdbg_error *global(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    const uint32_t *word = word_at((struct split *)machine, address);
    (void)context;
    *known = word != NULL;
    if (word)
        memcpy(out, word, byte_count);
    return NULL;
}

static struct wsdbg_error *machine_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank,
                                            uint32_t offset, void *out, uint32_t byte_count, bool *known)
{
    (void)grid;
    for (uint32_t i = 0; i < byte_count / 4; i++)
        constant(machine, bank, offset + 4 * i, (uint32_t *)out + i);
    *known = true;
    return NULL;
}

static void close_machine(struct wsdbg_machine *machine)
{
    struct split *split = (struct split *)machine;
    wsdbg_graph_destroy(split->graph);
    wsdbg_machine_deinit(machine);
    free(split->image);
    free(split);
}

/* Puts the code of every function where a driver might have loaded it. */
static void relocate(char *bytes)
{
    const Elf64_Ehdr *file = (const Elf64_Ehdr *)bytes;
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + file->e_shoff);
    for (unsigned i = 0; i < file->e_shnum; i++)
        if (sections[i].sh_flags & SHF_EXECINSTR)
            sections[i].sh_addr = CODE_AT + ((uint64_t)i << 20);
    for (unsigned i = 0; i < file->e_shnum; i++) {
        Elf64_Sym *symbols = (Elf64_Sym *)(bytes + sections[i].sh_offset);
        const size_t count = sections[i].sh_type == SHT_SYMTAB ? sections[i].sh_size / sizeof *symbols : 0;
        for (size_t s = 0; s < count; s++)
            if (symbols[s].st_shndx < file->e_shnum && sections[symbols[s].st_shndx].sh_flags & SHF_EXECINSTR)
                symbols[s].st_value += sections[symbols[s].st_shndx].sh_addr;
    }
}

static uint64_t load(struct split *split, const struct wsdbg_image *cubin)
{
    uint64_t entry = 0;
    struct wsdbg_cubin *opened;
    split->image = malloc(cubin->byte_count);
    assert_non_null(split->image);
    memcpy(split->image, cubin->bytes, cubin->byte_count);
    relocate(split->image);
    const struct wsdbg_image image = {(const unsigned char *)split->image, cubin->byte_count};
    assert_null(wsdbg_cubin_open(&image, &opened));
    for (size_t i = 0; i < wsdbg_cubin_function_count(opened); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(opened, i);
        if (strcmp(function->name, split->launch.kernel) != 0)
            continue;
        assert_null(wsdbg_graph_create_of_function(function, &split->graph));
        entry = function->address;
    }
    wsdbg_cubin_close(opened);
    assert_int_not_equal(entry, 0);
    return entry;
}

static void add_cta(struct split *split, uint64_t entry, uint32_t cta)
{
    struct wsdbg_machine_warp *warp = &split->machine.warps[cta];
    split->machine.ctas[cta] =
        (struct wsdbg_machine_cta){.sm = cta, .x = split->launch.cta_x + cta, .warp_first = cta, .warp_count = 1};
    *warp = (struct wsdbg_machine_warp){.cta = cta, .valid_lanes = split->live, .active_lanes = split->live};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        warp->lanes[lane].pc = entry + (uint64_t)split->pc[lane] * WSDBG_INSTRUCTION_BYTES;
        for (unsigned i = 0; i < 3; i++)
            warp->lanes[lane].thread[i] = thread_of(split, lane, i);
    }
}

static void add_rows(struct split *split, uint64_t entry, size_t image_bytes)
{
    static const struct wsdbg_machine_ops ops = {.registers = registers,
                                                 .uniform_registers = uniform_registers,
                                                 .predicates = predicates,
                                                 .shared = shared,
                                                 .global = global,
                                                 .constant = machine_constant,
                                                 .close = close_machine};
    struct wsdbg_machine *machine = &split->machine;
    *machine = (struct wsdbg_machine){.ops = &ops, .source = "core", .device_count = 1, .context_count = 1};
    machine->devices = calloc(1, sizeof *machine->devices);
    machine->contexts = calloc(1, sizeof *machine->contexts);
    machine->modules = calloc(machine->module_count = 1, sizeof *machine->modules);
    machine->grids = calloc(machine->grid_count = 1, sizeof *machine->grids);
    machine->cta_count = machine->warp_count = split->launch.ctas ? split->launch.ctas : 1;
    machine->ctas = calloc(machine->cta_count, sizeof *machine->ctas);
    machine->warps = calloc(machine->warp_count, sizeof *machine->warps);
    machine->modules[0] =
        (struct wsdbg_machine_module){.handle = 1, .image = {(const unsigned char *)split->image, image_bytes}};
    machine->grids[0] = (struct wsdbg_machine_grid){.grid_id = 1, .function_entry = entry, .grid = {1, 1, 1}};
    memcpy(machine->grids[0].block, split->launch.block, sizeof split->launch.block);
    for (uint32_t cta = 0; cta < machine->cta_count; cta++)
        add_cta(split, entry, cta);
}

struct wsdbg_machine *split_warp_run(const struct wsdbg_image *cubin, const struct split_launch *launch)
{
    struct split *split = calloc(1, sizeof *split);
    assert_non_null(split);
    split->launch = *launch;
    split->live = UINT32_MAX;
    const uint64_t entry = load(split, cubin);
    for (unsigned i = 0; i < PASSES; i++)
        pass(split);
    add_rows(split, entry, cubin->byte_count);
    return &split->machine;
}

uint32_t split_warp_reads(const struct wsdbg_machine *machine)
{
    return ((const struct split *)machine)->reads;
}
