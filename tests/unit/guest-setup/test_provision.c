/* Seeds and keys, profiles and records: what virt-provision writes before any guest is there. */
#include "guest-setup/rebuild/rebuild.h"
#include "guest-setup/rebuild/record.h"
#include "guest-setup/guest/seed.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/document/json_file.h"
#include "lib/process.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char scratch[64];
static struct lab lab;

static const char document[] =
    "{\"schema\":1,\"name\":\"t\",\"driver\":\"libvirt\",\"management\":{\"subnet\":\"198.51.100.0/"
    "26\"},\"hosts\":{"
    "\"a\":{\"domain\":\"t-a\",\"profile\":\"p\",\"nic\":{\"address\":\"10.0.0.1/24\"}},"
    "\"b\":{\"domain\":\"t-b\",\"profile\":\"p\"}},\"links\":[{\"between\":[\"a\",\"b\"],\"mtu\":4200}]}";

/* ---- reset */

/* What the command of reset prints and ends with, with a nic-config made of these lines; NULL: the guest has
 * none. */
static int restore_with(const char *script, struct error *e)
{
    char path[128];
    const char *words[6];
    struct text out = {0};
    snprintf(path, sizeof path, "%s/nic-config", scratch);
    unlink(path);
    if (script) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\n[ \"$*\" = restore ] || exit 9\n%s\n", script);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod(path, 0755), 0);
    }
    reset_nic_settings_command(path, words);
    int status = process_run(words, NULL, &out, NULL, 5 * NS_PER_S, e);
    int result = reset_nic_settings_result("a", status, text_string(&out), e);
    text_free(&out);
    return result;
}

static void settings_of_a_passed_through_nic_are_restored_before_a_reset(void **state)
{
    struct error e = {""};
    (void)state;
    assert_int_equal(restore_with("exit 0", &e), 0);
    assert_int_equal(restore_with(NULL, &e), 0);
    assert_int_equal(
        restore_with("echo '{\"ok\":false,\"error\":\"1 settings could not be restored\"}'; exit 3", &e), -1);
    assert_string_equal(e.text, "host a: nic-config restore exited with 3: 1 settings could not be restored");
    assert_int_equal(restore_with("echo broken; exit 1", &e), -1);
    assert_string_equal(e.text, "host a: nic-config restore exited with 1: it gave no reason");
}

