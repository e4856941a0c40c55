/* look_keeper.h - keeps looks at a GPU as files that `wsdbg core` reads: the rows, what was read of registers and memory,
 * and the kernels' parameters. */
#ifndef WSDBG_EVIDENCE_LOOK_KEEPER_H
#define WSDBG_EVIDENCE_LOOK_KEEPER_H

#include "machine/interpret.h"

/* Of one process.  NULL stands for one that keeps nothing, in every function. */
struct wsdbg_look_keeper;

/* Files are FOLDER/look-PROCESS-NUMBER.core; one that is there already is not overwritten. */
struct wsdbg_error *wsdbg_look_keeper_create(const char *folder, uint32_t process_id, struct wsdbg_look_keeper **out);
void wsdbg_look_keeper_destroy(struct wsdbg_look_keeper *keeper);
/* wsdbg_look_take_within; remembers what it read. */
struct wsdbg_error *wsdbg_look_keeper_take(struct wsdbg_look_keeper *keeper, struct wsdbg_machine *machine,
                                           struct wsdbg_code *code, struct wsdbg_look_budget budget,
                                           struct wsdbg_look **out);
/* Writes the file, if a look was taken since the last one; for use while nothing is stopped.  The machine's rows must
 * still be those of the look.  A file that cannot be written costs no look: */
void wsdbg_look_keeper_write(struct wsdbg_look_keeper *keeper, const struct wsdbg_machine *machine);
/* The file of the next look that was kept and not asked for yet; the caller frees.  NULL = there is none. */
char *wsdbg_look_keeper_next(struct wsdbg_look_keeper *keeper);
bool wsdbg_look_keeper_has_next(const struct wsdbg_look_keeper *keeper);
/* why the newest one could not be written, NULL = it could; valid until the next write. */
const char *wsdbg_look_keeper_trouble(const struct wsdbg_look_keeper *keeper);

#endif
