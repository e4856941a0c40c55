/* attach_test.c - beside the wsdbg that watches a session: the same pictures, and nothing written. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "evidence/evidence.h"
#include "evidence/segment_writer.h"
#include "segment_place.h"

static char session[64], path[SEGMENT_PATH_BYTES];
static struct segment_writer *writer;
static struct segment_warp warp;

static int setup(void **state)
{
    static int number;
    (void)state;
    snprintf(session, sizeof session, "attach-%d-%d", (int)getpid(), ++number);
    segment_place(session, (int)getpid(), path);
    writer = segment_writer_create_shm(session, (uint32_t)getpid());
    segment_writer_context(writer, 1, 8, 8);
    segment_writer_module(writer, 0, NULL, 0);
    segment_writer_function(writer, 0, "kernel", 168);
    segment_writer_launch(writer, &(struct segment_launch){.ctas = 1, .threads = 32});
    warp = (struct segment_warp){.grid_id = 1, .ctas = 1, .warps = 1};
    segment_writer_begin(writer, &warp);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    segment_writer_destroy(writer);
    wsdbg_ring_unlink(session, NULL);
    return 0;
}

static struct wsdbg_evidence *attach(void)
{
    struct wsdbg_evidence *source;
    assert_null(wsdbg_evidence_attach_ring(session, NULL, &source));
    return source;
}

static void what_moves_is_seen(void **state)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_evidence *source = attach();
    (void)state;
    assert_null(source->ops->poll(source, 1000, &snapshot));
    assert_int_equal(snapshot.warp_count, 1);
    assert_int_equal(snapshot.progress_ns, 1000);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_TILE_BEGIN});
    assert_null(source->ops->poll(source, 2000, &snapshot));
    assert_int_equal(snapshot.progress_ns, 2000);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
}

static void no_copies_are_asked_for_and_no_byte_changes(void **state)
{
    struct wsdbg_snapshot snapshot;
    size_t bytes = segment_writer_bytes(writer);
    void *before = malloc(bytes);
    (void)state;
    assert_non_null(before);
    memcpy(before, segment_writer_segment(writer), bytes);
    struct wsdbg_evidence *source = attach();
    assert_null(source->ops->poll(source, 1000, &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
    assert_null(source->ops->inspect(source, 2000, 1000000, &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    assert_memory_equal(before, segment_writer_segment(writer), bytes);
    free(before);
}

/* The permissions of the mapping of the segment in this process, as /proc shows them: every one that the attached
 * source made is read-only. */
static size_t count_mappings(const char *permissions)
{
    char line[512];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, path) && strstr(line, permissions);
    fclose(maps);
    return count;
}

static void the_segment_is_mapped_read_only(void **state)
{
    struct wsdbg_snapshot snapshot;
    (void)state;
    const size_t writable = count_mappings(" rw-s "), readable = count_mappings(" r--s ");
    struct wsdbg_evidence *source = attach();
    assert_null(source->ops->poll(source, 1000, &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(count_mappings(" rw-s "), writable);
    assert_int_equal(count_mappings(" r--s "), readable + 1);
    source->ops->close(source);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_moves_is_seen),
        TEST(no_copies_are_asked_for_and_no_byte_changes),
        TEST(the_segment_is_mapped_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
