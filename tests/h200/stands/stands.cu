/* stands.cu - runs one case of stands.def: kernels that stand still for ever, or end after a while, or fault.
 *
 * Usage: stands --case NAME [--limit SECONDS] [--after SECONDS] [--volatile] | stands --list
 *
 * Prints `done` last when it ends well, with status 0.  Status 1: an error, which a FAULT is to end with; 2: usage; 3:
 * the limit; 77: no driver, or too few GPUs.  --list prints a line a case: name, kind, GPUs, story, with tabs.
 */
#include <getopt.h>
#include <string.h>

#include "stands.cuh"

enum kind { HANG, FED, FAULT, ROAD, WAIT };

static const char *const kind_names[] = {"hang", "fed", "fault", "road", "wait"};

static const struct stand {
    const char *name;
    enum kind kind;
    int gpus;
    const char *story;
    int (*run)(const struct options *options);
} stands[] = {
#define STAND(id, name, kind, gpus, story) {name, kind, gpus, story, stand_##id},
#include "stands.def"
#undef STAND
};

static int usage(void)
{
    fprintf(stderr, "usage: stands --case NAME [--limit SECONDS] [--after SECONDS] [--volatile] | stands --list\n");
    return STATUS_USAGE;
}

static int list(void)
{
    for (const struct stand &stand : stands)
        printf("%s\t%s\t%d\t%s\n", stand.name, kind_names[stand.kind], stand.gpus, stand.story);
    return 0;
}

static const struct stand *find(const char *name)
{
    for (const struct stand &stand : stands)
        if (name && strcmp(stand.name, name) == 0)
            return &stand;
    return NULL;
}

static int run(const struct stand *stand, const struct options *options)
{
    limit_time(options->limit_s);
    if (stand->run != stand_fed_process) /* which forks before it uses CUDA */
        need_gpus(stand->gpus);
    const int status = stand->run(options);
    if (status == 0)
        printf("done\n");
    fflush(stdout);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"case", required_argument, NULL, 'c'},  {"limit", required_argument, NULL, 'l'},
        {"after", required_argument, NULL, 'a'}, {"volatile", no_argument, NULL, 'v'},
        {"list", no_argument, NULL, 'i'},        {}};
    struct options options = {6, 60, false};
    const char *name = NULL;
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (letter) {
        case 'c':
            name = optarg;
            break;
        case 'l':
            options.limit_s = atoi(optarg);
            break;
        case 'a':
            options.after_s = atof(optarg);
            break;
        case 'v':
            options.is_volatile = true;
            break;
        case 'i':
            return list();
        default:
            return usage();
        }
    if (optind != argc || !name || options.limit_s <= 0 || options.after_s < 0)
        return usage();
    const struct stand *const stand = find(name);
    if (!stand) {
        fprintf(stderr, "stands: no case is called '%s'; stands --list names them\n", name);
        return STATUS_USAGE;
    }
    return run(stand, &options);
}
