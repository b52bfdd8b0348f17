#include "lib/roce/mlx5.h"

#include <stdio.h>
#include <string.h>

bool is_virtual_board(const char *board)
{
    return strncmp(board, VIRTUAL_BOARD, strlen(VIRTUAL_BOARD)) == 0;
}

int traffic_class_forced(const char *text)
{
    const char *at = strstr(text, "Global tclass=");
    int value;
    return at && sscanf(at, "Global tclass=%d", &value) == 1 && value >= 0 && value <= 255 ? value : -1;
}
