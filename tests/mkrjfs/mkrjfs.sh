#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mkrjfs: what is made, what is handed to mke2fs, what is refused, and that a
# refusal or -n leaves everything as it was.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
PATH=$PATH:/sbin:/usr/sbin
unset POSIXLY_CORRECT
img=$T_DIR/v.img
store=$T_DIR/store
url=file://$store
facts=$RJ_BUILD/tests/ext4/volume-tool
mkdir "$store"

header() { dumpe2fs -h "$1" 2>/dev/null; }
# field NAME: of the superblock of $img
field() { header "$img" | sed -n "s/^$1: *//p"; }
objects() { find "$store" -type f | wc -l; }
# e2fsck without the journal that is elsewhere: on a copy
sound() {
	cp --sparse=always "$1" "$T_DIR/copy" && "$facts" patch "$T_DIR/copy" plain &&
		e2fsck -fn "$T_DIR/copy"
}
# fresh MB: an image that was something else before
fresh() { rm -f "$img"; head -c 65536 /dev/urandom >"$img"; truncate -s "$1"M "$img"; }

# ---- made ----
fresh 64
status 0 "ext3 with a remote journal" "$MKRJFS" -J remote="$url" "$img"
like "it says so" "$OUT" "^Attaching remote journal \(4096 blocks\) at $url: done\$"
uuid=$(sed -n 's/^Journal UUID: //p' <<<"$OUT")
is "the UUID it prints is the superblock's" "$(field 'Journal UUID')" "$uuid"
like "nothing of ext4 in it" "$("$facts" facts "$img")" '^ext4_features=0$'
is "the log has its claim, its fence and the empty journal" \
	"$(cd "$store" && find . -type f | sort)" \
	"./$uuid/epoch/00000000000000000001
./$uuid/log/00000000000000000001
./$uuid/log/00000000000000000002"
for want in has_journal=1 journal_inode=0 journal_device=255 journal_uuid=$uuid \
	needs_recovery=0 clean=1 has_sbx=1 generation=1 placement=remote url=$url \
	epoch=1 floor=2 journal_blocks=4096; do
	check "the volume says $want" grep -qx -- "$want" <("$facts" facts "$img")
done
check "and is sound" sound "$img"
# the empty journal itself: what mke2fs and tune2fs make for a device
tail -c $((3 * 1024)) "$store/$uuid/log/00000000000000000002" >"$T_DIR/jdev"
truncate -s 4M "$T_DIR/jdev"
like "dumpe2fs reads the journal that was put" "$(dumpe2fs "$T_DIR/jdev" 2>&1)" \
	"Total journal blocks: *4096\$"
like "it is empty, and starts with transaction 1" "$(dumpe2fs "$T_DIR/jdev" 2>&1)" \
	"Journal sequence: *0x00000001\$"
like "the volume is its user" "$(dumpe2fs "$T_DIR/jdev" 2>&1)" \
	"$(field 'Filesystem UUID')\$"
check "e2fsck takes it for the volume's journal" e2fsck -fn -j "$T_DIR/jdev" "$img"

status 0 "made anew over it" "$MKRJFS" -J remote="$url" "$img"
like "the log that is left is named" "$OUT" "rjlog rm --force $uuid $url/$uuid removes it"

for bs in 1024 2048 4096; do
	for type in ext3 ext4; do
		fresh 64
		status 0 "$type, $bs-byte blocks" \
			"$MKRJFS" -q -F -t $type -b $bs -J remote="$url",size=8 "$img"
		is "$type, $bs: -q says nothing" "$OUT" ""
		like "$type, $bs: journal of 8 MB" "$("$facts" facts "$img")" \
			"^journal_blocks=$((8388608 / bs))\$"
		check "$type, $bs: sound" sound "$img"
		like "$type, $bs: $type" "$("$facts" facts "$img")" \
			"^ext4_features=$([ $type = ext4 ] && echo 1 || echo 0)\$"
	done
done

# ---- the orphan file comes afterwards ----
fresh 64
"$MKRJFS" -q -F -t ext4 -J remote="$url",size=8 "$img" || exit 99
status 0 "tune2fs makes one" tune2fs -O orphan_file "$img"
like "it is there" "$(field 'Filesystem features')" orphan_file
status 0 "rjrecover finds nothing" "$RJRECOVER" -p "$img"

