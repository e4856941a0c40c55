/* rule_registers.c - whether the register pool can serve what a kernel's warps ask for: REGS_BUDGET,
 * REGS_PARTIAL_WARPGROUP, REGS_DIVERGED, REGS_UNBALANCED, and the account itself.  Where the sums fit, another file
 * asks whether the order does.
 *
 * Reads the view of the kernel's warps; adds findings.  A hang is reported only from sums that no order of events
 * changes: the pool of a register file, and what its warps hold at least.
 */
#include "lint/register_order.h"
#include "lint/register_say.h"
#include "lint/register_view.h"
#include "lint/rules.h"

enum { FEWEST = 24 }; /* the smallest count that setmaxnreg takes */

struct registers {
    struct wsdbg_lint_kernel *kernel;
    struct wsdbg_lint_findings *findings;
    const struct wsdbg_register_view *view;
};

static struct wsdbg_lint_place place_of(const struct registers *registers, uint32_t site)
{
    return wsdbg_lint_place_of_code(registers->kernel, registers->view->sites[site].instruction);
}

/* The first request that warps of the set reach. */
static uint32_t first_request(const struct wsdbg_register_view *view, uint32_t warps)
{
    for (uint32_t i = 0; i < view->site_count; i++)
        if (view->sites[i].is_request && (wsdbg_register_warps_of(view, i) & warps))
            return i;
    return 0;
}

static uint32_t asking(const struct wsdbg_register_view *view)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < view->warp_count; i++)
        warps |= (uint32_t)view->warps[i].asks << i;
    return warps;
}

static bool always_asked(const struct wsdbg_register_view *view)
{
    for (uint32_t i = 0; i < view->warp_count; i++)
        if (view->warps[i].asks && !view->warps[i].asks_always)
            return false;
    return true;
}

/* Error where every warp that reaches the kernel's end reaches its request first, and the CTA's size is known. */
static enum wsdbg_lint_severity severity(const struct wsdbg_register_view *view)
{
    return always_asked(view) && !view->threads_are_assumed ? WSDBG_LINT_ERROR : WSDBG_LINT_WARNING;
}

static const char *condition(const struct wsdbg_register_view *view)
{
    return always_asked(view) ? "" : "if all of them reach their requests, ";
}

/* ---- a pool that is too small ---- */

static void fix_budget(const struct registers *registers, struct wsdbg_lint_finding *finding)
{
    const struct wsdbg_register_view *view = registers->view;
    const uint32_t unchanged = wsdbg_register_view_largest(view, UINT32_MAX);
    const uint32_t as_is = unchanged > view->launch ? unchanged : 0; /* else it is no request */
    const uint32_t released = wsdbg_register_view_largest(view, FEWEST);
    const uint32_t most = released > view->launch ? released : 0;
    struct wsdbg_register_words fits = wsdbg_register_say_largest(view, as_is, UINT32_MAX);
    if (as_is && most > as_is)
        wsdbg_lint_fix(registers->findings, finding, "the largest equal requests that fit: %s, or %s", fits.text,
                       wsdbg_register_say_largest(view, most, FEWEST).text);
    else if (as_is)
        wsdbg_lint_fix(registers->findings, finding, "the largest equal requests that fit: %s", fits.text);
    else if (most)
        wsdbg_lint_fix(registers->findings, finding,
                       "let the other warpgroups release registers first (setmaxnreg.dec): then fit %s",
                       wsdbg_register_say_largest(view, most, FEWEST).text);
    else
        wsdbg_lint_fix(registers->findings, finding,
                       "ask for less, or let warps give back (setmaxnreg.dec) before others ask");
}

static void say_budget(const struct registers *registers, uint32_t file)
{
    const struct wsdbg_register_view *view = registers->view;
    const uint32_t warps = asking(view);
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        registers->findings, WSDBG_LINT_REGS_BUDGET, severity(view), place_of(registers, first_request(view, warps)),
        "setmaxnreg.inc is never served for some of %s: %swarps %u, %u, ... need %u registers together and get %u at "
        "launch",
        wsdbg_register_say_warps(warps).text, condition(view), file, file + WSDBG_VIEW_FILES,
        wsdbg_register_view_demand(view, file) * 32, wsdbg_register_view_pool(view, file) * 32);
    wsdbg_register_note_threads(registers->kernel, registers->findings, view, finding);
    wsdbg_register_note_sites(registers->kernel, registers->findings, view, finding);
    fix_budget(registers, finding);
}

/* ---- warpgroups that do not act as one ---- */

