# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced first: run the test in a mount namespace of its own, as root. Without one it is skipped.
if [ -z "${T_OWN_MOUNTS:-}" ]; then
	if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
		T_OWN_MOUNTS=1 exec unshare -m bash "$0" "$@"
	fi
	. "$RJ_SRC/tests/support/lib.sh" || exit 99
	skip_all "no mount namespaces"
fi
unset T_OWN_MOUNTS # not of a test that this one runs
