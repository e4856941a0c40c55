/* module.cc - what a .cu file may say in WSDBG_MODULE, in every C++ that nvcc compiles: no nvcc is needed for that.
 *
 * Compiled, never run: C++11 and later; without and with relocatable device code.
 */
#define __CUDACC__
#define __CUDA_ARCH__ 800 /* the module is declared, the probes are off */
#define __constant__
#define __device__
#include "wsdbg/probe.h"

/* A comma at the end is no mistake in a C++ list. */
WSDBG_MODULE(WSDBG_ROLE(0, "producer"), WSDBG_MBARRIER(0, "full", 4, 1, 2), )

static constexpr uint32_t rows = sizeof wsdbg_names_v1 / sizeof *wsdbg_names_v1;

#if __cplusplus < 201402L || defined(__CUDACC_RDC__)
static_assert(rows == 2, "no source file is named");
#else
static_assert(rows == 2 + WSDBG_SOURCE_PARTS, "the source file is named");

static constexpr bool is_part(const char *path, uint32_t part, const char *wanted)
{
    const wsdbg_name row = wsdbg_source_(path, part);
    uint32_t i = 0;
    while (wanted[i] && row.name[i] == wanted[i])
        i++;
    return row.kind == WSDBG_NAME_SOURCE && row.id == part && !wanted[i] && !row.name[i];
}
#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
static_assert(is_part("a.cu", 0, "a.cu") && is_part("a.cu", 1, "") && is_part("a.cu", 3, ""), "one part");
static_assert(is_part(TEN TEN TEN TEN "0123456.cu", 0, TEN TEN TEN TEN "0123456") &&
                  is_part(TEN TEN TEN TEN "0123456.cu", 1, ".cu"),
              "two parts");
static_assert(is_part(LONG, 0, "23456789" TEN TEN TEN "012345678") && is_part(LONG, 3, "3456789" TEN TEN TEN TEN),
              "of 190 bytes the last 188");
#endif
