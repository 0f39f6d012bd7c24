#!/bin/sh
# What some proofs need beside Node: a clock that can be moved. As root, on Debian or Ubuntu.
set -e
apt-get install -y --no-install-recommends libfaketime
