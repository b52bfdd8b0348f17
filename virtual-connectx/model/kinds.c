// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Every kind of object: how many there may be, and what ends one. QUERY_HCA_CAP's limits are read from
 * here. */
#include "virtual-connectx/model/object.h"

#include "virtual-connectx/model/command/domains.h"
#include "virtual-connectx/model/ethernet/flow.h"
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/queue/eq.h"
#include "virtual-connectx/model/queue/mkey.h"
#include "virtual-connectx/model/transport/transport.h"

const struct vcx_kind_of_object *const vcx_kinds[VCX_KINDS] = {
    [VCX_PD] = &vcx_kind_pd,
    [VCX_TRANSPORT_DOMAIN] = &vcx_kind_transport_domain,
    [VCX_XRCD] = &vcx_kind_xrcd,
    [VCX_UAR] = &vcx_kind_uar,
    [VCX_COUNTER_SET] = &vcx_kind_counter_set,
    [VCX_EQ] = &vcx_kind_eq,
    [VCX_CQ] = &vcx_kind_cq,
    [VCX_MKEY] = &vcx_kind_mkey,
    [VCX_SQ] = &vcx_kind_sq,
    [VCX_RQ] = &vcx_kind_rq,
    [VCX_RQT] = &vcx_kind_rqt,
    [VCX_TIS] = &vcx_kind_tis,
    [VCX_TIR] = &vcx_kind_tir,
    [VCX_FLOW_TABLE] = &vcx_kind_flow_table,
    [VCX_FLOW_GROUP] = &vcx_kind_flow_group,
    [VCX_FLOW_COUNTER] = &vcx_kind_flow_counter,
    [VCX_QP] = &vcx_kind_qp,
    [VCX_SRQ] = &vcx_kind_srq,
};
