/* source_sites.h - where in the sources warps wait: the state of the source view.  Reads the picture, and source files
 * through the source. */
#ifndef VIEWER_SOURCE_SITES_H
#define VIEWER_SOURCE_SITES_H

#include "viewer/folded.h"
#include "viewer/source_text.h"

/* Warps that wait at one line. */
struct viewer_site {
    uint32_t module;
    uint32_t line; /* of the source, 0 = not known */
    uint32_t at;   /* line of the text that is shown, 0 = none of it */
    uint32_t group;
    uint32_t machine; /* in snapshot.sites, WSDBG_NONE = only probes say where */
};

/* What can be read of a module, once it was found. */
struct viewer_module_file {
    uint32_t process_id, row; /* the module */
    struct viewer_source_text text;
};

struct viewer_sites {
    struct viewer_folded folded;
    struct viewer_site *sites; /* by module, place in the text and line */
    size_t site_count;
    struct viewer_module_file *files; /* by module; only those with sites are read */
    size_t file_count;
    bool machine_code; /* asked for */
};

/* Folds the picture's warps and finds the lines at which they wait; files that are known already are not read again. */
struct wsdbg_error *viewer_sites_read(const struct viewer_context *context, struct viewer_sites *state);
/* What can be read of a module; NULL where no site lies in it. */
const struct viewer_source_text *viewer_sites_file(const struct viewer_sites *state, uint32_t module);
void viewer_sites_deinit(struct viewer_sites *state);

/* Whether a group waits at no line of the text that is shown. */
bool viewer_sites_are_elsewhere(const struct viewer_sites *state, uint32_t group);

#endif
