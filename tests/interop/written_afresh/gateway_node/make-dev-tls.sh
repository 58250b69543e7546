#!/bin/sh
# Makes a certificate for 127.0.0.1 below dev-tls/, for tests on this machine.
set -eu
cd "$(dirname "$0")"
mkdir -p dev-tls
cd dev-tls
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=gateway dev CA" \
  -keyout ca-key.pem -out ca.pem -addext "keyUsage=critical,keyCertSign,cRLSign" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=127.0.0.1" -keyout key.pem -out request.pem 2>/dev/null
printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\nauthorityKeyIdentifier=keyid\n' > extensions.cnf
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 90 -extfile extensions.cnf -out cert.pem 2>/dev/null
rm -f request.pem extensions.cnf ca.srl
