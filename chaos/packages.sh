#!/bin/sh
# What some proofs need beside Node, as root, on Debian or Ubuntu: a clock that can be moved (clock), PostgreSQL with
# Patroni, etcd, HAProxy and ip (failover), and file systems that can be cut off (power-cut). No server is set up or started by it.
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
apt-get install -y --no-install-recommends postgresql-common
sed -i "s/^#\?create_main_cluster.*/create_main_cluster = false/" /etc/postgresql-common/createcluster.conf
apt-get install -y --no-install-recommends libfaketime postgresql patroni etcd-server haproxy iproute2 e2fsprogs xfsprogs
