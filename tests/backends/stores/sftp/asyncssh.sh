# SPDX-License-Identifier: GPL-2.0-or-later
STORE="asyncssh"
REMARK="Its SFTP server, in one process."
store_get() { get_pip asyncssh 2.24.1; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	cat >"$1/server.py" <<'END'
import asyncio, asyncssh, sys
class Server(asyncssh.SSHServer):
    def password_auth_supported(self): return True
    def validate_password(self, user, password): return (user, password) == ("rj", "secret")
async def main(port, root):
    await asyncssh.create_server(Server, "127.0.0.1", port,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        sftp_factory=lambda chan: asyncssh.SFTPServer(chan, chroot=root))
    await asyncio.Event().wait()
asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
END
	store_launch "$port" "$BIN/python" "$1/server.py" "$port" "$1/root" || return 1
	store_login sftp "$port"
}
