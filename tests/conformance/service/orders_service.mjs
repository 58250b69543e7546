// An operator's service without a framework: what another language and another author would write.
import { createServer } from "node:https";
import { readFileSync } from "node:fs";
import { createPublicKey, verify } from "node:crypto";

const env = process.env;
const indicator = env.GATEPROOF_RESOURCE_INDICATOR;
const service = new URL(env.GATEPROOF_SERVICE_URL);
const metadataPath = "/.well-known/oauth-protected-resource";
const algorithms = {
  ES256: { name: "sha256", options: { dsaEncoding: "ieee-p1363" } },
  RS256: { name: "sha256", options: {} },
};

let discovered = null;
async function discover() {
  const found = await documentAt(`${env.GATEPROOF_AUTHORIZATION_SERVER}/.well-known/openid-configuration`);
  const { keys } = await documentAt(found.jwks_uri);
  if (!Array.isArray(keys)) throw new Error("no key set");
  return (discovered = { ...found, keys });
}

async function documentAt(url) {
  const answer = await ask(url);
  if (!answer.ok) throw new Error("no document");
  return answer.json();
}

function parse(part) {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}

function signedBy(keys, parts, header) {
  const algorithm = Object.hasOwn(algorithms, header.alg) ? algorithms[header.alg] : null;
  const jwk = algorithm && keys.find((key) => key.kid === header.kid && (key.alg ?? header.alg) === header.alg);
  if (!jwk) return false;
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), ...algorithm.options };
  return verify(algorithm.name, Buffer.from(`${parts[0]}.${parts[1]}`), key, Buffer.from(parts[2], "base64url"));
}

async function accepted(token) {
  const parts = token.split(".");
  if (parts.length !== 3 || parts.some((part) => !/^[A-Za-z0-9_-]+$/.test(part))) return false;
  const [header, claims] = [parse(parts[0]), parse(parts[1])];
  if (!header || !claims || typeof header !== "object" || typeof claims !== "object" || header.crit) return false;
  let known = discovered ?? (await discover());
  if (!known.keys.some((key) => key.kid === header.kid)) known = await discover();
  if (!signedBy(known.keys, parts, header)) return false;
  const audience = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  return (
    claims.iss === known.issuer &&
    audience.includes(indicator) &&
    typeof claims.exp === "number" &&
    claims.exp > Date.now() / 1000
  );
}

let proxyToken = null;
let fetching = null;
async function newProxyToken() {
  const basic = Buffer.from(`${env.GATEPROOF_PROXY_CLIENT_ID}:${env.GATEPROOF_PROXY_CLIENT_SECRET}`).toString("base64");
  const answer = await ask((discovered ?? (await discover())).token_endpoint, {
    method: "POST",
    headers: { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials",
  });
  const said = await answer.json();
  if (answer.status !== 200 || typeof said?.access_token !== "string") throw new Error("no Proxy token");
  proxyToken = { value: said.access_token, until: Date.now() + (said.expires_in - 10) * 1000 };
  return proxyToken;
}

async function currentProxyToken() {
  if (proxyToken && Date.now() < proxyToken.until) return proxyToken;
  fetching ??= newProxyToken().finally(() => (fetching = null));
  return fetching;
}

function ask(url, options) {
  return fetch(url, { ...options, redirect: "manual", signal: AbortSignal.timeout(4000) });
}

async function redeem(token, proxy) {
  return ask(`${env.GATEPROOF_BASE_URL}/api/credentials/token`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "x-proxy-token": proxy.value,
      "content-type": "application/json",
    },
    body: JSON.stringify({ resource: indicator }),
  });
}

async function orders(token) {
  let answer = await redeem(token, await currentProxyToken());
  if (answer.status === 401) {
    proxyToken = null;
    answer = await redeem(token, await currentProxyToken());
  }
  if (answer.status === 410) return { status: 401 };
  if (answer.status !== 200) return { status: 502 };
  const merchantToken = (await answer.json()).access_token;
  if (typeof merchantToken !== "string") return { status: 502 };
  const found = await ask(`${env.GATEPROOF_MERCHANT_API_URL}/orders`, {
    headers: { authorization: `Bearer ${merchantToken}` },
  });
  const said = found.status === 200 ? await found.json() : null;
  return Array.isArray(said?.orders) ? { status: 200, orders: said.orders } : { status: 502 };
}

function say(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function challenge(response) {
  const pointer = `${service.origin}${metadataPath}`;
  say(response, 401, { error: "unauthorized" }, { "www-authenticate": `Bearer resource_metadata=${pointer}` });
}

async function handle(request, response) {
  request.resume();
  if (request.url === metadataPath) {
    const servers = [env.GATEPROOF_AUTHORIZATION_SERVER];
    return say(response, 200, { resource: service.origin, authorization_servers: servers });
  }
  if (request.url.split("?")[0] !== "/api/my-orders") return say(response, 404, {});
  const [, token] = /^bearer +([^\s]+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (!token || !(await accepted(token))) return challenge(response);
  const found = await orders(token);
  if (found.status === 401) return challenge(response);
  if (found.status !== 200) return say(response, found.status, { error: "upstream" });
  say(response, 200, { result: { lines: found.orders.map((order) => `${order.id}: ${order.item}`) } });
}

const tls = { cert: readFileSync(env.GATEPROOF_TLS_CERT_FILE), key: readFileSync(env.GATEPROOF_TLS_KEY_FILE) };
createServer(tls, (request, response) => {
  response.on("finish", () => console.log(request.method, request.url.split("?")[0], response.statusCode));
  handle(request, response).catch(() => say(response, 503, { error: "unavailable" }));
}).listen(Number(service.port), service.hostname);
