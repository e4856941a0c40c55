/* spin_access.c - see spin_access.h.
 *
 * Reads: registers and local memory of the lane, shared and global memory that the caller knows.  Writes: the lane's
 * registers and local memory, and its looks.
 */
#include "machine/spin_access.h"

#include "machine/loop.h"

enum { WORD_BYTES = 4, SHARED_BYTES_MOST = 1 << 18 };
#define WINDOW_BYTES (UINT64_C(1) << 24) /* of generic addresses of local memory */

/* ---- what registers depend on ---- */

static uint64_t depends_of(const struct spin_run *run, unsigned reg)
{
    return reg < WSDBG_REGISTER_COUNT ? run->depends[reg] : 0;
}

static uint64_t operand_depends(const struct spin_run *run, const struct wsdbg_operand *operand)
{
    const bool is_memory = operand->kind == WSDBG_OPERAND_MEMORY;
    struct wsdbg_operand base = *operand;
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    base.kind = is_memory || operand->kind == WSDBG_OPERAND_CONSTANT ? WSDBG_OPERAND_REGISTER : operand->kind;
    uint64_t depends = is_memory ? depends_of(run, wsdbg_register_of(&uniform, 0)) : 0;
    for (unsigned part = 0; part < (operand->registers ? operand->registers : 1u); part++)
        depends |= depends_of(run, wsdbg_register_of(&base, part));
    return depends;
}

/* SR_CLOCKLO to SR_GLOBALTIMERHI. */
static bool reads_clock(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_SPECIAL && instruction->sources[i].value >= 0x50 &&
            instruction->sources[i].value <= 0x53)
            return true;
    return false;
}

uint64_t spin_sources_depend(const struct spin_run *run, const struct wsdbg_instruction *instruction)
{
    uint64_t depends = depends_of(run, wsdbg_register_of_guard(instruction));
    for (unsigned i = 0; i < instruction->source_count; i++)
        depends |= operand_depends(run, &instruction->sources[i]);
    return depends | (reads_clock(instruction) ? SPIN_CLOCK : 0);
}

/* `beside`: what the registers depended on before counts as well. */
static void set_depends(struct spin_run *run, const struct wsdbg_instruction *instruction, uint64_t depends,
                        bool beside)
{
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        for (unsigned part = 0; part < (to->registers ? to->registers : 1u); part++) {
            const unsigned reg = wsdbg_register_of(to, part);
            if (reg < WSDBG_REGISTER_COUNT)
                run->depends[reg] = depends | (beside ? run->depends[reg] : 0);
        }
    }
}

/* ---- addresses ---- */

static bool register_value(const struct spin_run *run, enum wsdbg_operand_kind kind, uint16_t number, uint32_t *value)
{
    const struct wsdbg_operand operand = {.kind = kind, .number = number};
    const unsigned reg = wsdbg_register_of(&operand, 0);
    *value = 0;
    if (reg >= WSDBG_REGISTER_COUNT)
        return true; /* RZ, URZ */
    *value = run->state.value[reg];
    return run->state.known[reg];
}

/* Of shared and of local memory. */
static bool short_address(const struct spin_run *run, const struct wsdbg_operand *memory, bool has_uniform,
                          uint32_t *address)
{
    uint32_t general, uniform = 0;
    if (!register_value(run, WSDBG_OPERAND_REGISTER, memory->number, &general) ||
        (has_uniform && !register_value(run, WSDBG_OPERAND_UNIFORM, memory->uniform, &uniform)))
        return false;
    *address = general + uniform + (uint32_t)memory->value;
    return true;
}

/* Bank 0 of the constants has the generic address at which local memory begins. */
static bool local_window(const struct spin_run *run, uint64_t *address)
{
    enum { WINDOW_OFFSET = 0x20 };
    uint32_t low, high;
    const struct wsdbg_thread_world *world = run->world;
    if (!world->constant || !world->constant(world->context, 0, WINDOW_OFFSET, &low) ||
        !world->constant(world->context, 0, WINDOW_OFFSET + WORD_BYTES, &high))
        return false;
    *address = (uint64_t)high << 32 | low;
    return true;
}

enum memory { MEMORY_UNKNOWN, MEMORY_GLOBAL, MEMORY_SHARED, MEMORY_LOCAL };

