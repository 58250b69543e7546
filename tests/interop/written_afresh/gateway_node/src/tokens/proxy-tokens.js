import { ExpiringMap } from '../support/expiring-map.js';
import { fingerprint, randomSecret } from '../support/secrets.js';

const LIFETIME_SECONDS = 3600;
const ANNOUNCED_SECONDS = 3599;

/** Proxy tokens of operators' backends. */
export class ProxyTokens {
  constructor(projects, clock) {
    this.projects = projects;
    this.tokens = new ExpiringMap(clock);
  }

  issue(client) {
    const token = `px-${randomSecret()}`;
    this.tokens.set(fingerprint(token), client.id, LIFETIME_SECONDS);
    return { access_token: token, token_type: 'Bearer', expires_in: ANNOUNCED_SECONDS };
  }

  /** The Proxy client whose token this is, while token and client are good. */
  verify(token) {
    const client = this.projects.proxyClient(this.tokens.get(fingerprint(token)));
    return client?.active ? client : undefined;
  }
}
