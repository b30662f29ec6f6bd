#!/bin/sh
# Installs svc {{version}} or another version: a release's executable for this machine, checked by the key below.
# Everything is in one function that the last line calls, so that a script that was cut on its way does nothing.
install_svc() {
  set -eu

  public_key='{{publicKey}}'
  index='{{index}}'
  # What is slower than this is given up: bytes in seconds.
  least_bytes=10240
  stall_seconds=20

  usage='usage: install.sh [--version V] [--dir D] [--from FOLDER|URL] [--dry-run] [--insecure-skip-signature]

  --version V   the version to install; else the newest one
  --dir D       where to put svc; else /usr/local/bin, or ~/.local/bin where that cannot be written
  --from F      the folder of a release, on this machine or at an https address
  --dry-run     check the release and say what would be done
  --insecure-skip-signature
                believe SHA256SUMS without its signature: whoever can change the release can then change svc'

  say() { printf '%s\n' "$*"; }
  warn() { printf 'install.sh: %s\n' "$*" >&2; }
  die() {
    warn "$*"
    exit 1
  }
  wrong_usage() {
    warn "$*"
    printf '%s\n' "$usage" >&2
    exit 2
  }
  has() { command -v "$1" >/dev/null 2>&1; }

  read_flags() {
    version='' dir='' from='' is_dry=no is_signed=yes
    while [ $# -gt 0 ]; do
      case $1 in
        --version | --dir | --from)
          [ $# -ge 2 ] && [ -n "$2" ] || wrong_usage "$1 needs a value"
          case $1 in
            --version) version=$2 ;;
            --dir) dir=$2 ;;
            --from) from=$2 ;;
          esac
          shift
          ;;
        --version=?* | --dir=?* | --from=?*)
          flag=${1%%=*} value=${1#*=}
          shift
          set -- "$flag" "$flag" "$value" "$@"
          ;;
        --dry-run) is_dry=yes ;;
        --insecure-skip-signature) is_signed=no ;;
        --help | -h)
          say "$usage"
          exit 0
          ;;
        *) wrong_usage "there is no flag $1" ;;
      esac
      shift
    done
    case $version in
      *[!0-9A-Za-z.+-]* | [!0-9]*) wrong_usage "--version is a version such as 1.2.3, not $version" ;;
    esac
  }

  # The name of this machine in a release.
  find_platform() {
    system=$(uname -s) machine=$(uname -m)
    case $machine in
      x86_64 | amd64) cpu=x64 ;;
      aarch64 | arm64) cpu=arm64 ;;
      *) cpu=$machine ;;
    esac
    case $system in
      Linux) platform=linux-$cpu ;;
      Darwin) platform=darwin-$cpu ;;
      MINGW* | MSYS* | CYGWIN* | Windows*)
        die "there is nothing to install for Windows ($system) here; type: npm install -g {{npm.package}}"
        ;;
      *) platform=$system-$cpu ;;
    esac
    if [ "$system" = Linux ] && is_musl; then platform=$platform-musl; fi
    case $platform in
      linux-x64 | linux-arm64 | darwin-x64 | darwin-arm64) ;;
      *) die "there is no svc for $platform; there are linux-x64 and linux-arm64 (with glibc), darwin-x64 and darwin-arm64" ;;
    esac
  }

  is_musl() {
    if has ldd; then
      case $(ldd --version 2>&1 || :) in *musl*) return 0 ;; *) return 1 ;; esac
    fi
    for loader in /lib/ld-musl-*; do [ ! -e "$loader" ] || return 0; done
    return 1
  }

  # Where the release lies: $from. An address is reached by https, or by http on this machine.
  find_source() {
    if [ -z "$from" ]; then
      [ -n "$version" ] || find_latest
      from=${index%/*}/$version
    fi
    case $from in
      *://*)
        case $from in *[?#]*) wrong_usage "--from is the address of a folder, so without ? and #" ;; esac
        case $from in
          https://?*) ;;
          *) is_loopback "$from" || die "$from is not reached by https, so it is not asked" ;;
        esac
        has curl || has wget || die "neither curl nor wget is here to ask $from; install one of them"
        ;;
      *)
        [ -d "$from" ] || die "there is no folder $from"
        case $from in /*) ;; *) from=$(pwd)/$from ;; esac
        ;;
    esac
    while [ "$from" != "${from%/}" ] && [ "$from" != / ]; do from=${from%/}; done
  }

  is_loopback() {
    case $1 in http://*) ;; *) return 1 ;; esac
    authority=${1#http://}
    authority=${authority%%/*}
    case $authority in
      '[::1]' | localhost | 127.0.0.1) return 0 ;;
      '[::1]:'*) port=${authority#'[::1]:'} ;;
      localhost:* | 127.0.0.1:*) port=${authority#*:} ;;
      *) return 1 ;;
    esac
    case $port in '' | *[!0-9]*) return 1 ;; esac
  }

  find_latest() {
    from=${index%/*}
    fetch "${index##*/}" 4194304
    version=$(sed -n 's/^ *"latest": "\([0-9A-Za-z.+-]*\)",*$/\1/p' "$work/${index##*/}")
    [ -n "$version" ] || die "$index names no release; name a version by --version"
  }

  # Takes the file $1 of the release, of at most $2 bytes, into the work folder.
  fetch() {
    read_source "$from/$1" >"$work/$1" &
    fetching=$!
    watch_growth "$work/$1" "$2" || die "$from/$1 was given up: $reason"
    wait "$fetching" ||
      die "$from/$1 could not be read, or not be written below $work: if that disk is full, name another temporary folder by TMPDIR"
    fetching=''
  }

  # Becomes the program that reads, so that this can be ended.
  read_source() {
    case $1 in
      https://*) ask "$1" '=https' ;;
      http://*) ask "$1" '=http,https' ;;
      *) exec cat "$1" ;;
    esac
  }

  # Follows to https alone; wget, which cannot tell, follows nowhere.
  ask() {
    if has curl; then
      exec curl --fail --silent --show-error --location --max-redirs 5 --proto "$2" --proto-redir '=https' \
        --no-buffer --connect-timeout 20 "$1"
    else
      exec wget --quiet --tries=1 --timeout=20 --max-redirect=0 --output-document=- "$1"
    fi
  }

  watch_growth() {
    size=0 since=$(date +%s) pause=0.02
    while kill -0 "$fetching" 2>/dev/null; do
      sleep "$pause" 2>/dev/null || sleep 1
      pause=0.2 is_now=$(wc -c <"$1") now=$(date +%s)
      if [ "$is_now" -gt "$2" ]; then
        reason="it is larger than $2 bytes"
        return 1
      fi
      if [ $((now - since)) -ge "$stall_seconds" ]; then
        reason="it comes slower than $least_bytes bytes in $stall_seconds seconds"
        if [ $((is_now - size)) -lt "$least_bytes" ] && kill "$fetching" 2>/dev/null; then return 1; fi
        size=$is_now since=$now
      fi
    done
  }

  sum_of() {
    if has sha256sum; then
      sha256sum <"$1"
    elif has shasum; then
      shasum -a 256 <"$1"
    else
      openssl dgst -sha256 -r <"$1"
    fi | cut -c 1-64
  }

  # The sum that SHA256SUMS has for the file $1.
  listed_sum() {
    sed -n "s/^\([0-9a-f]\{64\}\)  $1\$/\1/p" "$work/SHA256SUMS"
  }

  # Sets $openssl to one that can check Ed25519 signatures.
  find_openssl() {
    for openssl in openssl /opt/homebrew/opt/openssl@3/bin/openssl /usr/local/opt/openssl@3/bin/openssl; do
      if has "$openssl" && is_able; then return; fi
    done
    die "no openssl is here that can check Ed25519 signatures (LibreSSL, as macOS has it, cannot). Install OpenSSL 1.1.1 or newer:
  apt install openssl, dnf install openssl, or brew install openssl@3.
Or say --insecure-skip-signature: then svc is what the server of the release says, whoever wrote it there."
  }

  # It finds a signature of RFC 8032 §7.1 right.
  is_able() {
    case $("$openssl" version 2>/dev/null || :) in LibreSSL*) return 1 ;; esac
    printf '\257\202' >"$work/known"
    verifies '/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=' \
      'YpHWV97sJAJIJ+acOr4BowzlSKKEdDpEXjaA19taw6wY/5tTjRbykK5n92CYTcZZSnwV6XFu0o3AJ77O6h7ECg==' "$work/known"
  }

  # Whether the base64 $2 is the signature of the file $3 by the public key $1. The 12 bytes in front make it an SPKI (RFC 8410).
  verifies() {
    printf '%s\n' '-----BEGIN PUBLIC KEY-----' "MCowBQYDK2VwAyEA$1" '-----END PUBLIC KEY-----' >"$work/key.pem"
    printf '%s\n' "$2" | "$openssl" base64 -d -A >"$work/signature" 2>/dev/null || return 1
    "$openssl" pkeyutl -verify -rawin -pubin -inkey "$work/key.pem" -sigfile "$work/signature" -in "$3" >/dev/null 2>&1
  }

  # On a full disk the checks below would fail for reasons that are none.
  check_room() {
    printf '%065536d' 0 >"$work/room" 2>/dev/null || :
    [ "$(wc -c <"$work/room")" -eq 65536 ] || no_room
    rm -f "$work/room"
  }

  no_room() {
    die "$work cannot be written: its disk is full. Make room, or name another temporary folder by TMPDIR; nothing was changed"
  }

  # Before anything else of the release is read.
  read_sums() {
    check_room
    if [ "$is_signed" = yes ]; then find_openssl; fi
    fetch SHA256SUMS 1048576
    [ -s "$work/SHA256SUMS" ] || die "$from/SHA256SUMS is empty, so nothing of this release is taken"
    if [ "$is_signed" = no ]; then
      warn "the signature was not looked at: this svc is what $from says, whoever wrote it there"
      return
    fi
    fetch SHA256SUMS.sig 1024
    verifies "$public_key" "$(cat "$work/SHA256SUMS.sig")" "$work/SHA256SUMS" ||
      die "the signature of $from/SHA256SUMS is wrong, so nothing of this release is taken"
  }

  # An old release has a good signature, too.
  check_version() {
    fetch release.json 4194304
    [ "$(sum_of "$work/release.json")" = "$(listed_sum 'release\.json')" ] ||
      die "$from/release.json is not the one that SHA256SUMS names, so nothing of this release is taken"
    found=$(sed -n 's/^  "version": "\([0-9A-Za-z.+-]*\)",$/\1/p' "$work/release.json")
    [ "$found" = "${version:-$found}" ] || die "$from holds svc $found, not $version"
    version=$found
  }

  find_dir() {
    if [ -n "$dir" ]; then
      case $dir in /*) ;; *) dir=$(pwd)/$dir ;; esac
    elif [ -d /usr/local/bin ] && [ -w /usr/local/bin ]; then
      dir=/usr/local/bin
    else
      [ -n "${HOME:-}" ] || die "/usr/local/bin cannot be written and HOME is not set; say where to by --dir"
      dir=$HOME/.local/bin
    fi
    [ ! -d "$dir/svc" ] || die "$dir/svc is a folder; name another place by --dir"
  }

  say_path() {
    case :${PATH:-}: in *:"$dir":*) ;; *) say "$dir is not on the PATH: add it, or run $dir/svc" ;; esac
  }

  install_executable() {
    wanted=$(listed_sum "svc-$platform")
    [ -n "$wanted" ] || die "this release of svc $version has no svc-$platform"
    if [ -f "$dir/svc" ] && [ -x "$dir/svc" ] && [ "$(sum_of "$dir/svc")" = "$wanted" ]; then
      say "svc $version is at $dir/svc already"
      say_path
      return
    fi
    if [ "$is_dry" = yes ]; then
      say "would put svc $version (svc-$platform of $from) at $dir/svc"
      say_path
      return
    fi
    fetch "svc-$platform" 536870912
    [ -s "$work/svc-$platform" ] || die "$from/svc-$platform is empty, so it is not installed"
    [ "$(sum_of "$work/svc-$platform")" = "$wanted" ] ||
      die "$from/svc-$platform is not the one that SHA256SUMS names: it was changed or cut, so it is not installed"
    put_in_place
    say "svc $version is at $dir/svc"
    say_path
  }

  # Whole or not at all.
  put_in_place() {
    mkdir -p "$dir" 2>/dev/null && [ -w "$dir" ] || die "$dir cannot be written; run this as root, or name another place by --dir"
    partial=$dir/.svc-$$.partial
    cp "$work/svc-$platform" "$partial" && chmod 0755 "$partial" && mv -f "$partial" "$dir/svc" ||
      die "$dir/svc cannot be written; nothing was changed"
    partial=''
  }

  clean_up() {
    [ -z "$fetching" ] || kill "$fetching" 2>/dev/null || :
    [ -z "$partial" ] || rm -f "$partial"
    rm -rf "$work"
  }

  read_flags "$@"
  find_platform
  find_dir
  has sha256sum || has shasum || has openssl || die "none of sha256sum, shasum and openssl is here to check what is fetched; install one"
  fetching='' partial=''
  work=$(mktemp -d "${TMPDIR:-/tmp}/svc-install-XXXXXX") || die "no folder can be made in ${TMPDIR:-/tmp}"
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  find_source
  read_sums
  check_version
  install_executable
}

{ install_svc "$@"; }
