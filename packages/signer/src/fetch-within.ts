/** A fetch that is over in time, the last byte included: a server that begins to answer may still fall silent. */
export const within =
  (timeoutMs: number): typeof fetch =>
  (input, init) => {
    const late = AbortSignal.timeout(timeoutMs)
    return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
  }