/* The memory that a generic address is of, and the address there.  Where the window of shared memory is not known, it
 * is the next multiple of 4 GiB above that of local memory: so it was in each of the 36 dumps that tests/dumps keeps.
 * No other memory is there. */
static enum memory memory_of(const struct spin_run *run, uint64_t *address)
{
    uint64_t local = 0, shared = run->world->shared_window;
    const bool has_local = local_window(run, &local);
    if (has_local && *address - local < WINDOW_BYTES) {
        *address -= local;
        return MEMORY_LOCAL;
    }
    const uint64_t above = (local | UINT32_MAX) + 1;
    if (has_local && *address - above < SHARED_BYTES_MOST)
        shared = above;
    if (shared && *address - shared < SHARED_BYTES_MOST) {
        *address -= shared;
        return MEMORY_SHARED;
    }
    return MEMORY_GLOBAL;
}

/* Where a load or store is. */
static enum memory place_of(const struct spin_run *run, const struct wsdbg_instruction *instruction, uint64_t *address)
{
    const struct wsdbg_operand *memory = wsdbg_memory_operand(instruction);
    const enum wsdbg_operation_space space = wsdbg_operation_space(instruction->operation);
    uint32_t offset = 0;
    if (!memory)
        return MEMORY_UNKNOWN;
    if (space == WSDBG_SPACE_SHARED || space == WSDBG_SPACE_LOCAL) {
        if (!short_address(run, memory, space == WSDBG_SPACE_SHARED, &offset))
            return MEMORY_UNKNOWN;
        *address = offset;
        return space == WSDBG_SPACE_SHARED ? MEMORY_SHARED : MEMORY_LOCAL;
    }
    if (!wsdbg_thread_address(&run->state, memory, address))
        return MEMORY_UNKNOWN;
    return space == WSDBG_SPACE_GENERIC ? memory_of(run, address) : MEMORY_GLOBAL;
}

/* ---- local memory ---- */

/* Of the value the bits in `bits` are known. */
static void set_bits(struct spin_run *run, const struct wsdbg_operand *to, unsigned part, uint32_t value, uint32_t bits)
{
    const unsigned reg = wsdbg_register_of(to, part);
    if (reg >= WSDBG_REGISTER_COUNT)
        return;
    wsdbg_thread_forget(&run->state, reg);
    wsdbg_thread_set_bits(&run->state, reg, value, bits);
}

static void set_register(struct spin_run *run, const struct wsdbg_operand *to, unsigned part, bool known,
                         uint32_t value)
{
    set_bits(run, to, part, value, known ? UINT32_MAX : 0);
}

/* One or two bytes of a word, as their register gets them: .U8, .S8, .U16, .S16. */
static uint32_t part_of_word(const struct wsdbg_instruction *load, uint32_t word, unsigned at_byte)
{
    enum { WIDTH_SHIFT = 9, SIGNED = 1, BYTE_BITS = 8 };
    const unsigned bits = BYTE_BITS * load->width_bytes;
    const uint32_t part = word >> BYTE_BITS * at_byte & ((1u << bits) - 1);
    const bool has_sign = load->words[1] >> WIDTH_SHIFT & SIGNED && part >> (bits - 1) & 1;
    return has_sign ? part | UINT32_MAX << bits : part;
}

static uint32_t mask_of(const struct wsdbg_instruction *access, uint32_t address)
{
    enum { BYTE_BITS = 8 };
    return access->width_bytes >= WORD_BYTES
               ? UINT32_MAX
               : ((1u << BYTE_BITS * access->width_bytes) - 1) << BYTE_BITS * (address % WORD_BYTES);
}

static bool load_local(struct spin_run *run, const struct wsdbg_instruction *load, uint32_t address)
{
    const struct wsdbg_operand *to = wsdbg_loaded_register(load);
    const unsigned words = load->width_bytes < WORD_BYTES ? 1 : load->width_bytes / WORD_BYTES;
    uint64_t depends = spin_sources_depend(run, load);
    for (unsigned part = 0; to && part < words; part++) {
        const struct spin_word *word =
            spin_memory_word(&run->memory, run->world, (address & ~(WORD_BYTES - 1u)) + part * WORD_BYTES);
        if (!word)
            return false;
        const uint32_t mask = mask_of(load, address);
        depends |= word->depends;
        if (load->width_bytes < WORD_BYTES)
            set_register(run, to, part, (word->bits & mask) == mask,
                         part_of_word(load, word->value, address % WORD_BYTES));
        else
            set_bits(run, to, part, word->value, word->bits);
    }
    set_depends(run, load, depends, false);
    return true;
}

