/* stalls.c - what the watch asks of the evidence when something stalls.
 *
 * Reads: the newest look, the evidence.  Writes: the newest look, frames of the recording.
 *
 * Three things are watched, each by a watchdog of its own: the grids whose slots are seen; where the evidence can look
 * at the GPU itself, whether contexts get their work done; and calls of NCCL that wait on the host, where a GPU without
 * work shows nothing.  Where stream captures hide whether work gets done, looks alone tell: two of them, as far apart
 * as a stall is long.
 *
 * A warp can move without a change of its slot; only the histories show that, two of them compared.  So the first is
 * taken shortly before the threshold, the second when it has passed.  A look at the GPU compares by itself.
 *
 * Where no look succeeds, calls of NCCL that a thread waits for may still tell which rank is missing.
 *
 * One wsdbg at a time has a GPU.  Where another one had it, the next look comes soon, and not after twice the time: a
 * refused look has stopped nothing.
 */
#include "watch/later_work.h"
#include "base/memory.h"
#include "diagnose/missing_ranks.h"
#include "model/nccl_wait.h"
#include "watch/loop.h"

/* ---- the grids whose slots are seen ---- */

/* Whether the slots' stall will be due at `time_ns` if nothing moves until then. */
static bool will_be_due(const struct wsdbg_watch_loop *loop, uint64_t time_ns)
{
    struct wsdbg_stall copy = loop->slots;
    return wsdbg_stall_is_due(&copy, wsdbg_watched_slots(&loop->last), time_ns);
}

/* What was read late, on a loaded machine, a replay finds when it looks: nothing has moved since. */
static uint64_t frame_time_ns(const struct wsdbg_watch_loop *loop, uint64_t due_ns, uint64_t now_ns)
{
    const uint64_t time_ns = due_ns < now_ns ? due_ns : now_ns;
    return time_ns > loop->recorded_ns ? time_ns : loop->recorded_ns;
}

/* The histories that the ones at the threshold are compared with.  They go into the recording too, so that
 * a replay sees what was seen live. */
