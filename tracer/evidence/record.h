/* record.h - the file format of --record, private to this room (docs: the comment here is the format).
 *
 * A file is a struct wsdbg_record_head and frames.  A frame is a struct wsdbg_record_frame and
 * `compressed_bytes` of zstd with its checksum.  Inside, for each process: struct wsdbg_record_process and
 * `page_count` pages, each a uint32_t page number and WSDBG_RECORD_PAGE_BYTES.  A page that did not change
 * since the frame before is left out; before the first frame all bytes are zero.  Little-endian.
 *
 * Behind a frame, from version 2 on, may stand looks at the GPU that were had at its time: a struct wsdbg_record_look
 * and `compressed_bytes` of zstd, inside of which is a file: a GPU core dump with what was read, or a simulated
 * device's state.
 */
#ifndef WSDBG_EVIDENCE_RECORD_H
#define WSDBG_EVIDENCE_RECORD_H

#include "evidence/segment_reader.h"

#define WSDBG_RECORD_MAGIC 0x3143455247445357ull /* "WSDGREC1" */
#define WSDBG_RECORD_VERSION 3u
#define WSDBG_RECORD_OLDEST_VERSION 1u       /* that is still read */
#define WSDBG_RECORD_FRAME_MAGIC 0x4d415246u /* "FRAM" */
#define WSDBG_RECORD_LOOK_MAGIC 0x4b4f4f4cu  /* "LOOK" */
#define WSDBG_RECORD_PAGE_BYTES 4096u
#define WSDBG_RECORD_PROCESSES_MAX 256u
#define WSDBG_RECORD_SEGMENT_BYTES_MAX (256u << 20)
#define WSDBG_RECORD_TIME_MAX_NS (INT64_MAX / 2) /* whoever adds to it does not overflow */
#define WSDBG_RECORD_LOOK_BYTES_MAX (512u << 20)

struct wsdbg_record_head {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved;
};

struct wsdbg_record_frame {
    uint32_t magic;
    uint32_t process_count;
    uint64_t now_ns;
    uint64_t plain_bytes;
    uint64_t compressed_bytes;
};

struct wsdbg_record_process {
    uint32_t process_id;
    uint32_t alive;
    uint64_t segment_bytes; /* used_bytes at that moment */
    uint32_t page_count;
    uint32_t reserved;
};

enum wsdbg_record_look_kind {
    WSDBG_RECORD_LOOK_CORE = 1,   /* one look at a process */
    WSDBG_RECORD_LOOK_STATE,      /* a simulated device, all its grids */
    WSDBG_RECORD_LOOK_STATE_BARE, /* those without probes */
    WSDBG_RECORD_LOOK_KINDS
};

struct wsdbg_record_look {
    uint32_t magic;
    uint32_t kind;   /* enum wsdbg_record_look_kind */
    uint64_t now_ns; /* of the frame */
    uint64_t plain_bytes;
    uint64_t compressed_bytes;
    uint32_t process_id;
    uint32_t reserved;
};

struct wsdbg_recorder;

/* One process as it is handed to the recorder. */
struct wsdbg_record_input {
    struct wsdbg_segment_view view;
    uint32_t process_id;
    bool alive;
};

/* Creates `path`; an existing file is an error, nothing is overwritten. */
struct wsdbg_error *wsdbg_recorder_create(const char *path, struct wsdbg_recorder **out);
/* Appends one frame.  Processes are known again by their id. */
struct wsdbg_error *wsdbg_recorder_frame(struct wsdbg_recorder *recorder, uint64_t now_ns,
                                         const struct wsdbg_record_input *inputs, size_t count);
/* Appends the file at `path`, a look at a process that was had at now_ns.  NOT_FOUND where there is none any more. */
struct wsdbg_error *wsdbg_recorder_look(struct wsdbg_recorder *recorder, uint64_t now_ns, uint32_t process_id,
                                        enum wsdbg_record_look_kind kind, const char *path);
const char *wsdbg_recorder_path(const struct wsdbg_recorder *recorder);
/* NULL is fine. */
void wsdbg_recorder_close(struct wsdbg_recorder *recorder);

#endif
