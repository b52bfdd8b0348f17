/* The congestion controls that a scenario can name. To add one, add its lines here and a file in sim/congestion. */
#ifndef LIB_CONGESTION_CONTROL_H
#define LIB_CONGESTION_CONTROL_H

/* The first is the default. X(name): the row is congestion_<name>. */
#define CONGESTION_CONTROLS(X) \
    X(dcqcn)                   \
    X(dcqcn_vwin)              \
    X(hpcc)                    \
    X(dctcp)                   \
    X(timely)                  \
    X(timely_vwin)             \
    X(none)

#define CONGESTION_CONTROL_NAME(name) #name,

/* The gauges of a flow, as columns CONTROL_FLOW_GAUGE. G(control, gauge, unit, meaning); read by counters.def, where the first that
 * matches counts: a name that begins with another's comes before it. */
#define CONGESTION_GAUGES(G)                                                    \
    G(dcqcn_vwin, rate, "b/s", "Rate that the reaction point allows the flow.") \
    G(dcqcn_vwin, alpha, "of 1024", "Alpha of the flow's reaction point.")      \
    G(dcqcn, rate, "b/s", "Rate that the reaction point allows the flow.")      \
    G(dcqcn, alpha, "of 1024", "Alpha of the flow's reaction point.")           \
    G(hpcc, rate, "b/s", "Rate that HPCC allows the flow.")                     \
    G(hpcc, utilization, "of 1024",                                             \
      "Bytes in flight at the flow's most loaded link, relative "               \
      "to its bandwidth-delay product (U).")                                    \
    G(dctcp, rate, "b/s", "Rate that DCTCP allows the flow.")                   \
    G(dctcp, alpha, "of 1024", "Average marked share of the flow's packets.")   \
    G(timely_vwin, rate, "b/s", "Rate that TIMELY allows the flow.")            \
    G(timely_vwin, rtt, "ns", "Round-trip time at the flow's last update.")     \
    G(timely, rate, "b/s", "Rate that TIMELY allows the flow.")                 \
    G(timely, rtt, "ns", "Round-trip time at the flow's last update.")

#endif
