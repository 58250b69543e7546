import { readFileSync } from 'node:fs';

function required(env, name) {
  const value = env[name];
  if (!value) throw new Error(`environment variable ${name} is missing`);
  return value;
}

function origin(env, name) {
  const url = new URL(required(env, name));
  if (url.pathname !== '/' || url.search || url.hash) throw new Error(`${name} must be an origin, without a path`);
  return url.origin;
}

/** Reads the configuration from environment variables. */
export function readConfig(env = process.env) {
  const baseUrl = origin(env, 'GATEWAY_BASE_URL');
  const coreUrl = origin(env, 'GATEWAY_CORE_URL');
  const secure = baseUrl.startsWith('https:') || coreUrl.startsWith('https:');
  return {
    baseUrl,
    coreUrl,
    issuer: `${coreUrl}/`,
    controlUrl: new URL(required(env, 'GATEWAY_CONTROL_URL')),
    controlToken: env.GATEWAY_CONTROL_TOKEN || null,
    tls: secure
      ? {
          cert: readFileSync(required(env, 'GATEWAY_TLS_CERT_FILE')),
          key: readFileSync(required(env, 'GATEWAY_TLS_KEY_FILE')),
        }
      : null,
  };
}
