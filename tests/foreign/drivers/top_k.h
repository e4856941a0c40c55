/* top_k.h - what a top-k kernel selected from a row, in an order in which it can be compared with a sorted row. */
#ifndef WSDBG_TESTS_FOREIGN_TOP_K_H
#define WSDBG_TESTS_FOREIGN_TOP_K_H

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

/* The numbers at `count` indices, in descending order; NaN for an index that is outside the row or there twice. */
inline std::vector<float> selected(const std::vector<float> &row, const int *indices, int count)
{
    std::vector<float> all;
    std::vector<bool> is_taken(row.size());
    for (int i = 0; i < count; i++) {
        const bool is_right = indices[i] >= 0 && (size_t)indices[i] < row.size() && !is_taken[indices[i]];
        all.push_back(is_right ? row[indices[i]] : NAN);
        if (is_right)
            is_taken[indices[i]] = true;
    }
    std::sort(all.begin(), all.end(), std::greater<float>());
    return all;
}

#endif
