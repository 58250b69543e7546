import { ExpiringMap } from '../support/expiring-map.js';
import { randomSecret } from '../support/secrets.js';

const SESSION_SECONDS = 15 * 60;

/** The cookies of a Cookie header. The first of a name counts. */
export function readCookies(header = '') {
  const cookies = new Map();
  for (const part of header.split(';')) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim();
    if (name && !cookies.has(name)) cookies.set(name, part.slice(equals + 1).trim());
  }
  return cookies;
}

/**
 * What is known of browsers: a mark that ties a sign-in under way to the browser that began it, and sessions of users
 * who have signed in, one for each merchant. A session gets a new name at each sign-in.
 */
export class Browsers {
  constructor(clock, secure) {
    this.sessions = new ExpiringMap(clock);
    this.prefix = secure ? '__Host-agw' : 'agw';
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  cookie(name, value) {
    return `${this.prefix}-${name}=${value}; ${this.attributes}`;
  }

  /** The mark of this browser, with the cookie that sets it. */
  mark(cookies) {
    const value = this.markOf(cookies) || randomSecret();
    return { value, cookie: this.cookie('browser', value) };
  }

  markOf(cookies) {
    return cookies.get(`${this.prefix}-browser`);
  }

  startSession(merchantKey, user) {
    const session = { id: randomSecret(), merchantKey, user };
    this.sessions.set(session.id, session, SESSION_SECONDS);
    return { session, cookie: this.cookie(`session-${merchantKey}`, session.id) };
  }

  /** The session of this browser's user with the merchant. */
  session(cookies, merchantKey) {
    const session = this.sessions.get(cookies.get(`${this.prefix}-session-${merchantKey}`));
    return session?.merchantKey === merchantKey ? session : undefined;
  }
}
