/* The traffic class that MLNX_OFED's mlx5_ib forces on all queue pairs of a port. */
#ifndef LIB_TRAFFIC_CLASS_H
#define LIB_TRAFFIC_CLASS_H

/* From the text of /sys/class/infiniband/DEV/tc/PORT/traffic_class: 0 to 255 with a line "Global tclass=N";
 * -1 without one, as in the file that is empty until a class is set. Lines of other forms are rules for
 * single destinations. */
int traffic_class_forced(const char *text);

#endif
