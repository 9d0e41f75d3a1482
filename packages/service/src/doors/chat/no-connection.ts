interface Cause {
  code?: unknown
  syscall?: unknown
  errors?: unknown
}

/** Whether a request that fetch failed on has certainly not left, because no connection could be made. Takes the cause of fetch's error. */
export function hasNeverLeft(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return false
  const { code, syscall, errors } = cause as Cause
  // A host with several addresses fails with the errors of all of them.
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(hasNeverLeft)
  return (
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(String(code))
  )
}
