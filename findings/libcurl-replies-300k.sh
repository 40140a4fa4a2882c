#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# libcurl ends an FTP session whose replies have more than 300 KiB in all, and calls them headers.
#
# curl and libcurl 7.88.1-10+deb12u15 (Debian 12), python3-pyftpdlib 1.5.7-3 as the server. The limit
# came with a fix for endless HTTP headers, and is documented for them. It counts the lines of the
# control connection, too: a multi-line reply such as that of STAT, which lists a folder, is cut off
# at 300 KiB, with the error of bad received data (56). One would expect what the server sends, as by the
# same list on a data connection (LIST), which has no limit.
# Exit status: 0 it is so, 1 it is not any more, 2 cannot be seen.
set -u
curl=7.88.1-10+deb12u15 server=1.5.7-3
work=$(mktemp -d) || exit 2
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$work"' EXIT
cd "$work" || exit 2
for p in curl=$curl libcurl4=$curl python3-pyftpdlib=$server; do
	apt-get -q download "$p" >/dev/null 2>&1 || { echo "cannot get $p"; exit 2; }
done
for p in *.deb; do dpkg -x "$p" root || exit 2; done
mkdir few many
(cd few && touch file{0001..1000}) && (cd many && touch file{00001..20000}) || exit 2
PYTHONPATH=$work/root/usr/lib/python3/dist-packages /usr/bin/python3 -W ignore - >port 2>log <<'P' &
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer
who = DummyAuthorizer()
who.add_anonymous(".")
FTPHandler.authorizer = who
s = FTPServer(("127.0.0.1", 0), FTPHandler)
print(s.address[1], flush=True)
s.serve_forever()
P
pid=$!
for i in {1..50}; do [ -s port ] && break; sleep 0.1; done
[ -s port ] || { cat log; exit 2; }
ftp() { LD_LIBRARY_PATH=$work/root/usr/lib/$(uname -m)-linux-gnu "$work/root/usr/bin/curl" -sS "$@"; }
at=ftp://127.0.0.1:$(cat port)
stat() { ftp -v -Q "STAT $1" "$at/few/" -o /dev/null 2>out; echo "$? $(grep -c '< .*file' out)"; }
few=$(stat few) many=$(stat many) listed=$(ftp "$at/many/" | grep -c file)
echo "STAT of 1,000 files: curl ends with, lines seen: $few"
echo "STAT of 20,000 files: $many; $(tail -n 1 out)"
echo "LIST of 20,000 files: $listed lines"
[ "$few" = "0 1000" ] && [ "$listed" = 20000 ] && [[ $many == 56\ * ]]
