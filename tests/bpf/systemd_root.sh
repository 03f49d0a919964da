#!/bin/sh
# systemd_root.sh FOLDER: becomes a systemd that manages units for a test, in namespaces of its own. To be run by
#   unshare --fork --pid --mount --cgroup --ipc --uts --net sh systemd_root.sh FOLDER
# FOLDER/bin becomes /usr/local/bin, FOLDER/units its units, FOLDER/work is shared. Nothing else of the machine can be written.
set -eu
umask 022
folder=$1
root=$folder/root
mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
for name in bin etc lib lib64 sbin usr; do
	if [ -L "/$name" ]; then
		cp -P "/$name" "$root/$name"
	elif [ -e "/$name" ]; then
		mkdir "$root/$name"
		mount --bind "/$name" "$root/$name"
		mount -o remount,bind,ro "$root/$name"
	fi
done
mkdir "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/tmp" "$root/var" "$root/root" "$root/home" "$root/work"
mount --bind "$folder/bin" "$root/usr/local/bin"
mount --bind "$folder/work" "$root/work"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
umount "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/run/systemd"
cp -r "$folder/units" "$root/run/systemd/system"
printf '[Unit]\nDescription=what a test of spoor needs\n' >"$root/run/systemd/system/spoor-test.target"
exec chroot "$root" env -i container=spoor PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
	/lib/systemd/systemd --system --unit=spoor-test.target --show-status=false --log-target=null
