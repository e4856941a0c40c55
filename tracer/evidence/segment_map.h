/* segment_map.h - a live segment: the mapping of a traced process's file.
 *
 * Reads: the file, whether the process lives and executes the same program.  Writes: the request words and the debug
 * attach, through mappings of their own (everything else is mapped read-only), and what is left of a context that died;
 * nothing when it only reads.
 */
#ifndef WSDBG_EVIDENCE_SEGMENT_MAP_H
#define WSDBG_EVIDENCE_SEGMENT_MAP_H

#include "evidence/attach_link.h"
#include "evidence/lasting_memory.h"
#include "evidence/segment_reader.h"

struct wsdbg_segment_map;

/* WATCH may ask for copies.  READ writes nothing at all: another wsdbg asks. */
enum wsdbg_segment_use { WSDBG_SEGMENT_WATCH, WSDBG_SEGMENT_READ };

/* Asks for a fresh copy of the slots; it arrives within some 20 ms, nobody waits for it.  WATCH only. */
void wsdbg_segment_map_look(struct wsdbg_segment_map *map);

/* Opens the file `path` of process `process_id`; WSDBG_ERROR_FOREIGN = it is another user's.  *out = NULL without an
 * error: the producer has not filled it yet; try again. */
struct wsdbg_error *wsdbg_segment_map_open(const char *path, uint32_t process_id, enum wsdbg_segment_use use,
                                           struct wsdbg_segment_map **out);
/* Follows growth; *view stays valid until the next refresh, keep or close.  A file that shrank is an error, also where
 * it grew again: what is gone reads as zeros. */
struct wsdbg_error *wsdbg_segment_map_refresh(struct wsdbg_segment_map *map, struct wsdbg_segment_view *view);
/* True while the process runs the program that wrote the file; an exited one that nobody has waited for does not. */
bool wsdbg_segment_map_alive(struct wsdbg_segment_map *map);
/* Of a process that lives no more: takes a private copy of what is there and lets go of the file and all descriptors;
 * WATCH removes the file.  Calls as before, but for attach_link(), work on the copy. */
struct wsdbg_error *wsdbg_segment_map_keep(struct wsdbg_segment_map *map);
/* The file's own number; another file of the same name has another one. */
uint64_t wsdbg_segment_map_inode(const struct wsdbg_segment_map *map);
/* Raises the history request and wakes the producer; returns the request's number.  WATCH only. */
uint32_t wsdbg_segment_map_request(struct wsdbg_segment_map *map);
/* Puts what was read from a dead context's memory where the copies of a living one would be: slots as of seen_ns,
 * and history (NULL = none).  Refuses what does not fit.  The observer writes there no more. */
struct wsdbg_error *wsdbg_segment_map_restore(struct wsdbg_segment_map *map, uint32_t context,
                                              const struct wsdbg_lasting_copy *copy, uint64_t seen_ns);
/* Makes the history that was put there the answer to `request`. */
struct wsdbg_error *wsdbg_segment_map_answer(struct wsdbg_segment_map *map, uint32_t context, uint32_t request);
bool wsdbg_segment_map_answered(const struct wsdbg_segment_map *map, uint32_t request);
/* The process, should it come to its end, waits until then (CLOCK_MONOTONIC; 0 = no more), for a limited time.  WATCH
 * only; trouble is none: it then does not wait. */
void wsdbg_segment_map_hold_exit(struct wsdbg_segment_map *map, uint64_t until_ns);
/* The words by which the process lets an inspector in, through a mapping of their own: wsdbg_attach_close().  WATCH
 * only.
 */
struct wsdbg_error *wsdbg_segment_map_attach_link(struct wsdbg_segment_map *map, struct wsdbg_attach_link *out);
/* Tells an armed process that this wsdbg watches it for `for_ns` from now (wsdbg/armed.h).  Does nothing if the process
 * is not armed, or if enough of the last such time is left.  WATCH only. */
void wsdbg_segment_map_watch(struct wsdbg_segment_map *map, uint64_t for_ns);
void wsdbg_segment_map_close(struct wsdbg_segment_map *map);

#endif
