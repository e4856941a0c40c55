/* keeps_code.c - runs a program that may not make memory executable (PR_SET_MDWE), as hardened systems have it.
 *
 *     keeps_code PROGRAM [ARGUMENT...]
 *
 * Exit status: the program's; 77 where the kernel, older than Linux 6.3, has no such rule.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 };

int main(int argc, char **argv)
{
    if (argc < 2 || prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return 77;
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
