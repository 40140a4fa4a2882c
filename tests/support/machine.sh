# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced first by the tests that type what a page says: a machine of their own, with its own
# mounts, network and processes, in which the tools are in /usr/sbin. Its end is that of all its
# processes and mounts.
# machine DISK...: run the script again in it; each DISK is a variable, a loop device of 160 MiB
machine() {
	local f p inside
	. "$RJ_SRC/tests/support/lib.sh"
	need_fuse_loop
	for p in ip setpriv openssl curl; do
		command -v $p >/dev/null || skip_all "no $p here"
	done
	unshare -mnp --fork --mount-proc sh -c 'mount -t tmpfs x /mnt && mkdir /mnt/u /mnt/w &&
		mount -t overlay x -o lowerdir=/usr,upperdir=/mnt/u,workdir=/mnt/w /usr' \
		2>/dev/null || skip_all "no name spaces or no overlays here"
	for f; do
		truncate -s 160M "$T_DIR/$f" && loop_over "$T_DIR/$f" || exit 99
		export "$f=$DEV"
	done
	MACHINE=$T_DIR unshare -mnp --fork --kill-child --mount-proc bash "$0" >"$T_DIR/tap" 2>&1
	inside=$?
	grep -v '^1\.\.' "$T_DIR/tap"
	T_NUM=$(grep -cE '^(not )?ok ' "$T_DIR/tap")
	[ "$inside" = 0 ] || not_ok "the machine ends with 0, not $inside"
	exit 0
}
own() { # DIR: writable for this machine alone
	local n; n=$(tr / _ <<<"$1")
	mkdir -p "$M/$n.up" "$M/$n.work" &&
		mount -t overlay "$n" -o "lowerdir=$1,upperdir=$M/$n.up,workdir=$M/$n.work" "$1"
}
# machine_boot HOST...: in it; $M is a folder of it, and this machine has the names HOST
machine_boot() {
	local dir p
	. "$RJ_SRC/tests/support/lib.sh"
	. "$RJ_SRC/tests/support/rj.sh"
	. "$RJ_SRC/tests/support/page.sh"
	unset RJ_RUN RJ_CONF RJ_CREDENTIALS
	export no_proxy='*'
	M=$T_DIR/machine
	mkdir -p "$M" && mount -t tmpfs machine "$M" || exit 99
	for dir in /usr /etc /var/lib /var/tmp /srv /root; do own $dir || exit 99; done
	mount -t tmpfs run /run && mkdir -p /run/mount || exit 99
	# on the disk that holds this test
	for dir in /var/lib/rjserver /var/lib/rjprogs; do
		mkdir -p "$dir" "$T_DIR$dir" && mount --bind "$T_DIR$dir" "$dir" || exit 99
	done
	ip link set lo up
	rm -rf /etc/rjprogs
	mkdir -p /etc/rjprogs
	echo "127.0.0.1 localhost $*" >/etc/hosts
	: >/etc/fstab
	for p in mkrjfs rjtune rjctl rjlog rjrecover rjournald rjserver rjbackup rjadvise; do
		ln -sf "$(realpath "$RJ_BUILD")/$p/$p" "/usr/sbin/$p"
	done
	for p in mount.rj umount.rj; do ln -sf "$(realpath "$RJ_BUILD")/rjmount/$p" "/usr/sbin/$p"; done
	export PATH=/usr/sbin:/usr/bin
}
