/*
 * Commands on other machines over the system's ssh: one multiplexed connection per host, and a further one
 * where more programs run than an sshd takes over one (ssh_start). The user's
 * configuration, agent and jump hosts apply to hosts that virt-provision did not create; its guests are
 * trusted by the key that was pinned when they were created.
 */
#ifndef REMOTE_SSH_H
#define REMOTE_SSH_H

#include "lib/process.h"
#include <stdatomic.h>

/* ssh itself failed, or a signal ended the command, which the master does not pass on; or it is the command's
 * own exit status. */
#define SSH_OWN_STATUS 255

/* How a host is reached. All strings are owned; NULL means ssh's own choice. */
struct ssh_target {
    char *host; /* address, "user@host", or a name of the user's ssh configuration */
    char *user;
    int64_t port;      /* 0: ssh's own choice */
    char *identity;    /* file with the private key; no other key is offered */
    char *known_hosts; /* file with the host's key; no other key is accepted */
    char *key_alias;   /* the name under which known_hosts holds the key */
    char *jump;        /* "user@machine:port" of the jump host: the user's configuration applies to it */
    bool own_config;   /* ignore the user's ssh configuration */
    bool boots;        /* it may be booting: try again while it does not answer */
    bool sudo;         /* run every command through sudo -n */
    const atomic_bool *cancelled; /* connecting stops when it becomes true; may be NULL */
};
void ssh_target_free(struct ssh_target *target);

/* The ProxyCommand that goes through `jump`. The caller frees; NULL when memory ran out. */
char *ssh_proxy_command(const char *jump);

struct ssh_session;

/* Connect within timeout_ns; `name` is the host's name in messages. The connection's process dies with this
 * process. */
struct ssh_session *ssh_open(const char *name, const struct ssh_target *target, int64_t timeout_ns,
                             struct error *e);
/* Is the connection still open? If not, `e` says how it ended. */
bool ssh_alive(struct ssh_session *s, struct error *e);
/* Has the connection ended? Sends a command over it, which also detects an end that this process has not
 * noticed yet; takes at most timeout_ns. True: `e` says how it ended. False: it carries commands, or the host
 * hangs. */
bool ssh_ended(struct ssh_session *s, int64_t timeout_ns, struct error *e);
void ssh_close(struct ssh_session *s);

/* Run argv on the host to its end: input may be NULL; out and err as in process_run. Returns the command's
 * exit status, or -1 with `e` set: it could not start, timed out, or the connection was lost. */
int ssh_run(struct ssh_session *s, const char *const argv[], const char *input, struct text *out,
            struct text *err, int64_t timeout_ns, struct error *e);
/* As ssh_run (out NULL: not wanted), but anything other than exit status 0 is an error, and its message ends
 * with the command's last line on stderr. */
int ssh_must(struct ssh_session *s, const char *const argv[], const char *input, struct text *out,
             int64_t timeout_ns, struct error *e);
/* As ssh_must, with an input of any bytes. */
int ssh_must_bytes(struct ssh_session *s, const char *const argv[], const void *input, size_t length,
                   struct text *out, int64_t timeout_ns, struct error *e);
/* Start argv on the host; pipes as in process_start. process_stop ends the local ssh, the remote command then
 * reads end of file or gets SIGPIPE/SIGHUP; to end a program at once, use its standard input or a signal. */
int ssh_start(struct ssh_session *s, const char *const argv[], int pipes, struct process *process,
              struct error *e);
/* Start argv on the host, which stays until the session is closed or the connection ends: its standard input
 * ends then. Its answer, up to an empty line, is in `answer`. 1: it stays. 0: it has ended, and `answer` is
 * all that it said. One at a time for a session. */
int ssh_hold(struct ssh_session *s, const char *const argv[], struct text *answer, int64_t timeout_ns,
             struct error *e);
/* Put a local file on the host (by a temporary name, then renamed), with this mode. */
int ssh_put(struct ssh_session *s, const char *local, const char *remote, int mode, int64_t timeout_ns,
            struct error *e);
/* Put bytes into a file on the host, in the same way. */
int ssh_put_bytes(struct ssh_session *s, const void *bytes, size_t length, const char *remote, int mode,
                  int64_t timeout_ns, struct error *e);
/* ssh's own argument vector up to and with the host, for a caller that execs it (an interactive shell). Ended
 * by NULL; free with ssh_arguments_free. */
char **ssh_arguments(const struct ssh_target *target, bool terminal);
void ssh_arguments_free(char **arguments);

#endif
