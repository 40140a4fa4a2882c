# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by stores/run: install a server below $keep, from where its makers publish it, and start
# it. What is there already is not fetched again.

# get_deb PACKAGE...: Debian's packages, and what they need that is not installed, unpacked; their
# files are laid over this mount namespace's /usr and /etc. Sets VERSION, of the first package, and
# DEB, the folder that they were unpacked to.
get_deb() {
	local p
	DEB=$keep/deb-$1
	if [ ! -e "$DEB/done" ]; then
		rm -rf "$DEB" && mkdir -p "$DEB"/{deb,usr/lib,usr/bin,usr/sbin,etc} &&
			chmod 755 "$keep" "$DEB" || return 1
		for p in $(apt-get -s --no-install-recommends install "$@" | sed -n 's/^Inst \([^ ]*\) .*/\1/p'); do
			(cd "$DEB/deb" && apt-get -q download "$p") || return 1
		done
		for p in "$DEB"/deb/*.deb; do
			[ ! -e "$p" ] || dpkg -x "$p" "$DEB" || return 1
		done
		for p in bin sbin lib; do # as these are links to /usr's
			[ ! -d "$DEB/$p" ] || { cp -a "$DEB/$p" "$DEB/usr/" && rm -r "${DEB:?}/$p"; } || return 1
		done
		touch "$DEB/done"
	fi
	mount -t overlay overlay -o "lowerdir=$DEB/usr:/usr" /usr &&
		mount -t overlay overlay -o "lowerdir=$DEB/etc:/etc" /etc || return 1
	p=("$DEB"/deb/"$1"_*.deb)
	if [ -e "${p[0]}" ]; then VERSION=$(dpkg-deb -f "${p[0]}" Version); else
		VERSION=$(dpkg-query -W -f '${Version}' "$1"); fi
	VERSION=${VERSION#*:} VERSION=${VERSION%%[-+]*}
}
get_pip() { # NAME VERSION [REQUIREMENT...]: in a venv; sets BIN
	BIN=$keep/pip-$1-$2/bin VERSION=$2
	[ -e "${BIN%/bin}/done" ] && return
	python3 -m venv "${BIN%/bin}" && "$BIN/pip" install -q "$1==$2" "${@:3}" && touch "${BIN%/bin}/done"
}
get_npm() { # NAME VERSION: sets NPM, the folder of node_modules
	NPM=$keep/npm-$1-$2 VERSION=$2
	[ -e "$NPM/done" ] && return
	mkdir -p "$NPM" && echo '{}' >"$NPM/package.json" &&
		npm install --prefix "$NPM" --silent --no-audit --no-fund "$1@$2" && touch "$NPM/done"
}
# get_go MODULE/PATH VERSION: sets BIN, the program. In a module of our own: go install refuses one
# whose go.mod replaces others.
get_go() {
	local dir=$keep/go-$2
	BIN=$dir/$(basename "$1") VERSION=${2#v}
	[ -e "$BIN" ] && return
	mkdir -p "$dir/module" || return 1
	(
		cd "$dir/module" && { [ -e go.mod ] || go mod init stores; } && go get -tool "$1@$2" &&
			CGO_ENABLED=0 go build -ldflags='-s -w' -o "$BIN" "$1"
	)
}
get_crate() { # NAME VERSION [OPTION...]: sets BIN, the folder of its programs
	BIN=$keep/crate-$1-$2/bin VERSION=$2
	[ -e "${BIN%/bin}/.crates.toml" ] || cargo install -q --locked --root "${BIN%/bin}" --version "$2" "$1" "${@:3}"
}
# get_jar GROUP NAME VERSION [CLASSIFIER]: sets JAR
get_jar() {
	JAR=$keep/$2-$3${4:+-$4}.jar VERSION=$3
	[ -e "$JAR" ] || mvn -q -B dependency:copy -Dartifact="$1:$2:$3:jar${4:+:$4}" -DoutputDirectory="$keep"
}
# get_jars GROUP NAME VERSION...: several with all that they need; sets CLASSES
get_jars() {
	local dir=$keep/jars-$2-$3 a
	CLASSES=$dir/*:$dir VERSION=$3
	[ -e "$dir/done" ] && return
	mkdir -p "$dir" || return 1
	{
		echo '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId>'
		echo '<version>1</version><dependencies>'
		while [ $# -gt 0 ]; do
			echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"
			shift 3
		done
		echo '</dependencies></project>'
	} >"$dir/pom.xml"
	mvn -q -B -f "$dir/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir" && touch "$dir/done"
}

# the rclone of all stores by "rclone serve"
get_rclone() { get_go github.com/rclone/rclone v1.76.0; }

# store_launch PORT COMMAND...: start it in a session of its own, and wait until it listens
store_launch() {
	local port=$1
	shift
	setsid "$@" >"$T_DIR/server/log" 2>&1 </dev/null &
	SERVER=$!
	at_exit store_end $SERVER "$(started $SERVER)"
	wait_for 120 listens "$port"
}
# store_end PID STARTED: it, and what is left of its session, unless the number is another
# process's by then
store_end() {
	local p now
	now=$(started "$1")
	[ -z "$now" ] || [ "$now" = "$2" ] || return 0
	b_end "$1"
	for p in $(ps -o pid= -s "$1"); do kill -KILL "$p"; done
}
# store_rclone KIND DIR OPTION...: rclone serve KIND over DIR/root, with a folder "logs"; sets PORT
store_rclone() {
	PORT=$(free_port)
	mkdir -p "$2/root/logs"
	store_launch "$PORT" "$BIN" serve "$1" "$2/root" --config "$2/conf" --cache-dir "$2/cache" \
		--addr "127.0.0.1:$PORT" "${@:3}"
}
# store_login SCHEME PORT: a server that knows rj by a password, over a folder with "logs" in it
store_login() {
	b_conf "$1://127.0.0.1:$2" "user = rj" "password = secret" "insecure = yes"
	B_URL=$1://127.0.0.1:$2/logs
}
# store_bucket PORT: the bucket "logs" of an S3 that minds no signature
store_bucket() {
	curl -sS --max-time 60 -o /dev/null -X PUT "http://127.0.0.1:$1/logs" || return 1
	b_conf "s3+http://127.0.0.1:$1" "user = u" "password = p"
	B_URL=s3+http://127.0.0.1:$1/logs/j
}