static void read_first_histories(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    struct wsdbg_snapshot snapshot = {0};
    wsdbg_error_destroy(
        evidence->ops->inspect(evidence, now_ns, WSDBG_WATCH_COMPARE_NS - WSDBG_WATCH_TICK_NS, &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
    loop->compared_ns = now_ns;
    wsdbg_watch_record(loop, frame_time_ns(loop, wsdbg_stall_due_ns(&loop->slots, loop->last.progress_ns), now_ns));
}

/* True when the histories of some earlier moment were read, so that those of now tell whether anything moved.  A
 * recording brings its own. */
static bool can_compare(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    if (!loop->watch->clock->is_live)
        return true;
    if (!will_be_due(loop, now_ns + WSDBG_WATCH_COMPARE_NS))
        loop->compared_ns = 0;
    else if (loop->compared_ns == 0)
        read_first_histories(loop, now_ns);
    return loop->compared_ns && now_ns - loop->compared_ns >= WSDBG_WATCH_COMPARE_NS - WSDBG_WATCH_TICK_NS;
}

/* The moment at which the stall became due: what the look at it finds is given this time.  A replay, whose looks
 * come at other moments, can then do the same as the live run did. */
static uint64_t due_since_ns(const struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    if (!loop->watch->clock->is_live)
        return now_ns;
    const uint64_t due_ns = wsdbg_stall_due_ns(&loop->slots, loop->last.progress_ns);
    return due_ns > loop->compared_ns ? due_ns : loop->compared_ns;
}

struct wsdbg_error *wsdbg_watch_inspect_within(struct wsdbg_watch_loop *loop, uint64_t time_ns, uint64_t deadline_ns)
{
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    struct wsdbg_snapshot snapshot = {0};
    (void)wsdbg_memory_error(); /* forgotten: what failed before does not concern this look */
    struct wsdbg_error *error = evidence->ops->inspect(evidence, time_ns, deadline_ns, &snapshot);
    if (!error)
        wsdbg_watch_keep_look(loop, &snapshot);
    return error;
}

struct wsdbg_error *wsdbg_watch_inspect(struct wsdbg_watch_loop *loop, uint64_t time_ns)
{
    const bool looks = loop->watch->look_ns && !loop->asks_record_alone;
    return wsdbg_watch_inspect_within(loop, time_ns, looks ? loop->watch->look_ns : WSDBG_RING_NS);
}

/* A stall as far as slots tell: look with everything.  True when that shows no movement either. */
static bool confirm(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const uint64_t frame_ns = frame_time_ns(loop, wsdbg_stall_due_ns(&loop->slots, loop->last.progress_ns), now_ns);
    struct wsdbg_error *error = wsdbg_watch_inspect(loop, due_since_ns(loop, now_ns));
    loop->compared_ns = 0;
    bool due = wsdbg_stall_is_due(&loop->slots, wsdbg_watched_slots(&loop->last), now_ns);
    if (error)
        wsdbg_watch_say_failed_look(loop->watch, error, false, wsdbg_stall_age_ns(&loop->slots, now_ns));
    else
        wsdbg_watch_record(loop, frame_ns);
    return due && !error;
}

/* Ticks the slots' watchdog; true for a stall that the histories confirm. */
static bool slots_stall(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    bool comparable = can_compare(loop, now_ns);
    if (will_be_due(loop, now_ns))
        return comparable && confirm(loop, now_ns);
    wsdbg_stall_is_due(&loop->slots, wsdbg_watched_slots(&loop->last), now_ns);
    return false;
}

/* ---- the work of contexts ---- */

/* Whether anything moved since began_ns, as far as the newest look tells. */
static enum wsdbg_movement movement_since(const struct wsdbg_watch_loop *loop, uint64_t began_ns)
{
    if (loop->last.look_count == 0)
        return wsdbg_watched_slots(&loop->last).running ? WSDBG_STOOD_STILL : WSDBG_MOVEMENT_NOT_SEEN;
    return loop->last.progress_ns >= began_ns ? WSDBG_MOVED : WSDBG_STOOD_STILL;
}

static void note_not_looked(struct wsdbg_watch *watch, enum wsdbg_not_looked why)
{
    if (why > watch->not_looked)
        watch->not_looked = why;
}

/* No work is known to have been unfinished for as long as a stall lasts: it may all be done. */
static bool is_guessed(const struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const struct wsdbg_watched known = wsdbg_watched_known_work(&loop->last, loop->moved_ns);
    return !known.running || now_ns < known.progress_ns + loop->work.held_ns + loop->work.watchdog.stall_ns;
}

/* The look may end work, and it is not known that any stalls. */
static bool would_end_work(struct wsdbg_watch_loop *loop, bool guessed, uint64_t age_ns)
{
    if (!guessed || !loop->watch->look_ends_work)
        return false;
    if (!loop->guess_said)
        wsdbg_watch_say_not_known(loop->watch, "a hang would not be noticed meanwhile", age_ns);
    loop->guess_said = true;
    note_not_looked(loop->watch, WSDBG_SPARED_WORK);
    return true;
}

/* The look may hold back what a kernel waits for. */
static bool would_hold_work_back(struct wsdbg_watch_loop *loop, bool guessed, uint64_t age_ns, uint64_t now_ns)
{
    if (!loop->watch->look_spares_later_work)
        return false;
    if (loop->watch->give_up_ns && age_ns >= loop->watch->give_up_ns)
        return false; /* who gives up wants to know whether it stands */
    const enum wsdbg_submitter submitter = wsdbg_work_submitter(&loop->last, age_ns, now_ns);
    if (submitter == WSDBG_SUBMITTER_NONE)
        return false;
    if (!loop->spared_said)
        wsdbg_watch_say_spared(loop->watch, submitter, guessed, age_ns);
    loop->spared_said = true;
    note_not_looked(loop->watch, WSDBG_SPARED_LATER_WORK);
    return true;
}

/* A stall that a look could make a hang of.  It stays due. */
static bool is_spared(struct wsdbg_watch_loop *loop, struct wsdbg_watched watched, bool guessed, uint64_t now_ns)
{
    struct wsdbg_stall copy = loop->work;
    if (!wsdbg_stall_is_due(&copy, watched, now_ns))
        return false;
    const uint64_t age_ns = wsdbg_stall_age_ns(&copy, now_ns);
    return would_end_work(loop, guessed, age_ns) || would_hold_work_back(loop, guessed, age_ns, now_ns);
}

/* Whether work of the context may have been unfinished for as long as a stall lasts. */
static bool may_stall(const struct wsdbg_watch_loop *loop, const struct wsdbg_context *context, uint64_t now_ns)
{
    const struct wsdbg_optional_u64 since_ns = context->unfinished_ns;
    return since_ns.known && since_ns.value + loop->work.held_ns + loop->work.watchdog.stall_ns <= now_ns;
}

/* A grid that runs in such a context is work that is not done. */
static bool sees_unfinished_grid(const struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const struct wsdbg_snapshot *look = &loop->last;
    for (size_t i = 0; i < look->grid_count; i++) {
        const uint32_t context = look->grids[i].context;
        if (look->grids[i].running &&
            (context >= look->context_count || may_stall(loop, &look->contexts[context], now_ns)))
            return true;
    }
    return false;
}

enum { SETTLE_NS = 40000000 }; /* observers that have slept take two looks, 20 ms apart, before they tell anything */

/* Work of which it is not known whether it is done. */
static bool has_unknown_work(const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->alive && !context->unfinished_ns.known && context->given_ns.known &&
            context->given_ns.value > context->done_given_ns.value)
            return true;
    }
    return false;
}

