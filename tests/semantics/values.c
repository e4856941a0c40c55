/* values.c - see values.h. */
#include "semantics/values.h"

#include <stdlib.h>

#include "semantics/corpus.h"
#include "semantics/must.h"

enum { SPECIALS = 24 };

struct format {
    unsigned bits, fraction_bits;
    bool is_float;
    uint64_t core[SEMANTICS_CORE];
    uint64_t more[SPECIALS];
};

static const struct format formats[] = {
    /* 0, -0, 1, -1, smallest and largest subnormal, smallest normal, largest, infinities, quiet and signalling NaN */
    [WSDBG_PTX_F32] = {32,
                       23,
                       true,
                       {0, 0x80000000, 0x3f800000, 0xbf800000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                        0xff800000, 0x7fc12345, 0xff800001},
                       {0x80000001, 0x007fffff, 0x80800000, 0xff7fffff, 0x7fffffff, 0xffffffff,
                        0x7f812345, 0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x33800000,
                        0x33800001, 0x337fffff, 0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000,
                        0xcf000000, 0x4f800000, 0x5f000000, 0x477fe000, 0x477ff000, 0x33000000}},
    [WSDBG_PTX_F64] = {64,
                       52,
                       true,
                       {0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 1, 0x800fffffffffffff,
                        0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
                        0x7ff8123456789abc, 0xfff0000000000001},
                       {0x8000000000000001, 0x000fffffffffffff, 0xffefffffffffffff, 0x7fffffffffffffff,
                        0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000,
                        0x3ca0000000000000, 0x3ca0000000000001, 0x47efffffe0000000, 0x47efffffefffffff,
                        0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000, 0x3690000000000001,
                        0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x43e0000000000000,
                        0xc3e0000000000000, 0x43f0000000000000, 0x3ff0000010000000, 0x3ff0000030000000}},
    [WSDBG_PTX_F16] = {16,
                       10,
                       true,
                       {0, 0x8000, 0x3c00, 0xbc00, 1, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e12, 0xfc01},
                       {0x8001, 0x03ff, 0x8400, 0xfbff, 0x7fff, 0xffff, 0x3800, 0x3e00,
                        0x4100, 0xc100, 0x1000, 0x1001, 0x0fff, 0x6401, 0x67ff, 0x5bff,
                        0x7bfe, 0x0200, 0x0201, 0x3555, 0x4248, 0xc248, 0x3c01, 0x5640}},
    [WSDBG_PTX_BF16] = {16,
                        7,
                        true,
                        {0, 0x8000, 0x3f80, 0xbf80, 1, 0x807f, 0x0080, 0x7f7f, 0x7f80, 0xff80, 0x7fc1, 0xff81},
                        {0x8001, 0x007f, 0x8080, 0xff7f, 0x7fff, 0xffff, 0x3f00, 0x3fc0,
                         0x4020, 0xc020, 0x3b80, 0x3b81, 0x3b7f, 0x4301, 0x437f, 0x477f,
                         0x4780, 0x3340, 0x3300, 0x3eab, 0x4049, 0xc049, 0x3f81, 0x4f00}},
    [WSDBG_PTX_B32] = {32,
                       0,
                       false,
                       {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 31, 32, 0x10000, 0x12345678,
                        0xdeadbeef},
                       {3,          7,          8,          15,         16,         24,
                        33,         63,         64,         255,        256,        0x7f,
                        0x80,       0x7fff,     0x8000,     0xffff,     0xffff8000, 0xffffff80,
                        0x80000001, 0xaaaaaaaa, 0x55555555, 0x00ffffff, 0x01000000, 0x7f80ff01}},
    [WSDBG_PTX_B64] = {64,
                       0,
                       false,
                       {0, 1, 2, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe, 63,
                        0xffffffff, 0x100000000, 0x123456789abcdef0, 0xdeadbeefcafebabe},
                       {3,
                        7,
                        8,
                        31,
                        32,
                        33,
                        64,
                        65,
                        255,
                        0x7fffffff,
                        0x80000000,
                        0xffffffff80000000,
                        0x7fff,
                        0x8000,
                        0xffff,
                        0x10000,
                        0x8000000000000001,
                        0xaaaaaaaaaaaaaaaa,
                        0x5555555555555555,
                        0x20000000000001,
                        0x1fffffffffffff,
                        0xffffffff7fffffff,
                        0x4000000000000000,
                        0x7ffffffffffffc00}},
    [WSDBG_PTX_B16] = {16,
                       0,
                       false,
                       {0, 1, 2, 0x7fff, 0x8000, 0xffff, 0xfffe, 15, 16, 0x100, 0x1234, 0xdead},
                       {3,      7,      8,      14,     17,     31, 32,  0x7f, 0x80,  0xff,  0xff80, 0x8001,
                        0xaaaa, 0x5555, 0x7ffe, 0x4000, 0xc000, 10, 100, 1000, 10000, 60000, 0x0f0f, 0xf0f0}},
    [WSDBG_PTX_B8] = {8,
                      0,
                      false,
                      {0, 1, 2, 0x7f, 0x80, 0xff, 0xfe, 7, 8, 0x10, 0x12, 0xde},
                      {3,  4,    5,    6,    9,   15,  16,  31,   32,   63,   64,   65,
                       66, 0x81, 0xaa, 0x55, 100, 101, 200, 0xf0, 0x0f, 0xc0, 0x40, 0x7e}},
    [SEMANTICS_COUNTS] = {32,
                          0,
                          false,
                          {0, 1, 5, 8, 16, 31, 32, 33, 63, 64, 255, 0xffffffff},
                          {2,  3,  4,   7,   9,   15,  17,  24,    30,      34,         47,         48,
                           62, 65, 127, 128, 254, 256, 257, 0x100, 0x10001, 0x80000000, 0x7fffffff, 0x8000001f}},
    [SEMANTICS_ANGLES] = {32,
                          23,
                          true,
                          {0, 0x80000000, 0x3f800000, 0xbf800000, 1, 0x807fffff, 0x40490fdb, 0x7f7fffff, 0x7f800000,
                           0xff800000, 0x7fc12345, 0xff800001},
                          {0x3fc90fdb, 0xbfc90fdb, 0x3f490fdb, 0xc0490fdb, 0x40c90fdb, 0x3f060a92,
                           0x3f860a92, 0x4016cbe4, 0x38d1b717, 0x3dcccccd, 0x3e4ccccd, 0x3ecccccd,
                           0x40000000, 0x40400000, 0x40800000, 0x40a00000, 0x40c00000, 0xc0000000,
                           0x00800000, 0x33800000, 0x3f7fffff, 0x3f800001, 0x40490fda, 0x40490fdc}},
};

