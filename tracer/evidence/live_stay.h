/* live_stay.h - an inspector that stays attached to a process between looks, for as long as that is cheap. */
#ifndef WSDBG_EVIDENCE_LIVE_STAY_H
#define WSDBG_EVIDENCE_LIVE_STAY_H

#include "evidence/gpu_wishes.h"
#include "evidence/live_looks.h"
#include "evidence/stay_policy.h"
#include "model/snapshot.h"

struct wsdbg_live_stay {
    struct wsdbg_stay_policy policy;
    enum { WSDBG_STAY_SETTLED, WSDBG_STAY_COMING, WSDBG_STAY_LEAVING } step;
    bool hopeless; /* something is in the way that will stay */
    bool said;     /* ... and somebody was told */
    bool taken;    /* somebody else has the GPU, and an inspector is wanted whatever it costs */
    bool taken_said;
    uint64_t began_ns, ticked_ns; /* set to when the run began; when this was last asked */
    uint64_t contexts_changed_ns, stayed_ns;
    size_t contexts;
    uint16_t gpus;     /* whose locks it held when an inspector last stayed: bit n = /dev/nvidia<n> */
    char trouble[256]; /* what was in the way last, "" = nothing */
};

/* What inspectors that stayed have cost, summed over processes. */
struct wsdbg_stay_account {
    uint32_t processes, process_id; /* the newest one's id */
    uint64_t ran_ns;                /* from the run's begin to the end of the newest one */
    uint64_t stayed_ns, spent_ns, waited_ns, launches;
};

/* Asked at each look; never waits for the GPU or the program.  The snapshot is the newest one; `ended_spent_ns` was
 * spent by processes that have ended; `wishes`: who waits for a GPU. */
void wsdbg_live_stay_tick(struct wsdbg_live_stay *stay, struct wsdbg_live_process *process,
                          const struct wsdbg_snapshot *snapshot, struct wsdbg_gpu_wishes *wishes,
                          uint64_t ended_spent_ns, uint64_t now_ns);
/* One that stays leaves at once, for somebody else on the same GPU.  False: nobody stays. */
bool wsdbg_live_stay_make_way(struct wsdbg_live_stay *stay, struct wsdbg_live_process *process, uint64_t now_ns);
/* A line for people: why nobody can stay (once), "" = nothing to say. */
void wsdbg_live_stay_trouble(struct wsdbg_live_stay *stay, char *line, size_t size);
/* Adds what it was; nothing where nobody stayed.  For a process that has ended, or will be asked about no more. */
void wsdbg_live_stay_add(const struct wsdbg_live_stay *stay, const struct wsdbg_live_process *process,
                         struct wsdbg_stay_account *account);
/* The sum for people, "" = nobody stayed. */
void wsdbg_stay_account_line(const struct wsdbg_stay_account *account, char *line, size_t size);

#endif
