/* reads.h - what was read of a machine, kept so that wsdbg_machine_write_core can put it into a file.
 *
 * A recorder stands before a machine and keeps all that passes; what is kept can also be put together by hand.
 */
#ifndef WSDBG_MACHINE_READS_H
#define WSDBG_MACHINE_READS_H

#include "machine/machine.h"

enum wsdbg_read_kind {
    WSDBG_READ_REGISTERS,  /* of a warp; part: lane; first: 4 x the register's number */
    WSDBG_READ_UNIFORM,    /* of a warp; first: 4 x the register's number */
    WSDBG_READ_PREDICATES, /* of a warp; part: lane; a u32 mask, first: 0 */
    WSDBG_READ_SHARED,     /* of a CTA; first: offset in its shared memory */
    WSDBG_READ_GLOBAL,     /* of a context; first: GPU address */
    WSDBG_READ_CONSTANT,   /* of a grid; part: bank; first: offset */
    WSDBG_READ_LOCAL       /* of a warp; part: lane; first: address in its local memory */
};

struct wsdbg_machine_read {
    enum wsdbg_read_kind kind;
    uint32_t subject; /* row of the machine */
    uint32_t part;
    uint64_t first;
    size_t byte_count;
    size_t offset; /* of the bytes in wsdbg_machine_reads.bytes; given to wsdbg_reads_add it counts for nothing */
};

struct wsdbg_machine_reads {
    struct wsdbg_machine_read *rows;
    size_t count, capacity;
    unsigned char *bytes;
    size_t byte_count, byte_capacity;
};

/* Copies read.byte_count bytes.  The struct starts as zero; deinit frees what it holds. */
struct wsdbg_error *wsdbg_reads_add(struct wsdbg_machine_reads *reads, struct wsdbg_machine_read read,
                                    const void *bytes);
void wsdbg_reads_deinit(struct wsdbg_machine_reads *reads);

/* A machine that is `machine`, takes it, and adds what is read of it to `reads`, which must live longer.  On error
 * `machine` is still the caller's. */
struct wsdbg_error *wsdbg_machine_recorder(struct wsdbg_machine *machine, struct wsdbg_machine_reads *reads,
                                           struct wsdbg_machine **out);
/* Ends the recording without closing: the machine is the caller's again. */
void wsdbg_machine_recorder_release(struct wsdbg_machine *recorder);

#endif
