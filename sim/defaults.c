/* Defaults of the configuration, and the arithmetic that a caller needs to fill it. */
#include "sim/sim.h"

void sim_settings_defaults(struct sim_settings *s, const struct physics_nic *nic)
{
    *s = (struct sim_settings){.mtu_bytes = 1500, .cable_mm = 7000, .buffer_bytes = {nic->port_buffer_bytes}};
    congestion_values_clear(&s->congestion);
    dcqcn_defaults(&s->dcqcn);
    dcqcn_merge(&s->dcqcn, &nic->dcqcn);
    if (nic->byte_reset_bytes != FIELD_UNSET)
        s->dcqcn.rp.rpg_byte_reset = nic->byte_reset_bytes;
    s->congestion_control = sim_congestion_control("dcqcn");
}

void sim_host_defaults(struct sim_host_config *h)
{
    h->name = "host";
    (void)table_defaults(&physics_nic_table, &h->nic);
    (void)table_defaults(&physics_pcie_table, &h->pcie);
    for (int i = 0; i < SIM_MEMORIES; i++)
        (void)table_defaults(&physics_memory_table, &h->memories[i]);
    (void)table_defaults(&physics_software_table, &h->software);
    sim_settings_defaults(&h->settings, &h->nic);
}

void sim_flow_defaults(struct sim_flow_config *f)
{
    *f = (struct sim_flow_config){.name = "flow",
                                  .message_bytes = 65536,
                                  .queue_pairs = 1,
                                  .depth = 128,
                                  .stop_ps = SIM_FOREVER,
                                  .after = -1};
}

void sim_config_defaults(struct sim_config *c)
{
    *c = (struct sim_config){.seed = 1, .udp_destination_port = 4791};
    (void)table_defaults(&physics_framing_table, &c->framing);
}

int64_t sim_cable_delay_ps(int64_t length_mm)
{
    return length_mm * 5;
}

int32_t sim_infiniband_mtu(int64_t link_mtu_bytes)
{
    /* GRH or IP 40, UDP 8, BTH 12, XRC 4, atomic extended header 28, ICRC 4 */
    int64_t room = link_mtu_bytes - 96;
    int32_t mtu = 4096;
    while (mtu > 256 && mtu > room)
        mtu /= 2;
    return mtu <= room ? mtu : 0;
}
