/* recorded_looks_test.c - looks at a GPU in a recording: shown at their time, refused in words where they are damaged.
 *
 * The looks are two of an H200 at a GEMM whose consumer forgot an arrival; the frames hold no process.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/evidence.h"
#include "evidence/record.h"

#define S UINT64_C(1000000000)
#define LOOK(number) WSDBG_LOOKS "/gemm-arrive-missing." number ".core.gz"
enum { PROCESS = 7 };

static char path[] = "recorded-looks.wsrec";

static int begin(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* A frame at 1 s, one at 2 s and two looks with it, one at 5 s. */
static void record_looks(void)
{
    struct wsdbg_recorder *recorder;
    assert_null(wsdbg_recorder_create(path, &recorder));
    assert_null(wsdbg_recorder_frame(recorder, 1 * S, NULL, 0));
    assert_null(wsdbg_recorder_frame(recorder, 2 * S, NULL, 0));
    assert_null(wsdbg_recorder_look(recorder, 2 * S, PROCESS, WSDBG_RECORD_LOOK_CORE, LOOK("1")));
    assert_null(wsdbg_recorder_look(recorder, 2 * S, PROCESS, WSDBG_RECORD_LOOK_CORE, LOOK("2")));
    assert_null(wsdbg_recorder_frame(recorder, 5 * S, NULL, 0));
    wsdbg_recorder_close(recorder);
}

static struct wsdbg_evidence *reopen(uint64_t *last_ns)
{
    struct wsdbg_evidence *source;
    uint64_t first_ns;
    assert_null(wsdbg_evidence_open_recorded(path, &first_ns, last_ns, &source));
    assert_int_equal(first_ns, 1 * S);
    return source;
}

static size_t looks_at(struct wsdbg_evidence *source, uint64_t now_ns)
{
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->inspect(source, now_ns, 0, &snapshot));
    const size_t count = snapshot.look_count;
    assert_int_equal(snapshot.grid_count, count ? 1 : 0);
    assert_true(count == 0 || snapshot.looks[1].process_id == PROCESS);
    wsdbg_snapshot_deinit(&snapshot);
    return count;
}

static void looks_are_shown_from_their_time_on(void **state)
{
    (void)state;
    uint64_t last_ns;
    record_looks();
    struct wsdbg_evidence *source = reopen(&last_ns);
    struct wsdbg_snapshot snapshot;
    assert_int_equal(last_ns, 5 * S);
    assert_true(wsdbg_recorded_has_looks(source));
    assert_int_equal(looks_at(source, 1 * S), 0);
    assert_int_equal(looks_at(source, 2 * S), 2);
    assert_int_equal(looks_at(source, 3 * S), 2);
    assert_int_equal(looks_at(source, 1 * S), 0); /* back again */
    assert_null(source->ops->poll(source, 3 * S, &snapshot));
    assert_int_equal(snapshot.look_count, 0); /* a poll stops no GPU */
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
}

static void the_newest_looks_count(void **state)
{
    (void)state;
    uint64_t last_ns;
    struct wsdbg_recorder *recorder;
    assert_null(wsdbg_recorder_create(path, &recorder));
    assert_null(wsdbg_recorder_frame(recorder, 1 * S, NULL, 0));
    assert_null(wsdbg_recorder_look(recorder, 1 * S, PROCESS, WSDBG_RECORD_LOOK_CORE, LOOK("1")));
    assert_null(wsdbg_recorder_frame(recorder, 4 * S, NULL, 0));
    assert_null(wsdbg_recorder_look(recorder, 4 * S, PROCESS, WSDBG_RECORD_LOOK_CORE, LOOK("1")));
    assert_null(wsdbg_recorder_look(recorder, 4 * S, PROCESS, WSDBG_RECORD_LOOK_CORE, LOOK("2")));
    wsdbg_recorder_close(recorder);
    struct wsdbg_evidence *source = reopen(&last_ns);
    assert_int_equal(looks_at(source, 4 * S), 2);
    source->ops->close(source);
}

