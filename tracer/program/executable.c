/* executable.c - see executable.h.
 *
 * Reads: PATH; the file's mode, owner, capabilities and first bytes, its mount's options and, of an ELF file, the name
 * of its loader.
 */
#include "program/executable.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OTHER_LOADER "ld-musl-"
#define SEARCHED "/bin:/usr/bin" /* by execvp() where there is no PATH */

static bool is_executable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* As execvp() does; an empty entry of PATH is the current folder. */
static bool find(const char *program, char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    if (strchr(program, '/'))
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && is_executable(path);
    for (at = at ? at : SEARCHED; at; at = *at ? at + 1 : NULL) {
        const size_t length = strcspn(at, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", program) < PATH_MAX &&
            is_executable(path))
            return true;
        at += length;
    }
    return false;
}

/* What the file says is not obeyed there: capabilities(7), "Safety checking", and mount(8), "nosuid".  Scripts keep the
 * caller's rights too. */
static bool gets_no_rights(const char *path)
{
    char begin[2] = "";
    struct statvfs mount;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_script = fd >= 0 && read(fd, begin, sizeof begin) == 2 && begin[0] == '#' && begin[1] == '!';
    if (fd >= 0)
        close(fd);
    return is_script || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
           (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID));
}

/* The words for the rights that it gets and its caller has not; NULL = none.  See getauxval(3), AT_SECURE. */
static const char *other_rights(const char *path, const char **advice)
{
    struct stat status;
    char capabilities[64];
    *advice = "";
    if (stat(path, &status) != 0 || gets_no_rights(path))
        return NULL;
    if ((status.st_mode & S_ISUID) && status.st_uid != getuid()) {
        *advice = "; run wsdbg as that user";
        return "is set-user-ID";
    }
    if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid()) {
        *advice = "; run wsdbg with that group, by newgrp(1) or sg(1)";
        return "is set-group-ID";
    }
    if (getuid() == 0 || getxattr(path, "security.capability", capabilities, sizeof capabilities) <= 0)
        return NULL;
    *advice = "; run a copy of it, which has none, or wsdbg as root";
    return "has file capabilities";
}

static bool read_loader(Elf *elf, int fd, char loader[PATH_MAX])
{
    size_t count = 0;
    GElf_Phdr header;
    if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP || header.p_filesz >= PATH_MAX)
            continue;
        loader[header.p_filesz] = '\0';
        return pread(fd, loader, header.p_filesz, (off_t)header.p_offset) == (ssize_t)header.p_filesz;
    }
    return false;
}

static bool has_loader(const char *path, char loader[PATH_MAX])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *const elf = elf_begin(fd, ELF_C_READ, NULL);
    const bool has = elf && read_loader(elf, fd, loader);
    elf_end(elf);
    close(fd);
    return has;
}

bool wsdbg_executable_is_static(const char *program)
{
    char path[PATH_MAX], loader[PATH_MAX];
    GElf_Ehdr header;
    const int fd = find(program, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *const elf = elf_begin(fd, ELF_C_READ, NULL);
    const char *const slash = strrchr(path, '/');
    const bool is_loader = strncmp(slash ? slash + 1 : path, "ld", 2) == 0;
    const bool is_program = elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
                            (header.e_type == ET_EXEC || header.e_type == ET_DYN);
    const bool is_static = is_program && !is_loader && !read_loader(elf, fd, loader);
    elf_end(elf);
    close(fd);
    return is_static;
}

struct wsdbg_error *wsdbg_executable_check(const char *program)
{
    char path[PATH_MAX], loader[PATH_MAX];
    if (!find(program, path))
        return NULL;
    const char *advice, *const rights = other_rights(path, &advice);
    if (rights)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s %s: the loader keeps wsdbg's observer out of it, so it could not be watched%s",
                                  path, rights, advice);
    if (has_loader(path, loader) && strstr(loader, OTHER_LOADER))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s is made for musl (its loader is %s): wsdbg's observer needs glibc, as NVIDIA's "
                                  "driver does, and cannot be "
                                  "loaded into it",
                                  path, loader);
    return NULL;
}
