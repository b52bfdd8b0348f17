/* What the virtual ConnectX writes into its driver's memory, and that it writes nothing else. Pages that follow one another in a key or
 * queue are not neighbours in memory here: a write that goes on behind its page changes what belongs to somebody else. */
#include "tests/unit/virtual-connectx/vcx_pair.h"

#define CANARY  0xa5
#define BEGIN   0xa80 /* of the data in the first page: not aligned to anything that a page could be */
#define MESSAGE 4096u

/* The pages of a key, in its order; none stands behind the one before it. */
static const int scattered[] = {SIDE_DATA + 3, SIDE_DATA + 11, SIDE_DATA + 7, SIDE_DATA + 1};
enum { SCATTERED = VCX_COUNT(scattered) };

static uint32_t create_scattered_key(struct side *s)
{
    uint8_t *context = vcx_at(s->in, create_mkey_in, memory_key_mkey_entry),
            *list = vcx_at(s->in, create_mkey_in, klm_pas_mtt);
    vcx_set(context, mkc, access_mode_1_0, 1);
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, lw, 1);
    vcx_set(context, mkc, rr, 1);
    vcx_set(context, mkc, rw, 1);
    vcx_set(context, mkc, mkey_7_0, 0x77);
    vcx_set(context, mkc, log_page_size, 12);
    vcx_set(context, mkc, start_addr, DATA_AT);
    vcx_set(context, mkc, len, SCATTERED * VCX_PAGE_BYTES);
    vcx_set(context, mkc, pd, s->pd);
    vcx_set(s->in, create_mkey_in, translations_octword_actual_size, SCATTERED / 2);
    for (int i = 0; i < SCATTERED; i++)
        vcx_put64(list + 8 * i, SIDE_PAGE_AT(scattered[i]));
    side_ok(s, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt) + 8 * SCATTERED, 16);
    return (uint32_t)vcx_get(s->out, create_mkey_out, mkey_index) << 8 | 0x77;
}

/* The byte of a side's memory at an offset of the scattered key. */
static uint8_t *scattered_byte(struct side *s, uint32_t offset)
{
    return side_page(s, scattered[offset / VCX_PAGE_BYTES]) + offset % VCX_PAGE_BYTES;
}

/* The bytes of the key from `begin` on are those of `data`, and all others of the side's data pages are canaries. */
static void expect_only(struct side *s, uint32_t begin, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t *at = scattered_byte(s, begin + i);
        assert_int_equal(*at, data[i]);
        *at = CANARY;
    }
    for (uint32_t i = 0; i < DATA_BYTES; i++)
        if (side_data(s)[i] != CANARY)
            fail_msg("page %u, byte 0x%x was changed and is not the device's to write", i / VCX_PAGE_BYTES,
                     i % VCX_PAGE_BYTES);
}

static void a_write_by_a_key_ends_with_its_page(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[1];
    uint32_t key = create_scattered_key(s);
    struct vcx_rights rights = {.pd = s->pd};
    uint8_t data[3 * VCX_PAGE_BYTES], back[sizeof data];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
    static const struct {
        uint32_t begin, bytes;
    } cases[] = {{0, 4096}, {4095, 2}, {BEGIN, MESSAGE}, {4000, 8200}, {1, 3 * VCX_PAGE_BYTES}};
    for (size_t i = 0; i < VCX_COUNT(cases); i++) {
        memset(side_data(s), CANARY, DATA_BYTES);
        memset(back, CANARY, sizeof back);
        assert_true(vcx_mkey_write(&s->device, rights, key, VCX_REMOTE_WRITE, DATA_AT + cases[i].begin, data,
                                   cases[i].bytes));
        assert_true(vcx_mkey_read(&s->device, rights, key, VCX_REMOTE_READ, DATA_AT + cases[i].begin, back,
                                  cases[i].bytes));
        assert_memory_equal(back, data, cases[i].bytes);
        for (size_t j = cases[i].bytes; j < sizeof back; j++)
            assert_int_equal(back[j], CANARY);
        expect_only(s, cases[i].begin, data, cases[i].bytes);
    }
    pair_close(pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_write_by_a_key_ends_with_its_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
