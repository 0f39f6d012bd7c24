#!/bin/sh
# Installs what some slow tests need besides Node, as root on Debian or Ubuntu: Chromium, nginx and PgBouncer, of which
# an older Debian also gets a newer one in a folder of its own. It does not start a server. If it cannot install them it says so, and the tests that need them are skipped.
has() {
  for program; do
    command -v "$program" >/dev/null && return
  done
  return 1
}
missing=
has chromium chromium-browser google-chrome || missing=chromium
has nginx /usr/sbin/nginx || missing="$missing nginx"
has pgbouncer /usr/sbin/pgbouncer || missing="$missing pgbouncer"
newer_pgbouncer() {
  case $(pgbouncer --version 2>/dev/null | head -1) in
  'PgBouncer 1.1'[0-9].* | 'PgBouncer 1.20.'*)
    sh "$(dirname "$0")/newer-pgbouncer.sh" "${XDG_CACHE_HOME:-$HOME/.cache}/case-records-tests/pgbouncer" ||
      echo 'SLOW TESTS: those of shared sessions are skipped: PgBouncer is older than 1.21, and no newer one was found.' >&2
    ;;
  esac
}
[ -n "$missing" ] || { newer_pgbouncer && exit 0; }

skip() {
  echo "SLOW TESTS: some are skipped, because this cannot be installed: $missing ($1)." >&2
  exit 0
}
[ "$(id -u)" = 0 ] || skip 'not root'
has apt-get || skip 'no apt-get'
echo "Installing for the slow tests: $missing"
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
timeout 60 apt-get update -qq || echo 'apt-get update failed: trying the lists that are here.' >&2
# The download has a limit of its own, so that a slow one does not leave a program half unpacked.
options='-y -qq --no-install-recommends'
timeout 180 apt-get install $options --download-only $missing >/dev/null || skip 'apt-get could not download it'
timeout 180 apt-get install $options --no-download $missing >/dev/null || skip 'apt-get could not install it'
newer_pgbouncer
