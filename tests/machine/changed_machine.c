/* changed_machine.c - see changed_machine.h. */
#include "machine/changed_machine.h"

#include <string.h>
#include <time.h>

struct changed changed;

static struct wsdbg_error *count_read(void)
{
    return ++changed.reads == changed.fails_at ? wsdbg_error_create(WSDBG_ERROR_OTHER, "the source broke") : NULL;
}

static struct wsdbg_error *shared(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    struct wsdbg_error *error = count_read();
    if (!error)
        error = changed.real->shared(machine, cta, address, out, byte_count, known);
    if (!error && cta == 0 && changed.word_at >= address && changed.word_at + 8 <= address + byte_count)
        memcpy((char *)out + (changed.word_at - address), &changed.word, sizeof changed.word);
    return error;
}

static bool lacks(uint32_t warp)
{
    const struct wsdbg_machine_warp *row = &changed.machine->warps[warp];
    return row == changed.lacking ||
           (changed.lacking_everywhere && wsdbg_machine_warp_index(changed.machine, row) ==
                                              wsdbg_machine_warp_index(changed.machine, changed.lacking));
}

static uint32_t fill(uint32_t *out, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = value;
    return count;
}

static struct wsdbg_error *registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                     uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct wsdbg_error *error = count_read();
    nanosleep(&(struct timespec){.tv_nsec = changed.register_read_ns}, NULL);
    *known_count = 0;
    lane = changed.lanes_are_alike ? 0 : lane;
    if (changed.all_are_known)
        *known_count = fill(out, count, changed.general);
    return error || changed.all_are_known || lacks(warp)
               ? error
               : changed.real->registers(machine, warp, lane, first, count, out, known_count);
}

static struct wsdbg_error *uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                             uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct wsdbg_error *error = count_read();
    *known_count = 0;
    if (changed.all_are_known)
        *known_count = fill(out, count, changed.uniform);
    return error || changed.all_are_known || lacks(warp)
               ? error
               : changed.real->uniform_registers(machine, warp, first, count, out, known_count);
}

static struct wsdbg_error *predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                      bool *known)
{
    *mask = 1;
    *known = true;
    return changed.all_are_known ? NULL : changed.real->predicates(machine, warp, lane, mask, known);
}

static struct wsdbg_error *constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                    void *out, uint32_t byte_count, bool *known)
{
    struct wsdbg_error *error = count_read();
    return error ? error : changed.real->constant(machine, grid, bank, offset, out, byte_count, known);
}

int changed_open_dump(void **state)
{
    (void)state;
    changed = (struct changed){0};
    assert_null(wsdbg_machine_open_core(WSDBG_DUMPS "/gemm-arrive-missing.core.gz", &changed.machine));
    assert_null(wsdbg_code_create(&changed.code));
    changed.real = changed.machine->ops;
    changed.ops = *changed.real;
    changed.ops.shared = shared;
    changed.ops.registers = registers;
    changed.ops.uniform_registers = uniform_registers;
    changed.ops.predicates = predicates;
    changed.ops.constant = constant;
    changed.machine->ops = &changed.ops;
    return 0;
}

int changed_close_dump(void **state)
{
    (void)state;
    wsdbg_code_destroy(changed.code);
    changed.real->close(changed.machine);
    return 0;
}

struct wsdbg_look *changed_look(uint64_t time_ns)
{
    struct wsdbg_look *look;
    changed.machine->time_ns = time_ns;
    assert_null(wsdbg_look_take(changed.machine, changed.code, &look));
    return look;
}

struct wsdbg_machine_warp *changed_warp(uint32_t index)
{
    for (size_t i = 0; i < changed.machine->warp_count; i++)
        if (changed.machine->warps[i].cta == 0 &&
            wsdbg_machine_warp_index(changed.machine, &changed.machine->warps[i]) == index)
            return &changed.machine->warps[i];
    fail();
    return NULL;
}
