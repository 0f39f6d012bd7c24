#!/bin/sh
# Unpacks the PgBouncer of Debian 13 with its libraries into a folder, for a Debian whose own is older than 1.21 and so
# cannot share sessions. The archive of Debian signs it, as it does the packages of this machine. Changes nothing else.
set -e
folder=${1:?folder}
[ ! -x "$folder/pgbouncer" ] || exit 0
release='trixie'
packages='pgbouncer libc6 libcares2 libevent-2.1-7t64 libpam0g libssl3t64 libsystemd0 libaudit1 libcap-ng0 libcap2 zlib1g libzstd1'
. /etc/os-release
archive=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" 'Component: main' | head -1)
[ "$ID" = debian ] && [ -n "$archive" ]
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $archive $release main" >"$work/sources.list"
apt() {
  timeout 180 apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@"
}
apt update
cd "$work"
apt download $packages
for package in *.deb; do dpkg-deb -x "$package" "$work/root"; done
cp -a "$work/root/usr/sbin/pgbouncer" "$folder/program"
mkdir -p "$folder/lib"
cp -a "$work/root/usr/lib/$(uname -m)-linux-gnu/." "$folder/lib"
loader=$(find "$folder/lib" -maxdepth 1 -name 'ld-linux*' | head -1)
printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$loader" "$folder/lib" "$folder/program" >"$folder/pgbouncer.new"
chmod 755 "$folder/pgbouncer.new"
mv "$folder/pgbouncer.new" "$folder/pgbouncer"
