/* Starting and stopping domains on libvirt's built-in test driver, connection errors, events, locks. */
#include "remote/reach.h"
#include "remote/mark.h"
#include "remote/locks.h"
#include "remote/places.h"
#include "remote/virt.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char scratch[64];

/* ---- domains */

static struct virt *open_test(void)
{
    struct error e = {""};
    struct virt *v = virt_open("test:///default", &e);
    if (!v)
        fail_msg("%s", e.text);
    return v;
}

static enum virt_state state_of(struct virt *v, const char *domain)
{
    enum virt_state state;
    struct error e;
    if (virt_domain_state(v, domain, &state, &e) != 0)
        fail_msg("%s", e.text);
    return state;
}

static void a_domain_lives(void **state)
{
    struct virt *v = open_test();
    struct error e = {""};
    (void)state;
    assert_int_equal(state_of(v, "test"), VIRT_RUNNING);
    assert_int_equal(virt_domain_start(v, "test", &e), 0); /* it is already running */
    assert_int_equal(virt_domain_stop(v, "test", NS_PER_S, &e), 0);
    assert_int_equal(state_of(v, "test"), VIRT_OFF);
    assert_int_equal(virt_domain_stop(v, "test", NS_PER_S, &e), 0);
    assert_int_equal(virt_domain_start(v, "test", &e), 0);
    assert_int_equal(state_of(v, "test"), VIRT_RUNNING);
    virDomainPtr domain = virDomainLookupByName(virt_connection(v), "test");
    assert_int_equal(virDomainSuspend(domain), 0);
    assert_int_equal(state_of(v, "test"), VIRT_PAUSED);
    assert_int_equal(virt_domain_start(v, "test", &e), 0);
    assert_int_equal(state_of(v, "test"), VIRT_RUNNING);
    virDomainFree(domain);
    virt_close(v);
}

static void an_absent_domain_is_no_surprise(void **state)
{
    struct virt *v = open_test();
    struct error e;
    (void)state;
    assert_int_equal(state_of(v, "nobody"), VIRT_ABSENT);
    assert_int_equal(virt_domain_stop(v, "nobody", 0, &e), 0);
    assert_int_equal(virt_domain_start(v, "nobody", &e), -1);
    assert_string_equal(
        e.text, "libvirt at test:///default has no domain nobody: create it with virt-provision rebuild");
    virt_close(v);
}

/* ---- events */

static bool wait_event(struct virt *v, struct virt_event *event)
{
    struct pollfd ready = {.fd = virt_event_fd(v), .events = POLLIN};
    return poll(&ready, 1, 3000) == 1 && virt_next_event(v, event);
}

static void a_destroyed_domain_is_noticed(void **state)
{
    struct virt *v = open_test();
    struct virt_event event;
    struct error e;
    (void)state;
    assert_int_equal(virt_watch(v, &e), 0);
    assert_false(virt_next_event(v, &event));
    virDomainPtr domain = virDomainLookupByName(virt_connection(v), "test");
    assert_int_equal(virDomainDestroy(domain), 0);
    virDomainFree(domain);
    assert_true(wait_event(v, &event));
    assert_string_equal(event.domain, "test");
    assert_string_equal(event.what, "was destroyed");
    assert_true(event.gone);
    assert_false(virt_next_event(v, &event));
    assert_int_equal(virt_domain_start(v, "test", &e), 0);
    assert_true(wait_event(v, &event));
    assert_string_equal(event.what, "started");
    assert_false(event.gone);
    virt_close(v);
}

static void many_connections_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct virt *v = open_test();
        assert_int_equal(virt_watch(v, NULL), 0);
        virDomainPtr domain = virDomainLookupByName(virt_connection(v), "test");
        virDomainDestroy(domain);
        virDomainFree(domain);
        virt_close(v); /* the event may still be on its way */
    }
}

/* ---- errors */

static void wrong_uris_are_told_apart(void **state)
{
    struct error e;
    (void)state;
    assert_null(virt_open("qemv:///system", &e));
    assert_non_null(strstr(e.text, "qemv:///system"));
    assert_non_null(strstr(e.text, "expected one such as qemu:///system"));
    assert_null(virt_open("qemu+unix:///system?socket=/nowhere/libvirt-sock", &e));
    assert_non_null(strstr(e.text, "does not answer"));
    assert_non_null(strstr(e.text, "guest-setup/soft-lab"));
}

