/* look.h - the parts of one look at a machine, private to this room.  One file a part, in this order: look_rows (with
 * look_sites), look_reads (with look_operands), look_samples, look_states, look_writers, families, roles,
 * look_barriers, look_exceptions, reaches (with look_executions), early, answers, code.
 *
 * Every row of the snapshot that is being made has one of these beside it, at the same index.
 */
#ifndef WSDBG_MACHINE_LOOK_H
#define WSDBG_MACHINE_LOOK_H

#include "machine/code.h"
#include "machine/interpret.h"
#include "machine/wait_site.h"
#include "machine/words.h"

/* A row of capacity that grows with what it counts. */
struct wsdbg_look_capacity {
    size_t functions, sites, code, parts, barriers, accesses, reaches, excerpts, names, exceptions;
};

static inline uint64_t wsdbg_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* Mbarriers that the code treats alike: one name, a stage for each place. */
struct wsdbg_family {
    uint32_t first, stride, places;
    uint32_t id;   /* of its name */
    uint64_t uses; /* a bit for each kind of access of it; INIT is not among them */
    bool walked;   /* an access goes along it with its stride */
    bool closed;   /* another array, of another use, begins where it ends: no walk over it goes further */
};

enum { WSDBG_FAMILIES_MAX = 64, WSDBG_LOOK_WARPS_MAX = 64, WSDBG_RECENT_PLACES = 1024, WSDBG_RECENT_LOOPS = 8 };

struct wsdbg_look_grid {
    uint32_t machine;                         /* row of the machine */
    struct wsdbg_code_kernel *kernel;         /* NULL = not known */
    struct wsdbg_span spans[WSDBG_SPANS_MAX]; /* of shared memory in which its mbarriers lie */
    size_t span_count;
    struct wsdbg_family families[WSDBG_FAMILIES_MAX];
    size_t family_count;
    uint32_t access_first; /* its rows in snapshot.accesses: those of kernel->accesses */
    uint32_t *by_id; /* further rows there, 16 for each of those: the instruction at one named barrier; WSDBG_NONE */
    uint32_t role_of_warp[WSDBG_LOOK_WARPS_MAX]; /* id of the role's name, WSDBG_NONE = not known */
};

struct wsdbg_look_cta {
    uint32_t machine;
    struct wsdbg_words words;
    uint64_t alike; /* equal for CTAs whose warps stand at the same places and whose barriers have the same words */
    bool read;      /* some warp of it was */
    bool gathers;   /* some warp of it waits at a named barrier */
    bool awaits;    /* ... for a phase of an mbarrier */
};

struct wsdbg_look_warp {
    uint32_t machine; /* WSDBG_NONE = it exited */
    uint64_t stands;  /* equal for warps whose lanes stand in the same waits, wherever in their loops */
    uint64_t alike;   /* equal for warps in the same state, as far as that is seen without registers */
    uint64_t wants;   /* what its lanes wait for: operands */
    bool needs_registers, asked, read; /* read: what its parts wait for needs no more */
    bool leads;                        /* the first one of its state */
    bool wants_known;
    uint32_t decides; /* part whose state is the warp's, WSDBG_NONE */
    /* Where the code shows no wait: */
    uint32_t sample;    /* the warp whose registers are taken for all at the same places, WSDBG_NONE = none was read */
    uint64_t registers; /* of a sample: a hash of them */
    bool registers_known;
};

struct wsdbg_look_part {
    uint32_t lane; /* the first one of them */
    uint64_t pc;
    const struct wsdbg_machine_wait *wait; /* as the source says it, NULL = it does not */
    struct wsdbg_code_place place;
    struct wsdbg_wait_site site;
    bool resolved;    /* what the site waits for is known: `operand` and the row's parity, count, address */
    uint32_t operand; /* mbarrier: shared::cluster address */
    bool bar_known;   /* of the BAR before its counter: id, threads (0 = the whole CTA) */
    bool bar_skipped; /* the BAR's guard says that it was not executed */
    uint32_t bar_id, bar_threads;
};

struct wsdbg_look {
    struct wsdbg_snapshot found; /* rows of this look only */
    struct wsdbg_look_row row;
    struct wsdbg_look_moved {
        uint64_t stands, wants;
        bool wants_known;
        bool explained; /* all its lanes stand in waits, as far as the code tells */
        uint32_t sample;
        uint64_t registers;
        bool registers_known;
    } * warps; /* beside found.warps: to compare with another look; the fields are those of struct wsdbg_look_warp */
};

struct wsdbg_looking {
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_snapshot *out;
    struct wsdbg_look_capacity capacity;
    struct wsdbg_look_grid *grids;
    struct wsdbg_look_cta *ctas;
    struct wsdbg_look_warp *warps;
    struct wsdbg_look_part *parts;
    size_t part_capacity, answer_capacity;
    uint32_t recent[WSDBG_RECENT_PLACES]; /* parts, by their counters */
    /* What tells sites apart, densely: they are looked through for every part. */
    struct wsdbg_look_site {
        uint64_t pc;
        uint32_t function, site; /* rows of the snapshot: the innermost level's */
    } * sites;
    size_t site_count, site_capacity;
    struct wsdbg_look_loop {
        uint32_t instruction;
        bool found;
        struct wsdbg_loop loop; /* its graph is NULL where there is nothing here */
    } loops[WSDBG_RECENT_LOOPS];
    struct wsdbg_look_ways {
        const struct wsdbg_code_kernel *kernel;
        uint32_t warp;
        struct wsdbg_graph *graph; /* of the threads of this warp; NULL where there is nothing here */
    } ways;
    struct wsdbg_look_budget budget;
    uint64_t exceptions_until_ns; /* registers are read for them; the clock is wsdbg_look_now_ns() */
    uint32_t warps_read;
};

