/* app.h - what the parts of app.c share. */
#ifndef WSDBG_TESTS_SHIM_APP_H
#define WSDBG_TESTS_SHIM_APP_H

#include "fake_calls.h"
#include "fake_cuda.h"

struct app_calls {
#define X(name, exported, types) CUresult(*name) types;
    FAKE_CALLS(X)
#undef X
};
extern struct app_calls cu;

#define X(name, exported, types) static const char exported_name_##name[] __attribute__((unused)) = #exported;
FAKE_CALLS(X)
#undef X

/* Prints what a call answered, and returns it. */
int say(const char *name, int result);
#define DO(name, ...) say(exported_name_##name, cu.name(__VA_ARGS__))

void fail(const char *what);
CUcontext create(CUdevice device);
extern CUcontext first_context; /* that create() made */
CUfunction function_of(const char *image, const char *name, CUmodule *module);
int launch(CUfunction function, unsigned grid, CUstream stream);
void wait_if_asked(void);

/* ---- app_orders.c: what a test tells the program to do while it waits ---- */

void obey(char order);

/* ---- app_refusals.c: what the driver refuses ---- */

void refusals(void);
void graph_refusals(void);
void library_refusals(void);
void question_refusals(void);

/* ---- app_graphs.c: kernels in graphs ---- */

void graph_kernels(void);

/* ---- app_memory.c: memory of every kind, and work for streams ---- */

void memory_kinds(void);
void mappings(void);
void many_allocations(void);
void racing_allocations(void);
void stream_work(void);

/* ---- app_process.c: signals, exit, fork, and images and names of every size ---- */

void only_context(void);
void long_name(void);
void module_again(void);
void large_image(void);
void pending_signal(void);
void exit_handler(void);
void rank_before_context(void);
void rank_before_module(void);
void exit_with_3(void);
void refused_in_a_capture(void);
void fork_beside(void);
void load_beside_first_call(void);
void fork_and_leave(void);
void write_to_nothing(void);
void spawn_beside(void);

/* ---- app_kernels.c: kernels that take long, hang or fault ---- */

void slow(void);
void hang(void);
void hanging_contexts(void);
void long_capture(void);
void capture_left(void);
void capture_left_idle(void);
void fault(void);
void fault_unasked(void);
void fault_beside(void);
void fault_and_die(void);
void fault_and_go_on(void);
void overrun(void);
void fault_without_cause(void);

#endif
