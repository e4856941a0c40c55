/* system_calls.c - notes when a program limits its own system calls (seccomp), and tells wsdbg before that takes
 * effect. Also notes when the program chooses who may read its memory (PR_SET_PTRACER): the shim then makes no choice
 * of its own.
 *
 * Reads:  the arguments of prctl() and syscall(), by which programs and libseccomp ask for that.
 * Writes: the kernel's setting of who may read this process's memory.
 *
 * A program that asks the kernel without the C library is not seen to here: stand_aside_is_limited.
 */
#include "system_calls.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loader.h"
#include "shim.h"

typedef long (*system_call)(long, long, long, long, long, long, long);
typedef int (*process_control)(int, unsigned long, unsigned long, unsigned long, unsigned long);

static void (*_Atomic about_to_limit)(void); /* NULL = nobody wants to know */

void system_calls_tell(void (*function)(void))
{
    atomic_store(&about_to_limit, function);
}

static void tell(void)
{
    void (*function)(void) = atomic_load(&about_to_limit);
    if (function)
        function();
}

/* Without a filter it is only asked whether there could be one. */
static bool limits(bool strict, bool filtered, unsigned long filter)
{
    return strict || (filtered && filter);
}

/* The kernel keeps one such setting for each process.  The program's own must stay: MPI libraries need it to read each
 * other's memory. */
static _Atomic bool has_chosen;
static _Atomic unsigned long reader; /* whom the shim let read last; 0 = nobody */

static void note_choice(long option, unsigned long process)
{
    if (option != PR_SET_PTRACER)
        return;
    atomic_store(&has_chosen, process != 0);
    atomic_store(&reader, 0);
}

static process_control real_prctl(void)
{
    static process_control _Atomic real;
    process_control found = atomic_load_explicit(&real, memory_order_acquire);
    if (!found) {
        found = (process_control)loader_libc_function("prctl", 0);
        atomic_store(&real, found);
    }
    return found;
}

void system_calls_let_read(unsigned long process)
{
    const process_control forward = real_prctl();
    if (forward && !atomic_load(&has_chosen) && atomic_exchange(&reader, process) != process)
        forward(PR_SET_PTRACER, process, 0, 0, 0);
}

SHIM_EXPORT int prctl(int option, ...)
{
    const process_control forward = real_prctl();
    unsigned long argument[4];
    va_list arguments;
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    note_choice(option, argument[0]);
    if (option == PR_SET_SECCOMP &&
        limits(argument[0] == SECCOMP_MODE_STRICT, argument[0] == SECCOMP_MODE_FILTER, argument[1]))
        tell();
    return forward ? forward(option, argument[0], argument[1], argument[2], argument[3]) : -1;
}

SHIM_EXPORT long syscall(long number, ...)
{
    static system_call _Atomic real;
    system_call forward = atomic_load_explicit(&real, memory_order_acquire);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (!forward) {
        forward = (system_call)loader_libc_function("syscall", 0);
        atomic_store(&real, forward);
    }
    if (number == SYS_prctl)
        note_choice(a[0], (unsigned long)a[1]);
    if ((number == SYS_seccomp &&
         limits(a[0] == SECCOMP_SET_MODE_STRICT, a[0] == SECCOMP_SET_MODE_FILTER, (unsigned long)a[2])) ||
        (number == SYS_prctl && a[0] == PR_SET_SECCOMP &&
         limits(a[1] == SECCOMP_MODE_STRICT, a[1] == SECCOMP_MODE_FILTER, (unsigned long)a[2])))
        tell();
    return forward ? forward(number, a[0], a[1], a[2], a[3], a[4], a[5]) : -1;
}
