/* copy_groups.h - the groups in which a thread waits for its asynchronous copies (cp.async, cp.async.bulk).
 *
 * Private to hopper/.  One struct serves the 32 lanes of a warp.  Groups end in any order; waits count from the newest.
 */
#ifndef WSDBG_HOPPER_COPY_GROUPS_H
#define WSDBG_HOPPER_COPY_GROUPS_H

#include "hopper/warp.h"

enum { HOPPER_GROUPS = 16 };       /* of a lane that can be under way, the open one among them */
enum { HOPPER_WORKS_MOST = 4096 }; /* of a CTA */

struct hopper_copy_groups {
    struct {
        uint32_t open;                                             /* number of the group that takes copies */
        uint32_t unread[HOPPER_GROUPS], unfinished[HOPPER_GROUPS]; /* copies of group number modulo HOPPER_GROUPS */
    } lanes[HOPPER_LANES];
};

/* Made when *groups is NULL; NULL: no memory. */
struct hopper_copy_groups *hopper_copy_groups(struct hopper_copy_groups **groups);
/* A copy joins the lane's open group, whose number comes back. */
uint32_t hopper_copy_joins(struct hopper_copy_groups *groups, unsigned lane);
void hopper_copy_has_read(struct hopper_copy_groups *groups, unsigned lane, uint32_t group);
void hopper_copy_finished(struct hopper_copy_groups *groups, unsigned lane, uint32_t group);
/* False: too many groups are under way, commit later. */
bool hopper_copy_can_commit(const struct hopper_copy_groups *groups, unsigned lane);
void hopper_copy_commit(struct hopper_copy_groups *groups, unsigned lane);
/* Whether a committed group other than the newest `keep` has copies that are unfinished (or only unread). */
bool hopper_copy_waits(const struct hopper_copy_groups *groups, unsigned lane, uint32_t keep, bool unread_only);

/* commit_group of the step's lanes; BLOCKED while too many groups are under way. */
enum hopper_outcome hopper_commit_copies(struct hopper_step *step, struct hopper_copy_groups **groups);
/* Until the step's lanes have at most `keep` groups left. */
enum hopper_outcome hopper_await_copies(struct hopper_step *step, const struct hopper_copy_groups *groups,
                                        uint32_t keep, bool unread_only);

/* Too much is under way of this CTA: the step has to wait. */
bool hopper_engine_is_full(struct hopper_step *step);

#endif
