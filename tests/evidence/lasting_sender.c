/* lasting_sender.c - see lasting_sender.h. */
#include "evidence/lasting_sender.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "evidence/evidence.h"

char spool[64], session[64];

int make_spool(void **state)
{
    (void)state;
    strcpy(spool, "/tmp/wsdbg-spool-XXXXXX");
    snprintf(session, sizeof session, "lasting-%d", (int)getpid());
    return mkdtemp(spool) ? 0 : -1;
}

int remove_spool(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", spool, WSDBG_MEMORY_SOCKET);
    unlink(path);
    wsdbg_ring_unlink(session, NULL);
    return rmdir(spool);
}

int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

int memory_of(uint8_t fill)
{
    const int fd = memfd_create("memory", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, ALLOCATED), 0);
    uint8_t *bytes = mmap(NULL, ALLOCATED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset(bytes, fill, ALLOCATED);
    munmap(bytes, ALLOCATED);
    return fd;
}

struct wsdbg_memory_message message_of(enum wsdbg_memory_kind kind, uint64_t used_bytes)
{
    return (struct wsdbg_memory_message){.version = WSDBG_SEGMENT_VERSION,
                                         .process_id = (uint32_t)getpid(),
                                         .context = CONTEXT,
                                         .kind = kind,
                                         .device_address = kind == WSDBG_MEMORY_SLOTS ? SLOTS_AT : HISTORY_AT,
                                         .used_bytes = used_bytes,
                                         .allocated_bytes = ALLOCATED};
}

void send_message(const struct wsdbg_memory_message *message, size_t bytes, size_t descriptors, uint8_t fill)
{
    enum { MOST = 3 };
    char longer[sizeof *message + 64] = {0};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST * sizeof(int))] = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", spool, WSDBG_MEMORY_SOCKET);
    memcpy(longer, message, sizeof *message);
    struct iovec data = {longer, bytes};
    struct msghdr envelope = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &data, .msg_iovlen = 1};
    const int fd = memory_of(fill), wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptors > 0) {
        envelope.msg_control = control;
        envelope.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&envelope);
        *header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(descriptors * sizeof(int))};
        for (size_t i = 0; i < descriptors; i++)
            memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
    }
    assert_int_equal(sendmsg(wire, &envelope, 0), bytes);
    close(wire);
    close(fd);
}
