/* standstill.h - grids that several looks, some time apart, found standing alike: with nobody outside who could end it
 * that is a hang, whatever the cause.  Pure: the clock is an argument.
 *
 * Reads: snapshots of looks that saw no movement.  Writes: its own struct; a finding of a diagnosis.
 */
#ifndef WSDBG_DIAGNOSE_STANDSTILL_H
#define WSDBG_DIAGNOSE_STANDSTILL_H

#include "diagnose/finding.h"
#include "diagnose/from_outside.h"

enum { WSDBG_STANDSTILL_LOOKS = 3 };

/* Where a grid's warps stand: equal for two looks that found every one of them in the same wait, or at the same place
 * with the same registers.  0 = not all of them are known to stand. */
uint64_t wsdbg_standstill_picture(const struct wsdbg_snapshot *snapshot, uint32_t grid);

struct wsdbg_standing {
    uint32_t process_id;
    uint64_t context, grid_id; /* context: its handle, 0 = not known */
    uint64_t picture, first_ns;
    unsigned looks;
};

/* The grids of the newest look; zeroed at first. */
struct wsdbg_standstills {
    struct wsdbg_standing *rows;
    size_t count;
};
void wsdbg_standstills_deinit(struct wsdbg_standstills *standstills);

/* The outcome of the newest look. */
struct wsdbg_standstill {
    uint32_t grid; /* that stands: one that nobody can end goes first, then the longest; WSDBG_NONE = none stands */
    enum wsdbg_outside outside; /* who could end it */
    unsigned looks;             /* that found it so, this one counted */
    uint64_t lasted_ns;         /* since the first of them */
};

/* Notes a look that saw no movement.  Out of memory: nothing stands. */
struct wsdbg_standstill wsdbg_standstills_note(struct wsdbg_standstills *standstills,
                                               const struct wsdbg_snapshot *snapshot, uint64_t now_ns);
/* Nobody can end it, and three looks at least have found it over two stall times. */
bool wsdbg_standstill_is_hang(const struct wsdbg_standstill *standstill, uint64_t stall_ns);
/* The diagnosis becomes that of a hang: the best finding about the grid goes first, UNKNOWN where there is none, with
 * what the standstill rests on. */
struct wsdbg_error *wsdbg_diagnosis_call_hang(struct wsdbg_diagnosis *diagnosis, const struct wsdbg_snapshot *snapshot,
                                              const struct wsdbg_standstill *standstill);

#endif