struct wsdbg_error *wsdbg_look_rows(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_words(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_reads(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_samples(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_states(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_writers(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_families(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_roles(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_barriers(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_exceptions(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_reaches(struct wsdbg_looking *looking);
struct wsdbg_error *wsdbg_look_early(struct wsdbg_looking *looking);   /* after wsdbg_look_reaches */
struct wsdbg_error *wsdbg_look_answers(struct wsdbg_looking *looking); /* likewise */
struct wsdbg_error *wsdbg_look_code(struct wsdbg_looking *looking);

/* How many barriers of several warps every way from the kernel's start to an instruction passes at least and at most.
 */
struct wsdbg_look_passes {
    uint8_t least, most;
};
/* True where those barriers put neither of two instructions before the other. */
bool wsdbg_look_is_unordered(const struct wsdbg_look_passes *one, const struct wsdbg_look_passes *other);

/* The row in snapshot.sites of a place, added where it is new. */
struct wsdbg_error *wsdbg_look_site(struct wsdbg_looking *looking, const struct wsdbg_code_place *place,
                                    uint32_t module, uint32_t *out);
/* The row in snapshot.functions, likewise. */
struct wsdbg_error *wsdbg_look_function(struct wsdbg_looking *looking, const struct wsdbg_code_function *function,
                                        uint32_t module, uint32_t *out);

/* The CTA (row of the snapshot) that an mbarrier address of a warp of `cta` names, WSDBG_NONE where it was not seen. */
uint32_t wsdbg_look_target(const struct wsdbg_looking *looking, uint32_t cta, uint32_t address);
/* The mbarrier's word, read where it was not yet. */
struct wsdbg_error *wsdbg_look_word(struct wsdbg_looking *looking, uint32_t cta, uint32_t offset, uint64_t *word,
                                    bool *known);

/* wsdbg_loop_around, of a few loops kept: many warps stand in the same ones.  *out is valid until the next call, NULL
 * where there is no such loop. */
struct wsdbg_error *wsdbg_look_loop(struct wsdbg_looking *looking, const struct wsdbg_graph *graph,
                                    uint32_t instruction, const struct wsdbg_loop **out);
void wsdbg_look_forget_loops(struct wsdbg_looking *looking);
/* CLOCK_MONOTONIC, for the limits on time. */
uint64_t wsdbg_look_now_ns(void);
/* Reads what the part waits for, with the registers of its first lane; needs none where the code alone says it. */
struct wsdbg_error *wsdbg_look_operands(struct wsdbg_looking *looking, uint32_t part);
/* The address that a memory operand names with the registers of a lane of a warp: 64 bits, or an offset in shared
 * memory with its rank. */
struct wsdbg_error *wsdbg_look_address(struct wsdbg_looking *looking, uint32_t warp, uint32_t lane,
                                       const struct wsdbg_operand *operand, uint64_t *address, bool *known);
/* The paths of a part (struct wsdbg_paths), NULL where it does not stand in its grid's kernel.  Valid until the next
 * call. */
struct wsdbg_error *wsdbg_look_paths(struct wsdbg_looking *looking, uint32_t part, const struct wsdbg_paths **out);
/* Notes in which CTAs warps wait at barriers. */
void wsdbg_look_find_gatherings(struct wsdbg_looking *looking);
/* Whether executions of a warp are counted; its rows of reaches begin at `first`. */
bool wsdbg_look_counts_executions(const struct wsdbg_looking *looking, uint32_t warp);
struct wsdbg_error *wsdbg_look_executions(struct wsdbg_looking *looking, uint32_t warp, size_t first);
void wsdbg_look_forget_ways(struct wsdbg_looking *looking);
/* The family and stage of an mbarrier; false where it belongs to none. */
bool wsdbg_look_family(const struct wsdbg_look_grid *grid, uint32_t offset, uint32_t *family, uint32_t *stage);
/* Whether it is an arrival that names one mbarrier of its own CTA. */
bool wsdbg_look_arrives_on_one_place(const struct wsdbg_access *access);
/* How many places an mbarrier access has: what its code says, else those to the end of a family that is closed; 0 = not
 * known. */
uint32_t wsdbg_look_places(const struct wsdbg_look_grid *grid, const struct wsdbg_value_set *address);
/* Whether an access may be of the mbarrier at this offset. */
bool wsdbg_access_may_be(const struct wsdbg_look_grid *grid, const struct wsdbg_access *access, uint32_t offset);
/* Whether all lanes of a warp stand where the code shows a wait. */
bool wsdbg_look_explains(const struct wsdbg_looking *looking, uint32_t warp);
/* Whether that takes registers. */
bool wsdbg_look_needs_registers(const struct wsdbg_look_part *part);

static inline bool wsdbg_is_mbarrier_access(uint8_t kind)
{
    return kind >= WSDBG_ACCESS_INIT && kind <= WSDBG_ACCESS_INVALIDATE;
}

#endif
