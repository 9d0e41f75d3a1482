// Tells a benchmark how much processor time this process has used: the kernel's own figures come in hundredths of a second.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Returns the address that answers microseconds. */
export async function startMeter(): Promise<string> {
  const server = createServer((_request, response) => {
    const { user, system } = process.cpuUsage()
    response.end(String(user + system))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
