// SPDX-License-Identifier: GPL-2.0
/*
 * testdevlink: gives an existing network interface (a guest's virtio_net) a devlink device with mlx5's
 * enable_roce, so that a program which changes it can be tried through a real kernel. A reload takes the
 * value over and, as a driver that begins anew, sets the MTU back to 1500 and the interface down. There is no
 * RoCE behind it.
 *
 *   insmod testdevlink.ko netdev=data1
 *   cat /sys/module/testdevlink/parameters/roce          what the last reload took over
 *   echo 16 > /sys/module/testdevlink/parameters/fail    reloads fail with errno 16 from now on; 0 ends it
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/devlink.h>

static char *netdev = "data1";
static bool roce = true;
static int reloads, fail;

static struct net_device *device;
static struct devlink *devlink;
static struct devlink_port port;

module_param(netdev, charp, 0444);
module_param(roce, bool, 0444);
module_param(reloads, int, 0444);
module_param(fail, int, 0644);

static int reload_down(struct devlink *d, bool netns, enum devlink_reload_action action,
                       enum devlink_reload_limit limit, struct netlink_ext_ack *ack)
{
    return -fail;
}

static int reload_up(struct devlink *d, enum devlink_reload_action action, enum devlink_reload_limit limit,
                     u32 *performed, struct netlink_ext_ack *ack)
{
    union devlink_param_value value;
    int result = devlink_param_driverinit_value_get(d, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE, &value);

    if (result)
        return result;
    roce = value.vbool;
    reloads++;
    *performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
    rtnl_lock();
    dev_set_mtu(device, ETH_DATA_LEN);
    dev_close(device);
    rtnl_unlock();
    return 0;
}

static const struct devlink_ops ops = {
    .reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
    .reload_down = reload_down,
    .reload_up = reload_up,
};

static const struct devlink_param parameters[] = {
    DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL, NULL),
};

static int add_port(void)
{
    struct devlink_port_attrs attributes = {.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL};
    int result;

    devlink_port_attrs_set(&port, &attributes);
    result = devlink_port_register(devlink, &port, 0);
    if (!result)
        devlink_port_type_eth_set(&port, device);
    return result;
}

static int add_parameters(void)
{
    union devlink_param_value value = {.vbool = true};
    int result = devlink_params_register(devlink, parameters, ARRAY_SIZE(parameters));

    if (!result)
        result = devlink_param_driverinit_value_set(devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE, value);
    return result;
}

static int __init testdevlink_init(void)
{
    int result = -ENOMEM;

    device = dev_get_by_name(&init_net, netdev);
    if (!device || !device->dev.parent) {
        pr_err("testdevlink: no interface \"%s\" with a device\n", netdev);
        if (device)
            dev_put(device);
        return -ENODEV;
    }
    devlink = devlink_alloc(&ops, sizeof(long), device->dev.parent);
    if (!devlink)
        goto put;
    result = add_parameters();
    if (result)
        goto free;
    result = add_port();
    if (result)
        goto parameters;
    devlink_set_features(devlink, DEVLINK_F_RELOAD);
    devlink_register(devlink);
    return 0;
parameters:
    devlink_params_unregister(devlink, parameters, ARRAY_SIZE(parameters));
free:
    devlink_free(devlink);
put:
    dev_put(device);
    return result;
}

static void __exit testdevlink_exit(void)
{
    devlink_unregister(devlink);
    devlink_port_unregister(&port);
    devlink_params_unregister(devlink, parameters, ARRAY_SIZE(parameters));
    devlink_free(devlink);
    dev_put(device);
}

module_init(testdevlink_init);
module_exit(testdevlink_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("devlink enable_roce for an existing interface, for tests");
