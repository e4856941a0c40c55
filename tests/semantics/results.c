/* results.c - see results.h. */
#include "semantics/results.h"

#include <string.h>

#include <zstd.h>

#include "semantics/must.h"

enum { LEVEL = 19, RECORDS_MOST = 256 << 20 };

struct record { /* before the name and the results, byte by byte of the results: all lowest bytes first */
    uint64_t digest;
    int32_t error;
    uint32_t count;
    uint16_t name_bytes;
    uint8_t state, bytes;
    uint8_t padding[4];
};

uint64_t semantics_result(const struct semantics_case *of, const unsigned char *output, uint32_t index)
{
    uint64_t value = 0;
    memcpy(&value, output + of->offset + (size_t)index * of->slot_bytes, of->bytes);
    return value;
}

static void write_case(FILE *to, const struct semantics_case *of, const struct semantics_outcome *outcome,
                       const unsigned char *output)
{
    const struct record record = {.digest = of->digest,
                                  .error = outcome->error,
                                  .count = outcome->state == SEMANTICS_RAN ? of->count : 0,
                                  .name_bytes = (uint16_t)strlen(of->name),
                                  .state = (uint8_t)outcome->state,
                                  .bytes = of->bytes};
    fwrite(&record, sizeof record, 1, to);
    fwrite(of->name, 1, record.name_bytes, to);
    for (unsigned plane = 0; plane < of->bytes; plane++)
        for (uint32_t i = 0; i < record.count; i++)
            putc((int)(semantics_result(of, output, i) >> plane * 8 & 0xff), to);
}

static const char *write_frame(const char *path, const char *head, const char *records, size_t bytes)
{
    const size_t bound = ZSTD_compressBound(bytes);
    char *const frame = must_zeros(bound, 1);
    const size_t frame_bytes = ZSTD_compress(frame, bound, records, bytes, LEVEL);
    FILE *const file = fopen(path, "wb");
    const bool is_written = file && !ZSTD_isError(frame_bytes) && fprintf(file, "%s\n", head) > 0 &&
                            fwrite(frame, 1, frame_bytes, file) == frame_bytes;
    free(frame);
    return (file && fclose(file) != 0) || !is_written ? "the file could not be written" : NULL;
}

const char *semantics_answers_write(const struct semantics_corpus *corpus, const struct semantics_run *run,
                                    const char *head, const char *path)
{
    char *records;
    size_t bytes;
    FILE *const to = must(open_memstream(&records, &bytes));
    for (size_t i = 0; i < corpus->unit_count; i++) {
        const struct semantics_outcome *const outcome = &run->outcomes[i];
        if (outcome->state != SEMANTICS_NOT_RUN)
            for (size_t k = 0; k < corpus->units[i].case_count; k++)
                write_case(to, &corpus->units[i].cases[k], outcome, run->outputs + outcome->offset);
    }
    fclose(to);
    const char *const wrong = write_frame(path, head, records, bytes);
    free(records);
    return wrong;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct semantics_answer *)a)->name, ((const struct semantics_answer *)b)->name);
}

static const char *read_records(struct semantics_answers *answers, const unsigned char *at, size_t left)
{
    size_t room = 0, used = 0;
    answers->storage = must_zeros(left, 1);
    while (left) {
        struct record record;
        if (left < sizeof record)
            return "a record ends too early";
        memcpy(&record, at, sizeof record);
        const size_t results_bytes = (size_t)record.count * record.bytes;
        if (record.bytes > 8 || left - sizeof record < record.name_bytes + results_bytes)
            return "a record is longer than what is left";
        answers->answers = must_grow(answers->answers, &room, answers->count, sizeof *answers->answers);
        struct semantics_answer *const answer = &answers->answers[answers->count++];
        unsigned char *const results = answers->storage + used;
        *answer = (struct semantics_answer){must(strndup((const char *)at + sizeof record, record.name_bytes)),
                                            record.digest,
                                            record.state,
                                            record.error,
                                            record.bytes,
                                            record.count,
                                            results};
        at += sizeof record + record.name_bytes;
        for (uint32_t i = 0; i < record.count; i++)
            for (unsigned plane = 0; plane < record.bytes; plane++)
                results[(size_t)i * record.bytes + plane] = at[(size_t)plane * record.count + i];
        at += results_bytes;
        left -= sizeof record + record.name_bytes + results_bytes;
        used += results_bytes;
    }
    qsort(answers->answers, answers->count, sizeof *answers->answers, by_name);
    return NULL;
}

static const char *read_frame(struct semantics_answers *answers, char *text, size_t bytes)
{
    char *const end = memmem(text, bytes, "\n\n", 2);
    if (!end)
        return "no empty line behind the head";
    const size_t frame_bytes = bytes - (size_t)(end + 2 - text);
    const unsigned long long records_bytes = ZSTD_getFrameContentSize(end + 2, frame_bytes);
    end[1] = 0;
    answers->head = must_copy(text);
    if (records_bytes > RECORDS_MOST)
        return "no zstd frame, or one that is too large";
    unsigned char *const records = must_zeros(records_bytes, 1);
    const size_t read = ZSTD_decompress(records, records_bytes, end + 2, frame_bytes);
    const char *const wrong = read == records_bytes ? read_records(answers, records, read) : "the frame is damaged";
    free(records);
    return wrong;
}

const char *semantics_answers_read(const char *path, struct semantics_answers **out)
{
    FILE *const file = fopen(path, "rb");
    char *text = NULL;
    size_t bytes = 0, room = 0;
    if (!file)
        return "no such file";
    do {
        text = must(realloc(text, room += 1 << 20));
        bytes += fread(text + bytes, 1, room - bytes, file);
    } while (bytes == room);
    fclose(file);
    *out = must_zeros(1, sizeof **out);
    const char *const wrong = read_frame(*out, text, bytes);
    free(text);
    return wrong;
}

void semantics_answers_destroy(struct semantics_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        free(answers->answers[i].name);
    free(answers->answers);
    free(answers->storage);
    free(answers->head);
    free(answers);
}

const struct semantics_answer *semantics_answer(const struct semantics_answers *answers,
                                                const struct semantics_case *to)
{
    const struct semantics_answer key = {.name = to->name};
    const struct semantics_answer *const found =
        answers->count ? bsearch(&key, answers->answers, answers->count, sizeof key, by_name) : NULL;
    return found && found->digest == to->digest && found->bytes == to->bytes ? found : NULL;
}
