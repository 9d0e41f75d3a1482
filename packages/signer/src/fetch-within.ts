/** A fetch with a time-out that covers the body too: a server may stop in the middle of its answer. */
export const within =
  (timeoutMs: number): typeof fetch =>
  (input, init) => {
    const late = AbortSignal.timeout(timeoutMs)
    return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
  }
