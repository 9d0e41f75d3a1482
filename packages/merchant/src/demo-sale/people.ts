// Throw-away people of the sandbox.
import { createReferrerClient } from '@referrer/client'
import { askFaucet, registerIdentity } from '@referrer/client/chain'
import { createWalletClient, http } from 'viem'
import {
  generatePrivateKey,
  mnemonicToAccount,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { type Shop, ShopError } from '../shop/index.ts'

/** The development mnemonic that local chains share. The sandbox's admin is its second account: nothing of it is secret. */
const admin = () =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 1 })

export interface Agent {
  account: PrivateKeyAccount
  agentId: number
}

/** Somebody with gas and USDC. */
export async function fundedAccount({ deployment: { faucetUrl } }: Shop): Promise<PrivateKeyAccount> {
  if (faucetUrl === undefined) throw new ShopError('the market has no faucet, so it is no sandbox')
  const account = privateKeyToAccount(generatePrivateKey())
  await askFaucet(faucetUrl, account.address)
  return account
}

/** Somebody who can publish reviews. */
export async function newAgent(shop: Shop): Promise<Agent> {
  const { client, rpcUrl, deployment, wallet } = shop
  const account = await fundedAccount(shop)
  const own = createWalletClient({ account, chain: wallet.chain, transport: http(rpcUrl) })
  const { IdentityRegistry } = deployment.contracts
  const { agentId } = await registerIdentity(client, own, { identityRegistry: IdentityRegistry })
  const market = createReferrerClient({ url: deployment.marketUrl, account })
  await market.post('/v1/agent/register', { body: { agent_id: Number(agentId) } })
  return { account, agentId: Number(agentId) }
}

/** As the sandbox's admin does when somebody shows that a product was used. */
export async function approveProof({ deployment }: Shop, proofId: number): Promise<void> {
  const market = createReferrerClient({ url: deployment.marketUrl, account: admin() })
  await market.post('/admin/proofs/{id}/approve', { params: { path: { id: proofId } } })
}
