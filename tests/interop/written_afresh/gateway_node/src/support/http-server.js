import { randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import { describeError } from './log.js';

const BODY_LIMIT = 128 * 1024;
const SLOW_REQUEST_MS = 20_000;

/** A Fastify server with the settings that all of the gateway's servers share. */
export function createHttpServer({ tls, log }) {
  const server = Fastify({
    https: tls,
    logger: { level: 'info', stream: log, base: null },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: SLOW_REQUEST_MS,
    keepAliveTimeout: 15_000,
    forceCloseConnections: true,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    routerOptions: { querystringParser: (text) => new URLSearchParams(text), maxParamLength: 200 },
  });

  server.removeContentTypeParser('text/plain');
  server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, new URLSearchParams(body));
  });

  server.addHook('onSend', async (_request, reply) => {
    reply.header('X-Content-Type-Options', 'nosniff');
    if (!reply.hasHeader('Cache-Control')) reply.header('Cache-Control', 'no-store');
  });

  // The route's pattern and not its URL: queries carry codes and states.
  server.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    );
  });

  server.setNotFoundHandler((_request, reply) => {
    reply.code(404).send({ code: 'not_found', message: 'There is nothing at this address.' });
  });
  server.setErrorHandler(answerError);
  return server;
}

/** Answers what no route has answered itself. */
export function answerError(error, request, reply) {
  if (error.name === 'ApiError') {
    return reply.code(error.status).send({ code: error.code, message: error.message, request_id: request.id });
  }
  if (error.statusCode >= 400 && error.statusCode < 500) {
    return reply
      .code(error.statusCode)
      .send({ code: 'bad_request', message: 'The request cannot be read.', request_id: request.id });
  }
  request.log.error(describeError(error), 'unexpected error');
  return reply.code(500).send({ code: 'server_error', message: 'The gateway failed.', request_id: request.id });
}
