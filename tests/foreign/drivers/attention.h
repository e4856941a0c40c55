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

#endif
