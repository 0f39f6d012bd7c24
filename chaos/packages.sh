#!/bin/sh
# Installs what some chaos tests need besides Node, as root on Debian or Ubuntu: libfaketime (clock), PostgreSQL with
# Patroni, etcd, HAProxy and ip (failover), pgBackRest (own-server), and file system tools (power-cut). It does not set up or start any server.
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
apt-get install -y --no-install-recommends postgresql-common
sed -i "s/^#\?create_main_cluster.*/create_main_cluster = false/" /etc/postgresql-common/createcluster.conf
apt-get install -y --no-install-recommends libfaketime postgresql pgbackrest patroni etcd-server haproxy iproute2 e2fsprogs xfsprogs
