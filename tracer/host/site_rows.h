/* site_rows.h - the launch sites that the observer keeps in a process's segment, as it wrote them
 * (wsdbg/segment_sites.h). */
#ifndef WSDBG_HOST_SITE_ROWS_H
#define WSDBG_HOST_SITE_ROWS_H

#include "host/process_maps.h"
#include "host/process_memory.h"
#include "wsdbg/session.h"

/* The rings of a process. */
struct wsdbg_site_rings {
    struct wsdbg_host_memory *memory;
    uint64_t segment; /* address in the process */
    uint64_t rows;
};

/* Finds them.  segment_file: in maps.  False: the process keeps no sites. */
bool wsdbg_site_rings_find(const struct wsdbg_host_maps *maps, uint32_t segment_file, struct wsdbg_host_memory *memory,
                           struct wsdbg_site_rings *out);

/* Entry `entry` of a ring.  False: it is not there any more, is being written, or never was; out->sequence is then what
 * the row has, 0 where it could not be read. */
bool wsdbg_site_row_read(const struct wsdbg_site_rings *rings, enum wsdbg_site_ring ring, uint64_t entry,
                         struct wsdbg_site_row *out);
/* Whether what a failed read found there is a later entry. */
bool wsdbg_site_row_is_later(const struct wsdbg_site_row *row, uint64_t entry);
/* Entries ever of CAPTURED or CALLED; 0 where it cannot be read. */
uint64_t wsdbg_site_row_count(const struct wsdbg_site_rings *rings, enum wsdbg_site_ring ring);
uint32_t wsdbg_site_ring_rows(enum wsdbg_site_ring ring);

#endif
