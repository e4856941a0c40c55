/* run_ptx.h - a kernel given as PTX text, run on a simulated device, for tests.
 *
 * Every step that fails fails the test with its reason.
 */
#ifndef WSDBG_TESTS_RUN_PTX_H
#define WSDBG_TESTS_RUN_PTX_H

#include "hopper/gpu.h"

struct run_ptx {
    struct wsdbg_ptx_program *program;
    struct wsdbg_gpu *gpu;
    struct wsdbg_gpu_module *module;
    struct wsdbg_grid_run *grid; /* the last launch */
};

/* A device under `schedule` (NULL: round robin) with the program loaded. */
void run_ptx_open(struct run_ptx *run, const char *text, const struct wsdbg_schedule_options *schedule);
void run_ptx_close(struct run_ptx *run);
/* Device memory, zeroed. */
void *run_ptx_memory(struct run_ptx *run, size_t byte_count);

struct run_ptx_launch {
    const char *kernel; /* NULL: the program's only one */
    uint32_t grid, block, cluster, shared_bytes; /* grid, block: 0 = 1 and 32 */
    const void *parameters;
};
/* Launches and runs until the device stops; also when that is a deadlock or a fault. */
enum wsdbg_gpu_outcome run_ptx_launch(struct run_ptx *run, const struct run_ptx_launch *launch);
/* The fault's CUresult; 0: none. */
int run_ptx_error(const struct run_ptx *run);
const char *run_ptx_error_text(const struct run_ptx *run);

/* One kernel `test` with one parameter, a pointer to `out_bytes` of device memory, with `body` between its braces.
 * Registers %r<32>, %rd<32>, %f<256>, %p<8>, %h<16> are declared and %rd1 holds the pointer.  The text is the caller's to free. */
char *run_ptx_kernel(const char *body);
/* Runs such a body, closes the device; what the memory holds comes back in `out`. */
void run_ptx_body(const char *body, uint32_t block, void *out, size_t out_bytes);

#endif
