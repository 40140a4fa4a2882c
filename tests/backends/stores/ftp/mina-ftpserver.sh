# SPDX-License-Identifier: GPL-2.0-or-later
STORE="Apache FtpServer (MINA)"
REMARK="Its limit of logins (10 by default) is raised."
store_get() { get_jars org.apache.ftpserver ftpserver-core 1.2.1; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	cat >"$1/Serve.java" <<'END'
import java.util.List;
import org.apache.ftpserver.*;
import org.apache.ftpserver.listener.ListenerFactory;
import org.apache.ftpserver.usermanager.impl.*;
public class Serve {
	public static void main(String[] a) throws Exception {
		ListenerFactory listener = new ListenerFactory();
		listener.setServerAddress("127.0.0.1");
		listener.setPort(Integer.parseInt(a[0]));
		ConnectionConfigFactory connections = new ConnectionConfigFactory();
		connections.setMaxLogins(500);
		connections.setMaxThreads(64);
		FtpServerFactory server = new FtpServerFactory();
		server.addListener("default", listener.createListener());
		server.setConnectionConfig(connections.createConnectionConfig());
		BaseUser user = new BaseUser();
		user.setName("rj");
		user.setPassword("secret");
		user.setHomeDirectory(a[1]);
		user.setAuthorities(List.of(new WritePermission(), new ConcurrentLoginPermission(500, 500)));
		server.getUserManager().save(user);
		server.createServer().start();
	}
}
END
	store_launch "$port" java -Xmx400m -cp "$CLASSES" "$1/Serve.java" "$port" "$1/root" || return 1
	store_login ftp "$port"
}
