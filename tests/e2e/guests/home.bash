# shellcheck shell=bash
# The ssh of a user who has a rack already: his own ~/.ssh, which ssh finds by the password database and not by HOME. Source it
# after lib.sh and softlab.bash, inside the soft lab, where mounts are private:
#   softlab_home               ~/.ssh is an empty folder, $DOT_SSH, with a key pair
DOT_SSH=$(getent passwd "$(id -u)" | cut -d: -f6)/.ssh

softlab_home() {
    # the mount is the lab's alone, the folder that it needs is not
    [ -d "$DOT_SSH" ] || { mkdir -m 700 "$DOT_SSH" && at_exit rmdir "$DOT_SSH"; }
    mkdir -m 700 "$SCRATCH/ssh" && mount --bind "$SCRATCH/ssh" "$DOT_SSH" || return 1
    at_exit umount "$DOT_SSH"
    ssh-keygen -q -t ed25519 -N '' -C rack -f "$DOT_SSH/id_ed25519"
}
