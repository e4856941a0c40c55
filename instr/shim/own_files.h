/* own_files.h - files of the library's own, which stay out of the program's way. */
#ifndef WSDBG_SHIM_OWN_FILES_H
#define WSDBG_SHIM_OWN_FILES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `fd`, which was just opened, moved above the numbers of the standard streams: a program that has closed one of those
 * must not write to, read from or close what is ours.  It is closed on exec.  -1 stays -1; errno is kept. */
int shim_above_streams(int fd);

/* Around a write of our own: a closed pipe or a file-size limit must not end the app by SIGPIPE or SIGXFSZ. */
struct shim_signals {
    sigset_t mine, before;
};
void shim_signals_off(struct shim_signals *kept);
void shim_signals_on(const struct shim_signals *kept);

/* A whole small file of /proc, as text; what is more than `size` bytes is cut.  False: there is nothing in it. */
bool shim_read_text(const char *path, char *text, size_t size);

/* What getdents64 gives of a folder: the C library's streams take memory from the program's allocator. */
struct folder_entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

#endif
