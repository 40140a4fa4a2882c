# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/boot/run: one machine that boots a copy of the image. WORK is
# the folder of tests/boot/image, KERNEL one of its kernels, VM the machine's own
# folder.

vm_port() { # a free port of the loopback
	local p
	for p in $(shuf -i 20000-31999 -n 50); do
		(: </dev/tcp/127.0.0.1/"$p") 2>/dev/null || { echo "$p"; return; }
	done
	return 1
}

vm_new() { # [IMAGE]: the disk, root or bare; and two more for volumes
	qemu-img create -q -f qcow2 -b "$WORK/${1:-root}.raw" -F raw "$VM/vda.qcow2" &&
		qemu-img create -q -f qcow2 "$VM/vdb.qcow2" 256M &&
		qemu-img create -q -f qcow2 "$VM/vdc.qcow2" 256M
}

# The processor is a plain one: for each of its abilities udev loads modules.
# Without cx16: QEMU 7.2 leaves wrong flags after cmpxchg16b, which ends Linux 6.12.
vm_start() { # [WORD...]: more for QEMU
	local disk disks=()
	VM_SSH=$(vm_port) || return 1
	for disk in vda vdb vdc; do
		disks+=(-drive "file=$VM/$disk.qcow2,format=qcow2,if=virtio")
	done
	: >"$VM/console.log"
	rm -f "$VM/monitor" "$VM/ssh"
	[ -z "${VM_MONITOR:-}" ] || exec {VM_MONITOR}>&-
	mkfifo "$VM/monitor" && exec {VM_MONITOR}<>"$VM/monitor" || return 1
	qemu-system-x86_64 -accel tcg,thread=multi -cpu qemu64,-svm,-cx16,+rdrand -smp 2 -m 768 \
		-nodefaults -display none -no-reboot -serial file:"$VM/console.log" \
		-kernel "$WORK/vmlinuz-$KERNEL" -initrd "$WORK/initrd-$KERNEL" \
		-append "root=LABEL=root rw console=ttyS0 panic=-1 net.ifnames=0 mitigations=off" \
		"${disks[@]}" -netdev user,id=n,hostfwd=tcp:127.0.0.1:"$VM_SSH"-:22 \
		-device virtio-net-pci,netdev=n -monitor stdio "$@" \
		<"$VM/monitor" >"$VM/qemu.out" 2>&1 &
	VM_PID=$!
}

VM_WORDS=(-q -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes
	-o ServerAliveInterval=15 -o ServerAliveCountMax=8)
vm_login() { # [COMMAND...]: with a login of its own
	ssh "${VM_WORDS[@]}" -o ConnectTimeout="${VM_PATIENCE:-60}" -i "$WORK/key" -p "$VM_SSH" \
		root@127.0.0.1 "$@"
}
vm_in() { vm_login -o ControlPath="$VM/ssh" "$@"; } # COMMAND...: as root, with what comes in
vm() { vm_in "$@" </dev/null; }

vm_up() { # wait until boot has ended, 10 minutes at most
	local end=$((SECONDS + 600))
	# one login for most of what follows: each costs seconds here
	until VM_PATIENCE=20 vm_login -n -M -N -f -o ControlPath="$VM/ssh"; do
		kill -0 "$VM_PID" 2>/dev/null && [ $SECONDS -lt $end ] || return 1
		sleep 1
	done
	# status 1: a unit failed, which the scene looks at
	vm timeout 300 systemctl is-system-running --wait >/dev/null || true
}

# Start a machine that has booted: each is a copy of the first one of its image and
# kernel, as it was then.
vm_booted() { # [IMAGE]
	local first=$WORK/booted-${1:-root}-$KERNEL
	(
		flock 9 || exit 1
		[ ! -e "$first/done" ] || exit 0
		rm -rf "$first" && mkdir "$first" && VM=$first && vm_new "${1:-root}" && vm_start || exit 1
		vm_up && vm sync && echo savevm booted >&"$VM_MONITOR" &&
			echo quit >&"$VM_MONITOR" && wait "$VM_PID" && : >"$first/done"
		rc=$?
		vm_kill
		exit $rc
	) 9>"$first.lock" || return 1
	cp --sparse=always "$first"/vd?.qcow2 "$VM/" && vm_start -loadvm booted &&
		vm_up && vm date -s "@$(date +%s)" >/dev/null
}

# waited ARRAY: for each of QEMU's threads, how long it waited for a processor, in ns
waited() {
	local -n of=$1
	local f ns
	for f in /proc/"$VM_PID"/task/*/schedstat; do
		read -r _ ns _ 2>/dev/null <"$f" && of[${f//[!0-9]/}]=$ns
	done
}
# An orderly end; COMMAND of systemctl is poweroff or reboot. Waits until the machine
# is off, 15 minutes at most. VM_TOOK is in tenths of a second; without those that the
# processors did something else on this machine meanwhile it is VM_OWN.
vm_poweroff() { # [COMMAND]
	local began end=$((SECONDS + 900)) thread ns most=0
	local -A before=() after=()
	began=$(date +%s%1N)
	waited before
	vm "systemctl --no-block ${1:-poweroff}"
	while kill -0 "$VM_PID" 2>/dev/null; do
		[ $SECONDS -lt $end ] || return 1
		waited after
		sleep 0.1
	done
	VM_TOOK=$(($(date +%s%1N) - began))
	for thread in "${!after[@]}"; do
		ns=$((after[$thread] - ${before[$thread]:-0}))
		[ $ns -le $most ] || most=$ns
	done
	VM_OWN=$((VM_TOOK - most / 100000000))
}

vm_kill() { [ -z "${VM_PID:-}" ] || { kill -9 "$VM_PID" && wait "$VM_PID"; } 2>/dev/null; }
