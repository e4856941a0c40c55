/* attention_backward.h - the reference of backward attention kernels: the gradients of softmax(scale * Q K^T) V. */
#ifndef WSDBG_TESTS_FOREIGN_ATTENTION_BACKWARD_H
#define WSDBG_TESTS_FOREIGN_ATTENTION_BACKWARD_H

#include <cmath>
#include <vector>

/* All rows have `size` numbers. */
template <typename Number> struct BackwardInputs {
    int size;
    double scale;
    const std::vector<Number> &q, &k, &v, &d_o;
};

/* The output, and the gradients of Q, K and V. */
struct Gradients {
    std::vector<float> o, dq, dk, dv;
    Gradients(size_t q_count, size_t kv_count) : o(q_count), dq(q_count), dk(kv_count), dv(kv_count)
    {
    }
};

/* Of a row's softmax: the logarithm of the sum, and the product of the output with its gradient. */
struct RowSums {
    double log_sum, mean;
};

template <typename Number> double dot(const Number *a, const Number *b, int size)
{
    double sum = 0;
    for (int i = 0; i < size; i++)
        sum += (double)(float)a[i] * (float)b[i];
    return sum;
}

template <typename Number> void add(float *sums, double factor, const Number *row, int size)
{
    for (int i = 0; i < size; i++)
        sums[i] += (float)(factor * (float)row[i]);
}

/* Adds what one row of Q has to do with some rows of K and V.  It begins at number `row`, they begin at `others`. */
template <typename Number>
RowSums add_gradients(const BackwardInputs<Number> &in, size_t row, const std::vector<size_t> &others, Gradients &all)
{
    std::vector<double> weights, slopes;
    double sum = 0, mean = 0;
    for (size_t other : others) {
        weights.push_back(std::exp(in.scale * dot(&in.q[row], &in.k[other], in.size)));
        slopes.push_back(dot(&in.d_o[row], &in.v[other], in.size));
        sum += weights.back();
    }
    for (size_t i = 0; i < others.size(); i++) {
        weights[i] /= sum;
        mean += weights[i] * slopes[i];
        add(&all.o[row], weights[i], &in.v[others[i]], in.size);
    }
    for (size_t i = 0; i < others.size(); i++) {
        const double slope = weights[i] * (slopes[i] - mean) * in.scale;
        add(&all.dq[row], slope, &in.k[others[i]], in.size);
        add(&all.dk[others[i]], slope, &in.q[row], in.size);
        add(&all.dv[others[i]], weights[i], &in.d_o[row], in.size);
    }
    return {std::log(sum), mean};
}

#endif
