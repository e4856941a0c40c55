/* bench_hopper.c - measures the simulator: warp-instructions a second on one core, for arithmetic and for the memory
 * path.
 *
 *   bench_hopper [ROUNDS [NAME]]   prints one JSON object; every number is the median of five runs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hopper/gpu.h"
#include "ptx/parse.h"

enum { RUNS = 5, CTAS = 4, THREADS = 256 };

struct bench {
    const char *name, *body; /* of a loop */
};

static const char head[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n"
    ".visible .entry main(.param .u64 at, .param .u32 rounds)\n{\n.reg .pred p, q;\n"
    ".reg .b32 i, n, a, b, c, d, e;\n.reg .f32 x, y, z;\n.reg .b64 p0, p1, s;\n"
    ".shared .align 16 .b8 tile[4096];\n"
    ".reg .b64 p2;\n"
    "ld.param.u64 p0, [at];\nld.param.u32 n, [rounds];\nmov.u32 i, 0;\nmov.u32 a, %tid.x;\n"
    "mul.wide.u32 s, a, 16;\nadd.u64 p2, p0, s;\nmul.wide.u32 s, a, 4;\nadd.u64 p0, p0, s;\nmov.u32 b, 3;\nmov.f32 x, "
    "0f3F800000;\n"
    "mov.f32 y, 0f3F000000;\nmov.f32 z, 0f00000000;\nmov.u32 e, tile;\nshl.b32 d, a, 2;\nadd.u32 e, e, d;\n"
    "again:\n";
static const char tail[] = "add.u32 i, i, 1;\nsetp.lt.u32 p, i, n;\n@p bra again;\nret;\n}\n";

static const struct bench benches[] = {
    {"integer", "add.u32 a, a, b;\nmad.lo.u32 c, a, b, i;\nxor.b32 a, c, b;\nshl.b32 d, a, 3;\nand.b32 d, d, 255;\n"
                "or.b32 b, b, d;\nadd.s32 c, c, -1;\nmul.wide.u32 s, c, 4;\nshr.u32 a, a, 1;\nselp.b32 c, a, b, p;\n"},
    {"float", "fma.rn.f32 z, x, y, z;\nadd.f32 x, x, y;\nmul.f32 y, y, x;\nfma.rn.f32 z, x, y, z;\nadd.f32 x, x, z;\n"
              "sub.f32 y, y, x;\nfma.rn.f32 z, x, y, z;\nmul.f32 x, x, y;\n"},
    {"half warp", "setp.lt.u32 q, a, 16;\n@q add.u32 a, a, b;\n@q mad.lo.u32 c, a, b, i;\n@!q xor.b32 c, a, b;\n@q "
                  "shl.b32 d, a, 3;\n"},
    {"global memory",
     "ld.global.u32 a, [p0];\nadd.u32 a, a, b;\nst.global.u32 [p0], a;\nld.global.u32 c, [p0+1024];\n"},
    {"global memory, 16 bytes a lane", "ld.global.v4.u32 {a, b, c, d}, [p2];\nadd.u32 a, a, b;\n"
                                       "st.global.v4.u32 [p2], {a, b, c, d};\nld.global.v4.u32 {a, b, c, d}, "
                                       "[p2+16384];\n"},
    {"shared memory", "ld.shared.u32 a, [e];\nadd.u32 a, a, b;\nst.shared.u32 [e], a;\nld.shared.f32 x, [e+1024];\n"},
};

/* Of this thread's work, so that a busy machine says the same. */
static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void ok(struct wsdbg_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "bench_hopper: %s\n", wsdbg_error_message(error));
    exit(1);
}

/* Millions of warp-instructions a second. */
static double run_once(const struct bench *bench, uint32_t rounds)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", head, bench->body, tail);
    struct wsdbg_gpu *gpu;
    struct wsdbg_ptx_program *program;
    struct wsdbg_gpu_module *module;
    struct wsdbg_grid_run *run;
    struct {
        uint64_t at;
        uint32_t rounds;
    } parameters = {.rounds = rounds};
    ok(wsdbg_gpu_create(&(struct wsdbg_gpu_options){.multiprocessors = CTAS}, &gpu));
    ok(wsdbg_ptx_parse(text, strlen(text), bench->name, &program));
    ok(wsdbg_gpu_load(gpu, program, &module));
    ok(wsdbg_gpu_allocate(gpu, 65536, 0, &parameters.at));
    const struct wsdbg_gpu_launch launch = {.module = module,
                                            .function = wsdbg_ptx_find_function(program, "main"),
                                            .grid = {CTAS, 1, 1},
                                            .block = {THREADS, 1, 1},
                                            .parameters = &parameters};
    int driver_error;
    ok(wsdbg_gpu_submit(gpu, &launch, &driver_error, &run));
    const double begin = seconds();
    if (wsdbg_gpu_run(gpu, UINT64_MAX) != WSDBG_GPU_IDLE) {
        fprintf(stderr, "bench_hopper: %s: %s\n", bench->name,
                wsdbg_gpu_fault(run) ? wsdbg_gpu_fault(run)->text : "it stopped");
        exit(1);
    }
    const double rate = (double)wsdbg_gpu_instructions(gpu) / (seconds() - begin) / 1e6;
    wsdbg_gpu_forget(gpu, run);
    wsdbg_gpu_unload(gpu, module);
    wsdbg_gpu_destroy(gpu);
    wsdbg_ptx_program_destroy(program);
    return rate;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    printf("{\"unit\": \"million warp-instructions a second of one core\"");
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        double rates[RUNS];
        if (argc > 2 && strcmp(argv[2], benches[i].name) != 0)
            continue;
        for (size_t run = 0; run < RUNS; run++)
            rates[run] = run_once(&benches[i], rounds);
        qsort(rates, RUNS, sizeof *rates, compare);
        printf(", \"%s\": %.1f", benches[i].name, rates[RUNS / 2]);
    }
    printf("}\n");
    return 0;
}
