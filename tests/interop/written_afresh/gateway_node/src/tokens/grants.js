import { randomUUID } from 'node:crypto';
import { ExpiringMap } from '../support/expiring-map.js';
import { TokenError } from '../support/errors.js';
import { fingerprint, randomSecret, sameSecret, sha256 } from '../support/secrets.js';

const CODE_SECONDS = 120;
const USED_CODE_SECONDS = 3600;
const REFRESH_SECONDS = 30 * 24 * 3600;

/**
 * What users have granted to agents, with the codes and refresh tokens that stand for it. All methods are synchronous:
 * of several requests with one code or one refresh token exactly one succeeds.
 */
export class Grants {
  constructor(clock) {
    this.clock = clock;
    this.grants = new ExpiringMap(clock);
    this.codes = new ExpiringMap(clock);
    this.refreshTokens = new ExpiringMap(clock);
  }

  /** Records a grant and returns the code for it. */
  issueCode(details, { redirectUri, challenge }) {
    const grant = { ...details, id: randomUUID(), revoked: false };
    const code = randomSecret();
    this.grants.set(grant.id, grant, REFRESH_SECONDS);
    this.codes.set(
      fingerprint(code),
      { grant, redirectUri, challenge, used: false, expiresAt: this.clock.now() + CODE_SECONDS },
      USED_CODE_SECONDS,
    );
    return code;
  }

  /** Uses up a code. A second use ends what came of the first. */
  useCode(code, agent, { redirectUri, verifier }) {
    const entry = this.codes.get(fingerprint(code));
    if (!entry || entry.grant.clientId !== agent.clientId) throw new TokenError('invalid_grant', 'The code is unknown.');
    if (entry.used) {
      entry.grant.revoked = true;
      throw new TokenError('invalid_grant', 'The code was used before.');
    }
    entry.used = true;
    if (this.clock.now() >= entry.expiresAt) throw new TokenError('invalid_grant', 'The code has expired.');
    if (entry.redirectUri !== redirectUri) throw new TokenError('invalid_grant', 'The redirect URI is another one.');
    if (!this.verifierMatches(verifier, entry.challenge)) {
      throw new TokenError('invalid_grant', 'The code verifier is wrong.');
    }
    return entry.grant;
  }

  verifierMatches(verifier, challenge) {
    return /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) && sameSecret(sha256(verifier).toString('base64url'), challenge);
  }

  issueRefreshToken(grant) {
    const token = `rt-${randomSecret()}`;
    this.grants.set(grant.id, grant, REFRESH_SECONDS);
    this.refreshTokens.set(fingerprint(token), { grant, used: false }, REFRESH_SECONDS);
    return token;
  }

  /** Uses up a refresh token. A second use ends the grant. */
  useRefreshToken(token, agent) {
    const entry = this.refreshTokens.get(fingerprint(token));
    if (!entry || entry.grant.clientId !== agent.clientId || entry.grant.revoked) {
      throw new TokenError('invalid_grant', 'The refresh token is not valid.');
    }
    if (entry.used) {
      entry.grant.revoked = true;
      throw new TokenError('invalid_grant', 'The refresh token was used before.');
    }
    entry.used = true;
    return entry.grant;
  }

  /** The grant with this ID, while it is in force. */
  find(id) {
    const grant = this.grants.get(id);
    return grant && !grant.revoked ? grant : undefined;
  }
}
