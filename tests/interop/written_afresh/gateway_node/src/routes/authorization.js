import { readCookies } from '../authorization/browsers.js';
import { PAGE_HEADERS, approvalPage, messagePage } from '../authorization/pages.js';
import { readAuthorizationRequest, redirectTo } from '../authorization/request.js';
import { PageError } from '../support/errors.js';
import { answerError } from '../support/http-server.js';

export const authorizationPolicies = { readAuthorizationRequest, redirectTo, approvalPage };

/** The pages that users' browsers see, on the base host. */
export function authorizationRoutes(server, services) {
  const { config, projects, agents, authorization } = services;

  server.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) => {
      if (error.name === 'PageError') {
        return reply.code(error.status).headers(PAGE_HEADERS).send(messagePage(error.title, error.message));
      }
      if (error.name === 'RedirectError') {
        const answer = { error: error.error, error_description: error.message };
        return redirect(reply, services.redirectTo(error.request, config.issuer, answer));
      }
      return answerError(error, request, reply);
    });

    pages.get('/:resourceId/oauth2/auth', async (request, reply) => {
      const resource = resourceOf(request);
      const wanted = services.readAuthorizationRequest(request.query, resource, agents);
      return redirect(reply, await authorization.begin(resource, wanted, cookiesOf(request)));
    });

    pages.get('/:resourceId/oauth2/callback', async (request, reply) =>
      redirect(reply, await authorization.finishSignIn(resourceOf(request), request.query, cookiesOf(request))),
    );

    pages.get('/:resourceId/oauth2/approval', async (request, reply) => {
      const approval = authorization.approval(resourceOf(request), request.query.get('id'), cookiesOf(request));
      return reply.headers(PAGE_HEADERS).send(services.approvalPage(approval));
    });

    pages.post('/:resourceId/oauth2/approval', async (request, reply) => {
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
      const { request: wanted, code } = await authorization.decide(resourceOf(request), form, cookiesOf(request));
      return redirect(reply, services.redirectTo(wanted, config.issuer, { code }));
    });
  });

  function resourceOf(request) {
    const resource = projects.resource(request.params.resourceId);
    if (!resource) throw new PageError(404, 'Not found', 'There is nothing at this address.');
    return resource;
  }
}

function cookiesOf(request) {
  return readCookies(request.headers.cookie);
}

/** Sends the browser on, always by GET. */
function redirect(reply, target) {
  const { location, cookie = null } = typeof target === 'string' ? { location: target } : target;
  if (cookie !== null) reply.header('Set-Cookie', cookie);
  return reply.headers({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }).redirect(location, 303);
}
