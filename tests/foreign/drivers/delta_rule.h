/* delta_rule.h - the reference of linear attention by the delta rule, one token at a time; rows of length 1 for it. */
#ifndef WSDBG_TESTS_FOREIGN_DELTA_RULE_H
#define WSDBG_TESTS_FOREIGN_DELTA_RULE_H

#include <cmath>

#include "check.h"

/* One token of a head.  The state, state(i, j) for number i of V and number j of K, decays by decay(j).  Then it learns
 * with this rate that k(j) leads to v(i).  out[i] is what q(j) leads to. */
template <typename State, typename Decay, typename Q, typename K, typename V>
void delta_step(int v_size, int k_size, State state, Decay decay, double rate, Q q, K k, V v, float *out)
{
    for (int i = 0; i < v_size; i++) {
        double known = 0, sum = 0;
        for (int j = 0; j < k_size; j++)
            known += (state(i, j) *= decay(j)) * k(j);
        const double change = rate * (v(i) - known);
        for (int j = 0; j < k_size; j++)
            sum += (state(i, j) += change * k(j)) * q(j);
        out[i] = (float)sum;
    }
}

/* The length of a row; `least` is added to its square. */
template <typename Number> double length_of(const Number *row, int size, double least = 0)
{
    double sum = least;
    for (int i = 0; i < size; i++)
        sum += (double)(float)row[i] * (float)row[i];
    return std::sqrt(sum);
}

/* Rows of length 1. */
template <typename Number> std::vector<Number> unit_rows(size_t rows, int size, uint32_t seed)
{
    std::vector<Number> all = random_numbers<Number>(rows * size, seed);
    for (size_t row = 0; row < rows; row++) {
        const double length = length_of(&all[row * size], size);
        for (int i = 0; i < size; i++)
            all[row * size + i] = Number((float)((float)all[row * size + i] / length));
    }
    return all;
}

#endif
