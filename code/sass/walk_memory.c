/* walk_memory.c - see walk_memory.h.
 *
 * Reads: what the launch and memory tell.  Writes: registers, the words that warps hand to each other.
 */
#include "sass/walk_memory.h"

#include <string.h>

#include "sass/thread_load.h"
#include "sass/thread_operand.h"
#include "sass/walk_tickets.h"

enum { BYTE_BITS = 8 };
enum { LOADS_FOR_STORES_MOST = 128 }; /* of a warp, counted once for each lane */

/* What the plan keeps of an instruction.  NULL = nothing, or the loop around it has no accesses. */
static struct wsdbg_walk_told *told_of_work(const struct walk_lane *lane, uint32_t number)
{
    struct wsdbg_walk_told *told = wsdbg_walk_told_at(lane->group->plan, number);
    return told && !told->only_waits ? told : NULL;
}

/* Notes from where the leader loads.  A loop that loads a word again, without a barrier between, waits until somebody
 * stores another value there: so the value of an earlier store is not the one that ends the loop. */
static void note_load(const struct walk_lane *lane, struct wsdbg_walk_told *told, uint64_t address)
{
    const struct walk_place *place = &lane->group->place;
    if (lane->lane != lane->group->leader)
        return;
    told->is_polling = told->has_loaded && told->loaded_address == address &&
                       !memcmp(told->loaded_at.joined, place->joined, sizeof place->joined) &&
                       !memcmp(told->loaded_at.passed, place->passed, sizeof place->passed);
    told->has_loaded = true;
    told->loaded_address = address;
    told->loaded_at = *place;
}

/* ---- shared memory ---- */

/* A word of what is stored.  Code that comes from PTX has each element of a vector as a source. */
static bool stored_word(const struct walk_lane *lane, const struct wsdbg_instruction *store, unsigned word,
                        uint32_t *value)
{
    const bool is_of_words = wsdbg_is_machine_code(store);
    const unsigned elements = is_of_words ? 1 : store->source_count - 1, bytes = store->width_bytes / elements;
    const unsigned words = bytes < sizeof *value ? 1 : bytes / sizeof *value;
    return bytes * elements == store->width_bytes && (elements == 1 || bytes >= sizeof *value) &&
           (is_of_words || bytes <= sizeof *value) &&
           walk_value(lane, &store->sources[1 + word / words], word % words, value);
}

static enum wsdbg_truth stores_to_shared(const struct walk_lane *lane, const struct wsdbg_instruction *store)
{
    return store->operation == WSDBG_OP_STS || store->operation == WSDBG_OP_ATOMS
               ? WSDBG_TRUTH_YES
               : wsdbg_thread_names_shared(store, lane->world, lane->state);
}

/* An atomic stores what is not known: other warps may have changed the word before. */
void walk_keep_store(const struct walk_lane *lane, const struct wsdbg_instruction *store)
{
    const bool is_atomic = wsdbg_operation_class(store->operation) == WSDBG_CLASS_ATOMIC;
    struct walk_store kept = {.place = lane->group->place, .bytes = store->width_bytes};
    const enum wsdbg_truth executes = wsdbg_thread_executes(lane->state, store);
    const enum wsdbg_truth is_shared = stores_to_shared(lane, store);
    if (executes == WSDBG_TRUTH_NO || is_shared == WSDBG_TRUTH_NO)
        return;
    if (is_shared == WSDBG_TRUTH_UNKNOWN || store->source_count < (is_atomic ? 1 : 2) || !store->width_bytes ||
        store->width_bytes > sizeof kept.words || !walk_value(lane, &store->sources[0], 0, &kept.address) ||
        !walk_is_own_place(lane, &kept.address)) {
        /* The address of a store that is not whole is made of registers on which no way depends: those of data. */
        if (store->is_whole || is_atomic)
            walk_words_lose(&lane->group->plan->words, &kept.place);
        return;
    }
    kept.is_known = executes == WSDBG_TRUTH_YES && !is_atomic;
    for (unsigned word = 0; word * sizeof *kept.words < store->width_bytes && kept.is_known; word++)
        kept.is_known = stored_word(lane, store, word, &kept.words[word]);
    walk_words_put(&lane->group->plan->words, &kept);
}

/* The present value of the word that the bytes lie in, as if it had been stored once before.  In a loop only the first
 * time, and only where the loop is more than a poll: later the word may have another value, and the present one may be
 * what ends the poll.  Of a generic load it is not taken where the kernel has generic stores or atomics: these may have
 * changed the word since. */
