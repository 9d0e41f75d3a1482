/** The part of a Fastify app that `closeApp` uses. */
interface App {
  server: { closeIdleConnections(): void; closeAllConnections(): void }
  close(): PromiseLike<unknown>
}

const SWEEP_MS = 50

/** Closes the app after its running requests have ended, or cuts them off after `timeoutMs`. */
export async function closeApp(app: App, timeoutMs: number): Promise<void> {
  // A keep-alive connection that was busy when the shutdown began becomes idle later and must be closed then.
  const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs)
  await app.close()
  clearInterval(sweep)
  clearTimeout(timer)
}
