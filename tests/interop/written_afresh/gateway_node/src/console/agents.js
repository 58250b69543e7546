import { randomUUID } from 'node:crypto';
import { fingerprint, randomSecret, sameSecret } from '../support/secrets.js';

/** The agents that have registered. */
export class Agents {
  #agents = new Map();

  constructor(clock) {
    this.clock = clock;
  }

  register(metadata) {
    const secret = randomSecret();
    const agent = {
      ...metadata,
      clientId: `agent-${randomUUID()}`,
      secretFingerprint: fingerprint(secret),
      issuedAt: this.clock.seconds(),
      redemptionWithheld: false,
    };
    this.#agents.set(agent.clientId, agent);
    return { agent, secret };
  }

  find(clientId) {
    return this.#agents.get(clientId);
  }

  /** The agent with this ID and secret. An agent that registered client_secret_basic is never authenticated. */
  authenticate(clientId, secret) {
    const agent = this.#agents.get(clientId);
    const matches = sameSecret(agent?.secretFingerprint ?? '', fingerprint(secret));
    return agent && matches && agent.authMethod === 'client_secret_post' ? agent : undefined;
  }
}
