/* segment_sites.h - rows of the segment: where in the program launches and calls of NCCL were made.
 *
 * Written by: the observer (instr/shim).
 * session.h has the segment, the protocol of its tables and the rules of change.  Compiles as C11 and C++17.
 */
#ifndef WSDBG_SEGMENT_SITES_H
#define WSDBG_SEGMENT_SITES_H

#include "ring.h"

/* Launch sites: evidence of which line of the program made a launch or a call of NCCL, as it was when the call began.
 * wsdbg makes frames of it later: it evaluates unwind tables on the piece of stack, and reads the code objects.  There
 * are three rings, one behind the other, as rows of one array.  Entry n of a ring is its row n % rows; the row counts
 * while sequence == n + 1, read before and after copying it. */
enum wsdbg_site_ring {
    WSDBG_SITES_LAUNCHED, /* entry n is launch n */
    WSDBG_SITES_CAPTURED, /* launches that went into a graph, and kernel nodes that were added or changed */
    WSDBG_SITES_CALLED,   /* calls of NCCL */
    WSDBG_SITE_RINGS
};
/* More than the 1024 launches that the driver queues for a stream before a launch waits. */
#define WSDBG_SITES_LAUNCHED_ROWS 2048
#define WSDBG_SITES_CAPTURED_ROWS 512
#define WSDBG_SITES_CALLED_ROWS 256
#define WSDBG_SITES_ROWS (WSDBG_SITES_LAUNCHED_ROWS + WSDBG_SITES_CAPTURED_ROWS + WSDBG_SITES_CALLED_ROWS)
#define WSDBG_SITE_WORDS 238 /* of Python frames and stack */
#define WSDBG_SITE_PYTHON_FRAMES 32
#define WSDBG_SITE_FRAME_WORDS 3
/* First word of a Python frame: bits 3 to 47 are those of the code object's address, bit 0 says that C called the
 * frame, and the highest 16 bits are the copy of the code that it runs (free-threaded; 0 = there is one).  Second word:
 * the instruction, a pointer or an index, as the interpreter has it.  Third word: bits 0 to 47 of the address of the
 * code's name, and above them the lowest 16 bits of its first line.  By these wsdbg knows that the code object is still
 * the same. */
#define WSDBG_SITE_ENTRY 1u
enum wsdbg_site_flags {
    WSDBG_SITE_PYTHON_CUT = 1, /* there are more Python frames further out */
    WSDBG_SITE_PYTHON_LOST = 2 /* they could not be read */
};
/* By numbers of DWARF, then the program counter. */
enum wsdbg_site_register {
    WSDBG_SITE_RBX,
    WSDBG_SITE_RBP,
    WSDBG_SITE_RSP,
    WSDBG_SITE_R12,
    WSDBG_SITE_R13,
    WSDBG_SITE_R14,
    WSDBG_SITE_R15,
    WSDBG_SITE_PC,
    WSDBG_SITE_REGISTERS
};
struct wsdbg_site_row {
    uint64_t sequence; /* entry number + 1, written last */
    uint64_t time_ns;
    uint64_t owner;   /* LAUNCHED, CAPTURED: entry of the launch table, WSDBG_UNKNOWN64 of a node that was added or
                         changed.  CALLED: entry among the communicator's calls */
    uint64_t group;   /* CAPTURED: the stream or graph.  CALLED: number of the communicator */
    uint32_t capture; /* CAPTURED: which of the process's captures; 0 = a node that was added or changed */
    uint32_t thread_id;
    uint32_t function; /* row in functions, WSDBG_UNKNOWN32; as the next ones of CAPTURED alone */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t flags;         /* enum wsdbg_site_flags */
    uint32_t python_frames; /* kept, innermost first: the first words */
    uint32_t stack_words;   /* kept from the stack pointer on, behind the Python frames */
    uint64_t registers[WSDBG_SITE_REGISTERS];
    uint64_t words[WSDBG_SITE_WORDS];
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_site_row) == 2048, "site layout");

#endif
