# SPDX-License-Identifier: GPL-2.0-or-later
# nginx's DAV module: it has no PROPFIND, and does not look at If-None-Match. It
# serves as an S3 that does not know what it does not know: it takes PUT, and
# minds no signature. For what stands where see frame.sh.

nginx_missing() { b_missing nginx; }

nginx_start() {
	NGINX_PORT=$(free_port)
	mkdir -p "$1"/{root/bucket,tmp} || return 1
	cat >"$1/nginx.conf" <<END
$([ "$(id -u)" != 0 ] || echo "user root;")
daemon off;
worker_processes 1;
pid $1/nginx.pid;
error_log $1/error.log;
events { worker_connections 128; }
http {
	access_log off;
	client_body_temp_path $1/tmp;
	proxy_temp_path $1/tmp;
	fastcgi_temp_path $1/tmp;
	uwsgi_temp_path $1/tmp;
	scgi_temp_path $1/tmp;
	client_max_body_size 32m;
	server {
		listen 127.0.0.1:$NGINX_PORT;
		root $1/root;
		dav_methods PUT DELETE MKCOL COPY MOVE;
		create_full_put_path on;
		add_header ETag '"0"' always;
	}
}
END
	setsid nginx -c "$1/nginx.conf" -e "$1/error.log" >"$1/out.log" 2>&1 </dev/null &
	at_exit b_end $!
	wait_for 30 listens "$NGINX_PORT" || return 1
	b_conf "s3+http://127.0.0.1:$NGINX_PORT" "user = u" "password = p"
	b_conf "dav://127.0.0.1:$NGINX_PORT" "user = u" "password = p"
	NGINX_DAV=dav://127.0.0.1:$NGINX_PORT/bucket/journals
	B_URL=s3+http://127.0.0.1:$NGINX_PORT/bucket/journals
}
