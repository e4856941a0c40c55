/* synthetic.c - see synthetic.h. */
#include "machine/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

const char synthetic_image[] = "the code of a kernel";

enum { LAST_LANE = WSDBG_MACHINE_LANES - 1 };

uint64_t synthetic_pc(uint32_t warp, uint32_t lane)
{
    return UINT64_C(0x7f1000000000) + warp * 0x1000 + lane * 0x10;
}

uint32_t synthetic_register(uint32_t warp, uint32_t lane, uint32_t number)
{
    return warp << 16 | lane << 8 | number;
}

uint32_t synthetic_uniform(uint32_t warp, uint32_t number)
{
    return 0x40000000 | warp << 8 | number;
}

uint32_t synthetic_predicates(uint32_t warp, uint32_t lane)
{
    return (warp + lane) % 128;
}

uint64_t synthetic_shared(uint32_t cta, uint32_t address)
{
    return UINT64_C(0x7ffff80000000000) | (uint64_t)cta << 16 | address;
}

uint32_t synthetic_constant(uint32_t grid, unsigned bank, uint32_t offset)
{
    return 0x10000000 | grid << 20 | bank << 16 | offset;
}

uint64_t synthetic_global(uint64_t address)
{
    return address ^ UINT64_C(0x5555555555555555);
}

static void add_devices(struct wsdbg_machine *machine, const struct shape *shape)
{
    const size_t count = shape->devices;
    machine->devices = calloc(count, sizeof *machine->devices);
    machine->contexts = calloc(count, sizeof *machine->contexts);
    machine->modules = calloc(count, sizeof *machine->modules);
    machine->grids = calloc(count, sizeof *machine->grids);
    machine->device_count = machine->context_count = machine->module_count = machine->grid_count = count;
    for (uint32_t i = 0; i < count; i++) {
        machine->devices[i] = (struct wsdbg_machine_device){.ordinal = i,
                                                            .sm_count = wsdbg_known_u32(132),
                                                            .warps_per_sm = wsdbg_known_u32(64),
                                                            .compute_capability = wsdbg_known_u32(shape->capability)};
        snprintf(machine->devices[i].name, sizeof machine->devices[i].name, "GPU number %u", i);
        machine->contexts[i] =
            (struct wsdbg_machine_context){.device = i,
                                           .handle = 0x1000 + i,
                                           .shared_window = wsdbg_known_u64(UINT64_C(0x7f0100000000)),
                                           .local_window = wsdbg_known_u64(UINT64_C(0x7f0200000000))};
        machine->modules[i] =
            (struct wsdbg_machine_module){.context = i,
                                          .handle = 0x2000 + i,
                                          .image = {(const unsigned char *)synthetic_image, strlen(synthetic_image)}};
        machine->grids[i] = (struct wsdbg_machine_grid){
            .device = i,
            .context = i,
            .module = i,
            .grid_id = 7, /* the same on each device */
            .function_entry = synthetic_pc(0, 0),
            .grid = {shape->ctas_per_device, 1, 1},
            .block = {shape->warps_per_cta * WSDBG_MACHINE_LANES, 1, 1},
            .cluster = {wsdbg_known_u32(shape->cluster_size), wsdbg_known_u32(1), wsdbg_known_u32(1)},
            .registers = wsdbg_known_u32(168)};
    }
}

static void add_cta(struct wsdbg_machine *machine, const struct shape *shape, uint32_t device, uint32_t x)
{
    machine->ctas[machine->cta_count++] = (struct wsdbg_machine_cta){
        .grid = device,
        .sm = 2 * x + 1,
        .x = x,
        .cluster_index = {wsdbg_known_u32(x / shape->cluster_size), wsdbg_known_u32(0), wsdbg_known_u32(0)},
        .cluster_size = {wsdbg_known_u32(shape->cluster_size), wsdbg_known_u32(1), wsdbg_known_u32(1)},
        .shared_bytes = wsdbg_known_u32(0x1000),
        .warp_first = (uint32_t)machine->warp_count,
        .warp_count = shape->warps_per_cta};
}

static void add_warp(struct wsdbg_machine *machine, const struct shape *shape, uint32_t index)
{
    const uint32_t number = (uint32_t)machine->warp_count++;
    struct wsdbg_machine_warp *warp = &machine->warps[number];
    *warp = (struct wsdbg_machine_warp){.cta = (uint32_t)machine->cta_count - 1,
                                        .slot = shape->warps_per_cta - 1 - index,
                                        .valid_lanes = ~(1u << LAST_LANE),
                                        .active_lanes = 1,
                                        .registers = wsdbg_known_u32(40 + number % 128),
                                        .exited_lanes = wsdbg_known_u32(1u << LAST_LANE),
                                        .barriers_known = true,
                                        .barriers = {0x80000000 | number}};
    if (number == 0)
        warp->error_pc = wsdbg_known_u64(synthetic_pc(0, 0));
    for (uint32_t lane = 0; lane < LAST_LANE; lane++) {
        warp->lanes[lane] = (struct wsdbg_machine_lane){.pc = synthetic_pc(number, lane),
                                                        .thread = {index * WSDBG_MACHINE_LANES + lane, 0, 0},
                                                        .exception = number == 0 && lane == 3 ? 14 : 0};
        if (!shape->no_lane_states)
            warp->lanes[lane].state = wsdbg_known_u32(WSDBG_LANE_BLOCKED_B0 + lane % 4);
    }
}

