/* Quoting (against a real shell), ssh's arguments, and sessions against an sshd of our own on loopback. */
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/words.h"
#include "remote/ssh.h"
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define S(literal) (char *)(uintptr_t)(literal)

/* ---- quoting */

static void shell_reads_what_was_quoted(void **state)
{
    static const char *const words[] = {
        "plain", "",   "two words", "it's", "$HOME",       "`id`", "a\nb",  "\\", "\"",      "~", "*",
        "A=b",   "-n", ";reboot",   "\t",   "caf\xc3\xa9", "!x",   "{a,b}", "#c", "a'b'c''", NULL};
    (void)state;
    for (size_t i = 0; words[i]; i++) {
        struct text line = {0}, out = {0};
        struct error e;
        text_add(&line, "printf '[%%s]' ");
        shell_quote(&line, words[i]);
        const char *const argv[] = {"sh", "-c", text_string(&line), NULL};
        assert_int_equal(process_run(argv, NULL, &out, NULL, 5 * NS_PER_S, &e), 0);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "[%s]", words[i]);
        assert_string_equal(text_string(&out), wanted);
        text_free(&line);
        text_free(&out);
    }
}

static void command_words_stay_words(void **state)
{
    (void)state;
    struct text line = {0};
    const char *const argv[] = {"A=b", "x y", "plain", NULL};
    shell_quote_all(&line, argv);
    assert_string_equal(text_string(&line), "'A=b' 'x y' plain");
    text_free(&line);
}

/* ---- arguments */

static bool has(char **arguments, const char *wanted)
{
    for (size_t i = 0; arguments[i]; i++)
        if (strcmp(arguments[i], wanted) == 0)
            return true;
    return false;
}

static void guests_are_pinned(void **state)
{
    (void)state;
    struct ssh_target t = {.host = S("192.0.2.7"),
                           .user = S("root"),
                           .identity = S("/a b/%key"),
                           .known_hosts = S("/k"),
                           .key_alias = S("lab-a"),
                           .own_config = true};
    char **arguments = ssh_arguments(&t, false);
    assert_true(has(arguments, "-Fnone"));
    assert_true(has(arguments, "-oStrictHostKeyChecking=yes"));
    assert_true(has(arguments, "UserKnownHostsFile=\"/k\""));
    assert_true(has(arguments, "IdentityFile=\"/a b/%%key\""));
    assert_true(has(arguments, "-oHostKeyAlias=lab-a"));
    assert_true(has(arguments, "-oBatchMode=yes"));
    ssh_arguments_free(arguments);
}

static void a_machine_on_the_way_is_the_users(void **state)
{
    (void)state;
    struct ssh_target t = {.host = S("192.0.2.7"), .jump = S("me@rack's%7:2222"), .own_config = true};
    char **arguments = ssh_arguments(&t, false);
    assert_true(has(arguments, "-oProxyCommand=ssh -oBatchMode=yes -oLogLevel=ERROR -W '[%h]:%p' -- "
                               "'ssh://me@rack'\\''s%%7:2222'"));
    ssh_arguments_free(arguments);
}

static void hosts_of_the_user_keep_his_configuration(void **state)
{
    (void)state;
    struct ssh_target t = {.host = S("rack7")};
    char **arguments = ssh_arguments(&t, true);
    assert_false(has(arguments, "-Fnone"));
    for (size_t i = 0; arguments[i]; i++)
        assert_null(strstr(arguments[i], "StrictHostKeyChecking"));
    ssh_arguments_free(arguments);
}

/* ---- sessions, against a real sshd */

struct lab {
    char folder[64];
    char path[6][128]; /* host key, client key, known_hosts, config, wrong known_hosts, authorized_keys */
    struct process sshd;
    int port;
};
enum { HOST_KEY, CLIENT_KEY, KNOWN, CONFIG, WRONG, AUTHORIZED };

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static void make_key(const char *path)
{
    const char *const argv[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path, NULL};
    assert_int_equal(process_run(argv, NULL, NULL, NULL, 20 * NS_PER_S, NULL), 0);
}

/* known_hosts with the key of key_path under the alias "lab-a". */
static void pin(const char *known, const char *key_path)
{
    char public_path[160], *key;
    struct text line = {0};
    snprintf(public_path, sizeof public_path, "%s.pub", key_path);
    key = files_read_line(public_path, NULL);
    text_add(&line, "lab-a %s\n", key);
    assert_int_equal(files_write_atomic(known, text_string(&line), line.length, NULL), 0);
    text_free(&line);
    free(key);
}

