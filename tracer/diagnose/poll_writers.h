/* poll_writers.h - what a warp polls, and who but the warps that are seen could still write it. */
#ifndef WSDBG_DIAGNOSE_POLL_WRITERS_H
#define WSDBG_DIAGNOSE_POLL_WRITERS_H

#include "diagnose/host_waits.h"
#include "diagnose/phrase.h"

enum wsdbg_writer {
    WSDBG_WRITER_NOBODY,     /* as far as seen */
    WSDBG_WRITER_WARP,       /* one that polls itself what somebody outside may write, once it goes on */
    WSDBG_WRITER_HELD_BACK,  /* a copy or kernel that waits only because of an earlier look */
    WSDBG_WRITER_HOST_WORK,  /* a copy or kernel that the host has not given to the GPU yet */
    WSDBG_WRITER_HOST_STORE, /* a thread of the program, or of another process that shares the memory */
    WSDBG_WRITER_SYSTEM,     /* nothing is known of the memory; it is read as what the host or another GPU may write */
    WSDBG_WRITER_PEER,       /* another GPU of the process, whose work is not known to be done */
    WSDBG_WRITER_PROCESS,    /* another process, or another device */
    WSDBG_WRITER_CLOCK       /* nobody, but the poll has a time limit */
};

struct wsdbg_poll {
    uint32_t site;    /* WSDBG_NONE = not known, as of events */
    uint32_t barrier; /* index in barriers of the word, WSDBG_NONE */
    struct wsdbg_optional_u64 address;
    struct wsdbg_optional_u32 width_bytes;
    struct wsdbg_optional_u64 value;
    const struct wsdbg_allocation *memory; /* that holds it, NULL = not known */
    bool shared;                           /* in shared memory: only the CTA's cluster can write it */
    bool system;                           /* read with the scope of the whole system */
    bool host_store;                       /* a plain store of the host's reaches it, as far as is known */
    bool others_ended;                     /* it was given to other processes, all of which have ended */
    bool may_time_out;                     /* the clock may end the loop, too */
    enum wsdbg_writer writer;              /* the first of those who may write it */
};

/* What all warps of a snapshot poll, from the machine's state: the memory at each place of the code, as far as lanes
 * were read there, and whether any poll may end.  The caller destroys it; it must not outlive the snapshot. */
struct wsdbg_error *wsdbg_polls_create(const struct wsdbg_snapshot *snapshot, struct wsdbg_polls **out);
void wsdbg_polls_destroy(struct wsdbg_polls *polls);

/* What the warp's lanes poll; of several places, one at which somebody may still end the poll, if there is any.  Lanes
 * that were not read are taken to poll in the memory in which all others of the grid do that were, at the same place.
 */
struct wsdbg_poll wsdbg_poll_of(const struct wsdbg_case *c, uint32_t warp);
/* The same of one place in the code, for lanes that poll there. */
struct wsdbg_poll wsdbg_poll_at(const struct wsdbg_case *c, enum wsdbg_warp_state state, uint32_t site,
                                struct wsdbg_optional_u64 address);

/* A CTA of the case's process hangs by itself (hangs_alone.h), and may be the one that should write what others poll.
 */
bool wsdbg_writer_may_hang(const struct wsdbg_case *c);

/* For a grid that may poll any word of its process's memory: whether something may write that memory that wsdbg does
 * not see, such as another process, machine, card or context.  True if that is not known. */
bool wsdbg_others_may_write(const struct wsdbg_snapshot *snapshot, uint32_t grid);
/* It imported memory of another process. */
bool wsdbg_took_memory(const struct wsdbg_snapshot *snapshot, uint32_t process_id);
/* All processes that are followed, but for this one, of which one at least had memory of others. */
bool wsdbg_others_have_ended(const struct wsdbg_snapshot *snapshot, uint32_t process_id);

/* The lanes of a warp that poll: those that its row tells of, else the first; NULL = none, or only the row tells. */
const struct wsdbg_part *wsdbg_polling_part(const struct wsdbg_case *c, uint32_t warp);
/* The processes that had memory of others and have ended, "2083 has ended"; "" where they are not why nobody may write.
 */
struct wsdbg_phrase wsdbg_say_ended(const struct wsdbg_case *c, const struct wsdbg_poll *poll);
/* What the warp's last event polls may be written by the host or another GPU. */
bool wsdbg_event_polls_system(const struct wsdbg_warp_row *warp);

#endif
