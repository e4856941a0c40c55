/* cubin.h - the machine code of a module for sm_90: its functions, their constants, and what the compiler noted about
 * their barriers.
 *
 * Reads bytes of unknown origin, an ELF file as ptxas makes it; everything handed out lies within them.
 */
#ifndef WSDBG_SASS_CUBIN_H
#define WSDBG_SASS_CUBIN_H

#include "sass/fatbin.h"

#define WSDBG_SASS_ARCHITECTURE 90 /* the only one whose instructions are decoded: sm_90 */
#define WSDBG_INSTRUCTION_BYTES 16
#define WSDBG_UNKNOWN_COUNT (-1)

struct wsdbg_cubin;
struct cubin_number;

struct wsdbg_cubin_function {
    const char *name;               /* as the linker sees it; the cubin's */
    struct wsdbg_image code;        /* whole instructions */
    size_t section;                 /* the number of the section that holds the code */
    uint64_t offset_bytes;          /* of the code within that section */
    uint64_t address;               /* where the GPU has the code; 0 = the image was not relocated, or not this part */
    bool is_kernel;                 /* can be launched; else only called */
    bool reconfigures;              /* uses setmaxnreg */
    int registers;                  /* per thread at launch, or WSDBG_UNKNOWN_COUNT */
    int registers_most;             /* what the compiler was held to; WSDBG_UNKNOWN_COUNT: not noted, or no limit */
    int stack_bytes;                /* of a thread, or WSDBG_UNKNOWN_COUNT */
    uint64_t shared_bytes;          /* of a CTA, known at compile time; with what the system keeps for itself */
    uint32_t threads_most[3];       /* .maxntid: x, y, z; 0 = not said */
    uint32_t threads_required[3];   /* .reqntid: likewise */
    uint32_t cluster[3];            /* CTAs of a cluster: likewise */
    int named_barriers;             /* the highest id used + 1, or WSDBG_UNKNOWN_COUNT */
    int mbarriers;                  /* places that init one, or WSDBG_UNKNOWN_COUNT: not noted, or within a loop */
    size_t mbarrier_uses;           /* for wsdbg_cubin_mbarrier_use; 0 also where nothing was noted */
    struct wsdbg_image use_records; /* as they lie in the file */
    struct wsdbg_image branch_records;  /* likewise: branches through registers with all their targets */
    const struct cubin_number *numbers; /* for cubin_addresses.h: of all functions of the cubin */
    size_t number_count;
};

/* The numbers are the compiler's. */
enum wsdbg_mbarrier_use_kind {
    WSDBG_USE_INIT,
    WSDBG_USE_ARRIVE,
    WSDBG_USE_ARRIVE_NO_COMPLETE,
    WSDBG_USE_ARRIVE_DROP,
    WSDBG_USE_ARRIVE_DROP_NO_COMPLETE,
    WSDBG_USE_TEST_WAIT,
    WSDBG_USE_TEST_WAIT_PARITY,
    WSDBG_USE_CP_ASYNC_ARRIVE,
    WSDBG_USE_INVALIDATE,
    WSDBG_USE_TRY_WAIT,
    WSDBG_USE_TRY_WAIT_PARITY,
    WSDBG_USE_EXPECT_TX,
    WSDBG_USE_COMPLETE_TX,
    WSDBG_USE_UNKNOWN,
};

/* An instruction that uses the mbarrier at general + uniform register + immediate_bytes.  The compiler notes every wait
 * and plain arrival, but neither arrive.expect_tx nor what TMA completes. */
struct wsdbg_mbarrier_use {
    enum wsdbg_mbarrier_use_kind kind;
    uint32_t offset_bytes;    /* of the instruction, from the function's start */
    uint8_t general_register; /* 255 = RZ */
    uint8_t uniform_register; /* 63 = URZ */
    int32_t immediate_bytes;
};

/* Opens the cubin in these bytes, which stay the caller's and must outlive *out.  One thread at a time may use it.
 * BAD_INPUT where they are no cubin or a damaged one, VERSION where it is for another device or of another ABI. */
struct wsdbg_error *wsdbg_cubin_open(const struct wsdbg_image *image, struct wsdbg_cubin **out);
/* Opens a cubin for any architecture and reads only the names and addresses of its functions.  The caller must not
 * decode their instructions, and must not use the compiler's notes. */
struct wsdbg_error *wsdbg_cubin_open_names(const struct wsdbg_image *image, struct wsdbg_cubin **out);
/* The architecture that the image's header names: 90 for sm_90 and sm_90a.  False if it is no cubin of a known ABI. */
bool wsdbg_cubin_architecture(const struct wsdbg_image *image, uint32_t *architecture);
void wsdbg_cubin_close(struct wsdbg_cubin *cubin); /* NULL is fine */

/* The bytes of the cubin for sm_90 in an image: the image itself, or the entry of a fatbin, unpacked.  The caller frees
 * *out.  NOT_FOUND where there is none; more than `most` bytes are refused. */
struct wsdbg_error *wsdbg_cubin_of_image(const struct wsdbg_image *image, size_t most, char **out, size_t *byte_count);

/* The options that ptxas was given, as it notes them, "-v  -arch sm_90a -m 64"; NULL where there is no such note. */
const char *wsdbg_cubin_compiler_options(const struct wsdbg_cubin *cubin);
/* Whether the code is for sm_90a alone.  False where the file does not say. */
bool wsdbg_cubin_is_specific(const struct wsdbg_cubin *cubin, bool *is_specific);

size_t wsdbg_cubin_function_count(const struct wsdbg_cubin *cubin);
/* number < the count; valid until the cubin is closed. */
const struct wsdbg_cubin_function *wsdbg_cubin_function(const struct wsdbg_cubin *cubin, size_t number);

/* number < function->mbarrier_uses. */
struct wsdbg_mbarrier_use wsdbg_cubin_mbarrier_use(const struct wsdbg_cubin_function *function, size_t number);

/* The function's constants in `bank` (0: its parameters' place, zeros in the file), else the module's in that bank.
 * False where the file holds none. */
bool wsdbg_cubin_constants(const struct wsdbg_cubin *cubin, const struct wsdbg_cubin_function *function, unsigned bank,
                           struct wsdbg_image *out);

/* The PTX that the cubin was compiled from, which ptxas keeps in it with -lineinfo: its lines with their numbers,
 * without comments and .loc.  The caller frees *out.  NOT_FOUND where it holds none, BAD_INPUT where it is longer than
 * `most`. */
struct wsdbg_error *wsdbg_cubin_ptx(const struct wsdbg_cubin *cubin, size_t most, char **out, size_t *byte_count);

#endif
