/* python_layout.h - where CPython keeps what a stack is made of: offsets in bytes, for CPython 3.9 to 3.14 on 64 bits.
 * The observer reads its own process with them, wsdbg another one (tracer/host).
 *
 * From 3.13 on the interpreter describes itself: _PyRuntime begins with a table of offsets.  Before, the offsets follow
 * from the version (docs/design/host.md says how they were found and tried).
 */
#ifndef WSDBG_PYTHON_LAYOUT_H
#define WSDBG_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WSDBG_PYTHON_VERSION_BYTES = 16,
    WSDBG_PYTHON_TABLE_WORDS = 84 /* of the table with which _PyRuntime begins from 3.13 on, that are looked at */
};
#define WSDBG_PYTHON_FIRST_SELF_DESCRIBED 0x030d

/* How the lines of a code object are stored. */
enum wsdbg_python_lines {
    WSDBG_PYTHON_LNOTAB,    /* 3.9: pairs of steps of address and line */
    WSDBG_PYTHON_RANGES,    /* 3.10: pairs, -128 = no line */
    WSDBG_PYTHON_LOCATIONS, /* from 3.11 on: entries of one to many bytes */
};

struct wsdbg_python_layout {
    uint32_t version; /* 0x030b for 3.11 */
    bool free_threaded;
    enum wsdbg_python_lines lines;
    uint32_t runtime_interpreters; /* in _PyRuntime: the first interpreter */
    uint32_t interpreter_next, interpreter_threads;
    uint32_t thread_next, thread_interpreter, thread_pthread;
    uint32_t thread_native; /* the kernel's number of the thread, 0 = it keeps none */
    uint32_t thread_frame;  /* the innermost frame, or, with cframe, what points to it */
    bool has_cframe;        /* thread_frame leads to a struct that has the frame at cframe_frame */
    uint32_t cframe_frame;
    uint32_t frame_bytes; /* up to the last member that is read */
    uint32_t frame_previous, frame_code;
    uint32_t frame_instruction; /* a pointer into the code, or an int before 3.11 */
    bool instruction_is_index;
    uint32_t instruction_unit; /* bytes that one step of the index is */
    bool has_owner;            /* the frame says whose it is */
    uint32_t frame_owner;      /* one byte */
    uint32_t owner_foreign;    /* from this value on a frame is the interpreter's own: it has no code */
    uint32_t frame_entry;      /* one byte: C called this frame; 0 = not told there */
    uint32_t frame_bytecode;   /* free-threaded: which copy of the code runs; 0 = there is one */
    uint32_t code_copies;      /* free-threaded: the copies; 0 = there is one */
    uint32_t code_filename, code_name, code_first_line, code_lines;
    uint32_t code_instructions; /* where the instructions begin; not with instruction_is_index */
    uint32_t object_type;
    uint32_t bytes_size, bytes_data;
    uint32_t text_length, text_state, text_kind_shift; /* kind, compact and ascii follow one another from that bit on */
    uint32_t text_ascii_data, text_other_data;         /* where the characters begin */
};

/* The layout of a version, 0x0309 to 0x030c; NULL = none is known. */
const struct wsdbg_python_layout *wsdbg_python_layout_of(uint32_t version);
/* The one that the first WSDBG_PYTHON_TABLE_WORDS words of _PyRuntime describe, and the interpreter's whole version as
 * PY_VERSION_HEX.  False: they are not the table of 3.13 or 3.14, or what it says cannot be. */
bool wsdbg_python_layout_of_table(const uint64_t *table, struct wsdbg_python_layout *out, uint32_t *version);
/* "3.11.7" of PY_VERSION_HEX. */
void wsdbg_python_version_text(uint32_t version, char out[WSDBG_PYTHON_VERSION_BYTES]);

#endif
