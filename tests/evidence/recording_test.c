/* recording_test.c - a recording of segments: replayed, refused, damaged. */
#include "evidence/source_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "evidence/record.h"

/* Three frames at 10, 20 and 30 ms: BEGIN, an event, nothing new. */
static void make_recording(void)
{
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    for (uint64_t frame = 1; frame <= 3; frame++) {
        if (frame == 2)
            segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_TILE_BEGIN, .value = 6});
        segment_writer_copy_history(writer);
        struct wsdbg_snapshot snapshot = poll_at(source, frame * 10 * MS);
        wsdbg_snapshot_deinit(&snapshot);
        assert_null(wsdbg_evidence_record(source, recording, frame * 10 * MS));
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void a_recording_replays_forwards_and_backwards(void **state)
{
    (void)state;
    make_recording();
    struct wsdbg_evidence *source;
    uint64_t first_ns, last_ns;
    assert_null(wsdbg_evidence_open_recorded(recording, &first_ns, &last_ns, &source));
    assert_int_equal(first_ns, 10 * MS);
    assert_int_equal(last_ns, 30 * MS);
    static const struct {
        uint64_t now_ns, progress_ns;
        uint8_t kind;
    } looks[] = {{10 * MS, 10 * MS, WSDBG_EVENT_BEGIN},
                 {19 * MS, 10 * MS, WSDBG_EVENT_BEGIN},
                 {35 * MS, 20 * MS, WSDBG_EVENT_TILE_BEGIN},
                 {12 * MS, 10 * MS, WSDBG_EVENT_BEGIN},
                 {20 * MS, 20 * MS, WSDBG_EVENT_TILE_BEGIN}};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct wsdbg_snapshot snapshot = poll_at(source, looks[i].now_ns);
        assert_int_equal(snapshot.warps[0].last.kind, looks[i].kind);
        assert_int_equal(snapshot.progress_ns, looks[i].progress_ns);
        assert_true(snapshot.grids[0].running);
        wsdbg_snapshot_deinit(&snapshot);
    }
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->inspect(source, 30 * MS, 0, &snapshot));
    assert_int_equal(snapshot.warps[0].history_count, 2);
    assert_int_equal(snapshot.warps[0].last.value, 6);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
}

/* The plain bytes of the recording's first frame; the caller frees them. */
static char *first_frame(size_t *byte_count)
{
    struct wsdbg_record_frame frame;
    FILE *file = fopen(recording, "rb");
    assert_non_null(file);
    fseek(file, sizeof(struct wsdbg_record_head), SEEK_SET);
    assert_int_equal(fread(&frame, sizeof frame, 1, file), 1);
    char *packed = malloc(frame.compressed_bytes), *plain = malloc(frame.plain_bytes);
    assert_int_equal(fread(packed, 1, frame.compressed_bytes, file), frame.compressed_bytes);
    *byte_count = ZSTD_decompress(plain, frame.plain_bytes, packed, frame.compressed_bytes);
    assert_int_equal(*byte_count, frame.plain_bytes);
    free(packed);
    fclose(file);
    return plain;
}

static void a_recording_names_the_program_without_its_folder(void **state)
{
    (void)state;
    static const char folder[] = "/home/somebody/secret";
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    snprintf(segment_writer_segment(writer)->program, WSDBG_NAME_BYTES, "%s/program", folder);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    assert_null(wsdbg_evidence_record(source, recording, 10 * MS));
    source->ops->close(source);
    segment_writer_destroy(writer);

    size_t byte_count;
    char *plain = first_frame(&byte_count);
    assert_null(memmem(plain, byte_count, folder, strlen(folder)));
    assert_non_null(memmem(plain, byte_count, "program", sizeof "program"));
    free(plain);
}

