/* log_ring.c - see log_ring.h. */
#include "viewer/log_ring.h"

#include <stdlib.h>
#include <string.h>

struct line {
    uint64_t time_ns;
    enum wsdbg_log_origin origin;
    char *text;
    size_t bytes;
};

struct viewer_log_ring {
    struct line *lines;
    size_t capacity, first, count;
    size_t bytes, bytes_limit;
    uint64_t lost;
};

struct viewer_log_ring *viewer_log_ring_create(size_t lines, size_t bytes)
{
    struct viewer_log_ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    *ring =
        (struct viewer_log_ring){.lines = calloc(lines, sizeof *ring->lines), .capacity = lines, .bytes_limit = bytes};
    if (ring->lines)
        return ring;
    free(ring);
    return NULL;
}

void viewer_log_ring_drop(struct viewer_log_ring *ring)
{
    if (ring->count == 0)
        return;
    struct line *oldest = &ring->lines[ring->first];
    free(oldest->text);
    ring->bytes -= oldest->bytes;
    ring->first = (ring->first + 1) % ring->capacity;
    ring->count--;
}

void viewer_log_ring_add(struct viewer_log_ring *ring, uint64_t time_ns, enum wsdbg_log_origin origin, const char *text)
{
    struct line line = {time_ns, origin, strdup(text), strlen(text) + 1};
    if (!line.text) {
        ring->lost++;
        return;
    }
    while (ring->count > 0 && (ring->count == ring->capacity || ring->bytes + line.bytes > ring->bytes_limit)) {
        viewer_log_ring_drop(ring);
        ring->lost++;
    }
    ring->lines[(ring->first + ring->count++) % ring->capacity] = line;
    ring->bytes += line.bytes;
}

size_t viewer_log_ring_count(const struct viewer_log_ring *ring)
{
    return ring->count;
}

bool viewer_log_ring_line(const struct viewer_log_ring *ring, size_t number, struct wsdbg_log_line *out)
{
    if (number >= ring->count)
        return false;
    const struct line *line = &ring->lines[(ring->first + number) % ring->capacity];
    *out = (struct wsdbg_log_line){line->time_ns, line->origin, line->text};
    return true;
}

uint64_t viewer_log_ring_lost(const struct viewer_log_ring *ring)
{
    return ring->lost;
}

void viewer_log_ring_destroy(struct viewer_log_ring *ring)
{
    if (!ring)
        return;
    while (ring->count > 0)
        viewer_log_ring_drop(ring);
    free(ring->lines);
    free(ring);
}
