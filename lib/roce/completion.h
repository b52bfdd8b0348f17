/* The status of a work completion: its name, and what it usually means. */
#ifndef LIB_COMPLETION_H
#define LIB_COMPLETION_H

/* By the number of enum ibv_wc_status (rdma-core, libibverbs/verbs.h): "IBV_WC_RETRY_EXC_ERR". */
const char *completion_name(int status);
/* Its meaning and what to check. */
const char *completion_cause(int status);

#endif
