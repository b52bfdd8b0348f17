/*
 * witness EVERY_NS FILE COMMAND ARG...: was a program that has deadlines given the processor it needs?
 *
 * Runs the command, and beside it on the same processor, above the real-time priority that nic-sampler takes, a loop that only
 * sleeps for a fifth of the interval EVERY_NS. What five such sleeps in a row take longer than the interval is time in which the
 * machine had no processor for either. FILE gets one line of JSON: the longest of those times, and whether real-time priority was
 * to be had. The exit status is the command's.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define SLEEPS   5

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Both on the processor that this runs on now. */
static void stay_here(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static pid_t start(char **command)
{
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    return pid;
}

static int64_t watch(pid_t pid, int64_t every_ns, int *status)
{
    int64_t ends[SLEEPS], worst_ns = 0;
    for (int i = 0; i < SLEEPS; i++)
        ends[i] = INT64_MAX;
    for (uint64_t n = 0; waitpid(pid, status, WNOHANG) == 0; n++) {
        sleep_ns(every_ns / SLEEPS);
        int64_t now = now_ns(), *oldest = &ends[n % SLEEPS];
        if (*oldest != INT64_MAX && now - *oldest - every_ns > worst_ns)
            worst_ns = now - *oldest - every_ns;
        *oldest = now;
    }
    return worst_ns;
}

int main(int argc, char **argv)
{
    const struct sched_param above = {.sched_priority = 2};
    int status = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: witness EVERY_NS FILE COMMAND ARG...\n");
        return 2;
    }
    stay_here();
    pid_t pid = start(argv + 3);
    int realtime = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &above) == 0;
    int64_t worst_ns = pid > 0 ? watch(pid, strtoll(argv[1], NULL, 10), &status) : 0;
    FILE *f = fopen(argv[2], "w");
    if (pid == -1 || f == NULL) {
        perror("witness");
        return 2;
    }
    fprintf(f, "{\"worst_ns\": %lld, \"realtime\": %s}\n", (long long)worst_ns, realtime ? "true" : "false");
    if (fclose(f) != 0)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
