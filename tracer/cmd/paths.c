/* paths.c - see paths.h.  Reads: /proc/self/exe and the file system; each list of places is tried in order. */
#include "cmd/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct wsdbg_error *executable_folder(char folder[PATH_MAX])
{
    ssize_t bytes = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (bytes < 0)
        return wsdbg_error_create(WSDBG_ERROR_OS, "cannot read /proc/self/exe: is /proc mounted?");
    folder[bytes] = '\0';
    *strrchr(folder, '/') = '\0';
    return NULL;
}

/* Finds `name` in the places: those that start with '/' as they are, others beside the executable. */
static struct wsdbg_error *find(const char *what, const char *const *places, const char *name, int access_mode,
                                char **out)
{
    char folder[PATH_MAX];
    char tried[4096] = "";
    struct wsdbg_error *error = executable_folder(folder);
    for (; !error && *places; places++) {
        char *path = NULL;
        bool absolute = (*places)[0] == '/';
        if (asprintf(&path, "%s%s%s/%s", absolute ? "" : folder, absolute ? "" : "/", *places, name) < 0)
            return &wsdbg_error_no_memory;
        char *real = realpath(path, NULL);
        if (real && access(real, access_mode) == 0) {
            free(path);
            *out = real;
            return NULL;
        }
        size_t used = strlen(tried);
        snprintf(tried + used, sizeof tried - used, "%s%s", used ? ", " : "", path);
        free(real);
        free(path);
    }
    return error ? error : wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s not found; looked for %s", what, tried);
}

static const char *const library_places[] = {"../lib/wsdbg", WSDBG_INSTALL_LIBRARY_FOLDER, NULL};
static const char *const program_places[] = {".", "../lib/wsdbg", WSDBG_INSTALL_LIBRARY_FOLDER, NULL};
static const char *const recording_places[] = {"../share/wsdbg/recorded", WSDBG_INSTALL_DATA_FOLDER "/recorded",
                                               WSDBG_SOURCE_RECORDINGS, NULL};

struct wsdbg_error *wsdbg_path_shim(char **out)
{
    return find("the observer library", library_places, "libwsdbg-shim.so", R_OK, out);
}

struct wsdbg_error *wsdbg_path_cupti(char **out)
{
    return find("the CUPTI observer library", library_places, "libwsdbg-cupti.so", R_OK, out);
}

struct wsdbg_error *wsdbg_path_simulator(char **folder)
{
    struct wsdbg_error *error = find("the simulator's library", library_places, "sim/libcuda.so.1", R_OK, folder);
    if (!error)
        *strrchr(*folder, '/') = '\0';
    return error;
}

struct wsdbg_error *wsdbg_path_program(const char *name, char **out)
{
    return find("the demo program", program_places, name, X_OK, out);
}

struct wsdbg_error *wsdbg_path_recordings(char **out)
{
    return find("the folder of recorded sessions", recording_places, ".", R_OK | X_OK, out);
}

struct wsdbg_error *wsdbg_path_recording(const char *name, char **out)
{
    char file[NAME_MAX + 1];
    if (strchr(name, '/') || (size_t)snprintf(file, sizeof file, "%s.wsrec", name) >= sizeof file)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "'%s' is not the name of a demo", name);
    return find("a recorded session of that name", recording_places, file, R_OK, out);
}
