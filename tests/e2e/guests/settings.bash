# shellcheck shell=bash disable=SC2034  # the parts of documents are the tests'
# What the tests of nic-config in guests share: the switch lab with links of 1500 bytes, documents, the test modules. Source it after
# softlab.bash.

KERNEL=
HEADERS=
MODULES=$SOFTLAB_DIR/settings-modules

say() { echo "{\"schema\":1,\"interfaces\":$1}"; }

# The settings of a host, and those of a congestion point.
host_part='"mtu": 4200, "rx_ring": 8192, "tx_ring": 2048, "rx_coalesce_us": 32, "rx_coalesce_frames": 64,
    "rx_pause": false, "tx_pause": false, "pfc": [0, 3], "prio_to_buffer": {"0": 1, "3": 1}, "buffer_bytes": [65536, 114944],
    "cable": "1m", "dscp_to_prio": {"26": 3, "48": 6}, "pfc_stall_ms": 100, "ets": {"prio_to_tc": {"3": 1}, "weights": [40, 60]}'
switch_part='"mtu": 4200, "roce": false, "bridge": "br-cp", "red": {"limit": "1000000B", "min": "30000B", "max": "150000B",
    "avpkt": "1000B", "burst": 50, "bandwidth": "20Mb/s", "probability": 0.2, "roce_only": true, "shape": "20Mb/s"}'
bridge_part='"br-cp": {"kind": "bridge", "mtu": 4200, "up": true}'

# A file into /tmp of a host.
hand_to() { softlab_ssh "$1" "cat > /tmp/$3" <"$2"; } # HOST FILE NAME

# The library of faults, to preload into a guest's nic-config.
build_faults() {
    compile_preload "$SCRATCH/fault.so" "$ROOT/tests/e2e/nic-config/fault.c" || {
        nok "the library of faults is built"
        return 1
    }
}

# nic-config into the named hosts of the switch lab; ends the test where the lab does not come up.
settings_guests_up() { # HOST...
    local host
    softlab_begin soft-switch
    softlab_mtu 1500 a sw b || nok "the links have an MTU of 1500"
    at_exit softlab_mtu 4200 a sw b
    for host in "$@"; do softlab_put "$host" "$BUILD/nic-config"; done
    KERNEL=$(softlab_ssh sw uname -r)
    HEADERS=/usr/src/linux-headers-$KERNEL
}

# Ends the test, with what cannot be tested, where the modules cannot be built for the guests' kernel; else builds them.
modules_or_skip() { # WHAT
    if [ ! -d "$HEADERS" ]; then
        skip "$1" no-file "$HEADERS" "linux-headers-amd64, to build the test modules"
        finish
    fi
    if make -C "$ROOT/tests/kmod" OUT="$MODULES" KDIR="$HEADERS" >"$SCRATCH/make" 2>&1; then
        ok "the test modules are built"
    else
        nok "the test modules are built" "$(tail "$SCRATCH/make")"
        finish
    fi
}

load_module() { # HOST NAME NETDEV
    hand_to "$1" "$MODULES/$2.ko" "$2.ko" && softlab_ssh "$1" "insmod /tmp/$2.ko netdev=$3"
}
