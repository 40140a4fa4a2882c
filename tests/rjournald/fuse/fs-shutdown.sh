#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A journal that fails takes the file system down first: an fsync that comes for
# its transaction a moment too late is not told that all is well. In eight failures of
# twelve one or more were, before.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
LATE=$RJ_BUILD/tests/rjournald/fuse/late-fsync
rounds=${RJ_ROUNDS:-2} FSTYPE=ext4
mnt=$T_DIR/mnt

# all_there RECORD DIR: each file is as long as its last fsync found it
all_there() {
	local name bytes there bad=0
	while read -r name bytes; do
		there=$(stat -c %s "$2/$name" 2>/dev/null || echo 0)
		((there >= bytes)) || { echo "$name: $bytes acknowledged, $there there"; bad=1; }
	done <"$1"
	return $bad
}

# fails N: the server dies under 16 threads
fails() {
	local img=$T_DIR/v$1.img what="failure $1"
	start_server "$T_DIR/srv$1" || exit 99
	volume "$img" ext4 4096 "$SRV_URL/v" on_loss=error || exit 99
	check "$what: serve" serve "$img" -q
	check "$what: mount" mount_served "$img" "$mnt"
	echo here >"$mnt/file"
	check "$what: every writer is told" "$LATE" "$mnt" 16 "$T_DIR/record" "$SRV_PID" 400
	status 1 "$what: what is there cannot be read any more" cat "$mnt/file"
	like "$what: nor synced" "$(sync "$mnt/file" 2>&1)" 'Input/output error'
	status 0 "$what: the machine stops" crash "$img" "$mnt" "$img.crashed"
	check "$what: the server comes back" start_server "$T_DIR/srv$1" "$SRV_PORT"
	status 0 "$what: it is recovered" "$RJRECOVER" -q -p "$img.crashed"
	mkdir -p "$T_DIR/look"
	at_exit umount -l "$T_DIR/look"
	mount -t ext4 -o ro,noload,loop "$img.crashed" "$T_DIR/look"
	check "$what: all that was acknowledged is there" \
		all_there "$T_DIR/record" "$T_DIR/look"
	umount "$T_DIR/look"
	kill_pid "$SRV_PID"
}

for ((n = 1; n <= rounds; n++)); do fails $n; done

# ---- it is down before anybody is told, and some time ----
start_server "$T_DIR/srvd" || exit 99
volume "$T_DIR/d.img" ext4 4096 "$SRV_URL/v" on_loss=error || exit 99
serve "$T_DIR/d.img" -q && mount_served "$T_DIR/d.img" "$mnt" && put_file "$mnt/file"
now() { date +%s%N; }
busy=$T_DIR/busy # an fsync is under way there at any time, and has nothing to do with it
mkdir "$busy" && truncate -s 64M "$T_DIR/busy.img" && mke2fs -q -F -t ext4 "$T_DIR/busy.img" &&
	mount -o loop,lazytime "$T_DIR/busy.img" "$busy" || exit 99
fdatasync=$([ "$(uname -m)" = x86_64 ] && echo 75 || echo 83) # its number
for n in 1 2 3 4 5 6 7 8; do
	head -c 64k /dev/zero >"$busy/$n"
	perl -e 'open(F, "+<", $ARGV[0]) or die;
		while (1) { sysseek(F, 0, 0); syswrite(F, "x" x 65536);
			syscall($ARGV[1], fileno(F)) }' "$busy/$n" "$fdatasync" &
	kill_at_end $!
done
kill_pid "$SRV_PID"
{ dd if=/dev/zero of="$mnt/late" bs=1k count=1 conv=fsync status=none 2>/dev/null; now >"$T_DIR/told"; } &
check "it goes down" wait_for 60 not cat "$mnt/file"
down=$(now)
check "somebody who waited is told" wait_for 60 test -s "$T_DIR/told"
early=$((($(cat "$T_DIR/told") - down) / 1000000))
note "$early ms before that"
check "that it was down before" [ "$early" -ge 500 ]
check "and did not wait for another file system" [ "$early" -lt 20000 ]
umount "$mnt"

# ---- so is who waits for his data until after that, on a disk that hangs ----
hanging_disk "the server dies" eval 'kill_pid "$SRV_PID"'

# ---- of two mounts of one name the volume's own is meant ----
start_server "$T_DIR/srv0" || exit 99
volume "$T_DIR/o.img" ext4 4096 "$SRV_URL/v" on_loss=error || exit 99
serve "$T_DIR/o.img" -q && mount_served "$T_DIR/o.img" "$mnt"
exec 7>"$mnt/x"
truncate -s 8M "$T_DIR/other.img" && mke2fs -q -F -t ext4 "$T_DIR/other.img" &&
	mount -o loop "$T_DIR/other.img" "$mnt"
kill_pid "$SRV_PID"
status 1 "covered by another one: it fails" \
	$LIMIT sh -c 'dd if=/dev/zero bs=1k count=1 conv=fsync >&7'
check "the other one is left alone" put_file "$mnt/fine"
umount "$mnt"
exec 7>&-
