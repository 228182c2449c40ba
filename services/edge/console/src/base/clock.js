// The time of the server. A browser whose clock is wrong would tell that a run began in an hour, or a week ago.
const SKEW_MIN_MS = 3000 // less is the rounding of the header and the way of the answer
let skew = 0

// Learns from the Date of an answer, which is in whole seconds.
export function learnTime(header, local = Date.now()) {
  const told = Date.parse(header ?? '')
  if (!told) return
  const off = told + 500 - local
  skew = Math.abs(off) < SKEW_MIN_MS ? 0 : off
}

export const serverNow = (local = Date.now()) => local + skew
