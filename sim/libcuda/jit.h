/* jit.h - options of the compiler that come with a module: where its messages go; the rest changes nothing here. */
#ifndef WSDBG_LIBCUDA_JIT_H
#define WSDBG_LIBCUDA_JIT_H

#include <stddef.h>

/* Memory of the program; valid during one call of it. */
struct jit {
    char *errors;
    size_t error_bytes;
    void **errors_written; /* the option's value, which becomes the number of bytes that were written */
};

/* Finds the logs, empties them, and says that nothing was written.  Arrays may be NULL. */
struct jit jit_begin(unsigned count, const int *options, void **values);
/* Writes the text to the log of errors, as far as there is room; `jit` may be NULL. */
void jit_complain(struct jit *jit, const char *text);

#endif
