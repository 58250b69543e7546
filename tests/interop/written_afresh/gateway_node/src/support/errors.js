/** A refusal by the API on the base host. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

/** A refusal by the token endpoint (RFC 6749 section 5.2). */
export class TokenError extends Error {
  constructor(error, description, status = 400) {
    super(description);
    this.name = 'TokenError';
    this.error = error;
    this.status = status;
  }
}

/** Something that the user is told on a page, because the agent cannot be told. */
export class PageError extends Error {
  constructor(status, title, message) {
    super(message);
    this.name = 'PageError';
    this.status = status;
    this.title = title;
  }
}

/** Something that the agent is told by a redirect (RFC 6749 section 4.1.2.1). */
export class RedirectError extends Error {
  constructor(request, error, description) {
    super(description);
    this.name = 'RedirectError';
    this.request = request;
    this.error = error;
  }
}
