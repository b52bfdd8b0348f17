/* Bundles of versions: the image they name, and packages on their way to a guest - over an sshd of our own on
 * loopback. */
#include "guest-setup/guest/profile.h"
#include "guest-setup/rebuild/packages.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define BIG_BYTES (5 << 20) /* more than a pipe and ssh's windows hold */

/* ---- the image */

static void a_bundle_names_its_image(void **state)
{
    (void)state;
    /* the second is the first with other patches: its image is the first's */
    static const char *const names[] = {"rocky-9.5-570.133.20", "rocky-9.5-570.133.20-published"};
    for (size_t i = 0; i < 2; i++) {
        struct profile_image image = {0};
        struct error e = {""};
        assert_int_equal(bundle_image(names[i], &image.url, &image.sha256, &e), 0);
        assert_non_null(strstr(image.url, "Rocky-9-GenericCloud-Base-9.5-20241118.0.x86_64.qcow2"));
        assert_string_equal(image.sha256, "069493fdc807300a22176540e9171fcff2227a92b40a7985a0c1c9e21aeebf57");
        free(image.url);
        free(image.sha256);
    }
}

static void other_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "", "..", ".hidden", "/etc/passwd", "../../labs/soft-pair"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct profile_image image = {0};
        struct error e = {""};
        assert_int_equal(bundle_image(names[i], &image.url, &image.sha256, &e), -1);
        assert_non_null(strstr(e.text, "bundle"));
        assert_null(image.url);
        assert_null(image.sha256);
    }
}

static void a_profile_takes_its_bundles_image(void **state)
{
    (void)state;
    struct profile p;
    struct error e = {""};
    assert_int_equal(profile_load("rocky-9.5-rdma", NULL, &p, &e), 0);
    assert_string_equal(p.bundle.name, "rocky-9.5-570.133.20");
    assert_int_equal(p.bundle.rdma_only, 1);
    assert_non_null(p.image.url);
    assert_null(p.prove);
    profile_free(&p);
    assert_int_equal(profile_load("rocky-9.5-gpudirect", "rocky-9.5-570.133.20-published", &p, &e), 0);
    assert_string_equal(p.bundle.name, "rocky-9.5-570.133.20-published");
    assert_string_equal(p.prove, "guest-setup/host/prove-path");
    profile_free(&p);
    assert_int_equal(profile_load("rocky-9.5-gpudirect", "none", &p, &e), -1);
    assert_int_equal(profile_load("debian-12-softroce", "rocky-9.5-570.133.20", &p, &e), -1);
    assert_non_null(strstr(e.text, "installs no bundle"));
}

/* ---- packages onto a guest */

struct place {
    char folder[40], served[64], to[64];
    struct process sshd;
    struct context context;
    struct lab_host host;
    struct profile profile;
    struct guest guest;
};

static void run(const char *line)
{
    const char *const argv[] = {"sh", "-c", line, NULL};
    assert_int_equal(process_run(argv, NULL, NULL, NULL, 30 * NS_PER_S, NULL), 0);
}

static int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&a, &length), 0);
    close(s);
    return ntohs(a.sin_port);
}