/* Pieces of the program's stacks, which may hold anything. */
static void a_recording_has_no_launch_sites(void **state)
{
    (void)state;
    static const char secret[] = "a password on the stack";
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_site_row *row = segment_writer_sites(writer);
    memcpy(row->words, secret, sizeof secret);
    memcpy(row[WSDBG_SITES_ROWS - 1].words, secret, sizeof secret);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    assert_null(wsdbg_evidence_record(source, recording, 10 * MS));
    source->ops->close(source);
    segment_writer_destroy(writer);

    size_t byte_count;
    char *plain = first_frame(&byte_count);
    assert_null(memmem(plain, byte_count, secret, sizeof secret));
    assert_non_null(memmem(plain, byte_count, &(uint64_t){WSDBG_SEGMENT_MAGIC}, 8));
    free(plain);
}

static void recording_over_an_existing_file_is_refused(void **state)
{
    (void)state;
    make_recording();
    struct stat before, after;
    stat(recording, &before);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_error *error = wsdbg_evidence_record(source, recording, 1);
    assert_non_null(error);
    assert_non_null(strstr(wsdbg_error_message(error), "File exists"));
    wsdbg_error_destroy(error);
    stat(recording, &after);
    assert_int_equal(before.st_size, after.st_size);
    source->ops->close(source);
}

static char *open_error(const char *path)
{
    struct wsdbg_evidence *source;
    uint64_t first_ns, last_ns;
    struct wsdbg_error *error = wsdbg_evidence_open_recorded(path, &first_ns, &last_ns, &source);
    assert_non_null(error);
    static char message[512];
    snprintf(message, sizeof message, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return message;
}

static void a_bad_recording_is_one_line_with_file_offset_and_reason(void **state)
{
    (void)state;
    char expected[256];
    make_recording();
    struct stat status;
    stat(recording, &status);
    assert_int_equal(truncate(recording, status.st_size - 1), 0);
    const char *message = open_error(recording);
    assert_true(strncmp(message, recording, strlen(recording)) == 0);
    assert_non_null(strstr(message, ": offset "));
    assert_non_null(strstr(message, ": truncated in a frame"));

    assert_int_equal(truncate(recording, 16), 0);
    snprintf(expected, sizeof expected, "%s: offset 16: truncated: no frame", recording);
    assert_string_equal(open_error(recording), expected);

    assert_int_equal(truncate(recording, 9), 0);
    snprintf(expected, sizeof expected, "%s: offset 9: cut within its head", recording);
    assert_string_equal(open_error(recording), expected);

    static const char *const others[] = {"SQLite format 3, or anything else", "text\n", ""};
    snprintf(expected, sizeof expected, "%s: is no recording of wsdbg (wsdbg run --record FILE makes one)", recording);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        FILE *file = fopen(recording, "w");
        fputs(others[i], file);
        fclose(file);
        assert_string_equal(open_error(recording), expected);
    }

    assert_string_equal(open_error("/no/such.rec"), "open /no/such.rec: No such file or directory");
}

static void damage_inside_a_frame_is_found_when_it_is_read(void **state)
{
    (void)state;
    make_recording();
    FILE *file = fopen(recording, "r+");
    fseek(file, 16 + 32 + 40, SEEK_SET); /* file head, frame head, inside the first content */
    fputs("damage", file);
    fclose(file);
    struct wsdbg_evidence *source;
    struct wsdbg_snapshot snapshot;
    uint64_t first_ns, last_ns;
    assert_null(wsdbg_evidence_open_recorded(recording, &first_ns, &last_ns, &source));
    struct wsdbg_error *error = source->ops->poll(source, first_ns, &snapshot);
    assert_non_null(error);
    assert_non_null(strstr(wsdbg_error_message(error), ": offset 16: the frame's content is damaged"));
    wsdbg_error_destroy(error);
    source->ops->close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_recording_replays_forwards_and_backwards),
        CASE(a_recording_names_the_program_without_its_folder),
        CASE(a_recording_has_no_launch_sites),
        CASE(recording_over_an_existing_file_is_refused),
        CASE(a_bad_recording_is_one_line_with_file_offset_and_reason),
        CASE(damage_inside_a_frame_is_found_when_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
