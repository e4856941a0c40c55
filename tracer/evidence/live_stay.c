/* live_stay.c - see live_stay.h.
 *
 * Reads: the newest snapshot, the debug attach's figures.  Writes: requests to the inspector, which come and go on
 * their own.
 */
#include "evidence/live_stay.h"

#include <stdio.h>
#include <string.h>

#include "evidence/live_machine.h"

#define SECOND_NS UINT64_C(1000000000)
#define COME_NS UINT64_C(2000000000) /* the first attach on a machine takes 0.6 s */

static size_t alive_contexts(const struct wsdbg_snapshot *snapshot, uint32_t process_id, bool *unfinished)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->process_id != process_id || !context->alive || context->error)
            continue;
        count++;
        *unfinished |= context->unfinished_ns.known || context->hidden_ns.known;
    }
    return count;
}

static bool is_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch *launch, uint32_t process_id)
{
    return launch->context < snapshot->context_count && snapshot->contexts[launch->context].process_id == process_id;
}

static void note_launches(const struct wsdbg_snapshot *snapshot, uint32_t process_id, struct wsdbg_stay_facts *facts)
{
    for (size_t i = snapshot->launch_count; i-- > 0;) {
        const struct wsdbg_launch *launch = &snapshot->launches[i];
        if (!is_of(snapshot, launch, process_id))
            continue;
        facts->worked |= !(launch->flags & WSDBG_LAUNCH_CAPTURED);
        if (launch->time_ns > facts->worked_ns)
            facts->worked_ns = launch->time_ns;
        if (facts->now_ns > launch->time_ns + SECOND_NS)
            break;
        facts->launches_second += !(launch->flags & WSDBG_LAUNCH_GRAPH);
    }
}

/* Of modules that were unloaded as well: the driver does not tell. */
static void note_modules(const struct wsdbg_snapshot *snapshot, uint32_t process_id, struct wsdbg_stay_facts *facts)
{
    for (size_t i = 0; i < snapshot->module_count; i++) {
        const struct wsdbg_module *module = &snapshot->modules[i];
        if (module->process_id != process_id)
            continue;
        facts->probed |= module->probed;
        facts->image_bytes += module->image_bytes.known ? module->image_bytes.value : 0;
    }
}

static struct wsdbg_stay_facts facts_of(struct wsdbg_live_stay *stay, const struct wsdbg_live_process *process,
                                        const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    const uint32_t process_id = wsdbg_live_process_id(process);
    const struct wsdbg_attach_row *row = wsdbg_live_process_attach_link(process);
    struct wsdbg_stay_facts facts = {.now_ns = now_ns, .began_ns = stay->began_ns};
    const size_t contexts = alive_contexts(snapshot, process_id, &facts.unfinished);
    if (contexts != stay->contexts)
        stay->contexts_changed_ns = now_ns;
    stay->contexts = contexts;
    facts.context_made_ns = contexts ? stay->contexts_changed_ns : 0;
    note_modules(snapshot, process_id, &facts);
    facts.code_bytes = __atomic_load_n(&row->code_bytes, __ATOMIC_ACQUIRE);
    if (facts.image_bytes < facts.code_bytes) /* the observer's sum may be newer than the snapshot */
        facts.image_bytes = facts.code_bytes;
    note_launches(snapshot, process_id, &facts);
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == process_id)
            facts.worked_ns = now_ns;
    facts.looked_ahead = wsdbg_live_process_is_ahead(process);
    facts.waited_ns = __atomic_load_n(&row->waited_ns, __ATOMIC_RELAXED);
    facts.launch_ns = __atomic_load_n(&row->launch_ns, __ATOMIC_RELAXED);
    facts.launches = __atomic_load_n(&row->launches, __ATOMIC_RELAXED);
    return facts;
}

/* What another moment may change, and what none will. */
static bool is_passing(const struct wsdbg_attach_row *row)
{
    const uint32_t obstacle = __atomic_load_n(&row->obstacle, __ATOMIC_ACQUIRE);
    return obstacle == WSDBG_OBSTACLE_NOT_SETTLED || obstacle == WSDBG_OBSTACLE_AT_WORK ||
           obstacle == WSDBG_OBSTACLE_LAPSED || obstacle == WSDBG_OBSTACLE_TAKEN;
}

