/* memory_states.c - see memory_states.h. */
#include "memory_states.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"

struct wsdbg_allocation *add_memory(struct picture *p, uint32_t kind, const char *call)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    s->allocations = reallocarray(s->allocations, s->allocation_count + 1, sizeof *s->allocations);
    must(s->allocations);
    struct wsdbg_allocation *memory = &s->allocations[s->allocation_count++];
    *memory = (struct wsdbg_allocation){.process_id = PROCESS,
                                        .row = {.number = s->allocation_count,
                                                .address = AT,
                                                .bytes = 4096,
                                                .kind = kind,
                                                .time_ns = LAUNCHED / 2,
                                                .call_number = 12}};
    strncpy(memory->row.call, call, sizeof memory->row.call - 1);
    return memory;
}

void nothing_known(struct picture *p)
{
    (void)p;
}

void device(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_DEVICE, "cuMemAlloc");
}

void pool(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_POOL, "cuMemAllocAsync");
}

void mapped(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_VMM, "cuMemCreate");
}

void mapped_for_host(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_VMM, "cuMemCreate")->row.flags = WSDBG_ALLOCATION_HOST_ACCESS;
}

void host(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_HOST, "cuMemHostAlloc");
}

void managed(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_MANAGED, "cuMemAllocManaged");
}

void registered(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_REGISTERED, "cuMemHostRegister");
}

void imported(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_IMPORTED, "cuIpcOpenMemHandle")->row.bytes = 0;
    p->snapshot.allocations[0].row.address = AT + 68;
}

void mapped_import(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_VMM_IMPORTED, "cuMemImportFromShareableHandle");
}

void of_unknown_handle(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_VMM_UNKNOWN, "cuMemMap");
}

void of_a_later_kind(struct picture *p)
{
    add_memory(p, 77, "cuMemNew");
}

void exported(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_DEVICE, "cuMemAlloc")->row.flags = WSDBG_ALLOCATION_EXPORTED;
}

/* It had memory of this one mapped; `ended`: it is no more. */
static void other_had_memory(struct picture *p, bool ended)
{
    second_gpu(p, LAUNCHED + 1, LAUNCHED);
    struct wsdbg_context *context = &p->snapshot.contexts[1];
    context->process_id = OTHER_PROCESS;
    context->process_ended = ended;
    context->alive = !ended;
    struct wsdbg_allocation *memory = add_memory(p, WSDBG_ALLOCATION_VMM_IMPORTED, "cuMemImportFromShareableHandle");
    memory->process_id = OTHER_PROCESS;
    memory->row.freed_ns = ended ? NOW : 0;
}

void other_ended(struct picture *p)
{
    other_had_memory(p, true);
}

void other_alive(struct picture *p)
{
    other_had_memory(p, false);
}

/* The context alone is no more. */
void other_without_context(struct picture *p)
{
    other_had_memory(p, false);
    p->snapshot.contexts[1].alive = false;
}

void other_had_no_memory(struct picture *p)
{
    other_had_memory(p, true);
    p->snapshot.allocation_count = 1;
}

/* One has ended, a third one lives. */
void one_of_two_ended(struct picture *p)
{
    other_had_memory(p, true);
    struct wsdbg_snapshot *s = &p->snapshot;
    s->contexts = reallocarray(s->contexts, 3, sizeof *s->contexts);
    must(s->contexts);
    s->context_count = 3;
    s->contexts[2] = s->contexts[1];
    s->contexts[2].process_id = OTHER_PROCESS + 1;
    s->contexts[2].alive = true;
    s->contexts[2].process_ended = false;
}

void other_ended_host_free(struct picture *p)
{
    other_ended(p);
    p->snapshot.thread_count = 0;
}

void other_ended_peer_works(struct picture *p)
{
    other_ended(p);
    struct wsdbg_snapshot *s = &p->snapshot;
    s->allocations[0].row.peer_devices = 1 << 1;
    s->contexts = reallocarray(s->contexts, 3, sizeof *s->contexts);
    must(s->contexts);
    s->context_count = 3;
    s->contexts[2] = s->contexts[0];
    s->contexts[2].device_ordinal = 1;
    s->contexts[2].given_ns = wsdbg_known_u64(LAUNCHED + 1);
}

void other_ended_no_cards(struct picture *p)
{
    other_ended(p);
    p->snapshot.contexts[0].no_network_card = true;
}

void exported_mapping(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_VMM, "cuMemCreate")->row.flags = WSDBG_ALLOCATION_EXPORTED;
}

void exported_elsewhere(struct picture *p)
{
    exported_mapping(p);
    p->snapshot.allocations[0].row.flags |= WSDBG_ALLOCATION_ELSEWHERE;
}

void for_cards(struct picture *p)
{
    exported_mapping(p);
    p->snapshot.allocations[0].row.flags |= WSDBG_ALLOCATION_CARDS;
}

void of_another_process(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_DEVICE, "cuMemAlloc")->process_id = OTHER_PROCESS;
}

void beside(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_DEVICE, "cuMemAlloc")->row.bytes = 68;
}

