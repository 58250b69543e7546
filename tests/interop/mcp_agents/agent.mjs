// The TypeScript MCP SDK's client as an agent, its authorization provider made as the SDK's examples make it.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const env = process.env;

function read(name) {
  try {
    return JSON.parse(readFileSync(join(env.GATEPROOF_STATE_DIR, name), "utf8"));
  } catch {
    return undefined;
  }
}

function write(name, value) {
  mkdirSync(env.GATEPROOF_STATE_DIR, { recursive: true, mode: 0o700 });
  writeFileSync(join(env.GATEPROOF_STATE_DIR, name), JSON.stringify(value), { mode: 0o600 });
}

class Provider {
  verifier = "";
  sent = "";
  came = undefined;
  get redirectUrl() {
    return env.GATEPROOF_CALLBACK_URL;
  }
  get clientMetadata() {
    return {
      client_name: "TypeScript SDK",
      redirect_uris: [env.GATEPROOF_CALLBACK_URL],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_post",
    };
  }
  clientInformation() {
    return read("client.json");
  }
  saveClientInformation(client) {
    write("client.json", client);
  }
  tokens() {
    return read("tokens.json");
  }
  saveTokens(tokens) {
    write("tokens.json", tokens);
  }
  invalidateCredentials(scope) {
    if (scope === "all" || scope === "tokens") write("tokens.json", null);
    if (scope === "all" || scope === "client") write("client.json", null);
  }
  // The SDK draws no state of its own: without this method there is none.
  state() {
    this.sent = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
    return this.sent;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
  async redirectToAuthorization(url) {
    this.came = await redirected(url.href);
  }
}

function redirected(url) {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(env.GATEPROOF_CALLBACK_URL);
    const server = createServer(
      { cert: readFileSync(env.GATEPROOF_TLS_CERT_FILE), key: readFileSync(env.GATEPROOF_TLS_KEY_FILE) },
      (request, response) => {
        response.writeHead(200, { "Content-Type": "text/plain", Connection: "close" });
        response.end("done\n", () => {
          server.close();
          resolve(new URL(request.url, env.GATEPROOF_CALLBACK_URL).searchParams);
        });
      },
    );
    server.listen(Number(port), hostname, () => {
      spawn(env.BROWSER, [url], { stdio: "ignore" }).on("exit", () =>
        setTimeout(() => {
          server.close();
          server.closeAllConnections();
          reject(new Error("no code came"));
        }, 2_000).unref(),
      );
    });
  });
}

async function orders() {
  const provider = new Provider();
  const url = new URL(`${env.GATEPROOF_SERVICE_URL}/mcp`);
  const made = () => new StreamableHTTPClientTransport(url, { authProvider: provider });
  const client = new Client({ name: "orders", version: "1" });
  let transport = made();
  for (let authorizations = 0; ; authorizations++) {
    try {
      await client.connect(transport);
      break;
    } catch (problem) {
      if (!(problem instanceof UnauthorizedError) || authorizations === 2) throw problem;
      // Whether the state is the one that was sent is for the agent to see to.
      if (provider.came.getAll("state").join() !== provider.sent) throw new Error("a redirect for somebody else");
      await transport.finishAuth(provider.came.get("code"));
      transport = made();
    }
  }
  const result = await client.callTool({ name: "list_orders", arguments: {} });
  await client.close();
  return JSON.parse(result.content[0].text).orders;
}

orders().then(
  (found) => {
    console.log(`read ${found.length} orders`);
    process.exit(0);
  },
  (problem) => {
    console.error(`agent: ${problem.name}: ${problem.message}`);
    process.exit(1);
  },
);
