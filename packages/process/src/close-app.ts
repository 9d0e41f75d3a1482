/** As much of a Fastify app as its end needs. */
interface App {
  server: { closeIdleConnections(): void; closeAllConnections(): void }
  close(): PromiseLike<unknown>
}

const SWEEP_MS = 50

/** Lets requests under way end, but not for ever. */
export async function closeApp(app: App, timeoutMs: number): Promise<void> {
  // A connection that was busy when the end began is kept for its next request, which will not come.
  const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs)
  await app.close()
  clearInterval(sweep)
  clearTimeout(timer)
}
