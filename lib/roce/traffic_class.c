#include "lib/roce/traffic_class.h"
#include <stdio.h>
#include <string.h>

int traffic_class_forced(const char *text)
{
    const char *at = strstr(text, "Global tclass=");
    int value;
    return at && sscanf(at, "Global tclass=%d", &value) == 1 && value >= 0 && value <= 255 ? value : -1;
}
