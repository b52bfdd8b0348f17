#include "harness/slurm/slurm.h"
#include "lib/program/program.h"
#include <stdlib.h>
#include <string.h>

/* 0: it is none. */
static size_t number_of(const char *word)
{
    size_t length = strspn(word, "0123456789");
    return length == 0 || length > 9 || word[length] ? 0 : strtoul(word, NULL, 10);
}

static int run_task(const struct call *call)
{
    size_t submission = number_of(call->arguments[1]), task = number_of(call->arguments[2]);
    struct error e;
    if (submission && task)
        return slurm_task(call->arguments[0], submission, task);
    error_set(&e, "task: expected FOLDER, and two numbers from 1");
    return program_fail(EXIT_USAGE, &e);
}

const struct command command_task = {
    .name = "task",
    .arguments = "FOLDER SUBMISSION TASK",
    .about = "Run a part of a sweep: what a job of `run --on slurm` calls on a node.",
    .least = 3,
    .most = 3,
    .run = run_task,
};
