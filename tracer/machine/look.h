/* look.h - the steps of one look at a machine, one file each, and what they hand on.  Private to this room.
 *
 * A step reads its const arguments and writes the others.  They come in this order: the source, which registers, memory
 * and code are read from; what earlier steps found; what the step adds.  Three kinds of things are handed on: what was
 * seen (struct wsdbg_look_seen, the barrier words), what the warps wait for (struct wsdbg_look_operands), and what
 * follows from both (an array each).  They stand beside the snapshot's rows, at the same index.  A step that adds rows
 * to the snapshot takes struct wsdbg_look_tables, one that only fills columns of rows takes the snapshot.
 *
 * look.c has the steps in their order.
 */
#ifndef WSDBG_MACHINE_LOOK_H
#define WSDBG_MACHINE_LOOK_H

#include "machine/code.h"
#include "machine/look_result.h"
#include "machine/spin.h"
#include "machine/wait_site.h"
#include "machine/words.h"
#include "model/rows.h"
#include "sass/families.h"

/* ---- what is read, and the rows that are made of it ---- */

struct wsdbg_look_source {
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_look_budget budget;
};

/* The snapshot that is being made, with the capacity of each table that grows with what it counts. */
struct wsdbg_look_tables {
    struct wsdbg_snapshot *out;
    struct wsdbg_table_counts capacity;
    /* What tells sites apart, densely: they are looked through for every part. */
    struct wsdbg_look_site {
        uint64_t pc;
        uint32_t function, site; /* rows of the snapshot: the innermost level's */
        uint32_t instruction;    /* of the graph: a function may have several copies there */
    } * sites;
    size_t site_count, site_capacity;
};

/* The row in snapshot.sites of a place, added where it is new. */
struct wsdbg_error *wsdbg_look_site(struct wsdbg_look_tables *tables, const struct wsdbg_code_place *place,
                                    uint32_t module, uint32_t *out);
/* The row in snapshot.functions, likewise. */
struct wsdbg_error *wsdbg_look_function(struct wsdbg_look_tables *tables, const struct wsdbg_cubin_function *function,
                                        uint32_t module, uint32_t *out);

/* ---- what was seen ---- */

enum { WSDBG_LOOK_WARPS_MAX = 64 }; /* of a CTA */

struct wsdbg_look_grid {
    uint32_t machine;                         /* row of the machine */
    struct wsdbg_code_kernel *kernel;         /* NULL = not known */
    struct wsdbg_span spans[WSDBG_SPANS_MAX]; /* of shared memory in which its mbarriers lie */
    size_t span_count;
};

struct wsdbg_look_cta {
    uint32_t machine; /* row of the machine; WSDBG_NONE = it has exited, and another CTA of its cluster has not */
    uint32_t sibling; /* its row, or that of another CTA of its cluster */
};

struct wsdbg_look_warp {
    uint32_t machine;        /* WSDBG_NONE = it exited */
    uint64_t stands, places; /* see struct wsdbg_look_standing */
    bool is_copy_open;
    uint64_t may_be[WSDBG_LOOK_HOMES_MOST];
    uint32_t may_be_count;
};

/* Lanes of a warp that stand at one place. */
struct wsdbg_look_part {
    uint32_t lane; /* the first one of them */
    uint64_t pc;
    const struct wsdbg_machine_wait *wait; /* as the source says it, NULL = it does not */
    struct wsdbg_code_place named;         /* of the PC; its instruction may not be decoded */
    struct wsdbg_code_place place;         /* the same if its instruction is decoded, else empty */
    struct wsdbg_wait_site site;
    struct wsdbg_code_place own; /* the place in the function's own code; only where `copies` is not 0 */
    uint32_t copy;               /* of the joined graph in which the part is taken to be */
    uint32_t copies;   /* of the function that it stands in, which it may be in; 0 and 1: the place is the only one */
    uint32_t calls;    /* so many calls that led there are known: the copies differ only in those before */
    bool was_asked;    /* the lane's stack frames were: they may be others in other lanes, */
    bool are_apart;    /* ... and are: some of its lanes stand in other copies than the first one */
    bool may_time_out; /* it polls, and the clock may end that for these lanes */
    /* What executing its code told, where the code's shape did not: see spin.h. */
    struct {
        bool is_found, is_known_not_to;
        bool is_read; /* what it polls: */
        uint64_t address, value;
        uint32_t phase; /* of an mbarrier */
        uint8_t width_bytes;
    } spin;
};

