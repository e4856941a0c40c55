/* words.h - what a watch says: lines, and the report of a verdict.  To the listener, or on stderr; and into the
 * session's log.  Private to the watch (loop.h); wsdbg_watch_say is in watch.h. */
#ifndef WSDBG_WATCH_WORDS_H
#define WSDBG_WATCH_WORDS_H

#include "watch/later_work.h"
#include "watch/watch.h"
#include "diagnose/standstill.h"

/* What a look saw of the time since it began. */
enum wsdbg_movement { WSDBG_STOOD_STILL, WSDBG_MOVED, WSDBG_MOVEMENT_NOT_SEEN };

/* The report of a verdict, in one piece, at once.  It names stall_ns as the threshold. */
struct wsdbg_error *wsdbg_watch_say_verdict(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                                            const struct wsdbg_diagnosis *diagnosis, uint64_t stall_ns);
/* Where every warp stands, without a verdict; `title` is the first line. */
struct wsdbg_error *wsdbg_watch_say_picture(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                                            const char *title);
/* How long the verdict took; notes verdict_ns.  NULL = one look decided, after stall_ns. */
void wsdbg_watch_say_delay(struct wsdbg_watch *watch, uint64_t stall_ns, const struct wsdbg_standstill *standstill);
/* A look showed no hang.  age_ns: how long nothing has moved, or the work has gone on. */
void wsdbg_watch_say_no_hang(const struct wsdbg_watch *watch, const struct wsdbg_diagnosis *diagnosis, uint64_t age_ns,
                             enum wsdbg_movement movement);
/* Nothing moves, and it only may be a hang; why not is told from the standstill.  In one line. */
void wsdbg_watch_say_possible(const struct wsdbg_watch *watch, const struct wsdbg_diagnosis *diagnosis,
                              const struct wsdbg_standstill *standstill, uint64_t age_ns);
/* The same with the whole picture. */
void wsdbg_watch_show_possible(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                               const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                               uint64_t age_ns);
/* The same, and the run is given up now; notes given_up_ns. */
void wsdbg_watch_say_given_up(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                              const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_standstill *standstill,
                              uint64_t age_ns);
/* The same after a look that ended the program's work on the GPU: reports what it shows, notes watch->cut. */
void wsdbg_watch_say_cut(struct wsdbg_watch *watch, const struct wsdbg_snapshot *snapshot,
                         const struct wsdbg_diagnosis *diagnosis, uint64_t age_ns);
/* Work that stalls is not looked at, because it might wait for work that it would then not get.  guessed: it is not
 * known whether there is work. */
void wsdbg_watch_say_spared(const struct wsdbg_watch *watch, enum wsdbg_submitter submitter, bool guessed,
                            uint64_t age_ns);
/* It has not been known for that long whether there is work; what follows from it. */
void wsdbg_watch_say_not_known(const struct wsdbg_watch *watch, const char *then, uint64_t age_ns);
/* Stream captures have kept work from being followed for that long. */
void wsdbg_watch_say_hidden(const struct wsdbg_watch *watch, uint64_t age_ns);

/* Notes of a look: said already. */
struct wsdbg_noted {
    char (*notes)[256];
    size_t count;
};
/* Why a look saw less than it should: what neither the picture before nor the look before (`noted`, which becomes this
 * one) had noted. */
void wsdbg_watch_say_notes(const struct wsdbg_watch *watch, const struct wsdbg_snapshot *before,
                           const struct wsdbg_snapshot *look, struct wsdbg_noted *noted);
/* Whether a look that shows nothing cost the program what it runs on: said once, remembered in watch->lost. */
bool wsdbg_watch_is_lost(struct wsdbg_watch *watch);
void wsdbg_noted_deinit(struct wsdbg_noted *noted);
/* Takes the error.  guessed: it is not known whether there is work. */
void wsdbg_watch_say_failed_look(const struct wsdbg_watch *watch, struct wsdbg_error *error, bool guessed,
                                 uint64_t age_ns);

#endif
