/* source_rig.c - see source_rig.h.  Writes: /dev/shm, /tmp. */
#include "evidence/source_rig.h"

#include <stdio.h>
#include <unistd.h>

char session[64], recording[128];

int fresh_names(void **state)
{
    (void)state;
    static int number;
    snprintf(session, sizeof session, "test-%d-%d", (int)getpid(), ++number);
    snprintf(recording, sizeof recording, "/tmp/wsdbg-%s.rec", session);
    return 0;
}

int remove_files(void **state)
{
    (void)state;
    wsdbg_ring_unlink(session, NULL);
    unlink(recording);
    return 0;
}

struct segment_writer *one_warp(uint32_t process_id, struct segment_warp *warp)
{
    struct segment_writer *writer = segment_writer_create_shm(session, process_id);
    segment_writer_context(writer, 1, 8, 8);
    segment_writer_module(writer, 0, NULL, 0);
    segment_writer_function(writer, 0, "kernel", 168);
    segment_writer_launch(writer, &(struct segment_launch){.ctas = 1, .threads = 32});
    *warp = (struct segment_warp){.grid_id = 1, .ctas = 1, .warps = 1};
    segment_writer_begin(writer, warp);
    return writer;
}

struct wsdbg_evidence *open_ring(void)
{
    struct wsdbg_evidence *source;
    assert_null(wsdbg_evidence_open_ring(session, NULL, &source));
    return source;
}

struct wsdbg_snapshot poll_at(struct wsdbg_evidence *source, uint64_t now_ns)
{
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->poll(source, now_ns, &snapshot));
    return snapshot;
}