/* Which lanes have been followed round a circle.  Zeroed: none; the caller destroys it. */
struct wsdbg_look_spins {
    struct walk_memory *memory;  /* what they have read */
    struct wsdbg_spin_code code; /* which they have executed */
    unsigned limits, tries;
    struct {
        const struct wsdbg_code_function *function;
        uint32_t loop;
        struct wsdbg_wait_site site;
    } found[8]; /* loops of those that go round in one */
    unsigned found_count;
};
/* Whether a part that polls does so for ever, and whether one that seems to run polls: as its registers and memory say.
 * `warp`: row of the machine, in this CTA. */
struct wsdbg_error *wsdbg_look_spin(struct wsdbg_machine *machine, uint32_t warp, const struct wsdbg_cta *cta,
                                    struct wsdbg_look_spins *spins, struct wsdbg_look_part *part);
/* What the instruction of the part's site looks at, as the part's first lane comes to it next. */
struct wsdbg_error *wsdbg_look_reach(struct wsdbg_machine *machine, uint32_t warp, const struct wsdbg_cta *cta,
                                     struct wsdbg_look_spins *spins, const struct wsdbg_look_part *part,
                                     struct wsdbg_spin_target *out, bool *known);
void wsdbg_look_spins_destroy(struct wsdbg_look_spins *spins);

struct wsdbg_look_seen {
    const struct wsdbg_machine *machine;
    struct wsdbg_look_grid *grids;
    struct wsdbg_look_cta *ctas;
    struct wsdbg_look_warp *warps;
    struct wsdbg_look_part *parts;
    size_t part_capacity;
};

/* Contexts, modules, grids, CTAs, warps and parts. */
struct wsdbg_error *wsdbg_look_rows(const struct wsdbg_look_source *source, struct wsdbg_look_tables *tables,
                                    struct wsdbg_look_seen *seen);
/* The mbarrier words of each CTA that its kernel's code names. */
struct wsdbg_error *wsdbg_look_words(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const struct wsdbg_snapshot *rows, struct wsdbg_words *words);

/* An mbarrier's word, read where it was not yet. */
struct wsdbg_error *wsdbg_look_word(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                    uint32_t cta, uint32_t offset, struct wsdbg_words *words, uint64_t *word,
                                    bool *known);
/* The CTA (row of the snapshot) that an mbarrier address of a warp of `cta` names, WSDBG_NONE where it was not seen. */
uint32_t wsdbg_look_target(const struct wsdbg_snapshot *rows, uint32_t cta, uint32_t address);
/* If the part stands in a function that its kernel calls: the place becomes one of the kernel's graph, the first of
 * part->copies ones. */
struct wsdbg_error *wsdbg_look_first_copy(const struct wsdbg_code_kernel *kernel, struct wsdbg_look_part *part);
/* The same, with the calls that the stack frames of these lanes tell; grid, warp: rows of the machine. */
struct wsdbg_error *wsdbg_look_called_copy(const struct wsdbg_look_source *source,
                                           const struct wsdbg_code_kernel *kernel, uint32_t grid, uint32_t warp,
                                           uint32_t lanes, struct wsdbg_look_part *part);
/* Where the waits begin in which a part may stand, one for each copy of the function that may be its own, and each
 * address once; a copy that waits for nothing has the part's own place.  Some may be missing. */
struct wsdbg_look_homes {
    uint64_t addresses[WSDBG_LOOK_HOMES_MOST];
    uint32_t count;
};
struct wsdbg_error *wsdbg_look_copy_homes(const struct wsdbg_code_kernel *kernel, const struct wsdbg_look_part *part,
                                          struct wsdbg_look_homes *out);
/* Whether it takes registers to know what a part waits for. */
bool wsdbg_look_needs_registers(const struct wsdbg_look_part *part);
/* CLOCK_MONOTONIC, for the limits on time. */
uint64_t wsdbg_look_now_ns(void);

/* ---- clusters ---- */

/* CTAs of a cluster in x, y, z; 1 without clusters. */
void wsdbg_look_cluster_size(const struct wsdbg_machine_grid *grid, const struct wsdbg_machine_cta *cta,
                             uint32_t size[3]);
