import { type Market, SANDBOX_TOKEN } from '@referrer/contracts/local'
import { Authorization } from '@referrer/protocol'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { type Address, type Hex, keccak256, stringToHex } from 'viem'
import type { HDAccount } from 'viem/accounts'
import { FAR } from './snapshot.ts'

/** The same whenever the demo is made. */
export const nonceOf = (purchase: number): Hex => keccak256(stringToHex(`demo purchase ${purchase}`))

/** An x402 client whose payment counts at all times, and not just for a minute. */
export function payer({ client, addresses }: Market, account: HDAccount, nonce: Hex): typeof fetch {
  const network = `eip155:${client.chain.id}` as const
  const scheme = {
    scheme: 'exact',
    async createPaymentPayload(x402Version: number, { payTo, amount }: { payTo: string; amount: string }) {
      const authorization = {
        from: account.address,
        to: payTo as Address,
        value: amount,
        validAfter: '0',
        validBefore: String(FAR),
        nonce,
      }
      const domain = { ...SANDBOX_TOKEN, chainId: client.chain.id, verifyingContract: addresses.USDC }
      const data = Authorization.typedData('TransferWithAuthorization', domain, authorization)
      return { x402Version, payload: { authorization, signature: await account.signTypedData(data) } }
    },
  }
  return wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network, client: scheme }],
    spendControls: { allowedAssets: [{ network, asset: addresses.USDC, maxAmountPerPayment: '5000000' }] },
  })
}