/* Sites that some warps of the warpgroup reach and others do not. */
static uint64_t disagreed(const struct wsdbg_register_view *view, uint32_t first)
{
    uint64_t any = 0, all = UINT64_MAX;
    for (uint32_t i = first; i < first + WSDBG_VIEW_GROUP_WARPS && i < view->warp_count; i++) {
        any |= view->warps[i].reached;
        all &= view->warps[i].reached;
    }
    return any & ~all;
}

/* The view as it would be if every warp of a warpgroup did what its mates do that release most and ask for least. */
static struct wsdbg_register_view agreed(const struct wsdbg_register_view *view)
{
    struct wsdbg_register_view out = *view;
    for (uint32_t first = 0; first < view->warp_count; first += WSDBG_VIEW_GROUP_WARPS) {
        uint32_t held = UINT32_MAX, ask = UINT32_MAX, exits_with[2] = {UINT32_MAX, UINT32_MAX};
        for (uint32_t i = first; i < first + WSDBG_VIEW_GROUP_WARPS && i < view->warp_count; i++) {
            const struct wsdbg_register_warp *warp = &view->warps[i];
            uint32_t *const least = &exits_with[warp->asks];
            *least = warp->exits_with < *least ? warp->exits_with : *least;
            if (warp->asks)
                ask = warp->ask_least < ask ? warp->ask_least : ask;
            else
                held = warp->held_least < held ? warp->held_least : held;
        }
        for (uint32_t i = first; i < first + WSDBG_VIEW_GROUP_WARPS && i < view->warp_count; i++) {
            struct wsdbg_register_warp *warp = &out.warps[i];
            warp->exits_with = exits_with[warp->asks];
            if (!warp->asks)
                warp->held_least = held;
            else if (warp->ask_least > ask)
                warp->ask_least = warp->ask_most = warp->held_least = ask;
        }
    }
    return out;
}

/* True where the counts differ that warps of the warpgroup ask for. */
static bool asks_differ(const struct wsdbg_register_view *view, uint32_t first)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = first; i < first + WSDBG_VIEW_GROUP_WARPS && i < view->warp_count; i++)
        if (view->warps[i].asks) {
            least = view->warps[i].ask_least < least ? view->warps[i].ask_least : least;
            most = view->warps[i].ask_most > most ? view->warps[i].ask_most : most;
        }
    return most > least;
}

static uint32_t lowest(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

/* The warps of all warpgroups whose warps disagree about the same sites. */
static uint32_t disagreeing(const struct wsdbg_register_view *view, uint64_t sites)
{
    uint32_t warps = 0;
    for (uint32_t first = 0; first < view->warp_count; first += WSDBG_VIEW_GROUP_WARPS)
        if (disagreed(view, first) == sites)
            warps |= 0xfu << first;
    return warps;
}

/* Warpgroups whose warps take different ways, `first` the first warp of the first of them.  `file`: the register file
 * that starves for it, else WSDBG_VIEW_FILES. */
static void say_disagreement(const struct registers *registers, uint32_t first, uint32_t file)
{
    const struct wsdbg_register_view *view = registers->view;
    const uint64_t sites = disagreed(view, first);
    const uint32_t site = lowest(sites), here = wsdbg_register_warps_of(view, site) & disagreeing(view, sites);
    const bool differ = asks_differ(view, first), hangs = file < WSDBG_VIEW_FILES, is_one = !(here & (here - 1));
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        registers->findings, differ ? WSDBG_LINT_REGS_DIVERGED : WSDBG_LINT_REGS_PARTIAL_WARPGROUP,
        hangs ? severity(view) : WSDBG_LINT_WARNING, place_of(registers, site),
        "%s%s %s to setmaxnreg.%s %u, other warps of %s %s%s%s", differ ? "" : "only ",
        wsdbg_register_say_warps(here).text, is_one ? "comes" : "come", view->sites[site].is_request ? "inc" : "dec",
        view->sites[site].count, is_one ? "its warpgroup" : "their warpgroups", differ ? "to another count" : "do not",
        hangs ? ", and some request is then never served" : ": PTX wants it of all warps of a warpgroup",
        hangs && !always_asked(view) ? " if all warps reach theirs" : "");
    if (hangs)
        wsdbg_lint_note(registers->findings, finding, wsdbg_lint_place_of_kernel(),
                        "warps %u, %u, ... need %u registers together and get %u at launch", file,
                        file + WSDBG_VIEW_FILES, wsdbg_register_view_demand(view, file) * 32,
                        wsdbg_register_view_pool(view, file) * 32);
    wsdbg_register_note_threads(registers->kernel, registers->findings, view, finding);
    wsdbg_register_note_sites(registers->kernel, registers->findings, view, finding);
    wsdbg_lint_fix(registers->findings, finding,
                   "let all four warps of the warpgroup execute the same setmaxnreg before one of them is elected, "
                   "leaves or takes a branch of its own");
}