static struct lab_host guest_host(const char *domain)
{
    return (struct lab_host){
        .name = (char *)(uintptr_t) "a", .domain = (char *)(uintptr_t)domain, .port = FIELD_UNSET};
}

static int kind(const char *name)
{
    return (int)(lab_kind_named(name) - lab_kinds);
}

static void a_foreign_domain_is_not_trusted(void **state)
{
    struct virt *v = open_test();
    struct lab_host host = guest_host("test");
    struct lab lab = {.name = (char *)(uintptr_t) "l", .driver = kind("libvirt"), .hosts = {&host, 1}};
    struct ssh_target target;
    struct error e;
    (void)state;
    assert_int_equal(virt_domain_target(v, &lab, &host, &target, &e), -1);
    assert_non_null(strstr(e.text, "domain test was not created by virt-provision"));
    assert_null(target.host);
    virt_close(v);
}

/* A domain with our mark is reached at the address in it, by the lab's keys. */
static void a_marked_domain_is_reached(void **state)
{
    struct virt *v = open_test();
    struct lab_host host = guest_host("ours");
    struct lab lab = {.name = (char *)(uintptr_t) "l", .driver = kind("libvirt"), .hosts = {&host, 1}};
    struct mark mark = {"l", "a", "root", "52:54:00:00:00:01", "198.51.100.11", 0};
    struct ssh_target target;
    struct error e = {""};
    char *xml = mark_xml(&mark), whole[1000], *key = places_in_lab(&lab, "id_ed25519", &e);
    (void)state;
    snprintf(whole, sizeof whole,
             "<domain "
             "type='test'><name>ours</name><metadata>%s</metadata><memory>65536</memory><os><type>hvm</"
             "type></os></domain>",
             xml);
    virDomainPtr domain = virDomainCreateXML(virt_connection(v), whole, 0);
    assert_non_null(domain);
    assert_int_equal(virt_domain_target(v, &lab, &host, &target, &e), -1);
    assert_non_null(strstr(e.text, "the lab's key "));
    key[strlen(key) - strlen("/id_ed25519")] = '\0';
    assert_int_equal(files_make_folders(key, &e), 0);
    key[strlen(key)] = '/';
    assert_int_equal(files_write_atomic(key, "k", 1, &e), 0);
    assert_int_equal(virt_domain_target(v, &lab, &host, &target, &e), 0);
    assert_string_equal(target.host, "198.51.100.11");
    assert_string_equal(target.key_alias, "l-a");
    assert_string_equal(target.identity, key);
    assert_true(target.own_config);
    ssh_target_free(&target);
    virDomainFree(domain);
    free(key);
    free(xml);
    virt_close(v);
}

/* ---- locks */

static struct lab lab_with(struct lab_host *hosts, size_t count, const char *name)
{
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; count > 1 && i < count; i++)
        hosts[i].name = (char *)(uintptr_t)names[i];
    return (struct lab){.name = (char *)(uintptr_t)name,
                        .driver = kind("libvirt"),
                        .uri = (char *)(uintptr_t) "qemu:///system",
                        .hosts = {hosts, count}};
}

static void one_at_a_time_also_across_labs(void **state)
{
    struct lab_host first[2] = {guest_host("vm00"), guest_host("vm01")}, second[1] = {guest_host("vm01")},
                    third[1] = {guest_host("vm02")};
    struct lab one = lab_with(first, 2, "one"), two = lab_with(second, 1, "two"),
               three = lab_with(third, 1, "three");
    struct error e = {""};
    (void)state;
    struct lab_lock *held = lab_lock(&one, "run pfc-bidir", &e);
    assert_non_null(held);
    assert_null(lab_lock(&two, "run x", &e));
    assert_non_null(strstr(e.text, "host a is in use by "));
    assert_non_null(strstr(e.text, "run pfc-bidir of lab one, by "));
    struct lab_lock *other = lab_lock(&three, "run x", &e);
    assert_non_null(other);
    lab_unlock(other);
    lab_unlock(held);
    held = lab_lock(&two, "run x", &e);
    assert_non_null(held);
    lab_unlock(held);
}

