/* harness: runs experiments on a lab. docs/harness.1. */
#include "harness/commands/commands.h"
#include "lib/log.h"
#include "lib/document/table.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void help(FILE *out)
{
    fprintf(out, "usage: harness COMMAND [OPTIONS]\n\nExperiments with priority flow control and DCQCN on "
                 "RoCE: on simulated, "
                 "virtual or real hosts.\n\n");
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->about);
    fprintf(out, "\nharness COMMAND --help tells a command's options; man harness tells it all.\n");
}

static int unknown_command(const char *word)
{
    const char *names[32] = {0};
    for (size_t i = 0; i < 31 && commands[i]; i++)
        names[i] = commands[i]->name;
    const char *near = options_nearest(word, names);
    if (near)
        log_error("unknown command \"%s\"; did you mean \"%s\"?", word, near);
    else
        log_error("unknown command \"%s\"; harness --help lists them", word);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int status = EXIT_USAGE;
    if (argc < 2)
        help(stderr);
    else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(stdout);
        status = EXIT_PASSED;
    } else {
        size_t i = 0;
        const char *word = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
        while (commands[i] && strcmp(commands[i]->name, word) != 0)
            i++;
        status = commands[i] ? commands[i]->run(argc - 1, argv + 1) : unknown_command(word);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("writing to standard output: %s", strerror(errno));
        return status == EXIT_PASSED ? EXIT_LAB : status;
    }
    return status;
}
