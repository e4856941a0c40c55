/* app_kernels.c - scenarios of app.c: kernels that take long, hang or fault. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app.h"

void slow(void)
{
    CUmodule module;
    CUstream stream = NULL;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "slow", &module);
    DO(cuStreamCreate, &stream, 1);
    launch(function, 1, stream);
    puts("launched");
    fflush(stdout);
    DO(cuStreamSynchronize, stream);
}

/* Contexts that end while a marker is in flight, and while one is put down. */
void hanging_contexts(void)
{
    CUmodule module;
    for (int i = 0; i < 6; i++) {
        CUcontext context = create(i % 2);
        launch(function_of(FAKE_PLAIN_IMAGE, "hang", &module), 1, NULL);
        usleep((unsigned)i * 90000);
        DO(cuCtxDestroy, context);
    }
}

void hang(void)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_PLAIN_IMAGE, "hang", &module), 1, NULL);
    puts("launched");
    fflush(stdout);
}

/* A capture that takes as long as a few markers, over work that is still going on. */
void long_capture(void)
{
    CUmodule module;
    CUstream stream = NULL;
    CUgraph graph = NULL;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "slow", &module);
    DO(cuStreamCreate, &stream, 1);
    launch(function, 1, NULL);
    usleep(600000);
    DO(cuStreamBeginCapture, stream, 0);
    launch(function, 1, stream);
    usleep(800000);
    DO(cuStreamEndCapture, stream, &graph);
    usleep(1500000);
}

/* A capture that never ends; beside it a kernel hangs, or (`idle`) nothing is given to the GPU. */
static void left_capture(int idle)
{
    CUmodule module;
    CUstream captured = NULL, other = NULL;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "hang", &module);
    DO(cuStreamCreate, &captured, 1);
    DO(cuStreamCreate, &other, 1);
    DO(cuStreamBeginCapture, captured, 0);
    launch(function, 1, captured);
    if (!idle)
        launch(function, 1, other);
    usleep(600000);
}

void fault(void)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_PLAIN_IMAGE, "fault", &module), 1, NULL);
    DO(cuCtxSynchronize);
}

/* The program launches and never asks how it went. */
void fault_unasked(void)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_PLAIN_IMAGE, "fault", &module), 1, NULL);
}

/* A probed kernel that faults, and a program that ends with status 7 as soon as it is told. */
static void probed_fault(const char *kernel)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_FAULT_IMAGE, kernel, &module), 1, NULL);
    DO(cuCtxSynchronize);
    wait_if_asked();
    exit(7);
}

/* The fault is in the second of two contexts, between two launches in the first. */
void fault_beside(void)
{
    CUmodule module;
    CUcontext first = create(0);
    CUfunction probed = function_of(FAKE_PROBED_IMAGE, "probed", &module);
    launch(probed, 1, NULL);
    create(1);
    launch(function_of(FAKE_FAULT_IMAGE, "overrun", &module), 1, NULL);
    DO(cuCtxSynchronize);
    DO(cuCtxSetCurrent, first);
    launch(probed, 1, NULL);
    DO(cuCtxSynchronize);
    exit(7);
}

void fault_and_die(void)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_FAULT_IMAGE, "overrun", &module), 1, NULL);
    DO(cuCtxSynchronize);
    raise(SIGKILL);
}

/* The context that faulted is ended, and another one used. */
void fault_and_go_on(void)
{
    CUmodule module;
    CUcontext faulted = create(0);
    launch(function_of(FAKE_FAULT_IMAGE, "overrun", &module), 1, NULL);
    DO(cuCtxSynchronize);
    DO(cuCtxDestroy, faulted);
    create(0);
    launch(function_of(FAKE_PROBED_IMAGE, "probed", &module), 1, NULL);
}

void capture_left(void)
{
    left_capture(0);
}

void capture_left_idle(void)
{
    left_capture(1);
}

void overrun(void)
{
    probed_fault("overrun");
}

void fault_without_cause(void)
{
    probed_fault("fault");
}
