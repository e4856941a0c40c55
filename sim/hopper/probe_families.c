/* probe_families.c - which mbarriers of a kernel are stages of one array, for the events that the device writes.
 *
 * Reads: the module's PTX once more, as text that values can be followed through; the words of a CTA.  Writes: the
 * module's table of arrays.
 *
 * The rules are those of sass/families.h.  An array gets its number when a warp first does something with one of its
 * mbarriers other than initialising it: then the words say what each expects.  What other warps initialise later may
 * make an array longer, never another one.
 */
#include "hopper/mbarrier.h"
#include "hopper/probe.h"

#include <stdlib.h>

#include "sass/threads.h"
#include "translate/ptx_code.h"

enum { MBARRIER_BYTES = 8, WARPS_MOST = 64, INSTRUCTIONS_MOST = 1 << 14 };

/* What the code of one function says. */
struct hopper_probe_code {
    bool was_asked;
    struct wsdbg_access *accesses;
    size_t access_count;
    uint64_t *comers; /* by access: the warps that may come to it; NULL = not known */
    const struct wsdbg_shared_variable *variables;
    size_t variable_count;
};

static struct hopper_probes *probes_of(const struct hopper_cta *cta)
{
    return cta->grid->launch.module->probes;
}

static uint32_t function_of(const struct hopper_cta *cta)
{
    return (uint32_t)(cta->grid->launch.function - cta->grid->code->program->functions);
}

/* ---- the code ---- */

static const struct wsdbg_cubin_function *find_function(const struct wsdbg_ptx_code *code, const char *name)
{
    for (size_t i = 0; i < wsdbg_ptx_code_function_count(code); i++)
        if (strcmp(wsdbg_ptx_code_function(code, i)->name, name) == 0)
            return wsdbg_ptx_code_function(code, i);
    return NULL;
}

static struct wsdbg_error *read_text(const struct wsdbg_gpu_module *module, struct hopper_probes *probes)
{
    const struct wsdbg_image image = {(const unsigned char *)module->text, module->text_bytes};
    if (probes->ptx || !module->text)
        return NULL;
    return wsdbg_ptx_code_create(&image, &probes->ptx);
}

/* The CTA's threads in x, y and z; nothing else of the launch is needed. */
static bool block_size(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const struct wsdbg_gpu_launch *const launch = context;
    if (bank || offset_bytes % sizeof *value || offset_bytes >= sizeof launch->block)
        return false;
    *value = launch->block[offset_bytes / sizeof *value];
    return true;
}

/* Of CTAs whose threads are counted in x, and of code that is not too long. */
static struct wsdbg_error *find_comers(const struct wsdbg_graph *graph, const struct wsdbg_gpu_launch *launch,
                                       struct hopper_probe_code *code)
{
    const struct wsdbg_launch_values values = {
        .context = (void *)(uintptr_t)launch, .constant = block_size, .is_in_x = true};
    const uint32_t warps = (launch->block[0] + HOPPER_LANES - 1) / HOPPER_LANES;
    if (launch->block[1] != 1 || launch->block[2] != 1 || warps > WARPS_MOST ||
        wsdbg_graph_instruction_count(graph) > INSTRUCTIONS_MOST)
        return NULL;
    code->comers = calloc(code->access_count + 1, sizeof *code->comers);
    if (!code->comers)
        return &wsdbg_error_no_memory;
    return wsdbg_threads_comers(graph, &values, code->accesses, code->access_count, warps, code->comers);
}

static struct wsdbg_error *read_code(const struct hopper_probes *probes, const struct wsdbg_gpu_launch *launch,
                                     struct hopper_probe_code *code)
{
    const char *const name = launch->function->name;
    const struct wsdbg_cubin_function *const function = probes->ptx ? find_function(probes->ptx, name) : NULL;
    const struct wsdbg_launch_values nothing = {0};
    struct wsdbg_graph *graph;
    if (!function)
        return NULL;
    struct wsdbg_error *error = wsdbg_ptx_code_graph(probes->ptx, function, &graph);
    if (error)
        return error;
    error = wsdbg_accesses_find(graph, &nothing, &code->accesses, &code->access_count);
    if (!error)
        error = find_comers(graph, launch, code);
    wsdbg_graph_destroy(graph);
    code->variables = wsdbg_ptx_code_shared(probes->ptx, function, &code->variable_count);
    return error;
}

