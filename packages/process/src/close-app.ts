/** As much of a Fastify app as its end needs. */
interface App {
  server: { closeAllConnections(): void }
  close(): PromiseLike<unknown>
}

/** Lets requests under way end, but not for ever. */
export async function closeApp(app: App, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs)
  await app.close()
  clearTimeout(timer)
}
