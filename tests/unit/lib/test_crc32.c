#include "tests/unit/unit.h"

#include "lib/crc32.h"

/* The definition: one bit after another. */
static uint32_t bit_by_bit(uint32_t crc, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return crc;
}

static void is_that_of_ieee_802_3(void **state)
{
    (void)state;
    assert_int_equal((uint32_t)~crc32_continue(UINT32_MAX, "123456789", 9), 0xcbf43926); /* its check value */
}

static void every_length_and_place(void **state)
{
    uint8_t bytes[40];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 0x9d + 0x35);
    for (size_t from = 0; from < 8; from++)
        for (size_t length = 0; from + length <= sizeof bytes; length++)
            assert_int_equal(crc32_continue(0x1234567, bytes + from, length),
                             bit_by_bit(0x1234567, bytes + from, length));
}

/* In parts it is that of the whole. */
static void goes_on(void **state)
{
    static const uint8_t bytes[] = "a frame in two parts, of lengths that are no multiple of four";
    uint32_t whole = bit_by_bit(UINT32_MAX, bytes, sizeof bytes);
    (void)state;
    for (size_t i = 0; i <= sizeof bytes; i++)
        assert_int_equal(crc32_continue(crc32_continue(UINT32_MAX, bytes, i), bytes + i, sizeof bytes - i),
                         whole);
}

static void over_zeros(void **state)
{
    static const uint8_t zeros[65535];
    (void)state;
    for (uint32_t length = 0; length <= sizeof zeros; length += length < 300 ? 1 : 6523)
        assert_int_equal(crc32_zeros(0x89abcdef, length), crc32_continue(0x89abcdef, zeros, length));
    assert_int_equal(crc32_zeros(1, sizeof zeros), crc32_continue(1, zeros, sizeof zeros));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_that_of_ieee_802_3),
        cmocka_unit_test(every_length_and_place),
        cmocka_unit_test(goes_on),
        cmocka_unit_test(over_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
