/* bench_diagnose.c - measures the diagnosis of a full chip: 132 CTAs of 16 warps that hang in a pipeline.
 *
 *   bench_diagnose ring|cluster|unnamed|state RUNS
 *
 * ring: 64 events a warp, of an arrival that is left out; cluster: the same in clusters of 4; unnamed: nobody gave
 * names; state: no events, what two looks at the machine show, with 96 instructions that each warp may reach. Prints
 * one JSON object: the times of each run, the most memory.  measure.py runs it.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "device.h"
#include "picture.h"

enum { CTAS = 132, WARPS = 16, STAGES = 4, DEPTH = 64, ITERATIONS = 40, CLUSTER = 4, OTHER_ACCESSES = 90 };
enum { FULL, EMPTY };
enum { PRODUCER, CONSUMER };
#define CONSUMERS (WARPS - 4u)
#define BYTES 32768u

/* ---- the kernel for the model device: warp 0 fills, warps 4 to 15 empty; the last of them stops to release ---- */

static void produce(struct device *d, uint32_t cta)
{
    role(d, cta, 0, PRODUCER);
    for (uint32_t i = 0; i < ITERATIONS; i++) {
        wait(d, cta, 0, EMPTY, i % STAGES, (i / STAGES & 1) ^ 1, i);
        arrive_expect(d, cta, 0, FULL, i % STAGES, i, BYTES);
        copy(d, cta, 0, FULL, i % STAGES, i, BYTES, 0);
    }
}

static void consume(struct device *d, uint32_t cta, uint32_t warp, uint32_t cluster)
{
    role(d, cta, warp, CONSUMER);
    for (uint32_t i = 0; i < ITERATIONS; i++) {
        wait(d, cta, warp, FULL, i % STAGES, i / STAGES & 1, i);
        for (uint32_t rank = 0; rank < cluster && cluster > 1; rank++)
            if (warp != WARPS - 1 || i < ITERATIONS / 2)
                arrive_remote(d, cta, warp, EMPTY, i % STAGES, i, rank);
        if (cluster == 1 && (warp != WARPS - 1 || i < ITERATIONS / 2))
            arrive(d, cta, warp, EMPTY, i % STAGES, i, 1);
    }
}

static struct device *make_device(uint32_t cluster, bool named)
{
    struct device *d = device_create(CTAS, WARPS, cluster, 128);
    if (named) {
        device_role(d, PRODUCER, "producer");
        device_role(d, CONSUMER, "consumer");
        device_mbarrier(d, FULL, "full", STAGES, false, 1 << PRODUCER, 1 << CONSUMER);
        device_mbarrier(d, EMPTY, "empty", STAGES, true, 1 << CONSUMER, 1 << PRODUCER);
    }
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        for (uint32_t s = 0; s < STAGES; s++) {
            init(d, cta, 0, FULL, s, 1);
            init(d, cta, 0, EMPTY, s, CONSUMERS * cluster);
        }
        for (uint32_t warp = 0; warp < WARPS; warp++)
            named_sync(d, cta, warp, 0, WARPS * 32);
        produce(d, cta);
        for (uint32_t warp = 4; warp < WARPS; warp++)
            consume(d, cta, warp, cluster);
        for (uint32_t warp = 0; warp < WARPS; warp++)
            leave(d, cta, warp);
    }
    return d;
}

/* ---- the same standstill from the machine's state ---- */

static void make_picture(struct picture *p)
{
    picture_init(p, CTAS, WARPS, 128);
    picture_role(p, PRODUCER, "producer", 0, 0);
    picture_role(p, CONSUMER, "consumer", 4, WARPS - 1);
    picture_name(p, FULL, "full", STAGES, 1 << PRODUCER, 1 << CONSUMER);
    picture_name(p, EMPTY, "empty", STAGES, 1 << CONSUMER, 1 << PRODUCER);
    uint32_t full = 0, empty = 0;
    for (uint32_t s = STAGES; s-- > 0;) {
        full = picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        empty = picture_mbarrier(p, EMPTY, s, 1, s == 0 ? 1 : CONSUMERS, CONSUMERS, 0);
    }
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    const uint32_t load = picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE);
    const uint32_t release = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, expect, 0, 255, 2);
    picture_reach(p, 0, 0, load, 0, 255, 2);
    picture_reach(p, 4, WARPS - 1, release, 0, 255, 2);
    for (uint32_t i = 0; i < OTHER_ACCESSES; i++)
        picture_reach(p, 0, WARPS - 1, picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1 + i % 15, 1, 128, WSDBG_LANES_ALL),
                      0, 255, 1 + i % 2);
    picture_wait(p, 0, 0, WSDBG_WARP_WAIT_MBARRIER, empty, 1);
    picture_exit(p, 1, 3);
    picture_wait(p, 4, WARPS - 1, WSDBG_WARP_WAIT_MBARRIER, full, 0);
    picture_still(p);
    picture_ready(p);
}

/* ---- measuring ---- */

struct sample {
    double wall_ms, processor_ms;
};

static double milliseconds(struct timespec t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct sample now(void)
{
    struct timespec wall, user;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &user);
    return (struct sample){milliseconds(wall), milliseconds(user)};
}

static void measure(const struct wsdbg_snapshot *snapshot, uint32_t runs)
{
    struct wsdbg_diagnosis diagnosis = {0};
    const size_t held = mallinfo2().uordblks;
    size_t added = 0;
    printf("\"runs\": [");
    for (uint32_t i = 0; i < runs; i++) {
        const struct sample start = now();
        must(wsdbg_diagnose(snapshot, &diagnosis) == NULL);
        const struct sample end = now();
        added = mallinfo2().uordblks - held;
        printf("%s{\"wall_ms\": %.3f, \"processor_ms\": %.3f}", i ? ", " : "", end.wall_ms - start.wall_ms,
               end.processor_ms - start.processor_ms);
        if (i + 1 < runs)
            wsdbg_diagnosis_deinit(&diagnosis);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("], \"answer_kib\": %zu, \"peak_mib\": %ld, \"warps\": %zu, \"events\": %zu, \"reaches\": %zu, "
           "\"findings\": %zu",
           added / 1024, usage.ru_maxrss / 1024, snapshot->warp_count, snapshot->history_count, snapshot->reach_count,
           diagnosis.finding_count);
    if (diagnosis.finding_count > 0)
        printf(", \"cause\": \"%s\", \"confidence\": \"%s\", \"ctas\": %u",
               wsdbg_cause_name(diagnosis.findings[0].cause), wsdbg_confidence_name(diagnosis.findings[0].confidence),
               diagnosis.findings[0].cta_count);
    wsdbg_diagnosis_deinit(&diagnosis);
}

int main(int argc, char **argv)
{
    const uint32_t runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (runs == 0) {
        fputs("usage: bench_diagnose ring|cluster|unnamed|state RUNS\n", stderr);
        return 2;
    }
    printf("{\"what\": \"%s\", ", argv[1]);
    if (strcmp(argv[1], "state") == 0) {
        struct picture p;
        make_picture(&p);
        measure(&p.snapshot, runs);
        picture_deinit(&p);
    } else {
        struct wsdbg_snapshot snapshot;
        struct device *d = make_device(strcmp(argv[1], "cluster") == 0 ? CLUSTER : 1, strcmp(argv[1], "unnamed") != 0);
        device_run(d, 1);
        device_snapshot(d, DEPTH, &snapshot);
        device_destroy(d);
        measure(&snapshot, runs);
        wsdbg_snapshot_deinit(&snapshot);
    }
    puts("}");
    return 0;
}
