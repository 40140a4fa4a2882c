#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages: the RPM spec holds per package what packaging/debian holds, under
# one version, and needs as much to build; no script of either stops a daemon.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
DEB=$RJ_SRC/packaging/debian SPEC=$RJ_SRC/packaging/rpm/rjprogs.spec

# plain: one form for both: /lib is /usr/lib, no architecture, no compression
plain() {
	sed -E 's|^/?||; s|^lib/|usr/lib/|; s|^usr/lib/\*/|LIBDIR/|
		s|(/man/man[0-9]/.*)\*$|\1|' | LC_ALL=C sort -u
}
# deb_files DIR PACKAGE: "FILE" or "SOURCE FOLDER" of .install, links, documents
deb_files() {
	{
		awk 'NF == 1 {print $1} NF == 2 {n = $1; sub(/.*\//, "", n); print $2 "/" n}' \
			"$1/$2.install"
		[ ! -f "$1/$2.links" ] || awk '{print $2}' "$1/$2.links"
		[ ! -f "$1/$2.docs" ] || sed "s|^|usr/share/doc/$2/|" "$1/$2.docs"
	} | plain
}
# rpm_files SPEC PACKAGE: of its %files, with Fedora's macros
rpm_files() {
	awk -v p="$2" '
		/^%/ && !/^%(doc|config|license|\{)/ {on = 0}
		$1 == "%files" {on = p == "rjprogs" ? NF == 1 : $3 == p; next}
		on && NF && $1 != "%license"' "$1" |
		sed -E "s|^%doc +|usr/share/doc/$2/|; s|^%config[^ ]* +||
			s|%\{_sysconfdir\}|etc|
			s|%\{_datadir\}|usr/share|; s|%\{_sbindir\}|usr/sbin|
			s|%\{_docdir\}|usr/share/doc|; s|%\{_mandir\}|usr/share/man|
			s|%\{_includedir\}|usr/include|; s|%\{_libdir\}|LIBDIR|
			s|%\{_unitdir\}|usr/lib/systemd/system|
			s|%\{_sysusersdir\}|usr/lib/sysusers.d|
			s|%\{_tmpfilesdir\}|usr/lib/tmpfiles.d|
			s|%\{_udevrulesdir\}|usr/lib/udev/rules.d|
			s|%\{_modulesloaddir\}|usr/lib/modules-load.d|" | plain
}
# build_needs: Debian's names and Fedora's, as scripts/deps pairs them
build_needs() { awk '$1 == "build" {print $2, $3}' "$RJ_SRC/scripts/deps"; }

while read -r deb rpm; do
	check "$deb holds files" test "$(deb_files "$DEB" "$deb" | wc -l)" -gt 0
	is "$rpm.rpm holds what $deb.deb holds" "$(rpm_files "$SPEC" "$rpm")" "$(deb_files "$DEB" "$deb")"
done <<'END'
rjprogs rjprogs
rjserver rjserver
librj0 librj
librj-dev librj-devel
END
grep -v '%{_sbindir}/rjlog$' "$SPEC" >"$T_DIR/less.spec"
is "seen: a file that the spec lacks" \
	"$(diff <(rpm_files "$T_DIR/less.spec" rjprogs) <(deb_files "$DEB" rjprogs) | grep '^[<>]')" \
	"> usr/sbin/rjlog"

version=$(sed -n 's/^AC_INIT(\[rjprogs\], \[\([^]]*\)\].*/\1/p' "$RJ_SRC/configure.ac")
is "the spec has the version of configure.ac" "$(sed -n 's/^Version: *//p' "$SPEC")" "$version"
is "so has Debian's changelog" "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$DEB/changelog")" "$version"
is "Debian's package is built with what scripts/deps installs" "$(build_needs |
	while read -r deb _; do
		case $deb in make | gcc* | libc6-dev) continue ;; esac
		grep -qF "${deb%%|*}" "$DEB/control" || echo "$deb"
	done)" ""
is "so is Fedora's" "$(build_needs | while read -r _ rpm; do
	[ "$rpm" != glibc-devel ] || continue # gcc brings it
	grep -qE "^BuildRequires: +$rpm\$" "$SPEC" || echo "$rpm"
done)" ""

# scripts of the packages: what is served is taken over by the new program, and
# neither stopped nor restarted, also when the package is removed
scripts() {
	cat "$DEB"/rjprogs.p*
	awk '/^%/ {on = ($1 == "%post" || $1 == "%preun") && NF == 1} on' "$SPEC"
}
is "both let what is served go on with the new program" "$(scripts | grep -c 'rjctl -q restart ||')" 2
is "and stop nothing" "$(scripts | grep -E 'systemctl|deb-systemd-invoke|rjctl.*stop|kill' |
	grep -v daemon-reload)" ""
is "both say what goes on when the package is removed" \
	"$(scripts | grep -cE "volumes with a remote journal (are mounted|go on)")" 2
like "rjserver ends with its package, and only then" "$(cat "$DEB/rjserver.prerm")" \
	'"\$1" = remove .*'
like "dh_installsystemd stops nothing at an upgrade" "$(cat "$DEB/rules")" \
	'dh_installsystemd .*--no-start.*--no-stop-on-upgrade'
like "needrestart never restarts rjournald" "$(cat "$RJ_SRC/contrib/needrestart/rjprogs.conf")" \
	'override_rc.*\^rjournald@.* = 0;'
if command -v perl >/dev/null; then
	status 0 "needrestart's file is Perl" perl -we 'our %nrconf; my $f = shift; do $f; die $@ if $@;
		exit !(grep { "/usr/sbin/rjournald" =~ $_ } @{$nrconf{blacklist}})' \
		"$RJ_SRC/contrib/needrestart/rjprogs.conf"
else
	skip "needrestart's file is Perl" "no perl here"
fi
like "udev hides the loop device of a journal" "$(cat "$RJ_SRC/contrib/udev/61-rjprogs.rules")" \
	'backing_file.*/run/rjprogs/\*/mnt/journal.*UDISKS_IGNORE.*"1"'
if command -v rpmspec >/dev/null; then
	# macros that are not Debian's
	macros=()
	for m in _unitdir _sysusersdir _tmpfilesdir _udevrulesdir _modulesloaddir; do
		macros+=(--define "$m /usr/lib/$m")
	done
	for m in systemd_post systemd_preun systemd_postun_with_restart sysusers_create_compat; do
		macros+=(--define "$m() true %*")
	done
	status 0 "rpmspec takes the spec" rpmspec -P "${macros[@]}" "$SPEC"
	is "no macro is left" "$(grep -v '^#' <<<"$OUT" | grep -o '%{[a-z_]*}' | sort -u)" ""
else
	skip "rpmspec takes the spec" "no rpmspec here"
fi