/* What is stored.  Returns the bits that are known. */
static uint32_t stored(const struct spin_run *run, const struct wsdbg_instruction *store, unsigned part,
                       uint32_t *value)
{
    const struct wsdbg_operand *data = NULL;
    for (unsigned i = 1; i < store->source_count && !data; i++)
        if (store->sources[i - 1].kind == WSDBG_OPERAND_MEMORY)
            data = &store->sources[i];
    const unsigned reg =
        data && data->kind == WSDBG_OPERAND_REGISTER ? wsdbg_register_of(data, part) : WSDBG_REGISTER_NONE;
    *value = reg < WSDBG_REGISTER_COUNT ? run->state.value[reg] : 0;
    if (reg < WSDBG_REGISTER_COUNT)
        return wsdbg_thread_known_bits(&run->state, reg);
    return data && wsdbg_thread_operand(&run->state, run->world, data, part, value) ? UINT32_MAX : 0;
}

/* A store that may not execute leaves nothing known. */
static bool store_local(struct spin_run *run, const struct wsdbg_instruction *store, uint32_t address, bool is_certain)
{
    enum { BYTE_BITS = 8 };
    const unsigned words = store->width_bytes < WORD_BYTES ? 1 : store->width_bytes / WORD_BYTES;
    const unsigned shift = store->width_bytes < WORD_BYTES ? BYTE_BITS * (address % WORD_BYTES) : 0;
    for (unsigned part = 0; part < words; part++) {
        struct spin_word *word =
            spin_memory_word(&run->memory, run->world, (address & ~(WORD_BYTES - 1u)) + part * WORD_BYTES);
        uint32_t value;
        if (!word)
            return false;
        const uint32_t mask = mask_of(store, address);
        const uint32_t bits = is_certain ? stored(run, store, part, &value) << shift & mask : 0;
        word->depends = spin_sources_depend(run, store) | (is_certain && mask == UINT32_MAX ? 0 : word->depends);
        word->bits = (word->bits & ~mask) | bits;
        word->value = ((word->value & ~mask) | (bits ? value << shift & bits : 0)) & word->bits;
    }
    return true;
}

static bool is_aligned(const struct wsdbg_instruction *access, uint64_t address)
{
    return access->width_bytes && access->is_whole && address % access->width_bytes == 0;
}

/* ---- looks ---- */

static bool word_at(const struct spin_run *run, bool is_shared, uint64_t address, uint32_t *value)
{
    const struct wsdbg_thread_world *world = run->world;
    return is_shared ? world->shared && world->shared(world->context, (uint32_t)address, value)
                     : world->global && world->global(world->context, address, false, value);
}

static bool read_words(const struct spin_run *run, struct spin_look *look)
{
    for (uint32_t i = 0; i < look->word_count; i++)
        if (!word_at(run, look->is_shared, look->address + (uint64_t)WORD_BYTES * i, &look->words[i]))
            return false;
    return true;
}

/* The row of a look that was made before, or a new one; NULL: there are too many, or the memory is not known. */
static struct spin_look *row_of(struct spin_run *run, const struct spin_look *look)
{
    for (unsigned i = 0; i < run->look_count; i++) {
        struct spin_look *row = &run->looks[i];
        if (row->instruction == look->instruction && row->address == look->address && row->phase == look->phase)
            return row;
    }
    struct spin_look *row = &run->looks[run->look_count];
    if (run->look_count == SPIN_LOOKS_MOST || look->instruction == WSDBG_GRAPH_NONE)
        return NULL;
    *row = *look;
    if (!read_words(run, row))
        return NULL;
    run->look_count++;
    return row;
}

/* Notes it; what the instruction brings depends on it from now on. */
static struct spin_look *look_at(struct spin_run *run, const struct wsdbg_instruction *instruction,
                                 const struct spin_look *look)
{
    struct spin_look *row = row_of(run, look);
    if (!row)
        return NULL;
    const uint64_t places = spin_sources_depend(run, instruction);
    row->times++;
    row->step = run->steps;
    row->places |= places;
    set_depends(run, instruction, UINT64_C(1) << (row - run->looks) | places, false);
    return row;
}

