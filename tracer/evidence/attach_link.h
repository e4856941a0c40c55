/* attach_link.h - wsdbg's half of the words in a traced process's segment by which the process lets an inspector in
 * (struct wsdbg_attach_row of wsdbg/segment_attach.h).
 *
 * Reads and writes: the row, through a mapping that a forked inspector inherits.  The other half is never trusted: a
 * number that is none of the enumeration's is "refused", text is cut.
 */
#ifndef WSDBG_EVIDENCE_ATTACH_LINK_H
#define WSDBG_EVIDENCE_ATTACH_LINK_H

#include "base/error.h"
#include "wsdbg/session.h"

#include <stdbool.h>

struct wsdbg_attach_link {
    struct wsdbg_attach_row *row; /* shared and writable; the upper half is ours */
    int process;                  /* pidfd of the traced process, -1 = it has ended */
    unsigned char *pages;         /* the row lies in them */
    size_t pages_bytes;
};

/* Raises the request and waits for its answer, until deadline_ns (CLOCK_MONOTONIC) at most: WSDBG_ERROR_OTHER = none
 * came.  An obstacle that the process names is an error (BUSY) with its words. */
struct wsdbg_error *wsdbg_attach_ask(const struct wsdbg_attach_link *attach, enum wsdbg_attach_command command,
                                     uint64_t deadline_ns);
/* The process detaches by itself when this much time went by without another call. */
void wsdbg_attach_hold(const struct wsdbg_attach_link *attach, uint64_t lease_ns);
/* Waits until nobody is attached and nothing asked for is left: after an inspector's death.  False: deadline_ns came
 * first. */
bool wsdbg_attach_wait_detached(const struct wsdbg_attach_link *attach, uint64_t deadline_ns);
/* True while the traced process runs. */
bool wsdbg_attach_alive(const struct wsdbg_attach_link *attach);

/* Gives back the mapping and the descriptor; for a debug attach from wsdbg_segment_map_attach_link(). */
void wsdbg_attach_close(struct wsdbg_attach_link *attach);

/* CLOCK_MONOTONIC. */
uint64_t wsdbg_attach_clock_ns(void);

#endif
