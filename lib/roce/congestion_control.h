/* The congestion controls that a scenario can name. To add one, add its lines here and a file in sim/congestion. */
#ifndef LIB_CONGESTION_CONTROL_H
#define LIB_CONGESTION_CONTROL_H

/* The first is the default. X(name): the row is congestion_<name>. */
#define CONGESTION_CONTROLS(X) \
    X(dcqcn)                   \
    X(none)

#define CONGESTION_CONTROL_NAME(name) #name,

/* The gauges of a flow, as columns CONTROL_FLOW_GAUGE. G(control, gauge, unit, meaning); read by counters.def. */
#define CONGESTION_GAUGES(G)                                               \
    G(dcqcn, rate, "b/s", "Rate that the reaction point allows the flow.") \
    G(dcqcn, alpha, "of 1024", "Alpha of the flow's reaction point.")

#endif
