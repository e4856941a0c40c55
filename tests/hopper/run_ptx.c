/* run_ptx.c - see run_ptx.h. */
#include "hopper/run_ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parse.h"

enum { INSTRUCTIONS_MOST = 200000000 };

static void must(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

void run_ptx_open(struct run_ptx *run, const char *text, const struct wsdbg_schedule_options *schedule)
{
    *run = (struct run_ptx){0};
    struct wsdbg_gpu_options options = {.multiprocessors = 4, .memory_bytes = 64 << 20};
    if (schedule)
        options.schedule = *schedule;
    must(wsdbg_ptx_parse(text, strlen(text), "test", &run->program));
    must(wsdbg_gpu_create(&options, &run->gpu));
    must(wsdbg_gpu_load(run->gpu, run->program, &run->module));
}

void run_ptx_close(struct run_ptx *run)
{
    if (run->grid)
        wsdbg_gpu_forget(run->gpu, run->grid);
    wsdbg_gpu_unload(run->gpu, run->module);
    wsdbg_gpu_destroy(run->gpu);
    wsdbg_ptx_program_destroy(run->program);
}

void *run_ptx_memory(struct run_ptx *run, size_t byte_count)
{
    uint64_t address = 0;
    must(wsdbg_gpu_allocate(run->gpu, byte_count, 256, &address));
    return (void *)(uintptr_t)address;
}

enum wsdbg_gpu_outcome run_ptx_launch(struct run_ptx *run, const struct run_ptx_launch *launch)
{
    int driver_error = 0;
    const struct wsdbg_gpu_launch asked = {
        .module = run->module,
        .function = launch->kernel ? wsdbg_ptx_find_function(run->program, launch->kernel) : &run->program->functions[0],
        .grid = {launch->grid ? launch->grid : 1, 1, 1},
        .block = {launch->block ? launch->block : 32, 1, 1},
        .cluster = {launch->cluster, launch->cluster ? 1 : 0, launch->cluster ? 1 : 0},
        .dynamic_shared_bytes = launch->shared_bytes,
        .parameters = launch->parameters,
    };
    assert_non_null(asked.function);
    if (run->grid)
        wsdbg_gpu_forget(run->gpu, run->grid);
    must(wsdbg_gpu_submit(run->gpu, &asked, &driver_error, &run->grid));
    return wsdbg_gpu_run(run->gpu, INSTRUCTIONS_MOST);
}

int run_ptx_error(const struct run_ptx *run)
{
    const struct wsdbg_gpu_fault *const fault = wsdbg_gpu_fault(run->grid);
    return fault ? fault->driver_error : 0;
}

const char *run_ptx_error_text(const struct run_ptx *run)
{
    const struct wsdbg_gpu_fault *const fault = wsdbg_gpu_fault(run->grid);
    return fault ? fault->text : "";
}

char *run_ptx_kernel(const char *body)
{
    static const char before[] = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                                 ".visible .entry test(.param .u64 out)\n{\n"
                                 ".reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .f32 %f<256>;\n.reg .pred %p<8>;\n"
                                 ".reg .b16 %h<16>;\nld.param.u64 %rd1, [out];\n";
    const size_t length = sizeof before + strlen(body) + 16;
    char *const text = malloc(length);
    assert_non_null(text);
    snprintf(text, length, "%s%s\nret;\n}\n", before, body);
    return text;
}

void run_ptx_body(const char *body, uint32_t block, void *out, size_t out_bytes)
{
    struct run_ptx run;
    char *const text = run_ptx_kernel(body);
    run_ptx_open(&run, text, NULL);
    void *const memory = run_ptx_memory(&run, out_bytes);
    memcpy(memory, out, out_bytes);
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    const enum wsdbg_gpu_outcome outcome = run_ptx_launch(&run, &(struct run_ptx_launch){.block = block, .parameters = &address});
    if (outcome != WSDBG_GPU_IDLE)
        fail_msg("outcome %d: %s", outcome, run_ptx_error_text(&run));
    memcpy(out, memory, out_bytes);
    run_ptx_close(&run);
    free(text);
}
