import { calculateJwkThumbprintUri, exportJWK, generateKeyPair } from 'jose';

async function createKey(algorithm) {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprintUri(jwk);
  return { kid, algorithm, privateKey, publicKey, jwk: { ...jwk, kid, alg: algorithm, use: 'sig' } };
}

/** Signing keys of one issuer: the newest signs, the older ones stay published. */
export class KeyRing {
  #keys = [];

  constructor(algorithm) {
    this.algorithm = algorithm;
  }

  static async create(algorithm) {
    const ring = new KeyRing(algorithm);
    await ring.rotate();
    return ring;
  }

  async rotate() {
    this.#keys.unshift(await createKey(this.algorithm));
  }

  get current() {
    return this.#keys[0];
  }

  byKid(kid) {
    return this.#keys.find((key) => key.kid === kid);
  }

  publicSet() {
    return { keys: this.#keys.map((key) => key.jwk) };
  }
}