/* Sets cluster_size, cluster_rank and cluster_id, x counting fastest, of a row that has the CTA's place.  `sibling`: a
 * CTA of its cluster. */
void wsdbg_look_place_in_cluster(const struct wsdbg_machine_grid *grid, const struct wsdbg_machine_cta *sibling,
                                 struct wsdbg_cta *row);
/* False: some CTA lies outside the stated size, so the size is wrong.  Driver 580 says 1x1x1 for cooperative grids. */
bool wsdbg_look_size_fits(const struct wsdbg_machine *machine, uint32_t machine_row);

/* The place of a CTA.  It is on the GPU, or it has exited and another CTA of its cluster is still there. */
struct wsdbg_look_seat {
    uint32_t grid;    /* row of the snapshot */
    uint32_t sibling; /* row of the machine: its own, or that of another CTA of its cluster */
    uint32_t at[3];   /* x, y, z */
    bool has_left;
};

/* Each grid's by z, y, x.  Zeroed: none.  The caller frees rows. */
struct wsdbg_look_seats {
    struct wsdbg_look_seat *rows;
    size_t count, capacity;
};

/* Adds those of a grid.  On an error the seats are in no order. */
struct wsdbg_error *wsdbg_look_seats_add(const struct wsdbg_machine *machine, uint32_t grid, uint32_t machine_grid,
                                         struct wsdbg_look_seats *seats);

/* ---- what the warps wait for ---- */

struct wsdbg_part_operands {
    bool resolved;     /* what the site waits for is known: `mbarrier` and the row's parity, count, address */
    uint32_t mbarrier; /* shared::cluster address */
    bool bar_known;    /* of the BAR before its counter: id, threads (0 = the whole CTA) */
    bool bar_skipped;  /* the BAR's guard says that it was not executed */
    uint32_t bar_id, bar_threads;
};

struct wsdbg_warp_operands {
    uint64_t alike; /* equal for warps in the same state, as far as that is seen without registers */
    bool read;      /* what its parts wait for needs no more */
};

struct wsdbg_look_operands {
    struct wsdbg_part_operands *parts;
    struct wsdbg_warp_operands *warps;
    uint32_t warps_read;
};

/* Of the parts of one warp of each state, and of others as far as the time goes.  Fills parity, count, address and
 * value of parts; adds excerpts. */
struct wsdbg_error *wsdbg_look_reads(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const struct wsdbg_words *words, struct wsdbg_look_tables *tables,
                                     struct wsdbg_look_operands *operands);
/* Words of mbarriers that some part waits for and no code names. */
struct wsdbg_error *wsdbg_look_waited_words(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                            const struct wsdbg_look_operands *operands,
                                            const struct wsdbg_snapshot *rows, struct wsdbg_words *words);

/* Places and sites of parts that stand in one of several copies of a function. */
struct wsdbg_error *wsdbg_look_copies(const struct wsdbg_look_source *source,
                                      const struct wsdbg_look_operands *operands, const struct wsdbg_snapshot *rows,
                                      struct wsdbg_look_seen *seen);

/* The named barriers of parts whose registers do not tell them, by the index of the warp's threads. */
struct wsdbg_error *wsdbg_look_named(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const struct wsdbg_snapshot *rows, struct wsdbg_look_operands *operands);

/* wsdbg_loop_around, of a few loops kept: many warps stand in the same ones.  And what lanes need that are followed to
 * their waits. */
enum { WSDBG_RECENT_LOOPS = 8 };
struct wsdbg_look_loops {
    struct wsdbg_look_spins spins;
    struct wsdbg_look_loop {
        uint32_t instruction;
        bool found;
        struct wsdbg_loop loop; /* its graph is NULL where there is nothing here */
    } recent[WSDBG_RECENT_LOOPS];
};
/* *out is valid until the next call, NULL where there is no such loop. */
struct wsdbg_error *wsdbg_look_loop(struct wsdbg_look_loops *loops, const struct wsdbg_graph *graph,
                                    uint32_t instruction, const struct wsdbg_loop **out);
void wsdbg_look_forget_loops(struct wsdbg_look_loops *loops);
/* Reads what the part waits for, with the registers of its first lane; needs none where the code alone says it. */
struct wsdbg_error *wsdbg_look_part_operands(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                             uint32_t part, struct wsdbg_look_loops *loops,
                                             struct wsdbg_look_tables *tables, struct wsdbg_part_operands *operands);