static bool present_value(const struct walk_lane *lane, uint32_t number, uint32_t address, uint32_t bytes,
                          uint32_t *value)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const bool is_in_loop = graph->blocks[graph->block_of[number]].loop != WSDBG_GRAPH_NONE;
    const struct wsdbg_walk_told *told = is_in_loop ? told_of_work(lane, number) : NULL;
    const bool may_count =
        graph->instructions[number].operation == WSDBG_OP_LD && lane->group->plan->has_generic_writers;
    const uint32_t at = address % sizeof *value;
    if (!lane->group->plan->takes_present || may_count || (is_in_loop && (!told || told->times)) ||
        !lane->world->shared || at + bytes > sizeof *value ||
        !lane->world->shared(lane->world->context, address - at, value))
        return false;
    *value = *value >> BYTE_BITS * at & UINT32_MAX >> BYTE_BITS * (sizeof *value - bytes);
    return true;
}

/* What other warps stored, or what is there now: up to four bytes. */
static bool load_word(const struct walk_lane *lane, uint32_t number, uint32_t address, uint32_t bytes, uint32_t *value)
{
    struct wsdbg_walk_plan *plan = lane->group->plan;
    const struct wsdbg_walk_told *told = told_of_work(lane, number);
    uint32_t place = address;
    if (told && told->is_polling)
        return false;
    const enum walk_word word = plan->follows_stores && walk_is_own_place(lane, &place)
                                    ? walk_words_get(&plan->words, &lane->group->place, place, bytes, value)
                                    : WALK_WORD_NOT_STORED;
    const bool may_be_present =
        word == WALK_WORD_NOT_STORED || (word == WALK_WORD_UNKNOWN && !told && !plan->lacks_loads);
    return word == WALK_WORD_KNOWN || (may_be_present && present_value(lane, number, address, bytes, value));
}

/* The register for a word of what is loaded.  Code that comes from PTX has each element of a vector as a destination.
 */
static unsigned register_for(const struct wsdbg_instruction *load, unsigned word, unsigned words)
{
    const unsigned each = words / load->destination_count;
    return wsdbg_register_of(&load->destinations[word / each], word % each);
}

static bool load_words(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *instruction,
                       uint32_t address)
{
    const unsigned words = instruction->width_bytes / sizeof(uint32_t);
    const bool is_of_words = wsdbg_is_machine_code(instruction);
    if (instruction->width_bytes % sizeof(uint32_t) || words > WSDBG_WALK_STORE_WORDS ||
        words % instruction->destination_count || (!is_of_words && words != instruction->destination_count))
        return false; /* of PTX a register of 64 bits would take two words */
    for (unsigned word = 0; word < words; word++) {
        const unsigned reg = register_for(instruction, word, words);
        uint32_t value = 0;
        const bool known =
            load_word(lane, number, address + word * (uint32_t)sizeof value, (uint32_t)sizeof value, &value);
        if (reg < WSDBG_REGISTER_COUNT)
            walk_set_word(lane->state, reg, known, known ? value : 0);
    }
    return true;
}

bool walk_load(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *instruction)
{
    const unsigned bytes = instruction->width_bytes;
    uint32_t address, value = 0;
    if (!bytes || !instruction->destination_count || !walk_source(lane, instruction, 0, 0, &address) || address % bytes)
        return false;
    struct wsdbg_walk_told *told = told_of_work(lane, number);
    if (told)
        note_load(lane, told, address);
    if (bytes > sizeof value)
        return load_words(lane, number, instruction, address);
    if (instruction->destination_count != 1 || !load_word(lane, number, address, bytes, &value) ||
        (bytes < sizeof value && !wsdbg_thread_part(instruction, value, 0, &value)))
        return false;
    walk_set_register(lane->state, &instruction->destinations[0], true, value);
    return true;
}

bool walk_reads_shared(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_LDS ||
           wsdbg_thread_names_shared(instruction, lane->world, lane->state) == WSDBG_TRUTH_YES;
}

/* ---- atomics and polls ---- */

/* The load that reads what an atomic of 32 bits finds; false: it is no such atomic, or nobody asks what it finds. */
static bool load_of_atomic(const struct wsdbg_instruction *atomic, struct wsdbg_instruction *out)
{
    const struct wsdbg_operand *to =
        atomic->destination_count ? &atomic->destinations[atomic->destination_count - 1] : NULL;
    unsigned place = 0;
    while (place < atomic->source_count && atomic->sources[place].kind != WSDBG_OPERAND_MEMORY)
        place++;
    if (!to || wsdbg_is_predicate(to) || wsdbg_thread_is_zero(to) || to->registers > 1 ||
        place == atomic->source_count || (atomic->width_bytes && atomic->width_bytes != sizeof(uint32_t)))
        return false;
    *out = *atomic;
    out->operation = atomic->operation == WSDBG_OP_ATOM ? WSDBG_OP_LD : WSDBG_OP_LDG;
    out->width_bytes = sizeof(uint32_t);
    out->destinations[0] = *to;
    out->sources[0] = atomic->sources[place];
    out->destination_count = out->source_count = 1;
    out->is_signed = false;
    return true;
}