static void add_read(struct synthetic *synthetic, enum wsdbg_read_kind kind, uint32_t subject, uint32_t part,
                     uint64_t first, const void *bytes, size_t count)
{
    const struct wsdbg_machine_read read = {
        .kind = kind, .subject = subject, .part = part, .first = first, .byte_count = count};
    assert_null(wsdbg_reads_add(&synthetic->reads, read, bytes));
}

static void read_warp(struct synthetic *synthetic, const struct shape *shape, uint32_t warp)
{
    uint32_t values[256];
    for (uint32_t lane = 0; lane < LAST_LANE; lane++) {
        for (uint32_t i = 0; i < shape->registers; i++)
            values[i] = synthetic_register(warp, lane, i);
        add_read(synthetic, WSDBG_READ_REGISTERS, warp, lane, 0, values, shape->registers * sizeof values[0]);
        const uint32_t mask = synthetic_predicates(warp, lane);
        if (shape->registers)
            add_read(synthetic, WSDBG_READ_PREDICATES, warp, lane, 0, &mask, sizeof mask);
    }
    for (uint32_t i = 0; i < 63; i++)
        values[i] = synthetic_uniform(warp, i);
    add_read(synthetic, WSDBG_READ_UNIFORM, warp, 0, 0, values, 63 * sizeof values[0]);
}

/* Word by word and out of order: the writer puts together what touches. */
static void read_shared(struct synthetic *synthetic, uint32_t cta)
{
    const uint32_t pieces[] = {SYNTHETIC_SHARED_SECOND, SYNTHETIC_SHARED_FIRST};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t at = 0; at < SYNTHETIC_SHARED_PIECE; at += 8) {
            const uint64_t word = synthetic_shared(cta, pieces[i] + at);
            add_read(synthetic, WSDBG_READ_SHARED, cta, 0, pieces[i] + at, &word, sizeof word);
        }
}

static void read_memory(struct synthetic *synthetic, uint32_t grid)
{
    for (unsigned bank = 0; bank < 4; bank += 3)
        for (uint32_t offset = 0x200; offset < 0x240; offset += 4) {
            const uint32_t word = synthetic_constant(grid, bank, offset);
            add_read(synthetic, WSDBG_READ_CONSTANT, grid, bank, offset, &word, sizeof word);
        }
    if (grid == 0)
        for (uint64_t at = SYNTHETIC_GLOBAL; at < SYNTHETIC_GLOBAL + SYNTHETIC_GLOBAL_BYTES; at += 8) {
            const uint64_t word = synthetic_global(at);
            add_read(synthetic, WSDBG_READ_GLOBAL, 0, 0, at, &word, sizeof word);
        }
}

struct synthetic *synthetic_create(const struct shape *shape)
{
    struct synthetic *synthetic = calloc(1, sizeof *synthetic);
    assert_non_null(synthetic);
    struct wsdbg_machine *machine = &synthetic->machine;
    const size_t ctas = (size_t)shape->devices * shape->ctas_per_device;
    machine->ctas = calloc(ctas + 1, sizeof *machine->ctas);
    machine->warps = calloc(ctas * shape->warps_per_cta + 1, sizeof *machine->warps);
    add_devices(machine, shape);
    for (uint32_t device = 0; device < shape->devices; device++) {
        read_memory(synthetic, device);
        for (uint32_t x = 0; x < shape->ctas_per_device; x++) {
            add_cta(machine, shape, device, x);
            if (!shape->no_shared)
                read_shared(synthetic, (uint32_t)machine->cta_count - 1);
            for (uint32_t warp = 0; warp < shape->warps_per_cta; warp++) {
                add_warp(machine, shape, warp);
                read_warp(synthetic, shape, (uint32_t)machine->warp_count - 1);
            }
        }
    }
    return synthetic;
}

void synthetic_destroy(struct synthetic *synthetic)
{
    wsdbg_machine_deinit(&synthetic->machine);
    wsdbg_reads_deinit(&synthetic->reads);
    free(synthetic);
}

static struct wsdbg_error *no_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                        uint32_t count, uint32_t *out, uint32_t *known_count)
{
    (void)machine, (void)warp, (void)lane, (void)first, (void)count, (void)out;
    *known_count = 0;
    return NULL;
}

static struct wsdbg_error *no_uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                                uint32_t count, uint32_t *out, uint32_t *known_count)
{
    return no_registers(machine, warp, 0, first, count, out, known_count);
}

static struct wsdbg_error *no_predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                         bool *known)
{
    (void)machine, (void)warp, (void)lane, (void)mask;
    *known = false;
    return NULL;
}

static const struct wsdbg_machine_ops nothing_is_read = {
    .registers = no_registers, .uniform_registers = no_uniform_registers, .predicates = no_predicates};

struct wsdbg_snapshot synthetic_look(struct synthetic *synthetic, uint32_t *warps_seen)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    synthetic->machine.ops = &nothing_is_read;
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_look_take(&synthetic->machine, code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    if (warps_seen)
        *warps_seen = snapshot.looks[0].warps;
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    return snapshot;
}
