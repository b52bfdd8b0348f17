/* Bytes that may be anything, as text for people, as JSON and in errors: utf8, visible, print, json_text,
 * error. */
#include "tests/unit/unit.h"

#include "lib/document/json_text.h"
#include "lib/error.h"
#include "lib/output/print.h"
#include "lib/output/visible.h"
#include <math.h>

/* ---- UTF-8 */

static void only_valid_characters_are_characters(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
        uint32_t character;
    } cases[] = {
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xdf\xbf", 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xee\x80\x80", 3, 0xe000},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\x80", 0, 0},             /* a byte that continues */
        {"\xff", 0, 0},             /* never a byte of UTF-8 */
        {"\xc0\x80", 0, 0},         /* longer than it must be */
        {"\xc1\xbf", 0, 0},         /* the same */
        {"\xe0\x9f\xbf", 0, 0},     /* the same */
        {"\xf0\x8f\xbf\xbf", 0, 0}, /* the same */
        {"\xed\xa0\x80", 0, 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0, 0}, /* above the last */
        {"\xe2\x82", 0, 0},         /* cut */
        {"\xe2x\x82", 0, 0},        /* interrupted */
        {"", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t character = 0;
        size_t count = utf8_character(cases[i].bytes, strlen(cases[i].bytes), &character);
        if (count != cases[i].count || (count && character != cases[i].character))
            fail_msg("case %zu: %zu bytes, U+%04X", i, count, (unsigned)character);
    }
}

