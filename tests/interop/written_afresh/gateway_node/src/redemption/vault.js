import { ApiError } from '../support/errors.js';
import { describeError } from '../support/log.js';

const NEAR_SECONDS = 30;
const NEAR_FRACTION = 0.1;
// A longer lifetime is no fact about a token, and may be in no calendar.
const LONGEST_LIFETIME_SECONDS = 100 * 365 * 24 * 3600;

function reauthenticationRequired() {
  return new ApiError(410, 'reauthentication_required', 'The user has to authorize again.');
}

/** Merchant tokens, cached by Project, user, Resource and login. They leave it by redemption alone. */
export class Vault {
  #entries = new Map();
  #refreshes = new Map();

  constructor(merchantGrants, clock, log) {
    this.merchantGrants = merchantGrants;
    this.clock = clock;
    this.log = log;
  }

  key({ projectId, subject, resource, login }) {
    return JSON.stringify([projectId, subject, resource.id, login]);
  }

  /** Gets a merchant token after a sign-in. The sign-in goes on whatever happens here. */
  async provision(owner, agent) {
    const key = this.key(owner);
    try {
      const tokens = await this.merchantGrants.provision(owner.resource, owner.login, agent);
      this.#entries.set(key, this.entry(tokens));
    } catch (error) {
      if (error.name === 'MerchantRejected') this.#entries.delete(key);
      this.log.warn({ resource: owner.resource.id, ...describeError(error) }, 'no merchant token');
    }
  }

  /** The merchant token of this owner, refreshed if it is near its expiry. */
  async redeem(owner) {
    const key = this.key(owner);
    const entry = this.#entries.get(key);
    if (!entry) throw new ApiError(404, 'no_merchant_token', 'There is no merchant token for this user.');
    if (entry.lost) throw reauthenticationRequired();
    if (!this.isNearExpiry(entry)) return entry;
    if (entry.refreshToken === null) throw reauthenticationRequired();
    return this.#refreshOnce(key, owner, entry);
  }

  isNearExpiry(entry) {
    if (entry.expiresAt === null) return false;
    const near = Math.min(NEAR_SECONDS, entry.lifetime * NEAR_FRACTION);
    return this.clock.now() >= entry.expiresAt - near;
  }

  entry({ accessToken, refreshToken, expiresIn, scope }) {
    const lifetime = expiresIn !== null && expiresIn <= LONGEST_LIFETIME_SECONDS ? expiresIn : null;
    const expiresAt = lifetime === null ? null : this.clock.now() + lifetime;
    return { accessToken, refreshToken, expiresAt, lifetime, scope, lost: false };
  }

  /** Redemptions that come while an entry is being refreshed wait for the same answer. */
  #refreshOnce(key, owner, entry) {
    const running = this.#refreshes.get(key);
    if (running?.entry === entry) return running.result;
    const result = this.refresh(key, owner, entry).finally(() => {
      if (this.#refreshes.get(key)?.entry === entry) this.#refreshes.delete(key);
    });
    this.#refreshes.set(key, { entry, result });
    return result;
  }

  async refresh(key, owner, entry) {
    try {
      const tokens = await this.merchantGrants.refresh(owner.resource, entry.refreshToken);
      const renewed = this.entry({
        ...tokens,
        refreshToken: tokens.refreshToken ?? entry.refreshToken,
        scope: tokens.scope ?? entry.scope,
      });
      return this.#replace(key, entry, renewed);
    } catch (error) {
      if (error.name === 'MerchantRejected') {
        const current = this.#replace(key, entry, { ...entry, refreshToken: null, lost: true });
        if (current.lost) throw reauthenticationRequired();
        return current;
      }
      this.log.warn({ resource: owner.resource.id, ...describeError(error) }, 'merchant token not refreshed');
      if (this.clock.now() < entry.expiresAt) return entry;
      throw new ApiError(502, 'merchant_unavailable', 'The merchant cannot be reached. Try again.');
    }
  }

  /** Stores the new entry, unless a sign-in has replaced the old one meanwhile. Returns the one that counts. */
  #replace(key, old, replacement) {
    if (this.#entries.get(key) === old) this.#entries.set(key, replacement);
    return this.#entries.get(key) ?? replacement;
  }
}
