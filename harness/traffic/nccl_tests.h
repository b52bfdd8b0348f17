/* What a program of nccl-tests prints: the ranks, a row for each size, and two sums. The formats are those of
 * versions 2.13 to 2.19 (PRINT in src/common.cu, from 2.17.4 on in src/util.cu). */
#ifndef HARNESS_NCCL_TESTS_H
#define HARNESS_NCCL_TESTS_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_TESTS_WORD 16
#define NCCL_TESTS_NAME 64

/* One half of a row: out of place, or in place. GB are 10^9 bytes. */
struct nccl_tests_figures {
    double time_us, algbw_GBps, busbw_GBps;
    int64_t wrong; /* elements; -1: not checked ("N/A") */
};

struct nccl_tests_row {
    int64_t bytes, count;
    char type[NCCL_TESTS_WORD], reduction[NCCL_TESTS_WORD];
    int64_t root; /* -1: the operation has none */
    struct nccl_tests_figures out_of_place, in_place;
};

struct nccl_tests_rank {
    int64_t rank, device;
    char host[NCCL_TESTS_NAME], gpu[NCCL_TESTS_NAME];
};

struct nccl_tests_output {
    struct nccl_tests_row *rows;
    size_t row_count;
    struct nccl_tests_rank *ranks;
    size_t rank_count;
    bool ranks_cut;   /* the program lists no more for want of room */
    char version[32]; /* of nccl-tests: "2.17.9"; "" before 2.17.4, which do not say it */
    int64_t nccl_version, nccl_built_with; /* codes: 22105 is 2.21.5; 0: not said */
    int64_t reduced_max_bytes; /* the largest size, where GPU memory has no room for more; 0: not reduced */
    int64_t out_of_bounds;     /* sizes with wrong elements */
    double average_busbw_GBps; /* of all rows, both halves */
};

/* Read it from all that was printed, which may be anything. -1: there is no such table, more than one, or one
 * that cannot be what nccl-tests prints. Free with nccl_tests_output_free, also after a failure. */
int nccl_tests_read(const char *printed, size_t length, struct nccl_tests_output *out, struct error *e);
void nccl_tests_output_free(struct nccl_tests_output *out);
/* "2.21.5" of 22105, as NCCL_VERSION of nccl.h makes the code. */
void nccl_version_text(int64_t code, char *text, size_t size);

#endif
