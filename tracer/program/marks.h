/* marks.h - how wsdbg on several nodes tell each other of a hang: files in a folder that they share, nothing else.
 *
 * wsdbg-HOST-PID.watches   this wsdbg watches; touched every two seconds, removed at its end
 * wsdbg-HOST-PID.hang      it found a hang; stays, and is old for whoever starts later
 * wsdbg-HOST-PID.looked    it has taken its picture for the hang of another one
 *
 * One thread.  Times are compared by the clock of the file system, which all of them have in common.
 */
#ifndef WSDBG_PROGRAM_MARKS_H
#define WSDBG_PROGRAM_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct wsdbg_marks;

/* Somebody else's. */
struct wsdbg_mark {
    char host[64], cause[32]; /* "?" = not known */
};

/* `folder` must be one.  A folder in which nothing can be written is no error: marks of others are seen all the same.
 */
struct wsdbg_error *wsdbg_marks_open(const char *folder, struct wsdbg_marks **out);
/* What is to be said of the folder, one line; "" = nothing. */
const char *wsdbg_marks_words(const struct wsdbg_marks *marks);
/* Whether another wsdbg has marked a hang since this one began; each is told once.  Looks four times a second at most;
 * now_ns is CLOCK_MONOTONIC. */
bool wsdbg_marks_look(struct wsdbg_marks *marks, uint64_t now_ns, struct wsdbg_mark *out);
/* The picture for it is taken. */
void wsdbg_marks_answer(struct wsdbg_marks *marks);
/* Marks a hang of one's own; only the first time.  `cause` is a code.  False: it could not be written. */
bool wsdbg_marks_set(struct wsdbg_marks *marks, const char *cause);
/* After that: how many others watch (*others), and how many of them have not answered. */
size_t wsdbg_marks_unanswered(struct wsdbg_marks *marks, size_t *others);
/* NULL is fine. */
void wsdbg_marks_close(struct wsdbg_marks *marks);

#endif
