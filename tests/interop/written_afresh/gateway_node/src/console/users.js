import { randomSecret } from '../support/secrets.js';

/** Opaque identifiers of users: one for each login at a merchant, another one in each Project. */
export class Users {
  #subjects = new Map();

  subject(projectId, merchantKey, login) {
    const key = JSON.stringify([projectId, merchantKey, login]);
    if (!this.#subjects.has(key)) this.#subjects.set(key, `sub_${randomSecret()}`);
    return this.#subjects.get(key);
  }
}