static void start_sshd(struct lab *lab)
{
    struct text config = {0};
    char public_path[160];
    lab->port = free_port();
    snprintf(public_path, sizeof public_path, "%s.pub", lab->path[CLIENT_KEY]);
    size_t length;
    char *key = files_read(public_path, 4096, &length, NULL);
    assert_int_equal(files_write_atomic(lab->path[AUTHORIZED], key, length, NULL), 0);
    free(key);
    text_add(
        &config,
        "Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nPidFile none\n"
        "PasswordAuthentication no\nKexAlgorithms curve25519-sha256\nUsePAM no\nMaxSessions 32\nSetEnv "
        "HOME=%s\n",
        lab->port, lab->path[HOST_KEY], lab->path[AUTHORIZED],
        lab->folder); /* without what the user's shell does */
    assert_int_equal(files_write_atomic(lab->path[CONFIG], text_string(&config), config.length, NULL), 0);
    text_free(&config);
    const char *const argv[] = {"/usr/sbin/sshd", "-D", "-e", "-f", lab->path[CONFIG], NULL};
    assert_int_equal(process_start(&lab->sshd, argv, PROCESS_ERR, NULL), 0);
}

static int setup(void **state)
{
    static const char *const names[] = {"host",        "client",      "known_hosts",
                                        "sshd_config", "wrong_hosts", "authorized"};
    static struct lab lab;
    if (access("/usr/sbin/sshd", X_OK) != 0)
        return 0; /* the tests are skipped */
    strcpy(lab.folder, "/tmp/test-ssh.XXXXXX");
    assert_non_null(mkdtemp(lab.folder));
    files_make_folders("/run/sshd", NULL); /* sshd requires it */
    for (size_t i = 0; i < 6; i++)
        snprintf(lab.path[i], sizeof lab.path[i], "%s/%s", lab.folder, names[i]);
    make_key(lab.path[HOST_KEY]);
    make_key(lab.path[CLIENT_KEY]);
    pin(lab.path[KNOWN], lab.path[HOST_KEY]);
    pin(lab.path[WRONG], lab.path[CLIENT_KEY]);
    start_sshd(&lab);
    *state = &lab;
    return 0;
}

static int teardown(void **state)
{
    struct lab *lab = *state;
    if (lab) {
        process_stop(&lab->sshd, NS_PER_S);
        files_remove_tree(lab->folder, NULL);
    }
    return 0;
}

static struct ssh_target target_of(const struct lab *lab)
{
    return (struct ssh_target){.host = S("127.0.0.1"),
                               .port = lab->port,
                               .identity = S(lab->path[CLIENT_KEY]),
                               .known_hosts = S(lab->path[KNOWN]),
                               .key_alias = S("lab-a"),
                               .own_config = true};
}

