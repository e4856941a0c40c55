/* reads.c - see reads.h.  Reads: a machine, through its operations.  Writes: memory. */
#include "machine/reads.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct wsdbg_error *wsdbg_reads_add(struct wsdbg_machine_reads *reads, struct wsdbg_machine_read read,
                                    const void *bytes)
{
    if (!read.byte_count)
        return NULL;
    if (!wsdbg_grow((void **)&reads->rows, &reads->capacity, reads->count + 1, sizeof *reads->rows) ||
        !wsdbg_grow((void **)&reads->bytes, &reads->byte_capacity, reads->byte_count + read.byte_count, 1))
        return &wsdbg_error_no_memory;
    read.offset = reads->byte_count;
    reads->rows[reads->count++] = read;
    memcpy(reads->bytes + reads->byte_count, bytes, read.byte_count);
    reads->byte_count += read.byte_count;
    return NULL;
}

void wsdbg_reads_deinit(struct wsdbg_machine_reads *reads)
{
    free(reads->rows);
    free(reads->bytes);
    *reads = (struct wsdbg_machine_reads){0};
}

struct recorder {
    struct wsdbg_machine base; /* the inner machine's arrays */
    struct wsdbg_machine *inner;
    struct wsdbg_machine_reads *reads;
};

static struct recorder *recorder_of(struct wsdbg_machine *machine)
{
    return (struct recorder *)machine;
}

static struct wsdbg_error *registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                     uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct recorder *recorder = recorder_of(machine);
    struct wsdbg_error *error =
        recorder->inner->ops->registers(recorder->inner, warp, lane, first, count, out, known_count);
    const struct wsdbg_machine_read read = {.kind = WSDBG_READ_REGISTERS,
                                            .subject = warp,
                                            .part = lane,
                                            .first = (uint64_t)first * sizeof *out,
                                            .byte_count = (size_t)*known_count * sizeof *out};
    return error ? error : wsdbg_reads_add(recorder->reads, read, out);
}

static struct wsdbg_error *uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                             uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct recorder *recorder = recorder_of(machine);
    struct wsdbg_error *error =
        recorder->inner->ops->uniform_registers(recorder->inner, warp, first, count, out, known_count);
    const struct wsdbg_machine_read read = {.kind = WSDBG_READ_UNIFORM,
                                            .subject = warp,
                                            .first = (uint64_t)first * sizeof *out,
                                            .byte_count = (size_t)*known_count * sizeof *out};
    return error ? error : wsdbg_reads_add(recorder->reads, read, out);
}

static struct wsdbg_error *predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                      bool *known)
{
    struct recorder *recorder = recorder_of(machine);
    struct wsdbg_error *error = recorder->inner->ops->predicates(recorder->inner, warp, lane, mask, known);
    const struct wsdbg_machine_read read = {
        .kind = WSDBG_READ_PREDICATES, .subject = warp, .part = lane, .byte_count = sizeof *mask};
    return error || !*known ? error : wsdbg_reads_add(recorder->reads, read, mask);
}

static struct wsdbg_error *shared(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    struct recorder *recorder = recorder_of(machine);
    struct wsdbg_error *error = recorder->inner->ops->shared(recorder->inner, cta, address, out, byte_count, known);
    const struct wsdbg_machine_read read = {
        .kind = WSDBG_READ_SHARED, .subject = cta, .first = address, .byte_count = byte_count};
    return error || !*known ? error : wsdbg_reads_add(recorder->reads, read, out);
}

static struct wsdbg_error *global(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                  uint32_t byte_count, bool *known)
{
    struct recorder *recorder = recorder_of(machine);
    struct wsdbg_error *error = recorder->inner->ops->global(recorder->inner, context, address, out, byte_count, known);
    const struct wsdbg_machine_read read = {
        .kind = WSDBG_READ_GLOBAL, .subject = context, .first = address, .byte_count = byte_count};
    return error || !*known ? error : wsdbg_reads_add(recorder->reads, read, out);
}

static struct wsdbg_error *local(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t address,
                                 void *out, uint32_t byte_count, bool *known)
{
    struct recorder *recorder = recorder_of(machine);
    *known = false;
    if (!recorder->inner->ops->local)
        return NULL;
    struct wsdbg_error *error =
        recorder->inner->ops->local(recorder->inner, warp, lane, address, out, byte_count, known);
    const struct wsdbg_machine_read read = {
        .kind = WSDBG_READ_LOCAL, .subject = warp, .part = lane, .first = address, .byte_count = byte_count};
    return error || !*known ? error : wsdbg_reads_add(recorder->reads, read, out);
}

static struct wsdbg_error *constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                    void *out, uint32_t byte_count, bool *known)
{
    struct recorder *recorder = recorder_of(machine);
    struct wsdbg_error *error =
        recorder->inner->ops->constant(recorder->inner, grid, bank, offset, out, byte_count, known);
    const struct wsdbg_machine_read read = {
        .kind = WSDBG_READ_CONSTANT, .subject = grid, .part = bank, .first = offset, .byte_count = byte_count};
    return error || !*known ? error : wsdbg_reads_add(recorder->reads, read, out);
}

/* Not kept: a core file has no place for it. */
static enum wsdbg_machine_found found(struct wsdbg_machine *machine, const struct wsdbg_machine_atomic *atomic,
                                      uint32_t times, uint32_t *value)
{
    struct wsdbg_machine *inner = recorder_of(machine)->inner;
    return inner->ops->found ? inner->ops->found(inner, atomic, times, value) : WSDBG_MACHINE_FOUND_UNKNOWN;
}

void wsdbg_machine_recorder_release(struct wsdbg_machine *machine)
{
    struct recorder *recorder = recorder_of(machine);
    recorder->inner->notes = machine->notes; /* they may have grown */
    recorder->inner->note_count = machine->note_count;
    free(recorder);
}

static void close_both(struct wsdbg_machine *machine)
{
    struct wsdbg_machine *inner = recorder_of(machine)->inner;
    wsdbg_machine_recorder_release(machine);
    inner->ops->close(inner);
}

static const struct wsdbg_machine_ops recorder_ops = {.registers = registers,
                                                      .uniform_registers = uniform_registers,
                                                      .predicates = predicates,
                                                      .shared = shared,
                                                      .global = global,
                                                      .constant = constant,
                                                      .local = local,
                                                      .found = found,
                                                      .close = close_both};

struct wsdbg_error *wsdbg_machine_recorder(struct wsdbg_machine *machine, struct wsdbg_machine_reads *reads,
                                           struct wsdbg_machine **out)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return &wsdbg_error_no_memory;
    *recorder = (struct recorder){.base = *machine, .inner = machine, .reads = reads};
    recorder->base.ops = &recorder_ops;
    *out = &recorder->base;
    return NULL;
}
