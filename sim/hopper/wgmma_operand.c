/* wgmma_operand.c - the operands of wgmma as floats: matrix descriptors, layouts in shared memory, A in registers.
 *
 * Reads: shared memory of the CTA.  See wgmma.h.
 */
#include "hopper/number.h"
#include "hopper/wgmma.h"

#include <string.h>

enum { CORE_ROWS = 8 };

/* A field holds bits 4-17 of a byte count. */
static uint32_t field(uint64_t bits, unsigned shift)
{
    return (uint32_t)(bits >> shift & 0x3fff) << 4;
}

struct wgmma_descriptor wgmma_descriptor(uint64_t bits)
{
    static const uint8_t swizzles[] = {0, 128, 64, 32};
    return (struct wgmma_descriptor){.start = field(bits, 0),
                                     .leading = field(bits, 16),
                                     .stride = field(bits, 32),
                                     .swizzle_bytes = swizzles[bits >> 62],
                                     .base = (uint32_t)(bits >> 49 & 7)};
}

/* Bits 4-6 are XORed with the row of 128 bytes, as far as the swizzle is wide. */
static uint32_t swizzled(const struct wgmma_descriptor *descriptor, uint32_t offset)
{
    if (!descriptor->swizzle_bytes)
        return offset;
    const uint32_t mask = descriptor->swizzle_bytes / WGMMA_CHUNK_BYTES - 1;
    return offset ^ (((offset >> 7) - descriptor->base) & mask) << 4;
}

uint32_t wgmma_chunk_of_k(const struct wgmma_descriptor *descriptor, uint32_t row, uint32_t chunk)
{
    const uint32_t pitch = descriptor->swizzle_bytes ? descriptor->swizzle_bytes : WGMMA_CHUNK_BYTES;
    const uint32_t step = descriptor->swizzle_bytes ? WGMMA_CHUNK_BYTES : descriptor->leading;
    return swizzled(descriptor,
                    descriptor->start + row % CORE_ROWS * pitch + row / CORE_ROWS * descriptor->stride + chunk * step);
}

uint32_t wgmma_chunk_of_mn(const struct wgmma_descriptor *descriptor, uint32_t chunk, uint32_t k)
{
    if (!descriptor->swizzle_bytes)
        return descriptor->start + chunk * descriptor->stride + k % CORE_ROWS * WGMMA_CHUNK_BYTES +
               k / CORE_ROWS * descriptor->leading;
    const uint32_t width = descriptor->swizzle_bytes / WGMMA_CHUNK_BYTES;
    return swizzled(descriptor, descriptor->start + chunk % width * WGMMA_CHUNK_BYTES +
                                    chunk / width * descriptor->leading + k % CORE_ROWS * descriptor->swizzle_bytes +
                                    k / CORE_ROWS * descriptor->stride);
}

/* ---- elements ---- */

static uint32_t element_bytes(enum wsdbg_ptx_type type)
{
    return wsdbg_ptx_type_bytes(type);
}

#define CONVERT(bits_type, function)                                           \
    do {                                                                       \
        for (uint32_t i = 0; i < WGMMA_CHUNK_BYTES / sizeof(bits_type); i++) { \
            bits_type bits;                                                    \
            memcpy(&bits, bytes + i * sizeof(bits_type), sizeof(bits_type));   \
            values[i] = function(bits);                                        \
        }                                                                      \
    } while (0)

static float signed_float(uint8_t byte)
{
    return (int8_t)byte;
}

void wgmma_convert_chunk(enum wsdbg_ptx_type type, const unsigned char *restrict bytes,
                         float values[restrict WGMMA_CHUNK_ELEMENTS])
{
    switch (type) {
    case WSDBG_PTX_BF16:
        CONVERT(uint16_t, hopper_bf16_to_float);
        break;
    case WSDBG_PTX_F16:
        CONVERT(uint16_t, hopper_f16_to_float);
        break;
    case WSDBG_PTX_E4M3:
        CONVERT(uint8_t, hopper_e4m3_to_float);
        break;
    case WSDBG_PTX_E5M2:
        CONVERT(uint8_t, hopper_e5m2_to_float);
        break;
    case WSDBG_PTX_U8:
        CONVERT(uint8_t, (float));
        break;
    case WSDBG_PTX_S8:
        CONVERT(uint8_t, signed_float);
        break;
    default:
        CONVERT(uint32_t, hopper_tf32_to_float);
        break;
    }
}

static bool load_chunk(const struct hopper_cta *cta, uint32_t offset, enum wsdbg_ptx_type type,
                       float values[WGMMA_CHUNK_ELEMENTS])
{
    const unsigned char *const bytes = hopper_shared(cta, offset, WGMMA_CHUNK_BYTES);
    if (bytes)
        wgmma_convert_chunk(type, bytes, values);
    return bytes != NULL;
}

/* ---- matrices ---- */

static void negate(float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = -values[i];
}

