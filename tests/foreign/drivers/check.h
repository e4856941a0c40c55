/* check.h - what the host programs in this folder share: inputs, a reference product made on the host, its comparison.
 *
 * Each of them includes a kernel's header from the user's checkout, runs the kernel once, and prints "Passed" or
 * "Failed".
 *
 * In the nvcc lines of these programs, CHECKOUT is a checkout of the project that their first line names, and CUTLASS
 * is one of NVIDIA/cutlass.  ../run.py names the commits.
 */
#ifndef WSDBG_TESTS_FOREIGN_CHECK_H
#define WSDBG_TESTS_FOREIGN_CHECK_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

/* Ends the program if the call failed. */
inline void must(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    printf("Failed: %s\n", cudaGetErrorString(status));
    exit(1);
}

/* Random words; their upper bits are the better ones. */
inline std::vector<uint32_t> random_words(size_t count, uint32_t seed)
{
    std::vector<uint32_t> all(count);
    for (uint32_t &word : all)
        word = seed = seed * 1664525u + 1013904223u;
    return all;
}

/* Numbers from -1 to 7/8 in steps of 1/8, so that sums of products are exact in fp32. */
template <typename Number> std::vector<Number> random_numbers(size_t count, uint32_t seed)
{
    std::vector<Number> all;
    for (uint32_t word : random_words(count, seed))
        all.push_back(Number((float)(word >> 16 & 15) / 8.0f - 1.0f));
    return all;
}

template <typename Number> Number *on_device(const std::vector<Number> &values)
{
    Number *memory;
    must(cudaMalloc((void **)&memory, values.size() * sizeof(Number)));
    must(cudaMemcpy(memory, values.data(), values.size() * sizeof(Number), cudaMemcpyHostToDevice));
    return memory;
}

template <typename Number> std::vector<Number> from_device(const Number *memory, size_t count)
{
    std::vector<Number> all(count);
    must(cudaDeviceSynchronize());
    must(cudaMemcpy(all.data(), memory, count * sizeof(Number), cudaMemcpyDeviceToHost));
    return all;
}

/* A stream whose kernels run beside those of other streams. */
inline cudaStream_t new_stream()
{
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* For each m and n the sum of a(m, k) * b(n, k) over k, at m * n_count + n. */
template <typename A, typename B> std::vector<float> product(int m_count, int n_count, int k_count, A a, B b)
{
    std::vector<float> all((size_t)m_count * n_count), column(k_count);
    for (int n = 0; n < n_count; n++) {
        for (int k = 0; k < k_count; k++)
            column[k] = b(n, k);
        for (int m = 0; m < m_count; m++) {
            float sum = 0;
            for (int k = 0; k < k_count; k++)
                sum += a(m, k) * column[k];
            all[(size_t)m * n_count + n] = sum;
        }
    }
    return all;
}

/* Prints the largest difference and "Passed" or "Failed".  Returns the program's exit status. */
template <typename Got> int compare(const std::vector<float> &wanted, Got got, float tolerance)
{
    double largest = 0, sum = 0;
    for (size_t i = 0; i < wanted.size(); i++) {
        const double difference = std::fabs((double)got(i) - wanted[i]) / (1 + std::fabs(wanted[i]));
        largest = difference > largest || std::isnan(difference) ? difference : largest;
        sum += std::fabs(wanted[i]);
    }
    const bool is_right = largest <= tolerance && sum > 0;
    printf("largest relative difference %g of %zu values: %s\n", largest, wanted.size(),
           is_right ? "Passed" : "Failed");
    return !is_right;
}

template <typename Number>
int compare(const std::vector<float> &wanted, const std::vector<Number> &got, float tolerance)
{
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, tolerance);
}

template <typename Number> void append(std::vector<float> &all, const std::vector<Number> &more)
{
    for (const Number &number : more)
        all.push_back((float)number);
}

template <typename Number> size_t differences(const std::vector<Number> &wanted, const std::vector<Number> &got)
{
    size_t wrong = 0;
    for (size_t i = 0; i < wanted.size(); i++)
        wrong += wanted[i] != got[i];
    return wrong;
}

/* Prints how many of all are wrong, and "Passed" or "Failed".  Returns the program's exit status. */
inline int verdict(size_t wrong, size_t all, const char *what)
{
    const bool is_right = wrong == 0 && all > 0;
    printf("%zu of %zu %s are wrong: %s\n", wrong, all, what, is_right ? "Passed" : "Failed");
    return !is_right;
}

#endif
