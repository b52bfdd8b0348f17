/*
 * witness EVERY_NS FILE COMMAND ARG...: was a program that has deadlines given the processor it needs?
 *
 * Runs the command, and beside it on the same processor, above the real-time priority that nic-sampler takes,
 * a loop that sleeps for a fifth of the interval EVERY_NS and then takes the kernel's lock of network
 * configuration once, as reading a NIC does. What that takes longer is time in which the machine had no
 * processor for either, or in which somebody else kept the lock. FILE gets one line of JSON: the longest such
 * time within five sleeps, how many deadlines that explains, and whether real-time priority was to be had.
 * The exit status is the command's.
 */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
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

/* The smallest request that takes the lock (linux net/ethtool/ioctl.c, dev_ethtool). */
static void take_lock(int descriptor)
{
    struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
    struct ifreq request = {.ifr_name = "lo", .ifr_data = (void *)&link};
    (void)ioctl(descriptor, SIOCETHTOOL, &request);
}

/* Both on the processor that this runs on now. */
static void stay_here(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
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

struct away {
    int64_t last_ns[SLEEPS], worst_ns; /* of the last sleeps, and the most of five */
    int64_t debt_ns;
    int64_t missed;
};

/*
 * A reader that needs half of every interval loses a deadline when it is kept from its work for the other
 * half, and one more for each whole interval beyond. What it is kept from it makes up for in the half that it
 * does not need.
 */
static void lose(struct away *a, int64_t away_ns, int64_t every_ns)
{
    int64_t spare_ns = every_ns / SLEEPS / 2;
    a->debt_ns += away_ns;
    if (a->debt_ns > 0)
        a->debt_ns = a->debt_ns > spare_ns ? a->debt_ns - spare_ns : 0;
    else if (a->debt_ns < 0)
        a->debt_ns = a->debt_ns < -2 * spare_ns ? a->debt_ns + 2 * spare_ns : 0;
    for (; a->debt_ns >= every_ns / 2; a->debt_ns -= every_ns)
        a->missed++;
}

static void watch(pid_t pid, int64_t every_ns, struct away *a, int *status)
{
    int lock = socket(AF_INET, SOCK_DGRAM, 0);
    for (uint64_t n = 0; waitpid(pid, status, WNOHANG) == 0; n++) {
        int64_t began_ns = now_ns(), sum_ns = 0;
        sleep_ns(every_ns / SLEEPS);
        take_lock(lock);
        a->last_ns[n % SLEEPS] = now_ns() - began_ns - every_ns / SLEEPS;
        lose(a, a->last_ns[n % SLEEPS], every_ns);
        for (int i = 0; i < SLEEPS; i++)
            sum_ns += a->last_ns[i];
        if (sum_ns > a->worst_ns)
            a->worst_ns = sum_ns;
    }
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
    struct away away = {0};
    if (pid > 0)
        watch(pid, strtoll(argv[1], NULL, 10), &away, &status);
    FILE *f = fopen(argv[2], "w");
    if (pid == -1 || !f) {
        perror("witness");
        return 2;
    }
    fprintf(f, "{\"worst_ns\": %lld, \"missed\": %lld, \"realtime\": %s}\n", (long long)away.worst_ns,
            (long long)away.missed, realtime ? "true" : "false");
    if (fclose(f) != 0)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