/* The phase that a test waits for lies in bit 31 of its operand. */
static bool look_of_test(const struct spin_run *run, const struct wsdbg_instruction *test, struct spin_look *out)
{
    const struct wsdbg_operand *memory = wsdbg_memory_operand(test), *phase = NULL;
    uint32_t address, value;
    for (unsigned i = 0; i < test->source_count && !phase; i++)
        if (!wsdbg_is_predicate(&test->sources[i]) && test->sources[i].kind != WSDBG_OPERAND_MEMORY)
            phase = &test->sources[i];
    if (!memory || !phase || !short_address(run, memory, true, &address) ||
        !wsdbg_thread_operand(&run->state, run->world, phase, 0, &value))
        return false;
    out->is_test = out->is_shared = true;
    out->address = address;
    out->phase = value >> 31;
    out->word_count = 2;
    return true;
}

/* Neither volatile nor of any order among threads. */
static bool is_plain_load(const struct wsdbg_instruction *load)
{
    enum { ORDER_SHIFT = 13, ORDERS = 15, CONSTANT_ORDERS_END = 5 };
    return (load->operation == WSDBG_OP_LD || load->operation == WSDBG_OP_LDG) &&
           (load->words[1] >> ORDER_SHIFT & ORDERS) < CONSTANT_ORDERS_END;
}

bool spin_look_of(const struct spin_run *run, const struct wsdbg_instruction *instruction, struct spin_look *out)
{
    *out = (struct spin_look){.instruction = wsdbg_spin_in_graph(run->code, run->at)};
    if (instruction->operation == WSDBG_OP_SYNCS_PHASECHK)
        return look_of_test(run, instruction, out);
    const enum memory memory = place_of(run, instruction, &out->address);
    out->is_shared = memory == MEMORY_SHARED;
    out->is_plain = is_plain_load(instruction);
    out->word_count = instruction->width_bytes / WORD_BYTES;
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD &&
           (memory == MEMORY_SHARED || memory == MEMORY_GLOBAL) && out->word_count &&
           out->word_count <= SPIN_LOOK_WORDS && is_aligned(instruction, out->address);
}

static void fill(struct spin_run *run, const struct wsdbg_instruction *load, const struct spin_look *row)
{
    unsigned word = 0;
    for (unsigned i = 0; i < load->destination_count; i++)
        for (unsigned part = 0; part < (load->destinations[i].registers ? load->destinations[i].registers : 1u);
             part++, word++)
            set_register(run, &load->destinations[i], part, word < row->word_count,
                         word < row->word_count ? row->words[word] : 0);
}

/* Memory that nobody knows.  It may decide nothing that matters. */
static bool load_unknown(struct spin_run *run, const struct wsdbg_instruction *load)
{
    const uint64_t depends = spin_sources_depend(run, load) | SPIN_UNSURE;
    for (unsigned i = 0; i < load->destination_count; i++)
        for (unsigned part = 0; part < (load->destinations[i].registers ? load->destinations[i].registers : 1u); part++)
            set_register(run, &load->destinations[i], part, false, 0);
    set_depends(run, load, depends, false);
    return true;
}

/* A phase is over if the barrier's own bit is another one.  False: what is looked at is not known. */
static bool look(struct spin_run *run, const struct wsdbg_instruction *instruction)
{
    struct spin_look look;
    const bool is_look = spin_look_of(run, instruction, &look);
    const struct spin_look *row = is_look ? look_at(run, instruction, &look) : NULL;
    if (is_look && !row && !look.is_test)
        return load_unknown(run, instruction);
    for (unsigned i = 0; row && row->is_test && i < instruction->destination_count; i++)
        set_register(run, &instruction->destinations[i], 0, i == 0, row->words[1] >> 31 != row->phase);
    if (row && !row->is_test)
        fill(run, instruction, row);
    return row != NULL;
}

/* ---- instructions ---- */

static bool is_load_of_memory(const struct wsdbg_instruction *instruction)
{
    const enum wsdbg_operation_space space = wsdbg_operation_space(instruction->operation);
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD &&
           (space == WSDBG_SPACE_SHARED || space == WSDBG_SPACE_GLOBAL || space == WSDBG_SPACE_GENERIC ||
            space == WSDBG_SPACE_LOCAL);
}

static bool is_store(const struct wsdbg_instruction *instruction)
{
    const enum wsdbg_operation_space space = wsdbg_operation_space(instruction->operation);
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_STORE &&
           (space == WSDBG_SPACE_GENERIC || space == WSDBG_SPACE_LOCAL);
}