/* The address that a memory operand names with the registers of a lane of a warp (row of the machine): 64 bits, or an
 * offset in shared memory with its rank. */
struct wsdbg_error *wsdbg_look_address(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane,
                                       const struct wsdbg_operand *operand, uint64_t *address, bool *known);

/* ---- what follows ---- */

/* How each warp stands, with the registers of a few. */
struct wsdbg_error *wsdbg_look_standing(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                        const struct wsdbg_look_operands *operands, const struct wsdbg_snapshot *rows,
                                        struct wsdbg_look_standing *standing);
/* States and sites of parts and warps.  deciding[w]: the part whose state is that of warp w, WSDBG_NONE. */
struct wsdbg_error *wsdbg_look_states(const struct wsdbg_look_seen *seen, const struct wsdbg_look_operands *operands,
                                      const struct wsdbg_words *words, struct wsdbg_look_tables *tables,
                                      uint32_t *deciding);
/* writes_site of parts. */
struct wsdbg_error *wsdbg_look_writers(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                       const struct wsdbg_look_operands *operands, struct wsdbg_look_tables *tables);
/* families[g]: those of grid g.  source NULL: who comes to which barrier is not known. */
struct wsdbg_error *wsdbg_look_families(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                        const struct wsdbg_look_operands *operands, const struct wsdbg_words *words,
                                        const struct wsdbg_snapshot *rows, struct wsdbg_families *families);
/* Names of roles and families, roles of warps. */
struct wsdbg_error *wsdbg_look_roles(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     struct wsdbg_look_tables *tables, struct wsdbg_families *families);
/* snapshot.barriers, and which one each part and warp waits on.  Reads words of families that were not read yet. */
struct wsdbg_error *wsdbg_look_barriers(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                        const struct wsdbg_look_operands *operands,
                                        const struct wsdbg_families *families, const uint32_t *deciding,
                                        struct wsdbg_words *words, struct wsdbg_snapshot *out);
/* snapshot.exceptions; the error of each context. */
struct wsdbg_error *wsdbg_look_exceptions(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                          struct wsdbg_look_tables *tables);
/* snapshot.accesses.  access_first[g]: the row of the first access of grid g's kernel, the others are behind it. */
struct wsdbg_error *wsdbg_look_accesses(const struct wsdbg_look_seen *seen, const struct wsdbg_families *families,
                                        struct wsdbg_look_tables *tables, uint32_t *access_first);
/* snapshot.reaches; adds rows to snapshot.accesses where an instruction is of another barrier for each warp. */
struct wsdbg_error *wsdbg_look_reaches(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                       const uint32_t *deciding, const uint32_t *access_first,
                                       struct wsdbg_look_tables *tables);
/* may_be_early of accesses. */
struct wsdbg_error *wsdbg_look_early(const struct wsdbg_look_seen *seen, const struct wsdbg_families *families,
                                     const uint32_t *access_first, struct wsdbg_snapshot *out);
/* comes_with_arrival of accesses. */
struct wsdbg_error *wsdbg_look_turns(const struct wsdbg_look_seen *seen, const uint32_t *access_first,
                                     struct wsdbg_snapshot *out);
/* poll_loop and is_poll of accesses. */
struct wsdbg_error *wsdbg_look_polls(const struct wsdbg_look_seen *seen, const uint32_t *access_first,
                                     struct wsdbg_snapshot *out);
/* snapshot.answers. */
struct wsdbg_error *wsdbg_look_answers(const struct wsdbg_look_seen *seen, const uint32_t *access_first,
                                       struct wsdbg_look_tables *tables);
/* False: some walk, of these rows of snapshot.walks up to `end`, is known to its end and leaves out the wait in which
 * lanes of it stand. */
bool wsdbg_look_walks_fit(const struct wsdbg_snapshot *out, size_t first, size_t end);
/* Whether the walks of a CTA from `second` on should be kept instead of those of the same CTA from `first` on: they
 * agree with where its warps stand, and the others do not, or lead fewer lanes to their ends. */
bool wsdbg_look_walks_are_better(const struct wsdbg_snapshot *out, size_t first, size_t second);
/* Where a lane stands in its kernel's code, as struct wsdbg_thread_world has it. */
uint32_t wsdbg_look_walks_place(const struct wsdbg_look_seen *seen, const struct wsdbg_snapshot *rows,
                                const struct wsdbg_code_function *kernel, uint32_t warp, uint32_t lane);
