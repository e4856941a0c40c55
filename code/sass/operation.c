/* operation.c - see operation.h.  Reads operations.def. */
#include "sass/operation.h"

#include <stdint.h>

struct row {
    const char *name;
    uint8_t class, space, effects;
};

static const struct row rows[WSDBG_OP_COUNT] = {
    [WSDBG_OP_OTHER] = {"", WSDBG_CLASS_NONE, WSDBG_SPACE_NONE, 0},
#define OPERATION(id, name, class, space, effects) \
    [WSDBG_OP_##id] = {name, WSDBG_CLASS_##class, WSDBG_SPACE_##space, effects},
#include "sass/operations.def"
};

/* ---- sets of classes and of spaces ---- */

#define CLASS(name) (1ull << WSDBG_CLASS_##name)
#define SPACE(name) (1ull << WSDBG_SPACE_##name)

static const uint64_t control = CLASS(MBARRIER) | CLASS(NAMED_BARRIER) | CLASS(CLUSTER_BARRIER) | CLASS(REGISTERS) |
                                CLASS(GRID) | CLASS(WARP) | CLASS(BRANCH) | CLASS(CALL) | CLASS(RETURN) | CLASS(EXIT) |
                                CLASS(TRAP) | CLASS(CONVERGENCE) | CLASS(COPY_ENGINE) | CLASS(COPY_CONTROL) |
                                CLASS(ASYNC_STORE) | CLASS(ASYNC_REDUCTION) | CLASS(WGMMA) | CLASS(WGMMA_SYNC);
static const uint64_t computing =
    CLASS(MOVE) | CLASS(SPECIAL) | CLASS(INTEGER) | CLASS(LANES) | CLASS(FLOAT) | CLASS(MATRIX) | CLASS(MARK);
static const uint64_t accesses = CLASS(LOAD) | CLASS(STORE) | CLASS(ATOMIC) | CLASS(REDUCTION);
static const uint64_t readers = CLASS(LOAD) | CLASS(ATOMIC) | CLASS(MULTIMEM);
static const uint64_t global_spaces = SPACE(GENERIC) | SPACE(GLOBAL);
static const uint64_t spaces_of_many = SPACE(GENERIC) | SPACE(GLOBAL) | SPACE(SHARED);

static const struct row *row_of(enum wsdbg_operation operation)
{
    return &rows[(unsigned)operation < WSDBG_OP_COUNT ? operation : WSDBG_OP_OTHER];
}

static bool has_class(const struct row *row, uint64_t classes)
{
    return classes >> row->class & 1;
}

static bool has_space(const struct row *row, uint64_t spaces)
{
    return spaces >> row->space & 1;
}

/* ---- questions ---- */

const char *wsdbg_operation_name(enum wsdbg_operation operation)
{
    return row_of(operation)->name;
}

enum wsdbg_operation_class wsdbg_operation_class(enum wsdbg_operation operation)
{
    return (enum wsdbg_operation_class)row_of(operation)->class;
}

enum wsdbg_operation_space wsdbg_operation_space(enum wsdbg_operation operation)
{
    return (enum wsdbg_operation_space)row_of(operation)->space;
}

bool wsdbg_operation_has(enum wsdbg_operation operation, enum wsdbg_operation_effect effect)
{
    return row_of(operation)->effects & effect;
}

bool wsdbg_operation_is_control(enum wsdbg_operation operation)
{
    return has_class(row_of(operation), control);
}

bool wsdbg_operation_computes(enum wsdbg_operation operation)
{
    return has_class(row_of(operation), computing) || row_of(operation)->space == WSDBG_SPACE_LOCAL;
}

bool wsdbg_operation_fits_wait_loop(enum wsdbg_operation operation)
{
    return wsdbg_operation_computes(operation) || wsdbg_operation_has(operation, WSDBG_EFFECT_WAIT_LOOP);
}

bool wsdbg_operation_is_memory(enum wsdbg_operation operation)
{
    return has_class(row_of(operation), accesses);
}

bool wsdbg_operation_is_global_access(enum wsdbg_operation operation)
{
    return wsdbg_operation_is_memory(operation) && has_space(row_of(operation), global_spaces);
}

bool wsdbg_operation_reads_memory(enum wsdbg_operation operation)
{
    return has_class(row_of(operation), readers) && has_space(row_of(operation), spaces_of_many);
}

bool wsdbg_operation_is_of_wgmma(enum wsdbg_operation operation)
{
    return has_class(row_of(operation), CLASS(WGMMA) | CLASS(WGMMA_SYNC));
}

bool wsdbg_spaces_overlap(enum wsdbg_operation_space a, enum wsdbg_operation_space b)
{
    return a == b || a == WSDBG_SPACE_GENERIC || b == WSDBG_SPACE_GENERIC;
}
