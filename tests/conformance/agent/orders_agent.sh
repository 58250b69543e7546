#!/bin/sh
# An agent that reads a user's orders, in sh, with curl for everything that it asks and openssl for its callback.
set -eu

state=$GATEPROOF_STATE_DIR
work=$(mktemp -d)
trap '[ -z "${listening:-}" ] || kill "$listening" 2>/dev/null || :; rm -rf "$work"' EXIT
umask 077

fail() { echo "orders agent: $*" >&2; exit 1; }
# Whatever is asked, it is https with a good certificate, and no redirect is followed.
ask() { curl -sS --proto =https --max-time 10 --cacert "$GATEPROOF_CA_FILE" "$@"; }
# A string member of a JSON object, or the first string of an array.
member() { tr -d '\n' | sed -n "s/.*\"$1\" *: *\[\{0,1\} *\"\([^\"]*\)\".*/\1/p"; }
# A parameter of the query in front of it.
parameter() { tr '?&' '\n\n' | sed -n "s/^$1=//p"; }
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
encoded() { printf %s "$1" | od -An -tx1 -v | tr -d ' \n' | sed 's/../%&/g'; }

operate() {
    # The token is in no argument: those can be read by everybody on the machine.
    status=$(
        { [ -z "${token:-}" ] || printf 'header = "Authorization: Bearer %s"\n' "$token"; } |
            ask -K - -o "$work/orders" -D "$work/headers" -w '%{http_code}' "$GATEPROOF_SERVICE_URL/orders"
    ) || fail "the service gives no answer"
}

discover() {
    metadata_url=$(sed -n 's/^[Ww][Ww][Ww]-[Aa]uthenticate:.*resource_metadata="\{0,1\}\([^", ]*\).*/\1/p' \
        "$work/headers" | tr -d '\r')
    [ -n "$metadata_url" ] || fail "the service does not say where its metadata are"
    ask -f -o "$work/metadata" "$metadata_url" || fail "no metadata"
    [ "$(member resource <"$work/metadata")" = "$GATEPROOF_SERVICE_URL" ] || fail "metadata of another service"
    server=$(member authorization_servers <"$work/metadata")
    ask -f -o "$work/discovery" "$server/.well-known/openid-configuration" || fail "no discovery document"
    authorization_endpoint=$(member authorization_endpoint <"$work/discovery")
    token_endpoint=$(member token_endpoint <"$work/discovery")
    registration_endpoint=$(member registration_endpoint <"$work/discovery")
}

register() {
    client=$state/client-$(printf %s "$server" | openssl dgst -sha256 -r | cut -c1-16)
    if [ ! -s "$client" ]; then
        ask -f -o "$work/client" -H 'Content-Type: application/json' --data @- "$registration_endpoint" <<JSON ||
{"client_name": "Orders in sh", "redirect_uris": ["$GATEPROOF_CALLBACK_URL"],
 "grant_types": ["authorization_code"], "response_types": ["code"],
 "token_endpoint_auth_method": "client_secret_post"}
JSON
            fail "the gateway refuses the registration"
        [ -n "$(member client_secret <"$work/client")" ] || fail "the registration brings no client"
        mv "$work/client" "$client"
    fi
    client_id=$(member client_id <"$client")
    client_secret=$(member client_secret <"$client")
}

# Whoever comes to the callback is shown one line, and what was asked for is in $work/request.
listen() {
    place=${GATEPROOF_CALLBACK_URL#https://}
    : >"$work/request"
    {
        printf 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ndone\n'
        sleep 20
    } | openssl s_server -quiet -naccept 1 -accept "${place%%/*}" -cert "$GATEPROOF_TLS_CERT_FILE" \
        -key "$GATEPROOF_TLS_KEY_FILE" >"$work/request" 2>/dev/null &
    listening=$!
}

redirected() {
    tries=0
    "$BROWSER" "$1" >/dev/null 2>&1 &
    browser=$!
    until grep -q '^GET ' "$work/request"; do
        # A browser that is done without coming here has no code: an operator may have to approve the agent.
        kill -0 "$browser" 2>/dev/null || tries=$((tries + 1))
        [ "$tries" -lt 20 ] || fail "no code came"
        sleep 0.05
    done
    answer=$(sed -n 's/^GET \([^ ]*\) .*/\1/p' "$work/request" | head -n 1)
    wait "$browser" 2>/dev/null || :
    kill "$listening" 2>/dev/null || :
}

authorize() {
    for attempt in 1 2 3; do
        verifier=$(openssl rand 32 | base64url)
        expected=$(openssl rand 16 | base64url)
        challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | base64url)
        listen
        redirected "$authorization_endpoint?response_type=code&client_id=$(encoded "$client_id")&redirect_uri=$(
            encoded "$GATEPROOF_CALLBACK_URL"
        )&scope=openid%20$(printf %s "$GATEPROOF_SCOPES" | sed 's/ /%20/g')&state=$expected&code_challenge=$challenge&code_challenge_method=S256"
        [ "$(printf %s "$answer" | parameter state)" = "$expected" ] || fail "the redirect is not for this agent"
        status=$(
            ask -K - -o "$work/tokens" -w '%{http_code}' "$token_endpoint" <<FORM
data-urlencode = "grant_type=authorization_code"
data = "code=$(printf %s "$answer" | parameter code)"
data-urlencode = "redirect_uri=$GATEPROOF_CALLBACK_URL"
data-urlencode = "client_id=$client_id"
data-urlencode = "client_secret=$client_secret"
data-urlencode = "code_verifier=$verifier"
FORM
        ) || fail "the token endpoint gives no answer"
        token=$(member access_token <"$work/tokens")
        if [ "$status" = 200 ] && [ -n "$token" ]; then
            printf %s "$token" >"$state/token"
            return
        fi
        [ "$(member error <"$work/tokens")" = invalid_grant ] || fail "the gateway gives no token: $status"
        echo "code $attempt was refused, once more from the start"
    done
    fail "every code is refused"
}

[ ! -s "$state/token" ] || token=$(cat "$state/token")
operate
for fresh in 1 2; do
    [ "$status" = 401 ] || break
    echo "authorizing, time $fresh"
    discover
    register
    authorize
    operate
done
[ "$status" = 200 ] || fail "the service does not serve the orders: $status"
echo "read $(grep -o '"id"' "$work/orders" | wc -l) orders"
