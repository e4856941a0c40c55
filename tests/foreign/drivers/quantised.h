/* quantised.h - inputs of attention kernels with Q and K in int8 and V in fp8, for warpgroup instructions of sm_90. */
#ifndef WSDBG_TESTS_FOREIGN_QUANTISED_H
#define WSDBG_TESTS_FOREIGN_QUANTISED_H

#include <cuda_fp8.h>

#include "check.h"

inline std::vector<int8_t> random_bytes(size_t count, uint32_t seed)
{
    std::vector<int8_t> all;
    for (float number : random_numbers<float>(count, seed))
        all.push_back((int8_t)(number * 8));
    return all;
}

inline std::vector<float> scales(size_t count)
{
    std::vector<float> all(count);
    for (size_t i = 0; i < count; i++)
        all[i] = 0.0625f + (float)(i * 7 % 11) / 128;
    return all;
}

/* The fragments of P want the tokens of V in another order, in groups of 16, and V with a token a column. */
inline int column_of(int token)
{
    const int at = token % 16;
    return token - at + at / 8 * 2 + at / 2 % 4 * 4 + at % 2;
}

/* V in that order; after the first `length` columns of a row of `padded` come zeros. */
inline std::vector<__nv_fp8_e4m3> in_columns(const std::vector<__nv_fp8_e4m3> &numbers, int length, int padded)
{
    std::vector<__nv_fp8_e4m3> v(numbers.size(), __nv_fp8_e4m3(0.0f));
    for (size_t row = 0; row < numbers.size(); row += padded)
        for (int token = 0; token < length; token++)
            v[row + column_of(token)] = numbers[row + token];
    return v;
}

#endif