# ---- handed on ----
fresh 64
mkdir -p "$T_DIR/tree/sub" && echo content >"$T_DIR/tree/sub/file"
status 0 "clustered and joined options, and options behind the device" "$MKRJFS" \
	-qFb4096 -L name -U 01234567-89ab-cdef-0123-456789abcdef -O ^dir_index -m0 \
	-E stride=4,stripe_width=8 -d "$T_DIR/tree" "$img" -I 128 -O sparse_super2 \
	-J size=4 -e panic -J remote="$url" 8192
is "-b" "$(field 'Block size')" 4096
is "SIZE" "$(field 'Block count')" 8192
is "-L" "$(field 'Filesystem volume name')" name
is "-U" "$(field 'Filesystem UUID')" 01234567-89ab-cdef-0123-456789abcdef
is "-m" "$(field 'Reserved block count')" 0
is "-E" "$(field 'RAID stripe width')" 8
is "-I" "$(field 'Inode size' | xargs)" 128
is "-e" "$(field 'Errors behavior')" Panic
like "both -O" "$(field 'Filesystem features')" sparse_super2
check "the first -O too" grep -qv dir_index <(field 'Filesystem features')
is "-d" "$(debugfs -R 'cat /sub/file' "$img" 2>/dev/null)" content
like "two -J are one" "$("$facts" facts "$img")" '^journal_blocks=1025$'
status 0 "-O has_journal, -j" "$MKRJFS" -qF -j -O has_journal -J remote="$url" "$img"
is "still no journal inside" "$(field 'Journal inode')" ""
rm -f "$T_DIR/new.img"
status 0 "an image that is not there yet" "$MKRJFS" -q -J remote="$url" "$T_DIR/new.img" 32M
is "is made as large as asked" "$(stat -c %s "$T_DIR/new.img")" 33554432
check "and sound" sound "$T_DIR/new.img"

# as mke2fs without us: same words, same result
same_as_mke2fs() { # NAME OPTIONS...
	local name=$1; shift
	local fixed=(-q -F -U 01234567-89ab-cdef-0123-456789abcdef
		-E hash_seed=01234567-89ab-cdef-0123-456789abcdef)
	rm -f "$T_DIR/a" "$T_DIR/b"; truncate -s 64M "$T_DIR/a" "$T_DIR/b"
	E2FSPROGS_FAKE_TIME=1000000000 mke2fs -t ext3 "${fixed[@]}" "$@" "$T_DIR/a"
	E2FSPROGS_FAKE_TIME=1000000000 "$MKRJFS" "${fixed[@]}" "$@" "$T_DIR/b"
	check "$name: bit for bit as mke2fs -t ext3" cmp "$T_DIR/a" "$T_DIR/b"
}
same_as_mke2fs "no -J"
same_as_mke2fs "-J size=" -J size=4
same_as_mke2fs "-J location=" -J size=4,location=30000
truncate -s 8M "$T_DIR/ext" && mke2fs -q -F -O journal_dev "$T_DIR/ext" >/dev/null
before=$(objects)
fresh 64
status 0 "-J none" "$MKRJFS" -q -F -J none -O ^dir_index "$img"
check "has no journal" grep -qv has_journal <(field 'Filesystem features')
check "and is sound" e2fsck -fn "$img"
status 0 "-n without a remote journal" "$MKRJFS" -n -F -J size=4 "$img"
is "nothing of these went to the store" "$(objects)" "$before"

# ---- -n ----
fresh 64
cp --sparse=always "$img" "$T_DIR/before"
status 0 "-n" "$MKRJFS" -n -t ext4 -b 4096 -J remote="$url",size=16 "$img"
like "-n: mke2fs's plan" "$OUT" "16384 4k blocks"
like "-n: the journal" "$OUT" "^Remote journal: 4096 blocks \(16 MB\) at $url\$"
status 0 "-n -q -z" "$MKRJFS" -nq -z "$T_DIR/undo" -J remote="$url" "$img"
is "-nq says nothing" "$OUT" ""
check "-n changes nothing" cmp "$img" "$T_DIR/before"
check "-n makes no undo file" test ! -e "$T_DIR/undo"
rm -f "$T_DIR/none.img"
status 0 "-n for an image that is not there" "$MKRJFS" -n -J remote="$url" "$T_DIR/none.img" 64M
check "does not make it" test ! -e "$T_DIR/none.img"
is "and puts nothing into the store" "$(objects)" "$before"

