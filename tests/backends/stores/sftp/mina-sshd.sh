# SPDX-License-Identifier: GPL-2.0-or-later
STORE="Apache MINA SSHD"
REMARK="A library, here in a server of 20 lines; one process."
store_get() {
	get_jars org.apache.sshd sshd-sftp 2.16.0 org.apache.sshd sshd-core 2.16.0 \
		org.bouncycastle bcprov-jdk18on 1.80 org.bouncycastle bcpkix-jdk18on 1.80
}
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	cat >"$1/Serve.java" <<'END'
import java.nio.file.Path;
import java.util.List;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.keyprovider.SimpleGeneratorHostKeyProvider;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
public class Serve {
	public static void main(String[] a) throws Exception {
		SshServer server = SshServer.setUpDefaultServer();
		server.setHost("127.0.0.1");
		server.setPort(Integer.parseInt(a[0]));
		server.setKeyPairProvider(new SimpleGeneratorHostKeyProvider(Path.of(a[1] + ".key")));
		server.setPasswordAuthenticator((user, password, session) -> user.equals("rj") && password.equals("secret"));
		server.setSubsystemFactories(List.of(new SftpSubsystemFactory()));
		server.setFileSystemFactory(new VirtualFileSystemFactory(Path.of(a[1])));
		server.start();
		Thread.sleep(Long.MAX_VALUE);
	}
}
END
	store_launch "$port" java -Xmx400m -cp "$CLASSES" "$1/Serve.java" "$port" "$1/root" || return 1
	store_login sftp "$port"
}
