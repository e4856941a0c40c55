/* host_call.h - what a thread of the process does, as /proc/self/task/<thread> tells. */
#ifndef WSDBG_SHIM_HOST_CALL_H
#define WSDBG_SHIM_HOST_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_CALL_BYTES = 224 }; /* of the file syscall, at most */
/* The beginning of a file of a thread as a string; 0 or an errno. */
int host_call_file(uint32_t thread, const char *file, char *text, size_t bytes);

/* The system call that a thread is in. */
struct host_call {
    long number;
    unsigned long argument[6], stack, pc; /* stack and pc: 0 = not told */
};
/* By the text of a thread's file syscall; false where it is in none. */
bool host_call_read(const char *text, struct host_call *out);
/* By the thread's file syscall; false where it is in none. */
bool host_call_of(uint32_t thread, struct host_call *out);
bool host_call_polls(const struct host_call *call);
/* ... by epoll. */
bool host_call_polls_events(const struct host_call *call);

#endif