# ---- refused ----
long=$store; while [ ${#long} -lt 130 ]; do long=$long/.; done
refused() { # NAME REGEX WORDS...: status 1, one line of ours, nothing changed
	local name=$1 regex=$2; shift 2
	status 1 "$name: refused" "$MKRJFS" -F "$@"
	like "$name: it says why" "$OUT" "^mkrjfs: .*$regex"
	is "$name: in one line" "$(grep -c '^mkrjfs: ' <<<"$OUT")" 1
	check "$name: nothing changed" cmp "$img" "$T_DIR/before"
}
refused "unknown -J word" 'unknown journal option "remtoe=x"' -J remtoe=x "$img"
refused "bad URL" 'host:/x: not a store URL' -J remote=host:/x "$img"
echo frobnicate >"$RJ_CONF"; chmod 600 "$RJ_CONF"
refused "a mistake in rj.conf" 'line 1: ' -J remote="$url" "$img"
like "is not blamed on -J" "$OUT" "^mkrjfs: $RJ_CONF: line 1: "
rm "$RJ_CONF"
refused "a URL without a name: its port is shown" 'rj://127.0.0.1:7490: the name after' \
	-J remote=rj://127.0.0.1:7490 "$img"
refused "unknown scheme" 'nix://' -J remote=nix://host/x "$img"
refused "URL too long" '127' -J remote=file://"$long" "$img"
refused "password in URL" 'password' -J remote=rj://u:p@h:1/n "$img"
refused "no such directory" "no such directory" -J remote=file://"$T_DIR"/nowhere "$img"
refused "nobody answers" 'cannot reach' -J remote=rj://127.0.0.1:1/n "$img"
refused "a key file that is not there" "/nokey" -J remote="$url",key=/nokey "$img"
refused "journal too small" 'from 2 to 20000' -b 2048 -J remote="$url",size=1 "$img"
refused "journal too large" '40001 MB' -b 4096 -J remote="$url",size=40001 "$img"
refused "volume too small" '1024 blocks is too small' -J remote="$url" "$img" 1M
refused "-S" '-S ' -S -J remote="$url" "$img"
refused "-O journal_dev" 'journal_dev' -O journal_dev -J remote="$url" "$img"
refused "-O list with journal_dev" 'journal_dev' -O ^dir_index,journal_dev -J remote="$url" "$img"
refused "-O orphan_file" 'orphan_file: .* tune2fs -O orphan_file' -t ext4 -O orphan_file -J remote="$url" "$img"
refused "-O mmp" 'mmp: .* leave it out' -t ext4 -O mmp -J remote="$url" "$img"
refused "-O fast_commit" 'fast_commit: .* leave it out' -t ext4 -O fast_commit -J remote="$url" "$img"
refused "-t ext2" 'ext2' -t ext2 -J remote="$url" "$img"
refused "-r 0" 'revision 0' -r 0 -J remote="$url" "$img"
refused "-E offset=" 'offset=' -E discard,offset=4096 -J remote="$url" "$img"
refused "what mke2fs refuses" 'mke2fs refuses: invalid block size - 77; nothing was changed$' \
	-b 77 -J remote="$url" "$img"
is "in one line" "$(wc -l <<<"$OUT")" 1
refused "its reason after a warning" 'mke2fs refuses: invalid block size - 77; nothing was changed$' \
	-t ext4 -L aaaaaaaaaaaaaaaaaaaaaaaaaa -b 77 -J remote="$url" "$img"
refused "one without its name, too" \
	'mke2fs refuses: Invalid filesystem option set: nosuch.*; nothing was changed$' \
	-L aaaaaaaaaaaaaaaaaaaaaaaaaa -O nosuch -J remote="$url" "$img"
refused "mke2fs's extended options, without its list of them" \
	'mke2fs refuses: Bad option.* foo; nothing was changed$' -E foo=1 -J remote="$url" "$img"
is "in one line, too" "$(wc -l <<<"$OUT")" 1
refused "mke2fs's features" 'mke2fs refuses' -O nosuchfeature -J remote="$url" "$img"
refused "unknown option" "unknown option: -Z" -Z "$img"
refused "unknown long option" "unknown option: --json-lines" --json-lines "$img"
refused "no device" "which device" -J remote="$url"
refused "three operands" "one word too many" -J remote="$url" "$img" 64M more
refused "-J none with more" 'none' -J none,size=4 "$img"
refused "-b without its value" "after: -b" "$img" -b
status 1 "no such image and no SIZE" "$MKRJFS" -J remote="$url" "$T_DIR/none.img"
check "does not make it" test ! -e "$T_DIR/none.img"
mkdir "$T_DIR/empty"
PATH=$T_DIR/empty status 1 "no mke2fs at all" "$(command -v unshare)" -m "$BASH" -c \
	'PATH=/bin:/usr/bin; mount --bind "$1" /sbin && mount --bind "$1" /usr/sbin && PATH=$1 exec "$2" -J remote="$3" "$4"' \
	- "$T_DIR/empty" "$MKRJFS" "$url" "$img"
like "it is named" "$OUT" "mke2fs"
is "nothing of these went to the store" "$(objects)" "$before"

# a store that can no more be written to once mke2fs has begun
mkdir -p "$T_DIR/bin"
cat >"$T_DIR/bin/mke2fs" <<END
#!/bin/bash
# the real one; then somebody removes the store
$(command -v mke2fs) "\$@" || exit
case " \$* " in *" -n "*) ;; *) mv "$store" "$store.gone" ;; esac
END
chmod +x "$T_DIR/bin/mke2fs"
fresh 64
PATH=$T_DIR/bin:$PATH status 1 "a store lost in between" "$MKRJFS" -q -F -J remote="$url" "$img"
mv "$store.gone" "$store"
is "one line" "$(wc -l <<<"$OUT")" 1
like "says what the volume is now" "$OUT" "has no journal: run mkrjfs again, or rjtune -J remote=$url $img"
check "and so it is" e2fsck -fn "$img"

