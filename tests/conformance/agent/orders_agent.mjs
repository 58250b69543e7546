// An agent that reads a user's orders, in Node, with nothing but what Node brings along.
import { createHash, randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";

const env = process.env;
const service = env.GATEPROOF_SERVICE_URL;
const kept = join(env.GATEPROOF_STATE_DIR, "orders-agent.json");
const base64url = (octets) => octets.toString("base64url");

class Failed extends Error {}

function state() {
  try {
    return JSON.parse(readFileSync(kept, "utf8"));
  } catch {
    return { clients: {} };
  }
}

function keep(changes) {
  mkdirSync(env.GATEPROOF_STATE_DIR, { recursive: true, mode: 0o700 });
  writeFileSync(kept, JSON.stringify({ ...state(), ...changes }), { mode: 0o600 });
}

// Node's fetch trusts NODE_EXTRA_CA_CERTS; a redirect is an answer like any other.
async function ask(url, options = {}) {
  if (!url.startsWith("https://")) throw new Failed("an address that is not https");
  try {
    return await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(10_000), ...options });
  } catch (problem) {
    throw new Failed(`${new URL(url).host} gives no answer: ${problem.cause?.code ?? problem.name}`);
  }
}

async function document(url) {
  const answer = await ask(url);
  if (answer.status !== 200) throw new Failed(`${new URL(url).pathname} cannot be read: ${answer.status}`);
  return answer.json().catch(() => ({}));
}

const operate = (token) =>
  ask(`${service}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "orders", version: "1" } },
    }),
  });

async function orders(token) {
  const met = await operate(token);
  if (met.status !== 200) return met;
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    Authorization: `Bearer ${token}`,
    "Mcp-Session-Id": met.headers.get("mcp-session-id") ?? "",
    "MCP-Protocol-Version": "2025-06-18",
  };
  const tell = (message) =>
    ask(`${service}/mcp`, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  await met.text();
  await (await tell({ method: "notifications/initialized" })).text();
  return tell({ id: 2, method: "tools/call", params: { name: "list_orders", arguments: {} } });
}

async function discovered(challenged) {
  const pointer = /resource_metadata="?([^",\s]+)/i.exec(challenged.headers.get("www-authenticate") ?? "");
  if (!pointer) throw new Failed("the service does not say where its metadata are");
  const metadata = await document(pointer[1]);
  if (metadata.resource !== service) throw new Failed("metadata of another service");
  const server = metadata.authorization_servers[0];
  return { server, ...(await document(`${server}/.well-known/openid-configuration`)) };
}

async function client(gateway) {
  const known = state().clients[gateway.server];
  if (known) return known;
  const answer = await ask(gateway.registration_endpoint, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      client_name: "Orders in Node",
      redirect_uris: [env.GATEPROOF_CALLBACK_URL],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_post",
    }),
  });
  const { client_id, client_secret } = await answer.json().catch(() => ({}));
  if (answer.status !== 201 || !client_secret) throw new Failed(`registration refused: ${answer.status}`);
  keep({ clients: { ...state().clients, [gateway.server]: { client_id, client_secret } } });
  return { client_id, client_secret };
}

// The query of the next redirect; the user's browser has two seconds for it after it is done.
function redirected(url) {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(env.GATEPROOF_CALLBACK_URL);
    const server = createServer(
      { cert: readFileSync(env.GATEPROOF_TLS_CERT_FILE), key: readFileSync(env.GATEPROOF_TLS_KEY_FILE) },
      (request, response) => {
        const came = new URL(request.url, env.GATEPROOF_CALLBACK_URL);
        response.writeHead(came.pathname === pathname ? 200 : 404, { "Content-Type": "text/plain", Connection: "close" });
        response.end("You may close this window.\n", () => {
          if (came.pathname !== pathname) return;
          server.close();
          resolve(came.searchParams);
        });
      },
    );
    server.on("error", reject);
    server.listen(Number(port), hostname, () => {
      const browser = spawn(env.BROWSER, [url], { stdio: "ignore" });
      browser.on("exit", () =>
        setTimeout(() => {
          server.close();
          server.closeAllConnections();
          reject(new Failed("no code came: it may be that an operator has to approve this agent"));
        }, 2_000).unref(),
      );
    });
  });
}

async function authorized(gateway) {
  const { client_id, client_secret } = await client(gateway);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const verifier = base64url(randomBytes(32));
    const expected = base64url(randomBytes(16));
    const parameters = {
      response_type: "code",
      client_id,
      redirect_uri: env.GATEPROOF_CALLBACK_URL,
      scope: `openid ${env.GATEPROOF_SCOPES}`,
      state: expected,
      code_challenge: base64url(createHash("sha256").update(verifier).digest()),
      code_challenge_method: "S256",
    };
    const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const came = await redirected(`${gateway.authorization_endpoint}?${query.join("&")}`);
    if (came.getAll("state").join() !== expected) throw new Failed("the redirect is not for this agent");
    const answer = await ask(gateway.token_endpoint, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: came.get("code") ?? "",
        redirect_uri: env.GATEPROOF_CALLBACK_URL,
        client_id,
        client_secret,
        code_verifier: verifier,
      }),
    });
    const tokens = await answer.json().catch(() => ({}));
    if (answer.status === 200 && tokens.access_token) {
      keep({ token: tokens.access_token });
      return tokens.access_token;
    }
    if (tokens.error !== "invalid_grant") throw new Failed(`no token: ${answer.status}`);
    console.log("the code was refused, once more from the start");
  }
  throw new Failed("every code is refused");
}

async function main() {
  let answer = await orders(state().token);
  for (let fresh = 0; answer.status === 401 && fresh < 2; fresh++) {
    answer = await orders(await authorized(await discovered(answer)));
  }
  if (answer.status !== 200) throw new Failed(`the service does not serve the orders: ${answer.status}`);
  const { result } = await answer.json();
  console.log(`read ${JSON.parse(result.content[0].text).orders.length} orders`);
}

main().then(
  () => process.exit(0),
  (problem) => {
    console.error(`orders agent: ${problem instanceof Failed ? problem.message : problem.name}`);
    process.exit(1);
  },
);
