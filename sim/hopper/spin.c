/* spin.c - finds splits that go round a loop in which nothing changes: they are parked until something does.
 *
 * Reads: the warp's registers when a backward branch is taken.  A loop that comes back to its first instruction with
 * the same registers, and whose warp wrote nothing in between, does the same for ever unless memory changes.  Registers
 * are looked at in rounds 2^n and 2^n + 1 only, so a loop that works pays next to nothing.
 */
#include "hopper/values.h"
#include "hopper/device.h"

enum { ROUNDS_BEFORE = 8 };

/* Of whole groups of four words. */
static uint64_t hash_words(uint64_t hash, const unsigned char *bytes, size_t byte_count)
{
    const uint64_t *words = (const uint64_t *)(const void *)bytes;
    uint64_t hashes[4] = {1, 2, 3, 4};
    for (size_t i = 0; i + 4 <= byte_count / sizeof *words; i += 4)
        for (unsigned k = 0; k < 4; k++)
            hashes[k] = (hashes[k] ^ words[i + k]) * 0x9fb21c651e98df25;
    for (unsigned k = 0; k < 4; k++)
        hash = (hash ^ hashes[k] ^ hash >> 29) * 0x9fb21c651e98df25;
    return hash;
}

uint64_t hopper_hash_local(const struct hopper_warp *warp)
{
    return warp->local ? hash_words(0, warp->local, (size_t)HOPPER_LANES * warp->local_bytes) : 0;
}

uint64_t hopper_hash_registers(const struct hopper_warp *warp)
{
    uint64_t hash = hash_words(warp->carries, warp->registers, warp->frame->byte_count);
    for (uint32_t i = 0; i < warp->split_count; i++)
        hash = (hash ^ ((uint64_t)warp->splits[i].pc << 32 | warp->splits[i].lanes)) * 0x9fb21c651e98df25;
    return hash | 1;
}

static bool is_power_of_2(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

bool hopper_came_round(struct hopper_step *step, struct hopper_split *split, uint32_t target)
{
    struct hopper_warp *warp = step->warp;
    struct hopper_loop *loop = &split->loop;
    if (loop->target != target || loop->writes != warp->writes) {
        *loop = (struct hopper_loop){.target = target, .writes = warp->writes};
        return false;
    }
    loop->rounds++;
    if (loop->rounds < ROUNDS_BEFORE)
        return false;
    if (is_power_of_2(loop->rounds)) {
        loop->hash = hopper_hash_registers(warp);
        loop->changes = step->gpu->changes;
        warp->read = (struct hopper_read){0};
        warp->watched_lanes = split->lanes;
        return false;
    }
    if (!is_power_of_2(loop->rounds - 1))
        return false;
    if (warp->watched_lanes != split->lanes) { /* another split's loop is watched since: what was read is not known */
        loop->rounds = ROUNDS_BEFORE - 1;
        return false;
    }
    warp->watched_lanes = 0;
    if (loop->hash != hopper_hash_registers(warp))
        return false;
    /* What changed after it looked would not wake it. */
    const uint64_t looked = warp->read.width_bytes ? warp->read.changes : loop->changes;
    if (looked != step->gpu->changes) {
        loop->rounds = ROUNDS_BEFORE - 1;
        return false;
    }
    if (warp->read.of_global && !hopper_list_spin(step->gpu, warp))
        return false;
    split->wait = (struct hopper_wait){.kind = HOPPER_SPINS,
                                       .address = warp->read.address,
                                       .value = warp->read.value,
                                       .width_bytes = warp->read.width_bytes,
                                       .of_global = warp->read.of_global};
    warp->cta->cluster->spinning_warps++;
    loop->rounds = 0;
    return true;
}
