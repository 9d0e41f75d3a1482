// Sign-In with Ethereum (EIP-4361): the wallet signs a message that names this site, and the market sets a cookie for it.
import type { QueryClient } from '@tanstack/react-query'
import type { Address, Hex } from 'viem'
import { createSiweMessage } from 'viem/siwe'
import type { Api } from '../api/api.ts'
import { clearAnswers, sessionQuery } from './session.ts'

export interface Signer {
  address: Address
  chainId: number
  signMessage(message: string): Promise<Hex>
}

export async function signIn(api: Api, queries: QueryClient, signer: Signer): Promise<void> {
  const { nonce } = await api.get('/v1/auth/nonce')
  const message = createSiweMessage({
    address: signer.address,
    domain: location.host,
    uri: location.origin,
    version: '1',
    chainId: signer.chainId,
    nonce,
    issuedAt: new Date(),
    statement: 'Sign in to Referrer. This costs nothing and sends nothing to the chain.',
  })
  const session = await api.post('/console/session', {
    body: { message, signature: await signer.signMessage(message) },
  })
  clearAnswers(queries)
  queries.setQueryData(sessionQuery(api).queryKey, session)
}