/* The format of a type's scalar, and whether two stand in a register. */
static const struct format *format_of(unsigned class, bool *is_pair)
{
    static const uint8_t as[SEMANTICS_CLASS_COUNT] = {
        [WSDBG_PTX_B8] = WSDBG_PTX_B8,         [WSDBG_PTX_U8] = WSDBG_PTX_B8,     [WSDBG_PTX_S8] = WSDBG_PTX_B8,
        [WSDBG_PTX_B16] = WSDBG_PTX_B16,       [WSDBG_PTX_U16] = WSDBG_PTX_B16,   [WSDBG_PTX_S16] = WSDBG_PTX_B16,
        [WSDBG_PTX_B32] = WSDBG_PTX_B32,       [WSDBG_PTX_U32] = WSDBG_PTX_B32,   [WSDBG_PTX_S32] = WSDBG_PTX_B32,
        [WSDBG_PTX_B64] = WSDBG_PTX_B64,       [WSDBG_PTX_U64] = WSDBG_PTX_B64,   [WSDBG_PTX_S64] = WSDBG_PTX_B64,
        [WSDBG_PTX_F16] = WSDBG_PTX_F16,       [WSDBG_PTX_F16X2] = WSDBG_PTX_F16, [WSDBG_PTX_BF16] = WSDBG_PTX_BF16,
        [WSDBG_PTX_BF16X2] = WSDBG_PTX_BF16,   [WSDBG_PTX_F32] = WSDBG_PTX_F32,   [WSDBG_PTX_TF32] = WSDBG_PTX_F32,
        [WSDBG_PTX_F64] = WSDBG_PTX_F64,       [WSDBG_PTX_E4M3X2] = WSDBG_PTX_B8, [WSDBG_PTX_E5M2X2] = WSDBG_PTX_B8,
        [WSDBG_PTX_S16X2] = WSDBG_PTX_B16,     [WSDBG_PTX_U16X2] = WSDBG_PTX_B16, [SEMANTICS_COUNTS] = SEMANTICS_COUNTS,
        [SEMANTICS_ANGLES] = SEMANTICS_ANGLES,
    };
    *is_pair = class == WSDBG_PTX_S16X2 || class == WSDBG_PTX_U16X2 || class == WSDBG_PTX_F16X2 ||
               class == WSDBG_PTX_BF16X2 || class == WSDBG_PTX_E4M3X2 || class == WSDBG_PTX_E5M2X2;
    return as[class] ? &formats[as[class]] : NULL;
}

