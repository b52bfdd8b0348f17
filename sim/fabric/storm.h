#ifndef SIM_STORM_H
#define SIM_STORM_H

#include "sim/fabric/fabric.h"
#include "sim/model.h"

struct storm {
    int64_t stop_ps;
    uint32_t port, event;
    uint8_t classes;
};

int storms_build(struct sim *sim, const struct sim_config *config, struct error *e);

#endif
