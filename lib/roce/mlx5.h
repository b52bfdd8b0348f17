/* What mlx5 NICs and the virtual ConnectX say of themselves in sysfs. */
#ifndef LIB_MLX5_H
#define LIB_MLX5_H

#include <stdbool.h>

#define VIRTUAL_BOARD "VCX" /* how the name of a virtual ConnectX's board begins: virtual-connectx/model */

/* Is this the name of a virtual ConnectX's board (board_id, PSID)? docs/virtual-connectx.md */
bool is_virtual_board(const char *board);

/* The traffic class that MLNX_OFED's mlx5_ib forces on all queue pairs of a port, from the text of
 * /sys/class/infiniband/DEV/tc/PORT/traffic_class: 0 to 255 with a line "Global tclass=N"; -1 without one, as
 * in the file that is empty until a class is set. Lines of other forms are rules for single destinations. */
int traffic_class_forced(const char *text);

#endif
