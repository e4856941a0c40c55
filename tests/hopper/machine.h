/* machine.h - a small simulated device for tests: PTX text in, one grid run, memory looked at.
 *
 * A kernel here has at most two parameters, both addresses (.u64): `in` and `out`.  Whatever goes wrong in setting it
 * up fails the test.
 */
#ifndef TESTS_HOPPER_MACHINE_H
#define TESTS_HOPPER_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hopper/gpu.h"
#include "ptx/parse.h"

struct machine {
    char *text; /* of the module */
    struct wsdbg_gpu *gpu;
    struct wsdbg_ptx_program *program;
    struct wsdbg_gpu_module *module;
    struct wsdbg_grid_run *run; /* the last that was launched */
    uint64_t in, out;           /* device memory of MACHINE_BYTES each, zeros */
};
enum { MACHINE_BYTES = 65536, MACHINE_SMS = 4 };

/* What a test's text begins with. */
#define PTX_HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n"
/* A kernel `main` with the two parameters and registers of every kind: %p, %h, %r, %d, 32 of each. */
#define PTX_KERNEL                                                                                               \
    PTX_HEAD ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<32>;\n.reg .b16 %h<32>;\n" \
             ".reg .b32 %r<32>;\n.reg .b64 %d<32>;\n"

/* `options` NULL: 4 SMs, round robin. */
void machine_create(struct machine *machine, const char *text, const struct wsdbg_gpu_options *options);
void machine_destroy(struct machine *machine);
/* Launches kernel `main` without running it. */
void machine_launch(struct machine *machine, uint32_t ctas, uint32_t threads);
void machine_launch_as(struct machine *machine,
                       struct wsdbg_gpu_launch launch); /* module, function, parameters are filled in */
/* Runs until nothing is left; fails the test, with the fault's text, when that is not how it ends. */
void machine_finish(struct machine *machine);
/* All of it: one CTA of `threads`. */
void machine_run(struct machine *machine, const char *text, uint32_t threads);
/* Words of the memory at `out`. */
uint32_t machine_word(const struct machine *machine, size_t index);
uint64_t machine_word64(const struct machine *machine, size_t index);

#endif
