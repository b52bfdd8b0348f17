/* The reaction point's parameters, as the driver writes them by one command. */
#ifndef VCX_TEST_REACTION_H
#define VCX_TEST_REACTION_H

#include "virtual-connectx/tests/unit/vcx_pair.h"

/* A parameter's bit of field_select, its place in the command's block, and mlx5's default. */
/* clang-format off */
#define REACTION_PARAMETERS(ROW)                                                                        \
    ROW(1, clamp_tgt_rate, 0) ROW(2, clamp_tgt_rate_after_time_inc, 1) ROW(3, rpg_time_reset, 300)      \
    ROW(4, rpg_byte_reset, 32767) ROW(5, rpg_threshold, 1) ROW(6, rpg_max_rate, 0)                      \
    ROW(7, rpg_ai_rate, 5) ROW(8, rpg_hai_rate, 50) ROW(9, rpg_min_dec_fac, 50) ROW(10, rpg_min_rate, 1) \
    ROW(11, rate_to_set_on_first_cnp, 0) ROW(12, dce_tcp_g, 1019) ROW(13, dce_tcp_rtt, 1)               \
    ROW(14, rate_reduce_monitor_period, 4) ROW(15, initial_alpha_value, 1023) ROW(16, rpg_gd, 11)
/* clang-format on */

#define REACTION_MEMBER(bit, name, standard) uint32_t name;
struct reaction {
    REACTION_PARAMETERS(REACTION_MEMBER)
};

#define REACTION_STANDARD(bit, name, standard) .name = (standard),
static const struct reaction reaction_standard = {REACTION_PARAMETERS(REACTION_STANDARD)};

static inline enum vcx_status reaction_set(struct side *s, const struct reaction *values)
{
    uint8_t *block = vcx_at(s->in, modify_cong_params_in, congestion_parameters);
#define REACTION_SET(bit, name, standard) vcx_set(block, cong_control_r_roce_ecn_rp, name, values->name);
    REACTION_PARAMETERS(REACTION_SET)
    vcx_set(s->in, modify_cong_params_in, cong_protocol, 1);
    vcx_put32(vcx_at(s->in, modify_cong_params_in, field_select), 0x1fffe);
    return side_run(s, 0x825, vcx_offset(modify_cong_params_in, congestion_parameters) + 256, 16);
}

#endif