/* Where the code cannot be read each mbarrier is an array of its own. */
static const struct hopper_probe_code *code_of(const struct hopper_cta *cta)
{
    struct hopper_probes *const probes = probes_of(cta);
    struct hopper_probe_code *const code = &probes->codes[function_of(cta)];
    if (code->was_asked)
        return code;
    code->was_asked = true;
    struct wsdbg_error *error = read_text(cta->grid->launch.module, probes);
    if (!error)
        error = read_code(probes, &cta->grid->launch, code);
    wsdbg_error_destroy(error);
    return code;
}

void hopper_probe_free_code(struct hopper_probes *probes)
{
    for (size_t i = 0; probes->codes && i < probes->code_count; i++) {
        free(probes->codes[i].accesses);
        free(probes->codes[i].comers);
    }
    free(probes->codes);
    wsdbg_ptx_code_destroy(probes->ptx);
}

bool hopper_probe_make_code(struct hopper_probes *probes, const struct wsdbg_ptx_program *program)
{
    probes->code_count = program->function_count;
    probes->codes = calloc(program->function_count + 1, sizeof *probes->codes);
    return probes->codes;
}

/* ---- arrays ---- */

static struct hopper_probe_family *find_family(struct hopper_probes *probes, uint32_t function, uint32_t offset)
{
    for (uint32_t i = 0; i < probes->family_count; i++) {
        struct hopper_probe_family *const family = &probes->families[i];
        if (family->function == function && offset >= family->first && (offset - family->first) % family->stride == 0 &&
            (offset - family->first) / family->stride < family->stages)
            return family;
    }
    return NULL;
}

static uint32_t expected_at(void *context, uint32_t offset)
{
    const struct hopper_cta *const cta = context;
    const unsigned char *const word = hopper_shared(cta, offset, MBARRIER_BYTES);
    uint64_t value;
    if (!word || !hopper_mbarrier_is_initialised(cta, offset))
        return 0;
    memcpy(&value, word, sizeof value);
    return hopper_mbarrier_expected(value);
}

/* A family that begins where a known one begins is that one.  It may have more stages now. */
static void add_family(struct hopper_probes *probes, uint32_t function, const struct wsdbg_family *found)
{
    const uint32_t stages = found->places < HOPPER_PROBE_STAGES ? found->places : HOPPER_PROBE_STAGES;
    struct hopper_probe_family *const there = find_family(probes, function, found->first);
    if (there) {
        if (there->first == found->first && there->stages < stages &&
            (there->stages == 1 || there->stride == found->stride)) {
            there->stride = found->stride;
            there->stages = stages;
        }
        return;
    }
    if (probes->family_count < HOPPER_PROBE_IDS)
        probes->families[probes->family_count++] = (struct hopper_probe_family){
            .function = function, .first = found->first, .stride = found->stride, .stages = stages};
}

static void add_families(const struct hopper_cta *cta)
{
    const struct hopper_probe_code *const code = code_of(cta);
    struct wsdbg_families families;
    const struct wsdbg_families_source source = {.accesses = code->accesses,
                                                 .access_count = code->access_count,
                                                 .comers = code->comers,
                                                 .expected = expected_at,
                                                 .context = (void *)(uintptr_t)cta,
                                                 .variables = code->variables,
                                                 .variable_count = code->variable_count};
    struct wsdbg_error *const error = wsdbg_families_find(&source, &families);
    for (size_t i = 0; !error && i < families.count; i++)
        add_family(probes_of(cta), function_of(cta), &families.rows[i]);
    wsdbg_error_destroy(error);
}

bool hopper_probe_find(const struct hopper_cta *cta, uint32_t offset, struct hopper_probe_stage *out)
{
    struct hopper_probes *const probes = probes_of(cta);
    const uint32_t function = function_of(cta);
    struct hopper_probe_family *family = find_family(probes, function, offset);
    const bool has_room = probes->family_count < HOPPER_PROBE_IDS;
    if (!family && has_room) {
        add_families(cta);
        family = find_family(probes, function, offset);
    }
    if (!family && has_room) {
        add_family(probes, function, &(struct wsdbg_family){.first = offset, .stride = MBARRIER_BYTES, .places = 1});
        family = find_family(probes, function, offset);
    }
    if (!family)
        return false;
    *out = (struct hopper_probe_stage){(uint8_t)(family - probes->families),
                                       (uint8_t)((offset - family->first) / family->stride), WSDBG_NO_ITERATION};
    return true;
}
