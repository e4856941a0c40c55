/* torchao_mx_rearrange.cu - a kernel of pytorch/ao, csrc/cuda/mx_kernels/mx_block_rearrange_2d_M_groups.cu: it brings
 * the scales of MX formats into the order that tensor cores read, for the groups of a grouped GEMM.
 *
 * Two buffers have one mbarrier each, on which all threads arrive.  A TMA copy fills a buffer.  The same threads
 * permute it in place and store it by bulk copies; when these have read it, the buffer is free.  No warp has a role of
 * its own.  One group is empty, and others are no multiple of 128 rows.  The program reads no file.  It compares all
 * bytes with the host's.
 *
 *     nvcc -std=c++17 -O3 -I CHECKOUT/torchao/csrc/cuda/mx_kernels torchao_mx_rearrange.cu -lcuda
 */
#include "mx_block_rearrange_2d_M_groups.cu"

#include "check.h"

enum { BLOCK = 128 };

static size_t padded(int rows)
{
    return (size_t)(rows + BLOCK - 1) / BLOCK * BLOCK;
}

/* Blocks of 128 rows and 4 columns; in a block, rows that are 32 apart lie next to each other. */
static std::vector<uint8_t> rearranged(const std::vector<uint8_t> &input, const std::vector<int> &ends, int columns)
{
    const size_t tiles = (columns + 3) / 4;
    std::vector<uint8_t> all;
    for (int group = 0, begin = 0; group < (int)ends.size(); begin = ends[group++]) {
        const size_t first = all.size();
        all.resize(first + padded(ends[group] - begin) * tiles * 4);
        for (int row = 0; row < ends[group] - begin; row++)
            for (int column = 0; column < columns; column++) {
                const size_t tile = row / BLOCK * tiles + column / 4;
                const size_t at = tile * 512 + row % 32 * 16 + row % BLOCK / 32 * 4 + column % 4;
                all[first + at] = input[(size_t)(begin + row) * columns + column];
            }
    }
    return all;
}

int main(int argc, char **argv)
{
    const int columns = argc > 1 ? atoi(argv[1]) : 96;
    const int width = argc > 2 ? atoi(argv[2]) : 64, chunks = argc > 3 ? atoi(argv[3]) : 4;
    const std::vector<int> ends = {700, 700, 1500, 1611};
    const int rows = ends.back();
    std::vector<uint8_t> input;
    for (uint32_t word : random_words((size_t)rows * columns, 7))
        input.push_back((uint8_t)(1 + (word >> 16) % 255));
    const std::vector<uint8_t> wanted = rearranged(input, ends, columns);
    const int padded_rows = (int)(wanted.size() / ((columns + 3) / 4 * 4));
    uint8_t *const output = on_device(std::vector<uint8_t>(wanted.size()));
    mxfp8::launch_mx_block_rearrange_2d_M_groups_cuda(on_device(input), columns, rows, columns, padded_rows,
                                                      (const int32_t *)on_device(ends), output, (int)ends.size(), width,
                                                      chunks, 0);
    must(cudaGetLastError());
    return verdict(differences(wanted, from_device(output, wanted.size())), wanted.size(), "bytes");
}
