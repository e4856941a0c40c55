/* evidence.h - where snapshots come from: one vtable, one file per source.
 *
 * Sources: ring (segments of a live session), attached (the same ones, while another wsdbg watches them), live (the
 * same, and looks at the GPU itself through the driver's debug interface), core (the same, and one GPU core dump),
 * simulator (the same, and what a simulated device shows of itself while nothing on it moves), recorded (a file made by
 * --record), null (nothing to see). To add a source: fill one `struct wsdbg_evidence_ops`, give it an open function
 * here, list it in cmd/doctor.
 */
#ifndef WSDBG_EVIDENCE_EVIDENCE_H
#define WSDBG_EVIDENCE_EVIDENCE_H

#include "base/cancel.h"
#include "base/progress.h"
#include "model/snapshot.h"

struct wsdbg_evidence;

/* For a wsdbg that attaches to armed processes (wsdbg/armed.h). */
struct wsdbg_join {
    const char *root;            /* put before the paths of segments in memory; "" = nothing */
    const uint32_t *process_ids; /* only these are looked at */
    size_t process_count;
    bool never_stays; /* inspectors attach for a look only */
};

struct wsdbg_evidence_ops {
    const char *name;
    /* Looks once.  Cheap: slots and tables, no histories (warps keep history_count 0).  now_ns is the
     * caller's clock, compared with the moments at which slots were seen to change. */
    struct wsdbg_error *(*poll)(struct wsdbg_evidence *source, uint64_t now_ns, struct wsdbg_snapshot *out);
    /* Looks with everything: asks for the histories and waits for them at most deadline_ns. */
    struct wsdbg_error *(*inspect)(struct wsdbg_evidence *source, uint64_t now_ns, uint64_t deadline_ns,
                                   struct wsdbg_snapshot *out);
    /* Completes a snapshot of inspect() by the state of the GPU that runs its grids, looked at for deadline_ns at most,
     * where that was not looked at yet: rows and record as completion.h says, what was in the way as notes.  NULL = it
     * cannot. */
    struct wsdbg_error *(*complete)(struct wsdbg_evidence *source, uint64_t deadline_ns,
                                    struct wsdbg_snapshot *snapshot);
    /* A look may return while its inspectors leave, so that it can be judged meanwhile.  Waits until they have left;
     * the rows of that look in `snapshot` get the time that took.  Due before the program is done anything to.  NULL =
     * no look does so. */
    void (*await_leave)(struct wsdbg_evidence *source, struct wsdbg_snapshot *snapshot);
    /* An error ended a context: fetches what the driver left of it, and waits for that deadline_ns at most; inspect()
     * shows it from then on.  NULL = nothing is left. */
    void (*fetch)(struct wsdbg_evidence *source, const struct wsdbg_snapshot *snapshot, uint64_t deadline_ns);
    /* Whether a look cost a process its contexts and shows nothing.  NULL = that cannot be. */
    bool (*is_lost)(const struct wsdbg_evidence *source);
    /* A look that was asked for has ended what the program had on the GPU, and shows it.  NULL = none ever does. */
    bool (*ended_work)(const struct wsdbg_evidence *source);
    /* Whether the last inspect() left out a process because another wsdbg's inspector had its GPU, so that a look soon
     * may show more.  NULL = that cannot be. */
    bool (*was_taken)(const struct wsdbg_evidence *source);
    /* Appends the segments as they are now as a frame of a recording; NULL = it has none.  Evidence that is the ring's
     * and more hands it on to its ring. */
    struct wsdbg_error *(*record)(struct wsdbg_evidence *source, const char *path, uint64_t now_ns);
    /* Keeps every look at the GPU as a file in `folder`, which outlives the source; NULL = it has none. */
    void (*keep)(struct wsdbg_evidence *source, const char *folder);
    /* Asked at each look, with the newest snapshot: comes to or leaves the GPU between looks, without waiting for it.
     * `line` gets what somebody should be told, "" = nothing; `over`: the program has ended, what it came to, a line
     * each time until there is none.  NULL = it has none. */
    void (*attend)(struct wsdbg_evidence *source, const struct wsdbg_snapshot *snapshot, uint64_t now_ns, bool over,
                   char *line, size_t size);
    /* A stall will soon be due: takes the first of the looks that inspect() compares, where that holds nothing back.
     * NULL = it has none. */
    void (*look_ahead)(struct wsdbg_evidence *source, const struct wsdbg_snapshot *snapshot);
    /* From now on holds what kernels recorded until the source is closed, also of a process that ends well: inspect()
     * after its end shows it.  The memory is missing on the GPU meanwhile.  NULL = what a process leaves is not to be
     * had. */
    void (*hold_record)(struct wsdbg_evidence *source);
    /* Limits the source to the processes of `join`; call it before the first look.  A source that contains a ring
     * source passes it on.  `join` must outlive the source.  NULL = the source cannot. */
    void (*join)(struct wsdbg_evidence *source, const struct wsdbg_join *join);
    void (*close)(struct wsdbg_evidence *source);
};