static struct ssh_session *open_session(const struct lab *lab)
{
    struct ssh_target t = target_of(lab);
    struct error e = {""};
    struct ssh_session *s = ssh_open("a", &t, 10 * NS_PER_S, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

#define NEEDS_SSHD(lab) \
    if (!(lab))         \
    skip()

static void commands_run_with_their_words(void **state)
{
    struct lab *lab = *state;
    NEEDS_SSHD(lab);
    struct ssh_session *s = open_session(lab);
    struct text out = {0}, err = {0};
    struct error e;
    const char *const argv[] = {
        "sh", "-c", "printf '%s|' \"$@\"; cat; echo oops >&2; exit 3", "x", "it's", "a  b", "", NULL};
    assert_int_equal(ssh_run(s, argv, "in", &out, &err, 10 * NS_PER_S, &e), 3);
    assert_string_equal(text_string(&out), "it's|a  b||in");
    /* before that, what the shell's start-up files complain of on this machine */
    assert_non_null(strstr(text_string(&err), "oops\n"));
    assert_int_equal(ssh_must(s, argv, "in", NULL, 10 * NS_PER_S, &e), -1);
    assert_non_null(strstr(e.text, "running sh on host a: exit status 3: "));
    assert_non_null(strstr(e.text, "oops"));
    text_free(&out);
    text_free(&err);
    ssh_close(s);
}

static void files_arrive_whole_with_their_mode(void **state)
{
    struct lab *lab = *state;
    NEEDS_SSHD(lab);
    struct ssh_session *s = open_session(lab);
    char bytes[100000], remote[160];
    struct error e;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    snprintf(remote, sizeof remote, "%s/it's here", lab->folder);
    assert_int_equal(ssh_put_bytes(s, bytes, sizeof bytes, remote, 0750, 10 * NS_PER_S, &e), 0);
    size_t length;
    char *back = files_read(remote, 1 << 20, &length, &e);
    assert_int_equal(length, sizeof bytes);
    assert_memory_equal(back, bytes, length);
    assert_int_equal(access(remote, X_OK), 0);
    free(back);
    assert_int_equal(ssh_put_bytes(s, "x", 1, "/nowhere/file", 0600, 10 * NS_PER_S, &e), -1);
    assert_non_null(strstr(e.text, "copying /nowhere/file to host a"));
    ssh_close(s);
}

static void a_wrong_host_key_is_refused_at_once(void **state)
{
    struct lab *lab = *state;
    NEEDS_SSHD(lab);
    struct ssh_target t = target_of(lab);
    struct error e;
    t.known_hosts = lab->path[WRONG];
    assert_null(ssh_open("a", &t, 3600 * NS_PER_S, &e)); /* waiting would take the hour */
    assert_non_null(strstr(e.text, "Host key verification failed"));
}

static void nobody_there_is_said(void **state)
{
    struct lab *lab = *state;
    NEEDS_SSHD(lab);
    struct ssh_target t = target_of(lab);
    struct error e;
    t.port = free_port();
    assert_null(
        ssh_open("a", &t, 3600 * NS_PER_S, &e)); /* a host that is no guest is not waited for so long */
    assert_non_null(strstr(e.text, "connecting to host a"));
    assert_non_null(strstr(e.text, "Connection refused"));
}

static void a_cut_connection_is_told_from_a_failed_command(void **state)
{
    struct lab *lab = *state;
    NEEDS_SSHD(lab);
    struct ssh_session *s = open_session(lab);
    struct text out = {0};
    struct error e;
    /* the parent of the remote shell is the sshd that serves this connection */
    const char *const argv[] = {"sh", "-c", "kill -9 $PPID; sleep 5", NULL};
    assert_int_equal(ssh_run(s, argv, NULL, &out, NULL, 10 * NS_PER_S, &e), -1);
    assert_non_null(strstr(e.text, "the ssh connection to host a (127.0.0.1) has ended"));
    assert_false(ssh_alive(s, &e));
    text_free(&out);
    ssh_close(s);
}

/* With a program that was killed on the host, and with a cut connection, ssh gets no exit status. */
static void a_cut_connection_is_told_from_a_killed_program(void **state)
{
    static const char *const kill_itself[] = {"sh", "-c", "kill -9 $$", NULL};
    static const char *const cut[] = {"sh", "-c", "kill -9 $PPID; sleep 5", NULL};
    struct lab *lab = *state;
    NEEDS_SSHD(lab);
    for (int i = 0; i < 5; i++) {
        struct ssh_session *s = open_session(lab);
        struct text out = {0};
        struct process p;
        struct error e = {""};
        assert_int_equal(ssh_run(s, kill_itself, NULL, &out, NULL, 10 * NS_PER_S, &e), 255);
        assert_false(ssh_ended(s, 10 * NS_PER_S, &e));
        assert_int_equal(ssh_start(s, cut, PROCESS_IN | PROCESS_OUT | PROCESS_ERR, &p, &e), 0);
        assert_int_equal(process_wait(&p, 10 * NS_PER_S, &(int){0}, &e), 1);
        assert_true(ssh_ended(s, 10 * NS_PER_S, &e));
        assert_non_null(strstr(e.text, "the ssh connection to host a (127.0.0.1) has ended"));
        process_stop(&p, 0);
        text_free(&out);
        ssh_close(s);
    }
}

static void odd_host_names_are_no_options(void **state)
{
    (void)state;
    struct ssh_target t = {.host = S("-oProxyCommand=touch /tmp/x")};
    struct error e;
    assert_null(ssh_open("a", &t, NS_PER_S, &e));
    assert_non_null(strstr(e.text, "is not a name or address that ssh accepts"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shell_reads_what_was_quoted),
        cmocka_unit_test(command_words_stay_words),
        cmocka_unit_test(guests_are_pinned),
        cmocka_unit_test(a_machine_on_the_way_is_the_users),
        cmocka_unit_test(hosts_of_the_user_keep_his_configuration),
        cmocka_unit_test(commands_run_with_their_words),
        cmocka_unit_test(files_arrive_whole_with_their_mode),
        cmocka_unit_test(a_wrong_host_key_is_refused_at_once),
        cmocka_unit_test(nobody_there_is_said),
        cmocka_unit_test(a_cut_connection_is_told_from_a_failed_command),
        cmocka_unit_test(a_cut_connection_is_told_from_a_killed_program),
        cmocka_unit_test(odd_host_names_are_no_options),
    };
    return cmocka_run_group_tests_name("ssh", tests, setup, teardown);
}
