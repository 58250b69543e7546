/** The gateway's own clock. Everything that expires asks this one. */
export class Clock {
  offsetSeconds = 0;

  /** Seconds since the epoch, with fractions. */
  now() {
    return Date.now() / 1000 + this.offsetSeconds;
  }

  /** Whole seconds, as JWT claims have them. */
  seconds() {
    return Math.floor(this.now());
  }

  date() {
    return new Date(this.now() * 1000);
  }

  advance(seconds) {
    this.offsetSeconds += seconds;
  }
}