static void write_big(const char *path)
{
    char *bytes = malloc(BIG_BYTES);
    assert_non_null(bytes);
    for (size_t i = 0; i < BIG_BYTES; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    assert_int_equal(files_write_atomic(path, bytes, BIG_BYTES, NULL), 0);
    free(bytes);
}

static void open_guest(struct place *p)
{
    char line[400], identity[64], known[64];
    struct error e = {""};
    int port = free_port();
    snprintf(line, sizeof line,
             "cd %s && ssh-keygen -q -t ed25519 -N '' -f key && cp key.pub authorized && echo \"lab-a $(cat "
             "key.pub)\" > known",
             p->folder);
    run(line);
    snprintf(
        line, sizeof line,
        "printf 'Port %d\\nListenAddress 127.0.0.1\\nHostKey %s/key\\nAuthorizedKeysFile "
        "%s/authorized\\nStrictModes "
        "no\\nPidFile none\\nKexAlgorithms curve25519-sha256\\nUsePAM no\\nSetEnv HOME=%s\\n' > %s/config",
        port, p->folder, p->folder, p->folder, p->folder); /* without what the user's shell does */
    run(line);
    snprintf(line, sizeof line, "%s/config", p->folder);
    const char *const argv[] = {"/usr/sbin/sshd", "-D", "-e", "-f", line, NULL};
    assert_int_equal(process_start(&p->sshd, argv, PROCESS_ERR, &e), 0);
    snprintf(identity, sizeof identity, "%s/key", p->folder);
    snprintf(known, sizeof known, "%s/known", p->folder);
    char host[] = "127.0.0.1", alias[] = "lab-a";
    struct ssh_target target = {.host = host,
                                .port = port,
                                .identity = identity,
                                .known_hosts = known,
                                .key_alias = alias,
                                .own_config = true};
    for (int i = 0; i < 50 && !p->guest.ssh; i++) {
        p->guest.ssh = ssh_open("a", &target, 5 * NS_PER_S, &e);
        if (!p->guest.ssh)
            usleep(100000);
    }
    if (!p->guest.ssh)
        fail_msg("%s", e.text);
}

static int setup(void **state)
{
    static struct place p;
    static char name[] = "a";
    if (access("/usr/sbin/sshd", X_OK) != 0 || getuid() != 0)
        return 0; /* the tests that need it skip themselves */
    strcpy(p.folder, "/tmp/test-bundle.XXXXXX");
    assert_non_null(mkdtemp(p.folder));
    files_make_folders("/run/sshd", NULL); /* sshd wants it */
    snprintf(p.served, sizeof p.served, "%s/served", p.folder);
    snprintf(p.to, sizeof p.to, "%s/on the guest", p.folder);
    p.host.name = name;
    p.profile.served = p.served;
    p.profile.step_ns = 30 * NS_PER_S;
    p.guest = (struct guest){.context = &p.context, .host = &p.host, .profile = &p.profile, .log = tmpfile()};
    open_guest(&p);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    if (p) {
        ssh_close(p->guest.ssh);
        process_stop(&p->sshd, NS_PER_S);
        fclose(p->guest.log);
        files_remove_tree(p->folder, NULL);
    }
    return 0;
}

#define NEEDS_SSHD(p)                                 \
    if (!(p)) {                                       \
        print_message("no sshd here, or not root\n"); \
        skip();                                       \
    }

static void make_served(struct place *p, const char *sums)
{
    char path[120];
    snprintf(path, sizeof path, "%s/driver", p->served);
    assert_int_equal(files_make_folders(path, NULL), 0);
    snprintf(path, sizeof path, "%s/driver/big.rpm", p->served);
    write_big(path);
    snprintf(path, sizeof path, "%s/SHA256SUMS", p->served);
    assert_int_equal(files_write_atomic(path, sums, strlen(sums), NULL), 0);
}

static ino_t inode(const char *folder, const char *name)
{
    char path[160];
    struct stat s = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &s) == 0 ? s.st_ino : 0;
}

static void packages_arrive_once(void **state)
{
    struct place *p = *state;
    struct error e = {""};
    char line[200];
    NEEDS_SSHD(p);
    make_served(p, "first\n");
    assert_int_equal(packages_serve(&p->guest, p->to, &e), 0);
    snprintf(line, sizeof line, "diff -r '%s' '%s'", p->served, p->to);
    run(line);
    ino_t before = inode(p->to, "driver/big.rpm");
    assert_int_equal(packages_serve(&p->guest, p->to, &e), 0);
    assert_int_equal(inode(p->to, "driver/big.rpm"), before);
    /* another content: all of it anew, and nothing of the old left */
    snprintf(line, sizeof line, "touch '%s/old'", p->to);
    run(line);
    make_served(p, "second\n");
    assert_int_equal(packages_serve(&p->guest, p->to, &e), 0);
    assert_int_equal(inode(p->to, "old"), 0);
    assert_int_not_equal(inode(p->to, "SHA256SUMS"), 0);
}

static void a_guest_that_cannot_take_them_is_said(void **state)
{
    struct place *p = *state;
    struct error e = {""};
    NEEDS_SSHD(p);
    make_served(p, "third\n");
    assert_int_equal(packages_serve(&p->guest, "/dev/null/packages", &e), -1);
    assert_int_equal(strncmp(e.text, "unpacking the packages for host a failed", 40), 0);
    assert_true(ssh_alive(p->guest.ssh, &e));
}

static void packages_that_are_not_there_are_said(void **state)
{
    struct place *p = *state;
    struct error e = {""};
    NEEDS_SSHD(p);
    files_remove_tree(p->served, NULL);
    assert_int_equal(packages_serve(&p->guest, p->to, &e), -1);
    assert_int_equal(strncmp(e.text, "packing the packages for host a failed", 38), 0);
}

static void an_interrupted_rebuild_stops_sending(void **state)
{
    struct place *p = *state;
    struct error e = {""};
    NEEDS_SSHD(p);
    make_served(p, "fourth\n");
    atomic_store(&p->context.cancelled, true);
    assert_int_equal(packages_serve(&p->guest, p->to, &e), -1);
    assert_non_null(strstr(e.text, "interrupted"));
    atomic_store(&p->context.cancelled, false);
    assert_int_equal(packages_serve(&p->guest, p->to, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bundle_names_its_image),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(a_profile_takes_its_bundles_image),
        cmocka_unit_test(packages_arrive_once),
        cmocka_unit_test(a_guest_that_cannot_take_them_is_said),
        cmocka_unit_test(packages_that_are_not_there_are_said),
        cmocka_unit_test(an_interrupted_rebuild_stops_sending),
    };
    return cmocka_run_group_tests_name("bundle", tests, setup, teardown);
}
