#!/bin/sh
# The programs of PostgreSQL refuse a user id without a name, and a container can run as any. The line gives it a name:
# /var/lib/extrausers/passwd leads to this file. The library ignores groups below 500.
if ! getent passwd "$(id -u)" >/dev/null; then
  echo "records:x:$(id -u):60000::/nonexistent:/usr/sbin/nologin" >/tmp/passwd
fi
exec "$@"
