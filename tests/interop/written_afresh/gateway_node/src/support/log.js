import { Writable } from 'node:stream';

const KEPT_BYTES = 4 * 1024 * 1024;

/** Where log lines go: to standard output, and to a buffer that the Console reads. */
export class LogSink extends Writable {
  #lines = [];
  #bytes = 0;

  constructor(output = process.stdout) {
    super();
    this.output = output;
  }

  _write(chunk, _encoding, done) {
    const line = chunk.toString('utf8');
    this.#lines.push(line);
    this.#bytes += line.length;
    while (this.#bytes > KEPT_BYTES) this.#bytes -= this.#lines.shift().length;
    this.output.write(line);
    done();
  }

  /** What was logged since the last call. */
  drain() {
    const text = this.#lines.join('');
    this.#lines = [];
    this.#bytes = 0;
    return text;
  }
}

/**
 * What a log may say of an error: its kind and place. Never its message: that may quote what a merchant or an agent
 * sent.
 */
export function describeError(error) {
  const frames = String(error?.stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 8)
    .map((line) => line.trim());
  return { kind: error?.name ?? typeof error, code: error?.code, at: frames };
}
