/* Journals: what is recorded, and what a journal means that is cut, changed, or of another version. */
#include "tests/unit/unit.h"

#include "nic-config/journal.h"
#include "lib/files.h"
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char *make_folder(void)
{
    char *folder = strdup("/tmp/nic-config-journal.XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static json_t *mtu(int value)
{
    return json_pack("{s:i}", "mtu", value);
}

static void note(struct journal *j, int before, int after)
{
    struct error e = {""};
    json_t *old = mtu(before), *new = mtu(after);
    assert_int_equal(journal_begin(j, 2000, &e), 0);
    assert_int_equal(journal_note_before(j, "eth1", "0000:41:00.0", 7, "02:00:00:00:00:01", old, NULL, &e),
                     0);
    assert_int_equal(journal_note_write(j, "eth1", "mtu", new, &e), 0);
    json_decref(old);
    json_decref(new);
}

static void journal_lives(void **state)
{
    char *folder = make_folder(), *path = files_join(folder, "deep/journal");
    struct journal j, other;
    struct error e = {""};
    (void)state;
    assert_int_equal(journal_open(&j, path, true, &e), 0);
    assert_false(j.begun);
    note(&j, 1500, 4200);
    assert_true(journal_unfinished(&j, "eth1", "mtu"));
    assert_int_equal(journal_open(&other, path, false, &e), -1);
    assert_non_null(strstr(e.text, "another nic-config is running"));
    journal_close(&other);
    journal_close(&j);

    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_true(j.begun);
    assert_false(j.rebooted);
    assert_true(journal_unfinished(&j, "eth1", "mtu"));
    note(&j, 4200, 9000); /* the first state stays */
    assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
    assert_false(journal_unfinished(&j, "eth1", "mtu"));
    const json_t *before =
        json_object_get(json_object_get(json_object_get(j.before, "eth1"), "settings"), "mtu");
    assert_int_equal(json_integer_value(before), 1500);
    assert_int_equal(json_integer_value(json_object_get(journal_last(&j, "eth1", "mtu"), "mtu")), 9000);
    assert_int_equal(journal_remove(&j, &e), 0);
    assert_false(files_exist(path));
    journal_close(&j);

    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_false(j.begun);
    journal_close(&j);
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
}

/* A journal as text; the caller frees. */
static char *text_of(const char *path, size_t *length)
{
    struct error e = {""};
    char *text = files_read(path, 1 << 20, length, &e);
    if (!text)
        fail_msg("%s", e.text);
    return text;
}

static void write_text(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

/* A whole journal with a set of two interfaces; the caller frees. */
static char *whole_journal(size_t *length)
{
    char *folder = make_folder(), *path = files_join(folder, "journal");
    struct journal j;
    struct error e = {""};
    assert_int_equal(journal_open(&j, path, true, &e), 0);
    note(&j, 1500, 4200);
    assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
    assert_int_equal(journal_note_done(&j, &e), 0);
    journal_close(&j);
    char *text = text_of(path, length);
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
    return text;
}

/* Parse a copy, so that reading beyond the end is seen; the caller closes. */
static void parse(struct journal *j, const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    journal_init(j, "journal");
    journal_parse(j, copy, length);
    free(copy);
}

static const char *first_damage(const struct journal *j)
{
    const char *sentence = json_string_value(json_array_get(j->damage, 0));
    return sentence ? sentence : "";
}

/* What is taken of a damaged journal must be what was in the whole one. */
static void assert_certain(const struct journal *j)
{
    const json_t *before = json_object_get(json_object_get(j->before, "eth1"), "settings");
    assert_true(!before || json_integer_value(json_object_get(before, "mtu")) == 1500);
    const json_t *last = journal_last(j, "eth1", "mtu");
    assert_true(!last || json_integer_value(json_object_get(last, "mtu")) == 4200);
}

/* A record that was cut by a crash has the room behind it; what follows must not have its rest behind it. */
static void torn_record(void **state)
{
    char *folder = make_folder(), *path = files_join(folder, "journal");
    struct journal j;
    struct error e = {""};
    (void)state;
    assert_int_equal(journal_open(&j, path, true, &e), 0);
    note(&j, 1500, 4200);
    size_t end = j.end;
    assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
    assert_int_equal(pwrite(j.fd, "  ", 2, (off_t)j.end - 2), 2);
    journal_close(&j);
    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_string_equal(first_damage(&j), "");
    assert_int_equal(j.end, end);
    assert_true(journal_unfinished(&j, "eth1", "mtu"));
    assert_int_equal(journal_note_done(&j, &e), 0);
    journal_close(&j);
    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_string_equal(first_damage(&j), "");
    assert_true(j.done);
    journal_close(&j);
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
}

/* Wherever a journal is cut, that is known, and what was taken is right. */
static void every_cut_is_known(void **state)
{
    size_t length;
    char *text = whole_journal(&length);
    struct journal j;
    (void)state;
    parse(&j, text, length);
    assert_string_equal(first_damage(&j), "");
    journal_close(&j);
    for (size_t cut = 0; cut < length; cut++) {
        parse(&j, text, cut);
        if (json_array_size(j.damage) == 0)
            fail_msg("the journal of %zu bytes was cut to %zu, which nothing says", length, cut);
        assert_certain(&j);
        journal_close(&j);
    }
    free(text);
}

/* Whatever byte is changed, that is known, and what was taken is right. */
static void every_change_is_known(void **state)
{
    static const char others[] = {'\n', ' ', '{', 'A', '0', '\0', '\x80'};
    size_t length;
    char *text = whole_journal(&length);
    size_t end = (size_t)(strrchr(text, '\n') - text) + 1;
    struct journal j;
    (void)state;
    for (size_t at = 0; at < length; at++)
        for (size_t i = 0; i < sizeof others; i++) {
            char byte = text[at];
            if (byte == others[i])
                continue;
            text[at] = others[i];
            parse(&j, text, length);
            /* the first byte of the room may be that of a record that was cut: all others are there then */
            if (json_array_size(j.damage) == 0 && !(at == end && j.done))
                fail_msg("byte %zu was changed from 0x%02x to 0x%02x, which nothing says", at, byte,
                         others[i]);
            assert_certain(&j);
            journal_close(&j);
            text[at] = byte;
        }
    free(text);
}

/* A line that is missing, twice, or in another place. */
static void records_are_counted(void **state)
{
    size_t length;
    char *text = whole_journal(&length), *mixed = malloc(2 * length);
    const char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1;
    size_t first_size = (size_t)(second - text), second_size = (size_t)(third - second),
           rest = length - first_size - second_size;
    struct journal j;
    (void)state;
    assert_non_null(mixed);
    memcpy(mixed, text, first_size);
    memcpy(mixed + first_size, third, rest);
    memset(mixed + first_size + rest, ' ', second_size);
    parse(&j, mixed, length);
    assert_non_null(strstr(first_damage(&j), "before line 2: 1 records are missing"));
    assert_int_equal(json_array_size(j.damage), 2);
    assert_non_null(strstr(json_string_value(json_array_get(j.damage, 1)), "settings of eth1 were written"));
    journal_close(&j);
    memcpy(mixed, text, first_size + second_size);
    memcpy(mixed + first_size + second_size, second, rest + second_size);
    parse(&j, mixed, length + second_size);
    assert_non_null(strstr(first_damage(&j), "line 3: it is record 2, but comes after record 2"));
    journal_close(&j);
    /* the largest number there is: the next cannot be counted */
    char record[200], line[250];
    snprintf(record, sizeof record, "%lld {\"type\":\"done\"}", LLONG_MAX);
    int size = snprintf(line, sizeof line, "%08x %s\n%08x 1 {\"type\":\"done\"}\n",
                        journal_crc(record, strlen(record)), record,
                        journal_crc("1 {\"type\":\"done\"}", strlen("1 {\"type\":\"done\"}")));
    parse(&j, line, (size_t)size);
    assert_non_null(strstr(first_damage(&j), "line 1: it has no number"));
    assert_true(j.records <= 2);
    journal_close(&j);
    free(mixed);
    free(text);
}

/* Records of many rounds need no more of the disk than was taken at the start; more than foreseen is
 * announced in the journal. */
static void room_is_taken_first(void **state)
{
    char *folder = make_folder(), *path = files_join(folder, "journal");
    struct journal j;
    struct error e = {""};
    struct stat first, later;
    json_t *settings = mtu(1500);
    (void)state;
    assert_int_equal(journal_open(&j, path, true, &e), 0);
    assert_int_equal(journal_begin(&j, 100 * (journal_size_of(settings) + JOURNAL_RECORD_BYTES), &e), 0);
    assert_int_equal(fstat(j.fd, &first), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(journal_note_write(&j, "eth1", "mtu", settings, &e), 0);
        assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
    }
    assert_int_equal(fstat(j.fd, &later), 0);
    assert_int_equal(later.st_size, first.st_size);
    assert_int_equal(later.st_blocks, first.st_blocks);
    while (j.end <= (size_t)first.st_size)
        assert_int_equal(journal_note_write(&j, "eth1", "mtu", settings, &e), 0);
    assert_int_equal(journal_note_before(&j, "eth1", "", 7, "", settings, NULL, &e), 0);
    journal_close(&j);
    size_t length;
    char *text = text_of(path, &length);
    assert_true(length > (size_t)first.st_size);
    parse(&j, text, length);
    assert_string_equal(first_damage(&j), "");
    journal_close(&j);
    parse(&j, text, (size_t)first.st_size + 10);
    assert_non_null(strstr(first_damage(&j), "cut off"));
    journal_close(&j);
    json_decref(settings);
    free(text);
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
}

/* Journals of versions without checksums are read, and continued in their own form. */
static void old_journals(void **state)
{
    static const char old[] =
        "{\"type\":\"begin\"}\n"
        "{\"type\":\"before\",\"interface\":\"eth1\",\"pci\":\"\",\"settings\":{\"mtu\":1500}}\n"
        "{\"type\":\"write\",\"interface\":\"eth1\",\"knob\":\"mtu\",\"settings\":{\"mtu\":4200}}\n"
        "{\"type\":\"written\",\"interf";
    char *folder = make_folder(), *path = files_join(folder, "journal");
    struct journal j;
    struct error e = {""};
    (void)state;
    write_text(path, old, sizeof old - 1);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(journal_open(&j, path, false, &e), 0);
        assert_true(j.old);
        assert_string_equal(first_damage(&j), "");
        assert_certain(&j);
        assert_true(journal_unfinished(&j, "eth1", "mtu") == (turn == 0));
        assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
        journal_close(&j);
    }
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
}

static void strange_journals(void **state)
{
    static const char *const bad[][2] = {
        {"{\"type\":\"begin\"}\nrubbish\n", "line 2"},
        {"{\"kind\":\"begin\"}\n", "line 1: a record has no type"},
        {"{\"type\":\"begin\"}\n{\"type\":\"write\",\"knob\":\"mtu\"}\n", "does not name an interface"},
        {"{\"type\":\"begin\"}\n{\"type\":\"erase\",\"interface\":\"eth1\"}\n", "unknown record \"erase\""},
        {"rubbish\n", "line 1: its checksum is wrong"},
        {"", "its first record is missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct journal j;
        parse(&j, bad[i][0], strlen(bad[i][0]));
        if (!strstr(first_damage(&j), bad[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", first_damage(&j), bad[i][1]);
        journal_close(&j);
    }
}

/* Room is on the disk as spaces before the first record is: a crash leaves no zeros. */
static void zeros(void **state)
{
    static const char nothing[1 << 16];
    struct journal j;
    (void)state;
    parse(&j, nothing, sizeof nothing);
    assert_non_null(strstr(first_damage(&j), "the end of the journal was changed"));
    journal_close(&j);
}

/* The check value of CRC-32 in the catalogues of CRCs. */
static void checksum(void **state)
{
    (void)state;
    assert_int_equal(journal_crc("123456789", 9), 0xcbf43926u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(journal_lives),
                                       cmocka_unit_test(torn_record),
                                       cmocka_unit_test(every_cut_is_known),
                                       cmocka_unit_test(every_change_is_known),
                                       cmocka_unit_test(records_are_counted),
                                       cmocka_unit_test(room_is_taken_first),
                                       cmocka_unit_test(old_journals),
                                       cmocka_unit_test(strange_journals),
                                       cmocka_unit_test(zeros),
                                       cmocka_unit_test(checksum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
