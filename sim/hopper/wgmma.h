/* wgmma.h - the matrix work of one warp of a warpgroup: operations in their order, groups, and the product itself.
 *
 * Private to hopper/.  Warp w computes 16 of the 64 rows, 16w to 16w + 15.  A wait ends when the groups of
 * the whole warpgroup are complete.
 */
#ifndef WSDBG_HOPPER_WGMMA_H
#define WSDBG_HOPPER_WGMMA_H

#include "hopper/warp.h"

enum { WGMMA_ROWS = 16, WGMMA_N_MOST = 256, WGMMA_K_MOST = 32, WGMMA_A_REGISTERS = 4 };

/* A matrix in shared memory; the descriptor's fields, in bytes. */
struct wgmma_descriptor {
    uint32_t start, leading, stride;
    uint32_t swizzle_bytes; /* 0, 32, 64, 128 */
    uint32_t base;          /* 128-byte rows that the swizzle's pattern begins late */
};
struct wgmma_descriptor wgmma_descriptor(uint64_t bits);
/* Offset in shared memory of 16 bytes: of row `row` (M or N) and chunk `chunk` (16 bytes of K). */
uint32_t wgmma_chunk_of_k(const struct wgmma_descriptor *descriptor, uint32_t row, uint32_t chunk);
/* The same of a matrix in M or N order: elements 8 `chunk` to 8 `chunk` + 7 (16 bits each) of column `k`. */
uint32_t wgmma_chunk_of_mn(const struct wgmma_descriptor *descriptor, uint32_t chunk, uint32_t k);

enum { WGMMA_CHUNK_BYTES = 16, WGMMA_CHUNK_ELEMENTS = 16 /* at most */ };
/* The elements of 16 bytes; TF32 for any type that is not a shorter one. */
void wgmma_convert_chunk(enum wsdbg_ptx_type type, const unsigned char *restrict bytes,
                         float values[restrict WGMMA_CHUNK_ELEMENTS]);

/* What one warp multiplies: the shape, where operands come from. */
struct wgmma_operation {
    enum wsdbg_ptx_type d_type, a_type, b_type;
    uint32_t n, k;
    bool a_in_registers, adds, negates_a, negates_b, a_is_mn, b_is_mn;
    bool is_clamped; /* of integers: .satfinite */
    struct wgmma_descriptor a, b;
    const uint32_t *d;                        /* where its accumulators lie in the warp's registers */
    const uint32_t (*a_values)[HOPPER_LANES]; /* of A in registers: WGMMA_A_REGISTERS */
};
/* Rows of the warp; `first_row` is 16 times its place in the warpgroup.  False: the matrices leave shared memory. */
bool wgmma_load_a(const struct wgmma_operation *operation, const struct hopper_cta *cta, uint32_t first_row,
                  float a[WGMMA_ROWS][WGMMA_K_MOST]);
bool wgmma_load_b(const struct wgmma_operation *operation, const struct hopper_cta *cta,
                  float b[WGMMA_K_MOST][WGMMA_N_MOST]);
/* d += a * b */
void wgmma_multiply(uint32_t n, uint32_t k, const float a[WGMMA_ROWS][WGMMA_K_MOST],
                    const float b[WGMMA_K_MOST][WGMMA_N_MOST], float d[WGMMA_ROWS][WGMMA_N_MOST]);

/* mma.sync of integers, bits and doubles. */
enum hopper_outcome hopper_mma_exact(struct hopper_step *step);

/* Registers that hold d. */
uint32_t wgmma_d_registers(const struct wgmma_operation *operation);
/* d from the warp's registers, or into them. */
void wgmma_read_d(const struct wgmma_operation *operation, unsigned char *registers, float d[WGMMA_ROWS][WGMMA_N_MOST]);
void wgmma_write_d(const struct wgmma_operation *operation, unsigned char *registers,
                   float d[WGMMA_ROWS][WGMMA_N_MOST]);
/* Of integers: d, whole numbers that floats hold exactly, is added to the registers. */
void wgmma_add_whole(const struct wgmma_operation *operation, unsigned char *registers,
                     float d[WGMMA_ROWS][WGMMA_N_MOST]);

void hopper_wgmma_free(struct hopper_warp *warp);

#endif