/* Whether an atomic may be taken to find the present value.  In a loop that holds for the first one whose result nobody
 * kept: behind it another warp's may come between. */
static bool may_find_present(const struct walk_lane *lane, uint32_t number, enum wsdbg_thread_found found)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const struct wsdbg_walk_told *told = told_of_work(lane, number);
    return found == WSDBG_THREAD_FOUND_NOT_YET || graph->blocks[graph->block_of[number]].loop == WSDBG_GRAPH_NONE ||
           (told && !told->times);
}

/* What the atomic returned to the lane, which has executed it so often before. */
static enum wsdbg_thread_found find_result(const struct walk_lane *lane, uint32_t number, uint32_t *value)
{
    struct wsdbg_walk_told *told = wsdbg_walk_told_at(lane->group->plan, number);
    const uint32_t times = told ? told->executed[lane->lane]++ : 0;
    if (!told || !lane->world->found || lane->group->uncounted >> lane->lane & 1)
        return WSDBG_THREAD_FOUND_UNKNOWN;
    return lane->world->found(lane->world->context, number, times, value);
}

void walk_execute_atomic(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *atomic)
{
    struct wsdbg_instruction load;
    uint32_t words[WSDBG_LOAD_WORDS];
    const bool is_load = load_of_atomic(atomic, &load);
    const enum wsdbg_thread_found found = is_load ? find_result(lane, number, words) : WSDBG_THREAD_FOUND_UNKNOWN;
    const bool in_turn = is_load && found == WSDBG_THREAD_FOUND_UNKNOWN && walk_ticket(lane, atomic, words);
    const bool is_guessed =
        in_turn || (is_load && found != WSDBG_THREAD_FOUND && may_find_present(lane, number, found) &&
                    wsdbg_thread_load(&load, lane->world, lane->state, words));
    walk_forget_written(lane, atomic);
    if (is_guessed || found == WSDBG_THREAD_FOUND)
        walk_set_register(lane->state, &load.destinations[0], true, words[0]);
    lane->group->plan->is_guessed |= is_guessed && walk_group_has(lane->group, lane->lane);
    lane->group->plan->is_of_present |= is_guessed && !in_turn && walk_group_has(lane->group, lane->lane);
    lane->group->plan->took_turns |= in_turn;
}

/* What one warp finds for the others, as a scheduler does, takes few loads.  A warp that fills shared memory with data
 * loads more than may be read. */
bool walk_is_load_too_many(const struct walk_lane *lane, uint32_t number)
{
    struct wsdbg_walk_plan *plan = lane->group->plan;
    const struct wsdbg_instruction *instruction = &plan->graph->instructions[number];
    if (!plan->decides || plan->decides[number] ||
        (instruction->operation != WSDBG_OP_LDG && instruction->operation != WSDBG_OP_LD) ||
        walk_reads_shared(lane, instruction) || wsdbg_thread_loads_parameter(instruction, lane->world, lane->state))
        return false;
    const bool is_too_many = plan->loads_for_stores++ >= LOADS_FOR_STORES_MOST;
    plan->lacks_loads |= is_too_many;
    return is_too_many;
}

/* In a loop without accesses the present value may be what ends the loop.  It is taken where the loop changes the
 * address, as a search through a table does; but not twice in a row from one address. */
bool walk_polls_global(const struct walk_lane *lane, uint32_t number)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const struct wsdbg_instruction *instruction = &graph->instructions[number];
    struct wsdbg_walk_told *told = wsdbg_walk_told_at(lane->group->plan, number);
    uint32_t low = 0, high = 0;
    if ((instruction->operation != WSDBG_OP_LDG && instruction->operation != WSDBG_OP_LD) ||
        graph->blocks[graph->block_of[number]].loop == WSDBG_GRAPH_NONE || (told && !told->only_waits) ||
        wsdbg_thread_loads_parameter(instruction, lane->world, lane->state))
        return false;
    if (!told || !walk_source(lane, instruction, 0, 0, &low))
        return true;
    walk_source(lane, instruction, 0, 1, &high);
    note_load(lane, told, (uint64_t)high << 32 | low);
    return told->is_polling;
}