static void a_look_that_is_gone_is_not_found(void **state)
{
    (void)state;
    struct wsdbg_recorder *recorder;
    assert_null(wsdbg_recorder_create(path, &recorder));
    struct wsdbg_error *error = wsdbg_recorder_look(recorder, S, PROCESS, WSDBG_RECORD_LOOK_CORE, "there-is-none");
    assert_non_null(error);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_NOT_FOUND);
    wsdbg_error_destroy(error);
    wsdbg_recorder_close(recorder);
}

/* ---- damage ---- */

static void put(off_t at, uint64_t value, size_t bytes)
{
    const int fd = open(path, O_WRONLY);
    assert_true(fd >= 0 && pwrite(fd, &value, bytes, at) == (ssize_t)bytes);
    close(fd);
}

/* Where the first look begins. */
static off_t first_look(void)
{
    static unsigned char bytes[1 << 20];
    const int fd = open(path, O_RDONLY);
    const ssize_t count = read(fd, bytes, sizeof bytes);
    const uint32_t magic = WSDBG_RECORD_LOOK_MAGIC;
    close(fd);
    const unsigned char *found = memmem(bytes, (size_t)count, &magic, sizeof magic);
    assert_non_null(found);
    return found - bytes;
}

static void assert_refused(const char *words)
{
    struct wsdbg_evidence *source = NULL;
    uint64_t first_ns, last_ns;
    struct wsdbg_error *error = wsdbg_evidence_open_recorded(path, &first_ns, &last_ns, &source);
    assert_non_null(error);
    if (!strstr(wsdbg_error_message(error), words) || !strstr(wsdbg_error_message(error), "offset"))
        fail_msg("\"%s\" lacks \"%s\"", wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
}

static void a_look_that_is_cut_short_is_refused(void **state)
{
    (void)state;
    record_looks();
    const off_t at = first_look();
    assert_int_equal(truncate(path, at + (off_t)sizeof(struct wsdbg_record_look) + 5), 0);
    assert_refused("truncated in a look");
    assert_int_equal(truncate(path, at + 5), 0);
    assert_refused("truncated in a look's head");
}

static void heads_that_no_wsdbg_writes_are_refused(void **state)
{
    (void)state;
    record_looks();
    const off_t at = first_look();
    put(at + (off_t)offsetof(struct wsdbg_record_look, kind), 99, 4);
    assert_refused("of a kind that this wsdbg does not know");
    put(at + (off_t)offsetof(struct wsdbg_record_look, kind), WSDBG_RECORD_LOOK_CORE, 4);
    put(at + (off_t)offsetof(struct wsdbg_record_look, plain_bytes), 1ull << 40, 8);
    assert_refused("larger than any wsdbg writes");
    put(at + (off_t)offsetof(struct wsdbg_record_look, plain_bytes), 1, 8);
    put(at + (off_t)offsetof(struct wsdbg_record_look, now_ns), 1, 8);
    assert_refused("earlier than the frame before it");
    put(8, 4, 4);
    assert_refused("recording version 4, this wsdbg reads 1 to 3");
}

static void content_that_is_damaged_is_said_when_it_is_looked_at(void **state)
{
    (void)state;
    uint64_t last_ns;
    record_looks();
    put(first_look() + (off_t)sizeof(struct wsdbg_record_look) + 40, 0x55aa55aa55aa55aa, 8);
    struct wsdbg_evidence *source = reopen(&last_ns);
    struct wsdbg_snapshot snapshot;
    struct wsdbg_error *error = source->ops->inspect(source, 2 * S, 0, &snapshot);
    assert_non_null(error);
    assert_non_null(strstr(wsdbg_error_message(error), "the look's content is damaged"));
    wsdbg_error_destroy(error);
    assert_int_equal(looks_at(source, 1 * S), 0);
    source->ops->close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(looks_are_shown_from_their_time_on, begin),
        cmocka_unit_test_setup(the_newest_looks_count, begin),
        cmocka_unit_test_setup(a_look_that_is_gone_is_not_found, begin),
        cmocka_unit_test_setup(a_look_that_is_cut_short_is_refused, begin),
        cmocka_unit_test_setup(heads_that_no_wsdbg_writes_are_refused, begin),
        cmocka_unit_test_setup(content_that_is_damaged_is_said_when_it_is_looked_at, begin),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
