import { ExpiringMap } from '../support/expiring-map.js';
import { PageError, RedirectError } from '../support/errors.js';
import { randomSecret, sameSecret } from '../support/secrets.js';

const PENDING_SECONDS = 10 * 60;

function outdated() {
  return new PageError(400, 'Start again', 'This sign-in is over, or it was begun in another browser.');
}

/** An authorization, from the agent's request over sign-in and approval to the code. */
export class Authorization {
  constructor({ clock, projects, policy, users, browsers, signIn, grants, vault }) {
    Object.assign(this, { clock, projects, policy, users, browsers, signIn, grants, vault });
    this.signIns = new ExpiringMap(clock);
    this.approvals = new ExpiringMap(clock);
  }

  /** Begins with a sign-in, or with the approval if the user is signed in already. */
  async begin(resource, request, cookies) {
    const session = this.browsers.session(cookies, resource.merchant.key);
    if (request.prompt.includes('none')) {
      throw new RedirectError(request, session ? 'consent_required' : 'login_required', 'the user has to be asked');
    }
    if (session && !request.prompt.includes('login')) {
      return { location: this.askApproval(resource, request, session), cookie: null };
    }
    const { url, secrets } = await this.signIn.begin(resource);
    const mark = this.browsers.mark(cookies);
    this.signIns.set(secrets.state, { resource, request, secrets, mark: mark.value }, PENDING_SECONDS);
    return { location: url, cookie: mark.cookie };
  }

  /** Goes on when the browser comes back from the merchant. */
  async finishSignIn(resource, query, cookies) {
    const pending = this.signIns.get(query.get('state'));
    if (!pending || pending.resource !== resource || !this.isSameBrowser(pending, cookies)) throw outdated();
    this.signIns.take(query.get('state'));
    const user = await this.identify(pending, query);
    const { session, cookie } = this.browsers.startSession(resource.merchant.key, user);
    return { location: this.askApproval(resource, pending.request, session), cookie };
  }

  isSameBrowser(pending, cookies) {
    return sameSecret(this.browsers.markOf(cookies) ?? '', pending.mark);
  }

  async identify({ resource, request, secrets }, query) {
    try {
      return { ...(await this.signIn.finish(resource, secrets, query)), authTime: this.clock.seconds() };
    } catch (error) {
      if (error.name !== 'SignInFailed') throw error;
      throw error.declined
        ? new RedirectError(request, 'access_denied', 'the user has not signed in')
        : new RedirectError(request, 'server_error', 'the merchant has not signed the user in');
    }
  }

  askApproval(resource, request, session) {
    const id = randomSecret();
    this.approvals.set(id, { id, resource, request, session, formToken: randomSecret() }, PENDING_SECONDS);
    return `${resource.authorizationServer}/oauth2/approval?id=${id}`;
  }

  /** The approval that this browser is asked for. */
  approval(resource, id, cookies) {
    const approval = this.approvals.get(id);
    const session = this.browsers.session(cookies, resource.merchant.key);
    if (!approval || approval.resource !== resource || !session || approval.session !== session) throw outdated();
    this.requireAdmission(approval);
    return approval;
  }

  requireAdmission({ resource, request }) {
    if (this.policy.admit(this.projects.project(resource.projectId), request.agent) !== 'approved') {
      throw new PageError(403, 'Waiting for approval', 'You are signed in. The operator has not approved this agent yet.');
    }
  }

  /** Ends with the user's answer. Returns what the agent is told. */
  async decide(resource, form, cookies) {
    const approval = this.approval(resource, form.get('id'), cookies);
    if (!sameSecret(form.get('form_token') ?? '', approval.formToken)) throw outdated();
    this.approvals.take(approval.id);
    const { request } = approval;
    if (form.get('decision') !== 'approve') throw new RedirectError(request, 'access_denied', 'the user has declined');
    return { request, code: await this.approve(approval) };
  }

  async approve({ resource, request, session: { user } }) {
    const { projectId } = resource;
    const subject = this.users.subject(projectId, resource.merchant.key, user.login);
    await this.vault.provision({ projectId, subject, resource, login: user.login }, request.agent);
    return this.grants.issueCode(
      {
        clientId: request.agent.clientId,
        projectId,
        resourceId: resource.id,
        indicator: resource.indicator,
        subject,
        user,
        scopes: request.scopes,
        nonce: request.nonce,
      },
      { redirectUri: request.redirectUri, challenge: request.challenge },
    );
  }
}