/* Ports of one address are forwarded to several hosts; 22 is what ssh takes by itself. */
static void a_port_tells_hosts_behind_one_address_apart(void **state)
{
    struct lab_host hosts[3] = {guest_host(NULL), guest_host(NULL), guest_host(NULL)};
    struct error e = {""};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        hosts[i].ssh = (char *)(uintptr_t) "root@gateway";
    hosts[0].port = 2201;
    hosts[1].port = 2202;
    hosts[2].port = 22;
    struct lab all = lab_with(hosts, 3, "all"), one = lab_with(&hosts[1], 1, "one"),
               plain = lab_with(&hosts[2], 1, "plain");
    struct lab_lock *held = lab_lock(&all, "run x", &e);
    assert_non_null(held);
    assert_null(lab_lock(&one, "run y", &e));
    hosts[2].port = FIELD_UNSET;
    assert_null(lab_lock(&plain, "run z", &e));
    assert_non_null(strstr(e.text, "root@gateway)"));
    lab_unlock(held);
}

static void a_plain_host_is_one_in_every_lab(void **state)
{
    struct lab_host plain[2] = {guest_host(NULL), guest_host(NULL)};
    struct error e = {""};
    (void)state;
    plain[0].ssh = (char *)(uintptr_t) "root@localhost";
    plain[1].ssh = (char *)(uintptr_t) "root@rack7";
    struct lab guests = lab_with(&plain[0], 1, "guests"), other = lab_with(&plain[1], 1, "other"),
               rack = lab_with(&plain[0], 1, "rack");
    rack.driver = kind("ssh");
    struct lab_lock *held = lab_lock(&guests, "run x", &e);
    assert_non_null(held);
    assert_null(lab_lock(&rack, "run y", &e));
    struct lab_lock *another = lab_lock(&other, "run z", &e);
    assert_non_null(another);
    lab_unlock(another);
    lab_unlock(held);
}

/* NICs of a machine that is reached in one way: it is locked once, by its name. */
static void a_machine_is_locked_once(void **state)
{
    struct lab_host nics[3] = {guest_host(NULL), guest_host(NULL), guest_host(NULL)};
    struct error e = {""};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        nics[i].ssh = (char *)(uintptr_t) "root@rack8";
    struct lab all = lab_with(nics, 2, "all"), one = lab_with(&nics[2], 1, "one");
    nics[0].machine = nics[1].machine = (char *)(uintptr_t) "rack8";
    struct lab_lock *held = lab_lock(&all, "run x", &e);
    assert_non_null(held);
    assert_null(lab_lock(&one, "run y", &e));
    lab_unlock(held);
    held = lab_lock(&one, "run y", &e);
    assert_non_null(held);
    assert_null(lab_lock(&all, "run x", &e));
    assert_non_null(strstr(e.text, "host rack8 is in use by "));
    lab_unlock(held);
    nics[1].machine = NULL;
    assert_null(lab_lock(&all, "run x", &e));
    assert_non_null(strstr(e.text,
                           "rack8 and b of lab all are one machine: a lab names each machine once, its NICs "
                           "in \"nics\"; or both hosts say the same \"machine\""));
}

static void a_killed_program_holds_nothing(void **state)
{
    struct lab_host hosts[1] = {guest_host("vm00")};
    struct lab lab = lab_with(hosts, 1, "one");
    struct error e = {""};
    int ready[2], status;
    char byte;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (lab_lock(&lab, "die", NULL) && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_null(lab_lock(&lab, "wait", &e));
    char pid[32];
    snprintf(pid, sizeof pid, "process %d,", (int)child);
    assert_non_null(strstr(e.text, pid));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    struct lab_lock *lock = lab_lock(&lab, "go on", &e);
    assert_non_null(lock);
    lab_unlock(lock);
    close(ready[0]);
    close(ready[1]);
}

static int setup(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/test-virt.XXXXXX");
    assert_non_null(mkdtemp(scratch));
    return setenv("XDG_STATE_HOME", scratch, 1);
}

static int teardown(void **state)
{
    (void)state;
    return files_remove_tree(scratch, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_domain_lives),
        cmocka_unit_test(an_absent_domain_is_no_surprise),
        cmocka_unit_test(a_destroyed_domain_is_noticed),
        cmocka_unit_test(many_connections_come_and_go),
        cmocka_unit_test(wrong_uris_are_told_apart),
        cmocka_unit_test(a_foreign_domain_is_not_trusted),
        cmocka_unit_test(a_marked_domain_is_reached),
        cmocka_unit_test(one_at_a_time_also_across_labs),
        cmocka_unit_test(a_port_tells_hosts_behind_one_address_apart),
        cmocka_unit_test(a_plain_host_is_one_in_every_lab),
        cmocka_unit_test(a_machine_is_locked_once),
        cmocka_unit_test(a_killed_program_holds_nothing),
    };
    return cmocka_run_group_tests_name("virt", tests, setup, teardown);
}
