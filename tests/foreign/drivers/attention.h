/* attention.h - the reference of attention kernels: one row of softmax(scale * Q K^T) V, in double precision. */
#ifndef WSDBG_TESTS_FOREIGN_ATTENTION_H
#define WSDBG_TESTS_FOREIGN_ATTENTION_H

#include <cmath>
#include <vector>

/* q(i), k(at, i) and v(at, i) are elements of the row of Q and of row `at` of K and V, which have `length` rows. */
template <typename Q, typename K, typename V>
void attend(int length, int q_dimension, int v_dimension, double scale, Q q, K k, V v, float *out)
{
    std::vector<double> weights(length), all(v_dimension);
    double sum = 0;
    for (int at = 0; at < length; at++) {
        double score = 0;
        for (int i = 0; i < q_dimension; i++)
            score += (double)q(i) * k(at, i);
        sum += weights[at] = exp(score * scale);
    }
    for (int at = 0; at < length; at++)
        for (int i = 0; i < v_dimension; i++)
            all[i] += weights[at] / sum * v(at, i);
    for (int i = 0; i < v_dimension; i++)
        out[i] = (float)all[i];
}

/* All rows of O[head][row][i], of the same Q[head][row][i] and of K and V[head * kv_heads / heads][row][i]. */
template <typename Number>
std::vector<float> attention_of(const std::vector<Number> &q, const std::vector<Number> &k,
                                const std::vector<Number> &v, int heads, int kv_heads, int length, int dimension)
{
    std::vector<float> all(q.size());
    for (int head = 0; head < heads; head++)
        for (int row = 0; row < length; row++) {
            const size_t first = ((size_t)head * length + row) * dimension;
            const size_t others = (size_t)(head * kv_heads / heads) * length * dimension;
            attend(
                length, dimension, dimension, 1 / std::sqrt((double)dimension),
                [&](int i) { return (float)q[first + i]; },
                [&](int at, int i) { return (float)k[others + (size_t)at * dimension + i]; },
                [&](int at, int i) { return (float)v[others + (size_t)at * dimension + i]; }, &all[first]);
        }
    return all;
}

#endif
