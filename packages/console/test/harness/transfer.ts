// What a page loads, as it comes over the network.
import type { Page, Response } from 'playwright-core'

export interface Transfer {
  scripts: number
  styles: number
  document: number
  /** How scripts were compressed. */
  encodings: Set<string>
}

/** Counts what comes from now on. Call the result when the page has come to rest. */
export function countTransfer(page: Page): () => Promise<Transfer> {
  const responses: Response[] = []
  page.on('response', (response) => responses.push(response))
  return async () => {
    const counted: Transfer = { scripts: 0, styles: 0, document: 0, encodings: new Set() }
    for (const response of responses) {
      const kind = kindOf(response)
      if (!kind) continue
      counted[kind] += (await response.request().sizes()).responseBodySize
      if (kind === 'scripts') counted.encodings.add(response.headers()['content-encoding'] ?? 'identity')
    }
    return counted
  }
}

function kindOf(response: Response): 'scripts' | 'styles' | 'document' | undefined {
  const { pathname } = new URL(response.url())
  if (pathname.endsWith('.js')) return 'scripts'
  if (pathname.endsWith('.css')) return 'styles'
  return response.request().resourceType() === 'document' ? 'document' : undefined
}