/* Whether all that is unfinished is of processes in which a thread has waited for the GPU for as long as a
 * stall lasts, and every other one is blocked. */
static bool has_waited_before(const struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    return loop->began_ns && loop->moved_ns == loop->began_ns && now_ns >= loop->began_ns + SETTLE_NS &&
           !wsdbg_watched_slots(&loop->last).running && wsdbg_watched_known_work(&loop->last, 0).running &&
           !has_unknown_work(&loop->last) &&
           wsdbg_work_submitter(&loop->last, 2 * loop->work.watchdog.stall_ns, now_ns) == WSDBG_SUBMITTER_NONE;
}

/* A wsdbg that attaches to a running program knows of the time before only for what its threads wait.  If that is
 * enough, nothing more is waited for: the look tells whether it moves.  Whether those waits count. */
static bool count_earlier_waits(struct wsdbg_watch_loop *loop, struct wsdbg_watched *watched, uint64_t now_ns)
{
    const uint64_t stall_ns = loop->work.watchdog.stall_ns;
    if (!loop->waited_ns && !loop->work.watchdog.reported && now_ns > stall_ns && has_waited_before(loop, now_ns)) {
        loop->waited_ns = now_ns - stall_ns;
        loop->waited_since_ns = watched->progress_ns;
    }
    if (!loop->waited_ns || watched->progress_ns > loop->waited_since_ns)
        return false;
    watched->progress_ns = loop->waited_ns;
    if (loop->work.watchdog.progress_ns > loop->waited_ns)
        loop->work.watchdog.progress_ns = loop->waited_ns;
    return true;
}

enum { AHEAD_NS = 80000000 }; /* a look takes 40 ms, and the next one comes no sooner than 60 ms after it */

