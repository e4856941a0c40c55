/* process_maps.h - what a process has mapped: its files, and which of them an address belongs to. */
#ifndef WSDBG_HOST_PROCESS_MAPS_H
#define WSDBG_HOST_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* A part of a file in the process's memory. */
struct wsdbg_host_mapping {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* in the file, bytes */
    uint32_t file;       /* in files */
    bool is_code;        /* it may be executed */
    bool is_copy;        /* anonymous code that took the place of the file's; the offset is a guess */
};

struct wsdbg_host_file {
    char *path; /* as the process has it; owned */
};

/* Mappings of files, and anonymous code between two mappings of one file, ordered by address.  A program that changes
 * its own code has such a copy of it. */
struct wsdbg_host_maps {
    struct wsdbg_host_mapping *mappings;
    size_t count, capacity;
    struct wsdbg_host_file *files;
    size_t file_count, file_capacity;
};

/* Of a living process.  Waits while the process is changing its mappings.  Freed by the caller. */
struct wsdbg_error *wsdbg_host_maps_read(pid_t process, struct wsdbg_host_maps *out);
/* The same from text as /proc/PID/maps has it. */
struct wsdbg_error *wsdbg_host_maps_parse(FILE *text, struct wsdbg_host_maps *out);
void wsdbg_host_maps_free(struct wsdbg_host_maps *maps);

/* NULL = no file is mapped there. */
const struct wsdbg_host_mapping *wsdbg_host_mapping_at(const struct wsdbg_host_maps *maps, uint64_t address);
/* The path's last part. */
const char *wsdbg_host_file_name(const char *path);

#endif