static void take_refusal(struct wsdbg_live_stay *stay, const struct wsdbg_live_process *process,
                         struct wsdbg_error *error, uint64_t now_ns)
{
    wsdbg_stay_refused(&stay->policy, now_ns);
    stay->hopeless = stay->hopeless || !is_passing(wsdbg_live_process_attach_link(process));
    stay->taken = stay->policy.always && wsdbg_live_process_is_taken(process, error);
    if (stay->hopeless || stay->taken) /* an inspector that was asked for is missed while there is none yet, too */
        snprintf(stay->trouble, sizeof stay->trouble, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

static void finish_step(struct wsdbg_live_stay *stay, struct wsdbg_live_process *process,
                        const struct wsdbg_stay_facts *facts)
{
    struct wsdbg_error *error = NULL;
    if (!wsdbg_live_machine_collect(wsdbg_live_process_machine(process), &error))
        return;
    if (stay->step == WSDBG_STAY_COMING && error)
        take_refusal(stay, process, error, facts->now_ns);
    else if (stay->step == WSDBG_STAY_COMING)
        wsdbg_stay_came(&stay->policy, facts);
    else
        wsdbg_error_destroy(error);
    stay->step = WSDBG_STAY_SETTLED;
}

static void begin_step(struct wsdbg_live_stay *stay, struct wsdbg_live_process *process,
                       const struct wsdbg_stay_facts *facts)
{
    struct wsdbg_machine *machine = wsdbg_live_process_machine(process);
    struct wsdbg_error *error = NULL;
    switch (wsdbg_stay_advise(&stay->policy, facts)) {
    case WSDBG_STAY_COME_IN:
        wsdbg_live_process_knows_code(process, facts->code_bytes);
        error = wsdbg_live_machine_stay(machine, COME_NS);
        stay->step = error ? WSDBG_STAY_SETTLED : WSDBG_STAY_COMING;
        if (error)
            wsdbg_stay_refused(&stay->policy, facts->now_ns);
        break;
    case WSDBG_STAY_LEAVE:
        error = wsdbg_live_machine_leave(machine);
        wsdbg_stay_left(&stay->policy, facts->now_ns);
        stay->step = error ? WSDBG_STAY_SETTLED : WSDBG_STAY_LEAVING;
        break;
    case WSDBG_STAY_AS_IT_IS:
        break;
    }
    wsdbg_error_destroy(error);
}

static bool is_wished(struct wsdbg_live_stay *stay, const struct wsdbg_live_process *process,
                      struct wsdbg_gpu_wishes *wishes)
{
    const uint16_t held = __atomic_load_n(&wsdbg_live_process_attach_link(process)->held_gpus, __ATOMIC_ACQUIRE);
    if (held)
        stay->gpus = held;
    return stay->gpus && wsdbg_gpu_is_wished(wishes, stay->gpus);
}

void wsdbg_live_stay_tick(struct wsdbg_live_stay *stay, struct wsdbg_live_process *process,
                          const struct wsdbg_snapshot *snapshot, struct wsdbg_gpu_wishes *wishes,
                          uint64_t ended_spent_ns, uint64_t now_ns)
{
    struct wsdbg_machine *machine = wsdbg_live_process_machine(process);
    struct wsdbg_stay_facts facts = facts_of(stay, process, snapshot, now_ns);
    facts.ended_spent_ns = ended_spent_ns;
    facts.wished = is_wished(stay, process, wishes);
    if (!wsdbg_live_process_is_alive(process))
        return;
    if (stay->policy.stays)
        stay->stayed_ns += now_ns - stay->ticked_ns;
    stay->ticked_ns = now_ns;
    if (stay->hopeless || !wsdbg_stay_may_come_first(&stay->policy, &facts))
        wsdbg_live_process_expect_nobody(process);
    if (stay->step != WSDBG_STAY_SETTLED) {
        finish_step(stay, process, &facts);
        return;
    }
    if (stay->policy.stays && !wsdbg_live_machine_stays(machine))
        wsdbg_stay_refused(&stay->policy, now_ns); /* it left by itself: a context was made, or something broke */
    if (!stay->hopeless)
        begin_step(stay, process, &facts);
}

bool wsdbg_live_stay_make_way(struct wsdbg_live_stay *stay, struct wsdbg_live_process *process, uint64_t now_ns)
{
    struct wsdbg_machine *machine = wsdbg_live_process_machine(process);
    if (stay->step != WSDBG_STAY_SETTLED || !wsdbg_live_machine_stays(machine))
        return false;
    wsdbg_error_destroy(wsdbg_live_machine_detach(machine));
    wsdbg_stay_left(&stay->policy, now_ns);
    return true;
}

void wsdbg_live_stay_trouble(struct wsdbg_live_stay *stay, char *line, size_t size)
{
    line[0] = '\0';
    bool *said = stay->hopeless ? &stay->said : &stay->taken_said;
    if ((!stay->hopeless && !stay->taken) || *said)
        return;
    *said = true;
    snprintf(line, size, "nobody can stay attached to the GPU between looks%s: %s; a look then attaches for itself",
             stay->hopeless ? "" : " now", stay->trouble);
}

void wsdbg_live_stay_add(const struct wsdbg_live_stay *stay, const struct wsdbg_live_process *process,
                         struct wsdbg_stay_account *account)
{
    const struct wsdbg_attach_row *row = wsdbg_live_process_attach_link(process);
    const struct wsdbg_stay_facts facts = {
        .waited_ns = row->waited_ns, .launch_ns = row->launch_ns, .launches = row->launches};
    if (!stay->policy.came_ns)
        return;
    account->processes++;
    account->process_id = wsdbg_live_process_id(process);
    account->ran_ns = stay->ticked_ns - stay->began_ns;
    account->stayed_ns += stay->stayed_ns;
    account->spent_ns += wsdbg_stay_spent_ns(&facts);
    account->waited_ns += facts.waited_ns;
    account->launches += facts.launches;
}

void wsdbg_stay_account_line(const struct wsdbg_stay_account *account, char *line, size_t size)
{
    const double spent_ns = (double)account->spent_ns, stayed_s = (double)account->stayed_ns / 1e9;
    const double more_ns = spent_ns - (double)account->waited_ns; /* in launches */
    char who[96], launches[64] = "";
    line[0] = '\0';
    if (!account->processes)
        return;
    if (account->processes == 1)
        snprintf(who, sizeof who, "process %u for %.1f of %.1f s", account->process_id, stayed_s,
                 (double)account->ran_ns / 1e9);
    else
        snprintf(who, sizeof who, "%u processes for %.1f s in all", account->processes, stayed_s);
    if (account->launches)
        snprintf(launches, sizeof launches, ", each of %llu launches took %.1f us more",
                 (unsigned long long)account->launches, more_ns / 1e3 / (double)account->launches);
    snprintf(line, size, "attached to %s, which cost %.0f ms over all threads: calls waited %.0f ms%s", who,
             spent_ns / 1e6, (double)account->waited_ns / 1e6, launches);
}
