/* Child processes: arguments are vectors, never a shell string. */
#ifndef LIB_PROCESS_H
#define LIB_PROCESS_H

#include "lib/error.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int in;  /* the child's standard input, or -1 */
    int out; /* its standard output (non-blocking), or -1 */
    int err; /* its standard error (non-blocking), or -1 */
};

enum process_pipes {
    PROCESS_IN = 1,  /* else /dev/null */
    PROCESS_OUT = 2, /* else inherited */
    PROCESS_ERR = 4, /* else inherited */
};

/* Would process_start find the command in PATH? */
bool process_on_path(const char *command);
/* The signals as a program expects them that is started by exec. */
void process_default_signals(void);
/* Start argv[0] (searched in PATH). The child gets SIGTERM when this process dies; it has its own process
 * group and default signals. */
int process_start(struct process *process, const char *const argv[], int wanted, struct error *e);
/* Wait up to timeout_ns (negative: for ever). *status is as waitpid's. Returns 1 if it has ended, 0 if it is
 * still running. */
int process_wait(struct process *p, int64_t timeout_ns, int *status, struct error *e);
/* Write all bytes to the child's standard input within timeout_ns. A child that does not read causes an error
 * after this time; a child that has ended causes an error, not SIGPIPE. The pipe stays open. */
int process_write(struct process *p, const void *bytes, size_t length, int64_t timeout_ns, struct error *e);
/* SIGTERM, then SIGKILL after grace_ns; reaps and closes the pipes. Safe on a process that has ended. */
void process_stop(struct process *p, int64_t grace_ns);
/* Run to the end: input may be NULL; out and err (each may be NULL: inherited) receive at most 16 MiB each.
 * Returns the exit code, 128+signal, or -1 with a sentence (could not start, timed out). */
int process_run(const char *const argv[], const char *input, struct text *out, struct text *err,
                int64_t timeout_ns, struct error *e);
/* As process_run, with an input that may contain zero bytes. */
int process_run_bytes(const char *const argv[], const void *input, size_t length, struct text *out,
                      struct text *err, int64_t timeout_ns, struct error *e);
/* "exited with 3" / "was killed by signal 9 (Killed)". */
void process_describe(int status, struct text *out);

#endif
