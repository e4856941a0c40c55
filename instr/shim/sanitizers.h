/* sanitizers.h - a program with a sanitizer is observed as it is, and its sanitizer sees nothing of the observer. */
#ifndef WSDBG_SHIM_SANITIZERS_H
#define WSDBG_SHIM_SANITIZERS_H

/* Offered by TSan's runtime. */
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);

/* Between the two TSan takes nothing that this thread does for a race: what the driver does for us is ours.  Nothing
 * of the program may lie between them. */
static inline void sanitizers_ignore_begin(void)
{
    if (AnnotateIgnoreReadsBegin && AnnotateIgnoreWritesBegin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
}

static inline void sanitizers_ignore_end(void)
{
    if (AnnotateIgnoreReadsEnd && AnnotateIgnoreWritesEnd) {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
}

/* Before anything else that the observer does in the process, however often. */
void sanitizers_pass_by(void);
/* The name of the one whose runtime is in the process; NULL = there is none.  UBSan's is not meant. */
const char *sanitizers_name(void);
/* From now on the process's list of libraries is complete: the sanitizer has started. */
void sanitizers_started(void);

#endif
