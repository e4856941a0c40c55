/* segment_file.h - the file of the shared segment, and what an earlier program left in its place. */
#ifndef WSDBG_SHIM_SEGMENT_FILE_H
#define WSDBG_SHIM_SEGMENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum segment_place { SEGMENT_IN_MEMORY, SEGMENT_IN_SPOOL };
enum segment_place segment_file_first_place(void);
/* Creates this process's file and remembers its name.  -1: it is not there; `why` says so if it was empty. */
int segment_file_create(enum segment_place place, const char *session, char *why);
/* The file that was created last: opened for writing, removed, its name. */
int segment_file_open(void);
void segment_file_remove(void);
const char *segment_file_name(void);
/* The file of another process, opened for reading; -1 = there is none. */
int segment_file_open_of(const char *session, int process);
/* 0 = not known. */
uint64_t segment_file_pid_namespace(void);
/* What another program left that this process executed before, or that had its number: wsdbg is told, the name is
 * free.  True: no wsdbg watched, so an armed process's table was removed. */
bool segment_file_leave_earlier(const char *session);
/* The wsdbg that watched has ended and removed its folder. */
bool segment_file_session_is_over(const char *session);

#endif
