/* corpus.h - what the instructions of the table are tested with: kernels whose results an H200 and the simulator give.
 *
 * A unit is one kernel, `main`, run once: PTX text, the bytes that it reads, the number of bytes that it writes.  A
 * case is an instruction (or a few) of a unit: a part of what the unit writes.  Everything is the same on every machine
 * and in every run.
 */
#ifndef TESTS_SEMANTICS_CORPUS_H
#define TESTS_SEMANTICS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SEMANTICS_OPERANDS = 5, /* read by an instruction of registers alone */
    SEMANTICS_MAPS = 1
};

enum semantics_compare { /* what is as good as the same bits */
                         SEMANTICS_BITS,
                         SEMANTICS_F32_ULPS,     /* tolerance: units in the last place of the expected value */
                         SEMANTICS_F32_RELATIVE, /* tolerance: of the largest magnitude among the case's expected values
                                                  */
                         SEMANTICS_F16_RELATIVE, /* each half of a pair */
                         SEMANTICS_F16_ULPS,
                         SEMANTICS_BF16_ULPS,
                         SEMANTICS_F64_ULPS,
                         SEMANTICS_F32_NEAR /* tolerance: a difference; or 4 units in the last place */
};

struct semantics_case {
    char *name;                /* the instruction's text; unique */
    uint16_t operation;        /* enum wsdbg_ptx_operation: the row that it tests */
    uint32_t offset;           /* of its results in what the unit writes */
    uint32_t count;            /* of results, each in `slot_bytes` */
    uint8_t slot_bytes, bytes; /* the low `bytes` of a slot are the result */
    uint8_t compare;           /* enum semantics_compare */
    double tolerance;
    uint64_t digest;        /* of the text and of what it reads: another digest, another case */
    uint32_t operand_count; /* of a scalar case: result i comes from operands[k][i] */
    const uint64_t *operands[SEMANTICS_OPERANDS];
};

struct semantics_tensor { /* a tensor map, parameter `map` of the kernel; its tensor lies in what the unit reads */
    bool is_there, is_im2col;
    uint32_t data_type, rank, interleave, swizzle, fill; /* enumerations of cuda.h */
    uint64_t sizes[5], strides_bytes[4];
    uint32_t box[5], element_strides[5];
    int32_t lower[3], upper[3]; /* of im2col, which has no box */
    uint32_t channels, pixels;
    bool is_output; /* the tensor lies in what the unit writes */
    uint64_t offset;
};

struct semantics_unit {
    char *name;
    char *text; /* PTX, without the head; see semantics_write_text */
    uint32_t ctas, threads, cluster, shared_bytes;
    unsigned char *input; /* shared by units where `owns_input` is false */
    size_t input_bytes, output_bytes;
    bool owns_input;
    struct semantics_tensor tensor;
    struct semantics_case *cases;
    size_t case_count, case_room;
};

struct semantics_refused { /* an instruction that ptxas does not assemble, and its words */
    char *name, *message;
};

struct semantics_corpus {
    struct semantics_unit *units;
    size_t unit_count, unit_room;
    struct semantics_refused *refused;
    size_t refused_count;
    struct semantics_values *values;
};

/* All units.  `refused_file` has the instructions that are left out, "text<tab>message" a line; NULL: none is. */
struct semantics_corpus *semantics_corpus_create(const char *refused_file);
void semantics_corpus_destroy(struct semantics_corpus *corpus);
/* The message when the instruction is refused, else NULL. */
const char *semantics_refusal(const struct semantics_corpus *corpus, const char *name);

/* ---- for those that add units ---- */

/* The unit stays valid until the next one is added. */
struct semantics_unit *semantics_add_unit(struct semantics_corpus *corpus, const char *name);
/* The case stays valid until the next one of the unit is added.  `count` results of `bytes` each are appended to what
 * the unit writes, in slots of 8 bytes. */
struct semantics_case *semantics_add_case(struct semantics_unit *unit, unsigned operation, const char *name,
                                          uint32_t count, unsigned bytes);
/* Whether it has results of this instruction already: forms of a row may overlap. */
bool semantics_has_case(const struct semantics_unit *unit, const char *name);
uint64_t semantics_digest(uint64_t before, const void *bytes, size_t count);
/* A number of 64 bits that is any; the same for the same two. */
uint64_t semantics_any(uint64_t a, uint64_t b);
/* The row of this id, which must exist; and back. */
unsigned semantics_operation(const char *id);
const char *semantics_operation_id(unsigned operation);

/* scalar.c: units of rows that read and write registers only. */
void semantics_add_scalars(struct semantics_corpus *corpus);

/* body.c: kernels written as text.  `body` uses %in, %out (addresses of 64 bits), %t (thread) and registers declared
 * by the kernel; `count` results of `bytes` each, in slots of 8 bytes from %out on. */
void semantics_add_lanes(struct semantics_corpus *corpus);
void semantics_add_memory(struct semantics_corpus *corpus);
void semantics_add_atomics(struct semantics_corpus *corpus);
void semantics_add_mbarriers(struct semantics_corpus *corpus);
void semantics_add_copies(struct semantics_corpus *corpus);
void semantics_add_tensors(struct semantics_corpus *corpus);
void semantics_add_matrices(struct semantics_corpus *corpus);
void semantics_add_control(struct semantics_corpus *corpus);

#endif
