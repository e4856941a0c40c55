/* file_limit.h - a file that becomes larger than the user allows is an error of writing it. */
#ifndef WSDBG_BASE_FILE_LIMIT_H
#define WSDBG_BASE_FILE_LIMIT_H

/* Ignores SIGXFSZ, so that write() fails with EFBIG and what wsdbg has to say is still said.  For whoever begins a file
 * that may become large; a child process that is another program's gets the signal back first. */
void wsdbg_file_limit_is_an_error(void);

#endif