/* Shortly before the threshold, so that the look at the threshold has one to compare with. */
static void look_ahead(struct wsdbg_watch_loop *loop, struct wsdbg_watched watched, uint64_t now_ns)
{
    const struct wsdbg_evidence *evidence = loop->watch->evidence;
    struct wsdbg_stall copy = loop->work, now = loop->work;
    const bool soon =
        wsdbg_stall_is_due(&copy, watched, now_ns + AHEAD_NS) && !wsdbg_stall_is_due(&now, watched, now_ns);
    if (soon && !loop->looked_ahead && evidence->ops->look_ahead)
        evidence->ops->look_ahead(loop->watch->evidence, &loop->last);
    loop->looked_ahead = soon;
}

/* A look that saw no kernel of that work says that nothing is known to stall; one that could not see says nothing. */
static void say_unseen_guess(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    if (!loop->guess_said)
        wsdbg_watch_say_not_known(loop->watch,
                                  loop->last.look_count ? "a look saw no kernel of that work, the program goes on"
                                                        : "no look at it succeeded, the program goes on",
                                  wsdbg_stall_age_ns(&loop->work, now_ns));
    loop->guess_said = true;
}

enum { TURN_FIRST_NS = 200000000, TURN_MOST_NS = 1000000000, PARTIAL_MOST = 3 };

/* An inspector that made way for this wsdbg stays away for 15 s. */
#define PARTIAL_PAUSE_MOST_NS UINT64_C(10000000000)

/* Where other processes were seen, a look stops those again: it comes a stall time later, and a few times only. */
static void await_turn(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const struct wsdbg_evidence *evidence = loop->watch->evidence;
    const uint64_t stall_ns = loop->work.watchdog.stall_ns;
    struct wsdbg_gpu_turn *turn = &loop->turn;
    const bool is_partial = loop->last.look_count > 0;
    if (!evidence->ops->was_taken || !evidence->ops->was_taken(evidence)) {
        *turn = (struct wsdbg_gpu_turn){0};
        return;
    }
    turn->pause_ns = !turn->pause_ns                     ? TURN_FIRST_NS
                     : 2 * turn->pause_ns < TURN_MOST_NS ? 2 * turn->pause_ns
                                                         : TURN_MOST_NS;
    turn->partial += is_partial;
    turn->is_awaited = !is_partial || turn->partial <= PARTIAL_MOST;
    if (is_partial && turn->is_awaited)
        wsdbg_stall_look_after(&loop->work, now_ns,
                               stall_ns < PARTIAL_PAUSE_MOST_NS ? stall_ns : PARTIAL_PAUSE_MOST_NS);
    else if (turn->is_awaited)
        wsdbg_stall_look_after(&loop->work, now_ns, turn->pause_ns);
}

/* Whether what a look saw of this stall was judged. */
static bool has_picture(const struct wsdbg_watch_loop *loop)
{
    return loop->work_looks.said.any && loop->work_looks.said.movement != WSDBG_MOVEMENT_NOT_SEEN;
}

/* The kernel of which there is a picture is not there any more: it may have ended while the inspector came, and then
 * its work is soon known to be done.  Else the next look tells, which comes a stall time later; or soon, where the run
 * may be given up meanwhile. */
static bool has_just_ended(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    enum { PAUSE_NS = 500000000 };
    const uint64_t stall_ns = loop->watch->work_stall_ns;
    const bool sees_none = !loop->turn.is_awaited && loop->last.look_count > 0 &&
                           !wsdbg_watched_slots(&loop->last).running && has_picture(loop);
    const bool is_first = sees_none && !loop->saw_end;
    loop->saw_end = sees_none;
    if (is_first)
        wsdbg_stall_look_after(&loop->work, now_ns, loop->work.give_up_ns && stall_ns > PAUSE_NS ? PAUSE_NS : stall_ns);
    return is_first;
}

/* A look that saw nothing because another wsdbg had the GPU, or because the kernel has ended, says nothing new, and the
 * picture that was judged before is kept. */
static bool adds_nothing(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    return (loop->turn.is_awaited && loop->last.look_count == 0 && loop->work_looks.said.any) ||
           has_just_ended(loop, now_ns);
}

