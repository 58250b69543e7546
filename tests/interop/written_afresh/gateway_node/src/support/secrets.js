import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A random value of 256 bits, in base64url. */
export function randomSecret() {
  return randomBytes(32).toString('base64url');
}

export function sha256(text) {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** The form in which secrets are kept: whoever reads the store cannot use them. */
export function fingerprint(secret) {
  return sha256(secret).toString('base64url');
}

/** Compares two strings in constant time. */
export function sameSecret(left, right) {
  return timingSafeEqual(sha256(left), sha256(right));
}