/* Registers hold 4 bytes of a row: register 0 of rows 0-7, 1 of rows 8-15, 2 and 3 the same in the right half of K. */
static void load_a_registers(const struct wgmma_operation *operation, float a[WGMMA_ROWS][WGMMA_K_MOST])
{
    const uint32_t per_register = (uint32_t)sizeof(uint32_t) / element_bytes(operation->a_type);
    for (uint32_t i = 0; i < WGMMA_A_REGISTERS; i++)
        for (uint32_t lane = 0; lane < HOPPER_LANES; lane++) {
            float values[WGMMA_CHUNK_ELEMENTS];
            unsigned char chunk[WGMMA_CHUNK_BYTES] = {0};
            memcpy(chunk, &operation->a_values[i][lane], sizeof(uint32_t));
            wgmma_convert_chunk(operation->a_type, chunk, values);
            const uint32_t row = lane / 4 + i % 2 * CORE_ROWS;
            const uint32_t column = lane % 4 * per_register + i / 2 * (operation->k / 2);
            memcpy(&a[row][column], values, per_register * sizeof *values);
        }
}

static bool load_a_of_k(const struct wgmma_operation *operation, const struct hopper_cta *cta, uint32_t first_row,
                        float a[WGMMA_ROWS][WGMMA_K_MOST])
{
    const uint32_t elements = WGMMA_CHUNK_BYTES / element_bytes(operation->a_type);
    for (uint32_t row = 0; row < WGMMA_ROWS; row++)
        for (uint32_t chunk = 0; chunk < operation->k / elements; chunk++)
            if (!load_chunk(cta, wgmma_chunk_of_k(&operation->a, first_row + row, chunk), operation->a_type,
                            &a[row][chunk * elements]))
                return false;
    return true;
}

static bool load_a_of_m(const struct wgmma_operation *operation, const struct hopper_cta *cta, uint32_t first_row,
                        float a[WGMMA_ROWS][WGMMA_K_MOST])
{
    for (uint32_t k = 0; k < operation->k; k++)
        for (uint32_t part = 0; part < WGMMA_ROWS / CORE_ROWS; part++) {
            float values[WGMMA_CHUNK_ELEMENTS];
            if (!load_chunk(cta, wgmma_chunk_of_mn(&operation->a, first_row / CORE_ROWS + part, k), operation->a_type,
                            values))
                return false;
            for (uint32_t row = 0; row < CORE_ROWS; row++)
                a[part * CORE_ROWS + row][k] = values[row];
        }
    return true;
}

bool wgmma_load_a(const struct wgmma_operation *operation, const struct hopper_cta *cta, uint32_t first_row,
                  float a[WGMMA_ROWS][WGMMA_K_MOST])
{
    bool inside = true;
    if (operation->a_in_registers)
        load_a_registers(operation, a);
    else if (operation->a_is_mn)
        inside = load_a_of_m(operation, cta, first_row, a);
    else
        inside = load_a_of_k(operation, cta, first_row, a);
    for (uint32_t row = 0; operation->negates_a && row < WGMMA_ROWS; row++)
        negate(a[row], operation->k);
    return inside;
}

/* Eight columns at a time, so that rows of b are written in one piece. */
static bool load_b_of_k(const struct wgmma_operation *operation, const struct hopper_cta *cta,
                        float b[WGMMA_K_MOST][WGMMA_N_MOST])
{
    const uint32_t elements = WGMMA_CHUNK_BYTES / element_bytes(operation->b_type);
    for (uint32_t column = 0; column < operation->n; column += CORE_ROWS)
        for (uint32_t chunk = 0; chunk < operation->k / elements; chunk++) {
            float values[CORE_ROWS][WGMMA_CHUNK_ELEMENTS];
            for (uint32_t i = 0; i < CORE_ROWS; i++)
                if (!load_chunk(cta, wgmma_chunk_of_k(&operation->b, column + i, chunk), operation->b_type, values[i]))
                    return false;
            for (uint32_t k = 0; k < elements; k++)
                for (uint32_t i = 0; i < CORE_ROWS; i++)
                    b[chunk * elements + k][column + i] = values[i][k];
        }
    return true;
}

static bool load_b_of_n(const struct wgmma_operation *operation, const struct hopper_cta *cta,
                        float b[WGMMA_K_MOST][WGMMA_N_MOST])
{
    for (uint32_t k = 0; k < operation->k; k++)
        for (uint32_t chunk = 0; chunk < operation->n / CORE_ROWS; chunk++)
            if (!load_chunk(cta, wgmma_chunk_of_mn(&operation->b, chunk, k), operation->b_type,
                            &b[k][chunk * CORE_ROWS]))
                return false;
    return true;
}

bool wgmma_load_b(const struct wgmma_operation *operation, const struct hopper_cta *cta,
                  float b[WGMMA_K_MOST][WGMMA_N_MOST])
{
    const bool inside = operation->b_is_mn ? load_b_of_n(operation, cta, b) : load_b_of_k(operation, cta, b);
    for (uint32_t k = 0; operation->negates_b && k < operation->k; k++)
        negate(b[k], operation->n);
    return inside;
}
