/* segment_snapshot.c - see segment_snapshot.h. */
#include "evidence/segment_snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "evidence/snapshot_build.h"

#define NOW_NS UINT64_C(5000000000)

static struct wsdbg_snapshot take(struct segment_writer *writer, bool histories)
{
    const struct wsdbg_segment_view view = {(const unsigned char *)segment_writer_segment(writer),
                                            segment_writer_bytes(writer)};
    struct wsdbg_tracker tracker = {0}, *trackers[] = {&tracker};
    struct wsdbg_snapshot snapshot;
    assert_null(wsdbg_segment_check(&view, "test"));
    assert_null(wsdbg_tracker_look(&tracker, &view, true, NOW_NS));
    const struct wsdbg_build_request request = {
        .processes = trackers, .process_count = 1, .now_ns = NOW_NS, .source = "test", .histories = histories};
    assert_null(wsdbg_snapshot_build(&request, &snapshot));
    wsdbg_tracker_deinit(&tracker);
    return snapshot;
}

struct wsdbg_snapshot segment_snapshot(struct segment_writer *writer)
{
    return take(writer, true);
}

struct wsdbg_snapshot segment_snapshot_light(struct segment_writer *writer)
{
    return take(writer, false);
}