/* Only stores to the lane's own local memory are seen by nobody. */
static bool access_memory(struct spin_run *run, const struct wsdbg_instruction *instruction, enum wsdbg_truth executes)
{
    uint64_t address = 0;
    const enum memory memory = place_of(run, instruction, &address);
    if (memory == MEMORY_UNKNOWN || !is_aligned(instruction, address))
        return false;
    if (is_store(instruction))
        return memory == MEMORY_LOCAL && store_local(run, instruction, (uint32_t)address, executes == WSDBG_TRUTH_YES);
    if (executes != WSDBG_TRUTH_YES)
        return false;
    return memory == MEMORY_LOCAL ? load_local(run, instruction, (uint32_t)address) : look(run, instruction);
}

/* QSPC asks of a generic address which memory it is of. */
static bool answer_space(struct spin_run *run, const struct wsdbg_instruction *instruction)
{
    enum { REGISTER_SHIFT = 24, SPACE_SHIFT = 9, SPACES = 3 };
    static const enum memory asked[] = {MEMORY_GLOBAL, MEMORY_LOCAL, MEMORY_SHARED, MEMORY_SHARED};
    const struct wsdbg_operand place = {.kind = WSDBG_OPERAND_MEMORY,
                                        .number = (uint8_t)(instruction->words[0] >> REGISTER_SHIFT),
                                        .uniform = WSDBG_URZ,
                                        .registers = 2};
    uint64_t address;
    const bool known = wsdbg_thread_address(&run->state, &place, &address);
    const enum memory memory = known ? memory_of(run, &address) : MEMORY_UNKNOWN;
    set_depends(run, instruction, operand_depends(run, &place), false);
    for (unsigned i = 0; i < instruction->destination_count; i++)
        set_register(run, &instruction->destinations[i], 0, known && i == 0,
                     memory == asked[instruction->words[1] >> SPACE_SHIFT & SPACES]);
    return true;
}

/* Each function asks as it begins whether the stack has room.  It has. */
static bool asks_for_stack(const struct wsdbg_instruction *instruction)
{
    enum { SPECIAL_STACK_END = 0x37 };
    return instruction->operation == WSDBG_OP_S2R && instruction->source_count == 1 &&
           instruction->sources[0].kind == WSDBG_OPERAND_SPECIAL && instruction->sources[0].value == SPECIAL_STACK_END;
}

/* Whether the lane may have to wait there for other lanes or warps. */
static bool meets_others(enum wsdbg_operation operation)
{
    return operation == WSDBG_OP_BAR || operation == WSDBG_OP_WARPSYNC || operation == WSDBG_OP_ELECT;
}

static bool execute_certainly(struct spin_run *run, const struct wsdbg_instruction *instruction, bool *is_done)
{
    *is_done = true;
    if (instruction->operation == WSDBG_OP_SYNCS_PHASECHK)
        return look(run, instruction);
    if (instruction->operation == WSDBG_OP_QSPC)
        return answer_space(run, instruction);
    *is_done = asks_for_stack(instruction);
    if (*is_done) {
        set_register(run, &instruction->destinations[0], 0, true, 0);
        set_depends(run, instruction, 0, false);
    }
    return true;
}

bool spin_execute(struct spin_run *run, const struct wsdbg_instruction *instruction)
{
    const enum wsdbg_truth executes = wsdbg_thread_executes(&run->state, instruction);
    const uint64_t guard = depends_of(run, wsdbg_register_of_guard(instruction));
    bool is_done = false;
    if (executes == WSDBG_TRUTH_NO) {
        set_depends(run, instruction, guard, true);
        return true;
    }
    if (is_load_of_memory(instruction) || is_store(instruction))
        return access_memory(run, instruction, executes);
    if (executes == WSDBG_TRUTH_YES && !execute_certainly(run, instruction, &is_done))
        return false;
    if (is_done)
        return true;
    if (!wsdbg_operation_fits_wait_loop(instruction->operation) || meets_others(instruction->operation) ||
        instruction->operation == WSDBG_OP_SYNCS_PHASECHK)
        return false;
    const uint64_t depends = spin_sources_depend(run, instruction);
    wsdbg_thread_step(instruction, run->world, &run->state);
    set_depends(run, instruction, depends, executes != WSDBG_TRUTH_YES);
    return true;
}
