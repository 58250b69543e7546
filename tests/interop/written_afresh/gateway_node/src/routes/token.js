import { TokenError } from '../support/errors.js';
import { answerError } from '../support/http-server.js';
import { CORE_KEYS_PATH } from './discovery.js';

/** Token endpoint and key set, on the core host. */
export function coreRoutes(server, { coreKeys, tokenEndpoint }) {
  server.get(CORE_KEYS_PATH, { exposeHeadRoute: true }, async () => coreKeys.publicSet());

  server.post(
    '/oauth2/token',
    {
      errorHandler(error, request, reply) {
        const refusal = error.statusCode === 415 ? formExpected() : error;
        if (refusal.name !== 'TokenError') return answerError(refusal, request, reply);
        if (refusal.status === 401) reply.header('WWW-Authenticate', 'Basic realm="token"');
        return reply.code(refusal.status).send({ error: refusal.error, error_description: refusal.message });
      },
    },
    async (request, reply) => {
      if (!(request.body instanceof URLSearchParams)) throw formExpected();
      if ([...request.query.keys()].length > 0) {
        throw new TokenError('invalid_request', 'Parameters belong into the body.');
      }
      reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
      return tokenEndpoint.answer(request.body, request.headers.authorization);
    },
  );
}

function formExpected() {
  return new TokenError('invalid_request', 'The body has to be a form.');
}
