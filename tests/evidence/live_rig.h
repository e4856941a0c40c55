/* live_rig.h - a program under the observer on the fake driver, and the debug attach to its fake GPU. */
#ifndef WSDBG_TESTS_LIVE_RIG_H
#define WSDBG_TESTS_LIVE_RIG_H

#include "shim/harness.h"

#include "evidence/live_machine.h"
#include "evidence/segment_map.h"
#include "fake_debug.h"

#define LIMIT_NS 5000000000ull

struct rig {
    struct run run;
    struct wsdbg_attach_link attach;
    struct wsdbg_machine *machine;
    struct fake_gpu *gpu;
    uint64_t limit_ns;        /* of each step */
    bool is_beside;           /* on the GPU of another one */
    uint32_t ends_beside_one; /* 1 = its driver still has the debugger when the program ends */
    int orders;               /* that the program was given */
    const char *last;         /* of the program's calls before it waits, as it says it */
};

/* A program that waits with its kernels launched; `setting` goes into its environment, NULL = nothing. */
struct rig rig_start(const char *setting);
/* The same, and the driver's event thread sleeps on what look like a GPU's files. */
struct rig rig_start_with_device_files(void);
/* Whose program has what a sanitizer's runtime shows of itself. */
struct rig rig_start_with_sanitizer(bool linked_in);
/* A program that waits with a context and before its first launch. */
struct rig rig_start_before_launch(const char *setting);
/* Another program on the same GPU, to be finished first. */
struct rig rig_start_beside(const struct rig *first);
/* The same on another GPU. */
struct rig rig_start_on_another_gpu(const struct rig *first);
/* The program ends as it would have: status 0, all its output, nothing on stderr. */
void rig_finish(struct rig *rig);
/* The GPU runs, nobody is attached, and observer and inspectors agree: within 15 s. */
void rig_assert_left_alone(struct rig *rig);

/* Tells the program to do something (app_orders.c), and goes on. */
void rig_order(struct rig *rig, char order);
/* Whether it has done all that it was told to. */
bool rig_has_obeyed(struct rig *rig);
/* ... and waits until it has: 10 s at most. */
void rig_await_obeyed(struct rig *rig);

/* An inspector comes in to stay. */
struct wsdbg_error *rig_stay(struct rig *rig);

enum { RIG_ATTACH, RIG_SUSPEND, RIG_WARPS, RIG_READ, RIG_RESUME, RIG_DETACH, RIG_STEPS };
/* One step of a look; RIG_READ reads a register and 16 bytes of shared memory. */
struct wsdbg_error *rig_step(struct rig *rig, int step);
void rig_ok(struct wsdbg_error *error);
/* The error's text holds `words`; it is destroyed. */
void rig_says(struct wsdbg_error *error, const char *words);

#endif
