# SPDX-License-Identifier: GPL-2.0-or-later
STORE="pure-ftpd"
REMARK="-L 100000:8: by default a list ends silently after 10,000 files; such a list is found, and refused. A password of a cheap hash (crypt): the default of pure-pw took 2 s of processor at each login here, and requests timed out."
store_get() { get_deb pure-ftpd; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs" && chown -R nobody "$1/root" && b_way && chmod 711 "$1" || return 1
	echo "rj:$(openssl passwd -6 secret):65534:65534::$1/root/./::::::::::::" >"$1/passwd"
	pure-pw mkdb "$1/pdb" -f "$1/passwd" || return 1
	store_launch "$port" pure-ftpd -S "127.0.0.1,$port" -l "puredb:$1/pdb" -L 100000:8 -E -H -4 -A -c 100 -C 100 \
		-p "$((port + 1)):$((port + 60))" -g "$1/pid" || return 1
	store_login ftp "$port"
}
