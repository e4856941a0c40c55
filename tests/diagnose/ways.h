/* ways.h - walks of a kernel's threads, written by hand, and the picture of the moment at which their replay stands
 * still.
 */
#ifndef TEST_DIAGNOSE_WAYS_H
#define TEST_DIAGNOSE_WAYS_H

#include "diagnose/replay.h"
#include "picture.h"

enum { WAY_STEPS = 256 };

/* What lanes of a warp do. */
struct way {
    uint32_t warp;  /* row of the snapshot */
    uint32_t lanes; /* 0 = lane 0 alone */
    bool is_open;   /* how it goes on behind the last step is not known */
    uint32_t count;
    struct wsdbg_step_row steps[WAY_STEPS];
};

/* Appends a step; the caller may change it. */
struct wsdbg_step_row *way_add(struct way *way, uint8_t kind, uint32_t address, uint32_t number);

/* Makes the ways the walks of the picture.  Ways of one warp must be neighbours. */
void ways_put(struct picture *p, const struct way *ways, uint32_t count);

/* Begins a picture of one CTA with two rings, "full" and "empty".  Each of their mbarriers takes one arrival a phase.
 * Ids are those of picture_name. */
void ways_begin_rings(struct picture *p, uint32_t warps, uint32_t full, uint32_t empty, uint32_t stages);

/* The case of all CTAs, and a replay of it that ran in the first order.  The caller deinits and destroys them. */
struct wsdbg_replay *ways_replay(struct picture *p, struct wsdbg_case *c);

/* Gives the picture the state in which the replay stands: words, and where the lanes of each warp are. */
void ways_take_picture(struct picture *p, const struct wsdbg_replay *replay);

/* Runs the walks of the picture and gives it the state in which they end: whether they stand still. */
bool ways_stand(struct picture *p);

/* Judges a picture of which it is known that nothing moves: the first finding must be of this cause, likely, and its
 * sentence must have these words (NULL = any). */
void ways_expect(struct picture *p, const char *cause, const char *says);

/* The same, with another confidence. */
void ways_expect_as(struct picture *p, const char *cause, enum wsdbg_confidence confidence, const char *says);

/* Ends a test of one kernel: it must stand still if a cause is expected (else NULL), and that cause must be told as by
 * ways_expect.  Frees the picture. */
void ways_check(struct picture *p, bool stands, const char *cause, const char *says);

/* Ends a test of a kernel that must stand still: no finding may have these words.  Frees the picture. */
void ways_check_unsaid(struct picture *p, bool stands, const char *words);

/* Whether some finding of such a picture has these words in its sentence.  Prints all findings. */
bool ways_say(struct picture *p, const char *words);

#endif