# ---- block devices ----
if [ "$(id -u)" = 0 ] && [ -c /dev/loop-control ]; then
	fresh 64
	loop_over "$img" && loop=$DEV
	status 0 "a block device" "$MKRJFS" -q -t ext4 -J remote="$url" "$loop"
	check "is sound" sound "$img"
	mkdir -p "$T_DIR/mnt"
	status 32 "mount refuses it" mount "$loop" "$T_DIR/mnt"
	mke2fs -q -F -t ext4 "$loop" && mount "$loop" "$T_DIR/mnt"
	cp --sparse=always "$img" "$T_DIR/before"
	for force in -q -F -FF; do
		status 1 "a mounted device, $force" "$MKRJFS" $force -J remote="$url" "$loop"
		like "with mke2fs's words" "$OUT" "is mounted; will not make a filesystem here"
	done
	umount "$T_DIR/mnt"
	e2fsck -fn "$img" >/dev/null 2>&1
	is "it lives on" $? 0
else
	skip "block devices" "needs root and loop devices"
fi

# ---- rj:// ----
if [ -x "$RJSERVER" ]; then
	mkdir "$T_DIR/srv"
	start_server "$T_DIR/srv" || not_ok "the server starts"
	fresh 64
	status 0 "a journal at a server" "$MKRJFS" -q -J remote="$SRV_URL/vol1",size=4 "$img"
	like "the volume names it" "$("$facts" facts "$img")" "^url=$SRV_URL/vol1\$"
	check "and is sound" sound "$img"
	stop_server
	cp --sparse=always "$img" "$T_DIR/before"
	refused "a server that is gone" 'cannot reach' -J remote="$SRV_URL/vol1" "$img"
else
	skip "rj://" "no rjserver in this build"
fi
