// A session without the page for it, for tests of other pages.
import type { BrowserContext } from 'playwright-core'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'

export async function signIn(
  context: BrowserContext,
  { origin, chainId, privateKey }: { origin: string; chainId: number; privateKey: Hex },
): Promise<void> {
  const account = privateKeyToAccount(privateKey)
  const { nonce } = await (await fetch(`${origin}/v1/auth/nonce`)).json()
  const message = createSiweMessage({
    address: account.address,
    chainId,
    domain: new URL(origin).host,
    nonce,
    uri: origin,
    version: '1',
    issuedAt: new Date(),
  })
  const response = await context.request.post('/console/session', {
    headers: { 'x-referrer-console': '1', origin },
    data: { message, signature: await account.signMessage({ message }) },
  })
  if (!response.ok()) throw new Error(`no session: ${response.status()} ${await response.text()}`)
}
