/* shapes.h - what the modes of shapes.c share. */
#ifndef WSDBG_TESTS_H200_SHAPES_H
#define WSDBG_TESTS_H200_SHAPES_H

#include "shapes_work.h"

/* Ids of rows in demo_kernels/waits/waits.def. */
#define MBARRIER "arrive_short"
#define TRANSACTION "copy_missing"
#define CLUSTER "cluster_missing"
enum { LANES_MAX = 8 };

struct shapes {
    struct device device; /* 0 */
    struct shapes_driver more;
    bool healthy;
    long seconds;
    double until; /* shapes_now() */
};

/* Host seconds. */
double shapes_now(void);
/* A line on stdout, at once. */
void shapes_say(const char *text);
/* The line that says that all results were right. */
void shapes_say_ok(uint64_t steps);
/* Checked steps in every lane but `but` until the time is over; `but` LANES_MAX = in all. */
struct wsdbg_error *shapes_work(const struct shapes *s, struct lane *lanes, unsigned count, unsigned but);

/* Modes. */
struct wsdbg_error *shapes_graph(const struct shapes *s);
struct wsdbg_error *shapes_capture(const struct shapes *s);
struct wsdbg_error *shapes_capture_left(const struct shapes *s);
struct wsdbg_error *shapes_capture_left_unseen(const struct shapes *s);

#endif
