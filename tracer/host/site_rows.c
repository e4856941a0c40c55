/* site_rows.c - see site_rows.h.
 *
 * Reads: the segment in the memory of the process, which goes on and may write any of its rows.  Writes: copies.
 * Nothing in a row is believed: its counts are cut to what the row can hold.
 */
#include "host/site_rows.h"

static const uint32_t ring_rows[WSDBG_SITE_RINGS] = {[WSDBG_SITES_LAUNCHED] = WSDBG_SITES_LAUNCHED_ROWS,
                                                     [WSDBG_SITES_CAPTURED] = WSDBG_SITES_CAPTURED_ROWS,
                                                     [WSDBG_SITES_CALLED] = WSDBG_SITES_CALLED_ROWS};

uint32_t wsdbg_site_ring_rows(enum wsdbg_site_ring ring)
{
    return ring_rows[ring];
}

/* The address of a part of the file that the process has mapped; 0 = it has not. */
static uint64_t address_of(const struct wsdbg_host_maps *maps, uint32_t file, uint64_t offset, uint64_t bytes)
{
    for (size_t i = 0; i < maps->count; i++) {
        const struct wsdbg_host_mapping *mapping = &maps->mappings[i];
        const uint64_t length = mapping->end - mapping->start;
        if (mapping->file == file && offset >= mapping->offset && offset - mapping->offset <= length &&
            length - (offset - mapping->offset) >= bytes)
            return mapping->start + (offset - mapping->offset);
    }
    return 0;
}

/* A member of the segment's fixed part. */
static bool read_member(const struct wsdbg_site_rings *rings, size_t offset, void *out, size_t bytes)
{
    return wsdbg_host_read(rings->memory, rings->segment + offset, out, bytes);
}

bool wsdbg_site_rings_find(const struct wsdbg_host_maps *maps, uint32_t segment_file, struct wsdbg_host_memory *memory,
                           struct wsdbg_site_rings *out)
{
    uint64_t magic = 0, fixed_bytes = 0, offset = 0;
    uint32_t version = 0;
    *out = (struct wsdbg_site_rings){.memory = memory,
                                     .segment = address_of(maps, segment_file, 0, WSDBG_SEGMENT_FIRST_BYTES)};
    if (!out->segment || !read_member(out, offsetof(struct wsdbg_segment, magic), &magic, sizeof magic) ||
        magic != WSDBG_SEGMENT_MAGIC ||
        !read_member(out, offsetof(struct wsdbg_segment, version), &version, sizeof version) ||
        version != WSDBG_SEGMENT_VERSION ||
        !read_member(out, offsetof(struct wsdbg_segment, fixed_bytes), &fixed_bytes, sizeof fixed_bytes) ||
        !WSDBG_SEGMENT_HAS(fixed_bytes, site_counts) ||
        !read_member(out, offsetof(struct wsdbg_segment, sites_offset), &offset, sizeof offset) || offset == 0)
        return false;
    out->rows = address_of(maps, segment_file, offset, WSDBG_SITES_ROWS * sizeof(struct wsdbg_site_row));
    return out->rows != 0;
}

uint64_t wsdbg_site_row_count(const struct wsdbg_site_rings *rings, enum wsdbg_site_ring ring)
{
    uint64_t count = 0;
    const size_t at = offsetof(struct wsdbg_segment, site_counts) + ring * sizeof count;
    return read_member(rings, at, &count, sizeof count) ? count : 0;
}

static void cut_counts(struct wsdbg_site_row *row)
{
    if (row->python_frames > WSDBG_SITE_PYTHON_FRAMES)
        row->python_frames = WSDBG_SITE_PYTHON_FRAMES;
    const uint32_t room = WSDBG_SITE_WORDS - row->python_frames * WSDBG_SITE_FRAME_WORDS;
    if (row->stack_words > room)
        row->stack_words = room;
}

bool wsdbg_site_row_read(const struct wsdbg_site_rings *rings, enum wsdbg_site_ring ring, uint64_t entry,
                         struct wsdbg_site_row *out)
{
    uint64_t first = entry % ring_rows[ring], after = 0;
    for (int before = 0; before < (int)ring; before++)
        first += ring_rows[before];
    const uint64_t address = rings->rows + first * sizeof *out;
    if (!wsdbg_host_read(rings->memory, address, out, sizeof *out)) {
        out->sequence = 0;
        return false;
    }
    if (out->sequence != entry + 1)
        return false;
    wsdbg_host_memory_forget(rings->memory);
    cut_counts(out);
    out->sequence = wsdbg_host_read_word(rings->memory, address, &after) ? after : 0;
    return out->sequence == entry + 1;
}

bool wsdbg_site_row_is_later(const struct wsdbg_site_row *row, uint64_t entry)
{
    return row->sequence > entry + 1 && row->sequence != WSDBG_UNKNOWN64; /* which is one being written */
}
