/** The most clients that are tracked in each of the two maps, so that memory stays bounded. */
const MOST_CLIENTS = 100_000

/** What is known of each client. Those who have not come for longer than `keptMs`, or for longest where they are too many, are forgotten. */
export function createClients<T>(keptMs: number, create: () => T): (client: string, nowMs: number) => T {
  let clients = new Map<string, T>()
  let older = new Map<string, T>()
  let turnedAt = 0

  return (client, nowMs) => {
    if (nowMs - turnedAt > keptMs || clients.size >= MOST_CLIENTS) {
      older = clients
      clients = new Map()
      turnedAt = nowMs
    }
    let found = clients.get(client)
    if (found === undefined) {
      found = older.get(client) ?? create()
      clients.set(client, found)
    }
    return found
  }
}