/* False where an earlier warpgroup disagrees about the same. */
static bool is_first_of(const struct wsdbg_register_view *view, uint32_t first)
{
    const uint32_t warps = disagreeing(view, disagreed(view, first));
    return !(warps & ((1u << first) - 1));
}

/* A warpgroup that disagrees is the cause of what would be served without it.  True where the pool is too small. */
static bool judge_pool(const struct registers *registers)
{
    const struct wsdbg_register_view *view = registers->view;
    const struct wsdbg_register_view better = agreed(view);
    uint32_t file, ignored;
    const bool starves = wsdbg_register_view_starves(view, &file);
    const bool is_of_groups = starves && !wsdbg_register_view_starves(&better, &ignored);
    if (starves && !is_of_groups)
        say_budget(registers, file);
    for (uint32_t first = 0; first < view->warp_count; first += WSDBG_VIEW_GROUP_WARPS)
        if (disagreed(view, first) && is_first_of(view, first) && (is_of_groups || !starves))
            say_disagreement(registers, first, is_of_groups ? file : WSDBG_VIEW_FILES);
    return starves;
}

/* ---- one warp ---- */

static void judge_split(const struct registers *registers)
{
    const struct wsdbg_register_view *view = registers->view;
    uint64_t sites = 0;
    for (uint32_t i = 0; i < view->warp_count; i++)
        sites |= view->warps[i].split;
    for (uint32_t i = 0; i < view->site_count; i++) {
        if (!(sites >> i & 1))
            continue;
        struct wsdbg_lint_finding *finding = wsdbg_lint_add(
            registers->findings, WSDBG_LINT_REGS_DIVERGED, WSDBG_LINT_WARNING, place_of(registers, i),
            "setmaxnreg.%s %u stands in a branch that only some lanes of a warp take: PTX wants it of all",
            view->sites[i].is_request ? "inc" : "dec", view->sites[i].count);
        wsdbg_lint_fix(registers->findings, finding, "branch on the index of the warp or warpgroup, not of the thread");
    }
}

static void judge_balance(const struct registers *registers)
{
    const struct wsdbg_register_view *view = registers->view;
    for (uint32_t i = 0; i < view->warp_count; i++) {
        const struct wsdbg_register_warp *warp = &view->warps[i];
        if (!warp->asks_again)
            continue;
        struct wsdbg_lint_finding *finding = wsdbg_lint_add(
            registers->findings, WSDBG_LINT_REGS_UNBALANCED, WSDBG_LINT_WARNING,
            place_of(registers, first_request(view, 1u << i)),
            "a path takes %u registers a thread and asks for %u without giving any back between (warp %u and those "
            "that do the same)",
            warp->asks_before, warp->asks_again, i);
        wsdbg_register_note_sites(registers->kernel, registers->findings, view, finding);
        wsdbg_lint_fix(registers->findings, finding,
                       "setmaxnreg.dec on every path between the two, or one request for the whole kernel");
        return;
    }
}

/* ---- the account ---- */

static void say_account(const struct registers *registers)
{
    const struct wsdbg_register_view *view = registers->view;
    const uint32_t pool = wsdbg_register_view_pool(view, 0) * 32, demand = wsdbg_register_view_demand(view, 0) * 32;
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        registers->findings, WSDBG_LINT_REGS_ACCOUNT, WSDBG_LINT_NOTE, wsdbg_lint_place_of_kernel(),
        "%u warps in %u warpgroups; of the %u registers of a register file %u are held once every "
        "request is served",
        view->warp_count, (view->warp_count + WSDBG_VIEW_GROUP_WARPS - 1) / WSDBG_VIEW_GROUP_WARPS, pool, demand);
    wsdbg_register_note_threads(registers->kernel, registers->findings, view, finding);
    wsdbg_register_note_sites(registers->kernel, registers->findings, view, finding);
}

struct wsdbg_error *wsdbg_lint_rule_registers(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    struct wsdbg_register_view view;
    bool is_whole;
    struct wsdbg_error *error = wsdbg_register_view_read(kernel, &view, &is_whole);
    if (error || !is_whole)
        return error;
    const struct registers registers = {kernel, out, &view};
    if (!judge_pool(&registers))
        error = wsdbg_lint_rule_register_order(kernel, &view, out);
    judge_split(&registers);
    judge_balance(&registers);
    say_account(&registers);
    return error;
}