/* The kernel polls through peer access what lies on GPU 1. */
void on_another_gpu(struct picture *p)
{
    device(p);
    p->snapshot.allocations[0].row.device = 1;
}

void somewhere(struct picture *p)
{
    pool(p);
    p->snapshot.allocations[0].row.device = WSDBG_UNKNOWN32;
}

void freed_before(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_DEVICE, "cuMemAlloc")->row.freed_ns = LAUNCHED - 1;
}

/* By cuMemFreeAsync, behind the kernel. */
void freed_after_launch(struct picture *p)
{
    add_memory(p, WSDBG_ALLOCATION_POOL, "cuMemAllocAsync")->row.freed_ns = LAUNCHED + 1;
    add_memory(p, WSDBG_ALLOCATION_MANAGED, "cuMemAllocManaged")->row.time_ns = LAUNCHED + 2;
}

void host_there_since_launch(struct picture *p)
{
    device(p);
    p->snapshot.allocations[0].row.time_ns = 1;
    host(p);
}

void host_free(struct picture *p)
{
    p->snapshot.thread_count = 0;
}

void another_thread(struct picture *p)
{
    p->snapshot.threads[0].host_state = WSDBG_HOST_GOES_ON;
}

/* A graph's launch has no kernel: which launch the grid is of is not known. */
void graph(struct picture *p)
{
    p->snapshot.grids[0].launch = WSDBG_NONE;
    p->snapshot.launches[0].function = WSDBG_NONE;
    p->snapshot.launches[0].flags = WSDBG_LAUNCH_GRAPH;
}

static void attached(struct picture *p, uint64_t attach_ns)
{
    p->snapshot.looks[0].earlier_attach_ns = attach_ns;
}

void given_before_attach(struct picture *p)
{
    attached(p, LAUNCHED + 500);
}

void given_after_attach(struct picture *p)
{
    given_before_attach(p);
    p->snapshot.contexts[0].given_ns = wsdbg_known_u64(LAUNCHED + 501);
}

void not_known_what_was_given(struct picture *p)
{
    given_before_attach(p);
    p->snapshot.contexts[0].given_ns.known = false;
}

void attached_early(struct picture *p)
{
    given_after_attach(p);
    p->snapshot.looks[0].held_nothing_back = true;
}

/* The copy itself may be what the look keeps from running. */
void copies_since_attach(struct picture *p)
{
    given_before_attach(p);
    strcpy(p->snapshot.threads[0].call, "cuMemcpyHtoD_v2");
    p->snapshot.threads[0].since_ns = LAUNCHED + 600;
}

void graph_looked_at_again(struct picture *p)
{
    graph(p);
    given_before_attach(p);
}

void another_thread_since_attach(struct picture *p)
{
    given_before_attach(p);
    another_thread(p);
}

/* GPU 1's context, which the program gave something at `given_ns` and of which all up to `done_ns` is done. */
void second_gpu(struct picture *p, uint64_t given_ns, uint64_t done_ns)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    s->contexts = reallocarray(s->contexts, 2, sizeof *s->contexts);
    must(s->contexts);
    s->context_count = 2;
    s->contexts[1] = s->contexts[0];
    s->contexts[1].device_ordinal = 1;
    s->contexts[1].given_ns = wsdbg_known_u64(given_ns);
    s->contexts[1].done_given_ns = done_ns ? wsdbg_known_u64(done_ns) : (struct wsdbg_optional_u64){0};
}

static void let_in(struct picture *p)
{
    if (p->snapshot.allocation_count)
        p->snapshot.allocations[0].row.peer_devices = 1 << 1;
}

void peer_done(struct picture *p)
{
    let_in(p);
    second_gpu(p, LAUNCHED, LAUNCHED);
}

void peer_idle(struct picture *p)
{
    let_in(p);
    second_gpu(p, 0, 0);
}

void peer_works(struct picture *p)
{
    let_in(p);
    second_gpu(p, LAUNCHED + 1, LAUNCHED);
}

void peer_not_followed(struct picture *p)
{
    let_in(p);
    second_gpu(p, LAUNCHED, 0);
}

void peer_unfinished(struct picture *p)
{
    peer_done(p);
    p->snapshot.contexts[1].unfinished_ns = wsdbg_known_u64(LAUNCHED);
}

void peer_gone(struct picture *p)
{
    peer_works(p);
    p->snapshot.contexts[1].alive = false;
}

void stranger_works(struct picture *p)
{
    second_gpu(p, LAUNCHED + 1, LAUNCHED);
}

void other_process_works(struct picture *p)
{
    peer_works(p);
    p->snapshot.contexts[1].process_id = OTHER_PROCESS;
}

void read_for_this_gpu(struct picture *p)
{
    strcpy(p->snapshot.sites[p->snapshot.site_count - 1].instruction, "LDG.E.STRONG.GPU R0, desc[UR4][R2.64]");
    p->snapshot.sites[p->snapshot.site_count - 1].is_system = false;
}

void rows_left_out(struct picture *p)
{
    p->snapshot.allocations_left_out = 1;
}
