/* image.h - the memory of an interpreter that never ran: one interpreter, its threads, frames and code objects, laid
 * out as a version of CPython lays them out.  Also of versions that are not installed, and damaged in any way. */
#ifndef TESTS_HOST_IMAGE_H
#define TESTS_HOST_IMAGE_H

#include "host/python_find.h"
#include "host/python_stack.h"

enum { IMAGE_BYTES = 1 << 18 };
#define IMAGE_BASE UINT64_C(0x7f0000000000)

struct image {
    unsigned char bytes[IMAGE_BYTES]; /* at IMAGE_BASE */
    size_t used;
    struct wsdbg_python python;
    uint64_t reads;                                       /* so far */
    void (*changed)(struct image *image, uint64_t reads); /* called before each read; NULL = nobody writes */
};

/* An interpreter of this version without threads; free_threaded only from 3.13 on.  The table of offsets of 3.13
 * and 3.14 is at the head of _PyRuntime. */
void image_init(struct image *image, uint32_t version, bool free_threaded);
/* Reads the image; `context` is one.  Nothing else can be read. */
ssize_t image_read(void *context, uint64_t address, void *out, size_t bytes);
struct wsdbg_host_memory *image_memory(struct image *image);

/* Objects at new addresses. */
uint64_t image_code(struct image *image, const char *file, const char *function, uint32_t first_line,
                    const unsigned char *lines, size_t bytes);
/* previous: 0 = it is the outermost.  offset_bytes: of its instruction in the code. */
uint64_t image_frame(struct image *image, uint64_t code, int64_t offset_bytes, uint64_t previous);
/* A frame of the interpreter's own, as C makes it from 3.12 on. */
uint64_t image_foreign_frame(struct image *image, uint64_t previous);
/* Threads are listed newest first.  Returns its thread state. */
uint64_t image_thread(struct image *image, uint32_t thread_id, uint64_t frame);

void image_put(struct image *image, uint64_t address, uint64_t word);

#endif
