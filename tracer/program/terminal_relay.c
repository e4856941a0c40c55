/* terminal_relay.c - see terminal_relay.h.  Reads and writes: the pseudo terminal; reads the real one's size.
 *
 * The program never waits for wsdbg to draw: its output is read whenever there is some, whatever becomes of it.
 */
#include "program/terminal_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { READ_BYTES = 16 << 10, READS_A_CALL = 16, INPUT_BYTES = 64 << 10 };

struct wsdbg_relay {
    int terminal; /* the real one, not owned */
    int master, slave;
    void (*output)(void *owner, const char *bytes, size_t count);
    void *owner;
    struct winsize size;
    char input[INPUT_BYTES];
    size_t input_count;
};

static struct wsdbg_error *open_pair(struct wsdbg_relay *relay)
{
    struct termios modes;
    bool has_modes = tcgetattr(relay->terminal, &modes) == 0;
    bool has_size = ioctl(relay->terminal, TIOCGWINSZ, &relay->size) == 0;
    if (openpty(&relay->master, &relay->slave, NULL, has_modes ? &modes : NULL, has_size ? &relay->size : NULL) < 0)
        return wsdbg_error_os(errno, "cannot make a terminal for the program");
    fcntl(relay->master, F_SETFD, FD_CLOEXEC);
    fcntl(relay->slave, F_SETFD, FD_CLOEXEC);
    fcntl(relay->master, F_SETFL, O_NONBLOCK);
    return NULL;
}

struct wsdbg_error *wsdbg_relay_create(int terminal, void (*output)(void *owner, const char *bytes, size_t count),
                                       void *owner, struct wsdbg_relay **out)
{
    struct wsdbg_relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return &wsdbg_error_no_memory;
    relay->terminal = terminal;
    relay->output = output;
    relay->owner = owner;
    struct wsdbg_error *error = open_pair(relay);
    if (error)
        free(relay);
    else
        *out = relay;
    return error;
}

int wsdbg_relay_slave(const struct wsdbg_relay *relay)
{
    return relay->slave;
}

void wsdbg_relay_release(struct wsdbg_relay *relay)
{
    if (relay->slave >= 0)
        close(relay->slave);
    relay->slave = -1;
}

int wsdbg_relay_descriptor(const struct wsdbg_relay *relay)
{
    return relay->master;
}

short wsdbg_relay_events(const struct wsdbg_relay *relay)
{
    return (short)(POLLIN | (relay->input_count > 0 ? POLLOUT : 0));
}

static void close_master(struct wsdbg_relay *relay)
{
    close(relay->master);
    relay->master = -1;
}

/* Returns false when there is nothing more to read now. */
static bool read_some(struct wsdbg_relay *relay)
{
    char bytes[READ_BYTES];
    if (relay->master < 0)
        return false;
    ssize_t count = read(relay->master, bytes, sizeof bytes);
    if (count > 0)
        relay->output(relay->owner, bytes, (size_t)count);
    /* EIO: the last program that had the other end open is gone. */
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        close_master(relay);
    return count > 0;
}

static void write_input(struct wsdbg_relay *relay)
{
    if (relay->master < 0 || relay->input_count == 0)
        return;
    ssize_t count = write(relay->master, relay->input, relay->input_count);
    if (count <= 0)
        return;
    relay->input_count -= (size_t)count;
    memmove(relay->input, relay->input + count, relay->input_count);
}

/* The kernel tells the program (SIGWINCH) when its terminal's size changes. */
static void follow_size(struct wsdbg_relay *relay)
{
    struct winsize size;
    if (relay->master < 0 || ioctl(relay->terminal, TIOCGWINSZ, &size) < 0 ||
        memcmp(&size, &relay->size, sizeof size) == 0)
        return;
    relay->size = size;
    ioctl(relay->master, TIOCSWINSZ, &size);
}

void wsdbg_relay_serve(struct wsdbg_relay *relay)
{
    follow_size(relay);
    write_input(relay);
    for (int i = 0; i < READS_A_CALL && read_some(relay); i++)
        continue;
}

void wsdbg_relay_drain(struct wsdbg_relay *relay)
{
    /* More than a terminal holds; what the program left running may write for ever. */
    for (int i = 0; i < 4 * READS_A_CALL && read_some(relay); i++)
        continue;
}

void wsdbg_relay_write(struct wsdbg_relay *relay, const char *bytes, size_t count)
{
    size_t room = INPUT_BYTES - relay->input_count, taken = count < room ? count : room;
    memcpy(relay->input + relay->input_count, bytes, taken);
    relay->input_count += taken;
    write_input(relay);
}

void wsdbg_relay_destroy(struct wsdbg_relay *relay)
{
    if (!relay)
        return;
    wsdbg_relay_release(relay);
    if (relay->master >= 0)
        close(relay->master);
    free(relay);
}