static int setup(void **state)
{
    struct error e = {""};
    json_t *json = json_loads(document, 0, NULL), *whole = lab_expand(json, &e);
    (void)state;
    strcpy(scratch, "/tmp/test-seed.XXXXXX");
    assert_non_null(mkdtemp(scratch));
    setenv("XDG_STATE_HOME", scratch, 1);
    if (!whole || lab_parse(whole, NULL, &lab, &e) != 0)
        fail_msg("%s", e.text);
    json_decref(json);
    json_decref(whole);
    assert_int_equal(seed_lab_key(&lab, &e), 0);
    assert_int_equal(seed_host_key(&lab, lab_real_host(&lab, "a"), &e), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lab_free(&lab);
    return files_remove_tree(scratch, NULL);
}

static char *output_of(const char *const argv[])
{
    struct text out = {0};
    struct error e = {""};
    int status = process_run(argv, NULL, &out, NULL, 20 * NS_PER_S, &e);
    if (status != 0)
        fail_msg("%s: %d %s", argv[0], status, e.text);
    return text_take(&out);
}

/* ---- keys */

static void keys_are_kept_from_others(void **state)
{
    struct stat status;
    char *key = places_in_lab(&lab, "id_ed25519", NULL), *folder = places_lab(&lab, NULL);
    (void)state;
    assert_int_equal(stat(key, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    free(key);
    free(folder);
}

static void the_lab_key_stays_and_host_keys_change(void **state)
{
    char *lab_path = places_in_lab(&lab, "id_ed25519.pub", NULL), *before = files_read_line(lab_path, NULL);
    char *known = places_in_lab(&lab, "known_hosts", NULL);
    struct error e;
    (void)state;
    assert_int_equal(seed_pin(&lab, &e), 0);
    char *first = files_read(known, 4096, NULL, NULL);
    assert_int_equal(strncmp(first, "t-a ssh-ed25519 ", 16), 0);
    assert_null(strstr(first, "t-b ")); /* it has no key yet */
    assert_int_equal(seed_lab_key(&lab, &e), 0);
    assert_int_equal(seed_host_key(&lab, lab_real_host(&lab, "a"), &e), 0);
    assert_int_equal(seed_pin(&lab, &e), 0);
    char *second = files_read(known, 4096, NULL, NULL), *after = files_read_line(lab_path, NULL);
    assert_string_not_equal(first, second);
    assert_string_equal(before, after);
    free(first);
    free(second);
    free(before);
    free(after);
    free(known);
    free(lab_path);
}

/* ---- seeds */

static void a_tar_seed_has_files_at_their_places(void **state)
{
    struct profile profile = {.seed = SEED_TAR, .user = (char *)(uintptr_t) "root"};
    struct error e = {""};
    char *path = seed_make(&lab, lab_real_host(&lab, "a"), &profile, &e);
    (void)state;
    if (!path)
        fail_msg("%s", e.text);
    const char *const list[] = {"tar", "-tvf", path, NULL}, *const network[] = {"tar", "-xOf", path,
                                                                                "etc/lab/network", NULL};
    char *files = output_of(list), *lines = output_of(network);
    assert_non_null(strstr(files, "-rw------- 0/0"));
    assert_non_null(strstr(files, " etc/ssh/ssh_host_ed25519_key\n"));
    assert_non_null(strstr(files, " root/.ssh/authorized_keys\n"));
    assert_null(strstr(files, " ./"));      /* nothing that would change / or */
    assert_null(strstr(files, " root/\n")); /* a folder that the guest has */
    assert_null(strstr(files, " etc/\n"));
    assert_non_null(strstr(lines, " mgmt0 198.51.100.11/26 -\n"));
    assert_non_null(strstr(lines, " data0 10.0.0.1/24 4200\n"));
    free(files);
    free(lines);
    free(path);
}

static json_t *from_iso(const char *iso, const char *name)
{
    char inside[64], outside[128];
    snprintf(inside, sizeof inside, "/%s", name);
    snprintf(outside, sizeof outside, "%s/%s", scratch, name);
    const char *const argv[] = {"xorriso",  "-osirrox", "on",    "-indev", iso,
                                "-extract", inside,     outside, NULL};
    struct text out = {0}, err = {0};
    assert_int_equal(process_run(argv, NULL, &out, &err, 20 * NS_PER_S, NULL), 0);
    text_free(&out);
    text_free(&err);
    char *text = files_read(outside, 65536, NULL, NULL);
    const char *json = text && strncmp(text, "#cloud-config\n", 14) == 0 ? text + 14 : text;
    json_t *value = json_loads(json, 0, NULL);
    assert_non_null(value);
    free(text);
    return value;
}

static void a_cloud_init_seed_is_read_as_one(void **state)
{
    struct profile profile = {.seed = SEED_CLOUD_INIT, .user = (char *)(uintptr_t) "rocky"};
    struct error e = {""};
    (void)state;
    if (access("/usr/bin/xorriso", X_OK) != 0)
        skip();
    char *path = seed_make(&lab, lab_real_host(&lab, "a"), &profile, &e);
    if (!path)
        fail_msg("%s", e.text);
    const char *const label[] = {"blkid", "-p", "-o", "value", "-s", "LABEL", path, NULL};
    char *name = output_of(label);
    assert_string_equal(name, "cidata\n");
    json_t *user = from_iso(path, "user-data"), *network = from_iso(path, "network-config"),
           *meta = from_iso(path, "meta-data");
    assert_true(json_is_false(json_object_get(user, "ssh_pwauth")));
    assert_non_null(
        strstr(json_string_value(json_object_get(json_object_get(user, "ssh_keys"), "ed25519_private")),
               "BEGIN OPENSSH PRIVATE KEY"));
    json_t *first = json_array_get(json_object_get(user, "users"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "rocky");
    assert_int_equal(json_array_size(json_object_get(first, "ssh_authorized_keys")), 1);
    json_t *ports = json_object_get(network, "ethernets");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(json_object_get(ports, "mgmt0"), "addresses"), 0)),
        "198.51.100.11/26");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(ports, "data0"), "mtu")), 4200);
    assert_string_equal(json_string_value(json_object_get(meta, "local-hostname")), "a");
    json_decref(user);
    json_decref(network);
    json_decref(meta);
    free(name);
    free(path);
}

