// Transactions of the owner to the merchant registry.
import { merchantCall, refusalOf, sendCall } from '@referrer/client/chain'
import type { merchantRegistryAbi } from '@referrer/protocol/abi'
import type { ContractFunctionArgs, ContractFunctionName, Hash } from 'viem'
import type { Shop } from './connect.ts'
import { ShopError } from './report.ts'

type Write = ContractFunctionName<typeof merchantRegistryAbi, 'nonpayable'>

/** Returns when it is in a block. */
export async function send<F extends Write>(
  shop: Shop,
  functionName: F,
  args: ContractFunctionArgs<typeof merchantRegistryAbi, 'nonpayable', F>,
): Promise<Hash> {
  const { client, wallet, deployment } = shop
  const call = merchantCall(deployment.contracts.MerchantRegistry, functionName, args)
  const hash = await sendCall(client, wallet, call).catch((error: unknown) => {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    throw new ShopError(`the merchant registry refuses ${functionName}: ${refusal}`, { cause: error })
  })
  await mined(shop, hash, functionName)
  return hash
}

export async function mined(
  { client, reporter }: Pick<Shop, 'client' | 'reporter'>,
  hash: Hash,
  what: string,
) {
  const receipt = await reporter.during(
    `waiting for ${what}, transaction ${hash}`,
    client.waitForTransactionReceipt({ hash }),
  )
  if (receipt.status !== 'success')
    throw new ShopError(`transaction ${hash} (${what}) failed on the chain: run this again`)
  return receipt
}

/** Until the owner's earlier transactions are in a block, the chain does not tell yet what they change. */
export async function settle({ client, owner, reporter }: Shop): Promise<void> {
  const { address } = owner
  const isOpen = async () => {
    const [sent, included] = await Promise.all([
      client.getTransactionCount({ address, blockTag: 'pending' }),
      client.getTransactionCount({ address, blockTag: 'latest' }),
    ])
    return sent > included
  }
  const wait = async () => {
    for (let tries = 0; await isOpen(); tries++) {
      if (tries === MOST_TRIES) {
        throw new ShopError(
          `an earlier transaction of ${address} is still not in a block: wait for it, then run this again`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, TRY_MS))
    }
  }
  await reporter.during(`waiting for an earlier transaction of ${address}`, wait())
}

const TRY_MS = 1_000
const MOST_TRIES = 120
