/* operation.h - what a SASS operation is, apart from its operands: its class, the memory it touches, its effects.
 *
 * Reads operations.def, which has one row an operation.  What one operation alone means (how IADD3 adds) is where it is
 * asked: compute.c, thread_result.c, access.c.
 */
#ifndef WSDBG_SASS_OPERATION_H
#define WSDBG_SASS_OPERATION_H

#include <stdbool.h>

enum wsdbg_operation {
    WSDBG_OP_OTHER,
#define OPERATION(id, name, class, space, effects) WSDBG_OP_##id,
#include "sass/operations.def"
    WSDBG_OP_COUNT
};

enum wsdbg_operation_class {
    WSDBG_CLASS_NONE, /* of WSDBG_OP_OTHER */
    WSDBG_CLASS_MBARRIER,
    WSDBG_CLASS_NAMED_BARRIER,
    WSDBG_CLASS_CLUSTER_BARRIER,
    WSDBG_CLASS_REGISTERS, /* setmaxnreg */
    WSDBG_CLASS_GRID,      /* griddepcontrol */
    WSDBG_CLASS_WARP,      /* sleeps, elects a lane, waits for a scoreboard, or does nothing */
    WSDBG_CLASS_BRANCH,
    WSDBG_CLASS_CALL,
    WSDBG_CLASS_RETURN,
    WSDBG_CLASS_EXIT, /* the lanes end */
    WSDBG_CLASS_TRAP,
    WSDBG_CLASS_CONVERGENCE,
    WSDBG_CLASS_COPY_ENGINE,  /* a copy or a reduction of it */
    WSDBG_CLASS_COPY_CONTROL, /* its prefetches, its groups of stores, its cache of descriptors */
    WSDBG_CLASS_ASYNC_STORE,  /* it completes bytes on an mbarrier, as ASYNC_REDUCTION does */
    WSDBG_CLASS_ASYNC_REDUCTION,
    WSDBG_CLASS_WGMMA,      /* a multiplication */
    WSDBG_CLASS_WGMMA_SYNC, /* the fence and the wait of multiplications */
    WSDBG_CLASS_LOAD,
    WSDBG_CLASS_STORE,
    WSDBG_CLASS_ATOMIC,    /* brings the old value back */
    WSDBG_CLASS_REDUCTION, /* brings nothing back */
    WSDBG_CLASS_MULTIMEM,  /* reads what several devices hold, reduced */
    WSDBG_CLASS_ASYNC_COPY,
    WSDBG_CLASS_FENCE, /* fences, and control of caches */
    WSDBG_CLASS_MOVE,
    WSDBG_CLASS_SPECIAL, /* reads a special register */
    WSDBG_CLASS_INTEGER,
    WSDBG_CLASS_LANES, /* what lanes tell one another */
    WSDBG_CLASS_FLOAT,
    WSDBG_CLASS_MATRIX, /* a warp's multiplications, and its loads and stores of matrices */
    WSDBG_CLASS_MARK,   /* tells the hardware something; computes nothing and waits for nothing */
    WSDBG_CLASS_COUNT
};

/* Of the memory operand.  Copies of the copy engine have none: their operands are bundles of registers. */
enum wsdbg_operation_space {
    WSDBG_SPACE_NONE,
    WSDBG_SPACE_GENERIC,
    WSDBG_SPACE_GLOBAL,
    WSDBG_SPACE_SHARED,
    WSDBG_SPACE_LOCAL,
    WSDBG_SPACE_CONSTANT,
    WSDBG_SPACE_DISTRIBUTED /* shared memory of a CTA of the cluster */
};

enum wsdbg_operation_effect {
    /* A loop with it may be one that does nothing but wait.  What computes may always be in such a loop. */
    WSDBG_EFFECT_WAIT_LOOP = 1,
    /* It is through after a fixed number of cycles. */
    WSDBG_EFFECT_FIXED_LATENCY = 2
};

/* As nvdisasm writes it, without modifiers; "" for WSDBG_OP_OTHER.  Static. */
const char *wsdbg_operation_name(enum wsdbg_operation operation);
enum wsdbg_operation_class wsdbg_operation_class(enum wsdbg_operation operation);
enum wsdbg_operation_space wsdbg_operation_space(enum wsdbg_operation operation);
bool wsdbg_operation_has(enum wsdbg_operation operation, enum wsdbg_operation_effect effect);

/* It waits, signals, starts a copy or a wgmma, or leads elsewhere: whether a thread executes it matters to its path. */
bool wsdbg_operation_is_control(enum wsdbg_operation operation);
/* It concerns registers and the thread's own memory.  LDSM and STSM count too: where they go is not decoded. */
bool wsdbg_operation_computes(enum wsdbg_operation operation);
/* A loop with it may be one that does nothing but wait. */
bool wsdbg_operation_fits_wait_loop(enum wsdbg_operation operation);
/* A load, store, atomic or reduction whose address is an operand; in any space. */
bool wsdbg_operation_is_memory(enum wsdbg_operation operation);
/* Such an access to global memory, also by a generic address. */
bool wsdbg_operation_is_global_access(enum wsdbg_operation operation);
/* It brings into a register what memory holds that other warps may write. */
bool wsdbg_operation_reads_memory(enum wsdbg_operation operation);
/* A multiplication of a warpgroup, its fence or its wait. */
bool wsdbg_operation_is_of_wgmma(enum wsdbg_operation operation);

/* False where an address of the one space is never one of the other. */
bool wsdbg_spaces_overlap(enum wsdbg_operation_space a, enum wsdbg_operation_space b);

#endif
