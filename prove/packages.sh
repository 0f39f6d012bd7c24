#!/bin/sh
# What some proofs need beside Node, as root, on Debian or Ubuntu: a clock that can be moved (clock), and PostgreSQL with
# Patroni, etcd, HAProxy and ip (failover). No server is set up or started by it.
set -e
apt-get install -y --no-install-recommends postgresql-common
sed -i "s/^#\?create_main_cluster.*/create_main_cluster = false/" /etc/postgresql-common/createcluster.conf
RUNLEVEL=1 apt-get install -y --no-install-recommends libfaketime postgresql patroni etcd-server haproxy iproute2
