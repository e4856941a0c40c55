/* python_code.h - code objects of another process's interpreter: function, file and lines. */
#ifndef WSDBG_HOST_PYTHON_CODE_H
#define WSDBG_HOST_PYTHON_CODE_H

#include "host/process_memory.h"
#include "python/python_layout.h"
#include "model/snapshot.h"

/* An interpreter in a process. */
struct wsdbg_python {
    struct wsdbg_python_layout layout;
    char version[WSDBG_PYTHON_VERSION_BYTES]; /* "3.11.7"; "3.9" where more is not known */
    uint64_t runtime;                         /* _PyRuntime; the next ones: types of objects */
    uint64_t code_type, text_type, bytes_type;
    uint64_t eval_first, eval_bytes; /* the function that runs frames; 0 = not known */
    uint32_t file;                   /* in the process's maps: the interpreter's */
};

struct wsdbg_python_code {
    uint64_t address;
    uint64_t file_text, function_text, lines_object; /* the objects that the next ones come from */
    bool whole;                                      /* its file and function could be read */
    char function[WSDBG_HOST_FUNCTION_BYTES], file[WSDBG_HOST_FILE_BYTES]; /* "" = not known */
    uint32_t first_line;
    unsigned char *lines; /* owned by the codes */
    size_t lines_bytes;
};

/* Those that were read, each once. */
struct wsdbg_python_codes;

struct wsdbg_error *wsdbg_python_codes_create(const struct wsdbg_python *python, struct wsdbg_host_memory *memory,
                                              struct wsdbg_python_codes **out);
void wsdbg_python_codes_destroy(struct wsdbg_python_codes *codes);

/* Whether the object at the address has the type of code. */
bool wsdbg_python_is_code(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t address);
/* The code object that is at the address now; NULL = there is none, or out of memory.  Valid until the next call. */
const struct wsdbg_python_code *wsdbg_python_code_at(struct wsdbg_python_codes *codes, uint64_t address);

#endif