static void a_cut_keeps_whole_characters(void **state)
{
    static const char words[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"; /* of 1, 2, 3, 4 and 1 bytes */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    (void)state;
    for (size_t room = 0; room < sizeof kept / sizeof *kept; room++)
        assert_int_equal(utf8_cut(words, strlen(words), room), kept[room]);
    assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

/* ---- what people see */

static void check_shown(const char *bytes, size_t length, enum visible kind, const char *expected)
{
    struct text shown = {0};
    visible_add(&shown, bytes, length, kind);
    assert_string_equal(text_string(&shown), expected);
    text_free(&shown);
}

static void what_a_terminal_would_execute_becomes_words(void **state)
{
    static const char bytes[] =
        "a\t\n\x1b[31m\x7f\xff\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xc3\xa4\\\r";
    (void)state;
    check_shown(bytes, sizeof bytes - 1, VISIBLE_TEXT,
                "a\t\n\\x1b[31m\\x7f\\xff\\u009b\\u202e\\u2066\\u2028\xc3\xa4\\\\x0d");
    check_shown(bytes, 4, VISIBLE_LINE, "a\\x09\\x0a\\x1b");
    check_shown("\x1b\xff\0\xe2\x82", 5, VISIBLE_UTF8, "\x1b\\xff\\x00\\xe2\\x82");
}

static void what_is_printed_is_visible(void **state)
{
    char *buffer = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&buffer, &size);
    print_to(out, "%-4s|%d\n", "\x1b", 7);
    print_bytes(out, "\xff\n", 2);
    fclose(out);
    assert_string_equal(buffer, "\\x1b   |7\n\\xff\n");
    free(buffer);
}

static void check_folded(const char *text, size_t at, size_t indent, size_t width, const char *expected)
{
    struct text out = {0};
    print_fold(&out, text, at, indent, width);
    assert_string_equal(text_string(&out), expected);
    text_free(&out);
}

static void lines_are_broken_at_spaces(void **state)
{
    (void)state;
    check_folded("one two three\n", 0, PRINT_HANGING, 0, "one two three\n");
    check_folded("one two three\n", 0, PRINT_HANGING, 13, "one two three\n");
    check_folded("one two three\n", 0, PRINT_HANGING, 12, "one two\n    three\n");
    check_folded("  a   b  c\nd e\n", 0, PRINT_HANGING, 7, "  a   b\n      c\nd e\n"); /* columns stay */
    check_folded("averylongword x\n", 0, PRINT_HANGING, 5, "averylongword\n    x\n");
    check_folded("one two\n", 8, 10, 14, "one\n          two\n");
    check_folded(" two\nthree four\n", 9, PRINT_HANGING, 12, "\n      two\nthree four\n");
    check_folded("\xc3\xa4\xc3\xa4 \xc3\xb6\n", 0, PRINT_HANGING, 4,
                 "\xc3\xa4\xc3\xa4 \xc3\xb6\n"); /* characters */
    check_folded("no end of", 0, PRINT_HANGING, 6, "no end\n    of");
    check_folded("", 3, PRINT_HANGING, 2, "");
}

/* ---- errors */

static void an_error_is_text(void **state)
{
    struct error e;
    (void)state;
    error_set(&e, "found \"%s\"", "\xff\x1b");
    assert_string_equal(e.text, "found \"\\xff\\x1b\"");
    error_prefix(&e, "%s", "\x80");
    assert_string_equal(e.text, "\\x80: found \"\\xff\\x1b\"");
    error_set(&e, "again: %s", e.text); /* its own words */
    assert_string_equal(e.text, "again: \\x80: found \"\\xff\\x1b\"");
}

static void check_whole(const struct error *e)
{
    json_t *value = json_string(e->text); /* NULL if it is not UTF-8 */
    assert_non_null(value);
    json_decref(value);
    assert_null(strchr(e->text, '\\')); /* no part of a character was made visible */
}

static void a_long_error_is_cut_between_characters(void **state)
{
    static const char *const characters[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t before = 0; before < 4; before++) {
            struct text long_words = {0};
            struct error e;
            text_add(&long_words, "%.*s", (int)before, "aaaa");
            for (size_t j = 0; j < sizeof e.text; j++)
                text_add(&long_words, "%s", characters[i]);
            error_set(&e, "%s", text_string(&long_words));
            check_whole(&e);
            assert_in_range(strlen(e.text), sizeof e.text - 4, sizeof e.text - 1);
            error_prefix(&e, "%.*s", (int)before + 1, "bbbb");
            check_whole(&e);
            text_free(&long_words);
        }
}

/* ---- JSON */

static void any_bytes_make_a_string(void **state)
{
    (void)state;
    json_t *value = json_text("\xff\n\x1b\xc3\xa4");
    assert_string_equal(json_string_value(value), "\\xff\n\x1b\xc3\xa4");
    json_decref(value);
    value = json_textn("a\0b\xe2\x82", 5);
    assert_string_equal(json_string_value(value), "a\\x00b\\xe2\\x82");
    json_decref(value);
    value = json_textf("%s %d", "\xfe", 5);
    assert_string_equal(json_string_value(value), "\\xfe 5");
    json_decref(value);
    assert_null(json_text(NULL));
    json_t *object = json_object();
    assert_int_equal(json_put(object, "\xff", json_true()), 0);
    assert_true(json_is_true(json_object_get(object, "\\xff")));
    json_decref(object);
}

static void check_dump(json_t *value, const char *expected)
{
    char *words = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(words ? words : "(none)", expected);
    free(words);
    json_decref(value);
}

static void a_format_makes_what_jansson_makes(void **state)
{
    static const char format[] =
        "{s:s, s:i,s:I,s:b,s:f,s:{s:[s,i,[]],s:{}},s:n,s:s%,s:o,s:O,s:s?,s:s*,s:o*,s:o?}";
    (void)state;
    const char *none = NULL;
    json_t *kept = json_integer(9), *nothing = NULL;
#define ARGUMENTS                                                                                          \
    "a", "b", "c", -1, "d", (json_int_t)1 << 40, "e", 1, "f", 0.5, "g", "h", "x", 2, "i", "j", "k", "lmn", \
        (size_t)2, "o", json_true(), "p", kept, "q", none, "r", none, "s", nothing, "t", nothing
    json_t *theirs = json_pack(format, ARGUMENTS), *ours = json_make(format, ARGUMENTS);
    assert_non_null(theirs);
    assert_true(json_equal(theirs, ours));
    json_decref(theirs);
    json_decref(ours);
    json_decref(kept);
    check_dump(json_make("[s,o,f,f,s]", none, nothing, (double)NAN, (double)INFINITY, "\xff"),
               "[null,null,null,null,\"\\\\xff\"]");
    check_dump(json_make("{s:s}", "\x80", "\x81"), "{\"\\\\x80\":\"\\\\x81\"}");
    assert_null(json_make("{s:x}", "a"));
    assert_null(json_make("{s", "a"));
    assert_null(json_make("[i", 1));
}

/* In a script of a page: no end of the script, no comment of HTML, no line separator, and the same value. */
static void json_for_pages(void **state)
{
    struct text page = {0};
    json_t *value = json_text("</script><!-- & \xe2\x80\xa8\xe2\x80\xa9 \x7f \" \\ \xff"), *again;
    (void)state;
    json_add_for_page(&page, value);
    for (const char *c = text_string(&page); *c; c++)
        assert_true(*c >= ' ' && *c < 0x7f && !strchr("<>&", *c));
    again = json_loads(text_string(&page), JSON_DECODE_ANY, NULL);
    assert_true(json_equal(value, again));
    json_decref(again);
    json_decref(value);
    text_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_valid_characters_are_characters),
        cmocka_unit_test(a_cut_keeps_whole_characters),
        cmocka_unit_test(what_a_terminal_would_execute_becomes_words),
        cmocka_unit_test(what_is_printed_is_visible),
        cmocka_unit_test(lines_are_broken_at_spaces),
        cmocka_unit_test(an_error_is_text),
        cmocka_unit_test(a_long_error_is_cut_between_characters),
        cmocka_unit_test(any_bytes_make_a_string),
        cmocka_unit_test(a_format_makes_what_jansson_makes),
        cmocka_unit_test(json_for_pages),
    };
    return cmocka_run_group_tests_name("visible", tests, NULL, NULL);
}
