// Money that reached the router and was not split is its payer's to take back there, at the payer's expense. The chain cannot tell a used
// authorisation from a cancelled one, and money carries no label: so the call needs the word of a settler, who looked at the logs.
import { splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, type Hex, hashTypedData } from 'viem'
import type { Chain } from '../context.ts'
import type { Payment } from '../payment/payment.ts'
import type { TakeBack } from '../payment/refused.ts'
import { chargeNonce } from './order.ts'
import type { Deposit } from './types.ts'

const types = {
  TakeBack: [
    { name: 'payer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
    { name: 'value', type: 'uint256' },
    { name: 'notBefore', type: 'uint256' },
  ],
} as const

/** Of a bare transfer. */
export async function paymentTakeBack(
  chain: Chain,
  { authorization }: Payment,
  notBefore: number,
): Promise<TakeBack> {
  const { from: payer, nonce, value } = authorization
  const permission = await permit(chain, { payer, nonce, value, notBefore: BigInt(notBefore) })
  const args = [authorization, BigInt(notBefore), permission] as const
  const data = encodeFunctionData({ abi: splitRouterAbi, functionName: 'takeBack', args })
  return { to: chain.contracts.SplitRouter, data, notBefore }
}

/** Of a plain transfer. */
export async function depositTakeBack(
  chain: Chain,
  { charge, attribution }: Deposit,
  notBefore: number,
): Promise<TakeBack> {
  const { payer, txHash, value } = charge
  const nonce = chargeNonce(txHash)
  const permission = await permit(chain, { payer, nonce, value, notBefore: BigInt(notBefore) })
  const args = [charge, attribution.buyerAgentId, BigInt(notBefore), permission] as const
  const data = encodeFunctionData({ abi: splitRouterAbi, functionName: 'takeBackDeposit', args })
  return { to: chain.contracts.SplitRouter, data, notBefore }
}

function permit(
  { chainId, contracts, relayers, relayerPool }: Chain,
  message: { payer: Address; nonce: Hex; value: bigint; notBefore: bigint },
): Promise<Hex> {
  const domain = { name: 'ReferrerCharge', version: '1', chainId, verifyingContract: contracts.SplitRouter }
  const [able] = relayerPool.available()
  const settler = relayers.find(({ address }) => address === able) ?? relayers[0]
  return settler.signMessage({
    message: { raw: hashTypedData({ domain, types, primaryType: 'TakeBack', message }) },
  })
}
