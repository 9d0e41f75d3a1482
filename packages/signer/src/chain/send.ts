// Transactions of an agent: tried out first, sent once, and waited for within bounds.
import {
  type Abi,
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  type Hash,
  keccak256,
  type PrivateKeyAccount,
  type TransactionReceipt,
  WaitForTransactionReceiptTimeoutError,
} from 'viem'
import type { Context } from '../context.ts'
import { Refused, shortOf } from '../refused.ts'
import type { Chain } from './chain.ts'
import { ERRORS, readRevert } from './reverts.ts'

export interface Call<A extends Abi, F extends ContractFunctionName<A, 'nonpayable'>> {
  address: Address
  abi: A
  functionName: F
  args: ContractFunctionArgs<A, 'nonpayable', F>
}

/** Returns the receipt of a transaction that took effect. */
export function send<const A extends Abi, F extends ContractFunctionName<A, 'nonpayable'>>(
  context: Context,
  chain: Chain,
  account: PrivateKeyAccount,
  { address, abi, functionName, args }: Call<A, F>,
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({ abi, functionName, args } as EncodeFunctionDataParameters)
  // Two at once would take the same number.
  return context.inTurn(`transactions of ${account.address}`, async () => {
    await chain.client
      .simulateContract({ account, address, abi: [...abi, ...ERRORS] as Abi, functionName, args } as never)
      .catch((error: unknown) => {
        throw readRevert(error)
      })
    const hash = await submit(chain, account, { to: address, data })
    return mined(context, chain, hash)
  })
}

async function submit(
  { client, chainId }: Chain,
  account: PrivateKeyAccount,
  call: { to: Address; data: Hash },
): Promise<Hash> {
  const [gas, nonce, fees] = await Promise.all([
    client.estimateGas({ account, ...call }),
    client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
    client.estimateFeesPerGas(),
  ]).catch((error: unknown) => {
    throw refusedByNode(error, account.address)
  })
  const serializedTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    gas: gas + gas / 5n,
    ...fees,
    ...call,
  })
  const hash = keccak256(serializedTransaction)
  try {
    await client.sendRawTransaction({ serializedTransaction })
  } catch (error) {
    // The node may have taken it all the same, and only its answer was lost.
    const isThere = await client.getTransaction({ hash }).then(Boolean, () => false)
    if (!isThere) throw refusedByNode(error, account.address)
  }
  return hash
}

const refusedByNode = (error: unknown, address: Address): unknown =>
  error instanceof BaseError
    ? new Refused(
        `the node took no transaction of ${address}: ${shortOf(error)} (does the wallet have ETH for gas?)`,
      )
    : error

async function mined({ timeouts }: Context, { client }: Chain, hash: Hash): Promise<TransactionReceipt> {
  const receipt = await client
    .waitForTransactionReceipt({ hash, timeout: timeouts.mined })
    .catch((error: unknown) => {
      if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error
      throw new Refused(
        `transaction ${hash} was sent and is not mined after ${timeouts.mined / 1_000} s: it may still land, so look it up before you try again`,
      )
    })
  if (receipt.status !== 'success') throw new Refused(`tx reverted: ${receipt.transactionHash}`)
  return receipt
}

export const eventNotFound = (name: string, hash: Hash): Refused =>
  new Refused(
    `event-not-found: transaction ${hash} succeeded without ${name}; check the contract addresses of the signer`,
  )
