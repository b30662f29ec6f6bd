#!/usr/bin/env bash
# A Ceph object store of one monitor, OSDs in memory and one radosgw on loopback, for `npm run test:store`.
#   ceph.sh install                   the Debian packages, where they are missing
#   ceph.sh start FOLDER PORT [OSDS]  S3 at 127.0.0.1:PORT, of the user svckey / svcsecret; PORT+1 to PORT+40 are used too.
#                                     OSDS: 1, or 3 with a copy on each, of which one may be lost
#   ceph.sh stop FOLDER               ends what `start` began, by its pid files
set -euo pipefail

install() {
  for program in ceph-mon ceph-osd radosgw radosgw-admin haproxy varnishd; do
    command -v "$program" >/dev/null || missing=1
  done
  [ -z "${missing:-}" ] && return
  sudo=$([ "$(id -u)" = 0 ] || echo sudo)
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
    ceph-mon ceph-osd radosgw ceph-common haproxy varnish varnish-modules >/dev/null
}

configure() { # FOLDER PORT OSDS
  cat <<CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon initial members = a
mon host = [v2:127.0.0.1:$(($2 + 1))/0,v1:127.0.0.1:$(($2 + 2))/0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind port min = $(($2 + 3))
ms bind port max = $(($2 + 40))
auth allow insecure global id reclaim = false
mon data avail crit = 1
mon allow pool size one = true
mon warn on pool no redundancy = false
mon osd min down reporters = 1
osd pool default size = $3
osd pool default min size = $((($3 + 1) / 2))
osd pool default pg num = 8
osd pool default pgp num = 8
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
osd memory target = 939524096
osd fast shutdown = true
osd data = $1/osd/\$id
mon data = $1/mon
run dir = $1/run
admin socket = $1/run/\$name.asok
pid file = $1/run/\$name.pid
log file = $1/log/\$name.log
keyring = $1/keyring
rgw data = $1/rgw
rgw run sync thread = false
rgw dynamic resharding = false
[osd]
keyring = $1/osd/\$id/keyring
CONF
}

start() { # FOLDER PORT OSDS
  folder=$(realpath -m "$1")
  mkdir -p "$folder"/{mon,osd,rgw,run,log}
  cd "$folder"
  configure "$folder" "$2" "$3" >ceph.conf
  export CEPH_CONF="$folder/ceph.conf"

  # Without cephx radosgw never connects.
  ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *'
  ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
  monmaptool --create --clobber --fsid "$(sed -n 's/^fsid = //p' ceph.conf)" \
    --addv a "[v2:127.0.0.1:$(($2 + 1)),v1:127.0.0.1:$(($2 + 2))]" monmap
  ceph-mon --mkfs -i a --monmap monmap --keyring keyring
  ceph-mon -i a

  for number in $(seq 0 $(($3 - 1))); do start_osd "$number"; done

  # Without tcp_nodelay most answers wait 40 ms.
  radosgw -n client.admin --rgw-frontends "beast endpoint=127.0.0.1:$2 tcp_nodelay=1"
  radosgw-admin user create --uid=svc --display-name=svc --access-key=svckey --secret-key=svcsecret
  for _ in $(seq 300); do
    curl -s -o /dev/null "http://127.0.0.1:$2/" && return
    sleep 0.1
  done
  echo "radosgw does not answer at port $2; its logs are in $folder/log" >&2
  return 1
}

start_osd() { # NUMBER
  mkdir -p "osd/$1"
  id=$(cat /proc/sys/kernel/random/uuid)
  key=$(ceph-authtool --gen-print-key)
  echo "{\"cephx_secret\":\"$key\"}" | ceph osd new "$id" -i -
  ceph-authtool --create-keyring "osd/$1/keyring" --name "osd.$1" --add-key "$key"
  ceph-osd -i "$1" --mkfs --osd-uuid "$id"
  ceph-osd -i "$1"
}

stop() { # FOLDER
  for file in "$1"/run/*.pid; do
    [ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
  done
}

case "${1:-}" in
  install) install ;;
  start) mkdir -p "$2" && start "$2" "$3" "${4:-1}" >"$2/start.log" 2>&1 || { tail -20 "$2/start.log" >&2; exit 1; } ;;
  stop) stop "$2" ;;
  *) sed -n '2,6s/^# *//p' "$0"; exit 2 ;;
esac