/* ---- profiles and records */

static void an_image_has_one_source(void **state)
{
    struct profile p;
    struct error e;
    (void)state;
    static const char head[] = "{\"schema\":1,\"name\":\"p\",\"boot\":\"disk\",\"seed\":\"tar\",\"image\":";
    static const struct {
        const char *image, *says;
    } cases[] = {
        {"{\"of\":\"debian-12-softroce\"}}", NULL},
        {"{\"of\":\"../softroce\"}}", "image.of"},
        {"{\"of\":\"q\",\"url\":\"https://host/i\",\"sha256\":\""
         "0123456789012345678901234567890123456789012345678901234567890123\"}}",
         "has both url and of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", head, cases[i].image);
        json_t *json = json_loads(text, 0, NULL);
        int result = table_parse(&profile_table, json, &p, &e);
        json_decref(json);
        assert_int_equal(result, cases[i].says ? -1 : 0);
        if (cases[i].says)
            assert_non_null(strstr(e.text, cases[i].says));
        else
            table_free(&profile_table, &p);
    }
}

static void the_profile_has_its_steps_in_order(void **state)
{
    struct profile p;
    struct error e = {""};
    (void)state;
    if (profile_load("debian-12-softroce", NULL, &p, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(p.boot, BOOT_KERNEL);
    assert_int_equal(p.step_count, 2);
    assert_string_equal(p.steps[0].name, "10-programs");
    assert_int_equal(profile_find_step(&p, "links", &e), 1);
    assert_int_equal(profile_find_step(&p, "10-programs", &e), 0);
    assert_int_equal(profile_find_step(&p, "nothing", &e), -1);
    profile_free(&p);
}

static void a_step_with_another_text_is_to_do_again(void **state)
{
    char name[] = "10-x";
    struct profile_step step = {.name = name, .hash = "1111111111111111"};
    const struct lab_host *b = lab_real_host(&lab, "b");
    struct record r;
    struct error e;
    double seconds;
    (void)state;
    char *folder = places_of_host(&lab, b, NULL, &e);
    assert_int_equal(files_make_folders(folder, &e), 0);
    free(folder);
    assert_int_equal(record_open(&lab, b, &r, &e), 0);
    assert_false(record_step_done(&r, &step));
    record_step(&r, &step, 1.5, "bytes \xff that are no text");
    assert_true(record_step_done(&r, &step));
    record_step(&r, &step, 1.5, "version 1");
    record_set_complete(&r, true);
    assert_int_equal(record_save(&r, &e), 0);
    record_free(&r);
    assert_int_equal(record_open(&lab, b, &r, &e), 0);
    assert_true(record_complete(&r));
    assert_string_equal(record_step_found(&r, &step, &seconds), "version 1");
    strcpy(step.hash, "2222222222222222");
    assert_false(record_step_done(&r, &step));
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_of_a_passed_through_nic_are_restored_before_a_reset),
        cmocka_unit_test(keys_are_kept_from_others),
        cmocka_unit_test(the_lab_key_stays_and_host_keys_change),
        cmocka_unit_test(a_tar_seed_has_files_at_their_places),
        cmocka_unit_test(a_cloud_init_seed_is_read_as_one),
        cmocka_unit_test(the_profile_has_its_steps_in_order),
        cmocka_unit_test(an_image_has_one_source),
        cmocka_unit_test(a_step_with_another_text_is_to_do_again),
    };
    return cmocka_run_group_tests_name("provision", tests, setup, teardown);
}
