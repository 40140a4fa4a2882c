# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after frame.sh and support/rj.sh: the main path on a store.

# main_path NAME URL JOURNAL-OPTIONS: make a volume, mount it, write, crash,
# recover; every fsynced file is back, and e2fsck finds nothing
main_path() {
	local n=$T_DIR/$1 url=$2 opts=$3
	check "$1: mkrjfs" "$MKRJFS" -q -F -t ext4 -J "remote=$url,size=8$opts" "$n.live" 64M
	check "$1: mounted" mount_served "$n.live" "$n.mnt" || return
	check "$1: 30 files, each fsynced" fsynced "$n.mnt" 30 "$n.sums"
	check "$1: the machine stops" crash "$n.live" "$n.mnt" "$n.img"
	rm -f "$n.live"
	status 0 "$1: rjrecover" "$RJRECOVER" --verify=full "$n.img"
	mkdir -p "$n.back"
	check "$1: mounted without any journal" mount -t ext4 -o ro,noload,loop "$n.img" "$n.back"
	check "$1: every file is back" same_files "$n.back" "$n.sums"
	umount "$n.back"
}
same_files() { (cd "$1" && sha256sum --quiet -c "$2"); }

# b_key FILE: a new key, which rj.conf names for all stores
b_key() {
	(umask 077; printf 'rj-key 1\n%s\n' "$(openssl rand -hex 32)" >"$1")
	b_conf '*' "keyfile = $1"
}
