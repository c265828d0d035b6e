# shellcheck shell=bash
# Disks for experiments: loop devices with a file system each. They end with the experiment.

attach() { # VARIABLE FILE [OPTION of losetup...]
  local device
  device=$(losetup --find --show --direct-io=on "${@:3}" "$2") || fail "losetup cannot make a loop device with direct I/O over $2"
  at_end losetup --detach "$device"
  declare -g "$1=$device"
}
make_disk() { # DEVICE FOLDER
  mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$1"
  mkdir -p "$2"
  mount "$1" "$2"
  at_end umount "$2"
}