struct wsdbg_evidence {
    const struct wsdbg_evidence_ops *ops;
};

/* Ring evidence of session `session`: finds the segments of all its processes, also later ones.  `spool` is the
 * folder the observers know too: segments may lie there, and what they send there lets inspect() read the ring of a
 * context that a GPU fault ended.  NULL = that is lost. */
struct wsdbg_error *wsdbg_evidence_open_ring(const char *session, const char *spool, struct wsdbg_evidence **out);
/* The same read-only, beside the wsdbg that watches the session: asks for no copies, so inspect() is poll(). */
struct wsdbg_error *wsdbg_evidence_attach_ring(const char *session, const char *spool, struct wsdbg_evidence **out);
/* Evidence that stops the GPU does so only in an inspect() whose deadline_ns leaves the time: at least this.  With less
 * it is the ring's inspect(), and poll() always is. */
#define WSDBG_ATTACH_NS UINT64_C(1000000000)
/* ... of which the ring's part takes this at most: histories that do not come by then do not come. */
#define WSDBG_RING_NS UINT64_C(80000000)
/* How it is used. */
enum wsdbg_attach_use {
    WSDBG_ATTACH_WHERE_NEEDED, /* by inspect() only for kernels without probes; complete() looks at others too */
    WSDBG_ATTACH_ALWAYS
};
/* The ring's evidence, whose inspect() also looks at the GPU through the driver's debug interface: attaches, looks
 * twice or more, detaches; what is seen there stands beside what the ring has of the same warps (completion.h). */
struct wsdbg_error *wsdbg_evidence_open_live(const char *session, const char *spool, enum wsdbg_attach_use use,
                                             struct wsdbg_evidence **out);
/* The ring's evidence, whose first inspect() of a stall that leaves a second or more takes a GPU core dump (armed in
 * the program's environment, see cmd/environment): the context is lost with it.  Of a context that an error of the GPU
 * ended the driver writes one by itself.  `folder` gets the file while it is read; `progress`, NULL or longer-lived, is
 * told how large it gets; `cancel`, likewise, ends the wait for it. */
struct wsdbg_error *wsdbg_evidence_open_core(const char *session, const char *spool, const char *folder,
                                             enum wsdbg_attach_use use, struct wsdbg_progress *progress,
                                             struct wsdbg_cancel *cancel, struct wsdbg_evidence **out);
/* The ring's evidence, whose inspect() also reads what simulated devices say of themselves in `spool` (see
 * wsdbg/device_state.h): of kernels without probes, or with WSDBG_ATTACH_ALWAYS of all, as the live one's does. */
struct wsdbg_error *wsdbg_evidence_open_simulator(const char *session, const char *spool, enum wsdbg_attach_use use,
                                                  struct wsdbg_evidence **out);
/* Unlinks every segment of the session (at its end). */
void wsdbg_ring_unlink(const char *session, const char *spool);
/* Appends the segments as they are now, with now_ns, as one frame to the file (zstd); refused in words where the
 * evidence has no segments. */
struct wsdbg_error *wsdbg_evidence_record(struct wsdbg_evidence *source, const char *path, uint64_t now_ns);

/* A recorded file: poll() returns the frame that was current at now_ns (the file's own clock); the first
 * frame's time is in first_ns, the last one's in last_ns. */
struct wsdbg_error *wsdbg_evidence_open_recorded(const char *path, uint64_t *first_ns, uint64_t *last_ns,
                                                 struct wsdbg_evidence **out);
/* Whether it holds looks at the GPU, which inspect() then shows at their time. */
bool wsdbg_recorded_has_looks(const struct wsdbg_evidence *source);
/* When the next frame or look after now_ns comes, UINT64_MAX where there is none; until then nothing changes.  Of a
 * recording only, and now_ns not before what was asked for last. */
uint64_t wsdbg_recorded_next_ns(const struct wsdbg_evidence *source, uint64_t now_ns);
/* Never sees anything: what --device sim and unprobed programs get for now. */
struct wsdbg_error *wsdbg_evidence_open_null(struct wsdbg_evidence **out);

#endif
