/* The traffic tools that a flow or a collective can name. To add one: its name here, and a file in
 * harness/traffic (traffic_tool.h, collective_tool.h). */
#ifndef LIB_TRAFFIC_TOOLS_H
#define LIB_TRAFFIC_TOOLS_H

/* The first runs flows that name none. X(name): the row is traffic_tool_<name>. */
#define TRAFFIC_TOOLS(X) X(roce) X(perftest)

/* The same for collectives. X(name, word): the row is collective_tool_<name>, and a scenario says word. */
#define COLLECTIVE_TOOLS(X) X(nccl_tests, "nccl-tests")

/* The TCP port on which roce-traffic serve listens, unless told otherwise. */
#define ROCE_TRAFFIC_PORT 18525

#endif
