/* The path MTU of InfiniBand, from Ethernet's. */
#include "lib/roce/path_mtu.h"

int32_t roce_path_mtu(int64_t link_mtu_bytes)
{
    /* GRH or IP 40, UDP 8, BTH 12, XRC 4, atomic extended header 28, ICRC 4 */
    int64_t room = link_mtu_bytes - 96;
    int32_t mtu = 4096;
    while (mtu > 256 && mtu > room)
        mtu /= 2;
    return mtu <= room ? mtu : 0;
}
