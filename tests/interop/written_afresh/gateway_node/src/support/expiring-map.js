const SWEEP_EVERY = 500;

/** A map whose entries end at a time of the gateway's clock. */
export class ExpiringMap {
  #entries = new Map();
  #writes = 0;
  #clock;

  constructor(clock) {
    this.#clock = clock;
  }

  set(key, value, lifetimeSeconds) {
    this.#entries.set(key, { value, expiresAt: this.#clock.now() + lifetimeSeconds });
    this.#writes += 1;
    if (this.#writes % SWEEP_EVERY === 0) this.#sweep();
  }

  get(key) {
    const entry = this.#entries.get(key);
    return entry && entry.expiresAt > this.#clock.now() ? entry.value : undefined;
  }

  /** Removes the entry and returns its value: of several callers one gets it. */
  take(key) {
    const value = this.get(key);
    this.#entries.delete(key);
    return value;
  }

  #sweep() {
    const now = this.#clock.now();
    for (const [key, entry] of this.#entries) {
      if (entry.expiresAt <= now) this.#entries.delete(key);
    }
  }
}