static uint64_t mask_of(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

/* A number near 1, so that sums and products of such round: any fraction, an exponent a few from 0. */
static uint64_t moderate(const struct format *format, uint64_t any)
{
    const unsigned exponent_bits = format->bits - 1 - format->fraction_bits;
    const uint64_t bias = mask_of(exponent_bits) >> 1;
    uint64_t fraction = any & mask_of(format->fraction_bits);
    if (any >> 60 & 1) /* few bits at the top: sums that end in a tie */
        fraction = fraction >> (format->fraction_bits - 4) << (format->fraction_bits - 4) | (any >> 61 & 1);
    return (any >> 59 & 1) << (format->bits - 1) | (bias - 6 + (any >> 52 & 15) % 13) << format->fraction_bits |
           fraction;
}

static uint64_t scalar(const struct format *format, unsigned position, unsigned index)
{
    static const unsigned steps[SEMANTICS_POSITIONS][3] = {{1, 0, 0}, {0, 1, 0}, {7, 5, 3}, {5, 11, 1}, {1, 7, 6}};
    const unsigned *const step = steps[position];
    const uint64_t any = semantics_any(position + 1, index);
    if (index < SEMANTICS_CORE * SEMANTICS_CORE)
        return format
            ->core[(index % SEMANTICS_CORE * step[0] + index / SEMANTICS_CORE * step[1] + step[2]) % SEMANTICS_CORE];
    if (index < SEMANTICS_CORE * SEMANTICS_CORE + 2 * SPECIALS)
        return format->more[position == 0 ? index % SPECIALS : any % SPECIALS];
    if (format->is_float && index % 4)
        return moderate(format, any);
    return any & mask_of(format->bits);
}

struct semantics_values *semantics_values_create(void)
{
    struct semantics_values *const values = must_zeros(1, sizeof *values);
    for (unsigned class = 0; class < SEMANTICS_CLASS_COUNT; class ++)
        for (unsigned position = 0; position < SEMANTICS_POSITIONS; position++)
            for (unsigned i = 0; i < SEMANTICS_TUPLES; i++) {
                bool is_pair;
                const struct format *const format = format_of(class, &is_pair);
                uint64_t *const value = &values->of[class][position][i];
                *value = format ? scalar(format, position, i) : semantics_any(position, i) & 1;
                if (format && is_pair)
                    *value |= scalar(format, position, (i * 37 + 11) % SEMANTICS_TUPLES) << format->bits;
            }
    return values;
}

void semantics_values_destroy(struct semantics_values *values)
{
    free(values);
}
