import { createHash } from 'node:crypto';

const ADDRESSES = ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri'];

/** Checks what the Console was told of a merchant. Throws a TypeError that says what is wrong. */
export function readMerchant(value) {
  for (const name of ADDRESSES) {
    if (typeof value?.[name] !== 'string' || !URL.canParse(value[name])) throw new TypeError(`merchant.${name} is no URL`);
  }
  if (typeof value.client_id !== 'string' || !value.client_id) throw new TypeError('merchant.client_id is missing');
  const addresses = Object.fromEntries(ADDRESSES.map((name) => [name, value[name]]));
  return { addresses, clientId: value.client_id, caFile: value.ca_file ?? null, key: merchantKey(addresses) };
}

/** Two Resources have the same merchant if all its addresses are the same. */
function merchantKey(addresses) {
  return createHash('sha256').update(JSON.stringify(Object.values(addresses))).digest('hex').slice(0, 32);
}
