/* How a virtual ConnectX is known by its board's name (board_id, PSID): docs/virtual-connectx.md. */
#ifndef LIB_VIRTUAL_BOARD_H
#define LIB_VIRTUAL_BOARD_H

#include <stdbool.h>
#include <string.h>

#define VIRTUAL_BOARD "VCX" /* how it begins: virtual-connectx/model */

static inline bool is_virtual_board(const char *board)
{
    return strncmp(board, VIRTUAL_BOARD, strlen(VIRTUAL_BOARD)) == 0;
}

#endif
