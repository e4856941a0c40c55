/* ranks.c - see ranks.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "model/rows.h"

enum { FIRST = 77, SECOND = 78, WORD = 0x7000 };

static void *row(size_t *count, size_t bytes)
{
    void *array = calloc(*count = 1, bytes);
    assert_non_null(array);
    return array;
}

/* The same kernel in another process, whose first warp polls a word that came from somewhere else. */
static void make_waiting(struct example *waiting)
{
    example_hang(waiting, 1, 0);
    struct wsdbg_snapshot *s = &waiting->snapshot;
    s->processes[0].process_id = s->processes[0].pid = SECOND;
    s->contexts[0].process_id = s->modules[0].process_id = s->functions[0].process_id = SECOND;
    s->launches[0].process_id = s->threads[0].process_id = SECOND;
    s->allocations = row(&s->allocation_count, sizeof *s->allocations);
    s->allocations[0] = (struct wsdbg_allocation){
        .process_id = SECOND,
        .context = 0,
        .row = {.number = 1, .address = WORD, .bytes = 4096, .kind = WSDBG_ALLOCATION_IMPORTED, .call_number = 1}};
    strcpy(s->allocations[0].row.call, "cuIpcOpenMemHandle");
    s->parts = row(&s->part_count, sizeof *s->parts);
    s->parts[0] = (struct wsdbg_part){.state = WSDBG_WARP_SPIN_GLOBAL,
                                      .lanes = 1,
                                      .site = WSDBG_NONE,
                                      .barrier = WSDBG_NONE,
                                      .address = wsdbg_known_u64(WORD + 8)};
    s->warps[0].part_count = 1;
}

void ranks_make_waiting(struct example *example)
{
    make_waiting(example);
    free(example->diagnosis.findings[0].evidence);
    free(example->diagnosis.findings);
    free(example->diagnosis.edges);
    example->diagnosis = (struct wsdbg_diagnosis){0};
}

static void set_rank(struct wsdbg_process *process, uint32_t rank, uint32_t world_size, const char *job)
{
    process->rank = process->local_rank = wsdbg_known_u32(rank);
    process->world_size = (struct wsdbg_optional_u32){.value = world_size, .known = world_size != 0};
    strcpy(process->rank_from, "RANK");
    strcpy(process->job, job);
}

void ranks_set(struct example *example, uint32_t rank, uint32_t world_size, const char *job)
{
    set_rank(&example->snapshot.processes[0], rank, world_size, job);
}

/* What the other process took may be this. */
static void give_memory_away(struct wsdbg_snapshot *s)
{
    s->allocations = row(&s->allocation_count, sizeof *s->allocations);
    s->allocations[0] = (struct wsdbg_allocation){.process_id = FIRST,
                                                  .context = 0,
                                                  .row = {.number = 1,
                                                          .address = WORD,
                                                          .bytes = 4096,
                                                          .kind = WSDBG_ALLOCATION_DEVICE,
                                                          .call_number = 1,
                                                          .flags = WSDBG_ALLOCATION_EXPORTED}};
    strcpy(s->allocations[0].row.call, "cuMemAlloc");
}

void ranks_make(struct example *example)
{
    struct example waiting;
    const struct wsdbg_table_maps none = {0};
    example_hang(example, 2, 0);
    give_memory_away(&example->snapshot);
    make_waiting(&waiting);
    example_ok(wsdbg_rows_append(&example->snapshot, &waiting.snapshot, &none));
    example_free(&waiting);
    example->info.hostname = "node-a";
    set_rank(&example->snapshot.processes[0], 1, 2, "MASTER_PORT=29500\n");
    set_rank(&example->snapshot.processes[1], 0, 2, "MASTER_PORT=29500\n");
}

void ranks_add_idle(struct example *example, uint32_t count)
{
    struct wsdbg_snapshot *s = &example->snapshot;
    s->processes = reallocarray(s->processes, count, sizeof *s->processes);
    assert_non_null(s->processes);
    for (uint32_t rank = 2; rank < count; rank++) {
        struct wsdbg_process *process = &s->processes[s->process_count++];
        *process = (struct wsdbg_process){.process_id = 1000 + rank, .pid = 1000 + rank};
        set_rank(process, rank, count, "MASTER_PORT=29500\n");
        if (rank + 1 == count)
            process->end = (struct wsdbg_process_end){.kind = WSDBG_END_SIGNAL, .value = 9};
    }
}