/* A look that lacks processes because another wsdbg had their GPU makes way for the picture that has them. */
static bool shows_less(struct wsdbg_watch_loop *loop)
{
    const struct wsdbg_evidence *evidence = loop->watch->evidence;
    return evidence->ops->was_taken && evidence->ops->was_taken(evidence) &&
           wsdbg_whole_shows_more(&loop->whole, &loop->last, loop->work.watchdog.progress_ns) &&
           wsdbg_whole_bring_back(&loop->whole, &loop->last);
}

/* That picture was judged.  What is left to do is to give up with it. */
static bool gives_up_now(const struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const uint64_t give_up_ns = loop->watch->give_up_ns;
    return give_up_ns && !loop->turn.is_awaited && wsdbg_stall_age_ns(&loop->work, now_ns) >= give_up_ns;
}

/* Whether it is known which rank calls of NCCL wait for, where no kernel shows it. */
static bool names_missing_rank(const struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_diagnosis diagnosis = {0};
    struct wsdbg_error *error = wsdbg_find_missing_ranks(snapshot, &diagnosis);
    const bool any = !error && diagnosis.finding_count > 0;
    wsdbg_error_destroy(error);
    wsdbg_diagnosis_deinit(&diagnosis);
    return any;
}

/* Ticks the work's watchdog; true for a stall, looked at on the GPU itself. */
static bool work_stalls(struct wsdbg_watch_loop *loop, uint64_t now_ns, enum wsdbg_movement *movement)
{
    struct wsdbg_watched watched = wsdbg_watched_work(&loop->last, loop->moved_ns);
    const bool guessed = !count_earlier_waits(loop, &watched, now_ns) && is_guessed(loop, now_ns);
    const uint64_t frame_ns = frame_time_ns(loop, wsdbg_stall_due_ns(&loop->work, watched.progress_ns), now_ns);
    look_ahead(loop, watched, now_ns);
    if (is_spared(loop, watched, guessed, now_ns) || !wsdbg_stall_is_due(&loop->work, watched, now_ns))
        return false;
    loop->work.undecided = true; /* until a look says more */
    struct wsdbg_error *error = wsdbg_watch_inspect(loop, now_ns);
    if (!error)
        await_turn(loop, now_ns);
    loop->is_brought_back = !error && shows_less(loop);
    const bool is_new = !error && (loop->is_brought_back ? gives_up_now(loop, now_ns) : !adds_nothing(loop, now_ns));
    if (is_new)
        wsdbg_watch_record(loop, frame_ns);
    loop->is_unseen = (error || loop->last.look_count == 0) && !has_picture(loop);
    if (error || movement_since(loop, now_ns) == WSDBG_MOVEMENT_NOT_SEEN)
        note_not_looked(loop->watch, WSDBG_COULD_NOT_LOOK);
    if (error) {
        wsdbg_watch_say_failed_look(loop->watch, error, guessed, wsdbg_stall_age_ns(&loop->work, now_ns));
        return false;
    }
    if (!is_new)
        return false;
    if (guessed && !sees_unfinished_grid(loop, now_ns)) {
        say_unseen_guess(loop, now_ns);
        return false;
    }
    if (loop->is_unseen && wsdbg_nccl_unseen_since_ns(&loop->last) && names_missing_rank(&loop->last))
        return false; /* it is judged as calls are */
    *movement = movement_since(loop, now_ns);
    if (*movement == WSDBG_MOVED)
        loop->moved_ns = loop->last.progress_ns;
    /* What slots alone show stalls there too, and is judged there with more. */
    return loop->last.look_count > 0 || !loop->slots.watchdog.reported;
}

/* ---- work that stream captures hide ---- */