/* Whether all lanes of two CTAs of one grid were seen at the same places. */
bool wsdbg_look_walks_stand_alike(const struct wsdbg_look_seen *seen, const struct wsdbg_snapshot *rows, uint32_t a,
                                  uint32_t b);
/* Whether some walk, from this row on, is not known to its end, and lanes of it are still there: they may be led. */
bool wsdbg_look_walks_are_lost(const struct wsdbg_snapshot *rows, size_t first);
/* Of how many lanes the walks from row `first` up to `end` are known to their ends. */
size_t wsdbg_look_walks_whole(const struct wsdbg_snapshot *rows, size_t first, size_t end);
/* snapshot.walks and steps. */
struct wsdbg_error *wsdbg_look_walks(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const uint32_t *access_first, struct wsdbg_look_tables *tables);
/* The id of an mbarrier at an offset that has no name. */
enum { WSDBG_LOOK_UNNAMED_ID = 256 };
static inline uint32_t wsdbg_look_unnamed_id(uint32_t offset)
{
    return WSDBG_LOOK_UNNAMED_ID + offset / (uint32_t)sizeof(uint64_t);
}
/* What the word of an mbarrier at an offset of the row's CTA says. */
struct wsdbg_error *wsdbg_look_read_mbarrier(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                             uint32_t offset, struct wsdbg_words *words, struct wsdbg_barrier *row);
/* Rows of mbarriers that walks initialise and that have none yet.  Reads their words. */
struct wsdbg_error *wsdbg_look_places(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                      struct wsdbg_words *words, struct wsdbg_snapshot *out);
/* Ids and stages of mbarriers that one instruction takes in turn, as walks show. */
void wsdbg_look_rings(struct wsdbg_snapshot *out);
/* Addresses of accesses that walks tell. */
struct wsdbg_error *wsdbg_look_told(struct wsdbg_snapshot *out);
/* snapshot.code. */
struct wsdbg_error *wsdbg_look_code(const struct wsdbg_look_seen *seen, struct wsdbg_look_tables *tables);

/* ---- what several steps ask ---- */

/* The paths of a part (struct wsdbg_paths) in its state, NULL where it does not stand in its grid's kernel.  The kernel
 * keeps them.  Valid until the next call. */
struct wsdbg_error *wsdbg_look_paths(const struct wsdbg_look_seen *seen, const struct wsdbg_snapshot *rows,
                                     uint32_t part, const struct wsdbg_paths **out);

/* Whether it makes an arrival on an mbarrier as it executes. */
static inline bool wsdbg_look_is_arrival(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_ARRIVE || access->kind == WSDBG_ACCESS_ARRIVE_EXPECT ||
           access->kind == WSDBG_ACCESS_DROP;
}
/* Whether a warp waits there for others, or leaves. */
static inline bool wsdbg_look_ends_turn(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_WAIT || access->kind == WSDBG_ACCESS_NAMED_SYNC ||
           access->kind == WSDBG_ACCESS_CLUSTER_WAIT || access->kind == WSDBG_ACCESS_GRID_WAIT ||
           access->kind == WSDBG_ACCESS_EXIT;
}
/* Whether two accesses are to the same array of places; the addresses of both are known. */
static inline bool wsdbg_look_on_same_places(const struct wsdbg_access *a, const struct wsdbg_access *b)
{
    return a->address.base == b->address.base && a->address.stride == b->address.stride;
}
/* Whether it is an arrival that names one mbarrier of its own CTA. */
bool wsdbg_look_arrives_on_one_place(const struct wsdbg_access *access);

/* How many barriers of several warps every way from the kernel's start to an instruction passes at least and at most.
 */
struct wsdbg_look_passes {
    uint8_t least, most;
};
/* True where those barriers put neither of two instructions before the other. */
bool wsdbg_look_is_unordered(const struct wsdbg_look_passes *one, const struct wsdbg_look_passes *other);

/* Whether it may still be in the BAR before its counter. */
static inline bool wsdbg_look_may_be_in_bar(const struct wsdbg_look_part *part,
                                            const struct wsdbg_part_operands *operands)
{
    return part->place.function && part->site.barrier_before != WSDBG_NO_INSTRUCTION && !operands->bar_skipped;
}

#endif