/* Ticks the watchdog of what nobody can follow; true for a grid that two looks saw, so long apart. */
static bool hidden_stalls(struct wsdbg_watch_loop *loop, uint64_t now_ns, enum wsdbg_movement *movement)
{
    struct wsdbg_hidden *hidden = &loop->hidden;
    if (!wsdbg_hidden_is_due(hidden, &loop->last, now_ns))
        return false;
    hidden->stall.undecided = true;
    if (!hidden->said)
        wsdbg_watch_say_hidden(loop->watch, wsdbg_stall_age_ns(&hidden->stall, now_ns));
    hidden->said = true;
    struct wsdbg_error *error = loop->watch->look_ends_work ? NULL : wsdbg_watch_inspect(loop, now_ns);
    if (error)
        wsdbg_watch_say(loop->watch, "the look failed: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    const bool looked = !error && !loop->watch->look_ends_work && loop->last.look_count > 0;
    if (!looked)
        note_not_looked(loop->watch, loop->watch->look_ends_work ? WSDBG_SPARED_WORK : WSDBG_COULD_NOT_LOOK);
    *movement = movement_since(loop, now_ns);
    wsdbg_watch_mark_moving(loop);
    return looked && wsdbg_hidden_seen_twice(hidden, &loop->last, now_ns);
}

/* ---- calls of NCCL that no kernel shows ---- */

/* Work that is known to be unfinished may soon be due, and its stall says more. */
static bool work_speaks_first(const struct wsdbg_watch_loop *loop)
{
    return loop->watch->look_ns && wsdbg_watched_known_work(&loop->last, 0).running && !loop->work.watchdog.reported &&
           !loop->spared_said;
}

/* Ticks the calls' watchdog; true for calls that wait for a rank which is known. */
static bool calls_stall(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const struct wsdbg_watched watched = wsdbg_watched_calls(&loop->last, loop->began_ns, loop->is_unseen);
    if ((!loop->is_unseen && work_speaks_first(loop)) || !wsdbg_stall_is_due(&loop->calls, watched, now_ns))
        return false;
    loop->calls.undecided = true;
    if (!names_missing_rank(&loop->last))
        return false;
    wsdbg_watch_record(loop, now_ns);
    return true;
}

/* ---- all of them ---- */

/* A hang that the slots showed needs no look at the GPU, and a program that is held cannot let one in. */
static bool work_is_watched(const struct wsdbg_watch_loop *loop)
{
    return loop->watch->look_ns && !loop->asks_record_alone && !wsdbg_stall_is_judged(&loop->slots);
}

static bool is_idle(const struct wsdbg_watch_loop *loop)
{
    return !wsdbg_watched_slots(&loop->last).running && !wsdbg_watched_work(&loop->last, 0).running &&
           !wsdbg_watched_calls(&loop->last, 0, false).running && loop->hidden.grid_count == 0;
}

bool wsdbg_watch_judge_stalls(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool *over)
{
    enum wsdbg_movement movement = WSDBG_STOOD_STILL;
    struct wsdbg_stall *stall = NULL;
    if (is_idle(loop)) {
        loop->is_unseen = false;
        loop->slots_looks.said = loop->work_looks.said = loop->hidden_looks.said = loop->calls_looks.said =
            (struct wsdbg_stall_said){0};
    }
    if (slots_stall(loop, now_ns))
        stall = &loop->slots;
    else if (work_is_watched(loop) && work_stalls(loop, now_ns, &movement))
        stall = &loop->work;
    else if (work_is_watched(loop) && hidden_stalls(loop, now_ns, &movement))
        stall = &loop->hidden.stall;
    else if (!loop->watch->hang && calls_stall(loop, now_ns))
        stall = &loop->calls;
    if (!stall)
        return false;
    bool decided = wsdbg_watch_judge(loop, stall, movement, now_ns);
    stall->undecided = !decided && !wsdbg_watch_look_ended_work(loop);
    *over = (decided || loop->watch->cut || wsdbg_watch_is_lost(loop->watch)) && loop->watch->stop_at_hang;
    return true;
}
